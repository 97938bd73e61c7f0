// What this process gets from the machine: variables, the way to the network.
#pragma once

#include <string>

#include "http/transport.h"

namespace instantstart::server {

// "" where it is not set.
std::string environment(const std::string& name);
// Proxies as the usual variables say.
http::TransportSettings transport_settings();
// Whether this looks like the inside of a container, where 127.0.0.1 is the container's own.
bool is_in_container();

}  // namespace instantstart::server
