// The API server of one cluster: answers requests from the object store.
#pragma once

#include <memory>
#include <string>

#include "http/server.h"
#include "rt/event.h"
#include "twin/kube/call.h"
#include "twin/kube/kinds.h"
#include "twin/kube/object_store.h"

namespace instantstart::twin::kube {

// What streams of a cluster share with it; they may outlive it.
struct ClusterState {
    ClusterState(boost::asio::any_io_executor executor, rt::Clock& the_clock, ClusterConfig the_config)
        : clock(the_clock),
          config(std::move(the_config)),
          store(the_clock),
          kinds(store),
          changed(executor),
          logged(executor) {}

    rt::Clock& clock;
    ClusterConfig config;
    MemoryObjectStore store;
    KindRegistry kinds;
    rt::Event changed;                         // the store
    rt::Event logged;                          // a pod's log
    std::unique_ptr<Controllers> controllers;  // may be null in tests
    std::uint64_t connections = 0;             // grows when all streams must end
    bool closed = false;
    ObjectStore::Subscription on_change;
    std::shared_ptr<void> on_log;
};
using StatePtr = std::shared_ptr<ClusterState>;

// Answers one request below the cluster's address. `path` is the path without /clusters/NAME.
http::Response answer(StatePtr state, http::Request request, std::string_view path, ApiCall& call);

// Its parts, each in a file of its own; all have an authorised call whose kind exists.
http::Response answer_read(const StatePtr& state, const ApiCall& call);    // get, list
http::Response answer_write(const StatePtr& state, const ApiCall& call);   // create, update, patch, delete
http::Response answer_delete(const StatePtr& state, const ApiCall& call);  // delete, deletecollection
http::Response answer_watch(const StatePtr& state, const ApiCall& call);
http::Response answer_log(const StatePtr& state, const ApiCall& call);
http::Response answer_scale(const StatePtr& state, const ApiCall& call);
http::Response answer_review(const StatePtr& state, const ApiCall& call);  // access and token reviews
http::Response answer_eviction(const StatePtr& state, const ApiCall& call);
http::Response answer_binding(const StatePtr& state, const ApiCall& call);
http::Response answer_token(const StatePtr& state, const ApiCall& call);
// Discovery, version, health, OpenAPI.
http::Response answer_discovery(const StatePtr& state, const ApiCall& call);
http::Response answer_open_api(const StatePtr& state, const ApiCall& call);

// The object in the form that Accept asks for: as it is, or as a Table.
http::Response object_response(const ClusterState& state, const ApiCall& call, int status,
                               const ObjectPtr& object);
// The body as an object: JSON, or protobuf of a known kind; 400, 415.
base::Result<JsonObject> read_body(const ApiCall& call);
// Where the answer shall be a Table: its apiVersion; "" otherwise.
std::string wanted_table(const ApiCall& call);
// An object as its kind's version shows it.
ObjectPtr in_version(const KindInfo& kind, const ObjectPtr& object);

}  // namespace instantstart::twin::kube
