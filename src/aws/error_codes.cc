#include "aws/error_codes.h"

#include <array>

namespace instantstart::aws {

namespace {

struct Row {
    std::string_view service;  // "" = every service
    std::string_view code;
    Proof proof;
};

// LimitExceededException is throttling for botocore wherever it comes from. In the services that we call
// (logs, kms, ecr, iam, cloudwatch) it names a quota of the account, which no retry lifts, so it is not here.
constexpr std::array kRows = {
    Row{"", "Throttling", Proof::throttled},
    Row{"", "ThrottlingException", Proof::throttled},
    Row{"", "ThrottledException", Proof::throttled},
    Row{"", "RequestThrottledException", Proof::throttled},
    Row{"", "RequestThrottled", Proof::throttled},
    Row{"", "TooManyRequestsException", Proof::throttled},
    Row{"", "TooManyRequests", Proof::throttled},
    Row{"", "ProvisionedThroughputExceededException", Proof::throttled},
    Row{"", "TransactionInProgressException", Proof::throttled},
    Row{"", "RequestLimitExceeded", Proof::throttled},
    Row{"", "BandwidthLimitExceeded", Proof::throttled},
    Row{"", "SlowDown", Proof::throttled},
    Row{"", "PriorRequestNotComplete", Proof::throttled},
    Row{"", "EC2ThrottledException", Proof::throttled},
    Row{"", "RequestTimeout", Proof::transient},
    Row{"", "RequestTimeoutException", Proof::transient},
    Row{"", "InternalFailure", Proof::transient},
    Row{"", "InternalError", Proof::transient},
    Row{"", "InternalServerError", Proof::transient},
    Row{"", "InternalServerException", Proof::transient},
    Row{"", "InternalServiceError", Proof::transient},
    Row{"", "ServiceUnavailable", Proof::transient},
    Row{"", "ServiceUnavailableException", Proof::transient},
    Row{"ec2", "Unavailable", Proof::transient},
    Row{"ec2", "InsufficientCapacity", Proof::capacity},
    Row{"ec2", "InsufficientAddressCapacity", Proof::capacity},
    Row{"ec2", "InsufficientInstanceCapacity", Proof::capacity},
    Row{"ec2", "InsufficientHostCapacity", Proof::capacity},
    Row{"ec2", "InsufficientReservedInstanceCapacity", Proof::capacity},
    Row{"ec2", "InsufficientVolumeCapacity", Proof::capacity},
    // S3 did not get the whole request, or got it damaged.
    Row{"s3", "RequestTimeout", Proof::refused},
    Row{"s3", "BadDigest", Proof::refused},
    Row{"s3", "Busy", Proof::throttled},
    // The identity provider could not be asked: no session was made.
    Row{"sts", "IDPCommunicationError", Proof::refused},
    Row{"eks", "ServerException", Proof::transient},
    Row{"ecr", "ServerException", Proof::transient},
    Row{"iam", "ServiceFailure", Proof::transient},
    Row{"service-quotas", "ServiceException", Proof::transient},
    Row{"kms", "DependencyTimeoutException", Proof::transient},
    Row{"kms", "KMSInternalException", Proof::transient},
    Row{"cloudwatch", "InternalServiceFault", Proof::transient},
    // By the traits of the model.
    Row{"pricing", "InternalErrorException", Proof::transient},
};

}  // namespace

Proof proof_of(std::string_view service, std::string_view code) {
    Proof found = Proof::none;
    for (const Row& row : kRows) {
        if (row.code != code) continue;
        if (row.service == service) return row.proof;
        if (row.service.empty()) found = row.proof;
    }
    return found;
}

}  // namespace instantstart::aws
