// FakeWorld: a World for tests of single services. Time stands still until it is advanced; timers then fire
// in order.
#pragma once

#include <boost/asio/io_context.hpp>
#include <map>
#include <memory>
#include <set>

#include "rt/virtual_clock.h"
#include "twin/aws/world.h"

namespace instantstart::twin::testing {

class FakeIam final : public IamView {
public:
    struct Role {
        std::vector<std::string> trusts;
        bool usable = true;
    };
    std::map<std::string, Role, std::less<>> roles;
    std::map<std::string, Identity, std::less<>> tokens;  // EKS token → who

    bool role_exists(std::string_view arn) const override { return roles.contains(arn); }
    bool role_usable(std::string_view arn) const override {
        const auto found = roles.find(arn);
        return found != roles.end() && found->second.usable;
    }
    std::vector<std::string> trusted_services(std::string_view arn) const override {
        const auto found = roles.find(arn);
        return found == roles.end() ? std::vector<std::string>() : found->second.trusts;
    }
    std::vector<std::string> role_policies(std::string_view) const override { return {}; }
    bool allows(const Identity&, std::string_view, std::string_view,
                const std::vector<std::pair<std::string, std::string>>&) const override {
        return true;
    }
    std::string ensure_service_linked_role(std::string_view principal, std::string_view name) override {
        const std::string arn = "arn:aws:iam::111122223333:role/aws-service-role/" + std::string(principal) +
                                "/" + std::string(name);
        roles[arn].trusts = {std::string(principal)};
        return arn;
    }
    std::optional<Identity> verify_eks_token(std::string_view token, std::string_view) const override {
        const auto found = tokens.find(token);
        if (found == tokens.end()) return std::nullopt;
        return found->second;
    }
    bool has_oidc_provider(std::string_view) const override { return true; }
};

class FakeWorld final : public World {
public:
    FakeWorld();

    rt::Clock& clock() override { return clock_; }
    TimePoint now() const override { return now_; }
    std::string account() const override { return "111122223333"; }
    std::string region() const override { return "us-west-2"; }
    FakeIam& iam() override { return iam_; }
    Service* service(std::string_view name) override;
    void after(base::Duration aws_duration, std::string_view service, std::string kind,
               JsonObject payload) override;
    base::Duration about(base::Duration typical) override { return typical; }
    std::string hex_id(std::string_view prefix, std::size_t digits) override;
    std::string uuid() override;
    double speed() const override { return 1; }
    std::optional<double> quota(std::string_view name) const override;
    std::optional<std::int64_t> capacity(std::string_view instance_type,
                                         std::string_view zone) const override;
    void take_capacity(std::string_view instance_type, std::string_view zone, std::int64_t count) override;
    void journal(std::string_view, std::string_view, std::string_view, JsonObject, int,
                 std::string_view) override {}
    void touched() override {}
    std::string aws_url() const override { return "http://127.0.0.1:3097"; }
    std::string kube_url() const override { return "https://127.0.0.1:3098"; }
    std::string ca_pem() const override { return "CA"; }

    // Moves time on; timers that fall due fire at their time.
    void advance(base::Duration duration);
    void add(std::unique_ptr<Service> service);
    // Calls a service; the answer, or {"Error": code, "Message": …, "Status": n, …members}.
    JsonObject call(std::string_view service, std::string_view operation, JsonObject params);
    boost::asio::io_context& io() { return io_; }

    std::map<std::string, double, std::less<>> quotas;
    std::map<std::string, std::int64_t, std::less<>> capacities;  // "type zone"
    base::Duration stale{};
    Identity caller;

private:
    struct Timer {
        std::string service, kind;
        JsonObject payload;
    };
    boost::asio::io_context io_;
    rt::VirtualClock clock_;
    TimePoint now_;
    FakeIam iam_;
    std::map<std::string, std::unique_ptr<Service>, std::less<>> services_;
    std::multimap<TimePoint, Timer> timers_;
    std::uint64_t ids_ = 0;
};

}  // namespace instantstart::twin::testing
