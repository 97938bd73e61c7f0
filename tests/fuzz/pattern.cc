// A pattern of a model, or any text as one, against any value.
#include "aws/model/pattern.h"

#include "aws/model/model.h"
#include "input.h"

namespace {

using instantstart::aws::model::Pattern;

std::vector<const Pattern*> patterns_of_models() {
    namespace model = instantstart::aws::model;
    std::vector<const Pattern*> found;
    for (const std::string& name : model::embedded_names()) {
        for (const auto& entry : model::embedded(name)->shapes) {
            if (entry.second->compiled_pattern) found.push_back(entry.second->compiled_pattern.get());
        }
    }
    return found;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace instantstart;
    static const std::vector<const Pattern*> kPatterns = patterns_of_models();
    fuzz::Input input(data, size);
    if (input.number(4) != 0) {
        // Values come from users, patterns from AWS: the first is the common case.
        kPatterns[input.number(kPatterns.size())]->matches(input.rest());
        return 0;
    }
    const std::string_view text = input.until("\n");
    constexpr std::size_t kLongest = 300;
    const auto pattern = text.size() > kLongest ? nullptr : Pattern::compile(text);
    if (pattern) pattern->matches(input.rest().substr(0, kLongest));
    return 0;
}
