#include <pugixml.hpp>

#include "aws/codec/readers.h"
#include "aws/codec/values.h"
#include "base/text.h"

namespace instantstart::aws::codec {

namespace {

std::string text_of(const pugi::xml_node& node) {
    std::string text;
    for (const pugi::xml_node& child : node.children()) {
        if (child.type() == pugi::node_pcdata || child.type() == pugi::node_cdata) text += child.value();
    }
    return text;
}

bool is_element(const pugi::xml_node& node) {
    return node.type() == pugi::node_element;
}

// The element that holds a member: a flattened list of named items goes by its items' name.
const std::string& element_name(const model::Member& member) {
    const bool flat_list = member.shape->type == model::ShapeType::list && member.flattened;
    if (flat_list && !member.shape->element.location_name.empty()) return member.shape->element.location_name;
    return member.location_name.empty() ? member.name : member.location_name;
}

void read_entry(const model::Shape& shape, const pugi::xml_node& entry, base::JsonObject& out) {
    const std::string& key_name = shape.key.location_name.empty() ? "key" : shape.key.location_name;
    const std::string& value_name =
        shape.element.location_name.empty() ? "value" : shape.element.location_name;
    const pugi::xml_node key = child_named(entry, key_name);
    const pugi::xml_node value = child_named(entry, value_name);
    if (key && value) out[text_of(key)] = read_xml(shape.element, value);
}

// Flattened lists and maps: their elements stand among their parent's, one per item.
void read_flattened(const model::Member& member, const pugi::xml_node& parent, base::JsonObject& out) {
    const std::string& name = element_name(member);
    base::JsonArray items;
    base::JsonObject entries;
    bool found = false;
    for (const pugi::xml_node& child : parent.children()) {
        if (!is_element(child) || local_name(child) != name) continue;
        found = true;
        if (member.shape->type == model::ShapeType::list) {
            items.push_back(read_xml(member.shape->element, child));
        } else {
            read_entry(*member.shape, child, entries);
        }
    }
    if (!found) return;
    if (member.shape->type == model::ShapeType::list) {
        out[member.name] = std::move(items);
    } else {
        out[member.name] = std::move(entries);
    }
}

}  // namespace

bool load_xml(pugi::xml_document& document, std::string_view text) {
    const auto loaded = document.load_buffer(
        text.data(), text.size(), pugi::parse_default | pugi::parse_ws_pcdata_single, pugi::encoding_utf8);
    return loaded.status == pugi::status_ok && document.document_element();
}

std::string_view local_name(const pugi::xml_node& node) {
    const std::string_view name = node.name();
    const std::size_t colon = name.find(':');
    return colon == std::string_view::npos ? name : name.substr(colon + 1);
}

pugi::xml_node child_named(const pugi::xml_node& node, std::string_view name) {
    for (const pugi::xml_node& child : node.children()) {
        if (is_element(child) && local_name(child) == name) return child;
    }
    return {};
}

base::JsonObject read_xml_members(const model::Shape& shape, const pugi::xml_node& node) {
    base::JsonObject out;
    for (const model::Member& member : shape.members) {
        if (stands_in_head(member)) continue;
        const model::ShapeType type = member.shape->type;
        if (member.flattened && (type == model::ShapeType::list || type == model::ShapeType::map)) {
            read_flattened(member, node, out);
            continue;
        }
        if (member.xml_attribute) {
            const pugi::xml_attribute attribute = node.attribute(element_name(member).c_str());
            if (attribute) out[member.name] = read_scalar(*member.shape, attribute.value());
            continue;
        }
        const pugi::xml_node child = child_named(node, element_name(member));
        if (child) out[member.name] = read_xml(member, child);
    }
    return out;
}

base::JsonValue read_xml(const model::Member& member, const pugi::xml_node& node) {
    const model::Shape& shape = *member.shape;
    switch (shape.type) {
        case model::ShapeType::structure: return read_xml_members(shape, node);
        case model::ShapeType::list: {
            base::JsonArray out;
            for (const pugi::xml_node& child : node.children()) {
                if (is_element(child)) out.push_back(read_xml(shape.element, child));
            }
            return out;
        }
        case model::ShapeType::map: {
            base::JsonObject out;
            for (const pugi::xml_node& child : node.children()) {
                if (is_element(child)) read_entry(shape, child, out);
            }
            return out;
        }
        default: {
            const std::string text = text_of(node);
            // IAM percent-encodes the policies that it answers; everybody wants the JSON.
            const bool encoded = shape.name == "policyDocumentType" && text.starts_with("%7B");
            return read_scalar(shape, encoded ? base::percent_decode(text) : text);
        }
    }
}

}  // namespace instantstart::aws::codec
