#include <algorithm>
#include <boost/container/small_vector.hpp>
#include <pugixml.hpp>
#include <utility>

#include "aws/codec/readers.h"
#include "aws/codec/values.h"
#include "base/text.h"
#include "base/xml_text.h"

namespace instantstart::aws::codec {

namespace {

bool is_text(const pugi::xml_node& node) {
    return node.type() == pugi::node_pcdata || node.type() == pugi::node_cdata;
}

// The text of an element: mostly one piece, which stays where it is. `joined` holds it where it is several.
std::string_view text_of(const pugi::xml_node& node, std::string& joined) {
    const pugi::xml_node first = node.first_child();
    if (!first) return {};
    if (is_text(first) && !first.next_sibling()) return first.value();
    for (pugi::xml_node child = first; child; child = child.next_sibling()) {
        if (is_text(child)) joined += child.value();
    }
    return joined;
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
    std::string joined;
    if (key && value) out[text_of(key, joined)] = read_xml(shape.element, value);
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

// The child elements of an element by their names, which are read once: a structure asks for each of its
// members, whether it is there or not. Services write them nearly in the order of their models, so looking on
// from the last one found mostly finds the next at once.
class Children {
public:
    explicit Children(const pugi::xml_node& parent) {
        for (pugi::xml_node child = parent.first_child(); child; child = child.next_sibling()) {
            if (is_element(child)) list_.emplace_back(local_name(child), child);
        }
    }

    std::size_t size() const { return list_.size(); }

    // The first child of that name, where names do not repeat.
    pugi::xml_node named(std::string_view name) {
        const auto same = [name](const auto& each) { return each.first == name; };
        const auto start = list_.begin() + static_cast<std::ptrdiff_t>(at_);
        auto found = std::find_if(start, list_.end(), same);
        if (found == list_.end()) {
            found = std::find_if(list_.begin(), start, same);
            if (found == start) return pugi::xml_node();
        }
        at_ = static_cast<std::size_t>(found - list_.begin()) + 1;
        return found->second;
    }

private:
    static constexpr std::size_t kUsual = 40;
    boost::container::small_vector<std::pair<std::string_view, pugi::xml_node>, kUsual> list_;
    std::size_t at_ = 0;
};

// The attribute of that name; the part before a colon may be another one for the same namespace (xsi:type).
pugi::xml_attribute attribute_named(const pugi::xml_node& node, std::string_view name) {
    const std::size_t colon = name.find(':');
    for (const pugi::xml_attribute& attribute : node.attributes()) {
        const std::string_view own = attribute.name();
        if (own == name) return attribute;
        const std::size_t own_colon = own.find(':');
        if (colon != std::string_view::npos && own_colon != std::string_view::npos &&
            !own.starts_with("xmlns") && own.substr(own_colon) == name.substr(colon)) {
            return attribute;
        }
    }
    return {};
}

}  // namespace

bool load_xml(pugi::xml_document& document, std::string_view text) {
    // What is read here goes on as JSON, which is UTF-8 and nothing else.
    if (!base::is_xml_text(text)) return false;
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
    Children children(node);
    out.reserve(std::min(children.size(), shape.members.size()));
    for (const model::Member& member : shape.members) {
        if (stands_in_head(member)) continue;
        const model::ShapeType type = member.shape->type;
        if (member.flattened && (type == model::ShapeType::list || type == model::ShapeType::map)) {
            read_flattened(member, node, out);
            continue;
        }
        if (member.xml_attribute) {
            const pugi::xml_attribute attribute = attribute_named(node, element_name(member));
            if (attribute) out[member.name] = read_scalar(*member.shape, attribute.value());
            continue;
        }
        const pugi::xml_node child = children.named(element_name(member));
        if (child) out.emplace(member.name, read_xml(member, child));
    }
    return out;
}

base::JsonValue read_xml(const model::Member& member, const pugi::xml_node& node) {
    const model::Shape& shape = *member.shape;
    switch (shape.type) {
        case model::ShapeType::structure: return read_xml_members(shape, node);
        case model::ShapeType::list: {
            base::JsonArray out;
            for (pugi::xml_node child = node.first_child(); child; child = child.next_sibling()) {
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
            std::string joined;
            const std::string_view text = text_of(node, joined);
            // IAM percent-encodes the policies that it answers; everybody wants the JSON.
            const bool encoded = shape.name == "policyDocumentType" && text.starts_with("%7B");
            if (!encoded) return read_scalar(shape, text);
            return read_scalar(shape, base::percent_decode(text));
        }
    }
}

}  // namespace instantstart::aws::codec
