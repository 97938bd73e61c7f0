#include "kube/informer.h"

#include "rt/backoff.h"

namespace instantstart::kube {

namespace {

using namespace std::chrono_literals;

std::pair<std::string, std::string> key_of(const JsonObject& object) {
    return {base::get_string(object, "metadata.namespace"), base::get_string(object, "metadata.name")};
}

JsonObject without_managed_fields(JsonObject object) {
    if (auto* metadata = object.if_contains("metadata"); metadata != nullptr && metadata->is_object()) {
        metadata->get_object().erase("managedFields");
    }
    return object;
}

}  // namespace

Informer::Informer(boost::asio::any_io_executor executor, Client& client, rt::Clock& clock,
                   InformerOptions options)
    : client_(client),
      clock_(clock),
      options_(std::move(options)),
      changed_(executor),
      tasks_(executor, "informer") {
    if (!options_.select) options_.select = without_managed_fields;
}

void Informer::start() {
    tasks_.spawn("informer " + options_.resource.plural, run());
}

boost::asio::awaitable<void> Informer::stop() {
    tasks_.cancel();
    co_await tasks_.join();
}

Task<void> Informer::wait_ready(base::Duration limit) {
    const auto deadline = clock_.monotonic() + limit;
    while (!ready_) CO_CHECK_OK(co_await changed_.wait_for(clock_, deadline - clock_.monotonic()));
    co_return base::ok();
}

Informer::Object Informer::get(const std::string& ns, const std::string& name) const {
    const auto found = objects_.find({ns, name});
    return found == objects_.end() ? nullptr : found->second;
}

std::vector<Informer::Object> Informer::items() const {
    std::vector<Object> all;
    all.reserve(objects_.size());
    for (const auto& [key, object] : objects_) all.push_back(object);
    return all;
}

Task<void> Informer::run() {
    rt::Backoff backoff(500ms, options_.longest_pause);
    while (true) {
        const auto began = clock_.monotonic();
        base::Result<void> went = base::ok();
        if (resource_version_.empty()) went = co_await relist();
        if (went.has_value()) went = co_await follow();
        if (!went.has_value()) {
            auto& problem = went.error();
            if (problem.kind == base::ErrorKind::cancelled) co_return std::move(problem);
            // Too old a version, or events that cannot be read: the list tells the truth again.
            const bool stale = problem.code == "Expired" || problem.code == "WatchBroken" ||
                               problem.kind == base::ErrorKind::invalid;
            if (stale) resource_version_.clear();
            if (problem.code != "Expired") {
                error_ = std::move(problem);
                changed_.notify_all();
            }
        }
        // A server that ends every watch at once must not be asked in a tight loop.
        if (went.has_value() && clock_.monotonic() - began > 5s) {
            backoff.reset();
            continue;
        }
        CO_CHECK_OK(co_await clock_.sleep(backoff.next(clock_)));
    }
}

Task<void> Informer::relist() {
    CO_TRY(auto all, co_await client_.list(Context(), options_.resource, options_.list));
    objects_.clear();
    if (auto* items = all.if_contains("items"); items != nullptr && items->is_array()) {
        for (auto& item : items->get_array()) {
            if (item.is_object()) put(std::move(item.get_object()));
        }
    }
    resource_version_ = base::get_string(all, "resourceVersion", "0");
    ready_ = true;
    error_.reset();
    note_change();
    co_return base::ok();
}

Task<void> Informer::follow() {
    CO_TRY(const auto watch,
           co_await client_.watch(Context(), options_.resource, options_.list, resource_version_));
    if (error_) {
        error_.reset();
        changed_.notify_all();
    }
    while (true) {
        CO_TRY(auto event, co_await watch->next());
        if (!event) co_return base::ok();
        accept(std::move(*event));
    }
}

void Informer::accept(WatchEvent event) {
    if (auto version = base::get_string(event.object, "metadata.resourceVersion"); !version.empty()) {
        resource_version_ = std::move(version);
    }
    if (event.type == "BOOKMARK") return;
    if (event.type == "DELETED") {
        objects_.erase(key_of(event.object));
    } else {
        put(std::move(event.object));
    }
    note_change();
}

void Informer::put(JsonObject object) {
    auto key = key_of(object);
    objects_[std::move(key)] = std::make_shared<const JsonObject>(options_.select(std::move(object)));
}

void Informer::note_change() {
    ++revision_;
    changed_.notify_all();
}

}  // namespace instantstart::kube
