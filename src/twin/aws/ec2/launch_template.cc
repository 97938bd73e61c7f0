// Launch templates and their versions, as far as node groups need them.
#include "twin/aws/ec2/ec2.h"
#include "twin/aws/ec2/filters.h"
#include "twin/aws/ec2/state.h"

namespace instantstart::twin::ec2 {

namespace {

constexpr FilterPath kFilters[] = {{"launch-template-name", "LaunchTemplateName"},
                                   {"create-time", "CreateTime"}};

Record* find_by_name(State& state, std::string_view name) {
    for (auto& [id, record] : state.launch_templates) {
        if (base::get_string(record.data, "LaunchTemplateName") == name) return &record;
    }
    return nullptr;
}

Found require_template(State& state, const Call& call) {
    const std::string id = base::get_string(call.params, "LaunchTemplateId"),
                      name = base::get_string(call.params, "LaunchTemplateName");
    Found found;
    if (id.empty() == name.empty()) {
        found.error = failure("MissingParameter",
                              "Either launchTemplateId or launchTemplateName must be specified, not both.");
        return found;
    }
    if (!id.empty()) {
        return require(state, state.launch_templates, id, "InvalidLaunchTemplateId.NotFound",
                       "launch template ID");
    }
    Record* record = find_by_name(state, name);
    if (record != nullptr && state.known(*record)) {
        found.record = record;
    } else {
        found.error =
            failure("InvalidLaunchTemplateName.NotFoundException",
                    "The specified launch template, with template name " + name + ", does not exist.");
    }
    return found;
}

JsonObject version_of(const State& state, const Record& record, std::int64_t number, const Call& call) {
    JsonObject version;
    version["LaunchTemplateId"] = record.id;
    version["LaunchTemplateName"] = base::get_string(record.data, "LaunchTemplateName");
    version["VersionNumber"] = number;
    version["VersionDescription"] = base::get_string(call.params, "VersionDescription");
    version["CreateTime"] = base::format_time(state.world.now());
    version["CreatedBy"] = "arn:aws:iam::" + state.world.account() + ":root";
    version["DefaultVersion"] = number == 1;
    JsonObject data = base::get_object(call.params, "LaunchTemplateData");
    version["LaunchTemplateData"] = std::move(data);
    return version;
}

Reply create_template(State& state, const Call& call) {
    const std::string token = base::get_string(call.params, "ClientToken"),
                      name = base::get_string(call.params, "LaunchTemplateName");
    const auto earlier = state.tokens.find("CreateLaunchTemplate/" + token);
    if (!token.empty() && earlier != state.tokens.end()) {
        if (const Record* record = state.launch_templates.find(earlier->second)) {
            JsonObject answer;
            answer["LaunchTemplate"] = record->data;
            return answer;
        }
    }
    if (name.size() < 3 || name.size() > 128)
        return failure("InvalidLaunchTemplateName.MalformedException",
                       "The launch template name must be between 3 and 128 characters long.");
    if (find_by_name(state, name) != nullptr)
        return failure("InvalidLaunchTemplateName.AlreadyExistsException",
                       "Launch template name already in use.");
    if (auto bad = check_tags(call)) return *bad;
    const std::string id = state.world.hex_id("lt-", 17);
    JsonObject data;
    data["LaunchTemplateId"] = id;
    data["LaunchTemplateName"] = name;
    data["CreateTime"] = base::format_time(state.world.now());
    data["CreatedBy"] = "arn:aws:iam::" + state.world.account() + ":root";
    data["DefaultVersionNumber"] = 1;
    data["LatestVersionNumber"] = 1;
    data["Tags"] = requested_tags(call, "launch-template");
    Record& record = state.launch_templates.add(id, std::move(data), state.world.now());
    record.hidden["versions"] = JsonArray{version_of(state, record, 1, call)};
    if (!token.empty()) state.tokens["CreateLaunchTemplate/" + token] = id;
    JsonObject answer;
    answer["LaunchTemplate"] = record.data;
    return answer;
}

Reply create_version(State& state, const Call& call) {
    const Found found = require_template(state, call);
    if (found.record == nullptr) return found.error;
    const std::int64_t number = base::get_int(found.record->data, "LatestVersionNumber") + 1;
    found.record->data["LatestVersionNumber"] = number;
    JsonObject version = version_of(state, *found.record, number, call);
    array_of(found.record->hidden, "versions").push_back(version);
    JsonObject answer;
    answer["LaunchTemplateVersion"] = std::move(version);
    return answer;
}

Reply describe_templates(State& state, const Call& call) {
    const std::vector<std::string> names = strings(call.params, "LaunchTemplateNames");
    for (const std::string& name : names) {
        if (find_by_name(state, name) == nullptr)
            return failure("InvalidLaunchTemplateName.NotFoundException",
                           "At least one of the launch templates specified in the request does not exist.");
    }
    Listing listing;
    listing.result = "LaunchTemplates";
    listing.ids_parameter = "LaunchTemplateIds";
    listing.not_found_code = "InvalidLaunchTemplateId.NotFound";
    listing.noun = "launch template ID";
    listing.filters = kFilters;
    if (names.empty()) return describe(state, state.launch_templates, call, listing);
    JsonArray chosen;
    for (const auto& [id, record] : state.launch_templates) {
        if (contains(names, base::get_string(record.data, "LaunchTemplateName")))
            chosen.push_back(record.data);
    }
    return describe_values(call, chosen, listing);
}

Reply describe_versions(State& state, const Call& call) {
    const Found found = require_template(state, call);
    if (found.record == nullptr) return found.error;
    const std::vector<std::string> wanted = strings(call.params, "Versions");
    const std::string latest = std::to_string(base::get_int(found.record->data, "LatestVersionNumber"));
    JsonArray chosen;
    for (const JsonValue& version : base::get_array(found.record->hidden, "versions")) {
        const std::string number = std::to_string(base::get_int(version, "VersionNumber"));
        const bool named = contains(wanted, number) || (number == latest && contains(wanted, "$Latest")) ||
                           (number == "1" && contains(wanted, "$Default"));
        if (wanted.empty() || named) chosen.push_back(version);
    }
    Listing listing;
    listing.result = "LaunchTemplateVersions";
    return describe_values(call, chosen, listing);
}

Reply delete_template(State& state, const Call& call) {
    const Found found = require_template(state, call);
    if (found.record == nullptr) return found.error;
    JsonObject answer;
    answer["LaunchTemplate"] = found.record->data;
    state.launch_templates.erase(std::string(found.record->id));
    return answer;
}

}  // namespace

const Record* Ec2::launch_template(std::string_view id_or_name) {
    if (const Record* record = state_.launch_templates.find(id_or_name)) return record;
    return find_by_name(state_, id_or_name);
}

void add_template_operations(Operations& operations) {
    operations["CreateLaunchTemplate"] = create_template;
    operations["CreateLaunchTemplateVersion"] = create_version;
    operations["DescribeLaunchTemplates"] = describe_templates;
    operations["DescribeLaunchTemplateVersions"] = describe_versions;
    operations["DeleteLaunchTemplate"] = delete_template;
}

}  // namespace instantstart::twin::ec2
