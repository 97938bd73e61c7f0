// Network interfaces, made by the twin's own services.
#pragma once

#include "twin/aws/ec2/ec2.h"

namespace instantstart::twin::ec2 {

// The interface's id; nullopt where the subnet has not enough free addresses.
std::optional<std::string> make_interface(State& state, const InterfaceSpec& spec);

}  // namespace instantstart::twin::ec2
