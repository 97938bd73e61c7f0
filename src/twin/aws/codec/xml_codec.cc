#include "twin/aws/codec/xml_codec.h"

#include <pugixml.hpp>

#include "base/xml_text.h"

namespace instantstart::twin::codec {

namespace {

void write_member(std::string& out, const Member& member, std::string_view name, const JsonValue& value);

std::string_view name_or(const Member& member, std::string_view otherwise) {
    return member.location_name.empty() ? otherwise : std::string_view(member.location_name);
}

void open(std::string& out, std::string_view name) {
    out.append("<").append(name).append(">");
}
void close(std::string& out, std::string_view name) {
    out.append("</").append(name).append(">");
}

void write_list(std::string& out, const Member& member, std::string_view name, const JsonArray& items) {
    const Shape& shape = *member.shape;
    if (shape.flattened || member.flattened) {
        // A flattened list is named by its items where these have a name.
        const std::string_view each = name_or(shape.element, name);
        for (const JsonValue& item : items) write_member(out, shape.element, each, item);
        return;
    }
    open(out, name);
    for (const JsonValue& item : items)
        write_member(out, shape.element, name_or(shape.element, "member"), item);
    close(out, name);
}

void write_map(std::string& out, const Member& member, std::string_view name, const JsonObject& items) {
    const Shape& shape = *member.shape;
    const bool flat = shape.flattened || member.flattened;
    const std::string_view each = flat ? name : std::string_view("entry");
    if (!flat) open(out, name);
    for (const auto& item : items) {
        open(out, each);
        write_member(out, shape.key, name_or(shape.key, "key"), JsonValue(item.key()));
        write_member(out, shape.element, name_or(shape.element, "value"), item.value());
        close(out, each);
    }
    if (!flat) close(out, name);
}

// Attributes of the start tag: namespaces and members that the model puts there.
std::string attributes(const Member& member, const JsonValue& value) {
    std::string out;
    if (!member.xml_namespace_uri.empty()) {
        out += " xmlns";
        if (!member.xml_namespace_prefix.empty()) out += ":" + member.xml_namespace_prefix;
        out += "=\"" + member.xml_namespace_uri + "\"";
    }
    if (!value.is_object() || member.shape->type != ShapeType::structure) return out;
    for (const Member& inner : member.shape->members) {
        const JsonValue* found = inner.xml_attribute ? value.as_object().if_contains(inner.name) : nullptr;
        if (found == nullptr) continue;
        out += " " + std::string(name_or(inner, inner.name)) + "=\"" +
               xml_escape(scalar_to_text(inner, *found, TimeForm::iso8601)) + "\"";
    }
    return out;
}

void write_members(std::string& out, const Shape& shape, const JsonObject& value) {
    for (const Member& member : shape.members) {
        if (!member.location.empty() || member.xml_attribute) continue;
        const JsonValue* found = value.if_contains(member.name);
        if (found != nullptr && !found->is_null())
            write_member(out, member, name_or(member, member.name), *found);
    }
}

void write_member(std::string& out, const Member& member, std::string_view name, const JsonValue& value) {
    const ShapeType type = member.shape->type;
    if (type == ShapeType::list && value.is_array()) return write_list(out, member, name, value.as_array());
    if (type == ShapeType::map && value.is_object()) return write_map(out, member, name, value.as_object());
    out.append("<").append(name).append(attributes(member, value)).append(">");
    if (type == ShapeType::structure && value.is_object()) {
        write_members(out, *member.shape, value.as_object());
    } else {
        out += xml_escape(scalar_to_text(member, value, TimeForm::iso8601));
    }
    close(out, name);
}

std::string_view local_name(const pugi::xml_node& node) {
    std::string_view name = node.name();
    const auto colon = name.find(':');
    return colon == std::string_view::npos ? name : name.substr(colon + 1);
}

JsonValue read_node(const Member& member, const pugi::xml_node& node);

JsonValue read_items(const Member& element, const pugi::xml_node& parent, std::string_view name) {
    JsonArray out;
    for (const pugi::xml_node& child : parent.children()) {
        if (child.type() == pugi::node_element && local_name(child) == name)
            out.push_back(read_node(element, child));
    }
    return out;
}

JsonValue read_structure(const Shape& shape, const pugi::xml_node& node) {
    JsonObject out;
    for (const Member& member : shape.members) {
        if (!member.location.empty()) continue;
        const std::string_view name = name_or(member, member.name);
        if (member.xml_attribute) {
            const pugi::xml_attribute found = node.attribute(std::string(name).c_str());
            if (found) out[member.name] = scalar_from_text(member, found.value());
            continue;
        }
        const bool flat =
            member.shape->type == ShapeType::list && (member.flattened || member.shape->flattened);
        if (flat) {
            JsonValue items = read_items(member.shape->element, node, name_or(member.shape->element, name));
            if (items.as_array().empty()) items = read_items(member.shape->element, node, name);
            if (!items.as_array().empty()) out[member.name] = std::move(items);
            continue;
        }
        for (const pugi::xml_node& child : node.children()) {
            if (child.type() == pugi::node_element && local_name(child) == name)
                out[member.name] = read_node(member, child);
        }
    }
    return out;
}

JsonValue read_node(const Member& member, const pugi::xml_node& node) {
    const Shape& shape = *member.shape;
    switch (shape.type) {
        case ShapeType::structure: return read_structure(shape, node);
        case ShapeType::list: return read_items(shape.element, node, name_or(shape.element, "member"));
        case ShapeType::map: {
            JsonObject out;
            const std::string key_name(name_or(shape.key, "key"));
            const std::string value_name(name_or(shape.element, "value"));
            for (const pugi::xml_node& entry : node.children("entry"))
                out[entry.child(key_name.c_str()).text().get()] =
                    read_node(shape.element, entry.child(value_name.c_str()));
            return out;
        }
        default: return scalar_from_text(member, node.text().get());
    }
}

}  // namespace

std::string xml_escape(std::string_view text) {
    std::string out;
    out.reserve(text.size());
    for (const char c : text) {
        switch (c) {
            case '&': out += "&amp;"; break;
            case '<': out += "&lt;"; break;
            case '>': out += "&gt;"; break;
            case '"': out += "&quot;"; break;
            case '\r': out += "&#13;"; break;
            default: out += c;
        }
    }
    return out;
}

std::string write_xml_members(const Shape& shape, const JsonObject& value) {
    std::string out;
    write_members(out, shape, value);
    return out;
}

std::string write_xml(const Shape& shape, const JsonObject& value, std::string_view name,
                      std::string_view xml_namespace) {
    std::string out = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<";
    out += name;
    if (!xml_namespace.empty()) out.append(" xmlns=\"").append(xml_namespace).append("\"");
    out += ">";
    write_members(out, shape, value);
    close(out, name);
    return out;
}

base::Result<JsonValue> read_xml(const Member& member, std::string_view document) {
    pugi::xml_document parsed;
    const bool loaded = base::is_xml_text(document) && parsed.load_buffer(document.data(), document.size());
    if (!loaded || !parsed.document_element())
        return base::invalid_error("MalformedXML",
                                   "The XML you provided was not well-formed or did not validate.");
    return read_node(member, parsed.document_element());
}

}  // namespace instantstart::twin::codec
