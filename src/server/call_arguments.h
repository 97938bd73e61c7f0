// The arguments of `call`: --FIELD VALUE by the operation's schema, --set PATH=VALUE, --body FILE.
#pragma once

#include <string>
#include <vector>

#include "app/catalogue.h"

namespace instantstart::server {

struct CallArguments {
    CallArguments() = default;
    std::string operation;  // "" where only help is asked for
    bool help = false, wait = false, json = false;
    std::string url, data_dir, idempotency_key;
    base::JsonObject arguments;  // flat, path parameters included
};

base::Result<CallArguments> parse_call(const app::Catalogue& catalogue,
                                       const std::vector<std::string>& words);
std::string call_help(const app::Catalogue& catalogue);
std::string operation_help(const app::Operation& operation);

}  // namespace instantstart::server
