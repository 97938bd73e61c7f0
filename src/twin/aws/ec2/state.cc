#include "twin/aws/ec2/state.h"

#include <charconv>

#include "base/text.h"

namespace instantstart::twin::ec2 {

namespace {

using std::chrono::milliseconds;

// About half of all resources are seen at once, the others after up to a second.
milliseconds lag_of(std::string_view id) {
    const std::uint64_t spread = stable_hash(id) % 2000;
    return milliseconds(spread < 1000 ? 0 : spread - 1000);
}

std::optional<int> number(std::string_view text, int low, int high) {
    int value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || value < low || value > high)
        return std::nullopt;
    return value;
}

}  // namespace

bool Cidr::overlaps(const Cidr& other) const {
    return contains(other) || other.contains(*this);
}

bool Cidr::contains(const Cidr& other) const {
    return other.prefix >= prefix && other.base >= base && other.base - base < size();
}

std::string Cidr::text() const {
    return address_text(base) + "/" + std::to_string(prefix);
}

std::optional<std::uint32_t> parse_address(std::string_view text) {
    const std::vector<std::string> parts = base::split(text, '.');
    if (parts.size() != 4) return std::nullopt;
    std::uint32_t address = 0;
    for (const std::string& part : parts) {
        const std::optional<int> byte = number(part, 0, 255);
        if (!byte) return std::nullopt;
        address = (address << 8) | static_cast<std::uint32_t>(*byte);
    }
    return address;
}

std::optional<Cidr> parse_cidr(std::string_view text) {
    const std::size_t slash = text.find('/');
    if (slash == std::string_view::npos) return std::nullopt;
    const std::optional<std::uint32_t> address = parse_address(text.substr(0, slash));
    const std::optional<int> prefix = number(text.substr(slash + 1), 0, 32);
    if (!address || !prefix) return std::nullopt;
    Cidr cidr;
    cidr.prefix = *prefix;
    cidr.base = *prefix == 0 ? 0 : *address & (0xffffffffU << (32 - *prefix));
    return cidr;
}

std::string address_text(std::uint32_t address) {
    return std::to_string(address >> 24) + "." + std::to_string((address >> 16) & 255U) + "." +
           std::to_string((address >> 8) & 255U) + "." + std::to_string(address & 255U);
}

bool State::visible(const Record& record, const Call& call) const {
    return call.shows(record.created) && world.now() - record.created >= lag_of(record.id);
}

bool State::known(const Record& record) const {
    return world.now() - record.created >= std::min(lag_of(record.id), milliseconds(500));
}

std::string State::arn(std::string_view resource) const {
    return "arn:aws:ec2:" + world.region() + ":" + world.account() + ":" + std::string(resource);
}

std::optional<double> State::quota(std::string_view name, double fallback) const {
    const std::optional<double> set = world.quota(name);
    return set ? set : fallback;
}

void State::rebuild_used() {
    used.clear();
    for (const auto& [id, interface] : interfaces) {
        std::set<std::uint32_t>& taken = used[base::get_string(interface.data, "SubnetId")];
        for (const JsonValue& entry : base::get_array(interface.data, "PrivateIpAddresses")) {
            if (auto address = parse_address(base::get_string(entry, "PrivateIpAddress")))
                taken.insert(*address);
        }
    }
}

JsonArray requested_tags(const Call& call, std::string_view resource_type) {
    for (const JsonValue& specification : base::get_array(call.params, "TagSpecifications")) {
        if (base::get_string(specification, "ResourceType") == resource_type)
            return base::get_array(specification, "Tags");
    }
    return {};
}

std::optional<ServiceError> check_tags(const Call& call) {
    for (const JsonValue& specification : base::get_array(call.params, "TagSpecifications")) {
        if (base::get_array(specification, "Tags").size() > 50) {
            return failure("TagLimitExceeded", "The maximum number of tags for a resource has been reached.");
        }
        for (const JsonValue& tag : base::get_array(specification, "Tags")) {
            if (base::get_string(tag, "Key").starts_with("aws:")) {
                return failure("InvalidParameterValue",
                               "Tag keys starting with 'aws:' are reserved for internal use");
            }
        }
    }
    return std::nullopt;
}

Found require(State& state, Table& table, std::string_view id, std::string_view code, std::string_view noun) {
    Found found;
    Record* record = table.find(id);
    if (record != nullptr && state.known(*record)) {
        found.record = record;
    } else {
        found.error = failure(std::string(code),
                              "The " + std::string(noun) + " '" + std::string(id) + "' does not exist");
    }
    return found;
}

Found require_vpc(State& state, std::string_view id) {
    return require(state, state.vpcs, id, "InvalidVpcID.NotFound", "vpc ID");
}

Found require_subnet(State& state, std::string_view id) {
    return require(state, state.subnets, id, "InvalidSubnetID.NotFound", "subnet ID");
}

Found require_group(State& state, std::string_view id) {
    return require(state, state.groups, id, "InvalidGroup.NotFound", "security group");
}

std::size_t remove_where(JsonArray& list, std::string_view name, std::string_view value) {
    std::size_t removed = 0;
    for (auto it = list.begin(); it != list.end();) {
        if (base::get_string(*it, name) == value) {
            it = list.erase(it);
            ++removed;
        } else {
            ++it;
        }
    }
    return removed;
}

JsonArray& array_of(JsonObject& object, std::string_view name) {
    // Looked for first: object[name] makes room for one member more also where `name` is there, which moves
    // the lists that callers hold.
    JsonValue* found = object.if_contains(name);
    JsonValue& value = found == nullptr ? object[name] : *found;
    if (!value.is_array()) value = JsonArray();
    return value.get_array();
}

JsonObject yes() {
    JsonObject answer;
    answer["Return"] = true;
    return answer;
}

}  // namespace instantstart::twin::ec2
