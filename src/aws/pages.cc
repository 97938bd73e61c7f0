#include "aws/pages.h"

#include "base/text.h"

namespace instantstart::aws {

namespace {

// The value of one alternative of an output token: a dotted path, in which "[-1]" is the last item of a list.
std::optional<base::JsonValue> value_of(const base::JsonObject& answer, std::string path) {
    const std::size_t last = path.find("[-1]");
    if (last != std::string::npos) {
        const auto& items = base::get_array(answer, path.substr(0, last));
        if (items.empty()) return std::nullopt;
        path.replace(last, 4, "." + std::to_string(items.size() - 1));
    }
    const auto* found = base::find_path(answer, path);
    if (found == nullptr || found->is_null()) return std::nullopt;
    if (found->is_string() && found->get_string().empty()) return std::nullopt;
    return *found;
}

// "NextMarker || Contents[-1].Key": the first alternative that is there.
std::optional<base::JsonValue> token_of(const base::JsonObject& answer, const std::string& expression) {
    std::string_view rest = expression;
    while (!rest.empty()) {
        const std::size_t bars = rest.find("||");
        auto value = value_of(answer, std::string(base::trim(rest.substr(0, bars))));
        if (value) return value;
        rest = bars == std::string_view::npos ? "" : rest.substr(bars + 2);
    }
    return std::nullopt;
}

}  // namespace

const base::JsonArray& items_of_page(const model::Operation& operation, const base::JsonObject& answer) {
    if (operation.paginator != nullptr && !operation.paginator->result_keys.empty()) {
        return base::get_array(answer, operation.paginator->result_keys.front());
    }
    if (operation.output != nullptr) {
        for (const model::Member& member : operation.output->members) {
            if (member.shape->type == model::ShapeType::list) return base::get_array(answer, member.name);
        }
    }
    return base::get_array(answer, "");
}

bool advance(const model::Operation& operation, const base::JsonObject& answer,
             base::JsonObject& parameters) {
    if (operation.paginator == nullptr) return false;
    const model::Paginator& pages = *operation.paginator;
    if (!pages.more_results.empty() && !base::get_bool(answer, pages.more_results)) return false;
    bool moved = false;
    for (std::size_t i = 0; i < pages.output_tokens.size() && i < pages.input_tokens.size(); ++i) {
        auto token = token_of(answer, pages.output_tokens[i]);
        const std::string& name = pages.input_tokens[i];
        if (!token) {
            parameters.erase(name);
            continue;
        }
        const auto* before = parameters.if_contains(name);
        if (before == nullptr || *before != *token) moved = true;
        parameters[name] = std::move(*token);
    }
    return moved;
}

}  // namespace instantstart::aws
