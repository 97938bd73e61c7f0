#include "aws/send_rate.h"

#include <algorithm>
#include <cmath>

namespace instantstart::aws {

namespace {

// The constants of the SDKs' adaptive mode (botocore/retries: adaptive.py, bucket.py, throttling.py).
constexpr double kCurve = 0.4;      // how steep the rate grows back
constexpr double kFall = 0.7;       // of the rate that was too fast
constexpr double kLeast = 0.5;      // requests a second
constexpr double kSmoothing = 0.8;  // weight of the newest half second
constexpr double kBucketSeconds = 0.5;
constexpr double kMostOfMeasured = 2.0;  // the limit never runs far ahead of what is sent

double seconds_of(rt::Duration duration) {
    return std::chrono::duration<double>(duration).count();
}

}  // namespace

void SendRate::refill(double now) {
    const double rate = limit_.value_or(0);
    tokens_ = std::min(std::max(rate, 1.0), tokens_ + (now - refilled_at_) * rate);
    refilled_at_ = now;
}

rt::Duration SendRate::reserve(rt::Duration now) {
    if (!limit_) return rt::Duration::zero();
    refill(seconds_of(now));
    tokens_ -= 1;
    if (tokens_ >= 0) return rt::Duration::zero();
    const std::chrono::duration<double> wait(-tokens_ / *limit_);
    return std::chrono::duration_cast<rt::Duration>(wait);
}

void SendRate::cancel() {
    if (limit_) tokens_ += 1;
}

double SendRate::measure(double now) {
    const double bucket = std::floor(now / kBucketSeconds) * kBucketSeconds;
    if (!bucket_) bucket_ = std::floor(now);
    counted_ += 1;
    if (bucket > *bucket_) {
        measured_ = measured_ * (1 - kSmoothing) + counted_ / (bucket - *bucket_) * kSmoothing;
        counted_ = 0;
        bucket_ = bucket;
    }
    return measured_;
}

double SendRate::grown(double now) const {
    return kCurve * std::pow(now - fell_at_ - time_to_top_, 3) + top_;
}

void SendRate::fall(double rate, double now) {
    top_ = rate;
    fell_at_ = now;
    time_to_top_ = std::cbrt(top_ * (1 - kFall) / kCurve);
}

void SendRate::answered(bool throttled, rt::Duration now) {
    const double time = seconds_of(now);
    const double measured = measure(time);
    if (!throttled && !limit_) return;
    double rate = 0;
    if (throttled) {
        const double sent = limit_ ? std::min(measured, *limit_) : measured;
        fall(sent, time);
        rate = sent * kFall;
    } else {
        rate = grown(time);
    }
    if (limit_) {
        refill(time);
    } else {
        refilled_at_ = time;
    }
    limit_ = std::max(kLeast, std::min(rate, kMostOfMeasured * measured));
    tokens_ = std::min(tokens_, std::max(*limit_, 1.0));
}

}  // namespace instantstart::aws
