// Any JSON as the parameters of any operation: what the model admits is written and signed.
#include "aws/codec/codec.h"
#include "aws/sigv4.h"
#include "input.h"

namespace instantstart::aws {
namespace {

void check(const model::Service& service, const model::Operation& operation, base::JsonObject parameters) {
    fuzz::require_json(parameters);
    codec::fill_idempotency_token(operation, parameters, "token");
    if (operation.input != nullptr) {
        for (const auto& fault : model::validate(*operation.input, base::JsonValue(parameters)))
            fuzz::require(!fault.message.empty() && !fault.rule.empty(), "a fault says what it is");
    }
    // Also what the model refuses must not break a writer: the check may be newer than the service.
    auto made = codec::serialise(service, operation, parameters);
    if (!made.has_value()) return;
    codec::Call& call = made.value();
    codec::add_checksum(operation, parameters, call);
    for (const auto& [name, value] : call.headers.fields()) {
        const bool broken = (name + value).find_first_of(std::string_view("\r\n\0", 3)) != std::string::npos;
        fuzz::require(!broken, "a header is one line");
    }
    http::Request request;
    request.method = call.method;
    request.host = "127.0.0.1";
    request.target = call.path;
    request.headers = call.headers;
    request.body = call.body;
    SigningScope scope;
    scope.region = "us-east-1";
    scope.service = service.signing_name;
    scope.style = service.name == "s3" ? SigningStyle::s3 : SigningStyle::common;
    Credentials credentials;
    credentials.access_key = credentials.secret_key = "key";
    sign(request, credentials, scope, base::TimePoint());
    fuzz::require(request.headers.has("Authorization"), "a request is signed");
}

}  // namespace
}  // namespace instantstart::aws

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace instantstart;
    fuzz::Input input(data, size);
    const auto& names = aws::model::embedded_names();
    const aws::model::Service* service = aws::model::embedded(names[input.number(names.size())]);
    auto at = service->operations.begin();
    std::advance(at, input.number(service->operations.size()));
    auto parameters = base::parse_json(input.rest(), 64);
    if (!parameters.has_value()) {
        fuzz::require(parameters.error().code == "invalid_json", "what is no JSON is refused as such");
    } else if (parameters.value().is_object()) {
        aws::check(*service, at->second, std::move(parameters.value().get_object()));
    }
    return 0;
}
