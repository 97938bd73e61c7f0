#include "twin/kube/write_options.h"

#include "twin/kube/validate_parts.h"

namespace instantstart::twin::kube {

base::Result<void> check_write_options(const ApiCall& call) {
    Causes causes;
    const auto type = call.request.headers.get("Content-Type");
    const bool applies = call.method == "PATCH" && type.starts_with("application/apply-patch");
    const auto dry = call.parameter("dryRun");
    const auto manager = call.parameter("fieldManager");
    const auto validation = call.parameter("fieldValidation");
    if (!dry.empty() && dry != "All")
        causes.emplace_back("FieldValueNotSupported",
                            "Unsupported value: [\"" + dry + "\"]: supported values: \"All\"", "dryRun");
    if (applies && manager.empty()) required(causes, "fieldManager", "is required for apply patch");
    if (manager.size() > 128)
        causes.emplace_back("FieldValueTooLong", "Too long: may not be more than 128 bytes", "fieldManager");
    if (!validation.empty() && validation != "Ignore" && validation != "Strict" && validation != "Warn")
        not_supported(causes, "fieldValidation", validation, "\"\", \"Ignore\", \"Strict\", \"Warn\"");
    if (call.method == "PATCH" && !applies && !call.parameter("force").empty())
        causes.emplace_back("FieldValueForbidden", "Forbidden: may not be specified for non-apply patch",
                            "force");
    if (causes.empty()) return base::ok();
    const auto* options = call.method == "POST"  ? "CreateOptions"
                          : call.method == "PUT" ? "UpdateOptions"
                                                 : "PatchOptions";
    return invalid_object(options, "meta.k8s.io", "", causes);
}

}  // namespace instantstart::twin::kube
