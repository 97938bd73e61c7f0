// The models in the binary. Each is parsed when it is first asked for, by whichever thread asks (product and
// twin have one each), and stays for the life of the process.
#include "base/embedded.h"

#include <mutex>

#include "aws/model/model.h"
#include "base/check.h"

namespace instantstart::aws::model {

namespace {

constexpr std::string_view kSuffix = ".json";
constexpr std::string_view kActions = "iam-actions.json";

struct Slot {
    std::once_flag once;
    std::string_view text;
    std::unique_ptr<Service> service;
};

std::map<std::string, Slot, std::less<>> make_slots() {
    std::map<std::string, Slot, std::less<>> slots;
    for (const base::EmbeddedFile& file : embedded::models()) {
        if (file.name == kActions || !file.name.ends_with(kSuffix)) continue;
        slots[std::string(file.name.substr(0, file.name.size() - kSuffix.size()))].text = file.content;
    }
    return slots;
}

std::map<std::string, Slot, std::less<>>& slots() {
    static std::map<std::string, Slot, std::less<>> kSlots = make_slots();
    return kSlots;
}

}  // namespace

const std::vector<std::string>& embedded_names() {
    static const std::vector<std::string> kNames = [] {
        std::vector<std::string> names;
        for (const auto& entry : slots()) names.push_back(entry.first);
        return names;
    }();
    return kNames;
}

const Service* embedded(std::string_view name) {
    const auto found = slots().find(name);
    if (found == slots().end()) return nullptr;
    Slot& slot = found->second;
    std::call_once(slot.once, [&slot] {
        auto loaded = load(slot.text);
        CHECK(loaded.has_value());  // a test loads every one
        slot.service = std::move(loaded).value();
    });
    return slot.service.get();
}

}  // namespace instantstart::aws::model
