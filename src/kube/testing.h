// For tests of this folder: a client, a virtual clock and an API server that is a function.
#pragma once

#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "http/memory_network.h"
#include "kube/client.h"
#include "rt/testing.h"

namespace instantstart::kube::testing {

using boost::asio::awaitable;
using http::Request;
using http::Response;

// Answers by a function of the request and its number; keeps what was asked.
class Script {
public:
    using Answer = std::function<Response(const Request&, int)>;
    explicit Script(Answer answer) : answer_(std::move(answer)) {}
    awaitable<Response> handle(Request request) {
        requests.push_back(request);
        co_return answer_(request, static_cast<int>(requests.size()));
    }
    std::vector<Request> requests;

private:
    Answer answer_;
};

inline Response json(int status, std::string text) {
    return {status, "application/json", std::move(text)};
}

inline Response status_of(int code, const std::string& reason, const std::string& more = "") {
    return json(code, R"({"kind":"Status","status":"Failure","message":"no )" + reason + R"(","reason":")" +
                          reason + R"(","code":)" + std::to_string(code) + more + "}");
}

inline Response lines(std::vector<std::string> pieces) {
    Response response(200);
    const auto left = std::make_shared<std::vector<std::string>>(std::move(pieces));
    struct Next {
        static Task<std::optional<std::string>> piece(std::shared_ptr<std::vector<std::string>> from) {
            if (from->empty()) co_return std::optional<std::string>();
            std::optional<std::string> first = from->front();
            from->erase(from->begin());
            co_return std::move(first);
        }
    };
    response.stream = http::make_stream([left] { return Next::piece(left); });
    return response;
}

inline Task<std::string> number_token(int& asked) {
    co_return "token-" + std::to_string(++asked);
}

class KubeTest : public ::testing::Test {
protected:
    Script& script(Script::Answer answer) {
        script_ = std::make_unique<Script>(std::move(answer));
        network_.listen("kube:443",
                        [this](Context, Request request) { return script_->handle(std::move(request)); });
        return *script_;
    }
    // A server that is given by its handler, for what a script is too short for.
    void serve(http::Handler handler) { network_.listen("kube:443", std::move(handler)); }
    template <class T>
    base::Result<T> run(Task<T> task) {
        return rt::testing::run(io_, clock_, std::move(task));
    }
    std::unique_ptr<Client> make() {
        Endpoint endpoint;
        endpoint.url = "https://kube/clusters/demo/";
        endpoint.token = [this](Context, bool) { return number_token(tokens_); };
        return make_client(endpoint, *transport_, clock_);
    }
    static Resource known(const char* name) { return known_resource(name).value(); }

    boost::asio::io_context io_;
    rt::VirtualClock clock_{io_, 1, base::TimePoint()};
    http::MemoryNetwork network_{clock_};
    std::unique_ptr<http::Transport> transport_ = network_.make_transport();
    std::unique_ptr<Script> script_;
    int tokens_ = 0;
    std::unique_ptr<Client> client_ = make();
};

}  // namespace instantstart::kube::testing
