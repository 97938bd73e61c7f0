// The subcommands, each a function from flags to an exit status: 0 well, 1 failed, 2 wrong use.
#pragma once

#include "server/options.h"

namespace instantstart::server {

int run_serve(const Flags& flags);
int run_twin(const Flags& flags);
int run_call(const Flags& flags);
int run_watch(const Flags& flags);
int run_mcp(const Flags& flags);
int run_doctor(const Flags& flags);
int run_openapi();
int run_iam_policy(const Flags& flags);
int run_version();

}  // namespace instantstart::server
