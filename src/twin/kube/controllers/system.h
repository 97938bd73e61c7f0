// The controllers of the cluster itself: nodes and their devices, namespaces, garbage, claims, endpoints.
#pragma once

#include "twin/kube/controllers/env.h"

namespace instantstart::twin::kube::controllers {

// Device plugins: a running plugin pod gives its node the devices of its instance type, and takes them when
// it goes.
class DevicePlugins final : public Controller {
public:
    explicit DevicePlugins(Env& env) : env_(env) {}
    void changed(const Change& change) override;
    void sync(const Key& key) override;

private:
    Env& env_;
};

// Taints of nodes that are cordoned or not ready.
class NodeLife final : public Controller {
public:
    explicit NodeLife(Env& env) : env_(env) {}
    void changed(const Change& change) override;
    void sync(const Key& key) override;

private:
    Env& env_;
};

// What every namespace has from birth, and its emptying when it goes.
class Namespaces final : public Controller {
public:
    explicit Namespaces(Env& env) : env_(env) {}
    void changed(const Change& change) override;
    void sync(const Key& key) override;

private:
    void empty(const JsonObject& ns);
    Env& env_;
};

// Dependents go after their owners; foreground and orphan deletions by their finalizers.
class Garbage final : public Controller {
public:
    explicit Garbage(Env& env) : env_(env) {}
    void changed(const Change& change) override;
    void sync(const Key& key) override;  // name = an owner's uid

private:
    void collect(const std::string& uid);
    void finish_owner(const ObjectName& name);
    Env& env_;
    std::map<std::string, ObjectName, std::less<>> owners_;  // in deletion by a finalizer, by uid
};

// Binds claims to volumes, provides those of the disk classes, protects what is in use.
class Claims final : public Controller {
public:
    explicit Claims(Env& env) : env_(env) {}
    void changed(const Change& change) override;
    void sync(const Key& key) override;  // ns "" = a volume
    void rescale(double factor);

private:
    void sync_claim(const JsonObject& claim);
    void sync_volume(const JsonObject& volume);
    ObjectPtr find_volume(const JsonObject& claim) const;
    void bind(const JsonObject& claim, const JsonObject& volume);
    void provide(const JsonObject& claim);
    bool in_use(const JsonObject& claim) const;

    Env& env_;
    std::map<std::string, base::Duration, std::less<>> provided_at_;  // by the claim's uid
};

// Endpoints and EndpointSlices of Services with a selector.
class Endpoints final : public Controller {
public:
    explicit Endpoints(Env& env) : env_(env) {}
    void changed(const Change& change) override;
    void sync(const Key& key) override;

private:
    Env& env_;
};

}  // namespace instantstart::twin::kube::controllers
