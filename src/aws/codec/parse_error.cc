// What an error answer says. Each protocol has its own form, and what stands between us and AWS has others
// still.
#include <algorithm>
#include <pugixml.hpp>

#include "aws/codec/codec.h"
#include "aws/codec/readers.h"
#include "aws/codec/values.h"
#include "base/text.h"

namespace instantstart::aws::codec {

namespace {

// Without a body there is only the status: HEAD answers, proxies, load balancers.
void name_after_status(int status, WireError& error) {
    static const std::map<int, std::pair<const char*, const char*>> kNames = {
        {301, {"PermanentRedirect", "the resource is reached at another address"}},
        {304, {"NotModified", "not modified"}},
        {400, {"BadRequest", "bad request"}},
        {403, {"AccessDenied", "access denied"}},
        {404, {"NotFound", "not found"}},
        {405, {"MethodNotAllowed", "method not allowed"}},
        {407, {"ProxyAuthenticationRequired", "the proxy wants credentials"}},
        {409, {"Conflict", "conflict"}},
        {412, {"PreconditionFailed", "a condition of the request does not hold"}},
        {413, {"RequestEntityTooLarge", "the request is too large"}},
        {429, {"TooManyRequests", "too many requests"}},
        {500, {"InternalServerError", "internal error"}},
        {502, {"BadGateway", "bad gateway"}},
        {503, {"ServiceUnavailable", "service unavailable"}},
        {504, {"GatewayTimeout", "gateway timeout"}}};
    const auto found = kNames.find(status);
    if (error.code.empty())
        error.code = found == kNames.end() ? "HTTP" + std::to_string(status) : found->second.first;
    if (error.message.empty()) {
        error.message = (found == kNames.end() ? "error" : std::string(found->second.second)) + " (HTTP " +
                        std::to_string(status) + ")";
    }
}

// "aws.protocoltests#FooError:http://internal.amazon.com/coral/" means FooError.
std::string bare_code(std::string_view text) {
    const std::size_t colon = text.find(':');
    if (colon != std::string_view::npos) text = text.substr(0, colon);
    const std::size_t hash = text.rfind('#');
    if (hash != std::string_view::npos) text = text.substr(hash + 1);
    return std::string(base::trim(text));
}

const model::Shape* modelled(const model::Operation& operation, const std::string& code) {
    for (const model::Shape* shape : operation.errors) {
        if (shape->name == code || shape->error_code == code) return shape;
    }
    return nullptr;
}

void drop_message(base::JsonObject& members) {
    for (const char* name : {"message", "Message"}) members.erase(name);
}

std::string text_member(const base::JsonObject& body, std::initializer_list<const char*> names) {
    for (const char* name : names) {
        const auto* found = body.if_contains(name);
        if (found == nullptr) continue;
        if (found->is_string() && !found->get_string().empty()) return std::string(found->get_string());
        if (found->is_int64()) return std::to_string(found->get_int64());
    }
    return "";
}

// REST services name the error in a header or in `code`, the others in `__type`; each place serves the other
// kind where its own is empty. The last is OAuth's.
std::string json_code(const model::Service& service, const Answer& answer, const base::JsonObject& body) {
    const std::string header = bare_code(header_text(answer.headers.get("x-amzn-errortype")));
    const std::string type = bare_code(text_member(body, {"__type"}));
    const std::string code = bare_code(text_member(body, {"code", "Code"}));
    const bool rest = service.protocol == "rest-json";
    const std::string last = bare_code(text_member(body, {"error"}));
    for (const std::string* each :
         {rest ? &header : &type, rest ? &code : &header, rest ? &type : &code, &last}) {
        if (!each->empty()) return *each;
    }
    return "";
}

void read_json_error(const model::Service& service, const model::Operation& operation, const Answer& answer,
                     WireError& error) {
    base::JsonObject body;
    auto parsed = base::parse_json(answer.body, 64);
    if (parsed.has_value() && parsed.value().is_object()) body = std::move(parsed.value().get_object());
    error.message = text_member(body, {"message", "Message", "errorMessage", "error_description"});
    error.code = json_code(service, answer, body);
    const model::Shape* shape = modelled(operation, error.code);
    if (shape != nullptr) error.members = read_json_members(*shape, std::move(body));
    // Services that once spoke query keep the codes that their clients know.
    const auto former = base::split(header_text(answer.headers.get("x-amzn-query-error")), ';');
    if (service.query_compatible && former.size() == 2 && !former[0].empty()) error.code = former[0];
}

pugi::xml_node error_node(const pugi::xml_node& root) {
    if (local_name(root) == "Error") return root;
    const pugi::xml_node errors = child_named(root, "Errors");
    return child_named(errors ? errors : root, "Error");
}

void read_xml_error(const model::Service& service, const model::Operation& operation, const Answer& answer,
                    WireError& error) {
    const bool rest = service.protocol == "rest-xml";
    pugi::xml_document document;
    if (!load_xml(document, answer.body)) return;
    const pugi::xml_node root = document.document_element();
    // Query and EC2 name the request in the body; S3's header is what its support asks for.
    for (const char* name : {"RequestId", "RequestID", "requestId"}) {
        const std::string id(base::trim(child_named(root, name).text().get()));
        if (!id.empty() && (!rest || error.request_id.empty())) error.request_id = id;
    }
    const pugi::xml_node node = error_node(root);
    if (!node) return;
    error.code = base::trim(child_named(node, "Code").text().get());
    error.message = base::trim(child_named(node, "Message").text().get());
    if (error.message.empty()) error.message = base::trim(child_named(node, "message").text().get());
    const model::Shape* shape = modelled(operation, error.code);
    if (shape != nullptr) error.members = read_xml_members(*shape, node);
}

bool looks_like_html(std::string_view body) {
    const std::string start = base::to_lower(base::trim(body).substr(0, 15));
    return start.starts_with("<html") || start.starts_with("<!doctype");
}

}  // namespace

WireError parse_error(const model::Service& service, const model::Operation& operation,
                      const Answer& answer) {
    WireError error;
    error.request_id = request_id_of(answer);
    if (!looks_like_html(answer.body)) {
        const bool json = service.protocol == "json" || service.protocol == "rest-json";
        if (json) {
            read_json_error(service, operation, answer, error);
        } else {
            read_xml_error(service, operation, answer, error);
        }
    }
    name_after_status(answer.status, error);
    drop_message(error.members);
    return error;
}

}  // namespace instantstart::aws::codec
