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
        {"instantstart_aws_calls_total", "Calls of AWS by service, operation and outcome code."},
        {"instantstart_aws_call_seconds_total", "Time spent on calls of AWS by service."},
        {"instantstart_aws_retries_total", "Repeated attempts of calls of AWS by service."},
        {"instantstart_engine_events_total", "Changes of state of operations and steps."}};
    return kHelp;
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

void Metrics::count_aws_call(const std::string& service, const std::string& operation,
                             const std::string& code, double seconds, int attempts) {
    add("instantstart_aws_calls_total",
        label("service", service) + "," + label("operation", operation) + "," +
            label("code", code.empty() ? "ok" : code),
        1);
    add("instantstart_aws_call_seconds_total", label("service", service), seconds);
    if (attempts > 1) add("instantstart_aws_retries_total", label("service", service), attempts - 1);
}

void Metrics::count_event(const std::string& event) {
    add("instantstart_engine_events_total", label("event", event), 1);
}

std::string Metrics::text() const {
    std::ostringstream out;
    for (const auto& [name, series] : counters_) {
        const auto known = help().find(name);
        if (known != help().end()) out << "# HELP " << name << " " << known->second << "\n";
        out << "# TYPE " << name << " counter\n";
        for (const auto& [labels, value] : series) out << name << "{" << labels << "} " << value << "\n";
    }
    const double uptime = std::chrono::duration<double>(clock_.monotonic() - started_).count();
    out << "# TYPE instantstart_uptime_seconds gauge\ninstantstart_uptime_seconds " << uptime << "\n";
    out << "# TYPE process_resident_memory_bytes gauge\nprocess_resident_memory_bytes " << std::fixed
        << resident_bytes() << "\n";
    return out.str();
}

}  // namespace instantstart::api
