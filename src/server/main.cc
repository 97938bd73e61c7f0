#include <csignal>
#include <iostream>

#include "base/heap.h"
#include "server/commands.h"

int main(int argc, char** argv) {
    using namespace instantstart::server;
    instantstart::base::keep_freed_memory();
    std::signal(SIGPIPE, SIG_IGN);  // a client that goes away is an error of that connection only
    const Flags flags = parse_flags(argc, argv);
    if (flags.command == "serve") return run_serve(flags);
    if (flags.command == "twin") return run_twin(flags);
    if (flags.command == "call") return run_call(flags);
    if (flags.command == "watch") return run_watch(flags);
    if (flags.command == "mcp") return run_mcp(flags);
    if (flags.command == "doctor") return run_doctor(flags);
    if (flags.command == "openapi") return run_openapi();
    if (flags.command == "iam-policy") return run_iam_policy(flags);
    if (flags.command == "version") return run_version();
    return flags.exit_code;
}
