#include "app/face_schema.h"

#include <algorithm>

namespace instantstart::app {

namespace {

JsonObject typed(const char* type) {
    JsonObject made;
    made["type"] = type;
    return made;
}

JsonObject described(const char* type, const char* sentence) {
    JsonObject made = typed(type);
    made["description"] = sentence;
    return made;
}

std::string plural(const std::string& noun) {
    if (noun == "audit") return noun;
    if (noun.ends_with("y")) return noun.substr(0, noun.size() - 1) + "ies";
    return noun + "s";
}

bool asks_confirmation(const Meta& meta) {
    return is_write(meta) && meta.removes != Removes::never;
}

bool in_path(const Meta& meta, std::string_view name) {
    const auto names = path_parameters(meta);
    return std::find(names.begin(), names.end(), name) != names.end();
}

void remove_required(JsonObject& schema, std::string_view name) {
    JsonArray kept;
    for (const JsonValue& value : base::get_array(schema, "required")) {
        if (value != JsonValue(name)) kept.push_back(value);
    }
    if (kept.empty())
        schema.erase("required");
    else
        schema["required"] = std::move(kept);
}

}  // namespace

JsonObject tool_input_schema(const Operation& operation) {
    const Meta& meta = operation.meta();
    JsonObject schema = operation.tool_schema();
    JsonObject& properties = schema["properties"].get_object();
    if (is_write(meta)) {
        if (asks_confirmation(meta)) properties["confirm"] = typed("string");
        properties["dry_run"] = typed("boolean");
        properties["idempotency_key"] = typed("string");
    } else if (in_path(meta, "cluster")) {
        remove_required(schema, "cluster");  // queries default to the active cluster
    }
    return schema;
}

JsonObject tool_output_schema(const Meta& meta) {
    JsonObject properties;
    if (meta.kind == Kind::long_running) {
        properties["operation"] = typed("object");
        properties["plan"] = typed("object");
    } else {
        properties[answer_member(meta)] = typed(answers_list(meta) ? "array" : "object");
    }
    properties["summary"] = typed("string");
    properties["resolved"] = typed("object");
    JsonObject schema = typed("object");
    schema["properties"] = std::move(properties);
    schema["required"] = JsonArray{"summary"};  // all that results and problems have in common
    return schema;
}

std::string tool_description(const Meta& meta) {
    constexpr std::size_t kLongest = 300;
    const std::string done = " Done when operation_get says succeeded.";
    const bool says = meta.summary.find("operation_get") != std::string::npos;
    if (meta.kind != Kind::long_running || says || meta.summary.size() + done.size() > kLongest)
        return meta.summary;
    return meta.summary + done;
}

JsonObject body_schema(const Operation& operation) {
    const Meta& meta = operation.meta();
    JsonObject schema = operation.input_schema();
    for (const auto& name : path_parameters(meta)) {
        schema["properties"].get_object().erase(name);
        remove_required(schema, name);
    }
    JsonObject& properties = schema["properties"].get_object();  // no member of the schema moves from here on
    if (is_write(meta)) {
        properties["dry_run"] = described("boolean", "Answers with the plan; nothing is done.");
        properties["expected_plan"] =
            described("string", "The plan_digest of a plan: refused where the plan has changed since.");
        if (asks_confirmation(meta)) {
            properties["confirm"] = described(
                "string", "The value that `confirmation_required` names, where something would be removed.");
        }
    }
    return schema;
}

JsonArray openapi_parameters(const Operation& operation) {
    const Meta& meta = operation.meta();
    JsonArray made;
    const JsonObject& properties = base::get_object(operation.input_schema(), "properties");
    const JsonArray& required = base::get_array(operation.input_schema(), "required");
    const auto add = [&made](std::string_view name, const char* in, bool needed, JsonObject schema) {
        JsonObject parameter;
        parameter["name"] = name;
        parameter["in"] = in;
        parameter["required"] = needed;
        const std::string sentence = base::get_string(schema, "description");
        if (!sentence.empty()) parameter["description"] = sentence;
        schema.erase("description");
        parameter["schema"] = std::move(schema);
        made.push_back(std::move(parameter));
    };
    for (const auto& name : path_parameters(meta))
        add(name, "path", true, base::get_object(properties, name));
    if (meta.method == "GET") {
        for (const auto& entry : properties) {
            if (in_path(meta, entry.key())) continue;
            const bool needed =
                std::find(required.begin(), required.end(), JsonValue(entry.key())) != required.end();
            add(entry.key(), "query", needed, entry.value().get_object());
        }
    }
    if (meta.method == "DELETE" && is_write(meta)) {
        add("confirm", "query", false, described("string", "As in the body."));
        add("dry_run", "query", false, described("boolean", "As in the body."));
    }
    if (meta.kind == Kind::long_running) {
        add("Idempotency-Key", "header", false,
            described("string", "The same key and body stand for the same operation, for 7 days."));
    }
    return made;
}

bool answers_list(const Meta& meta) {
    const std::string verb = verb_of(meta);
    return verb == "list" || verb == "browse";
}

std::string answer_member(const Meta& meta) {
    if (meta.kind == Kind::long_running) return "operation";
    if (meta.id == "plan.preview") return "plan";
    if (meta.id == "storage.browse") return "objects";
    return answers_list(meta) ? plural(noun_of(meta)) : noun_of(meta);
}

}  // namespace instantstart::app
