// TypedOperation: an Operation over a described Input. Its makers are what every operation file calls.
#pragma once

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "app/operation.h"
#include "app/schema.h"
#include "base/check.h"

namespace instantstart::app {

template <class Input>
class TypedOperation final : public Operation {
public:
    using Run = std::function<Task<Answer>(Call, Input)>;
    using MakePlan = std::function<Task<Plan>(Call, Input)>;

    TypedOperation(Meta meta, std::vector<Field> fields, MakePlan plan, Run run)
        : meta_(std::move(meta)),
          schema_(shape_of<Input>(), std::move(fields)),
          plan_(std::move(plan)),
          run_(std::move(run)) {}

    const Meta& meta() const override { return meta_; }
    const std::vector<Field>& fields() const override { return schema_.fields(); }
    const JsonObject& input_schema() const override { return schema_.full(); }
    const JsonObject& tool_schema() const override { return schema_.reduced(); }
    base::Result<JsonObject> normalize(const JsonObject& arguments) const override {
        return schema_.normalize(arguments);
    }

    // Not coroutines: they only hand over to one.
    Task<Answer> run(Call call, JsonObject normalized) const override {
        CHECK(run_ != nullptr);
        return run_(std::move(call), decode<Input>(JsonValue(std::move(normalized))));
    }
    Task<Plan> plan(Call call, JsonObject normalized) const override {
        CHECK(plan_ != nullptr);
        return plan_(std::move(call), decode<Input>(JsonValue(std::move(normalized))));
    }

private:
    Meta meta_;
    Schema schema_;
    MakePlan plan_;
    Run run_;
};

template <class Input>
std::unique_ptr<Operation> make_query(Meta meta, std::vector<Field> fields,
                                      std::function<Task<Answer>(Call, Input)> run) {
    meta.kind = Kind::query;
    return std::make_unique<TypedOperation<Input>>(std::move(meta), std::move(fields), nullptr,
                                                   std::move(run));
}

template <class Input>
std::unique_ptr<Operation> make_mutation(Meta meta, std::vector<Field> fields,
                                         std::function<Task<Plan>(Call, Input)> plan,
                                         std::function<Task<Answer>(Call, Input)> run) {
    meta.kind = Kind::mutation;
    return std::make_unique<TypedOperation<Input>>(std::move(meta), std::move(fields), std::move(plan),
                                                   std::move(run));
}

template <class Input>
std::unique_ptr<Operation> make_long_running(Meta meta, std::vector<Field> fields,
                                             std::function<Task<Plan>(Call, Input)> plan) {
    meta.kind = Kind::long_running;
    return std::make_unique<TypedOperation<Input>>(std::move(meta), std::move(fields), std::move(plan),
                                                   nullptr);
}

}  // namespace instantstart::app
