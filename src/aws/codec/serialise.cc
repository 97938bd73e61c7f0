#include "aws/codec/codec.h"
#include "aws/codec/rest_writer.h"
#include "aws/codec/writers.h"
#include "base/text.h"

namespace instantstart::aws::codec {

namespace {

Call write_form_call(const model::Service& service, const model::Operation& operation,
                     const base::JsonObject& parameters, FormDialect dialect) {
    Call call;
    call.method = operation.http_method;
    call.headers.set("Content-Type", "application/x-www-form-urlencoded; charset=utf-8");
    Form form = {{"Action", operation.name}, {"Version", service.api_version}};
    if (operation.input != nullptr) {
        Form members = write_form(*operation.input, parameters, dialect);
        form.insert(form.end(), std::make_move_iterator(members.begin()),
                    std::make_move_iterator(members.end()));
    }
    call.body = form_text(form);
    return call;
}

Call write_json_call(const model::Service& service, const model::Operation& operation,
                     const base::JsonObject& parameters) {
    Call call;
    call.method = operation.http_method;
    call.headers.set("X-Amz-Target", service.target_prefix + "." + operation.name);
    call.headers.set("Content-Type", "application/x-amz-json-" + service.json_version);
    if (service.query_compatible) call.headers.set("x-amzn-query-mode", "true");
    call.body = "{}";
    if (operation.input != nullptr)
        call.body = base::to_text(write_json_members(*operation.input, parameters));
    return call;
}

}  // namespace

base::Result<Call> serialise(const model::Service& service, const model::Operation& operation,
                             const base::JsonObject& parameters) {
    if (service.protocol == "query")
        return write_form_call(service, operation, parameters, FormDialect::query);
    if (service.protocol == "ec2") return write_form_call(service, operation, parameters, FormDialect::ec2);
    if (service.protocol == "json") return write_json_call(service, operation, parameters);
    if (service.protocol == "rest-json") return write_rest(operation, parameters, RestDialect::json);
    if (service.protocol == "rest-xml") return write_rest(operation, parameters, RestDialect::xml);
    return base::internal_error("unknown protocol " + service.protocol);
}

bool fill_idempotency_token(const model::Operation& operation, base::JsonObject& parameters,
                            const std::string& token) {
    const model::Member* member = operation.idempotency_token();
    if (member == nullptr) return false;
    auto* present = parameters.if_contains(member->name);
    if (present == nullptr || present->is_null()) parameters[member->name] = token;
    return true;
}

}  // namespace instantstart::aws::codec
