#include "account.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace instantstart::sim {

using base::JsonObject;
using base::JsonValue;

namespace {

// Tables that only remember.
bool is_book(std::string_view table) {
    static constexpr std::array<std::string_view, 5> kBooks = {"tokens", "events", "updates", "requests",
                                                               "keys"};
    return std::find(kBooks.begin(), kBooks.end(), table) != kBooks.end();
}

bool counts(const JsonValue& row) {
    if (base::get_string(row, "Path").starts_with("/aws-service-role/")) return false;
    return base::get_string(row, "data.State") != "deleted" &&
           base::get_string(row, "data.Status") != "Deleted";
}

int count(const JsonValue& table) {
    int found = 0;
    if (table.is_array()) {
        for (const auto& row : table.as_array()) found += counts(row) ? 1 : 0;
    } else if (table.is_object()) {
        for (const auto& row : table.as_object()) found += counts(row.value()) ? 1 : 0;
    }
    return found;
}

// A repetition that changes nothing: a table has one route for a destination, a tag one value.
bool is_harmless(std::string_view operation) {
    return operation == "CreateTags" || operation == "CreateRoute";
}

bool has_client_token(const JsonObject& parameters) {
    for (const auto& member : parameters) {
        std::string name(member.key());
        for (char& c : name) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
        if (name == "clienttoken" || name == "clientrequesttoken") return true;
    }
    return false;
}

}  // namespace

Census census(Simulation& simulation) {
    Census found;
    const auto snapshot = simulation.twin("GET", "/snapshot", {});
    for (const auto& service : base::get_object(snapshot, "services")) {
        if (!service.value().is_object()) continue;
        const std::string of_service = std::string(service.key()) + ".";
        for (const auto& table : service.value().as_object()) {
            if (is_book(table.key())) continue;
            if (table.key() != "managed") {
                found[of_service + std::string(table.key())] = count(table.value());
                continue;
            }
            for (const auto& inner : table.value().as_object())  // what SageMaker keeps beside HyperPod
                found[of_service + std::string(inner.key())] = count(inner.value());
        }
    }
    return found;
}

std::string difference(const Census& expected, const Census& found) {
    Census all = expected;
    all.insert(found.begin(), found.end());
    std::string text;
    for (const auto& entry : all) {
        const auto& table = entry.first;
        const int wanted = expected.contains(table) ? expected.at(table) : 0;
        const int there = found.contains(table) ? found.at(table) : 0;
        if (wanted != there)
            text += table + ": " + std::to_string(there) + ", not " + std::to_string(wanted) + "\n";
    }
    return text;
}

std::vector<std::string> made_twice(const std::vector<JsonObject>& mutations) {
    std::map<std::string, int> made;
    for (const auto& call : mutations) {
        const auto operation = base::get_string(call, "operation");
        if (base::get_int(call, "status") >= 400 || is_harmless(operation)) continue;
        // The last is what API servers of clusters are asked: "create pods".
        const bool makes = operation.starts_with("Create") || operation.starts_with("Allocate") ||
                           operation.starts_with("create ");
        if (!makes) continue;
        const auto& parameters = base::get_object(call, "parameters");
        if (has_client_token(parameters)) continue;
        ++made[base::get_string(call, "service") + " " + operation + " " + base::canonical_text(parameters)];
    }
    std::vector<std::string> twice;
    for (const auto& [call, times] : made) {
        if (times > 1) twice.push_back(call);
    }
    return twice;
}

std::string history(Simulation& simulation) {
    std::string text;
    for (const auto& call : simulation.mutations()) text += base::to_text(call) + "\n";
    return text;
}

}  // namespace instantstart::sim
