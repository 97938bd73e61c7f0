// The table of features, in the order of feature.list. One that needs another stands after it.
#include "flows/features/table.h"

namespace instantstart::flows {

const std::vector<Feature>& features() {
    static const std::vector<Feature> kTable = {training_operator(), inference_operator(), kuberay(), keda(),
                                                load_balancer_controller(), tiered_checkpointing(),
                                                autoscaling(), observability(), mlflow(),
                                                // Begins after all else.
                                                task_governance()};
    return kTable;
}

}  // namespace instantstart::flows
