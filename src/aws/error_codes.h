// What the error codes of AWS's services prove about a call: the facts behind retries, in one table.
//
// Sources: botocore's retries/standard.py and data/_retry.json, the `retryable` traits of the service models,
// and the API references of the services (the server error codes of EC2, the error responses of S3).
#pragma once

#include <cstdint>
#include <string_view>

namespace instantstart::aws {

enum class Proof : std::uint8_t {
    none,       // the code says nothing of its own: the HTTP status decides
    throttled,  // not executed, because of too many requests
    refused,    // not executed, for a reason that passes by itself: every call may be sent again
    transient,  // the service stumbled: whether it executed the call is not known
    capacity    // not executed, for want of capacity: a 5xx that sending again does not heal
};

// `service` is botocore's name. A row of the service wins over those of all services.
Proof proof_of(std::string_view service, std::string_view code);

}  // namespace instantstart::aws
