#include <pugixml.hpp>
#include <sstream>

#include "aws/codec/values.h"
#include "aws/codec/writers.h"

namespace instantstart::aws::codec {

namespace {

void write_node(pugi::xml_node parent, const model::Member& member, const std::string& name,
                const base::JsonValue& value);

void add_namespace(pugi::xml_node node, const model::Member& member) {
    if (member.xml_namespace_uri.empty()) return;
    const std::string attribute =
        member.xml_namespace_prefix.empty() ? "xmlns" : "xmlns:" + member.xml_namespace_prefix;
    node.append_attribute(attribute.c_str()) = member.xml_namespace_uri.c_str();
}

std::string wire_name(const model::Member& member, const std::string& otherwise) {
    return member.location_name.empty() ? otherwise : member.location_name;
}

void write_structure(pugi::xml_node node, const model::Shape& shape, const base::JsonObject& object) {
    for (const auto& entry : object) {
        const model::Member* member = shape.member(entry.key());
        if (member == nullptr || !member->location.empty() || entry.value().is_null()) continue;
        const std::string name = wire_name(*member, member->name);
        if (member->xml_attribute) {
            node.append_attribute(name.c_str()) =
                scalar_text(*member, entry.value(), TimeFormat::iso8601).c_str();
        } else {
            write_node(node, *member, name, entry.value());
        }
    }
}

void write_list(pugi::xml_node parent, const model::Member& member, const std::string& name,
                const base::JsonArray& items) {
    const model::Member& element = member.shape->element;
    pugi::xml_node list = parent;
    if (!member.flattened) {
        list = parent.append_child(name.c_str());
        add_namespace(list, member);
    }
    const std::string item_name = member.flattened ? name : wire_name(element, "member");
    for (const auto& item : items) write_node(list, element, item_name, item);
}

void write_map(pugi::xml_node parent, const model::Member& member, const std::string& name,
               const base::JsonObject& entries) {
    pugi::xml_node map = parent;
    if (!member.flattened) {
        map = parent.append_child(name.c_str());
        add_namespace(map, member);
    }
    const model::Shape& shape = *member.shape;
    for (const auto& entry : entries) {
        pugi::xml_node pair = map.append_child(member.flattened ? name.c_str() : "entry");
        write_node(pair, shape.key, wire_name(shape.key, "key"), base::JsonValue(entry.key()));
        write_node(pair, shape.element, wire_name(shape.element, "value"), entry.value());
    }
}

void write_node(pugi::xml_node parent, const model::Member& member, const std::string& name,
                const base::JsonValue& value) {
    if (value.is_null()) return;
    if (member.shape->type == model::ShapeType::list) {
        if (value.is_array()) write_list(parent, member, name, value.get_array());
        return;
    }
    if (member.shape->type == model::ShapeType::map) {
        if (value.is_object()) write_map(parent, member, name, value.get_object());
        return;
    }
    pugi::xml_node node = parent.append_child(name.c_str());
    add_namespace(node, member);
    if (member.shape->type == model::ShapeType::structure) {
        if (value.is_object()) write_structure(node, *member.shape, value.get_object());
        return;
    }
    const std::string text = scalar_text(member, value, TimeFormat::iso8601);
    if (!text.empty()) node.text().set(text.c_str());
}

// Line ends in values, which readers of XML would turn into others. The document has none of its own.
std::string with_line_ends_escaped(const std::string& text) {
    if (text.find_first_of("\r\n") == std::string::npos) return text;
    std::string out;
    for (const char c : text) {
        if (c == '\r') {
            out += "&#xD;";
        } else if (c == '\n') {
            out += "&#xA;";
        } else {
            out += c;
        }
    }
    return out;
}

}  // namespace

std::string write_xml(const model::Member& root, const std::string& name, const base::JsonValue& value) {
    pugi::xml_document document;
    write_node(document, root, name, value);
    std::ostringstream out;
    document.save(out, "", pugi::format_raw | pugi::format_no_declaration, pugi::encoding_utf8);
    return with_line_ends_escaped(out.str());
}

}  // namespace instantstart::aws::codec
