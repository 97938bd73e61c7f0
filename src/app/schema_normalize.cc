// The parser that a Schema is: from arguments to the canonical request, all faults at once.
#include <algorithm>
#include <cmath>
#include <limits>
#include <regex>
#include <sstream>

#include "app/schema.h"
#include "base/text.h"

namespace instantstart::app {

namespace {

constexpr std::size_t kMaxText = 16384;        // bytes; where the field says nothing else
constexpr std::size_t kMaxPatternText = 1024;  // std::regex recurses: nothing longer reaches it
constexpr std::size_t kMaxItems = 1000;
constexpr std::size_t kMaxFaults = 50;
constexpr std::size_t kMaxNearest = 64;
constexpr std::size_t kMaxListedAllowed = 40;

std::string escape_pointer(std::string_view key) {
    std::string made;
    for (const char c : key) {
        if (c == '~')
            made += "~0";
        else if (c == '/')
            made += "~1";
        else
            made += c;
    }
    return made;
}

std::string child(const std::string& pointer, std::string_view key) {
    return pointer + "/" + escape_pointer(key);
}

std::string number_text(double value) {
    std::ostringstream out;
    out << value;
    return out.str();
}

std::string range_text(const Field& field) {
    if (field.min && field.max) return "from " + number_text(*field.min) + " to " + number_text(*field.max);
    if (field.min) return "at least " + number_text(*field.min);
    return "at most " + number_text(*field.max);
}

bool is_integral(const JsonValue& value) {
    if (value.is_int64()) return true;
    if (value.is_uint64())
        return value.get_uint64() <= static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    return value.is_double() && std::nearbyint(value.get_double()) == value.get_double() &&
           std::abs(value.get_double()) < 9e15;
}

const char* article(ShapeType type) {
    switch (type) {
        case ShapeType::text: return "a string";
        case ShapeType::boolean: return "true or false";
        case ShapeType::integer: return "a whole number";
        case ShapeType::number: return "a number";
        case ShapeType::list: return "a list";
        case ShapeType::map: return "an object of strings";
        default: return "an object";
    }
}

std::string quoted(std::string_view text) {
    constexpr std::size_t kShown = 60;
    return "\"" + std::string(text.substr(0, kShown)) + (text.size() > kShown ? "…\"" : "\"");
}

}  // namespace

base::FieldError fault(std::string pointer, std::string message, const std::vector<std::string>& allowed,
                       std::string_view seen) {
    base::FieldError made;
    made.pointer = std::move(pointer);
    made.message = std::move(message);
    if (allowed.size() <= kMaxListedAllowed) made.allowed = allowed;
    if (!seen.empty() && seen.size() <= kMaxNearest) made.did_you_mean = base::nearest(seen, allowed);
    return made;
}

base::Error faults_error(std::vector<base::FieldError> faults) {
    std::string message;
    if (faults.size() == 1) {
        message = (faults[0].pointer.empty() ? std::string("The request") : "Field " + faults[0].pointer) +
                  " " + faults[0].message;
    } else {
        message = std::to_string(faults.size()) + " fields are wrong; each is named in errors";
    }
    base::Error error(base::ErrorKind::invalid, "invalid_field", std::move(message));
    error.fields = std::move(faults);
    error.hint = "Correct the fields named in errors and send the request again; nothing was done.";
    return error;
}

struct Schema::Patterns {
    std::map<std::string, std::regex, std::less<>> by_field;
};

void Schema::compile_patterns() {
    auto made = std::make_shared<Patterns>();
    for (const auto& field : fields_) {
        if (field.pattern.empty()) continue;
        made->by_field.emplace(field.name,
                               std::regex(field.pattern, std::regex::ECMAScript | std::regex::optimize));
    }
    patterns_ = std::move(made);
}

class Schema::Reader {
public:
    explicit Reader(const Schema& schema) : schema_(schema) {}

    JsonObject object(const Shape& shape, const std::string& path, const std::string& pointer,
                      const JsonObject& given) {
        refuse_unknown(shape, pointer, given);
        JsonObject made;
        for (const auto& member : shape.members) {
            const std::string name = path.empty() ? member.name : path + "." + member.name;
            const Field* field = schema_.field(name);
            const JsonValue* value = given.if_contains(member.name);
            if (value == nullptr || value->is_null()) {
                if (field != nullptr && !field->default_value.is_null())
                    made[member.name] = field->default_value;
                else if (!member.optional)
                    add(fault(child(pointer, member.name), "is missing"));
                continue;
            }
            made[member.name] = read(member.shape, field, name, child(pointer, member.name), *value);
        }
        return made;
    }

    std::vector<base::FieldError> faults;

private:
    void add(base::FieldError error) {
        if (faults.size() < kMaxFaults) faults.push_back(std::move(error));
    }

    void refuse_unknown(const Shape& shape, const std::string& pointer, const JsonObject& given) {
        for (const auto& entry : given) {
            bool known = false;
            for (const auto& member : shape.members) known = known || member.name == entry.key();
            if (known) continue;
            std::vector<std::string> names;
            names.reserve(shape.members.size());
            for (const auto& member : shape.members) names.push_back(member.name);
            add(fault(child(pointer, entry.key()), "is not a field of this request", names, entry.key()));
        }
    }

    JsonValue read(const Shape& shape, const Field* field, const std::string& path,
                   const std::string& pointer, const JsonValue& value) {
        switch (shape.type) {
            case ShapeType::text:
                if (!value.is_string()) break;
                text(field, pointer, value.get_string());
                return value;
            case ShapeType::boolean:
                if (!value.is_bool()) break;
                return value;
            case ShapeType::integer:
                if (!is_integral(value)) break;
                number(field, pointer, impl::to_number(value));
                return impl::to_integer(value);
            case ShapeType::number:
                if (!value.is_number()) break;
                number(field, pointer, impl::to_number(value));
                return impl::to_number(value);
            case ShapeType::list:
                if (!value.is_array()) break;
                return list(shape, field, path, pointer, value.get_array());
            case ShapeType::map:
                if (!value.is_object()) break;
                map(field, pointer, value.get_object());
                return value;
            case ShapeType::free_form:
                if (!value.is_object()) break;
                return value;
            case ShapeType::object:
                if (!value.is_object()) break;
                return object(shape, path, pointer, value.get_object());
        }
        add(fault(pointer, std::string("must be ") + article(shape.type)));
        return nullptr;
    }

    JsonValue list(const Shape& shape, const Field* field, const std::string& path,
                   const std::string& pointer, const JsonArray& given) {
        length(field, pointer, given.size(), kMaxItems, "items");
        if (given.size() > kMaxItems) return nullptr;
        const Field for_items = item_field(field);
        JsonArray made;
        std::size_t index = 0;
        for (const JsonValue& item : given) {
            made.push_back(
                read(*shape.item, &for_items, path, pointer + "/" + std::to_string(index++), item));
        }
        return made;
    }

    // What a list's field says of length is the list's; the rest is each item's.
    static Field item_field(const Field* field) {
        Field made = field == nullptr ? Field() : *field;
        made.min_length.reset();
        made.max_length.reset();
        return made;
    }

    void map(const Field* field, const std::string& pointer, const JsonObject& given) {
        length(field, pointer, given.size(), kMaxItems, "entries");
        for (const auto& entry : given) {
            if (!entry.value().is_string()) add(fault(child(pointer, entry.key()), "must be a string"));
        }
    }

    void number(const Field* field, const std::string& pointer, double value) {
        if (field == nullptr) return;
        if ((field->min && value < *field->min) || (field->max && value > *field->max)) {
            add(fault(pointer, "must be " + range_text(*field) + ", not " + number_text(value)));
        }
    }

    void text(const Field* field, const std::string& pointer, std::string_view value) {
        const std::size_t before = faults.size();
        length(field, pointer, value.size(), kMaxText, "characters");
        if (field == nullptr || faults.size() != before) return;
        if (!field->allowed.empty() &&
            std::find(field->allowed.begin(), field->allowed.end(), value) == field->allowed.end()) {
            add(fault(pointer,
                      "must be one of " + base::join(field->allowed, ", ") + ", not " + quoted(value),
                      field->allowed, value));
            return;
        }
        const auto pattern = schema_.patterns_->by_field.find(field->name);
        if (pattern == schema_.patterns_->by_field.end()) return;
        if (value.size() > kMaxPatternText ||
            !std::regex_match(value.begin(), value.end(), pattern->second)) {
            std::string message = "must match " + field->pattern + ", which " + quoted(value) + " does not";
            if (field->example.is_string())
                message += "; for example " + quoted(std::string_view(field->example.get_string()));
            add(fault(pointer, std::move(message)));
        }
    }

    void length(const Field* field, const std::string& pointer, std::size_t size, std::size_t ceiling,
                const char* what) {
        const std::size_t low = field != nullptr ? field->min_length.value_or(0) : 0;
        const std::size_t high =
            std::min(ceiling, field != nullptr ? field->max_length.value_or(ceiling) : ceiling);
        if (size >= low && size <= high) return;
        add(fault(pointer, "must have from " + std::to_string(low) + " to " + std::to_string(high) + " " +
                               what + ", not " + std::to_string(size)));
    }

    const Schema& schema_;
};

base::Result<JsonObject> Schema::normalize(const JsonObject& arguments) const {
    Reader reader(*this);
    JsonObject made = reader.object(shape_, "", "", arguments);
    if (!reader.faults.empty()) return faults_error(std::move(reader.faults));
    return made;
}

namespace {

JsonValue coerce_one(const std::string& type, const std::string& text) {
    if (type == "boolean" && (text == "true" || text == "false")) return text == "true";
    if (type == "integer" || type == "number") {
        const auto parsed = base::parse_json(text);
        if (parsed && parsed.value().is_number()) return parsed.value();
    }
    return JsonValue(text);
}

}  // namespace

JsonObject coerce_text(const JsonObject& input_schema,
                       const std::vector<std::pair<std::string, std::string>>& values) {
    const JsonObject& properties = base::get_object(input_schema, "properties");
    JsonObject made;
    for (const auto& [name, text] : values) {
        const JsonValue* found = properties.if_contains(name);
        const JsonObject property =
            found != nullptr && found->is_object() ? found->get_object() : JsonObject();
        const std::string type = base::get_string(property, "type");
        if (type != "array") {
            // Said twice: a list, which the field's type then refuses, rather than one of them silently.
            JsonValue value = coerce_one(type, text);
            if (made.contains(name)) value = JsonArray{std::move(made[name]), std::move(value)};
            made[name] = std::move(value);
            continue;
        }
        JsonValue& list = made[name];
        if (!list.is_array()) list = JsonArray();
        for (const auto& part : base::split(text, ',')) {
            list.get_array().push_back(coerce_one(base::get_string(property, "items.type"), part));
        }
    }
    return made;
}

}  // namespace instantstart::app
