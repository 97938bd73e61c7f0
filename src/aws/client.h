// The AWS client: operations by name, parameters and answers as JSON in the shape of AWS's own models.
//
// Conventions of the JSON: member names are the model's (`VpcId`, for EKS `vpcId`); blobs and payload bodies
// are strings of raw bytes; timestamps are RFC 3339 strings; absent members are absent. Parameters are
// checked against the model before anything leaves (Error{invalid}, code "invalid_parameter", every fault at
// once).
//
// Errors: kind from the AWS error (throttled, denied, not_found, conflict, invalid, unavailable), `code` is
// AWS's own
// ("InvalidVpcID.NotFound", "ResourceInUseException"), `message` AWS's message, `aws_request_id` set. A
// mutating call whose answer was lost is `unknown_outcome` unless the model gives the call an idempotency
// token (then it is repeated as it was). A call whose context's deadline passes is `deadline` where nothing
// can have been changed. Credentials that cannot be had or have expired: kind denied, code
// "CredentialsUnavailable" / "CredentialsExpired".
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/json.h"
#include "http/transport.h"
#include "rt/clock.h"
#include "rt/context.h"

namespace instantstart::aws {

using base::JsonArray;
using base::JsonObject;
using base::JsonValue;
using rt::Context;
using rt::Task;

struct CallOptions {
    CallOptions() = default;
    // Value for the model's idempotency-token member where the parameters leave it out; "" lets the client
    // make one.
    std::string client_token;
    base::Duration timeout = std::chrono::seconds(60);  // of one attempt
    // Attempts at most; 0 = the client's own. A look that comes again by a schedule asks for 1: what it
    // misses now it sees next time. Signing anew (expired keys, skewed clock) is not counted.
    int attempts = 0;
    // A read that something will be done upon: nothing that is kept from before may answer it.
    bool fresh = false;
};

// What became of one call, with all its attempts: for metrics.
struct CallReport {
    CallReport() = default;
    std::string service, operation;
    std::string code;                     // of the error, AWS's own; "" where it went well
    std::optional<base::ErrorKind> kind;  // of the error
    double seconds = 0;  // from the first attempt's start to the last one's end, waits included
    int attempts = 0;
    int throttles = 0;  // attempts that AWS refused for coming too fast
};

class Client {
public:
    virtual ~Client() = default;

    // One call, with retries as the rule of the unknown outcome allows. `service` is botocore's name ("ec2",
    // "eks", "sagemaker", "iam", "sts", "s3", "service-quotas", "logs", "elbv2"), `operation` the model's
    // ("CreateVpc").
    virtual Task<JsonObject> call(Context context, std::string service, std::string operation,
                                  JsonObject parameters, CallOptions options) = 0;
    Task<JsonObject> call(Context context, std::string service, std::string operation, JsonObject parameters);

    // All items of a list operation by the model's paginator (the first result key's), at most `max_items`
    // (an error beyond that says so). Who needs the first few only takes aws/pages.h.
    virtual Task<JsonArray> collect(Context context, std::string service, std::string operation,
                                    JsonObject parameters, std::size_t max_items);
    Task<JsonArray> collect(Context context, std::string service, std::string operation,
                            JsonObject parameters);

    // The bearer token of EKS for a cluster: "k8s-aws-v1." + base64url of a presigned STS GetCallerIdentity
    // (60 s).
    virtual Task<std::string> eks_token(Context context, std::string cluster) = 0;

    virtual std::string region() const = 0;
    virtual std::string partition() const = 0;  // "aws", "aws-cn", "aws-us-gov"

    // For the doctor: `credentials` {source, access_key, expires, tried[]} or {error, code, hint, tried[]},
    // `endpoints` {service: URL}, `ca_bundle`. Never an error but cancelled; empty for a client without such.
    virtual Task<JsonObject> explain(Context context);
};

// Settings as the AWS SDKs read them. `environment` looks a variable up ("" where unset).
struct ClientSettings {
    ClientSettings() = default;
    std::string region;      // "" = AWS_REGION, AWS_DEFAULT_REGION, the profile's
    std::string models_dir;  // only for tests; "" = the models embedded in the binary
    std::function<std::string(const std::string&)> environment;
    // Fixed credentials instead of the SDKs' chain (the embedded twin): used where access_key is not "".
    std::string access_key, secret_key, session_token;
    std::string
        endpoint_url;  // for every service; "" = AWS_ENDPOINT_URL, AWS_ENDPOINT_URL_<SERVICE>, the real ones
    // "standard", "adaptive" or "legacy" (which is standard); "" = AWS_RETRY_MODE, the profile's retry_mode,
    // standard. Attempts of a call; 0 = AWS_MAX_ATTEMPTS, the profile's max_attempts, 5.
    std::string retry_mode;
    int max_attempts = 0;
    // Called once a call has ended.
    std::function<void(const CallReport&)> on_call;
};

base::Result<std::unique_ptr<Client>> make_client(ClientSettings settings, http::Transport& transport,
                                                  rt::Clock& clock);

}  // namespace instantstart::aws
