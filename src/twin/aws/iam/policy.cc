#include "twin/aws/iam/policy.h"

#include <algorithm>
#include <charconv>

#include "base/result.h"
#include "base/text.h"
#include "base/time.h"

namespace instantstart::twin::iam {

namespace {

using base::JsonArray;
using base::JsonObject;
using base::JsonValue;

char lower(char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

// A text or a list of texts as a list.
std::vector<std::string> texts(const JsonValue* value) {
    std::vector<std::string> out;
    if (value == nullptr) return out;
    const auto add = [&out](const JsonValue& item) {
        if (item.is_string()) out.emplace_back(item.as_string());
        if (item.is_bool()) out.emplace_back(item.as_bool() ? "true" : "false");
        if (item.is_number()) out.push_back(base::to_text(item));
    };
    if (!value->is_array()) {
        add(*value);
        return out;
    }
    for (const JsonValue& item : value->as_array()) add(item);
    return out;
}

std::vector<const JsonObject*> statements(const JsonValue& document) {
    std::vector<const JsonObject*> out;
    const JsonValue* found = base::find_path(document, "Statement");
    if (found == nullptr) return out;
    if (found->is_object()) out.push_back(&found->as_object());
    if (found->is_array()) {
        for (const JsonValue& item : found->as_array()) {
            if (item.is_object()) out.push_back(&item.as_object());
        }
    }
    return out;
}

// ${aws:PrincipalArn} and the like, from the request's context; unknown ones match nothing.
std::string expand(std::string text, const PolicyRequest& request) {
    for (std::size_t at = text.find("${"); at != std::string::npos; at = text.find("${", at)) {
        const auto end = text.find('}', at);
        if (end == std::string::npos) break;
        const auto& found = request.values(text.substr(at + 2, end - at - 2));
        const std::string value = found.empty() ? "\x01" : found.front();
        text.replace(at, end - at + 1, value);
        at += value.size();
    }
    return text;
}

bool matches_any(const std::vector<std::string>& patterns, const std::string& text,
                 const PolicyRequest& request, bool ignore_case) {
    return std::any_of(patterns.begin(), patterns.end(), [&](const std::string& pattern) {
        return wildcard_match(expand(pattern, request), text, ignore_case);
    });
}

std::optional<double> number_of(const std::string& text) {
    double out = 0;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), out);
    if (read.ec != std::errc() || read.ptr != text.data() + text.size()) return std::nullopt;
    return out;
}

std::optional<double> comparable(std::string_view op, const std::string& text) {
    if (op.starts_with("Numeric")) return number_of(text);
    if (const auto time = base::parse_time(text)) return base::to_epoch(*time);
    return number_of(text);
}

bool compare(std::string_view op, const std::string& given, const std::string& wanted) {
    const auto a = comparable(op, given);
    const auto b = comparable(op, wanted);
    if (!a || !b) return false;
    if (op.ends_with("LessThanEquals")) return *a <= *b;
    if (op.ends_with("LessThan")) return *a < *b;
    if (op.ends_with("GreaterThanEquals")) return *a >= *b;
    if (op.ends_with("GreaterThan")) return *a > *b;
    return *a == *b;
}

// The six parts of an ARN are compared each for itself: a star does not reach over a colon.
bool arn_match(const std::string& pattern, const std::string& arn) {
    constexpr std::size_t kParts = 6;
    std::size_t p = 0, a = 0;
    for (std::size_t part = 0; part < kParts; ++part) {
        const bool last = part + 1 == kParts;
        const auto p_end = last ? std::string::npos : pattern.find(':', p);
        const auto a_end = last ? std::string::npos : arn.find(':', a);
        if ((p_end == std::string::npos || a_end == std::string::npos) && !last) return pattern == arn;
        if (!wildcard_match(pattern.substr(p, last ? p_end : p_end - p),
                            arn.substr(a, last ? a_end : a_end - a)))
            return false;
        p = p_end + 1;
        a = a_end + 1;
    }
    return true;
}

// One value of the request against one of the policy, the operator without its "Not".
bool holds(std::string_view op, const std::string& given, const std::string& wanted) {
    if (op == "StringEquals") return given == wanted;
    if (op == "StringEqualsIgnoreCase" || op == "Bool") return base::iequals(given, wanted);
    if (op == "StringLike") return wildcard_match(wanted, given);
    if (op == "ArnLike" || op == "ArnEquals") return arn_match(wanted, given);
    if (op.starts_with("Numeric") || op.starts_with("Date")) return compare(op, given, wanted);
    return false;  // unknown operators never hold
}

struct Operator {
    Operator() = default;
    std::string name;  // without qualifier, "Not" and IfExists
    bool negated = false, if_exists = false, for_any = false, for_all = false;
};

Operator parse_operator(std::string name) {
    Operator out;
    if (name.starts_with("ForAnyValue:")) {
        out.for_any = true;
        name.erase(0, 12);
    } else if (name.starts_with("ForAllValues:")) {
        out.for_all = true;
        name.erase(0, 13);
    }
    if (name.ends_with("IfExists")) {
        out.if_exists = true;
        name.erase(name.size() - 8);
    }
    if (const auto at = name.find("Not"); at != std::string::npos) {
        out.negated = true;
        name.erase(at, 3);
    }
    out.name = name;
    return out;
}

bool condition_holds(const Operator& op, const std::string& key, const std::vector<std::string>& wanted,
                     const PolicyRequest& request) {
    const auto& given = request.values(key);
    const bool present = !given.empty();
    if (op.name == "Null")
        return !wanted.empty() && base::iequals(wanted.front(), present ? "false" : "true");
    if (!present) return op.if_exists || op.for_all || (op.negated && !op.for_any);
    const auto one = [&](const std::string& value) {
        const bool any = std::any_of(wanted.begin(), wanted.end(), [&](const std::string& want) {
            return holds(op.name, value, expand(want, request));
        });
        return any != op.negated;
    };
    if (op.for_all || (op.negated && !op.for_any)) return std::all_of(given.begin(), given.end(), one);
    return std::any_of(given.begin(), given.end(), one);
}

bool conditions_hold(const JsonObject& statement, const PolicyRequest& request) {
    const JsonValue* conditions = statement.if_contains("Condition");
    if (conditions == nullptr || !conditions->is_object()) return true;
    for (const auto& block : conditions->as_object()) {
        if (!block.value().is_object()) return false;
        const Operator op = parse_operator(block.key());
        for (const auto& entry : block.value().as_object()) {
            if (!condition_holds(op, entry.key(), texts(&entry.value()), request)) return false;
        }
    }
    return true;
}

bool principal_matches(const JsonObject& statement, const PolicyRequest& request) {
    const JsonValue* principal = statement.if_contains("Principal");
    if (principal == nullptr) return false;
    if (principal->is_string()) return principal->as_string() == "*";
    if (!principal->is_object()) return false;
    for (const auto& kind : principal->as_object()) {
        for (const std::string& named : texts(&kind.value())) {
            if (named == "*" || named == request.principal) return true;
            // An account trusts all its principals: "111122223333" or its root ARN.
            const auto& account = request.context.find("aws:principalaccount");
            if (kind.key() != "AWS" || account == request.context.end() || account->second.empty()) continue;
            const std::string& id = account->second.front();
            if (named == id || named == "arn:aws:iam::" + id + ":root") return true;
        }
    }
    return false;
}

bool applies(const JsonObject& statement, const PolicyRequest& request, PolicyUse use) {
    if (statement.contains("Action")) {
        if (!matches_any(texts(statement.if_contains("Action")), request.action, request, true)) return false;
    } else if (matches_any(texts(statement.if_contains("NotAction")), request.action, request, true)) {
        return false;
    }
    if (use == PolicyUse::trust)
        return principal_matches(statement, request) && conditions_hold(statement, request);
    if (statement.contains("Resource")) {
        if (!matches_any(texts(statement.if_contains("Resource")), request.resource, request, false))
            return false;
    } else if (matches_any(texts(statement.if_contains("NotResource")), request.resource, request, false)) {
        return false;
    }
    return conditions_hold(statement, request);
}

std::optional<std::string> statement_fault(const JsonObject& statement, PolicyUse use) {
    const std::string effect = base::get_string(statement, "Effect");
    if (effect != "Allow" && effect != "Deny")
        return "Syntax errors in policy: Effect must be Allow or Deny.";
    if (texts(statement.if_contains("Action")).empty() && texts(statement.if_contains("NotAction")).empty())
        return "Policy statement must contain actions.";
    for (const std::string& action : texts(statement.if_contains("Action"))) {
        if (action != "*" && action.find(':') == std::string::npos)
            return "Actions/Conditions must be prefaced by a vendor, e.g., iam, sdb, ec2, etc.";
    }
    if (use == PolicyUse::trust) {
        if (!statement.contains("Principal") && !statement.contains("NotPrincipal"))
            return "Missing required field Principal";
        if (statement.contains("Resource")) return "Has prohibited field Resource";
        return std::nullopt;
    }
    if (statement.contains("Principal")) return "Policy document should not specify a principal.";
    const auto resources = texts(statement.if_contains("Resource"));
    if (resources.empty() && texts(statement.if_contains("NotResource")).empty())
        return "Policy statement must contain resources.";
    for (const std::string& resource : resources) {
        if (resource != "*" && !resource.starts_with("arn:") && !resource.starts_with("${"))
            return "Resource " + resource + " must be in ARN format or \"*\".";
    }
    return std::nullopt;
}

}  // namespace

const std::vector<std::string>& PolicyRequest::values(std::string_view key) const {
    const std::string name = base::to_lower(key);
    const auto given = context.find(name);
    if (given != context.end()) return given->second;
    const auto known = found_.find(name);
    if (known != found_.end()) return known->second;
    return found_[name] = look_up ? look_up(name) : std::vector<std::string>();
}

void PolicyRequest::add(std::string_view key, std::string value) {
    context[base::to_lower(key)].push_back(std::move(value));
}

bool wildcard_match(std::string_view pattern, std::string_view text, bool ignore_case) {
    std::size_t p = 0, t = 0, star = std::string_view::npos, resume = 0;
    while (t < text.size()) {
        const bool same = p < pattern.size() && (pattern[p] == '?' || pattern[p] == text[t] ||
                                                 (ignore_case && lower(pattern[p]) == lower(text[t])));
        if (p < pattern.size() && pattern[p] == '*') {
            star = p++;
            resume = t;
        } else if (same) {
            ++p;
            ++t;
        } else if (star != std::string_view::npos) {
            p = star + 1;
            t = ++resume;
        } else {
            return false;
        }
    }
    while (p < pattern.size() && pattern[p] == '*') ++p;
    return p == pattern.size();
}

std::size_t solid_size(std::string_view text) {
    return static_cast<std::size_t>(std::count_if(
        text.begin(), text.end(), [](char c) { return c != ' ' && c != '\n' && c != '\t' && c != '\r'; }));
}

std::optional<std::string> policy_fault(std::string_view text, PolicyUse use) {
    const auto document = base::parse_json(text);
    if (!document) return "This policy contains invalid Json";
    if (!document->is_object()) return "Syntax errors in policy.";
    const std::string version = base::get_string(*document, "Version", "2008-10-17");
    if (version != "2012-10-17" && version != "2008-10-17")
        return "The policy is not in a valid format: unknown Version.";
    for (const auto& item : document->as_object()) {
        if (item.key() != "Version" && item.key() != "Id" && item.key() != "Statement")
            return "Syntax errors in policy.";
    }
    const auto found = statements(*document);
    if (found.empty()) return "Syntax errors in policy.";
    for (const JsonObject* statement : found) {
        if (auto fault = statement_fault(*statement, use)) return fault;
    }
    return std::nullopt;
}

Effect combine(Effect a, Effect b) {
    if (a == Effect::deny || b == Effect::deny) return Effect::deny;
    return a == Effect::allow || b == Effect::allow ? Effect::allow : Effect::none;
}

Effect evaluate(const JsonValue& document, const PolicyRequest& request, PolicyUse use) {
    Effect out = Effect::none;
    for (const JsonObject* statement : statements(document)) {
        if (!applies(*statement, request, use)) continue;
        out = combine(out, base::get_string(*statement, "Effect") == "Deny" ? Effect::deny : Effect::allow);
    }
    return out;
}

std::vector<std::string> trusted_principals(const JsonValue& document, std::string_view principal_type) {
    std::vector<std::string> out;
    for (const JsonObject* statement : statements(document)) {
        if (base::get_string(*statement, "Effect") != "Allow") continue;
        const JsonValue* principal = statement->if_contains("Principal");
        if (principal == nullptr) continue;
        if (principal->is_string() && principal->as_string() == "*") out.emplace_back("*");
        if (!principal->is_object()) continue;
        for (std::string& named : texts(principal->as_object().if_contains(principal_type)))
            out.push_back(std::move(named));
    }
    return out;
}

}  // namespace instantstart::twin::iam
