// What excludes what: pairs of properties of groups, features and jobs that HyperPod refuses, mostly long
// after it was asked. One table, from AWS's developer guide and API model; whoever plans a change collects
// the properties and is told every pair, why, and the way out.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace instantstart::domain {

struct Exclusion {
    std::string_view first, second;  // properties, by their ids
    std::string_view pointer;        // the field to change, below the object that was asked for
    std::string_view why;            // half a sentence, after "<first> and <second> exclude each other: "
    std::string_view remedy;
};
std::span<const Exclusion> exclusions();

// The property in a user's words: "spot" → "Spot capacity".
std::string_view property_words(std::string_view property);

// Property ids, each with the words that name it; "" stands for property_words.
using Properties = std::map<std::string, std::string, std::less<>>;
// One fault for each pair that `properties` holds; pointers begin with `at`.
std::vector<base::FieldError> excluded(const Properties& properties, const std::string& at);
// Only the pairs that one of them is part of: for what is asked about a group whose own pairs were judged
// before.
std::vector<base::FieldError> excluded_by(std::string_view property, const Properties& properties,
                                          const std::string& at);

}  // namespace instantstart::domain
