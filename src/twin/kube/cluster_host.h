// All simulated clusters, with the controllers that a factory gives them.
#pragma once

#include <functional>
#include <memory>

#include "twin/kube/cluster.h"

namespace instantstart::twin::kube {

// May give null: a cluster in which nothing moves, for tests of the API server.
using ControllersFactory = std::function<std::unique_ptr<Controllers>(
    boost::asio::any_io_executor, rt::Clock&, ObjectStore&, double speed)>;

std::unique_ptr<ClusterHost> make_cluster_host(boost::asio::any_io_executor executor, rt::Clock& clock,
                                               double speed, ControllersFactory factory);

}  // namespace instantstart::twin::kube
