#include "aws/pages.h"

#include <algorithm>

#include "base/text.h"

namespace instantstart::aws {

namespace {

// The value of one alternative of an output token: a dotted path, in which "[-1]" is the last item of a list.
std::optional<JsonValue> value_of(const JsonObject& answer, std::string path) {
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
std::optional<JsonValue> token_of(const JsonObject& answer, const std::string& expression) {
    std::string_view rest = expression;
    while (!rest.empty()) {
        const std::size_t bars = rest.find("||");
        auto value = value_of(answer, std::string(base::trim(rest.substr(0, bars))));
        if (value) return value;
        rest = bars == std::string_view::npos ? "" : rest.substr(bars + 2);
    }
    return std::nullopt;
}

// Puts the page's size where the model has a place for it and the parameters leave it open.
void ask_for(const model::Operation& operation, std::int64_t size, JsonObject& parameters) {
    if (size <= 0 || operation.paginator == nullptr || operation.input == nullptr) return;
    const model::Member* limit = operation.input->member(operation.paginator->limit_key);
    if (limit == nullptr || parameters.contains(limit->name)) return;
    const model::Shape& shape = *limit->shape;
    if (shape.min) size = std::max(size, static_cast<std::int64_t>(*shape.min));
    if (shape.max) size = std::min(size, static_cast<std::int64_t>(*shape.max));
    if (shape.type == model::ShapeType::string) {
        parameters[limit->name] = std::to_string(size);
    } else {
        parameters[limit->name] = size;
    }
}

std::size_t count_items(const model::Operation& operation, const JsonObject& answer) {
    std::size_t count = 0;
    for (const std::string& key : result_keys(operation)) count += base::get_array(answer, key).size();
    return count;
}

// The place of a dotted path, made where it is absent.
JsonValue& place_of(JsonObject& object, std::string_view path) {
    JsonObject* at = &object;
    for (std::size_t dot = path.find('.'); dot != std::string_view::npos; dot = path.find('.')) {
        JsonValue& inner = (*at)[path.substr(0, dot)];
        if (!inner.is_object()) inner = JsonObject();
        at = &inner.get_object();
        path = path.substr(dot + 1);
    }
    return (*at)[path];
}

}  // namespace

PageBound PageBound::first(std::size_t count) {
    PageBound bound;
    bound.items = count;
    bound.page_size = static_cast<std::int64_t>(count);
    return bound;
}

std::vector<std::string> result_keys(const model::Operation& operation) {
    if (operation.paginator != nullptr && !operation.paginator->result_keys.empty()) {
        return operation.paginator->result_keys;
    }
    if (operation.output == nullptr) return {};
    for (const model::Member& member : operation.output->members) {
        if (member.shape->type == model::ShapeType::list) return {member.name};
    }
    return {};
}

JsonObject next_tokens(const model::Operation& operation, const JsonObject& answer) {
    JsonObject tokens;
    if (operation.paginator == nullptr) return tokens;
    const model::Paginator& pages = *operation.paginator;
    if (!pages.more_results.empty() && !base::get_bool(answer, pages.more_results)) return tokens;
    bool any = false;
    for (std::size_t i = 0; i < pages.output_tokens.size() && i < pages.input_tokens.size(); ++i) {
        auto token = token_of(answer, pages.output_tokens[i]);
        any = any || token.has_value();
        tokens[pages.input_tokens[i]] = token ? std::move(*token) : JsonValue();
    }
    if (!any) tokens.clear();
    return tokens;
}

Pages::Pages(Client& client, Context context, std::string service, std::string operation,
             JsonObject parameters, PageBound bound)
    : client_(client),
      context_(std::move(context)),
      service_(std::move(service)),
      operation_name_(std::move(operation)),
      parameters_(std::move(parameters)),
      bound_(bound) {
    const model::Service* found = model::embedded(service_);
    operation_ = found == nullptr ? nullptr : found->operation(operation_name_);
    if (operation_ != nullptr) ask_for(*operation_, bound_.page_size, parameters_);
}

Task<std::optional<JsonObject>> Pages::next_answer() {
    if (operation_ == nullptr) {
        co_return base::internal_error("no operation " + operation_name_ + " in the model of " + service_);
    }
    if (bound_.items && items_ >= *bound_.items) ended_ = true;
    if (ended_) co_return std::optional<JsonObject>();
    if (pages_ == bound_.pages_max) {
        co_return base::Error(base::ErrorKind::invalid, "too_many_pages",
                              operation_name_ + " has more than " + std::to_string(pages_) + " pages");
    }
    CallOptions options;
    CO_TRY(JsonObject answer,
           co_await client_.call(context_, service_, operation_name_, parameters_, options));
    ++pages_;
    items_ += count_items(*operation_, answer);
    CO_CHECK_OK(advance(answer));
    co_return std::optional<JsonObject>(std::move(answer));
}

base::Result<void> Pages::advance(const JsonObject& answer) {
    const JsonObject tokens = next_tokens(*operation_, answer);
    has_more_ = !tokens.empty();
    ended_ = tokens.empty();
    if (ended_) return base::ok();
    if (!seen_tokens_.insert(base::canonical_text(tokens)).second) {
        return base::Error(base::ErrorKind::internal, "repeated_page_token",
                           "the answer to " + operation_name_ + " names a page that was read already");
    }
    for (const auto& [name, token] : tokens) {
        if (token.is_null()) {
            parameters_.erase(name);
        } else {
            parameters_[name] = token;
        }
    }
    return base::ok();
}

Task<std::optional<JsonArray>> Pages::next() {
    const std::size_t before = items_;
    CO_TRY(std::optional<JsonObject> answer, co_await next_answer());
    if (!answer) co_return std::optional<JsonArray>();
    const auto keys = result_keys(*operation_);
    JsonArray items;
    if (!keys.empty()) {
        JsonValue& found = place_of(*answer, keys.front());  // taken out, not copied: the answer ends here
        if (found.is_array()) items = std::move(found.get_array());
    }
    items_ = before + items.size();
    if (bound_.items && items_ > *bound_.items) {
        items.resize(*bound_.items - before);
        items_ = *bound_.items;
        has_more_ = true;
    }
    co_return std::optional<JsonArray>(std::move(items));
}

Task<JsonObject> gather(Pages pages, const model::Operation& operation) {
    JsonObject all;
    bool first = true;
    while (true) {
        CO_TRY(std::optional<JsonObject> answer, co_await pages.next_answer());
        if (!answer) co_return all;
        for (const std::string& key : result_keys(operation)) {
            JsonValue& kept = place_of(all, key);
            if (!kept.is_array()) kept = JsonArray();
            for (const JsonValue& item : base::get_array(*answer, key)) kept.get_array().push_back(item);
        }
        if (first && operation.paginator != nullptr) {
            for (const std::string& key : operation.paginator->non_aggregate_keys) {
                const JsonValue* found = base::find_path(*answer, key);
                if (found != nullptr) place_of(all, key) = *found;
            }
        }
        first = false;
    }
}

Task<JsonArray> Client::collect(Context context, std::string service, std::string operation,
                                JsonObject parameters, std::size_t max_items) {
    const std::string name = operation;
    Pages pages(*this, std::move(context), std::move(service), std::move(operation), std::move(parameters),
                PageBound());
    JsonArray out;
    while (true) {
        CO_TRY(std::optional<JsonArray> items, co_await pages.next());
        if (!items) co_return out;
        if (out.size() + items->size() > max_items) {
            co_return base::invalid_error("too_many_items",
                                          name + " has more than " + std::to_string(max_items) + " items");
        }
        for (JsonValue& item : *items) out.push_back(std::move(item));
    }
}

}  // namespace instantstart::aws
