#include "server/doctor_checks.h"

#include <algorithm>
#include <array>
#include <set>

#include "aws/model/iam_actions.h"
#include "base/text.h"
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

// AWS does not take the key itself: no policy heals that.
constexpr std::array<std::string_view, 8> kKeyCodes = {
    "InvalidClientTokenId", "UnrecognizedClientException", "AuthFailure",
    "InvalidAccessKeyId",   "SignatureDoesNotMatch",       "InvalidSignatureException",
    "IncompleteSignature",  "IncompleteSignatureException"};

std::string remedy_of(const base::Error& error, const std::string& service) {
    using base::ErrorKind;
    if (error.code == "CredentialsUnavailable")
        return "Set AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY.";
    if (error.code == "CredentialsExpired") return "Sign in again (for example `aws sso login`).";
    if (error.code == "RequestTimeTooSkewed") return "Set this machine's clock (NTP).";
    if (std::find(kKeyCodes.begin(), kKeyCodes.end(), error.code) != kKeyCodes.end())
        return "Check the access key and the secret key (AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or "
               "those of the profile): AWS does not know the one, or the other does not belong to it.";
    if (error.kind == ErrorKind::denied) return "Give the principal what `instantstart iam-policy` prints.";
    if (error.kind == ErrorKind::unavailable)
        return "Check the network, the proxy and AWS_ENDPOINT_URL for " + service + ".";
    if (!error.hint.empty()) return error.hint;
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

// What a policy that the product prints does not allow is no fault: the finding says what stays unseen.
Finding refused_finding(const Probe& probe, const base::Error& error, const app::Catalogue& catalogue) {
    Finding finding(std::string("service ") + probe.service);
    finding.state = FindingState::failed;
    finding.seen = error.message + " (" + error.code + ")";
    finding.remedy = remedy_of(error, probe.service);
    const bool of_key = std::find(kKeyCodes.begin(), kKeyCodes.end(), error.code) != kKeyCodes.end();
    const auto rows = aws::model::iam_actions(probe.service, probe.operation);
    if (error.kind != base::ErrorKind::denied || of_key || rows.empty()) return finding;
    const std::string action = rows.front().action;
    const auto promised = [&](bool read_only) {
        const auto actions = needed_actions(catalogue, read_only);
        return std::find(actions.begin(), actions.end(), action) != actions.end();
    };
    if (promised(true)) return finding;
    finding.state = FindingState::warn;
    finding.seen = "could not be seen: " + finding.seen;
    finding.remedy = promised(false)
                         ? "Only changes need " + action +
                               ": nothing to do for a principal with the policy "
                               "of `instantstart iam-policy --read-only`; else give it the whole policy."
                         : "The product does not need " + action + "; allow it where doctor is to see this.";
    return finding;
}

rt::Task<void> check_services(aws::Client& client, std::vector<Finding>& findings) {
    const auto catalogue = app::make_catalogue();
    for (const auto& probe : kProbes) {
        auto parameters = base::parse_json(probe.parameters);
        JsonObject given = std::move(parameters->get_object());
        auto answer = co_await client.call({}, probe.service, probe.operation, std::move(given));
        Finding finding(std::string("service ") + probe.service);
        finding.seen = "answers";
        if (!answer) finding = refused_finding(probe, answer.error(), *catalogue);
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

// The region and account are the caller's own: the policy that is printed for them is asked about.
PolicyOptions options_of(const aws::Client& client, const std::string& arn) {
    PolicyOptions options;
    const auto parts = base::split(arn, ':');
    options.limits.partition = client.partition();
    options.limits.region = client.region();
    if (parts.size() > 4) options.limits.account = parts[4];
    return options;
}

// Statement by statement; what is not allowed is named by its statement.
rt::Task<std::vector<std::string>> refused_actions(aws::Client& client, std::string principal) {
    const auto catalogue = app::make_catalogue();
    std::vector<std::string> refused;
    for (auto& question : policy_questions(*catalogue, options_of(client, principal))) {
        const auto sid = base::get_string(question, "Sid");
        question.erase("Sid");
        question["PolicySourceArn"] = principal;
        CO_TRY(auto results,
               co_await client.collect({}, "iam", "SimulatePrincipalPolicy", std::move(question)));
        std::set<std::string> actions;
        for (const auto& result : results) {
            if (base::get_string(result, "EvalDecision") != "allowed")
                actions.insert(base::get_string(result, "EvalActionName"));
        }
        for (const auto& action : actions) refused.push_back(action + " (" + sid + ")");
    }
    co_return refused;
}

rt::Task<void> check_permissions(aws::Client& client, std::vector<Finding>& findings, std::string arn) {
    Finding finding("permissions");
    auto principal = co_await principal_to_simulate(client, std::move(arn));
    base::Result<std::vector<std::string>> refused(base::internal_error("not asked"));
    if (principal) refused = co_await refused_actions(client, *principal);
    if (!principal || !refused) {
        finding.state = FindingState::warn;
        finding.seen =
            "could not be simulated: " + (principal ? refused.error().message : principal.error().message);
        finding.remedy =
            "Allow iam:GetRole and iam:SimulatePrincipalPolicy, or compare with `instantstart iam-policy` by "
            "hand.";
    } else if (!refused->empty()) {
        finding.state = FindingState::warn;
        finding.seen = "not allowed: " + base::join(*refused, ", ");
        finding.remedy = "Attach the statements named in brackets, which `instantstart iam-policy` prints.";
    } else {
        finding.seen = "every statement of `instantstart iam-policy` is allowed";
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
