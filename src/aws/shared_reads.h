// Shared reads: a client around the client that spends fewer calls. Identical reads in flight become one, and
// descriptions are kept for as long as they can be true. Mutations always go through.
//
// What holds:
// - A read joins only one that began after the last of our own writes on that service ended, and not longer
//   ago than kJoinAge. So a step that looks after it acted never sees the time before its act.
// - A kept answer is dropped once one of our own writes on its service ends, unless it is a fact that no
//   write of ours changes (instance types, zones). A read under way while a write ended is not kept.
// - CallOptions::fresh is never answered from what is kept. `fresh()` is this client with that option on
//   every call: flows get it, because what they see they act upon.
// - Errors go to all who joined, but one: who is cancelled, or runs out of time, leaves alone, and one of
//   the others makes the call anew. Errors are not kept.
// - Only reads whose answer is the same for everybody are joined (Describe, List, Get, Head, …); S3 objects
//   and the givers of tokens are not.
//
// Owned by the composition root, used on one loop; starts nothing of its own. Everything is bounded:
// kKeptMost answers, the expired going first, then the oldest; pages of what lives for seconds are not kept.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "aws/client.h"

namespace instantstart::aws {

// How a call was spared.
enum class Spared : std::uint8_t { joined, kept };

// What our own writes on the same service do to a kept answer.
enum class OwnWrites : std::uint8_t { drop_it, leave_it };

struct KeepRule {
    std::string_view service, operation;
    base::Duration life;
    OwnWrites own_writes;
};
// The table of all that is kept; null where an operation's answers are not.
const KeepRule* keep_rule(std::string_view service, std::string_view operation);

class SharedReads final : public Client {
public:
    static constexpr auto kJoinAge = std::chrono::seconds(2);
    static constexpr std::size_t kKeptMost = 256;

    SharedReads(Client& inner, rt::Clock& clock);
    ~SharedReads() override;
    SharedReads(const SharedReads&) = delete;
    SharedReads& operator=(const SharedReads&) = delete;

    using Client::call;
    Task<JsonObject> call(Context context, std::string service, std::string operation, JsonObject parameters,
                          CallOptions options) override;
    Task<std::string> eks_token(Context context, std::string cluster) override;
    std::string region() const override { return inner_.region(); }
    std::string partition() const override { return inner_.partition(); }
    Task<JsonObject> explain(Context context) override;

    Client& fresh() { return *fresh_; }
    // Called for each call that was spared: service, operation, how. May be empty.
    std::function<void(const std::string&, const std::string&, Spared)> on_spared;

private:
    struct Flight;
    struct Kept;
    class Fresh;

    Task<JsonObject> read(Context context, std::string service, std::string operation, JsonObject parameters,
                          CallOptions options);
    const JsonObject* kept(const std::string& key);
    std::shared_ptr<Flight> flight_to_join(const std::string& service, const std::string& key) const;
    void keep(const std::string& key, const std::string& service, const std::string& operation,
              const JsonObject& parameters, const JsonObject& answer);
    void drop_expired();
    void drop_kept_of(const std::string& service);
    void spare(const std::string& service, const std::string& operation, Spared how) const;

    Client& inner_;
    rt::Clock& clock_;
    std::unique_ptr<Client> fresh_;
    std::map<std::string, std::uint64_t, std::less<>> writes_;  // ended, by service
    std::map<std::string, std::shared_ptr<Flight>> flights_;    // by key, the youngest of each
    std::map<std::string, Kept> kept_;
    std::deque<std::string> order_;  // keys of kept_, the oldest first
};

}  // namespace instantstart::aws
