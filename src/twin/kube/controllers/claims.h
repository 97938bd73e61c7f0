// Claims: binds claims to volumes, provides those of the disk classes, protects what is in use.
#pragma once

#include "twin/kube/controllers/env.h"

namespace instantstart::twin::kube::controllers {

class Claims final : public Controller {
public:
    explicit Claims(Env& env) : env_(env) {}
    void changed(const Change& change) override;
    void sync(const Key& key) override;  // ns "" = a volume
    void rescale(double factor);
    void clear();

private:
    void sync_claim(const JsonObject& claim);
    void sync_volume(const JsonObject& volume);
    bool prepare(const JsonObject& claim);
    bool in_use(const JsonObject& claim) const;
    ObjectPtr named_volume(const JsonObject& claim) const;
    ObjectPtr free_volume(const JsonObject& claim) const;
    void bind(const JsonObject& claim, const JsonObject& volume);
    void lose(const JsonObject& claim);
    void find_or_provide(const JsonObject& claim);
    void provide(const JsonObject& claim, const JsonObject& storage);
    void make_volume(const JsonObject& claim, const JsonObject& storage);
    void make_ephemeral_claims(const JsonObject& pod);
    // Once for each reason, not at every look.
    void tell(const JsonObject& claim, std::string_view type, std::string_view reason,
              const std::string& message, std::string_view component = "persistentvolume-controller");

    Env& env_;
    std::map<std::string, base::Duration, std::less<>> provided_at_;  // by the claim's uid
    std::map<std::string, std::string, std::less<>> told_;            // the last message, by the claim's uid
    std::set<Key> open_;                                              // claims without a volume
};

}  // namespace instantstart::twin::kube::controllers
