#include "twin/kube/controllers/logs.h"

namespace instantstart::twin::kube::controllers {

namespace {
constexpr std::size_t kLinesMost = 100'000;
}

const std::vector<std::string>* Logs::find(std::string_view ns, std::string_view pod,
                                           std::string_view container) const {
    const auto found = logs_.find(Key(std::string(ns), std::string(pod)));
    if (found == logs_.end()) return nullptr;
    const auto log = found->second.find(container);
    return log == found->second.end() ? nullptr : &log->second;
}

void Logs::append(const Key& pod, const std::string& container, const std::vector<std::string>& lines) {
    auto& log = logs_[pod][container];
    log.insert(log.end(), lines.begin(), lines.end());
    if (log.size() > kLinesMost) log.erase(log.begin(), log.end() - static_cast<std::ptrdiff_t>(kLinesMost));
    tell(pod);
}

void Logs::tell(const Key& pod) const {
    const auto callbacks = callbacks_;
    for (const auto& weak : callbacks) {
        if (const auto callback = weak.lock()) (*callback)(pod.ns, pod.name);
    }
}

std::shared_ptr<void> Logs::subscribe(Callback callback) {
    auto held = std::make_shared<Callback>(std::move(callback));
    std::erase_if(callbacks_, [](const auto& weak) { return weak.expired(); });
    callbacks_.push_back(held);
    return held;
}

JsonValue Logs::save() const {
    JsonArray out;
    for (const auto& [pod, containers] : logs_) {
        for (const auto& [container, lines] : containers) {
            out.push_back(JsonObject{{"namespace", pod.ns},
                                     {"pod", pod.name},
                                     {"container", container},
                                     {"lines", JsonArray(lines.begin(), lines.end())}});
        }
    }
    return out;
}

void Logs::load(const JsonValue& state) {
    logs_.clear();
    if (!state.is_array()) return;
    for (const auto& row : state.get_array()) {
        auto& log = logs_[Key(base::get_string(row, "namespace"), base::get_string(row, "pod"))]
                         [base::get_string(row, "container")];
        for (const auto& line : base::get_array(row, "lines")) {
            if (line.is_string()) log.emplace_back(line.get_string());
        }
    }
}

}  // namespace instantstart::twin::kube::controllers
