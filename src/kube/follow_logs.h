// A container's log, followed for as long as its pod lives: across restarts of the container, broken
// connections and restarts of the API server, each line once.
#pragma once

#include <memory>
#include <string>

#include "kube/client.h"

namespace instantstart::kube {

// Lines as the container wrote them, in whole lines a piece; with `options.timestamps` each begins with its
// time. Ends when the pod has ended or is gone. Errors: those of the first request (a pod that does not
// exist); later ones are waited out while the pod exists, but a refusal (denied) ends it. `client` and
// `clock` outlive the stream. A line of more than 1 MiB comes cut.
Task<std::unique_ptr<http::BodyStream>> follow_logs(Client& client, rt::Clock& clock, Context context,
                                                    std::string ns, std::string pod, LogOptions options);

}  // namespace instantstart::kube
