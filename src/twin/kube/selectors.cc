#include "twin/kube/selectors.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/text.h"
#include "twin/kube/metadata.h"
#include "twin/kube/status.h"

namespace instantstart::twin::kube {

namespace {

using Operator = Requirement::Operator;

// Splits at commas outside parentheses.
std::vector<std::string> clauses(std::string_view text) {
    std::vector<std::string> out;
    std::string current;
    int depth = 0;
    for (const char c : text) {
        depth += c == '(' ? 1 : c == ')' ? -1 : 0;
        if (c == ',' && depth == 0) {
            out.push_back(std::move(current));
            current.clear();
        } else {
            current += c;
        }
    }
    out.push_back(std::move(current));
    return out;
}

bool is_key(std::string_view text) {
    return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
        return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_' || c == '.' ||
               c == '/';
    });
}

base::Error unreadable(std::string_view text) {
    return bad_request("unable to parse requirement: found '" + std::string(text) +
                       "', expected a label requirement");
}

base::Result<Requirement> set_requirement(std::string_view clause, std::size_t open) {
    Requirement out;
    const auto head = base::trim(clause.substr(0, open));
    const auto space = head.find_last_of(" \t");
    if (space == std::string_view::npos || clause.back() != ')') return unreadable(clause);
    const auto word = head.substr(space + 1);
    if (word != "in" && word != "notin") return unreadable(clause);
    out.op = word == "in" ? Operator::in : Operator::not_in;
    out.key = base::trim(head.substr(0, space));
    for (const auto& value : base::split(clause.substr(open + 1, clause.size() - open - 2), ',')) {
        out.values.emplace_back(base::trim(value));
    }
    return out;
}

bool is_number(std::string_view text) {
    return !text.empty() && text.size() < 19 &&
           text.find_first_not_of("0123456789") == std::string_view::npos;
}

base::Result<Requirement> parse_clause(std::string_view clause) {
    Requirement out;
    if (const auto open = clause.find('('); open != std::string_view::npos) {
        TRY(out, set_requirement(clause, open));
    } else if (const auto equals = clause.find('='); equals != std::string_view::npos) {
        const bool negative = equals > 0 && clause[equals - 1] == '!';
        const auto value_at = clause.substr(equals).starts_with("==") ? equals + 2 : equals + 1;
        out.op = negative ? Operator::not_in : Operator::in;
        out.key = base::trim(clause.substr(0, negative ? equals - 1 : equals));
        out.values.emplace_back(base::trim(clause.substr(value_at)));
    } else if (const auto sign = clause.find_first_of("<>"); sign != std::string_view::npos) {
        out.op = clause[sign] == '>' ? Operator::greater : Operator::less;
        out.key = base::trim(clause.substr(0, sign));
        out.values.emplace_back(base::trim(clause.substr(sign + 1)));
        if (!is_number(out.values.front())) return unreadable(clause);
    } else if (clause.starts_with("!")) {
        out.op = Operator::absent;
        out.key = base::trim(clause.substr(1));
    } else {
        out.key = clause;
    }
    if (!is_key(out.key)) return unreadable(clause);
    return out;
}

// "n>1": both are whole numbers.
bool compares(const Requirement& requirement, const std::string* value, int wanted) {
    if (value == nullptr || !is_number(*value)) return false;
    const auto mine = std::strtoll(value->c_str(), nullptr, 10);
    const auto other = std::strtoll(requirement.values.front().c_str(), nullptr, 10);
    return (mine > other ? 1 : mine < other ? -1 : 0) == wanted;
}

bool holds(const Requirement& requirement, const std::string* value) {
    const auto among = [&] {
        return value != nullptr && std::find(requirement.values.begin(), requirement.values.end(), *value) !=
                                       requirement.values.end();
    };
    switch (requirement.op) {
        case Operator::in: return among();
        case Operator::not_in: return !among();
        case Operator::exists: return value != nullptr;
        case Operator::absent: return value == nullptr;
        case Operator::greater: return compares(requirement, value, 1);
        case Operator::less: return compares(requirement, value, -1);
    }
    return false;
}

// Fields that a kind can be selected by, beside metadata.name and metadata.namespace.
const std::set<std::string, std::less<>>& selectable(const std::string& plural) {
    static const std::map<std::string, std::set<std::string, std::less<>>> kFields = {
        {"pods",
         {"spec.nodeName", "spec.restartPolicy", "spec.schedulerName", "spec.serviceAccountName",
          "spec.hostNetwork", "status.phase", "status.podIP", "status.nominatedNodeName"}},
        {"events",
         {"involvedObject.kind", "involvedObject.namespace", "involvedObject.name", "involvedObject.uid",
          "involvedObject.apiVersion", "involvedObject.resourceVersion", "involvedObject.fieldPath", "reason",
          "type", "source", "reportingComponent"}},
        {"nodes", {"spec.unschedulable"}},
        {"secrets", {"type"}},
        {"namespaces", {"status.phase"}},
        {"jobs", {"status.successful"}},
        {"replicasets", {"status.replicas"}},
        {"services", {"spec.clusterIP", "spec.type"}},
    };
    static const std::set<std::string, std::less<>> kNone;
    const auto found = kFields.find(plural);
    return found == kFields.end() ? kNone : found->second;
}

bool may_select(const KindInfo& kind, std::string_view field) {
    if (field == "metadata.name" || field == "metadata.namespace") return true;
    for (const auto& row : kind.selectable) {
        if (base::get_string(row, "jsonPath") == "." + std::string(field)) return true;
    }
    return !kind.custom && selectable(kind.kind.plural).contains(field);
}

std::string field_value(const JsonObject& object, std::string_view path) {
    const auto* value = base::find_path(object, path == "source" ? "source.component" : path);
    if (value == nullptr || value->is_null())
        return path == "spec.unschedulable" || path == "spec.hostNetwork" ? "false" : "";
    return value->is_string() ? std::string(value->get_string()) : base::to_text(*value);
}

}  // namespace

base::Result<std::vector<Requirement>> parse_labels(std::string_view text) {
    std::vector<Requirement> out;
    if (base::trim(text).empty()) return out;
    for (const auto& clause : clauses(text)) {
        TRY(auto requirement, parse_clause(base::trim(clause)));
        out.push_back(std::move(requirement));
    }
    return out;
}

bool matches_labels(const std::vector<Requirement>& requirements, const JsonObject& labels) {
    return std::all_of(requirements.begin(), requirements.end(), [&labels](const Requirement& requirement) {
        const auto* value = labels.if_contains(requirement.key);
        if (value == nullptr || !value->is_string()) return holds(requirement, nullptr);
        const std::string text(value->get_string());
        return holds(requirement, &text);
    });
}

base::Result<Selector> Selector::parse(std::string_view labels, std::string_view fields,
                                       const KindInfo& kind) {
    Selector out;
    TRY(out.labels_, parse_labels(labels));
    if (base::trim(fields).empty()) return out;
    for (const auto& clause : clauses(fields)) {
        const auto text = base::trim(clause);
        if (text.find('=') == std::string_view::npos) {
            return bad_request("invalid selector: '" + std::string(text) + "'; can't understand '" +
                               std::string(text) + "'");
        }
        TRY(auto requirement, parse_clause(text));
        if (!may_select(kind, requirement.key)) {
            static const std::set<std::string, std::less<>> kOwnWords = {
                "pods", "events", "nodes", "secrets", "namespaces", "jobs", "replicasets", "services"};
            if (!kind.custom && kOwnWords.contains(kind.kind.plural))
                return bad_request("field label not supported: " + requirement.key);
            return bad_request("\"" + requirement.key +
                               "\" is not a known field selector: only \"metadata.name\", "
                               "\"metadata.namespace\"");
        }
        out.fields_.push_back(std::move(requirement));
    }
    return out;
}

bool Selector::matches(const JsonObject& object) const {
    if (!matches_labels(labels_, base::get_object(object, "metadata.labels"))) return false;
    return std::all_of(fields_.begin(), fields_.end(), [&object](const Requirement& requirement) {
        const auto value = field_value(object, requirement.key);
        return holds(requirement, &value);
    });
}

std::string Selector::name() const {
    for (const auto& requirement : fields_) {
        if (requirement.key == "metadata.name" && requirement.op == Operator::in)
            return requirement.values.front();
    }
    return "";
}

}  // namespace instantstart::twin::kube
