// What the command of a container would do, as far as its words tell: nothing is run.
#pragma once

#include <optional>
#include <string>

#include "twin/kube/cluster.h"

namespace instantstart::twin::kube::controllers {

struct Run {
    double seconds = 0;
    int code = 0;
};

// Of a command that is made of sleep, exit, echo, true and false only (plain or by a shell's -c); nothing for
// any other.
std::optional<Run> plain_run(const JsonValue& holder);  // has `command` and maybe `args`

// How a container ends by itself; nothing where it never does.
std::optional<Run> run_of_container(const JsonObject& pod, const JsonValue& container);
std::optional<Run> run_of_init_container(const JsonValue& container);
// What an exec probe comes to; probes of other kinds succeed.
bool probe_succeeds(const JsonValue& probe);
// Seconds that the hook before the end takes.
double pre_stop_seconds(const JsonValue& container);

}  // namespace instantstart::twin::kube::controllers
