// The price list service: products of SageMaker's instances, and of EC2's with Linux. Its prices are the
// twin's own, generated from each type's hardware: plausible, the same in every run, and nobody's. It has an
// address in three regions only.
#include <algorithm>
#include <array>
#include <cstdio>

#include "domain/instance_type.h"
#include "twin/aws/resources/record.h"
#include "twin/aws/services.h"
#include "twin/aws/small/paging.h"

namespace instantstart::twin {

namespace {

constexpr std::int64_t kMostPerPage = 100;
constexpr const char* kService = "AmazonSageMaker";
constexpr const char* kEc2 = "AmazonEC2";
constexpr double kEc2Factor = 0.9;  // of what the instance costs in HyperPod
constexpr std::array kHomes = {"us-east-1", "eu-central-1", "ap-south-1"};

struct Place {
    std::string_view region, location, prefix;  // the prefix of its usage types
};
constexpr std::array kPlaces = {Place{"us-east-1", "US East (N. Virginia)", "USE1"},
                                Place{"us-east-2", "US East (Ohio)", "USE2"},
                                Place{"us-west-1", "US West (N. California)", "USW1"},
                                Place{"us-west-2", "US West (Oregon)", "USW2"},
                                Place{"ca-central-1", "Canada (Central)", "CAN1"},
                                Place{"sa-east-1", "South America (Sao Paulo)", "SAE1"},
                                Place{"eu-central-1", "EU (Frankfurt)", "EUC1"},
                                Place{"eu-north-1", "EU (Stockholm)", "EUN1"},
                                Place{"eu-west-1", "EU (Ireland)", "EUW1"},
                                Place{"eu-west-2", "EU (London)", "EUW2"},
                                Place{"ap-northeast-1", "Asia Pacific (Tokyo)", "APN1"},
                                Place{"ap-south-1", "Asia Pacific (Mumbai)", "APS3"},
                                Place{"ap-southeast-1", "Asia Pacific (Singapore)", "APS1"},
                                Place{"ap-southeast-2", "Asia Pacific (Sydney)", "APS2"}};

// What the same instance is sold for; only "Cluster" is HyperPod.
struct Use {
    std::string_view word, component;
    double factor;
};
constexpr std::array kUses = {Use{"Cluster", "Cluster", 1.0}, Use{"Host", "Hosting", 1.2},
                              Use{"Train", "Training", 1.2}};

double hourly(const domain::InstanceType& type, const Place& place) {
    double price = 0.04 * static_cast<double>(type.vcpus) + 0.004 * type.memory_gib;
    price += static_cast<double>(type.accelerators) *
             (0.35 + static_cast<double>(type.accelerator_memory_mib) / 1024.0 * 0.04);
    price += static_cast<double>(type.efa_interfaces) * 0.05;
    const double spread = static_cast<double>(stable_hash(place.region) % 21) / 100.0;  // up to 20 %
    return price * (1.0 + spread);
}

std::string decimal(double price) {
    std::array<char, 40> text{};
    std::snprintf(text.data(), text.size(), "%.10f", price);
    return text.data();
}

std::string code_of(std::string_view text, std::size_t length) {
    static constexpr std::string_view kLetters = "ABCDEFGHJKMNPQRSTUVWXYZ23456789";
    std::uint64_t hash = stable_hash(text);
    std::string out;
    for (std::size_t i = 0; i < length; ++i) {
        out += kLetters[hash % kLetters.size()];
        hash = hash / kLetters.size() + stable_hash(out);
    }
    return out;
}

JsonObject product(const domain::InstanceType& type, const Place& place, const Use& use) {
    JsonObject attributes;
    attributes["servicecode"] = kService;
    attributes["servicename"] = "Amazon SageMaker";
    attributes["regionCode"] = place.region;
    attributes["location"] = place.location;
    attributes["locationType"] = "AWS Region";
    attributes["instanceName"] = type.name;
    attributes["component"] = use.component;
    attributes["operation"] = "RunInstance";
    attributes["usagetype"] = std::string(place.prefix) + "-" + std::string(use.word) + ":" + type.name;
    attributes["vCpu"] = std::to_string(type.vcpus);
    attributes["gpu"] = type.accelerators == 0 ? std::string("N/A") : std::to_string(type.accelerators);
    JsonObject made;
    made["sku"] = code_of(base::get_string(attributes, "usagetype"), 16);
    made["productFamily"] = "ML Instance";
    made["attributes"] = std::move(attributes);
    return made;
}

JsonObject ec2_product(const domain::InstanceType& type, const Place& place, std::string_view use) {
    JsonObject attributes;
    attributes["servicecode"] = kEc2;
    attributes["servicename"] = "Amazon Elastic Compute Cloud";
    attributes["regionCode"] = place.region;
    attributes["location"] = place.location;
    attributes["locationType"] = "AWS Region";
    attributes["instanceType"] = type.ec2_name();
    attributes["operatingSystem"] = "Linux";
    attributes["tenancy"] = "Shared";
    attributes["preInstalledSw"] = "NA";
    attributes["capacitystatus"] = use == "BoxUsage" ? "Used" : "UnusedCapacityReservation";
    attributes["operation"] = "RunInstances";
    attributes["usagetype"] = std::string(place.prefix) + "-" + std::string(use) + ":" + type.ec2_name();
    attributes["vcpu"] = std::to_string(type.vcpus);
    JsonObject made;
    made["sku"] = code_of(base::get_string(attributes, "usagetype"), 16);
    made["productFamily"] = "Compute Instance";
    made["attributes"] = std::move(attributes);
    return made;
}

JsonObject terms_of(const std::string& sku, double price, const std::string& what) {
    const std::string offer = sku + ".JRTCKXETXF", rate = offer + ".6YS6EN2CT7";
    JsonObject dimension;
    dimension["rateCode"] = rate;
    dimension["unit"] = "Hrs";
    dimension["beginRange"] = "0";
    dimension["endRange"] = "Inf";
    dimension["description"] = "$" + decimal(price) + " per Hour for " + what;
    dimension["appliesTo"] = JsonArray();
    dimension["pricePerUnit"] = JsonObject{{"USD", decimal(price)}};
    JsonObject term;
    term["offerTermCode"] = "JRTCKXETXF";
    term["sku"] = sku;
    term["effectiveDate"] = "2026-11-01T00:00:00Z";
    term["priceDimensions"] = JsonObject{{rate, std::move(dimension)}};
    term["termAttributes"] = JsonObject();
    return {{"OnDemand", JsonObject{{offer, std::move(term)}}}};
}

class Pricing final : public Service {
public:
    std::string_view name() const override { return "pricing"; }
    Reply handle(const Call& call) override;
    void on_timer(const std::string&, const JsonObject&) override {}
    JsonValue save() const override { return JsonObject{}; }
    void load(const JsonValue&) override {}

private:
    Reply products(const Call& call);
    Reply services(const Call& call);
    Reply values(const Call& call);
};

ServiceError refused(std::string message) {
    return {400, "InvalidParameterException", std::move(message)};
}

// The value of one filter against an attribute, by the filter's type.
bool meets(const JsonValue& filter, const JsonObject& item) {
    const std::string field = base::get_string(filter, "Field"), value = base::get_string(filter, "Value");
    const std::string type = base::get_string(filter, "Type");
    const std::string actual = field == "productFamily" ? base::get_string(item, "productFamily")
                                                        : base::get_string(item, "attributes." + field);
    if (type == "CONTAINS") return actual.find(value) != std::string::npos;
    const auto list = "," + value + ",";
    if (type == "ANY_OF") return list.find("," + actual + ",") != std::string::npos;
    if (type == "NONE_OF") return list.find("," + actual + ",") == std::string::npos;
    return actual == value;
}

bool meets_all(const JsonArray& filters, const JsonObject& item) {
    return std::all_of(filters.begin(), filters.end(),
                       [&item](const JsonValue& filter) { return meets(filter, item); });
}

// An entry of the list, as the text that the service answers with.
JsonValue entry(JsonObject item, const char* service, double price) {
    const std::string sku = base::get_string(item, "sku");
    const std::string usage = base::get_string(item, "attributes.usagetype");
    JsonObject row;
    row["product"] = std::move(item);
    row["serviceCode"] = service;
    row["terms"] = terms_of(sku, price, usage);
    row["version"] = "20261101000000";
    row["publicationDate"] = "2026-11-01T00:00:00Z";
    return JsonValue(base::to_text(JsonValue(std::move(row))));
}

void add_products(const JsonArray& filters, const domain::InstanceType& type, const Place& place,
                  JsonArray& out) {
    for (const Use& use : kUses) {
        JsonObject item = product(type, place, use);
        if (meets_all(filters, item))
            out.push_back(entry(std::move(item), kService, hourly(type, place) * use.factor));
    }
}

void add_ec2_products(const JsonArray& filters, const domain::InstanceType& type, const Place& place,
                      JsonArray& out) {
    for (const char* use : {"BoxUsage", "UnusedBox"}) {
        JsonObject item = ec2_product(type, place, use);
        if (meets_all(filters, item))
            out.push_back(entry(std::move(item), kEc2, hourly(type, place) * kEc2Factor));
    }
}

Reply Pricing::products(const Call& call) {
    const std::string service = base::get_string(call.params, "ServiceCode");
    if (service != kService && service != kEc2)
        return refused("The simulated account lists prices of SageMaker and EC2 only.");
    const JsonArray& filters = base::get_array(call.params, "Filters");
    JsonArray out;
    for (const Place& place : kPlaces) {
        for (const auto& type : domain::instance_types()) {
            if (service == kEc2) {
                add_ec2_products(filters, type, place, out);
            } else {
                add_products(filters, type, place, out);
            }
        }
    }
    auto reply = small::page(call, {"PriceList", "MaxResults", "NextToken", "NextToken", kMostPerPage}, out);
    if (!reply) return ServiceError(400, "InvalidNextTokenException", "Invalid NextToken.");
    (*reply)["FormatVersion"] = "aws_v1";
    return std::move(*reply);
}

Reply Pricing::services(const Call& call) {
    JsonObject row{{"ServiceCode", kService},
                   {"AttributeNames", JsonArray{"regionCode", "instanceName", "component", "usagetype"}}};
    const std::string wanted = base::get_string(call.params, "ServiceCode");
    if (!wanted.empty() && wanted != kService)
        return ServiceError(400, "NotFoundException", "The service " + wanted + " has no price list here.");
    return JsonObject{{"Services", JsonArray{std::move(row)}}, {"FormatVersion", "aws_v1"}};
}

Reply Pricing::values(const Call& call) {
    const std::string attribute = base::get_string(call.params, "AttributeName");
    JsonArray out;
    if (attribute == "regionCode") {
        for (const Place& place : kPlaces) out.emplace_back(JsonObject{{"Value", place.region}});
    } else if (attribute == "instanceName") {
        for (const auto& type : domain::instance_types()) out.emplace_back(JsonObject{{"Value", type.name}});
    } else if (attribute == "component") {
        for (const Use& use : kUses) out.emplace_back(JsonObject{{"Value", use.component}});
    } else {
        return ServiceError(400, "NotFoundException", "No attribute " + attribute + " is listed here.");
    }
    auto reply =
        small::page(call, {"AttributeValues", "MaxResults", "NextToken", "NextToken", kMostPerPage}, out);
    if (!reply) return ServiceError(400, "InvalidNextTokenException", "Invalid NextToken.");
    return std::move(*reply);
}

Reply Pricing::handle(const Call& call) {
    // Elsewhere there is no such host; the nearest that one address for all can say.
    if (std::find(kHomes.begin(), kHomes.end(), call.region) == kHomes.end())
        return ServiceError(400, "AccessDeniedException",
                            "The price list service has no endpoint in " + call.region + ".");
    if (call.operation == "GetProducts") return products(call);
    if (call.operation == "DescribeServices") return services(call);
    if (call.operation == "GetAttributeValues") return values(call);
    return refused("The simulated account does not know " + call.operation + ".");
}

}  // namespace

std::unique_ptr<Service> make_pricing() {
    return std::make_unique<Pricing>();
}

}  // namespace instantstart::twin
