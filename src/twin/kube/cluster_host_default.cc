// Alone in its file: a program without the controllers can be linked by giving a factory of its own.
#include "twin/kube/cluster_host.h"

namespace instantstart::twin::kube {

std::unique_ptr<ClusterHost> make_cluster_host(boost::asio::any_io_executor executor, rt::Clock& clock,
                                               double speed) {
    return make_cluster_host(std::move(executor), clock, speed, make_controllers);
}

}  // namespace instantstart::twin::kube
