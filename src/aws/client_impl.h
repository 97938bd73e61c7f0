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
    ClientImpl(ClientSettings settings, Profiles profiles, ModelSet models, http::Transport& transport,
               rt::Clock& clock);

    using Client::call;
    using Client::collect;
    Task<JsonObject> call(Context context, std::string service, std::string operation, JsonObject parameters,
                          CallOptions options) override;
    Task<JsonArray> collect(Context context, std::string service, std::string operation,
                            JsonObject parameters, std::size_t max_items) override;
    Task<std::string> eks_token(Context context, std::string cluster) override;
    std::string region() const override;
    std::string partition() const override;

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
        std::optional<Credentials> fixed_credentials;
    };
    // What became of one attempt: an answer, or a failure.
    struct Outcome {
        Outcome() = default;
        std::optional<JsonObject> answer;
        Failure failure;
        Credentials used;
    };

    std::unique_ptr<CredentialSource> make_source();
    base::Result<Endpoint> endpoint_of(const model::Service& service) const;
    std::string new_token();
    base::Result<Prepared> prepare(const std::string& service, const std::string& operation,
                                   JsonObject parameters, const CallOptions& options);
    Task<JsonObject> call_sts(Context context, std::string operation, JsonObject parameters,
                              Credentials credentials);

    Task<JsonObject> run(Context context, Prepared prepared);
    Task<Outcome> attempt(Context context, const Prepared& prepared);
    base::Result<http::Request> request_of(const Prepared& prepared, const Credentials& credentials);
    Outcome read_answer(const Prepared& prepared, http::Response response);
    void correct_skew(const http::Headers& headers);
    bool allows_retry(const Outcome& outcome, int attempts);
    void report(const Context& context, const Prepared& prepared, const std::string& code,
                base::Duration took, int attempts);

    ClientSettings settings_;
    Profiles profiles_;
    ModelSet models_;
    http::Transport& transport_;
    rt::Clock& clock_;
    CredentialCache credentials_;
    std::map<std::string, RetryBudget, std::less<>> budgets_;
    base::Duration skew_{};  // AWS's clock minus ours, once AWS has complained
};

}  // namespace instantstart::aws
