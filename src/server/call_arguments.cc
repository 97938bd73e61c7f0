#include "server/call_arguments.h"

#include <algorithm>
#include <fstream>
#include <iostream>
#include <sstream>

#include "app/schema.h"
#include "base/text.h"

namespace instantstart::server {

namespace {

using base::JsonObject;
using base::JsonValue;

base::Error wrong_use(const std::string& message) {
    return base::invalid_error("usage", message)
        .with_hint(
            "`instantstart call --help` lists the operations, `instantstart call OPERATION --help` the "
            "fields of one.");
}

base::Result<JsonObject> read_body_file(const std::string& path) {
    std::ostringstream text;
    if (path == "-") {
        text << std::cin.rdbuf();
    } else {
        std::ifstream file(path);
        if (!file) return wrong_use("Cannot read " + path);
        text << file.rdbuf();
    }
    auto parsed = base::parse_json(text.str());
    if (!parsed || !parsed->is_object()) return wrong_use("The body in " + path + " is not a JSON object");
    return std::move(parsed->get_object());
}

// JSON where the text is JSON (numbers, true, lists, objects), else the text itself.
JsonValue loose_value(const std::string& text) {
    auto parsed = base::parse_json(text);
    return parsed ? std::move(parsed).value() : JsonValue(text);
}

// A value by the type that the field has; objects and lists of objects are JSON.
JsonValue typed_value(const JsonObject& schema, const std::string& field, const std::string& text) {
    const JsonValue* found = base::get_object(schema, "properties").if_contains(field);
    const std::string type = found == nullptr ? "" : base::get_string(*found, "type");
    const bool complex =
        type == "object" || (type == "array" && base::get_string(*found, "items.type") == "object");
    if (complex || (type == "array" && text.starts_with('['))) return loose_value(text);
    const JsonObject coerced = app::coerce_text(schema, {{field, text}});
    return coerced.at(field);
}

// The schema of a member: its own, or that of a map's values; empty where none is known.
const JsonObject& member_schema(const JsonObject& schema, const std::string& name) {
    static const JsonObject kNone;
    if (const JsonValue* found = base::get_object(schema, "properties").if_contains(name))
        return found->get_object();
    const JsonValue* values = schema.if_contains("additionalProperties");
    return values != nullptr && values->is_object() ? values->get_object() : kNone;
}

bool is_number(const std::string& text) {
    return !text.empty() && text.size() < 4 && text.find_first_not_of("0123456789") == std::string::npos;
}

// Puts a value where a path such as instance_groups.0.count leads, making lists and objects on the way.
class PathSetter {
public:
    PathSetter(std::vector<std::string> parts, std::string text)
        : parts_(std::move(parts)), text_(std::move(text)) {}

    base::Result<void> into_object(JsonObject& object, const JsonObject& schema, std::size_t at) const {
        const JsonObject& properties = base::get_object(schema, "properties");
        const bool map = properties.empty() && schema.contains("additionalProperties");
        // The keys of maps, such as labels, may have dots themselves.
        const std::string name =
            map ? base::join({parts_.begin() + static_cast<std::ptrdiff_t>(at), parts_.end()}, ".")
                : parts_[at];
        if (name.empty()) return wrong_use("--set takes PATH=VALUE, with names between the dots of PATH");
        return into_value(object[name], member_schema(schema, name), map ? parts_.size() : at + 1);
    }

private:
    base::Result<void> into_value(JsonValue& value, const JsonObject& schema, std::size_t at) const {
        if (at >= parts_.size()) {
            value = leaf(schema);
            return base::ok();
        }
        const std::string type = base::get_string(schema, "type");
        const bool list = type == "array" || (type.empty() && is_number(parts_[at]));
        if (!list) {
            if (!value.is_object()) value = JsonObject();
            return into_object(value.get_object(), schema, at);
        }
        if (!value.is_array()) value = base::JsonArray();
        base::JsonArray& items = value.get_array();
        const std::string path =
            base::join({parts_.begin(), parts_.begin() + static_cast<std::ptrdiff_t>(at)}, ".");
        if (!is_number(parts_[at]) || std::stoul(parts_[at]) > items.size()) {
            return wrong_use(path + " is a list: its items are numbered from 0 without gaps, as in " + path +
                             ".0");
        }
        const std::size_t index = std::stoul(parts_[at]);
        if (index == items.size()) items.emplace_back(nullptr);
        return into_value(items[index], base::get_object(schema, "items"), at + 1);
    }

    JsonValue leaf(const JsonObject& schema) const {
        if (schema.empty()) return loose_value(text_);
        JsonObject properties;
        properties["value"] = schema;
        JsonObject around;
        around["properties"] = std::move(properties);
        return typed_value(around, "value", text_);
    }

    std::vector<std::string> parts_;
    std::string text_;
};

base::Result<void> set_path(JsonObject& arguments, const JsonObject& schema, const std::string& assignment) {
    const auto equals = assignment.find('=');
    if (equals == std::string::npos || equals == 0) return wrong_use("--set takes PATH=VALUE");
    const PathSetter setter(base::split(assignment.substr(0, equals), '.'), assignment.substr(equals + 1));
    return setter.into_object(arguments, schema, 0);
}

class Parser {
public:
    Parser(const app::Catalogue& catalogue, const std::vector<std::string>& words)
        : catalogue_(catalogue), words_(words) {}

    base::Result<CallArguments> parse() {
        for (at_ = 0; at_ < words_.size(); ++at_) {
            const std::string& word = words_[at_];
            if (word.starts_with("--")) {
                CHECK_OK(option(word.substr(2)));
            } else if (word == "-h") {
                made_.help = true;
            } else if (made_.operation.empty()) {
                CHECK_OK(name(word));
            } else {
                return wrong_use("Unexpected word: " + word);
            }
        }
        CHECK_OK(path_is_complete());
        return std::move(made_);
    }

private:
    // A cluster may be left out: then it is the active one.
    base::Result<void> path_is_complete() const {
        if (operation_ == nullptr || made_.help) return base::ok();
        for (const auto& parameter : app::path_parameters(operation_->meta())) {
            const JsonValue* value = made_.arguments.if_contains(parameter);
            const bool empty = value != nullptr && value->is_string() && value->get_string().empty();
            if (empty || (value == nullptr && parameter != "cluster"))
                return wrong_use(operation_->meta().id + " needs --" + parameter);
        }
        return base::ok();
    }

    base::Result<void> name(const std::string& word) {
        operation_ = catalogue_.find(word);
        if (operation_ == nullptr) operation_ = catalogue_.find_tool(word);
        if (operation_ == nullptr) {
            const std::string near = base::nearest(word, catalogue_.ids());
            return wrong_use("There is no operation " + word +
                             (near.empty() ? "" : "; did you mean " + near + "?"));
        }
        made_.operation = operation_->meta().id;
        return base::ok();
    }

    base::Result<std::string> value(const std::string& name, const std::string& inlined, bool has_inlined) {
        if (has_inlined) return inlined;
        if (at_ + 1 >= words_.size()) return wrong_use("--" + name + " needs a value");
        return words_[++at_];
    }

    base::Result<void> option(const std::string& text) {
        const auto equals = text.find('=');
        const bool inlined = equals != std::string::npos && !text.starts_with("set");
        std::string name = inlined ? text.substr(0, equals) : text;
        std::replace(name.begin(), name.end(), '-', '_');
        const std::string rest = inlined ? text.substr(equals + 1) : "";
        if (name == "help")
            made_.help = true;
        else if (name == "wait")
            made_.wait = true;
        else if (name == "json")
            made_.json = true;
        else if (name == "dry_run" && !inlined)
            made_.arguments["dry_run"] = true;
        else
            return valued(name, rest, inlined);
        return base::ok();
    }

    base::Result<void> valued(const std::string& name, const std::string& rest, bool inlined) {
        TRY(const std::string text, value(name, rest, inlined));
        if (name == "url")
            made_.url = text;
        else if (name == "data")
            made_.data_dir = text;
        else if (name == "idempotency_key")
            made_.idempotency_key = text;
        else if (name == "body") {
            TRY(const JsonObject body, read_body_file(text));
            for (const auto& entry : body) made_.arguments[entry.key()] = entry.value();
        } else if (operation_ == nullptr) {
            return wrong_use("Name the operation before its fields");
        } else if (name == "set") {
            return set_path(made_.arguments, operation_->input_schema(), text);
        } else {
            made_.arguments[name] = typed_value(operation_->input_schema(), name, text);
        }
        return base::ok();
    }

    const app::Catalogue& catalogue_;
    const std::vector<std::string>& words_;
    std::size_t at_ = 0;
    const app::Operation* operation_ = nullptr;
    CallArguments made_;
};

}  // namespace

base::Result<CallArguments> parse_call(const app::Catalogue& catalogue,
                                       const std::vector<std::string>& words) {
    return Parser(catalogue, words).parse();
}

std::string call_help(const app::Catalogue& catalogue) {
    std::ostringstream out;
    out << "instantstart call OPERATION [--FIELD VALUE]... [--set PATH=VALUE]... [--body FILE|-]\n"
           "                  [--dry-run] [--confirm VALUE] [--idempotency-key KEY] [--wait] [--json] [--url "
           "URL]\n\n"
           "Operations (`call OPERATION --help` lists the fields of one):\n";
    constexpr std::size_t kColumn = 26;
    for (const auto& operation : catalogue.operations()) {
        const std::string& id = operation->meta().id;
        out << "  " << id << std::string(id.size() < kColumn ? kColumn - id.size() : 1, ' ')
            << operation->meta().summary << "\n";
    }
    return out.str();
}

namespace {

void help_properties(std::ostringstream& out, const JsonObject& schema, const std::string& path) {
    const base::JsonArray& required = base::get_array(schema, "required");
    for (const auto& entry : base::get_object(schema, "properties")) {
        const JsonObject& property = entry.value().get_object();
        const std::string name =
            path.empty() ? std::string(entry.key()) : path + "." + std::string(entry.key());
        const bool needed =
            std::find(required.begin(), required.end(), JsonValue(entry.key())) != required.end();
        out << "  " << (path.empty() ? "--" : "  ") << name << " (" << base::get_string(property, "type")
            << (needed ? ", required" : "") << ")  " << base::get_string(property, "description");
        if (const JsonValue* standard = property.if_contains("default"))
            out << " Default " << base::to_text(*standard) << ".";
        if (const JsonValue* allowed = property.if_contains("enum"))
            out << " One of " << base::to_text(*allowed) << ".";
        out << "\n";
        if (property.contains("properties")) help_properties(out, property, name);
        const JsonObject& items = base::get_object(property, "items");
        if (items.contains("properties")) help_properties(out, items, name);
    }
}

}  // namespace

std::string operation_help(const app::Operation& operation) {
    std::ostringstream out;
    const app::Meta& meta = operation.meta();
    out << meta.id << "  (" << meta.method << " /api/v1" << meta.path << ")\n\n"
        << meta.summary << "\n\nFields:\n";
    help_properties(out, operation.input_schema(), "");
    if (app::is_write(meta)) {
        out << "  --dry-run  Shows the plan and does nothing.\n";
        if (meta.removes != app::Removes::never)
            out << "  --confirm VALUE  The value that is asked for where something would be removed.\n";
        if (meta.kind == app::Kind::long_running) out << "  --wait  Follows the operation to its end.\n";
    }
    return out.str();
}

}  // namespace instantstart::server
