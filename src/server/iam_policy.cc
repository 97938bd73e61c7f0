#include "server/iam_policy.h"

#include <algorithm>
#include <set>

#include "aws/model/iam_actions.h"

namespace instantstart::server {

namespace {

base::JsonObject document_of(base::JsonArray statements) {
    return {{"Version", "2012-10-17"}, {"Statement", std::move(statements)}};
}

base::JsonArray statements_of(const app::Catalogue& catalogue, const PolicyOptions& options) {
    const auto needed = needed_actions(catalogue, options.read_only);
    base::JsonArray made;
    for (const auto& statement : aws::model::policy_statements()) {
        if (!aws::model::is_printed(statement, options.limits)) continue;
        std::vector<std::string> actions;
        std::set_intersection(statement.actions.begin(), statement.actions.end(), needed.begin(),
                              needed.end(), std::back_inserter(actions));
        if (!actions.empty()) made.push_back(aws::model::statement_json(statement, actions, options.limits));
    }
    return made;
}

}  // namespace

std::vector<std::string> used_aws_operations(const app::Catalogue& catalogue, bool read_only) {
    std::set<std::string> uses;
    for (const auto& operation : catalogue.operations()) {
        const auto& meta = operation->meta();
        // A query for more than viewers gives more than sight, as a link that signs a browser in.
        if (read_only && (meta.kind != app::Kind::query || meta.role != app::Role::viewer)) continue;
        uses.insert(meta.uses.begin(), meta.uses.end());
    }
    return {uses.begin(), uses.end()};
}

std::vector<std::string> needed_actions(const app::Catalogue& catalogue, bool read_only) {
    std::set<std::string> needed;
    for (const auto& use : used_aws_operations(catalogue, read_only)) {
        const auto colon = use.find(':');
        CHECK(colon != std::string::npos);
        for (const auto& row : aws::model::iam_actions(use.substr(0, colon), use.substr(colon + 1)))
            needed.insert(row.action);
    }
    return {needed.begin(), needed.end()};
}

base::JsonObject iam_policy(const app::Catalogue& catalogue, const PolicyOptions& options) {
    return document_of(statements_of(catalogue, options));
}

std::vector<base::JsonObject> managed_policies(const app::Catalogue& catalogue,
                                               const PolicyOptions& options) {
    std::vector<base::JsonObject> documents;
    base::JsonArray some;
    for (const auto& statement : statements_of(catalogue, options)) {
        base::JsonArray with = some;
        with.push_back(statement);
        if (!some.empty() && policy_size(document_of(with)) > kManagedPolicyLimit) {
            documents.push_back(document_of(std::move(some)));
            some = {statement};
        } else {
            some = std::move(with);
        }
    }
    if (!some.empty()) documents.push_back(document_of(std::move(some)));
    return documents;
}

base::JsonObject policy_template(const app::Catalogue& catalogue, const PolicyOptions& options) {
    base::JsonObject resources;
    int number = 0;
    for (auto& document : managed_policies(catalogue, options)) {
        ++number;
        base::JsonObject properties{
            {"Description", "InstantStart: what the control plane needs, part " + std::to_string(number)},
            {"PolicyDocument", std::move(document)},
            {"Roles", base::JsonObject{{"Ref", "RoleNames"}}}};
        resources["InstantStartPolicy" + std::to_string(number)] =
            base::JsonObject{{"Type", "AWS::IAM::ManagedPolicy"}, {"Properties", std::move(properties)}};
    }
    const base::JsonObject names{{"Type", "CommaDelimitedList"},
                                 {"Description", "Names of the roles that InstantStart runs with"}};
    return {{"AWSTemplateFormatVersion", "2010-09-09"},
            {"Description", "The least that InstantStart needs of this account."},
            {"Parameters", base::JsonObject{{"RoleNames", names}}},
            {"Resources", std::move(resources)}};
}

namespace {

base::JsonArray as_list(const base::JsonValue& value) {
    return value.is_array() ? value.get_array() : base::JsonArray{value};
}

// Values with which the condition holds.
base::JsonArray context_of(const base::JsonObject& condition) {
    base::JsonArray entries;
    for (const auto& [op, keys] : condition) {
        for (const auto& [key, wanted] : keys.get_object()) {
            const auto value = op == "Null" ? base::JsonValue("doctor") : as_list(wanted).front();
            entries.push_back(base::JsonObject{{"ContextKeyName", key},
                                               {"ContextKeyValues", base::JsonArray{value}},
                                               {"ContextKeyType", "string"}});
        }
    }
    return entries;
}

}  // namespace

std::vector<base::JsonObject> policy_questions(const app::Catalogue& catalogue,
                                               const PolicyOptions& options) {
    std::vector<base::JsonObject> questions;
    for (const auto& statement : statements_of(catalogue, options)) {
        base::JsonObject made{{"Sid", base::get_string(statement, "Sid")},
                              {"ActionNames", base::get_array(statement, "Action")},
                              {"ResourceArns", as_list(statement.at("Resource"))}};
        auto context = context_of(base::get_object(statement, "Condition"));
        if (!context.empty()) made["ContextEntries"] = std::move(context);
        questions.push_back(std::move(made));
    }
    return questions;
}

std::size_t policy_size(const base::JsonObject& document) {
    const auto text = base::to_text(document);
    return static_cast<std::size_t>(std::count_if(
        text.begin(), text.end(), [](char c) { return c != ' ' && c != '\n' && c != '\t' && c != '\r'; }));
}

}  // namespace instantstart::server
