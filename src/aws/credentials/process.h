// credential_process: a program that the user's own profile names, run to get credentials. It is the one
// program that the product ever runs.
#pragma once

#include "aws/credentials.h"

namespace instantstart::aws {

struct ProcessLimits {
    ProcessLimits() = default;
    base::Duration time = std::chrono::seconds(60);
    std::size_t output_bytes =
        64U << 10U;  // more is refused; of what it says on stderr the first 4 KiB are kept
};

// Runs `command`, split into words as a shell would but without one, with this process's environment, no
// input and no open files, in a process group of its own. Whatever ends the wait ends the program: its time,
// cancellation.
Task<Credentials> from_process(Context context, rt::Clock& clock, std::string command, std::string profile,
                               ProcessLimits limits);

}  // namespace instantstart::aws
