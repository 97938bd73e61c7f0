// Service Quotas: the account's limits by AWS's names, and requests to raise them.
#include <map>

#include "twin/aws/services.h"
#include "twin/aws/small/paging.h"
#include "twin/aws/world_impl.h"

namespace instantstart::twin {

namespace {

constexpr std::int64_t kMostPerPage = 100;

class ServiceQuotas final : public Service {
public:
    explicit ServiceQuotas(World& world) : world_(world) {}
    std::string_view name() const override { return "service-quotas"; }
    Reply handle(const Call& call) override;
    void on_timer(const std::string& kind, const JsonObject& payload) override;
    JsonValue save() const override { return JsonObject{{"requests", requests_}}; }
    void load(const JsonValue& state) override { requests_ = base::get_array(state, "requests"); }

private:
    Reply list(const Call& call, bool standard);
    Reply get(const Call& call, bool standard);
    Reply services(const Call& call);
    Reply request(const Call& call);
    Reply history(const Call& call);
    Reply one_request(const Call& call);
    JsonObject view(const QuotaRow& row, bool standard) const;
    Quotas& quotas() const { return dynamic_cast<WorldImpl&>(world_).quotas(); }
    const QuotaRow* find(const Call& call) const;

    World& world_;
    JsonArray requests_;
};

ServiceError no_such_quota() {
    return {400, "NoSuchResourceException",
            "The request failed because the specified service quota does not exist."};
}

ServiceError bad_token() {
    return {400, "InvalidPaginationTokenException", "The pagination token is not valid."};
}

JsonObject ServiceQuotas::view(const QuotaRow& row, bool standard) const {
    JsonObject out;
    out["ServiceCode"] = row.service_code;
    out["ServiceName"] = row.service_name;
    out["QuotaArn"] = "arn:aws:servicequotas:" + (row.global ? std::string() : world_.region()) + ":" +
                      (standard ? std::string() : world_.account()) + ":" + row.service_code + "/" + row.code;
    out["QuotaCode"] = row.code;
    out["QuotaName"] = row.name;
    out["Value"] = standard ? row.standard : quotas().value(row.name).value_or(row.standard);
    out["Unit"] = "None";
    out["Adjustable"] = row.adjustable;
    out["GlobalQuota"] = row.global;
    return out;
}

const QuotaRow* ServiceQuotas::find(const Call& call) const {
    const std::string service = base::get_string(call.params, "ServiceCode");
    const std::string code = base::get_string(call.params, "QuotaCode");
    for (const QuotaRow& row : quotas().rows()) {
        if (row.service_code == service && row.code == code) return &row;
    }
    return nullptr;
}

Reply ServiceQuotas::list(const Call& call, bool standard) {
    const std::string service = base::get_string(call.params, "ServiceCode");
    JsonArray out;
    for (const QuotaRow& row : quotas().rows()) {
        if (row.service_code == service) out.emplace_back(view(row, standard));
    }
    if (out.empty())
        return ServiceError(400, "NoSuchResourceException", "The service " + service + " does not exist.");
    auto reply = small::page(call, {"Quotas", "MaxResults", "NextToken", "NextToken", kMostPerPage}, out);
    if (!reply) return bad_token();
    return std::move(*reply);
}

Reply ServiceQuotas::get(const Call& call, bool standard) {
    const QuotaRow* row = find(call);
    if (row == nullptr) return no_such_quota();
    return JsonObject{{"Quota", view(*row, standard)}};
}

Reply ServiceQuotas::services(const Call& call) {
    std::map<std::string, std::string> names;
    for (const QuotaRow& row : quotas().rows()) names[row.service_code] = row.service_name;
    JsonArray out;
    for (const auto& [code, name] : names)
        out.emplace_back(JsonObject{{"ServiceCode", code}, {"ServiceName", name}});
    auto reply = small::page(call, {"Services", "MaxResults", "NextToken", "NextToken", kMostPerPage}, out);
    if (!reply) return bad_token();
    return std::move(*reply);
}

Reply ServiceQuotas::request(const Call& call) {
    const QuotaRow* row = find(call);
    if (row == nullptr) return no_such_quota();
    const JsonValue* wanted = call.params.if_contains("DesiredValue");
    const double value = wanted != nullptr && wanted->is_number() ? wanted->to_number<double>() : 0;
    if (value <= quotas().value(row->name).value_or(0)) {
        return ServiceError(400, "IllegalArgumentException",
                            "You must provide a quota value greater than the current quota value.");
    }
    for (const JsonValue& open : requests_) {
        if (base::get_string(open, "QuotaCode") == row->code && base::get_string(open, "Status") == "PENDING")
            return ServiceError(400, "ResourceAlreadyExistsException",
                                "Only one open service quota increase request is allowed per quota.");
    }
    JsonObject made = view(*row, false);
    made.erase("Value");
    made.erase("Adjustable");
    made["Id"] = world_.hex_id("", 32);
    made["DesiredValue"] = value;
    made["Status"] = "PENDING";
    made["Created"] = base::format_time(call.now);
    made["LastUpdated"] = base::format_time(call.now);
    made["Requester"] = R"({"accountId":")" + world_.account() + R"("})";
    requests_.emplace_back(made);
    // People look at requests for accelerated types; a few hours are usual.
    world_.after(world_.about(std::chrono::hours(4)), "service-quotas", "approve",
                 JsonObject{{"id", made["Id"]}});
    return JsonObject{{"RequestedQuota", std::move(made)}};
}

void ServiceQuotas::on_timer(const std::string&, const JsonObject& payload) {
    for (JsonValue& value : requests_) {
        JsonObject& request = value.as_object();
        if (base::get_string(request, "Id") != base::get_string(payload, "id")) continue;
        request["Status"] = "APPROVED";
        request["LastUpdated"] = base::format_time(world_.now());
        quotas().set(base::get_string(request, "QuotaName"), request["DesiredValue"].to_number<double>());
    }
}

Reply ServiceQuotas::history(const Call& call) {
    JsonArray out;
    for (const JsonValue& request : requests_) {
        const auto fits = [&](std::string_view member) {
            const std::string wanted = base::get_string(call.params, member);
            return wanted.empty() || base::get_string(request, member) == wanted;
        };
        if (fits("ServiceCode") && fits("QuotaCode") && fits("Status")) out.push_back(request);
    }
    auto reply =
        small::page(call, {"RequestedQuotas", "MaxResults", "NextToken", "NextToken", kMostPerPage}, out);
    if (!reply) return bad_token();
    return std::move(*reply);
}

Reply ServiceQuotas::one_request(const Call& call) {
    for (const JsonValue& request : requests_) {
        if (base::get_string(request, "Id") == base::get_string(call.params, "RequestId"))
            return JsonObject{{"RequestedQuota", request}};
    }
    return ServiceError(400, "NoSuchResourceException", "The specified request does not exist.");
}

Reply ServiceQuotas::handle(const Call& call) {
    const std::string& operation = call.operation;
    if (operation == "ListServiceQuotas") return list(call, false);
    if (operation == "ListAWSDefaultServiceQuotas") return list(call, true);
    if (operation == "GetServiceQuota") return get(call, false);
    if (operation == "GetAWSDefaultServiceQuota") return get(call, true);
    if (operation == "ListServices") return services(call);
    if (operation == "RequestServiceQuotaIncrease") return request(call);
    if (operation.starts_with("ListRequestedServiceQuotaChangeHistory")) return history(call);
    if (operation == "GetRequestedServiceQuotaChange") return one_request(call);
    return ServiceError(400, "UnknownOperationException",
                        "The simulated account does not know " + operation + ".");
}

}  // namespace

std::unique_ptr<Service> make_service_quotas(World& world) {
    return std::make_unique<ServiceQuotas>(world);
}

}  // namespace instantstart::twin
