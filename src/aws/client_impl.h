// The client behind aws/client.h: preparing a call (client.cc) and running its attempts (attempts.cc).
#pragma once

#include <map>
#include <memory>
#include <string>

#include "aws/client.h"
#include "aws/codec/codec.h"
#include "aws/credentials.h"
#include "aws/endpoint.h"
#include "aws/failure.h"
#include "aws/retry.h"
#include "aws/send_rate.h"

namespace instantstart::aws {

// The embedded models, or those of a folder (tests).
class ModelSet {
public:
    static base::Result<ModelSet> make(const std::string& folder);
    const model::Service* find(const std::string& name) const;

private:
    bool embedded_ = true;
    std::map<std::string, std::unique_ptr<model::Service>, std::less<>> loaded_;
};

class ClientImpl final : public Client {
public:
    ClientImpl(ClientSettings settings, RetrySettings retry, Profiles profiles, ModelSet models,
               http::Transport& transport, rt::Clock& clock);

    using Client::call;
    using Client::collect;
    Task<JsonObject> call(Context context, std::string service, std::string operation, JsonObject parameters,
                          CallOptions options) override;
    Task<std::string> eks_token(Context context, std::string cluster) override;
    std::string region() const override;
    std::string partition() const override;
    Task<JsonObject> explain(Context context) override;
    // The file of the authorities that AWS's certificates are checked with; "" = the machine's.
    void trust(std::string ca_file) { ca_file_ = std::move(ca_file); }

private:
    // A call that is ready to be sent, as often as it takes.
    struct Prepared {
        Prepared() = default;
        const model::Service* service = nullptr;
        const model::Operation* operation = nullptr;
        codec::Call call;
        std::string bucket;
        Repeat repeat = Repeat::unsafe;
        base::Duration timeout{};
        int attempts = 0;  // 0: as the settings say
        std::optional<Credentials> fixed_credentials;
        std::string region;  // "" = the client's
    };
    // What became of one attempt: an answer, or a failure.
    struct Outcome {
        Outcome() = default;
        std::optional<JsonObject> answer;
        Failure failure;
        Credentials used;
        bool clock_corrected = false;
    };
    // What was mended in a call, each kind once: attempts after it are not counted against the settings.
    struct Renewed {
        Renewed() = default;
        bool clock = false, credentials = false;
        int count() const { return static_cast<int>(clock) + static_cast<int>(credentials); }
    };
    // Shared by all calls to a service.
    struct ServiceState {
        ServiceState() = default;
        RetryQuota quota;
        SendRate rate;
    };

    std::unique_ptr<CredentialSource> make_source();
    // `region` "" = the client's. Settings are read once: what is found is kept.
    base::Result<Endpoint> endpoint_of(const model::Service& service, const std::string& region);
    std::string new_token();
    base::Result<Prepared> prepare(const std::string& service, const std::string& operation,
                                   JsonObject parameters, const CallOptions& options);
    Task<JsonObject> call_for_source(Context context, SourceCall call);

    Task<JsonObject> run(Context context, Prepared prepared);
    Task<JsonObject> try_until_done(Context context, Prepared prepared, CallReport& ended);
    Task<Outcome> attempt(Context context, const Prepared& prepared, CallReport& ended);
    Task<void> load_credentials(Context context, std::shared_ptr<Credentials> out);
    Task<Credentials> credentials_for(Context context, const Prepared& prepared);
    Task<void> wait_for_turn(Context context, const Prepared& prepared);
    base::Result<http::Request> request_of(const Prepared& prepared, const Credentials& credentials);
    void read_answer(const Prepared& prepared, http::Response response, Outcome& out);
    bool follow_clock(const http::Headers& headers, base::Duration tolerable);
    bool renew(const Context& context, const Prepared& prepared, const Outcome& outcome, Renewed& renewed);
    std::optional<base::Duration> wait_before_retry(const Context& context, const Prepared& prepared,
                                                    const Failure& failure, int attempts);
    static base::Error no_time_for(const Prepared& prepared);
    void report(const Context& context, CallReport report, base::Duration took);

    ClientSettings settings_;
    Profiles profiles_;
    ModelSet models_;
    http::Transport& transport_;
    rt::Clock& clock_;
    CredentialCache credentials_;
    std::string ca_file_;
    std::map<std::string, Endpoint, std::less<>> endpoints_;  // by service and region
    RetrySettings retry_;
    std::map<std::string, ServiceState, std::less<>> services_;  // by name; rows stay where they are
    base::Duration skew_{};  // AWS's clock minus ours, where they differ by minutes
};

}  // namespace instantstart::aws
