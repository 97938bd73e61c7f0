// Logs: what containers have printed. Bounded per container; gone with the pod.
#pragma once

#include <list>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "twin/kube/controllers/queue.h"

namespace instantstart::twin::kube::controllers {

class Logs {
public:
    const std::vector<std::string>* find(std::string_view ns, std::string_view pod,
                                         std::string_view container) const;
    // Makes the container's log where absent.
    void append(const Key& pod, const std::string& container, const std::vector<std::string>& lines);
    void drop(const Key& pod) { logs_.erase(pod); }
    void tell(const Key& pod) const;
    std::shared_ptr<void> subscribe(std::function<void(const std::string&, const std::string&)> callback);
    JsonValue save() const;
    void load(const JsonValue& state);

private:
    using Callback = std::function<void(const std::string&, const std::string&)>;
    std::map<Key, std::map<std::string, std::vector<std::string>, std::less<>>> logs_;
    std::vector<std::weak_ptr<Callback>> callbacks_;
};

}  // namespace instantstart::twin::kube::controllers
