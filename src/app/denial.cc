#include "app/denial.h"

#include <algorithm>
#include <array>

#include "aws/model/iam_actions.h"
#include "aws/model/iam_statements.h"
#include "base/text.h"

namespace instantstart::app {

namespace {

using aws::model::PolicyStatement;

constexpr std::string_view kCaller = "User: ";
constexpr std::string_view kAction = "is not authorized to perform: ";
constexpr std::string_view kResource = "on resource: ";

// The word after a mark, without quotes and without the full stop of the sentence.
std::string word_after(std::string_view text, std::string_view mark) {
    const auto at = text.find(mark);
    if (at == std::string_view::npos) return "";
    text = text.substr(at + mark.size());
    std::string word(text.substr(0, text.find_first_of(" \n\t")));
    while (!word.empty() && (word.front() == '"' || word.front() == '\'')) word.erase(0, 1);
    while (!word.empty() && std::string_view("\"'.,;)").find(word.back()) != std::string_view::npos)
        word.pop_back();
    return word;
}

struct Sign {
    std::string_view text;
    DeniedBy by;
};
// The first that is found says who refused.
constexpr std::array<Sign, 12> kSigns = {
    {{"service control polic", DeniedBy::organisation},
     {"resource control polic", DeniedBy::organisation},
     {"permissions boundary", DeniedBy::boundary},
     {"session polic", DeniedBy::session},
     {"VPC endpoint polic", DeniedBy::endpoint},
     {"no identity-based policy allows", DeniedBy::identity},
     {"explicit deny in an identity-based policy", DeniedBy::explicit_deny},
     {"explicit deny in a resource-based policy", DeniedBy::resource},
     {"no resource-based policy allows", DeniedBy::resource},
     {"resource-based policies", DeniedBy::resource},
     {"resource-based policy", DeniedBy::resource},
     {"explicit deny", DeniedBy::explicit_deny}}};

DeniedBy refuser(std::string_view text) {
    const auto* found = std::find_if(kSigns.begin(), kSigns.end(), [text](const Sign& sign) {
        return text.find(sign.text) != std::string_view::npos;
    });
    return found == kSigns.end() ? DeniedBy::identity : found->by;
}

// Codes of a refusal by policies; others of the kind are about the keys.
bool is_refusal(std::string_view code) {
    return code.starts_with("AccessDenied") || code.starts_with("UnauthorizedOperation") ||
           code.starts_with("NotAuthorized") || code.starts_with("AuthorizationError") ||
           code == "Forbidden" || code == "UnauthorizedException" || code == "403" ||
           code == "AllAccessDisabled";
}

// The parts of an ARN that limit a statement; "" where there is none.
std::string arn_part(const std::string& arn, std::size_t index) {
    const auto parts = base::split(arn, ':');
    const bool is_arn = parts.size() > 5 && parts[0] == "arn";
    return is_arn && parts[index] != "*" ? parts[index] : std::string();
}

aws::model::PolicyLimits limits_of(const Denial& denial) {
    constexpr std::size_t kPartition = 1, kRegion = 3, kAccount = 4;
    aws::model::PolicyLimits limits;
    const auto partition = arn_part(denial.caller.empty() ? denial.resource : denial.caller, kPartition);
    if (!partition.empty()) limits.partition = partition;
    limits.account = arn_part(denial.caller, kAccount);
    limits.region = arn_part(denial.resource, kRegion);
    limits.kms_keys = {denial.resource.empty() ? "*" : denial.resource};
    // A given role stands outside of our prefix: the statement must name it.
    if (denial.action == "iam:PassRole" && denial.resource.find(":role/instantstart-") == std::string::npos)
        limits.execution_roles = {denial.resource};
    limits.custom_images = true;
    return limits;
}

struct Remedy {
    Remedy() = default;
    std::string sids;  // "A or B"
    base::JsonArray statements;
    std::string flag;    // what iam-policy must be given to print it
    bool inside = true;  // the printed policy covers the resource
};

Remedy remedy_of(const Denial& denial, const std::string& operation) {
    Remedy remedy;
    const auto limits = limits_of(denial);
    for (const auto* statement : aws::model::statements_for(denial.action, denial.resource, operation)) {
        remedy.sids += (remedy.sids.empty() ? "" : " or ") + statement->sid;
        remedy.inside = denial.resource.empty() || aws::model::covers(*statement, denial.resource);
        remedy.flag = statement->only_with;
        if (!limits.execution_roles.empty() && statement->sid == "PassRolesToHyperPod")
            remedy.flag = "--execution-role";
        auto made = aws::model::statement_json(*statement, {denial.action}, limits);
        if (!remedy.inside) made["Resource"] = denial.resource;
        remedy.statements.push_back(std::move(made));
    }
    return remedy;
}

std::string who_refused(DeniedBy by) {
    switch (by) {
        case DeniedBy::identity: return "";
        case DeniedBy::explicit_deny:
            return "A policy of the principal denies it explicitly: that Deny must go, no Allow outweighs "
                   "it.";
        case DeniedBy::boundary:
            return "The principal's permissions boundary does not allow it: whoever owns the boundary must "
                   "add it there, too.";
        case DeniedBy::organisation:
            return "A policy of the organisation (service or resource control policy) refuses it: ask who "
                   "administers the organisation; a policy of this account cannot allow it.";
        case DeniedBy::session:
            return "The policy of the session refuses it: whoever hands out the session must allow it there.";
        case DeniedBy::endpoint:
            return "The policy of the VPC endpoint that the call went through refuses it: allow it there.";
        case DeniedBy::resource:
            return "The policy of the resource itself refuses it: allow the principal there.";
    }
    return "";
}

std::string hint_of(const Denial& denial, const Remedy& remedy) {
    std::string hint = who_refused(denial.by);
    if (denial.by == DeniedBy::organisation || denial.by == DeniedBy::resource) return hint;
    if (!hint.empty()) hint += " ";
    if (remedy.sids.empty()) {
        return hint + "The policy that `instantstart iam-policy` prints does not have " + denial.action +
               ": allow it by a statement of your own.";
    }
    hint += "The statement \"" + remedy.sids + "\" of `instantstart iam-policy`" +
            (remedy.flag.empty() ? "" : ", printed with " + remedy.flag + ",") + " allows it";
    if (!remedy.inside) hint += ", but on other resources; one that allows this one";
    for (std::size_t index = 0; index < remedy.statements.size(); ++index)
        hint += (index == 0 ? ": " : " or, by the tags of the resource, ") +
                base::to_text(remedy.statements[index]);
    if (denial.action == "iam:CreateServiceLinkedRole") {
        hint +=
            " Where the principal has it already, a policy of the organisation or a permissions boundary "
            "refuses it.";
    }
    return hint;
}

// Where AWS does not say the action: the call's own, or all that the call needs.
std::string action_of_call(const std::string& operation) {
    const auto colon = operation.find(':');
    if (colon == std::string::npos) return "";
    const auto rows = aws::model::iam_actions(operation.substr(0, colon), operation.substr(colon + 1));
    return rows.empty() ? std::string() : rows.front().action;
}

}  // namespace

std::optional<Denial> read_denial(const base::Error& error) {
    if (error.kind != base::ErrorKind::denied) return std::nullopt;
    const auto operation = base::get_string(error.extra, "aws_operation");
    Denial denial;
    denial.action = word_after(error.message, kAction);
    if (denial.action.find(':') == std::string::npos) {
        if (operation.empty() || !is_refusal(error.code)) return std::nullopt;
        denial.action = action_of_call(operation);
        if (denial.action.empty()) return std::nullopt;
        denial.by = refuser(error.message);
        return denial;
    }
    denial.caller = word_after(error.message, kCaller);
    denial.resource = word_after(error.message, kResource);
    denial.by = refuser(error.message);
    return denial;
}

base::Error explain_denial(base::Error error) {
    const auto denial = read_denial(error);
    if (!denial) return error;
    const auto remedy = remedy_of(*denial, base::get_string(error.extra, "aws_operation"));
    error.hint = hint_of(*denial, remedy);
    error.extra["upstream_code"] = error.code;
    error.extra["missing_action"] = denial->action;
    if (!denial->resource.empty()) error.extra["resource"] = denial->resource;
    if (!remedy.sids.empty()) {
        error.extra["statement"] = remedy.sids;
        error.extra["policy"] = base::JsonObject{{"Version", "2012-10-17"}, {"Statement", remedy.statements}};
    }
    error.code = "aws_access_denied";
    return error;
}

}  // namespace instantstart::app
