#include "app/domain_operations.h"

#include "app/domain_makers.h"

namespace instantstart::app {

std::vector<std::unique_ptr<Operation>> make_domain_operations() {
    std::vector<std::unique_ptr<Operation>> list;
    list.push_back(make_zone_list());
    list.push_back(make_instance_type_list());
    list.push_back(make_quota_list());
    list.push_back(make_price_list());
    list.push_back(make_cluster_list());
    list.push_back(make_cluster_get());
    list.push_back(make_cluster_create());
    list.push_back(make_cluster_launch());
    list.push_back(make_cluster_import());
    list.push_back(make_cluster_activate());
    list.push_back(make_cluster_delete());
    list.push_back(make_dependency_list());
    list.push_back(make_dependency_reconcile());
    list.push_back(make_hyperpod_create());
    list.push_back(make_hyperpod_get());
    list.push_back(make_hyperpod_delete());
    list.push_back(make_instance_group_list());
    list.push_back(make_instance_group_add());
    list.push_back(make_instance_group_update());
    list.push_back(make_instance_group_delete());
    list.push_back(make_hyperpod_update_software());
    list.push_back(make_training_plan_list());
    list.push_back(make_node_group_list());
    list.push_back(make_node_group_add());
    list.push_back(make_node_group_update());
    list.push_back(make_node_group_delete());
    list.push_back(make_node_list());
    list.push_back(make_node_get());
    list.push_back(make_node_reboot());
    list.push_back(make_node_replace());
    list.push_back(make_node_delete());
    list.push_back(make_storage_list());
    list.push_back(make_storage_create());
    list.push_back(make_storage_delete());
    list.push_back(make_storage_browse());
    list.push_back(make_feature_list());
    list.push_back(make_feature_update());
    list.push_back(make_mlflow_open());
    list.push_back(make_event_list());
    return list;
}

}  // namespace instantstart::app
