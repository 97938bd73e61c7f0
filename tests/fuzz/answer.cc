// Any bytes as the answer of any operation: head lines, an empty line, the body. Built once for each
// protocol, and once for failures of all of them.
#include <vector>

#include "aws/codec/codec.h"
#include "aws/failure.h"
#include "input.h"

namespace instantstart::aws {
namespace {

struct Call {
    const model::Service* service;
    const model::Operation* operation;
};

// By service and name: tests/fuzz/seeds.py counts in the same order.
std::vector<Call> calls_of(std::string_view protocol) {
    std::vector<Call> calls;
    for (const std::string& name : model::embedded_names()) {
        const model::Service* service = model::embedded(name);
        if (service == nullptr || (!protocol.empty() && service->protocol != protocol)) continue;
        for (const auto& entry : service->operations) calls.push_back({service, &entry.second});
    }
    return calls;
}

codec::Answer answer_of(fuzz::Input& input) {
    codec::Answer answer;
    answer.status = static_cast<int>(input.number(600));
    for (const std::string& line : base::split(input.until("\n\n"), '\n')) {
        const std::size_t colon = line.find(':');
        if (colon == std::string::npos || colon == 0) continue;
        answer.headers.add(line.substr(0, colon), std::string(base::trim(line.substr(colon + 1))));
    }
    answer.body = std::string(input.rest());
    return answer;
}

void check_failure(const Call& call, const codec::Answer& answer) {
    const codec::WireError error = codec::parse_error(*call.service, *call.operation, answer);
    fuzz::require(!error.code.empty(), "an error has a code");
    fuzz::require(!error.message.empty(), "an error has a message");
    const auto now = base::parse_time("2026-11-30T12:00:00Z");
    const Failure failure = failure_of_answer(call.service->name, error, answer, Repeat::unsafe, *now);
    fuzz::require(!failure.wait || *failure.wait >= std::chrono::milliseconds(0), "a wait is not negative");
    fuzz::require(!failure.wait || *failure.wait <= std::chrono::hours(1), "a wait is bounded");
    fuzz::require_json(error.members);
    for (const std::string& text : {error.code, error.message, error.request_id})
        fuzz::require_json(base::JsonValue(text));
}

void check_success(const Call& call, const codec::Answer& answer) {
    const auto values = codec::parse(*call.service, *call.operation, answer);
    if (!values.has_value()) {
        fuzz::require(values.error().code == "unreadable_answer", "an answer is read or unreadable");
        fuzz::require_json(base::JsonValue(values.error().chain()));
        return;
    }
    // Blobs and the bodies of downloads are bytes.
    bool bytes = false;
    for (const auto& entry : call.service->shapes) bytes |= entry.second->type == model::ShapeType::blob;
    if (!bytes) fuzz::require_json(values.value());
}

}  // namespace
}  // namespace instantstart::aws

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace instantstart;
    static const std::vector<aws::Call> kCalls = aws::calls_of(FUZZED_PROTOCOL);
    fuzz::Input input(data, size);
    const aws::Call& call = kCalls[input.number(kCalls.size())];
    const aws::codec::Answer answer = aws::answer_of(input);
    if (FUZZED_FAILURES == 0) aws::check_success(call, answer);
    aws::check_failure(call, answer);
    return 0;
}
