#include <filesystem>

#include "aws/client_impl.h"

namespace instantstart::aws {

base::Result<ModelSet> ModelSet::make(const std::string& folder) {
    ModelSet made;
    if (folder.empty()) return made;
    made.embedded_ = false;
    std::error_code failed;
    for (const auto& entry : std::filesystem::directory_iterator(folder, failed)) {
        if (entry.path().extension() != ".json" || entry.path().filename() == "iam-actions.json") continue;
        TRY(auto service, model::load(read_small_file(entry.path().string())));
        made.loaded_[entry.path().stem().string()] = std::move(service);
    }
    if (failed) return base::invalid_error("no_models", "the models folder " + folder + " cannot be read");
    return made;
}

const model::Service* ModelSet::find(const std::string& name) const {
    if (embedded_) return model::embedded(name);
    const auto found = loaded_.find(name);
    return found == loaded_.end() ? nullptr : found->second.get();
}

}  // namespace instantstart::aws
