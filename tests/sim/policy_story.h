// A story of permissions: an account whose product holds exactly one policy lives through every operation
// that there is. The first refusal ends it, and says what was asked and what the user was told.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "simulation.h"

namespace instantstart::sim {

// How an operation ended badly.
struct Refusal {
    Refusal() = default;
    std::string operation;   // "cluster.launch"
    bool at_once = false;    // refused when asked, before anything was done
    base::JsonObject error;  // the problem document, or the operation's error
};

struct PolicyStoryOptions {
    PolicyStoryOptions() = default;
    base::JsonObject policy;
    bool launch_only = false;
    bool with_boundary = false;    // the account has a boundary, and clusters name it
    bool with_own_things = false;  // groups name a role, a key and an image of the user's
};

class PolicyStory {
public:
    explicit PolicyStory(PolicyStoryOptions options);

    // nullopt where all went well.
    std::optional<Refusal> tell();

    // What IAM's own simulator says of the principal: the actions that are not allowed.
    std::vector<std::string> refused_by_simulator(base::JsonObject question);
    // What the product called during each operation ("ec2:CreateVpc"), by the twin's journal.
    const std::map<std::string, std::set<std::string>>& calls() const { return calls_; }
    // Everything that operations warned of or said at their end, as one text.
    const std::string& said() const { return said_; }

private:
    using Chapter = void (PolicyStory::*)();

    void launch();
    void look_at_the_cluster();
    void grow();
    void change_groups();
    void treat_nodes();
    void use_node_groups();
    void use_a_bucket();
    void use_features();  // policy_features.cc
    void use_mlflow();    // policy_managed.cc, as the next three
    void use_managed_features();
    void mount_a_file_system();
    void leave_managed_things();
    void replace_hyperpod();
    void leave_things_behind();
    void remove();
    void use_a_given_network();
    void import_a_cluster();
    void look_around();

    // Asks, waits for the end, and notes the calls that were made meanwhile.
    base::JsonObject does(const std::string& operation, const std::string& method, const std::string& path,
                          const base::JsonObject& body = {});
    void note_calls(const std::string& operation);
    void make_principal();
    void make_given_network();
    std::vector<std::string> fill_the_vpc();
    std::string node_of(const std::string& group);
    base::JsonObject launch_body() const;
    base::JsonObject group(const std::string& name, const std::string& zone) const;

    PolicyStoryOptions options_;
    Simulation simulation_;
    std::string caller_;  // the ARN of the product's session
    std::string account_, vpc_;
    std::vector<std::string> subnets_;
    std::int64_t since_ = 0;  // of the journal
    std::map<std::string, std::set<std::string>> calls_;
    std::string said_;
    std::optional<Refusal> refusal_;
};

}  // namespace instantstart::sim
