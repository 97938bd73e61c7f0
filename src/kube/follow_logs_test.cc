#include "kube/follow_logs.h"

#include <gtest/gtest.h>

#include "kube/testing.h"

namespace instantstart::kube {
namespace {

using namespace std::chrono_literals;
using testing::json;
using testing::KubeTest;
using testing::lines;
using testing::Request;
using testing::Response;
using testing::status_of;

Response broken(std::vector<std::string> pieces) {
    Response response(200);
    const auto left = std::make_shared<std::vector<std::string>>(std::move(pieces));
    struct Next {
        static Task<std::optional<std::string>> piece(std::shared_ptr<std::vector<std::string>> from) {
            if (from->empty())
                co_return base::Error(base::ErrorKind::unknown_outcome, "connection_reset", "broken");
            std::optional<std::string> first = from->front();
            from->erase(from->begin());
            co_return std::move(first);
        }
    };
    response.stream = http::make_stream([left] { return Next::piece(left); });
    return response;
}

std::string at(const std::string& second, const std::string& text) {
    return "2026-11-30T10:00:" + second + "Z " + text + "\n";
}

class FollowLogsTest : public KubeTest {
protected:
    // All that comes until the end.
    base::Result<std::string> all(LogOptions options = {}) {
        auto stream = run(follow_logs(*client_, clock_, Context(), "ns", "pod", std::move(options)));
        if (!stream.has_value()) return std::move(stream).error();
        std::string text;
        while (true) {
            auto piece = run((*stream)->read());
            if (!piece.has_value()) return std::move(piece).error();
            if (!*piece) return text;
            text += **piece;
        }
    }
    // `logs` answers to requests for logs one after another; the pod has `phase` once they are through.
    void serve_logs(std::vector<std::function<Response()>> logs, std::string phase) {
        const auto next = std::make_shared<std::size_t>(0);
        script([this, logs = std::move(logs), phase = std::move(phase), next](const Request& request, int) {
            if (request.path().ends_with("/log")) {
                asked_.push_back(request);
                return *next < logs.size() ? logs[(*next)++]() : lines({});
            }
            return json(200,
                        R"({"status":{"phase":")" + (*next < logs.size() ? "Running" : phase) + R"("}})");
        });
    }
    std::vector<Request> asked_;
};

TEST_F(FollowLogsTest, restart_of_the_container_goes_on_and_no_line_comes_twice) {
    serve_logs({[] { return lines({at("01", "a"), at("01.5", "b"), at("01.5", "b2")}); },
                [] { return status_of(400, "BadRequest"); },
                [] {
                    return lines({at("01", "a"), at("01.5", "b"), at("01.500", "b2"), at("01.5", "b3"),
                                  at("09", "c")});
                }},
               "Succeeded");
    EXPECT_EQ(all().value(), "a\nb\nb2\nb3\nc\n");
    EXPECT_EQ(asked_[1].parameter("sinceTime"), "2026-11-30T10:00:01Z");
    EXPECT_EQ(asked_[0].parameter("follow"), "true");
}

TEST_F(FollowLogsTest, line_that_a_broken_connection_cut_comes_whole) {
    serve_logs({[] { return broken({at("01", "a"), "2026-11-30T10:00:02Z hal"}); }, [] { return broken({}); },
                [] { return lines({at("01", "a"), at("02", "half"), "2026-11-30T10:00:03Z no newline"}); }},
               "Failed");
    LogOptions options;
    options.timestamps = true;
    EXPECT_EQ(all(options).value(), at("01", "a") + at("02", "half") + at("03", "no newline"));
}

TEST_F(FollowLogsTest, lines_out_of_order_are_lost_only_where_they_were_given) {
    serve_logs({[] { return lines({at("05", "out"), at("04", "err"), at("06", "end")}); }}, "Succeeded");
    EXPECT_EQ(all().value(), "out\nerr\nend\n");
}

TEST_F(FollowLogsTest, ends_with_the_pod_and_tells_a_refusal) {
    int number = 0;
    script([&](const Request& request, int) {
        if (request.path().ends_with("/log")) return lines({at("01", "a")});
        return status_of(404, "NotFound");
    });
    EXPECT_EQ(all().value(), "a\n");
    script([&](const Request&, int) { return status_of(404, "NotFound"); });
    EXPECT_EQ(all().error().kind, base::ErrorKind::not_found);
    script([&](const Request&, int) {
        return ++number == 1 ? lines({at("01", "a")}) : status_of(403, "Forbidden");
    });
    EXPECT_EQ(all().error().code, "Forbidden");
}

TEST_F(FollowLogsTest, outage_of_the_server_is_waited_out) {
    serve_logs({[] { return broken({at("01", "a")}); }, [] { return status_of(500, "InternalError"); },
                [] { return lines({at("08", "b")}); }},
               "Succeeded");
    EXPECT_EQ(all().value(), "a\nb\n");
}

}  // namespace
}  // namespace instantstart::kube
