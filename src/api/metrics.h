// Metrics: counters and histograms of the process in Prometheus's text form. Every label's values are few and
// known (names of the models and of the catalogue, kinds of errors); a bound per name guards against
// mistakes.
#pragma once

#include <array>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "aws/shared_reads.h"
#include "kube/cluster_cache.h"
#include "rt/clock.h"

namespace instantstart::api {

class Metrics {
public:
    explicit Metrics(rt::Clock& clock) : clock_(clock), started_(clock.monotonic()) {}
    void count_request(const std::string& face, int status, double seconds);
    void count_answer(const std::string& operation, const std::string& face, const std::string& code);
    void count_aws_call(const aws::CallReport& report);
    // A call of AWS that was not made, since another's answer served.
    void count_spared(const std::string& service, const std::string& operation, aws::Spared how);
    void count_event(const std::string& event);
    // What is asked for with every text(): the caches of clusters' objects.
    using Caches = std::function<std::vector<kube::CacheFigures>()>;
    void set_caches(Caches caches) { caches_ = std::move(caches); }
    std::string text() const;

private:
    // Upper bounds in seconds: from an answer of the same region to a call that was retried for a minute.
    static constexpr std::array kBuckets{0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0};
    struct Histogram {
        std::array<std::uint64_t, kBuckets.size()> at_most{};
        std::uint64_t count = 0;
        double sum = 0;
    };

    void add(const std::string& name, const std::string& labels, double value);
    void observe(const std::string& name, const std::string& labels, double seconds);
    std::string cache_series() const;
    rt::Clock& clock_;
    base::Duration started_;
    Caches caches_;
    std::map<std::string, std::map<std::string, double>> counters_;       // name -> labels -> value
    std::map<std::string, std::map<std::string, Histogram>> histograms_;  // the same
};

}  // namespace instantstart::api
