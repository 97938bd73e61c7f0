// openapi, iam-policy and version: what needs no server.
#include <iostream>

#include "api/rest/openapi.h"
#include "server/commands.h"
#include "server/iam_policy.h"

namespace instantstart::server {

int run_openapi() {
    const auto catalogue = app::make_catalogue();
    std::cout << base::pretty_text(base::JsonValue(api::openapi_document(*catalogue, INSTANTSTART_VERSION)))
              << "\n";
    return 0;
}

int run_iam_policy() {
    const auto catalogue = app::make_catalogue();
    std::cout << base::pretty_text(base::JsonValue(iam_policy(*catalogue))) << "\n";
    return 0;
}

int run_version() {
    std::cout << "instantstart " << INSTANTSTART_VERSION << "\n";
    return 0;
}

}  // namespace instantstart::server
