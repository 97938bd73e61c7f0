// FSx for Lustre: file systems with their network interfaces, as far as somebody mounts them. Other kinds of
// file systems are not simulated.
#include "base/text.h"
#include "twin/aws/ec2/ec2.h"
#include "twin/aws/resource_tags.h"
#include "twin/aws/resources/record.h"
#include "twin/aws/services.h"
#include "twin/aws/small/paging.h"

namespace instantstart::twin {

namespace {

using std::chrono::minutes;

constexpr std::int64_t kSmallest = 1200;  // GiB
constexpr std::int64_t kMostPerPage = 50;
constexpr const char* kFirstType = "SCRATCH_1";

class Fsx final : public Service, public ResourceTags {
public:
    explicit Fsx(World& world) : world_(world) {}
    std::string_view name() const override { return "fsx"; }
    Reply handle(const Call& call) override;
    void on_timer(const std::string& kind, const JsonObject& payload) override;
    JsonValue save() const override { return JsonObject{{"file_systems", systems_.save()}}; }
    void load(const JsonValue& state) override {
        const JsonObject* saved = state.if_object();
        const JsonValue* table = saved == nullptr ? nullptr : saved->if_contains("file_systems");
        systems_.load(table == nullptr ? JsonValue() : *table);
    }
    JsonArray resource_tags(std::string_view arn) const override;

private:
    Reply create(const Call& call);
    Reply describe(const Call& call);
    Reply remove(const Call& call);
    Reply tags(const Call& call);
    std::optional<ServiceError> check(const Call& call) const;
    std::vector<std::string> groups_of(const Call& call, const std::string& vpc) const;
    Record* by_arn(std::string_view arn);

    World& world_;
    Table systems_;  // by id
};

ServiceError bad_request(std::string message) {
    return {400, "BadRequest", std::move(message)};
}
ServiceError not_found(const std::string& id) {
    return {400, "FileSystemNotFound", "File system '" + id + "' does not exist."};
}

std::optional<ServiceError> Fsx::check(const Call& call) const {
    if (base::get_string(call.params, "FileSystemType") != "LUSTRE")
        return bad_request("The simulated account makes file systems of type LUSTRE only.");
    const auto subnets = strings(call.params, "SubnetIds");
    if (subnets.size() != 1) return bad_request("A Lustre file system is in exactly one subnet.");
    auto& ec2 = world_.get<ec2::Ec2>("ec2");
    if (ec2.subnet(subnets[0]) == nullptr)
        return ServiceError(400, "InvalidNetworkSettings",
                            "The subnet ID '" + subnets[0] + "' does not exist.");
    for (const std::string& group : strings(call.params, "SecurityGroupIds")) {
        if (ec2.group(group) == nullptr)
            return ServiceError(400, "InvalidNetworkSettings",
                                "The security group '" + group + "' does not exist.");
    }
    const std::int64_t size = base::get_int(call.params, "StorageCapacity");
    if (size < kSmallest || (size > kSmallest && size % 2400 != 0 && size % 3600 != 0))
        return bad_request("Storage capacity must be 1200 GiB, or a multiple of 2400 GiB or 3600 GiB.");
    return std::nullopt;
}

std::vector<std::string> Fsx::groups_of(const Call& call, const std::string& vpc) const {
    auto given = strings(call.params, "SecurityGroupIds");
    if (!given.empty()) return given;
    Call ask = call;
    ask.operation = "DescribeSecurityGroups";
    ask.stale = {};
    ask.params = JsonObject{
        {"Filters", JsonArray{JsonObject{{"Name", "vpc-id"}, {"Values", JsonArray{JsonValue(vpc)}}},
                              JsonObject{{"Name", "group-name"}, {"Values", JsonArray{"default"}}}}}};
    const Reply reply = world_.get<ec2::Ec2>("ec2").handle(ask);
    for (const JsonValue& group : base::get_array(std::get<JsonObject>(reply), "SecurityGroups"))
        given.push_back(base::get_string(group, "GroupId"));
    return given;
}

Reply Fsx::create(const Call& call) {
    const std::string token = base::get_string(call.params, "ClientRequestToken");
    for (const auto& [id, known] : systems_) {
        if (!token.empty() && base::get_string(known.hidden, "token") == token)
            return JsonObject{{"FileSystem", known.data}};
    }
    if (auto bad = check(call)) return *bad;
    world_.iam().ensure_service_linked_role("fsx.amazonaws.com", "AWSServiceRoleForAmazonFSx");
    auto& ec2 = world_.get<ec2::Ec2>("ec2");
    const std::string subnet = strings(call.params, "SubnetIds").front();
    const std::string vpc = base::get_string(ec2.subnet(subnet)->data, "VpcId");
    const std::string id = world_.hex_id("fs-", 17);
    const std::string arn = "arn:aws:fsx:" + world_.region() + ":" + world_.account() + ":file-system/" + id;
    ec2::InterfaceSpec spec;
    spec.subnet_id = subnet;
    spec.group_ids = groups_of(call, vpc);
    spec.description = "Created by Amazon FSx for file system " + id;
    spec.requester = "amazon-fsx";
    const auto interface = ec2.create_interface(spec);
    if (!interface)
        return ServiceError(400, "InvalidNetworkSettings", "The subnet has not enough free IP addresses.");
    const std::string type = base::get_string(call.params, "LustreConfiguration.DeploymentType", kFirstType);
    JsonObject lustre{{"DeploymentType", type}, {"DataCompressionType", "NONE"}};
    lustre["MountName"] = type == kFirstType ? std::string("fsx") : world_.hex_id("", 8);
    JsonObject data;
    data["OwnerId"] = world_.account();
    data["CreationTime"] = base::format_time_millis(call.now);
    data["FileSystemId"] = id;
    data["FileSystemType"] = "LUSTRE";
    data["FileSystemTypeVersion"] = base::get_string(call.params, "FileSystemTypeVersion", "2.15");
    data["Lifecycle"] = "CREATING";
    data["StorageCapacity"] = base::get_int(call.params, "StorageCapacity");
    data["StorageType"] = base::get_string(call.params, "StorageType", "SSD");
    data["VpcId"] = vpc;
    data["SubnetIds"] = JsonArray{JsonValue(subnet)};
    data["NetworkInterfaceIds"] = JsonArray{JsonValue(*interface)};
    data["DNSName"] = id + ".fsx." + world_.region() + ".amazonaws.com";
    data["ResourceARN"] = arn;
    data["Tags"] = base::get_array(call.params, "Tags");
    data["LustreConfiguration"] = std::move(lustre);
    Record& made = systems_.add(id, std::move(data), call.now);
    made.hidden["token"] = token;
    world_.after(world_.about(minutes(8)), "fsx", "ready", JsonObject{{"id", id}});
    world_.touched();
    return JsonObject{{"FileSystem", made.data}};
}

void Fsx::on_timer(const std::string& kind, const JsonObject& payload) {
    const std::string id = base::get_string(payload, "id");
    Record* found = systems_.find(id);
    if (found == nullptr) return;
    const bool leaving = base::get_string(found->data, "Lifecycle") == "DELETING";
    if (kind == "ready" && !leaving) found->data["Lifecycle"] = "AVAILABLE";
    if (kind == "gone" && leaving) {
        for (const std::string& interface : strings(found->data, "NetworkInterfaceIds"))
            world_.get<ec2::Ec2>("ec2").delete_interface(interface);
        systems_.erase(id);
    }
    world_.touched();
}

Reply Fsx::describe(const Call& call) {
    JsonArray out;
    const auto wanted = strings(call.params, "FileSystemIds");
    for (const std::string& id : wanted) {
        const Record* found = systems_.find(id);
        if (found == nullptr || !call.shows(found->created)) return not_found(id);
    }
    for (const auto& [id, system] : systems_) {
        const bool asked = wanted.empty() || contains(wanted, id);
        if (asked && call.shows(system.created)) out.emplace_back(system.data);
    }
    auto reply =
        small::page(call, {"FileSystems", "MaxResults", "NextToken", "NextToken", kMostPerPage}, out);
    if (!reply) return bad_request("Invalid NextToken.");
    return std::move(*reply);
}

Reply Fsx::remove(const Call& call) {
    const std::string id = base::get_string(call.params, "FileSystemId");
    Record* found = systems_.find(id);
    if (found == nullptr) return not_found(id);
    if (base::get_string(found->data, "Lifecycle") == "CREATING")
        return bad_request("File system '" + id + "' cannot be deleted while it is being created.");
    found->data["Lifecycle"] = "DELETING";
    world_.after(world_.about(minutes(5)), "fsx", "gone", JsonObject{{"id", id}});
    world_.touched();
    return JsonObject{{"FileSystemId", id}, {"Lifecycle", "DELETING"}};
}

Record* Fsx::by_arn(std::string_view arn) {
    const auto slash = arn.rfind('/');
    return slash == std::string_view::npos ? nullptr : systems_.find(arn.substr(slash + 1));
}

Reply Fsx::tags(const Call& call) {
    const std::string arn = base::get_string(call.params, "ResourceARN");
    Record* found = by_arn(arn);
    if (found == nullptr)
        return ServiceError(400, "ResourceNotFound", "Resource " + arn + " does not exist.");
    JsonArray tags = base::get_array(found->data, "Tags");
    if (call.operation == "ListTagsForResource") {
        auto reply = small::page(call, {"Tags", "MaxResults", "NextToken", "NextToken", kMostPerPage}, tags);
        if (!reply) return bad_request("Invalid NextToken.");
        return std::move(*reply);
    }
    for (const JsonValue& tag : base::get_array(call.params, "Tags"))
        put_tag(tags, base::get_string(tag, "Key"), base::get_string(tag, "Value"));
    for (const std::string& key : strings(call.params, "TagKeys")) remove_tag(tags, key);
    found->data["Tags"] = std::move(tags);
    world_.touched();
    return JsonObject{};
}

JsonArray Fsx::resource_tags(std::string_view arn) const {
    const auto slash = arn.rfind('/');
    const Record* found = slash == std::string_view::npos ? nullptr : systems_.find(arn.substr(slash + 1));
    return found == nullptr ? JsonArray() : base::get_array(found->data, "Tags");
}

Reply Fsx::handle(const Call& call) {
    if (call.operation == "CreateFileSystem") return create(call);
    if (call.operation == "DescribeFileSystems") return describe(call);
    if (call.operation == "DeleteFileSystem") return remove(call);
    if (call.operation == "TagResource" || call.operation == "UntagResource" ||
        call.operation == "ListTagsForResource")
        return tags(call);
    return bad_request("The simulated account does not know " + call.operation + ".");
}

}  // namespace

std::unique_ptr<Service> make_fsx(World& world) {
    return std::make_unique<Fsx>(world);
}

}  // namespace instantstart::twin
