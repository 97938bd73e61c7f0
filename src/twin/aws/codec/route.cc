#include "twin/aws/codec/route.h"

#include <optional>

#include "base/text.h"
#include "twin/aws/codec/json_codec.h"

namespace instantstart::twin::codec {

namespace {

using aws::model::Operation;
using Labels = std::vector<std::pair<std::string, std::string>>;

struct Template {
    Template() = default;
    std::string path;
    std::vector<std::pair<std::string, std::optional<std::string>>> query;  // literals that must stand there
};

Template parse_template(std::string_view uri) {
    Template out;
    const auto mark = uri.find('?');
    out.path = uri.substr(0, mark);
    if (mark == std::string_view::npos) return out;
    for (const std::string& item : base::split(uri.substr(mark + 1), '&')) {
        const auto equals = item.find('=');
        if (equals == std::string::npos)
            out.query.emplace_back(item, std::nullopt);
        else
            out.query.emplace_back(item.substr(0, equals), item.substr(equals + 1));
    }
    return out;
}

// Segments of a path without the empty one that a trailing slash leaves.
std::vector<std::string> segments(std::string_view path) {
    std::vector<std::string> out = base::split(path.starts_with('/') ? path.substr(1) : path, '/');
    while (!out.empty() && out.back().empty()) out.pop_back();
    return out;
}

// How many literal segments matched; nullopt where the path does not fit. Fills `labels`.
std::optional<int> match_path(std::string_view pattern, std::string_view path, Labels& labels) {
    const std::vector<std::string> wanted = segments(pattern);
    const std::vector<std::string> given = segments(path);
    int literals = 0;
    for (std::size_t i = 0; i < wanted.size(); ++i) {
        const std::string& want = wanted[i];
        if (want.starts_with('{') && want.ends_with("+}")) {
            if (i >= given.size()) return std::nullopt;
            std::size_t at = path.starts_with('/') ? 1 : 0;  // the rest as it stands, slashes included
            for (std::size_t skipped = 0; skipped < i; ++skipped) at = path.find('/', at) + 1;
            labels.emplace_back(want.substr(1, want.size() - 3), base::percent_decode(path.substr(at)));
            return literals;
        }
        if (i >= given.size()) return std::nullopt;
        if (want.starts_with('{')) {
            if (given[i].empty()) return std::nullopt;
            labels.emplace_back(want.substr(1, want.size() - 2), base::percent_decode(given[i]));
        } else if (want == given[i]) {
            ++literals;
        } else {
            return std::nullopt;
        }
    }
    if (wanted.size() != given.size()) return std::nullopt;
    return literals;
}

bool has_parameter(const http::Request& request, std::string_view name,
                   const std::optional<std::string>& value) {
    const auto found = request.parameter(name);
    return found && (!value || *found == *value);
}

// How well the operation fits; negative where it does not.
int fitness(const Operation& operation, const http::Request& request) {
    if (operation.http_method != request.method) return -1;
    const Template pattern = parse_template(operation.request_uri);
    Labels labels;
    const auto literals = match_path(pattern.path, request.path(), labels);
    if (!literals) return -1;
    int score = 1000 + *literals * 100;  // always above 0, whatever is taken away below
    for (const auto& [name, value] : pattern.query) {
        if (!has_parameter(request, name, value)) return -1;
        score += 10;
    }
    if (operation.input == nullptr) return score;
    for (const Member& member : operation.input->members) {
        if (!member.required) continue;
        const bool in_query = member.location == "querystring";
        const bool in_header = member.location == "header";
        // What a call cannot be without tells apart operations of one path (UploadPart, CopyObject and
        // PutObject).
        if (in_query && request.parameter(member.location_name)) score += 10;
        if (in_header && request.headers.has(member.location_name)) score += 10;
        if ((in_query && !request.parameter(member.location_name)) ||
            (in_header && !request.headers.has(member.location_name)))
            score -= 15;
    }
    return score;
}

JsonValue header_value(const Member& member, const std::string& text) {
    if (member.json_value) {
        std::string decoded;
        if (base::base64_decode(text, decoded)) return JsonValue(decoded);
    }
    if (member.shape->type == ShapeType::list) {
        JsonArray out;
        for (const std::string& item : base::split(text, ','))
            out.push_back(scalar_from_text(member.shape->element, base::trim(item)));
        return out;
    }
    return scalar_from_text(member, text);
}

JsonObject prefixed_headers(const http::Request& request, std::string_view prefix) {
    JsonObject out;
    for (const auto& [name, value] : request.headers.fields()) {
        const std::string lower = base::to_lower(name);
        if (lower.starts_with(base::to_lower(prefix))) out[lower.substr(prefix.size())] = value;
    }
    return out;
}

std::optional<JsonValue> query_value(const Member& member, const http::Request& request) {
    if (member.shape->type == ShapeType::list) {
        JsonArray out;
        for (const auto& [name, value] : request.parameters()) {
            if (name == member.location_name) out.push_back(scalar_from_text(member.shape->element, value));
        }
        if (out.empty()) return std::nullopt;
        return out;
    }
    if (member.shape->type == ShapeType::map) {
        JsonObject out;
        for (const auto& [name, value] : request.parameters()) out[name] = value;
        return out;
    }
    const auto found = request.parameter(member.location_name);
    if (!found) return std::nullopt;
    return scalar_from_text(member, *found);
}

}  // namespace

const aws::model::Operation* route(const aws::model::Service& service, const http::Request& request) {
    const Operation* best = nullptr;
    int best_score = -1;
    for (const auto& [name, operation] : service.operations) {
        const int score = fitness(operation, request);
        if (score > best_score) {
            best = &operation;
            best_score = score;
        }
    }
    return best;
}

JsonObject located_parameters(const aws::model::Operation& operation, const http::Request& request) {
    JsonObject out;
    if (operation.input == nullptr) return out;
    Labels labels;
    match_path(parse_template(operation.request_uri).path, request.path(), labels);
    for (const Member& member : operation.input->members) {
        const std::string& wire = member.location_name.empty() ? member.name : member.location_name;
        if (member.location == "uri") {
            for (const auto& [label, value] : labels) {
                if (label == wire) out[member.name] = scalar_from_text(member, value);
            }
        } else if (member.location == "querystring") {
            if (auto value = query_value(member, request)) out[member.name] = std::move(*value);
        } else if (member.location == "header") {
            if (request.headers.has(wire)) out[member.name] = header_value(member, request.headers.get(wire));
        } else if (member.location == "headers") {
            JsonObject found = prefixed_headers(request, member.location_name);
            if (!found.empty()) out[member.name] = std::move(found);
        }
    }
    return out;
}

}  // namespace instantstart::twin::codec
