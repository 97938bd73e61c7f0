#include "api/rest/openapi.h"

#include "api/auth.h"
#include "app/face_schema.h"
#include "base/check.h"
#include "base/text.h"

namespace instantstart::api {

namespace {

using app::Kind;
using app::Meta;
using app::Operation;
using base::JsonArray;
using base::JsonObject;
using base::JsonValue;

// The parts that are the same for every operation.
constexpr const char* kComponents = R"json({
  "securitySchemes": {
    "bearer": {"type": "http", "scheme": "bearer", "description": "A token with a role: viewer, operator or admin."},
    "session": {"type": "apiKey", "in": "cookie", "name": "instantstart_session", "description": "The browser's session."}
  },
  "responses": {
    "Problem": {"description": "Refused or failed: a problem document of RFC 9457.",
      "content": {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}}}
  },
  "schemas": {
    "FieldError": {"type": "object", "required": ["pointer", "message"], "properties": {
      "pointer": {"type": "string", "description": "JSON Pointer into the request."},
      "message": {"type": "string"},
      "allowed": {"type": "array", "items": {"type": "string"}},
      "did_you_mean": {"type": "string"}}},
    "Problem": {"type": "object", "required": ["type", "title", "status", "detail", "code", "retryable", "changed"], "properties": {
      "type": {"type": "string"}, "title": {"type": "string"}, "status": {"type": "integer"}, "detail": {"type": "string"},
      "code": {"type": "string", "description": "Stable name of the case."},
      "errors": {"type": "array", "items": {"$ref": "#/components/schemas/FieldError"}},
      "hint": {"type": "string", "description": "What the caller can do about it."},
      "retryable": {"type": "boolean"}, "retry_after_seconds": {"type": "integer"},
      "changed": {"description": "false, or what had already been done."},
      "aws_request_id": {"type": "string"},
      "missing_action": {"type": "string", "description": "aws_access_denied: the IAM action that was refused."},
      "resource": {"type": "string", "description": "aws_access_denied: the ARN it was refused on."},
      "statement": {"type": "string", "description": "aws_access_denied: the statement of the printed policy that allows it; A or B where tags decide."},
      "policy": {"type": "object", "description": "aws_access_denied: a policy document that would allow it."}}},
    "Resolved": {"type": "object", "description": "What the request acted on.", "properties": {
      "cluster": {"type": "string"}, "account": {"type": "string"}, "region": {"type": "string"}}},
    "Step": {"type": "object", "required": ["id", "title", "state"], "properties": {
      "id": {"type": "string"}, "title": {"type": "string"},
      "state": {"type": "string", "enum": ["pending", "running", "waiting", "succeeded", "skipped", "failed", "cancelled"]},
      "attempt": {"type": "integer"}, "started_at": {"type": "string", "format": "date-time"},
      "ended_at": {"type": "string", "format": "date-time"}, "detail": {"type": "string"}, "error": {"type": "object"}}},
    "Operation": {"type": "object", "required": ["id", "name", "resource", "state"], "properties": {
      "id": {"type": "string"}, "name": {"type": "string"}, "resource": {"type": "string"},
      "state": {"type": "string", "enum": ["pending", "running", "waiting", "succeeded", "failed", "cancelled"]},
      "phase": {"type": "string"}, "progress": {"type": "number", "minimum": 0, "maximum": 1}, "eta_seconds": {"type": "number"},
      "no_change": {"type": "boolean"}, "steps": {"type": "array", "items": {"$ref": "#/components/schemas/Step"}},
      "result": {"type": "object"}, "error": {"type": "object"}, "conditions": {},
      "requested_by": {"type": "object", "properties": {"principal": {"type": "string"}, "face": {"type": "string"}}}}},
    "Plan": {"type": "object", "required": ["plan_digest"], "properties": {
      "operation": {"type": "string"}, "resource": {"type": "string"},
      "steps": {"type": "array", "items": {"type": "object", "properties": {
        "id": {"type": "string"}, "title": {"type": "string"}, "action": {"type": "string"}}}},
      "creates": {"type": "array", "items": {"type": "string"}}, "changes": {"type": "array", "items": {"type": "string"}},
      "removes": {"type": "array", "items": {"type": "string"}}, "quota": {"type": "array", "items": {"type": "object"}},
      "addresses": {"type": "array", "items": {"type": "object"}},
      "cost": {"type": "object"}, "warnings": {"type": "array", "items": {"type": "string"}},
      "no_change": {"type": "boolean"}, "confirm": {"type": "string"}, "plan_digest": {"type": "string"}}},
    "Started": {"type": "object", "required": ["operation", "status_tool"], "properties": {
      "operation": {"$ref": "#/components/schemas/Operation"}, "status_tool": {"type": "string"},
      "poll_after_seconds": {"type": "integer"}, "replayed": {"type": "boolean"},
      "resolved": {"$ref": "#/components/schemas/Resolved"}}},
    "Planned": {"type": "object", "required": ["plan"], "properties": {
      "plan": {"$ref": "#/components/schemas/Plan"}, "resolved": {"$ref": "#/components/schemas/Resolved"}}}
  }
})json";

JsonObject reference(const std::string& name) {
    JsonObject made;
    made["$ref"] = "#/components/" + name;
    return made;
}

JsonObject json_content(JsonObject schema) {
    JsonObject media;
    media["schema"] = std::move(schema);
    JsonObject content;
    content["application/json"] = std::move(media);
    return content;
}

JsonObject response_of(const char* description, JsonObject schema) {
    JsonObject made;
    made["description"] = description;
    made["content"] = json_content(std::move(schema));
    return made;
}

JsonObject any_of(JsonObject first, JsonObject second) {
    JsonObject made;
    made["anyOf"] = JsonArray{std::move(first), std::move(second)};
    return made;
}

// The answer of a query or a mutation: one named member, and what comes with it.
JsonObject answer_schema(const Meta& meta) {
    JsonObject member;
    const bool list = app::answers_list(meta);
    const std::string name = app::answer_member(meta);
    JsonObject item;
    item["type"] = "object";
    if (name == "operation" || name == "operations") item = reference("schemas/Operation");
    if (name == "plan") item = reference("schemas/Plan");
    if (list) {
        member["type"] = "array";
        member["items"] = std::move(item);
    } else {
        member = std::move(item);
    }
    JsonObject properties;
    properties[name] = std::move(member);
    if (list) {
        for (const auto& [key, type] :
             {std::pair{"total", "integer"}, {"next_cursor", "string"}, {"truncated", "boolean"}}) {
            JsonObject typed;
            typed["type"] = type;
            properties[key] = std::move(typed);
        }
    }
    properties["resolved"] = reference("schemas/Resolved");
    JsonObject schema;
    schema["type"] = "object";
    schema["required"] = JsonArray{JsonValue(name)};
    schema["properties"] = std::move(properties);
    return schema;
}

JsonObject responses_of(const Meta& meta) {
    JsonObject made;
    if (meta.kind == Kind::long_running) {
        made["200"] = response_of("Already ended (nothing to do, or a replay), or the plan of a dry run.",
                                  any_of(reference("schemas/Started"), reference("schemas/Planned")));
        made["202"] = response_of("Under way.", reference("schemas/Started"));
    } else if (meta.kind == Kind::mutation) {
        made["200"] = response_of("Done; or the plan of a dry run.",
                                  any_of(answer_schema(meta), reference("schemas/Planned")));
    } else {
        made["200"] = response_of("The answer.", answer_schema(meta));
    }
    made["default"] = reference("responses/Problem");
    return made;
}

const char* kind_name(Kind kind) {
    switch (kind) {
        case Kind::query: return "query";
        case Kind::mutation: return "mutation";
        case Kind::long_running: return "long_running";
    }
    return "query";
}

const char* removes_name(app::Removes removes) {
    switch (removes) {
        case app::Removes::never: return "never";
        case app::Removes::by_plan: return "by_plan";
        case app::Removes::always: return "always";
    }
    return "never";
}

JsonObject operation_object(const Operation& operation) {
    const Meta& meta = operation.meta();
    JsonObject made;
    made["operationId"] = app::tool_name(meta);
    made["summary"] = meta.summary;
    made["tags"] = JsonArray{JsonValue(meta.area)};
    JsonArray parameters = app::openapi_parameters(operation);
    if (!parameters.empty()) made["parameters"] = std::move(parameters);
    if (meta.method != "GET") {
        JsonObject body;
        JsonObject schema = app::body_schema(operation);
        body["required"] = schema.contains("required");
        body["content"] = json_content(std::move(schema));
        made["requestBody"] = std::move(body);
    }
    made["responses"] = responses_of(meta);
    made["x-instantstart-id"] = meta.id;
    made["x-instantstart-kind"] = kind_name(meta.kind);
    made["x-instantstart-removes"] = removes_name(meta.removes);
    made["x-instantstart-role"] = role_name(meta.role);
    return made;
}

}  // namespace

JsonObject openapi_document(const app::Catalogue& catalogue, const std::string& version) {
    JsonObject info;
    info["title"] = "InstantStart";
    info["version"] = version;
    info["description"] = "Control plane for SageMaker HyperPod clusters orchestrated by Amazon EKS.";
    JsonObject license;
    license["name"] = "Apache-2.0";
    license["identifier"] = "Apache-2.0";
    info["license"] = std::move(license);
    JsonObject document;
    document["openapi"] = "3.1.0";
    document["info"] = std::move(info);
    JsonObject server;
    server["url"] = "/api/v1";
    document["servers"] = JsonArray{std::move(server)};
    document["security"] =
        JsonArray{JsonObject{{"bearer", JsonArray()}}, JsonObject{{"session", JsonArray()}}};
    JsonObject paths;
    for (const auto& operation : catalogue.operations()) {
        JsonValue& item = paths[operation->meta().path];
        if (!item.is_object()) item = JsonObject();
        item.get_object()[base::to_lower(operation->meta().method)] = operation_object(*operation);
    }
    document["paths"] = std::move(paths);
    auto components = base::parse_json(kComponents);
    CHECK(components.has_value());
    document["components"] = std::move(components).value();
    return document;
}

}  // namespace instantstart::api
