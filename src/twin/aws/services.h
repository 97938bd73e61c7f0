// The services of the simulated account: how each is made, and what the control may ask of one beyond its
// wire operations. Written out in one place; the composition root (twin.cc) hands the list to the world.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "twin/aws/world.h"
#include "twin/kube/cluster.h"

namespace instantstart::twin {

// A training plan that the control puts into the account as if it had been bought.
struct PlanSpec {
    PlanSpec() = default;
    std::string name, instance_type, zone, status = "Active";
    std::int64_t count = 1, start_in_hours = 0, hours = 24;
};

// What EKS's add-ons see of HyperPod. The SageMaker service implements it.
class HyperPodView {
public:
    virtual ~HyperPodView() = default;
    // The ARN of the HyperPod cluster on this EKS cluster; "" where there is none.
    virtual std::string cluster_on(std::string_view eks_cluster_arn) const = 0;
};

// Broken hardware as HyperPod would see it. The SageMaker service implements it beside Service.
class NodeControl {
public:
    virtual ~NodeControl() = default;
    // `fault` is gpu_xid, efa, unreachable, disk or spot_interruption. Error not_found for an unknown
    // instance.
    virtual base::Result<void> fail_node(const std::string& instance_id, const std::string& fault,
                                         std::optional<std::int64_t> code) = 0;
    // AWS publishes a new version of HyperPod's images: groups that use them can be updated.
    virtual void publish_image() = 0;
    virtual void put_plan(const PlanSpec& spec) = 0;
};

// Order of loading a saved state: iam, then ec2, eks, sagemaker, the others, then what the Kubernetes
// clusters hold. EKS makes its clusters in the host (with their authenticate function) when it loads; their
// objects are loaded afterwards.
std::unique_ptr<Service> make_iam(World& world);  // also implements IamView
std::unique_ptr<Service> make_sts(World& world);
std::unique_ptr<Service> make_ec2(World& world);
std::unique_ptr<Service> make_eks(World& world, kube::ClusterHost& clusters);
std::unique_ptr<Service> make_sagemaker(World& world, kube::ClusterHost& clusters);
std::unique_ptr<Service> make_s3(World& world);
std::unique_ptr<Service> make_service_quotas(World& world);
std::unique_ptr<Service> make_logs(World& world);
std::unique_ptr<Service> make_elbv2(World& world);
std::unique_ptr<Service> make_fsx(World& world);
std::unique_ptr<Service> make_amp(World& world);
std::unique_ptr<Service> make_pricing();

}  // namespace instantstart::twin
