// Which IAM actions a call needs, its dependent ones included: models/iam-actions.json read for the twin's
// authoriser, which checks one call, and for the policy that the product prints, which keeps the templates.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"

namespace instantstart::aws::model {

struct RequiredAction {
    std::string action;  // "iam:PassRole"
    std::string
        resource;      // "*", or an ARN with {partition}, {region}, {account} and paths into the parameters
    std::string when;  // needed only where the parameters have something at this path; "" = always
    std::string unless_role;  // needed only while the account has no role of this name (service-linked ones)
    bool makes = false;  // the call makes this resource: the request's tags count, it has none of its own yet
    std::map<std::string, std::string>
        condition;  // context keys of the request and their values (may hold paths)
};

// What an operation needs by the table; without a row: the action of the same name on "*".
std::vector<RequiredAction> iam_actions(std::string_view service, std::string_view operation);

// Every operation that has a row, "service:Operation".
std::vector<std::string> iam_table_operations();

struct AccountPlace {
    std::string partition, region, account;
};

// The same for one call: rows whose `when` does not hold are left out, paths are filled in (a path into a
// list gives one entry per value, each once), a condition without a value is left out. A path that leads
// nowhere becomes "*".
std::vector<RequiredAction> iam_actions_of_call(std::string_view service, std::string_view operation,
                                                const base::JsonObject& parameters,
                                                const AccountPlace& place);

// The prefix of a service's actions: "elasticloadbalancing" for "elbv2".
std::string iam_prefix(std::string_view service);

}  // namespace instantstart::aws::model
