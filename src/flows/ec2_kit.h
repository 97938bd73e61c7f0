// EC2 kit: one step for "a tagged EC2 resource", driven by a table of kinds. The resource is found by its
// tags, which are in the create call itself; once its id is known it is asked for by id.
#pragma once

#include <map>
#include <string>

#include "flows/step_kit.h"

namespace instantstart::flows {

// What is special about a kind of EC2 resource.
struct Ec2Kind {
    Ec2Kind() = default;
    std::string noun;                     // "vpc": key of the table
    std::string describe, list, ids, id;  // "DescribeVpcs", "Vpcs", "VpcIds", "VpcId"
    std::string filters = "Filters";
    std::string create;  // "CreateVpc"
    std::string answer;  // member of the create answer that holds the object ("Vpc"); "" = the answer itself
    std::string tag_type;   // "vpc"
    std::string state;      // member that says the state; "" = none
    std::string remove;     // "DeleteVpc"
    std::string remove_id;  // parameter of the delete, where it is not `id`
};
const Ec2Kind& ec2_kind(std::string_view noun);

struct Ec2Resource {
    Ec2Resource() = default;
    Ec2Resource(std::string noun, std::string id, std::string title, std::vector<std::string> needs)
        : noun(std::move(noun)), id(std::move(id)), title(std::move(title)), needs(std::move(needs)) {}
    std::string noun, id, title;
    std::vector<std::string> needs;
    JsonObject parameters;  // of the create call; "@step.key" and "$param" are filled in
    std::map<std::string, std::string> tags;
    std::string name;          // Name tag
    std::string role;          // value of the step tag; "" = the step's id
    bool token = false;        // the create call takes a client token
    bool natural_key = false;  // a CIDR or a name makes a repeated create fail instead of making a second one
    Schedule schedule = quick();
};
Row ec2_row(Ec2Resource resource);

// All resources of a kind with these filters (DescribeX, whole).
Task<JsonArray> ec2_list(Clusters& env, Context context, std::string noun, JsonArray filters);
Task<JsonArray> ec2_by_id(Clusters& env, Context context, std::string noun, std::string id,
                          aws::CallOptions options = aws::CallOptions());

}  // namespace instantstart::flows
