#include "server/failing_client.h"

namespace instantstart::server {

namespace {

class FailingClient final : public aws::Client {
public:
    FailingClient(base::Error reason, std::string region)
        : reason_(std::move(reason)), region_(std::move(region)) {}

    rt::Task<base::JsonObject> call(rt::Context /*context*/, std::string /*service*/,
                                    std::string /*operation*/, base::JsonObject /*parameters*/,
                                    aws::CallOptions /*options*/) override {
        co_return reason_;
    }
    rt::Task<base::JsonArray> collect(rt::Context /*context*/, std::string /*service*/,
                                      std::string /*operation*/, base::JsonObject /*parameters*/,
                                      std::size_t /*max_items*/) override {
        co_return reason_;
    }
    rt::Task<std::string> eks_token(rt::Context /*context*/, std::string /*cluster*/) override {
        co_return reason_;
    }
    std::string region() const override { return region_; }
    std::string partition() const override { return "aws"; }

private:
    base::Error reason_;
    std::string region_;
};

}  // namespace

std::unique_ptr<aws::Client> make_failing_client(base::Error reason, std::string region) {
    reason.kind = base::ErrorKind::denied;
    reason.code = "CredentialsUnavailable";
    return std::make_unique<FailingClient>(std::move(reason), std::move(region));
}

}  // namespace instantstart::server
