#include "rt/context.h"

#include <algorithm>

namespace instantstart::rt {

Context::Context() : data_(std::make_shared<Data>()) {}

Context Context::with(std::string_view key, std::string_view value) const {
    auto data = std::make_shared<Data>(*data_);
    data->fields[key] = value;
    Context copy;
    copy.data_ = std::move(data);
    return copy;
}

Context Context::with_deadline(base::Duration monotonic_deadline) const {
    auto data = std::make_shared<Data>(*data_);
    data->deadline = data->deadline ? std::min(*data->deadline, monotonic_deadline) : monotonic_deadline;
    Context copy;
    copy.data_ = std::move(data);
    return copy;
}

std::string Context::field(std::string_view key) const {
    const auto* found = data_->fields.if_contains(key);
    return found != nullptr && found->is_string() ? std::string(found->get_string()) : std::string();
}

std::optional<base::Duration> Context::deadline() const {
    return data_->deadline;
}

const base::JsonObject& Context::fields() const {
    return data_->fields;
}

void Context::log(base::LogLevel level, std::string_view event, base::LogFields fields) const {
    base::log(level, event, data_->fields, fields);
}

}  // namespace instantstart::rt
