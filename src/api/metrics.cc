#include "api/metrics.h"

#include <unistd.h>

#include <fstream>
#include <sstream>

namespace instantstart::api {

namespace {

constexpr std::size_t kMaxSeries =
    2000;  // per name; operations, faces and codes are few, so more is a mistake

std::string label(const char* name, const std::string& value) {
    std::string made = std::string(name) + "=\"";
    for (const char c : value) {
        if (c == '"' || c == '\\') made += '\\';
        made += c == '\n' ? ' ' : c;
    }
    return made + "\"";
}

double resident_bytes() {
    std::ifstream file("/proc/self/statm");
    double total = 0;
    double resident = 0;
    if (!(file >> total >> resident)) return 0;
    return resident * static_cast<double>(sysconf(_SC_PAGESIZE));
}

const std::map<std::string, const char*>& help() {
    static const std::map<std::string, const char*> kHelp = {
        {"instantstart_requests_total", "Answers by face and status class."},
        {"instantstart_request_seconds_total", "Time spent on answers by face."},
        {"instantstart_answers_total", "Operations asked for, by operation, face and outcome code."},
        {"instantstart_aws_calls_total",
         "Calls of AWS by service, operation and outcome, retries within one."},
        {"instantstart_aws_attempts_total",
         "Requests sent to AWS by service and operation, retries counted."},
        {"instantstart_aws_throttles_total", "Requests that AWS refused for coming too fast."},
        {"instantstart_aws_call_duration_seconds", "Time of calls of AWS, their retries and waits included."},
        {"instantstart_aws_spared_calls_total", "Calls of AWS not made: joined to one in flight, or kept."},
        {"instantstart_engine_events_total", "Changes of state of operations and steps."},
        {"instantstart_kube_cache_objects", "Objects of a cluster that are kept, by kind."},
        {"instantstart_kube_cache_fresh", "1 where the objects are kept up to date, 0 where they are old."},
        {"instantstart_kube_cache_resource_version",
         "The newest resourceVersion seen; behind the API server's own by what has not come yet."},
        {"instantstart_kube_cache_changes_total", "Changes of objects that watches have told."},
        {"instantstart_kube_cache_lists_total", "Whole lists of objects read."},
        {"instantstart_uptime_seconds", "Time since the start of the server."},
        {"process_resident_memory_bytes", "Resident memory of the process."}};
    return kHelp;
}

void head(std::ostream& out, const std::string& name, const char* type) {
    const auto known = help().find(name);
    if (known != help().end()) out << "# HELP " << name << " " << known->second << "\n";
    out << "# TYPE " << name << " " << type << "\n";
}

}  // namespace

void Metrics::add(const std::string& name, const std::string& labels, double value) {
    auto& series = counters_[name];
    if (series.size() >= kMaxSeries && !series.contains(labels)) return;
    series[labels] += value;
}

void Metrics::count_request(const std::string& face, int status, double seconds) {
    constexpr int kClass = 100;
    add("instantstart_requests_total",
        label("face", face) + "," + label("status", std::to_string(status / kClass) + "xx"), 1);
    add("instantstart_request_seconds_total", label("face", face), seconds);
}

void Metrics::count_answer(const std::string& operation, const std::string& face, const std::string& code) {
    add("instantstart_answers_total",
        label("operation", operation) + "," + label("face", face) + "," +
            label("code", code.empty() ? "ok" : code),
        1);
}

void Metrics::observe(const std::string& name, const std::string& labels, double seconds) {
    auto& series = histograms_[name];
    if (series.size() >= kMaxSeries && !series.contains(labels)) return;
    Histogram& histogram = series[labels];
    for (std::size_t i = 0; i < kBuckets.size(); ++i)
        histogram.at_most[i] += seconds <= kBuckets[i] ? 1U : 0U;
    ++histogram.count;
    histogram.sum += seconds;
}

void Metrics::count_aws_call(const aws::CallReport& report) {
    const std::string call = label("service", report.service) + "," + label("operation", report.operation);
    add("instantstart_aws_calls_total",
        call + "," + label("outcome", report.kind ? base::to_string(*report.kind) : "ok"), 1);
    add("instantstart_aws_attempts_total", call, report.attempts);
    add("instantstart_aws_throttles_total", call, report.throttles);
    observe("instantstart_aws_call_duration_seconds", call, report.seconds);
}

void Metrics::count_spared(const std::string& service, const std::string& operation, aws::Spared how) {
    add("instantstart_aws_spared_calls_total",
        label("service", service) + "," + label("operation", operation) + "," +
            label("how", how == aws::Spared::joined ? "joined" : "kept"),
        1);
}

void Metrics::count_event(const std::string& event) {
    add("instantstart_engine_events_total", label("event", event), 1);
}

std::string Metrics::cache_series() const {
    using Figures = kube::CacheFigures;
    struct Series {
        const char *name, *type;
        std::string (*value)(const Figures&);
    };
    static constexpr Series kSeries[] = {
        {"instantstart_kube_cache_objects", "gauge",
         [](const Figures& of) { return std::to_string(of.objects); }},
        {"instantstart_kube_cache_fresh", "gauge",
         [](const Figures& of) { return std::string(of.fresh ? "1" : "0"); }},
        {"instantstart_kube_cache_resource_version", "gauge",
         [](const Figures& of) { return of.resource_version; }},
        {"instantstart_kube_cache_changes_total", "counter",
         [](const Figures& of) { return std::to_string(of.changes); }},
        {"instantstart_kube_cache_lists_total", "counter",
         [](const Figures& of) { return std::to_string(of.lists); }},
    };
    const auto caches = caches_ ? caches_() : std::vector<Figures>();
    std::ostringstream out;
    for (const auto& series : kSeries) {
        if (caches.empty()) break;
        head(out, series.name, series.type);
        for (const auto& cache : caches) {
            const auto value = series.value(cache);
            // A version is whatever a server makes it; only a number is a value here.
            if (value.empty() || value.find_first_not_of("0123456789") != std::string::npos) continue;
            out << series.name << "{" << label("cluster", cache.cluster) << "," << label("kind", cache.kind)
                << "} " << value << "\n";
        }
    }
    return out.str();
}

std::string Metrics::text() const {
    std::ostringstream out;
    constexpr int kDigits = 15;  // counters stay whole numbers up to 10^15
    out.precision(kDigits);
    for (const auto& [name, series] : counters_) {
        head(out, name, "counter");
        for (const auto& [labels, value] : series) out << name << "{" << labels << "} " << value << "\n";
    }
    for (const auto& [name, series] : histograms_) {
        head(out, name, "histogram");
        for (const auto& [labels, histogram] : series) {
            for (std::size_t i = 0; i < kBuckets.size(); ++i) {
                out << name << "_bucket{" << labels << ",le=\"" << kBuckets[i] << "\"} "
                    << histogram.at_most[i] << "\n";
            }
            out << name << "_bucket{" << labels << ",le=\"+Inf\"} " << histogram.count << "\n";
            out << name << "_sum{" << labels << "} " << histogram.sum << "\n";
            out << name << "_count{" << labels << "} " << histogram.count << "\n";
        }
    }
    out << cache_series();
    const double uptime = std::chrono::duration<double>(clock_.monotonic() - started_).count();
    head(out, "instantstart_uptime_seconds", "gauge");
    out << "instantstart_uptime_seconds " << uptime << "\n";
    head(out, "process_resident_memory_bytes", "gauge");
    out << "process_resident_memory_bytes " << std::fixed << resident_bytes() << "\n";
    return out.str();
}

}  // namespace instantstart::api
