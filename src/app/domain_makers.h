// The makers of domain_operations.cc's table, one per operation file.
#pragma once

#include <memory>

#include "app/operation.h"

namespace instantstart::app {

std::unique_ptr<Operation> make_zone_list();
std::unique_ptr<Operation> make_instance_type_list();
std::unique_ptr<Operation> make_quota_list();
std::unique_ptr<Operation> make_price_list();
std::unique_ptr<Operation> make_cluster_list();
std::unique_ptr<Operation> make_cluster_get();
std::unique_ptr<Operation> make_cluster_create();
std::unique_ptr<Operation> make_cluster_launch();
std::unique_ptr<Operation> make_cluster_import();
std::unique_ptr<Operation> make_cluster_activate();
std::unique_ptr<Operation> make_cluster_delete();
std::unique_ptr<Operation> make_dependency_list();
std::unique_ptr<Operation> make_dependency_reconcile();
std::unique_ptr<Operation> make_hyperpod_create();
std::unique_ptr<Operation> make_hyperpod_get();
std::unique_ptr<Operation> make_hyperpod_delete();
std::unique_ptr<Operation> make_instance_group_list();
std::unique_ptr<Operation> make_instance_group_add();
std::unique_ptr<Operation> make_instance_group_update();
std::unique_ptr<Operation> make_instance_group_delete();
std::unique_ptr<Operation> make_hyperpod_update_software();
std::unique_ptr<Operation> make_training_plan_list();
std::unique_ptr<Operation> make_node_group_list();
std::unique_ptr<Operation> make_node_group_add();
std::unique_ptr<Operation> make_node_group_update();
std::unique_ptr<Operation> make_node_group_delete();
std::unique_ptr<Operation> make_node_list();
std::unique_ptr<Operation> make_node_get();
std::unique_ptr<Operation> make_node_reboot();
std::unique_ptr<Operation> make_node_replace();
std::unique_ptr<Operation> make_node_delete();
std::unique_ptr<Operation> make_storage_list();
std::unique_ptr<Operation> make_storage_create();
std::unique_ptr<Operation> make_storage_delete();
std::unique_ptr<Operation> make_storage_browse();
std::unique_ptr<Operation> make_feature_list();
std::unique_ptr<Operation> make_feature_update();
std::unique_ptr<Operation> make_mlflow_open();
std::unique_ptr<Operation> make_event_list();

}  // namespace instantstart::app
