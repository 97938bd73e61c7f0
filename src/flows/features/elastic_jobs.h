// Elastic training: HyperPodPyTorchJobs that grow and shrink while they run. Whatever excludes elastic
// training has to know whether there are any.
#pragma once

#include <string>
#include <vector>

#include "flows/clusters.h"

namespace instantstart::flows {

// The jobs with an elasticPolicy that have not ended, as "team/llama"; none where the cluster does not know
// the kind.
Task<std::vector<std::string>> elastic_jobs(Clusters& env, Context context, std::string eks_name);
// How a refusal names them: "elastic training (HyperPodPyTorchJob team/llama)".
std::string elastic_words(const std::vector<std::string>& jobs);

}  // namespace instantstart::flows
