// World: the simulated account's frame. Services hang in it; it owns time, timers, ids, faults, the call
// journal and the authorisation of calls. One loop; all handlers are synchronous and never block.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "aws/model/model.h"
#include "base/json.h"
#include "http/server.h"
#include "rt/clock.h"

namespace instantstart::twin {

using base::JsonArray;
using base::JsonObject;
using base::JsonValue;
using base::TimePoint;

struct ServiceError {
    ServiceError() = default;
    ServiceError(int http_status, std::string wire_code, std::string text)
        : status(http_status), code(std::move(wire_code)), message(std::move(text)) {}
    int status = 400;
    std::string code;  // AWS's code on the wire
    std::string message;
    JsonObject members;  // further members of the modelled exception
};

struct Identity {
    Identity() = default;
    std::string arn;  // arn:aws:sts::111122223333:assumed-role/instantstart-admin/twin
    std::string account;
    std::string user_id;
    std::string role_arn;  // the role behind an assumed-role session, with its path; "" for users
};

// One authenticated, authorised, model-validated call. Parameters as in aws/client.h: model names, RFC 3339
// times, raw blobs.
struct Call {
    Call() = default;
    std::string service;  // botocore's name
    std::string operation;
    std::string region;
    JsonObject params;
    Identity caller;
    std::string request_id;
    base::Duration stale{};  // hide objects younger than this (wall time) from Describe and List; 0 = none
    TimePoint now;
    // True where an object made at `created` may be shown by this call.
    bool shows(TimePoint created) const { return stale.count() == 0 || now - created >= stale; }
};

using Reply = std::variant<JsonObject, ServiceError>;

class World;

class Service {
public:
    virtual ~Service() = default;
    virtual std::string_view name() const = 0;
    virtual Reply handle(const Call& call) = 0;
    // A timer set by World::after became due.
    virtual void on_timer(const std::string& kind, const JsonObject& payload) = 0;
    // The whole state, and back (snapshot, persistence, reset with {}).
    virtual JsonValue save() const = 0;
    virtual void load(const JsonValue& state) = 0;
};

// What other services ask of IAM and STS (implemented by the IAM service).
class IamView {
public:
    virtual ~IamView() = default;
    virtual bool role_exists(std::string_view role_arn) const = 0;
    // False for 8 s of wall time after the role, its trust or its policies were made or changed (real-account
    // 1).
    virtual bool role_usable(std::string_view role_arn) const = 0;
    // The service principals (and "*") in the role's trust policy.
    virtual std::vector<std::string> trusted_services(std::string_view role_arn) const = 0;
    // Names of attached managed policies and of inline ones.
    virtual std::vector<std::string> role_policies(std::string_view role_arn) const = 0;
    // Would `identity` be allowed `action` on `resource`, with these condition keys?
    virtual bool allows(const Identity& identity, std::string_view action, std::string_view resource,
                        const std::vector<std::pair<std::string, std::string>>& context) const = 0;
    // Makes the service-linked role where it is missing; its ARN.
    virtual std::string ensure_service_linked_role(std::string_view service_principal,
                                                   std::string_view role_name) = 0;
    // The identity behind a presigned STS GetCallerIdentity URL (signature and expiry checked, `cluster`
    // against x-k8s-aws-id); nullopt where it is not valid.
    virtual std::optional<Identity> verify_eks_token(std::string_view token,
                                                     std::string_view cluster) const = 0;
    virtual bool has_oidc_provider(std::string_view issuer_host_and_path) const = 0;
};

class World {
public:
    virtual ~World() = default;
    virtual rt::Clock& clock() = 0;
    virtual TimePoint now() const = 0;  // wall clock
    virtual std::string account() const = 0;
    virtual std::string region() const = 0;
    virtual IamView& iam() = 0;
    virtual Service* service(std::string_view name) = 0;
    template <class T>
    T& get(std::string_view name) {
        return dynamic_cast<T&>(*service(name));
    }
    // Calls on_timer(kind, payload) of `service` after an AWS duration (divided by the speed). Durable with
    // the snapshot.
    virtual void after(base::Duration aws_duration, std::string_view service, std::string kind,
                       JsonObject payload) = 0;
    // A typical duration with seeded spread of ±15 %.
    virtual base::Duration about(base::Duration typical) = 0;
    virtual std::string hex_id(std::string_view prefix, std::size_t digits) = 0;  // "vpc-" + 17 hex digits
    virtual std::string uuid() = 0;
    virtual double speed() const = 0;
    // Limit of a quota by its name ("VPCs per Region"); nullopt where not known. Set by control and by
    // service-quotas.
    virtual std::optional<double> quota(std::string_view name) const = 0;
    // How many instances of a type can still be had in a zone; nullopt = ample.
    virtual std::optional<std::int64_t> capacity(std::string_view instance_type,
                                                 std::string_view zone) const = 0;
    virtual void take_capacity(std::string_view instance_type, std::string_view zone, std::int64_t count) = 0;
    // Writes a line into the journal for a call that is not AWS's (Kubernetes writes).
    virtual void journal(std::string_view service, std::string_view operation, std::string_view principal,
                         JsonObject parameters, int status, std::string_view error_code) = 0;
    // The state changed: it will be saved soon.
    virtual void touched() = 0;
    // Where clients reach the twin ("http://127.0.0.1:3097", "https://127.0.0.1:3098"), and its authority's
    // certificate.
    virtual std::string aws_url() const = 0;
    virtual std::string kube_url() const = 0;
    virtual std::string ca_pem() const = 0;
};

// Finds `{"Key": k, "Value": v}` lists and maps alike; shared by the services.
std::string tag_value(const JsonArray& tags, std::string_view key);

}  // namespace instantstart::twin
