// The makers of domain_operations.cc's table, one per operation file.
#pragma once

#include <memory>

#include "app/operation.h"

namespace instantstart::app {

std::unique_ptr<Operation> make_zone_list();
std::unique_ptr<Operation> make_instance_type_list();
std::unique_ptr<Operation> make_quota_list();
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
std::unique_ptr<Operation> make_node_list();
std::unique_ptr<Operation> make_node_get();
std::unique_ptr<Operation> make_storage_list();
std::unique_ptr<Operation> make_storage_create();
std::unique_ptr<Operation> make_storage_delete();
std::unique_ptr<Operation> make_storage_browse();
std::unique_ptr<Operation> make_event_list();

}  // namespace instantstart::app
