#include "twin/aws/codec/query_codec.h"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>

#include "base/text.h"

namespace instantstart::twin::codec {

namespace {

// The dotted names as a tree: Filter.1.Value.2 → Filter / 1 / Value / 2.
struct Node {
    Node() = default;
    std::optional<std::string> text;
    std::map<std::string, std::unique_ptr<Node>, std::less<>> children;
    const Node* child(std::string_view name) const {
        const auto found = children.find(name);
        return found == children.end() ? nullptr : found->second.get();
    }
};

constexpr std::size_t kMaxDepth = 24;

std::unique_ptr<Node> tree_of(const FormFields& fields) {
    auto root = std::make_unique<Node>();
    for (const auto& [name, value] : fields) {
        const std::vector<std::string> parts = base::split(name, '.');
        if (parts.size() > kMaxDepth) continue;
        Node* at = root.get();
        for (const std::string& part : parts) {
            auto& next = at->children[part];
            if (!next) next = std::make_unique<Node>();
            at = next.get();
        }
        at->text = value;
    }
    return root;
}

std::string upper_first(std::string text) {
    if (!text.empty() && text[0] >= 'a' && text[0] <= 'z') text[0] = static_cast<char>(text[0] - 'a' + 'A');
    return text;
}

std::string wire_name(const Member& member, FormStyle style) {
    if (style == FormStyle::ec2) {
        if (!member.query_name.empty()) return member.query_name;
        return upper_first(member.location_name.empty() ? member.name : member.location_name);
    }
    // A flattened list is named by its items.
    const Shape& shape = *member.shape;
    if (shape.type == ShapeType::list && (shape.flattened || member.flattened) &&
        !shape.element.location_name.empty())
        return shape.element.location_name;
    return member.location_name.empty() ? member.name : member.location_name;
}

// Children named 1, 2, 3… in the order of their numbers.
std::vector<const Node*> numbered(const Node& node) {
    std::vector<std::pair<std::int64_t, const Node*>> found;
    for (const auto& [name, child] : node.children) {
        if (name.empty() || name.size() > 6 ||
            !std::all_of(name.begin(), name.end(), [](char c) { return c >= '0' && c <= '9'; }))
            continue;
        found.emplace_back(std::stoll(name), child.get());
    }
    std::sort(found.begin(), found.end());
    std::vector<const Node*> out;
    out.reserve(found.size());
    for (const auto& [number, child] : found) out.push_back(child);
    return out;
}

JsonValue value_of(const Member& member, const Node& node, FormStyle style);

JsonObject structure_of(const Shape& shape, const Node& node, FormStyle style) {
    JsonObject out;
    for (const Member& member : shape.members) {
        const Node* found = node.child(wire_name(member, style));
        // Some SDKs and people write ec2 lists by the plain member name.
        if (found == nullptr && style == FormStyle::ec2) found = node.child(member.name);
        if (found != nullptr) out[member.name] = value_of(member, *found, style);
    }
    return out;
}

JsonValue list_of(const Member& member, const Node& node, FormStyle style) {
    const Shape& shape = *member.shape;
    const bool flat = style == FormStyle::ec2 || shape.flattened || member.flattened;
    const Node* holder = &node;
    if (!flat) {
        const std::string name = shape.element.location_name.empty() ? "member" : shape.element.location_name;
        holder = node.child(name);
        if (holder == nullptr) holder = node.child("member");
    }
    JsonArray out;
    if (holder == nullptr) return out;
    for (const Node* item : numbered(*holder)) out.push_back(value_of(shape.element, *item, style));
    return out;
}

JsonValue map_of(const Member& member, const Node& node, FormStyle style) {
    const Shape& shape = *member.shape;
    const Node* holder = shape.flattened || member.flattened ? &node : node.child("entry");
    JsonObject out;
    if (holder == nullptr) return out;
    const std::string key_name = shape.key.location_name.empty() ? "key" : shape.key.location_name;
    const std::string value_name =
        shape.element.location_name.empty() ? "value" : shape.element.location_name;
    for (const Node* item : numbered(*holder)) {
        const Node* key = item->child(key_name);
        const Node* value = item->child(value_name);
        if (key != nullptr && key->text && value != nullptr)
            out[*key->text] = value_of(shape.element, *value, style);
    }
    return out;
}

JsonValue value_of(const Member& member, const Node& node, FormStyle style) {
    switch (member.shape->type) {
        case ShapeType::structure: return structure_of(*member.shape, node, style);
        case ShapeType::list: return list_of(member, node, style);
        case ShapeType::map: return map_of(member, node, style);
        default: return scalar_from_text(member, node.text.value_or(""));
    }
}

}  // namespace

FormFields parse_form(std::string_view body) {
    FormFields out;
    for (const std::string& pair : base::split(body, '&')) {
        if (pair.empty()) continue;
        const auto equals = pair.find('=');
        const auto decode = [](std::string text) {
            std::replace(text.begin(), text.end(), '+', ' ');
            return base::percent_decode(text);
        };
        out.emplace_back(decode(pair.substr(0, equals)),
                         equals == std::string::npos ? std::string() : decode(pair.substr(equals + 1)));
    }
    return out;
}

JsonObject from_form(const Shape& input, const FormFields& fields, FormStyle style,
                     std::vector<std::string>& unknown) {
    const std::unique_ptr<Node> tree = tree_of(fields);
    for (const auto& [name, child] : tree->children) {
        if (name == "Action" || name == "Version" || name.starts_with("X-Amz-")) continue;
        const std::string& wire = name;
        const bool known =
            std::any_of(input.members.begin(), input.members.end(), [&wire, style](const Member& member) {
                return wire_name(member, style) == wire || member.name == wire;
            });
        if (!known) unknown.push_back(name);
    }
    return structure_of(input, *tree, style);
}

}  // namespace instantstart::twin::codec
