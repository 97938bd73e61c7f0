// Field's builder: each setter gives the field on, so that one field is one expression.
#include <utility>

#include "app/operation.h"

namespace instantstart::app {

Field&& Field::range(double low, double high) && {
    min = low;
    max = high;
    return std::move(*this);
}

Field&& Field::length(std::size_t low, std::size_t high) && {
    min_length = low;
    max_length = high;
    return std::move(*this);
}

Field&& Field::matches(std::string regex) && {
    pattern = std::move(regex);
    return std::move(*this);
}

Field&& Field::one_of(std::vector<std::string> values) && {
    allowed = std::move(values);
    return std::move(*this);
}

Field&& Field::defaults(JsonValue value) && {
    default_value = std::move(value);
    return std::move(*this);
}

Field&& Field::like(JsonValue value) && {
    example = std::move(value);
    return std::move(*this);
}

Field&& Field::explained() && {
    for_tools = true;
    return std::move(*this);
}

Field&& Field::rare() && {
    is_rare = true;
    return std::move(*this);
}

}  // namespace instantstart::app
