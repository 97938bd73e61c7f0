#include "twin/kube/api_server.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <boost/asio/io_context.hpp>

#include "rt/testing.h"
#include "twin/kube/bootstrap.h"

namespace instantstart::twin::kube {
namespace {

class ApiServerTest : public ::testing::Test {
protected:
    ApiServerTest() : clock_(io_, 7, base::from_epoch(1'800'000'000)) {
        ClusterConfig config;
        config.name = "demo";
        config.authenticate = [](std::string_view token) -> std::optional<User> {
            User user;
            user.name = token;
            if (token == "admin") user.groups = {"system:masters"};
            if (token != "admin" && token != "bob") return std::nullopt;
            return user;
        };
        state_ = std::make_shared<ClusterState>(io_.get_executor(), clock_, config);
        auto* raw = state_.get();
        state_->store.set_defaulter(
            [raw](const Kind& kind, JsonObject& object) { fill_cluster_defaults(*raw, kind, object); });
        state_->on_change = state_->store.subscribe([raw](const Change& change) {
            remove_orphaned_objects(*raw, change);
            raw->changed.notify_all();
        });
        add_system_objects(*state_);
    }

    http::Response ask(const std::string& method, const std::string& target, const std::string& body = "",
                       const std::string& type = "application/json",
                       const std::string& accept = "application/json", const std::string& token = "admin") {
        http::Request request;
        request.method = method;
        request.target = target;
        request.body = body;
        request.headers.set("Content-Type", type);
        request.headers.set("Accept", accept);
        if (!token.empty()) request.headers.set("Authorization", "Bearer " + token);
        request.headers.set("User-Agent", "tester/1");
        ApiCall call;
        const auto path = request.path();
        return answer(state_, std::move(request), path, call);
    }
    JsonObject json(const http::Response& response) {
        auto parsed = base::parse_json(response.body, 100);
        EXPECT_TRUE(parsed.has_value()) << response.body;
        return parsed.has_value() && parsed->is_object() ? parsed->get_object() : JsonObject();
    }
    http::Response apply(const std::string& manager, const std::string& body, const std::string& more = "") {
        return ask("PATCH", kConfigMaps + "/c?fieldManager=" + manager + more, body,
                   "application/apply-patch+yaml");
    }
    // The next piece of a stream; "" at its end.
    std::string read(http::Response& response) {
        const auto piece = rt::testing::run<std::optional<std::string>>(io_, clock_, response.stream->read());
        EXPECT_TRUE(piece.has_value());
        return piece.has_value() ? piece->value_or("") : "";
    }

    const std::string kConfigMaps = "/api/v1/namespaces/default/configmaps";
    const std::string kDeployments = "/apis/apps/v1/namespaces/default/deployments";
    const std::string kDeployment =
        R"({"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web"},)"
        R"("spec":{"selector":{"matchLabels":{"a":"b"}},)"
        R"("template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"x","image":"i:1"},)"
        R"({"name":"y","image":"j:1"}]}}}})";
    boost::asio::io_context io_;
    rt::VirtualClock clock_;
    StatePtr state_;
};

TEST_F(ApiServerTest, request_without_a_known_token_is_unauthorized) {
    const auto response = ask("GET", "/api/v1/pods", "", "", "application/json", "nobody");
    EXPECT_EQ(response.status, 401);
    EXPECT_EQ(base::get_string(json(response), "reason"), "Unauthorized");
    EXPECT_EQ(ask("GET", "/api", "", "", "application/json", "").status, 401);
    EXPECT_EQ(ask("GET", "/readyz", "", "", "", "").status, 200);
}

TEST_F(ApiServerTest, user_may_do_what_a_binding_gives_and_no_more) {
    EXPECT_EQ(ask("GET", "/api/v1/namespaces/default/pods", "", "", "", "bob").status, 403);
    const auto bound =
        ask("POST", "/apis/rbac.authorization.k8s.io/v1/namespaces/default/rolebindings",
            R"({"metadata":{"name":"v"},"roleRef":{"apiGroup":"rbac.authorization.k8s.io",)"
            R"("kind":"ClusterRole","name":"view"},)"
            R"("subjects":[{"kind":"User","name":"bob","apiGroup":"rbac.authorization.k8s.io"}]})");
    ASSERT_EQ(bound.status, 201) << bound.body;
    EXPECT_EQ(ask("GET", "/api/v1/namespaces/default/pods", "", "", "", "bob").status, 200);
    const auto refused = ask("GET", "/api/v1/namespaces/default/secrets", "", "", "", "bob");
    EXPECT_EQ(base::get_string(json(refused), "message"),
              "secrets is forbidden: User \"bob\" cannot list resource \"secrets\" in API group \"\" in the "
              "namespace \"default\"");
}

TEST_F(ApiServerTest, create_fills_defaults_and_refuses_a_second_one) {
    const auto made = ask("POST", kDeployments, kDeployment);
    ASSERT_EQ(made.status, 201) << made.body;
    EXPECT_EQ(base::get_int(json(made), "spec.replicas"), 1);
    EXPECT_EQ(base::get_string(json(made), "spec.template.spec.containers.0.imagePullPolicy"),
              "IfNotPresent");
    EXPECT_EQ(base::get_int(json(made), "metadata.generation"), 1);
    EXPECT_EQ(base::get_string(json(ask("POST", kDeployments, kDeployment)), "reason"), "AlreadyExists");
}

TEST_F(ApiServerTest, bad_objects_are_refused_with_the_field) {
    EXPECT_EQ(ask("POST", kDeployments, "{").status, 400);
    EXPECT_EQ(ask("POST", kDeployments, "[]").status, 400);
    EXPECT_EQ(ask("POST", kDeployments, "x", "text/plain").status, 415);
    const auto empty = json(ask("POST", kDeployments, R"({"metadata":{"name":"a"},"spec":{}})"));
    EXPECT_EQ(base::get_int(empty, "code"), 422);
    EXPECT_EQ(base::get_string(empty, "details.causes.0.field"), "spec.template.spec.containers");
    const auto strict =
        json(ask("POST", kConfigMaps + "?fieldValidation=Strict", R"({"metadata":{"name":"a"},"dta":{}})"));
    EXPECT_NE(base::get_string(strict, "message").find("unknown field \"dta\""), std::string::npos);
    const auto typed =
        json(ask("POST", kDeployments, R"({"metadata":{"name":"a"},"spec":{"replicas":"two"}})"));
    EXPECT_NE(base::get_string(typed, "message").find("cannot unmarshal string"), std::string::npos);
    const auto lost = json(ask("POST", "/api/v1/namespaces/none/configmaps", R"({"metadata":{"name":"a"}})"));
    EXPECT_EQ(base::get_string(lost, "message"), "namespaces \"none\" not found");
}

TEST_F(ApiServerTest, strategic_merge_merges_containers_by_name_and_obeys_directives) {
    ask("POST", kDeployments, kDeployment);
    const std::string type = "application/strategic-merge-patch+json";
    const auto patched =
        json(ask("PATCH", kDeployments + "/web",
                 R"({"spec":{"template":{"spec":{"containers":[{"name":"y","image":"j:2"},{"name":"x",)"
                 R"("$patch":"delete"}]}}}})",
                 type));
    ASSERT_EQ(base::get_array(patched, "spec.template.spec.containers").size(), 1U);
    EXPECT_EQ(base::get_string(patched, "spec.template.spec.containers.0.image"), "j:2");
    EXPECT_EQ(base::get_int(patched, "metadata.generation"), 2);
    const auto ordered =
        json(ask("PATCH", kDeployments + "/web",
                 R"({"spec":{"template":{"spec":{"$setElementOrder/containers":[{"name":"z"},{"name":"y"}],)"
                 R"("containers":[{"name":"z","image":"k"}]}}}})",
                 type));
    EXPECT_EQ(base::get_string(ordered, "spec.template.spec.containers.0.name"), "z");
}

TEST_F(ApiServerTest, merge_and_json_patches_change_what_they_name) {
    ask("POST", kConfigMaps, R"({"metadata":{"name":"c","labels":{"x":"1"}},"data":{"a":"1"}})");
    auto patched = json(ask("PATCH", kConfigMaps + "/c", R"({"metadata":{"labels":null},"data":{"b":"2"}})",
                            "application/merge-patch+json"));
    EXPECT_EQ(base::get_string(patched, "data.b"), "2");
    EXPECT_EQ(base::find_path(patched, "metadata.labels"), nullptr);
    patched = json(ask("PATCH", kConfigMaps + "/c",
                       R"([{"op":"test","path":"/data/a","value":"1"},{"op":"remove","path":"/data/a"}])",
                       "application/json-patch+json"));
    EXPECT_EQ(base::find_path(patched, "data.a"), nullptr);
    EXPECT_EQ(ask("PATCH", kConfigMaps + "/c", R"([{"op":"remove","path":"/data/q"}])",
                  "application/json-patch+json")
                  .status,
              422);
    EXPECT_EQ(ask("PATCH", kConfigMaps + "/c", "{}", "text/plain").status, 415);
}

TEST_F(ApiServerTest, apply_owns_fields_and_conflicts_until_forced) {
    const std::string head = R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c"},"data":)";
    ASSERT_EQ(apply("one", head + R"({"a":"1","b":"1"}})").status, 201);
    const auto clash = json(apply("two", head + R"({"a":"2"}})"));
    EXPECT_EQ(base::get_int(clash, "code"), 409);
    EXPECT_EQ(base::get_string(clash, "details.causes.0.field"), ".data.a");
    ASSERT_EQ(apply("two", head + R"({"a":"2"}})", "&force=true").status, 200);
    const auto after = json(apply("one", head + R"({"c":"3"}})"));
    // b goes: only "one" had it. a stays: it is now "two"'s.
    EXPECT_EQ(base::to_text(base::get_object(after, "data")), R"({"a":"2","c":"3"})");
    const auto before = base::get_string(after, "metadata.resourceVersion");
    EXPECT_EQ(base::get_string(json(apply("one", head + R"({"c":"3"}})")), "metadata.resourceVersion"),
              before);
    EXPECT_EQ(ask("PATCH", kConfigMaps + "/c", head + "{}}", "application/apply-patch+yaml").status, 422);
}

TEST_F(ApiServerTest, apply_reads_yaml) {
    const auto response = apply("one",
                                "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: c\n"
                                "data:\n  a: \"1\"\n  b: text\n");
    ASSERT_EQ(response.status, 201) << response.body;
    const auto made = json(response);
    EXPECT_EQ(base::to_text(base::get_object(made, "data")), R"({"a":"1","b":"text"})");
    EXPECT_EQ(apply("one", "a: [").status, 400);
}

TEST_F(ApiServerTest, dry_run_stores_nothing) {
    EXPECT_EQ(ask("POST", kConfigMaps + "?dryRun=All", R"({"metadata":{"name":"c"}})").status, 201);
    EXPECT_EQ(ask("GET", kConfigMaps + "/c").status, 404);
}

TEST_F(ApiServerTest, old_resource_version_conflicts) {
    ask("POST", kConfigMaps, R"({"metadata":{"name":"c"}})");
    const auto reply = json(ask("PUT", kConfigMaps + "/c",
                                R"({"metadata":{"name":"c","resourceVersion":"1"},"data":{"a":"1"}})"));
    EXPECT_EQ(base::get_string(reply, "reason"), "Conflict");
}

TEST_F(ApiServerTest, selectors_choose_and_bad_ones_are_refused) {
    for (const auto* name : {"a", "b", "c"}) {
        ask("POST", kConfigMaps,
            std::string(R"({"metadata":{"name":")") + name + R"(","labels":{"n":")" + name + R"("}}})");
    }
    const auto count = [&](const std::string& query) {
        return base::get_array(json(ask("GET", kConfigMaps + query)), "items").size();
    };
    EXPECT_EQ(count("?labelSelector=n%20in%20(a,b)"), 2U);
    EXPECT_EQ(count("?labelSelector=n!=a,n"), 2U);
    EXPECT_EQ(count("?fieldSelector=metadata.name%3Dc"), 1U);
    EXPECT_EQ(ask("GET", kConfigMaps + "?labelSelector=n%20like%20(a)").status, 400);
    EXPECT_EQ(ask("GET", kConfigMaps + "?fieldSelector=data.x%3D1").status, 400);
}

TEST_F(ApiServerTest, pages_continue_until_the_token_is_too_old) {
    const auto first = json(ask("GET", "/api/v1/namespaces?limit=3"));
    EXPECT_EQ(base::get_array(first, "items").size(), 3U);
    EXPECT_EQ(base::get_int(first, "metadata.remainingItemCount"), 1);
    const auto token = base::get_string(first, "metadata.continue");
    const auto second = json(ask("GET", "/api/v1/namespaces?limit=3&continue=" + token));
    EXPECT_EQ(base::get_array(second, "items").size(), 1U);
    ask("POST", kConfigMaps, R"({"metadata":{"name":"c"}})");
    state_->store.compact();
    EXPECT_EQ(ask("GET", "/api/v1/namespaces?limit=3&continue=" + token).status, 410);
    EXPECT_EQ(ask("GET", "/api/v1/namespaces?limit=3&continue=!!").status, 400);
}

TEST_F(ApiServerTest, watch_tells_changes_leaves_and_expiry) {
    const auto revision = std::to_string(state_->store.revision());
    auto watch =
        ask("GET", kConfigMaps + "?watch=true&labelSelector=x&timeoutSeconds=5&resourceVersion=" + revision);
    ASSERT_NE(watch.stream, nullptr);
    ask("POST", kConfigMaps, R"({"metadata":{"name":"c","labels":{"x":"1"}}})");
    EXPECT_NE(read(watch).find(R"("type":"ADDED")"), std::string::npos);
    ask("PATCH", kConfigMaps + "/c", R"({"metadata":{"labels":null}})", "application/merge-patch+json");
    EXPECT_NE(read(watch).find(R"("type":"DELETED")"), std::string::npos);
    EXPECT_EQ(read(watch), "");
    state_->store.compact();
    EXPECT_EQ(ask("GET", kConfigMaps + "?watch=true&resourceVersion=" + revision).status, 410);
}

TEST_F(ApiServerTest, watch_sends_a_bookmark_and_ends_when_told) {
    auto watch =
        ask("GET", kConfigMaps + "?watch=true&allowWatchBookmarks=true&timeoutSeconds=600&resourceVersion=" +
                       std::to_string(state_->store.revision()));
    EXPECT_NE(read(watch).find("BOOKMARK"), std::string::npos);
    ++state_->connections;
    EXPECT_EQ(read(watch), "");
}

TEST_F(ApiServerTest, table_has_the_columns_of_kubectl) {
    const auto table = json(ask("GET", "/api/v1/namespaces", "", "",
                                "application/json;as=Table;v=v1;g=meta.k8s.io,application/json"));
    EXPECT_EQ(base::get_string(table, "kind"), "Table");
    EXPECT_EQ(base::get_string(table, "columnDefinitions.1.name"), "Status");
    EXPECT_EQ(base::get_string(table, "rows.0.cells.1"), "Active");
}

TEST_F(ApiServerTest, definition_brings_a_kind_and_takes_its_objects_with_it) {
    EXPECT_EQ(ask("GET", "/apis/x.io/v1/things").status, 404);
    const auto made =
        ask("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
            R"({"metadata":{"name":"things.x.io"},"spec":{"group":"x.io","scope":"Cluster",)"
            R"("names":{"plural":"things","kind":"Thing"},)"
            R"("versions":[{"name":"v1","served":true,"storage":true,)"
            R"("schema":{"openAPIV3Schema":{"type":"object","properties":)"
            R"({"spec":{"type":"object","required":["size"],"properties":{"size":{"type":"integer",)"
            R"("minimum":1},"mode":{"type":"string","default":"a","enum":["a","b"]}}}}}}}]}})");
    ASSERT_EQ(made.status, 201) << made.body;
    const auto bad = json(ask(
        "POST", "/apis/x.io/v1/things",
        R"({"apiVersion":"x.io/v1","kind":"Thing","metadata":{"name":"t"},"spec":{"size":0,"mode":"c"}})"));
    EXPECT_EQ(base::get_array(bad, "details.causes").size(), 2U) << base::to_text(bad);
    const auto good =
        json(ask("POST", "/apis/x.io/v1/things",
                 R"({"apiVersion":"x.io/v1","kind":"Thing","metadata":{"name":"t","finalizers":["x.io/f"]},)"
                 R"("spec":{"size":2,"odd":1}})"));
    EXPECT_EQ(base::to_text(base::get_object(good, "spec")), R"({"size":2,"mode":"a"})");
    EXPECT_EQ(ask("DELETE", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/things.x.io").status,
              200);
    EXPECT_EQ(state_->store.get(Kind("x.io", "things"), "", "t"), nullptr);
}

TEST_F(ApiServerTest, protobuf_body_of_a_namespace_is_read) {
    // runtime.Unknown{1: {1: "v1", 2: "Namespace"}, 2: Namespace{1: ObjectMeta{1: "p"}}}
    const std::string type = std::string("\x0a\x02v1\x12\x09Namespace", 15);
    const std::string raw = std::string("\x0a\x03\x0a\x01p", 5);
    std::string body("k8s\0", 4);
    body += std::string("\x0a\x0f", 2) + type + std::string("\x12\x05", 2) + raw;
    const auto made = ask("POST", "/api/v1/namespaces", body, "application/vnd.kubernetes.protobuf");
    EXPECT_EQ(made.status, 201) << made.body;
    EXPECT_EQ(ask("GET", "/api/v1/namespaces/p").status, 200);
    EXPECT_EQ(
        ask("POST", "/api/v1/namespaces", body.substr(0, 20), "application/vnd.kubernetes.protobuf").status,
        400);
}

TEST_F(ApiServerTest, scale_changes_the_replicas) {
    ask("POST", kDeployments, kDeployment);
    const auto scale = json(ask("PATCH", kDeployments + "/web/scale", R"({"spec":{"replicas":4}})",
                                "application/merge-patch+json"));
    EXPECT_EQ(base::get_int(scale, "spec.replicas"), 4);
    EXPECT_EQ(base::get_int(json(ask("GET", kDeployments + "/web")), "spec.replicas"), 4);
    EXPECT_EQ(ask("PATCH", kDeployments + "/web/scale", R"({"spec":{"replicas":-1}})",
                  "application/merge-patch+json")
                  .status,
              422);
}

TEST_F(ApiServerTest, finalizer_holds_an_object_until_it_is_taken_off) {
    ask("POST", kConfigMaps, R"({"metadata":{"name":"c","finalizers":["a/b"]}})");
    EXPECT_EQ(ask("DELETE", kConfigMaps + "/c").status, 200);
    EXPECT_NE(base::find_path(json(ask("GET", kConfigMaps + "/c")), "metadata.deletionTimestamp"), nullptr);
    ask("PATCH", kConfigMaps + "/c", R"({"metadata":{"finalizers":null}})", "application/merge-patch+json");
    EXPECT_EQ(ask("GET", kConfigMaps + "/c").status, 404);
}

TEST_F(ApiServerTest, status_is_written_by_its_subresource_only) {
    ask("POST", kDeployments, kDeployment);
    const std::string status = R"({"status":{"replicas":3},"spec":{"replicas":9}})";
    const std::string type = "application/merge-patch+json";
    EXPECT_EQ(base::find_path(json(ask("PATCH", kDeployments + "/web", R"({"status":{"replicas":3}})", type)),
                              "status.replicas"),
              nullptr);
    const auto after = json(ask("PATCH", kDeployments + "/web/status", status, type));
    EXPECT_EQ(base::get_int(after, "status.replicas"), 3);
    EXPECT_EQ(base::get_int(after, "spec.replicas"), 1);
}

TEST_F(ApiServerTest, unknown_paths_and_methods_are_told) {
    EXPECT_EQ(ask("GET", "/apis/none/v1/things").status, 404);
    EXPECT_EQ(ask("PUT", kConfigMaps, "{}").status, 405);
    EXPECT_EQ(ask("POST", "/api/v1/configmaps", "{}").status, 405);
    EXPECT_EQ(ask("GET", "/api/v1/namespaces/default/pods/x/exec").status, 501);
    EXPECT_EQ(ask("GET", "/openapi/v2").status, 404);
}

TEST_F(ApiServerTest, store_returns_as_it_was_saved) {
    ask("POST", kConfigMaps, R"({"metadata":{"name":"c"},"data":{"a":"1"}})");
    const auto saved = state_->store.save();
    ask("DELETE", kConfigMaps + "/c");
    state_->store.load(saved);
    EXPECT_EQ(base::get_string(json(ask("GET", kConfigMaps + "/c")), "data.a"), "1");
}

TEST_F(ApiServerTest, list_shows_the_state_at_an_exact_revision) {
    for (auto name : {"a", "b"})
        ask("POST", kConfigMaps, std::string(R"({"metadata":{"name":")") + name + R"("},"data":{"i":"1"}})");
    const auto then = std::to_string(state_->store.revision());
    ask("PATCH", kConfigMaps + "/a", R"({"data":{"i":"2"}})", "application/merge-patch+json");
    ask("DELETE", kConfigMaps + "/b");
    ask("POST", kConfigMaps, R"({"metadata":{"name":"c"}})");
    const auto exact = json(ask("GET", kConfigMaps + "?resourceVersionMatch=Exact&resourceVersion=" + then));
    const auto& items = base::get_array(exact, "items");
    ASSERT_EQ(items.size(), 3U) << base::to_text(exact);  // with the authority
    EXPECT_EQ(base::get_string(items[0], "data.i"), "1");
    EXPECT_EQ(base::get_string(items[1], "metadata.name"), "b");
    EXPECT_EQ(base::get_string(exact, "metadata.resourceVersion"), then);
    EXPECT_EQ(ask("GET", kConfigMaps + "?resourceVersionMatch=Exact").status, 422);
    EXPECT_EQ(ask("GET", kConfigMaps + "?resourceVersion=999999999").status, 504);
    EXPECT_EQ(ask("GET", kConfigMaps + "?resourceVersion=abc").status, 400);
    state_->store.compact();
    EXPECT_EQ(ask("GET", kConfigMaps + "?resourceVersionMatch=Exact&resourceVersion=" + then).status, 410);
}

TEST_F(ApiServerTest, continued_page_shows_the_list_as_it_was) {
    for (auto name : {"a", "b", "c"})
        ask("POST", kConfigMaps, std::string(R"({"metadata":{"name":")") + name + R"("}})");
    const auto first = json(ask("GET", kConfigMaps + "?limit=1"));
    const auto token = base::get_string(first, "metadata.continue");
    ask("DELETE", kConfigMaps + "/c");
    const auto rest = json(ask("GET", kConfigMaps + "?limit=10&continue=" + token));
    EXPECT_EQ(base::get_array(rest, "items").size(), 3U);
    state_->store.compact();
    const auto late = json(ask("GET", kConfigMaps + "?limit=10&continue=" + token));
    EXPECT_EQ(base::get_string(late, "reason"), "Expired");
    const auto onward = base::get_string(late, "metadata.continue");
    const auto present = json(ask("GET", kConfigMaps + "?limit=10&continue=" + onward));
    EXPECT_EQ(base::get_array(present, "items").size(), 2U) << base::to_text(present);
}

TEST_F(ApiServerTest, long_list_comes_in_pieces_and_shows_one_moment) {
    const Kind maps("", "configmaps");
    for (int i = 0; i < 1200; ++i) {
        JsonObject map{{"metadata", JsonObject{{"name", "m" + std::to_string(i)}, {"namespace", "default"}}}};
        ASSERT_TRUE(state_->store.create(maps, std::move(map)).has_value());
    }
    auto list = ask("GET", kConfigMaps);
    auto watch =
        ask("GET",
            kConfigMaps +
                "?watch=1&allowWatchBookmarks=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan");
    ask("DELETE", kConfigMaps + "/m7");
    ASSERT_NE(list.stream, nullptr);
    std::string body;
    for (auto piece = read(list); !piece.empty(); piece = read(list)) body += piece;
    list.body = body;
    EXPECT_EQ(base::get_array(json(list), "items").size(), 1201U);  // with the authority
    std::size_t lines = 0;
    std::string last;
    while (last.find("initial-events-end") == std::string::npos) {
        last = read(watch);
        ASSERT_NE(last, "");
        lines += static_cast<std::size_t>(std::count(last.begin(), last.end(), '\n'));
    }
    EXPECT_EQ(lines, 1202U);  // and the bookmark
    EXPECT_NE(read(watch).find(R"("type":"DELETED")"), std::string::npos);
}

// The official Python client writes booleans its own way.
TEST_F(ApiServerTest, watch_is_asked_for_in_any_spelling) {
    for (auto word : {"true", "1", "True", "TRUE"})
        EXPECT_NE(ask("GET", kConfigMaps + "?watch=" + word).stream, nullptr) << word;
    EXPECT_NE(ask("GET", "/api/v1/watch/namespaces/default/configmaps").stream, nullptr);
    EXPECT_EQ(ask("GET", kConfigMaps + "?watch=false").stream, nullptr);
}

TEST_F(ApiServerTest, object_that_leaves_a_selection_is_shown_as_it_was_last_in_it) {
    const auto revision = std::to_string(state_->store.revision());
    auto watch = ask("GET", kConfigMaps + "?watch=1&labelSelector=x%3D1&resourceVersion=" + revision);
    ask("POST", kConfigMaps, R"({"metadata":{"name":"c","labels":{"x":"1"}}})");
    read(watch);
    ask("PATCH", kConfigMaps + "/c", R"({"metadata":{"labels":{"x":"2"}}})", "application/merge-patch+json");
    const auto event = base::parse_json(read(watch));
    ASSERT_TRUE(event.has_value());
    EXPECT_EQ(base::get_string(*event, "type"), "DELETED");
    EXPECT_EQ(base::get_string(*event, "object.metadata.labels.x"), "1");
}

TEST_F(ApiServerTest, caller_may_be_taken_for_another) {
    http::Request request;
    request.target = kConfigMaps;
    request.headers.set("Authorization", "Bearer admin");
    request.headers.set("Impersonate-User", "bob");
    ApiCall call;
    const auto path = request.path();
    const auto refused = answer(state_, request, path, call);
    EXPECT_EQ(refused.status, 403);
    EXPECT_NE(refused.body.find("User \\\"bob\\\" cannot list"), std::string::npos) << refused.body;
    request.headers.set("Authorization", "Bearer bob");
    EXPECT_NE(answer(state_, request, path, call).body.find("cannot impersonate"), std::string::npos);
}

TEST_F(ApiServerTest, unmanaged_object_belongs_to_whoever_was_before_the_first_apply) {
    ask("POST", kConfigMaps, R"({"metadata":{"name":"c"},"data":{"a":"1"}})");
    ask("PATCH", kConfigMaps + "/c", R"([{"op":"replace","path":"/metadata/managedFields","value":[{}]}])",
        "application/json-patch+json");
    const auto clash =
        apply("one", R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c"},"data":{"a":"2"}})");
    EXPECT_EQ(clash.status, 409);
    EXPECT_NE(clash.body.find("before-first-apply"), std::string::npos) << clash.body;
}

TEST_F(ApiServerTest, options_of_a_write_are_checked) {
    const std::string body = R"({"metadata":{"name":"c"}})";
    EXPECT_EQ(ask("POST", kConfigMaps + "?dryRun=Some", body).status, 422);
    EXPECT_EQ(ask("POST", kConfigMaps + "?fieldValidation=Loose", body).status, 422);
    EXPECT_EQ(ask("POST", kConfigMaps + "?fieldManager=" + std::string(129, 'm'), body).status, 422);
    EXPECT_EQ(ask("POST", kConfigMaps, body).status, 201);
    EXPECT_EQ(ask("PATCH", kConfigMaps + "/c?force=true", "{}", "application/merge-patch+json").status, 422);
}

TEST_F(ApiServerTest, merged_list_keeps_the_order_of_the_patch) {
    ask("POST", kDeployments, kDeployment);
    const auto changed = json(ask("PATCH", kDeployments + "/web",
                                  R"({"spec":{"template":{"spec":{"containers":[{"name":"z","image":"k:1"},)"
                                  R"({"name":"y","image":"j:2"}]}}}})",
                                  "application/strategic-merge-patch+json"));
    std::string names;
    for (const auto& container : base::get_array(changed, "spec.template.spec.containers"))
        names += base::get_string(container, "name");
    EXPECT_EQ(names, "zxy") << base::to_text(changed);
}

TEST_F(ApiServerTest, bad_metadata_is_refused) {
    const auto status = [&](const std::string& meta) {
        return ask("POST", kConfigMaps, R"({"metadata":{"name":"m",)" + meta + "}}").status;
    };
    EXPECT_EQ(status(R"("annotations":{"a b":"c"})"), 422);
    EXPECT_EQ(status(R"("finalizers":["plain"])"), 422);
    EXPECT_EQ(status(R"("ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","name":"n"}])"), 422);
    EXPECT_EQ(status(R"("finalizers":["x.io/f"])"), 201);
    ask("DELETE", kConfigMaps + "/m");
    EXPECT_EQ(ask("PATCH", kConfigMaps + "/m", R"({"metadata":{"finalizers":["x.io/f","x.io/g"]}})",
                  "application/merge-patch+json")
                  .status,
              422);
}

}  // namespace
}  // namespace instantstart::twin::kube
