// The AWS operations that the long operations use: what IAM actions follow from.
#pragma once

#include <string>
#include <vector>

namespace instantstart::app {

std::vector<std::string> used_by_cluster_create();
std::vector<std::string> used_by_hyperpod();  // hyperpod.create and instance_group.add
std::vector<std::string> used_by_storage();
std::vector<std::string> used_by_cluster_launch();
std::vector<std::string> used_by_cluster_delete();
std::vector<std::string> used_by_dependencies();

}  // namespace instantstart::app
