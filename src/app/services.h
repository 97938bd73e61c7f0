// Services: what operations may use. Built once in server/, in dependency order; references outlive every
// call.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "aws/client.h"
#include "ops/engine.h"
#include "rt/clock.h"
#include "store/store.h"

namespace instantstart::flows {
class Clusters;  // flows/clusters.h: registry, Kubernetes access, caches
}

namespace instantstart::app {

class Catalogue;
class Fleet;
class Identity;

struct Settings {
    Settings() = default;
    std::string backend = "twin";  // "aws" or "twin": shown, never decided upon
    std::string version;
    std::string region;
    double time_scale = 1.0;
    bool read_only = false;
    std::string artifacts;  // mirror of third-party artefacts
};

struct Services {
    Services(rt::Clock& clock, aws::Client& aws, store::Store& store, ops::Engine& engine,
             flows::Clusters& clusters, Settings settings)
        : clock(clock),
          aws(aws),
          store(store),
          engine(engine),
          clusters(clusters),
          settings(std::move(settings)) {}
    rt::Clock& clock;
    aws::Client& aws;  // may answer from what is kept (aws/shared_reads.h); clusters.aws() never does
    store::Store& store;
    ops::Engine& engine;
    flows::Clusters& clusters;
    Settings settings;
    const Catalogue* catalogue = nullptr;
    Fleet* fleet = nullptr;        // what queries read of running clusters, app/fleet.h
    Identity* identity = nullptr;  // whose account it is, app/identity.h
    // The steps of a flow for these parameters, for plans that name a flow only. Set by the composition root.
    std::function<std::vector<ops::Step>(const std::string& flow, const base::JsonObject& params)> flow_steps;
};

}  // namespace instantstart::app
