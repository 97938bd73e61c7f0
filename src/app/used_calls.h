// The AWS operations that the long operations use: what IAM actions follow from.
#pragma once

#include <string>
#include <vector>

namespace instantstart::app {

std::vector<std::string> used_by_cluster_create();
std::vector<std::string> used_by_hyperpod();      // hyperpod.create and instance_group.add
std::vector<std::string> used_by_group_change();  // instance_group.update and .delete
std::vector<std::string> used_by_node_action(std::string batch_call);  // node.reboot, .replace, .delete
std::vector<std::string> used_by_node_group_add();
std::vector<std::string> used_by_node_group_change();
std::vector<std::string> used_by_node_group_removal();
std::vector<std::string> used_by_software_update();
std::vector<std::string> used_by_storage();
std::vector<std::string> used_by_cluster_launch();
std::vector<std::string> used_by_cluster_delete();
std::vector<std::string> used_by_dependencies();
std::vector<std::string> used_by_feature_list();
std::vector<std::string> used_by_feature_update();
// What the plans of all of them read: plan.preview.
std::vector<std::string> used_by_planning();

}  // namespace instantstart::app
