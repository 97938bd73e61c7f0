// doctor: looks at the account with the credentials of this shell, or at the running server's: each finding
// with its remedy.
#include <boost/asio/io_context.hpp>
#include <iostream>

#include "aws/client.h"
#include "http/transport.h"
#include "rt/task_group.h"
#include "server/api_client.h"
#include "server/commands.h"
#include "server/data_folder.h"
#include "server/doctor_checks.h"
#include "server/doctor_surroundings.h"
#include "server/surroundings.h"

namespace instantstart::server {

namespace {

using base::JsonObject;
using base::JsonValue;

void print_finding(const Finding& finding) {
    const char* mark = finding.state == FindingState::good   ? "ok    "
                       : finding.state == FindingState::warn ? "warn  "
                                                             : "FAIL  ";
    std::cout << mark << finding.what << ": " << finding.seen << "\n";
    if (finding.state != FindingState::good && !finding.remedy.empty())
        std::cout << "      -> " << finding.remedy << "\n";
}

JsonObject to_json(const Finding& finding) {
    JsonObject made;
    made["check"] = finding.what;
    made["state"] = finding.state == FindingState::good   ? "ok"
                    : finding.state == FindingState::warn ? "warning"
                                                          : "failed";
    made["seen"] = finding.seen;
    if (!finding.remedy.empty()) made["remedy"] = finding.remedy;
    return made;
}

// The running server: whether it answers and which account it works on.
rt::Task<void> check_server(ApiClient& client, std::vector<Finding>& findings, std::string& backend) {
    auto answered = co_await client.send("GET", "/environment", {}, "");
    Finding finding("server");
    if (!answered) {
        finding.state = FindingState::warn;
        finding.seen = answered.error().message;
        finding.remedy = "Start it with `instantstart serve`, or name it with --url.";
        if (is_in_container())
            finding.remedy +=
                " This is a container, where 127.0.0.1 is the container's own: name the server's address, "
                "and "
                "let a server in a container listen on 0.0.0.0.";
    } else if (answered->status != 200) {
        finding.state = FindingState::failed;
        finding.seen =
            base::get_string(answered->body, "detail", "status " + std::to_string(answered->status));
        finding.remedy = base::get_string(answered->body, "hint");
    } else {
        const JsonObject& told = base::get_object(answered->body, "environment");
        backend = base::get_string(told, "backend");
        finding.seen =
            "answers; backend " + backend + ", account " + base::get_string(told, "account", "unknown");
    }
    findings.push_back(std::move(finding));
    co_return base::ok();
}

// What the shell has, and the twin's well-known pair where the server works on the twin and the shell has
// nothing.
aws::ClientSettings client_settings(const Flags& flags) {
    aws::ClientSettings settings;
    settings.region = flags.region;
    settings.environment = environment;
    return settings;
}

rt::Task<void> check_all(aws::Client& client, http::Transport& transport, rt::Clock& clock,
                         std::vector<Finding>& findings) {
    const http::TransportSettings settings = transport_settings();
    CO_TRY(const bool usable, co_await check_surroundings(client, transport, clock, settings, findings));
    if (!usable) co_return base::ok();  // the account cannot be asked
    co_return co_await check_account(client, findings);
}

rt::Task<int> examine(ApiClient& client, http::Transport& transport, Flags flags) {
    std::vector<Finding> findings;
    std::string backend;
    auto server = co_await check_server(client, findings, backend);
    CO_CHECK_OK(std::move(server));
    const bool on_twin = backend == "twin" && environment("AWS_ENDPOINT_URL").empty() &&
                         environment("AWS_ACCESS_KEY_ID").empty();
    if (on_twin) {
        Finding finding("account");
        finding.seen = "simulated by the server itself: no credentials are needed";
        findings.push_back(std::move(finding));
    } else {
        auto made = aws::make_client(client_settings(flags), transport, client.clock);
        if (!made) {
            Finding finding(made.error().code == "no_region" ? "region" : "settings");
            finding.state = FindingState::failed;
            finding.seen = made.error().message;
            finding.remedy = made.error().hint;
            findings.push_back(std::move(finding));
        } else {
            auto looked = co_await check_all(**made, transport, client.clock, findings);
            CO_CHECK_OK(std::move(looked));
        }
    }
    bool failed = false;
    base::JsonArray list;
    for (const auto& finding : findings) {
        failed = failed || finding.state == FindingState::failed;
        if (flags.json)
            list.push_back(to_json(finding));
        else
            print_finding(finding);
    }
    if (flags.json) {
        JsonObject report;
        report["checks"] = std::move(list);
        std::cout << base::pretty_text(JsonValue(std::move(report))) << "\n";
    }
    co_return failed ? 1 : 0;
}

rt::Task<int> examine_with_transport(ApiClient& client, Flags flags) {
    const auto executor = co_await boost::asio::this_coro::executor;
    const auto transport = http::make_socket_transport(executor, client.clock, transport_settings());
    co_return co_await examine(client, *transport, std::move(flags));
}

}  // namespace

int run_doctor(const Flags& flags) {
    return with_client(flags, [&flags](ApiClient& client) { return examine_with_transport(client, flags); });
}

}  // namespace instantstart::server
