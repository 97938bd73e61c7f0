// The controllers of the cluster itself: devices of nodes, namespaces, garbage.
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

// What every namespace has from birth, and its emptying when it goes.
class Namespaces final : public Controller {
public:
    explicit Namespaces(Env& env) : env_(env) {}
    void changed(const Change& change) override;
    void sync(const Key& key) override;

private:
    // Objects that finalizers hold, by kind and by finalizer.
    struct Remaining {
        Remaining() = default;
        std::map<std::string, int> kinds, finalizers;
        void add(const Kind& kind, const JsonObject& object);
    };
    void empty(const JsonObject& ns);
    void tell_remaining(const JsonObject& ns, const Remaining& remaining);
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

}  // namespace instantstart::twin::kube::controllers
