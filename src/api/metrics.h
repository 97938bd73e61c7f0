// Metrics: counters of the process in Prometheus's text form.
#pragma once

#include <map>
#include <string>

#include "rt/clock.h"

namespace instantstart::api {

class Metrics {
public:
    explicit Metrics(rt::Clock& clock) : clock_(clock), started_(clock.monotonic()) {}
    void count_request(const std::string& face, int status, double seconds);
    void count_answer(const std::string& operation, const std::string& face, const std::string& code);
    void count_aws_call(const std::string& service, const std::string& operation, const std::string& code,
                        double seconds, int attempts);
    void count_event(const std::string& event);
    std::string text() const;

private:
    void add(const std::string& name, const std::string& labels, double value);
    rt::Clock& clock_;
    base::Duration started_;
    std::map<std::string, std::map<std::string, double>> counters_;  // name -> labels -> value
};

}  // namespace instantstart::api
