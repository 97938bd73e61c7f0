// Service quotas of the account: AWS's names, codes and defaults, and the values that were set since.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"

namespace instantstart::twin {

struct QuotaRow {
    QuotaRow() = default;
    std::string service_code;  // "sagemaker"
    std::string service_name;  // "Amazon SageMaker"
    std::string code;          // "L-F678F1CE"
    std::string name;          // "VPCs per Region"
    double standard = 0;       // AWS's default
    bool adjustable = true;
    bool global = false;
};

class Quotas {
public:
    // With `zero_accelerated`, accelerated types start at 0 for cluster usage, as a new account's do.
    explicit Quotas(bool zero_accelerated);
    const std::vector<QuotaRow>& rows() const { return rows_; }
    const QuotaRow* find(std::string_view name) const;
    std::optional<double> value(std::string_view name) const;
    void set(std::string_view name, double value);  // unknown names are taken too
    base::JsonValue save() const;
    void load(const base::JsonValue& state);

private:
    std::vector<QuotaRow> rows_;
    std::map<std::string, double, std::less<>> values_;
};

}  // namespace instantstart::twin
