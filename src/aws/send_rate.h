// How fast requests go to one service, in the adaptive retry mode: nothing is held back until the service
// throttles for the first time; from then on a bucket fills at a rate that falls with every throttle and
// grows back along a cubic curve, as the AWS SDKs do it. All calls of the process to a service share one.
#pragma once

#include <optional>

#include "rt/clock.h"

namespace instantstart::aws {

class SendRate {
public:
    // Takes a place in the queue: how long to wait before sending (zero: at once).
    rt::Duration reserve(rt::Duration now);
    // Gives the place back: the request was not sent after all.
    void cancel();
    // An answer came (`throttled` or not), or the attempt failed otherwise.
    void answered(bool throttled, rt::Duration now);

    // Requests a second that may leave; absent while nothing is held back.
    std::optional<double> limit() const { return limit_; }

private:
    void refill(double now);
    double measure(double now);
    double grown(double now) const;
    void fall(double rate, double now);

    std::optional<double> limit_;
    double tokens_ = 0;  // below zero: places that are taken in advance
    double refilled_at_ = 0;
    // Measured requests a second, smoothed over half seconds.
    double measured_ = 0, counted_ = 0;
    std::optional<double> bucket_;
    // The curve: the rate at the last throttle, when that was, and how long until the curve is back there.
    double top_ = 0, fell_at_ = 0, time_to_top_ = 0;
};

}  // namespace instantstart::aws
