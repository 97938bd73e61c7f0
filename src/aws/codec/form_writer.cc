// Forms of the query and ec2 protocols: nested values as dotted names, counted from 1.
#include <cctype>

#include "aws/codec/values.h"
#include "aws/codec/writers.h"
#include "base/text.h"

namespace instantstart::aws::codec {

namespace {

class FormWriter {
public:
    explicit FormWriter(FormDialect dialect) : dialect_(dialect) {}

    Form take() { return std::move(form_); }

    void write_structure(const model::Shape& shape, const base::JsonObject& object,
                         const std::string& prefix) {
        for (const auto& entry : object) {
            const model::Member* member = shape.member(entry.key());
            if (member == nullptr || entry.value().is_null()) continue;
            const std::string name = name_of(*member, member->name);
            write(*member, entry.value(), prefix.empty() ? name : prefix + "." + name);
        }
    }

private:
    void write(const model::Member& member, const base::JsonValue& value, const std::string& prefix) {
        switch (member.shape->type) {
            case model::ShapeType::structure:
                if (value.is_object()) write_structure(*member.shape, value.get_object(), prefix);
                return;
            case model::ShapeType::list:
                if (value.is_array()) write_list(member, value.get_array(), prefix);
                return;
            case model::ShapeType::map:
                if (value.is_object()) write_map(member, value.get_object(), prefix);
                return;
            default: form_.emplace_back(prefix, scalar_text(member, value, TimeFormat::iso8601));
        }
    }

    void write_list(const model::Member& member, const base::JsonArray& items, const std::string& prefix) {
        if (items.empty() && dialect_ == FormDialect::query) form_.emplace_back(prefix, "");
        const model::Member& element = member.shape->element;
        std::string items_prefix = prefix;
        if (dialect_ == FormDialect::query && !member.flattened) {
            items_prefix += "." + (element.location_name.empty() ? "member" : element.location_name);
        } else if (dialect_ == FormDialect::query && !element.location_name.empty()) {
            // A flattened list takes the name of its items in place of its own.
            const std::size_t dot = prefix.rfind('.');
            items_prefix =
                (dot == std::string::npos ? "" : prefix.substr(0, dot + 1)) + element.location_name;
        }
        std::size_t index = 0;
        for (const auto& item : items) write(element, item, items_prefix + "." + std::to_string(++index));
    }

    void write_map(const model::Member& member, const base::JsonObject& entries, const std::string& prefix) {
        const std::string start = member.flattened ? prefix : prefix + ".entry";
        std::size_t index = 0;
        for (const auto& entry : entries) {
            const std::string at = start + "." + std::to_string(++index) + ".";
            const model::Shape& shape = *member.shape;
            write(shape.key, base::JsonValue(entry.key()), at + name_of(shape.key, "key"));
            write(shape.element, entry.value(), at + name_of(shape.element, "value"));
        }
    }

    std::string name_of(const model::Member& member, const std::string& otherwise) const {
        if (dialect_ == FormDialect::query)
            return member.location_name.empty() ? otherwise : member.location_name;
        if (!member.query_name.empty()) return member.query_name;
        std::string name = member.location_name.empty() ? otherwise : member.location_name;
        // EC2's names begin with a capital where the answer's begin without.
        if (!member.location_name.empty()) {
            name[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(name[0])));
        }
        return name;
    }

    FormDialect dialect_;
    Form form_;
};

}  // namespace

Form write_form(const model::Shape& shape, const base::JsonObject& parameters, FormDialect dialect) {
    FormWriter writer(dialect);
    writer.write_structure(shape, parameters, "");
    return writer.take();
}

std::string form_text(const Form& form) {
    std::string text;
    for (const auto& [name, value] : form) {
        if (!text.empty()) text += '&';
        text += base::percent_encode(name) + "=" + base::percent_encode(value);
    }
    return text;
}

}  // namespace instantstart::aws::codec
