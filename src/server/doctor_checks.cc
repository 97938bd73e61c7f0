#include "server/doctor_checks.h"

#include <array>

#include "server/iam_policy.h"

namespace instantstart::server {

namespace {

using base::JsonArray;
using base::JsonObject;

struct Probe {
    const char* service;
    const char* operation;
    const char* parameters;
};
// One cheap read of each service that the product uses.
constexpr std::array<Probe, 8> kProbes = {
    {{"ec2", "DescribeVpcs", R"({"MaxResults": 5})"},
     {"eks", "ListClusters", R"({"maxResults": 1})"},
     {"sagemaker", "ListClusters", R"({"MaxResults": 1})"},
     {"iam", "ListRoles", R"({"MaxItems": 1})"},
     {"s3", "ListBuckets", "{}"},
     {"service-quotas", "ListServiceQuotas", R"({"ServiceCode": "sagemaker", "MaxResults": 1})"},
     {"logs", "DescribeLogGroups", R"({"limit": 1})"},
     {"elbv2", "DescribeLoadBalancers", R"({"PageSize": 1})"}}};

std::string remedy_of(const base::Error& error, const std::string& service) {
    using base::ErrorKind;
    if (error.code == "CredentialsUnavailable")
        return "Set AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY.";
    if (error.code == "CredentialsExpired") return "Sign in again (for example `aws sso login`).";
    if (error.code == "RequestTimeTooSkewed" || error.code == "SignatureDoesNotMatch")
        return "Check the secret key, and that this machine's clock is set (NTP).";
    if (error.kind == ErrorKind::denied) return "Give the principal what `instantstart iam-policy` prints.";
    if (error.kind == ErrorKind::unavailable)
        return "Check the network, the proxy and AWS_ENDPOINT_URL for " + service + ".";
    return "See the message; " + service + " may not be enabled in this region.";
}

rt::Task<bool> check_identity(aws::Client& client, std::vector<Finding>& findings, std::string& arn) {
    JsonObject nothing;
    auto answer = co_await client.call({}, "sts", "GetCallerIdentity", std::move(nothing));
    Finding finding("credentials");
    if (answer) {
        arn = base::get_string(*answer, "Arn");
        finding.seen = arn + " in account " + base::get_string(*answer, "Account");
    } else {
        finding.state = FindingState::failed;
        finding.seen = answer.error().message + " (" + answer.error().code + ")";
        finding.remedy = remedy_of(answer.error(), "sts");
    }
    const bool good = finding.state == FindingState::good;
    findings.push_back(std::move(finding));
    Finding region("region");
    region.seen = client.region();
    if (region.seen.empty()) {
        region.state = FindingState::failed;
        region.seen = "not set";
        region.remedy = "Set AWS_REGION, or give --region.";
    }
    findings.push_back(std::move(region));
    co_return good;
}

rt::Task<void> check_services(aws::Client& client, std::vector<Finding>& findings) {
    for (const auto& probe : kProbes) {
        auto parameters = base::parse_json(probe.parameters);
        JsonObject given = std::move(parameters->get_object());
        auto answer = co_await client.call({}, probe.service, probe.operation, std::move(given));
        Finding finding(std::string("service ") + probe.service);
        finding.seen = "answers";
        if (!answer) {
            finding.state = FindingState::failed;
            finding.seen = answer.error().message + " (" + answer.error().code + ")";
            finding.remedy = remedy_of(answer.error(), probe.service);
        }
        findings.push_back(std::move(finding));
    }
    co_return base::ok();
}

// "arn:aws:sts::1:assumed-role/name/session" cannot be simulated; its role can, once its real ARN (with path)
// is known.
rt::Task<std::string> principal_to_simulate(aws::Client& client, std::string arn) {
    const auto assumed = arn.find(":assumed-role/");
    if (assumed == std::string::npos) co_return arn;
    std::string role = arn.substr(assumed + std::string(":assumed-role/").size());
    role = role.substr(0, role.find('/'));
    JsonObject parameters;
    parameters["RoleName"] = role;
    auto answer = co_await client.call({}, "iam", "GetRole", std::move(parameters));
    CO_TRY(JsonObject found, std::move(answer));
    co_return base::get_string(found, "Role.Arn");
}

JsonArray actions_needed() {
    const auto catalogue = app::make_catalogue();
    JsonArray actions;
    const JsonObject policy = iam_policy(*catalogue);
    for (const auto& statement : base::get_array(policy, "Statement")) {
        for (const auto& action : base::get_array(statement, "Action")) actions.push_back(action);
    }
    return actions;
}

rt::Task<void> check_permissions(aws::Client& client, std::vector<Finding>& findings, std::string arn) {
    Finding finding("permissions");
    auto principal = co_await principal_to_simulate(client, std::move(arn));
    base::Result<JsonObject> answer = base::Result<JsonObject>(base::internal_error("not asked"));
    std::string denied;
    std::size_t asked = 0;
    if (principal) {
        const JsonArray actions = actions_needed();
        constexpr std::size_t kAtOnce = 50;
        for (std::size_t at = 0; at < actions.size(); at += kAtOnce) {
            JsonArray some(
                actions.begin() + static_cast<std::ptrdiff_t>(at),
                actions.begin() + static_cast<std::ptrdiff_t>(std::min(actions.size(), at + kAtOnce)));
            asked += some.size();
            JsonObject parameters;
            parameters["PolicySourceArn"] = *principal;
            parameters["ActionNames"] = std::move(some);
            answer = co_await client.call({}, "iam", "SimulatePrincipalPolicy", std::move(parameters));
            if (!answer) break;
            for (const auto& result : base::get_array(*answer, "EvaluationResults")) {
                if (base::get_string(result, "EvalDecision") == "allowed") continue;
                denied += (denied.empty() ? "" : ", ") + base::get_string(result, "EvalActionName");
            }
        }
    }
    if (!principal || !answer) {
        finding.state = FindingState::warn;
        finding.seen =
            "could not be simulated: " + (principal ? answer.error().message : principal.error().message);
        finding.remedy =
            "Allow iam:GetRole and iam:SimulatePrincipalPolicy, or compare with `instantstart iam-policy` by "
            "hand.";
    } else if (!denied.empty()) {
        finding.state = FindingState::warn;
        finding.seen = "not allowed on every resource: " + denied;
        finding.remedy =
            "Attach what `instantstart iam-policy` prints (a narrower resource than * shows here, too).";
    } else {
        finding.seen = "all " + std::to_string(asked) + " actions are allowed";
    }
    findings.push_back(std::move(finding));
    co_return base::ok();
}

rt::Task<void> check_quotas(aws::Client& client, std::vector<Finding>& findings) {
    JsonObject parameters;
    parameters["ServiceCode"] = "sagemaker";
    constexpr std::size_t kMost = 5000;
    auto answer =
        co_await client.collect({}, "service-quotas", "ListServiceQuotas", std::move(parameters), kMost);
    Finding finding("quotas");
    if (!answer) {
        finding.state = FindingState::warn;
        finding.seen = answer.error().message;
        finding.remedy = remedy_of(answer.error(), "service-quotas");
        findings.push_back(std::move(finding));
        co_return base::ok();
    }
    std::size_t usable = 0;
    for (const auto& quota : *answer) {
        const bool is_cluster = base::get_string(quota, "QuotaName").ends_with("for cluster usage");
        const base::JsonValue* value = quota.is_object() ? quota.get_object().if_contains("Value") : nullptr;
        if (is_cluster && value != nullptr && value->is_number() && value->to_number<double>() > 0) ++usable;
    }
    finding.seen = std::to_string(usable) + " instance types have a cluster quota above zero";
    if (usable == 0) {
        finding.state = FindingState::warn;
        finding.remedy =
            "Ask for an increase of `ml.… for cluster usage` in Service Quotas before the first cluster.";
    }
    findings.push_back(std::move(finding));
    co_return base::ok();
}

}  // namespace

rt::Task<void> check_account(aws::Client& client, std::vector<Finding>& findings) {
    std::string arn;
    auto known = co_await check_identity(client, findings, arn);
    CO_TRY(const bool usable, std::move(known));
    if (!usable) co_return base::ok();  // nothing else can answer
    auto services = co_await check_services(client, findings);
    CO_CHECK_OK(std::move(services));
    auto permissions = co_await check_permissions(client, findings, arn);
    CO_CHECK_OK(std::move(permissions));
    co_return co_await check_quotas(client, findings);
}

}  // namespace instantstart::server
