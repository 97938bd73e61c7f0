// Every in-cluster object of the component table, for a region of each kind, as a file of JSON lines:
// INSTANTSTART_EMITTED_OBJECTS names it. tests/conformance/emitted.py applies them to a real API server.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <set>

#include "base/json.h"
#include "flows/components.h"

namespace instantstart::flows {
namespace {

// One with images of its own account, one whose add-on images lie in another, one of the newer ones.
constexpr const char* kRegions[] = {"us-west-2", "ap-southeast-3", "eu-south-2"};

TEST(EmittedObjects, of_every_component_are_written) {
    const char* path = std::getenv("INSTANTSTART_EMITTED_OBJECTS");
    ASSERT_NE(path, nullptr) << "INSTANTSTART_EMITTED_OBJECTS names no file";
    std::ofstream file(path);
    std::set<std::string> lines;
    for (const auto& component : components()) {
        if (component.manifest.empty()) continue;
        for (const auto* region : kRegions) {
            const auto objects = component_objects(component, region);
            ASSERT_TRUE(objects.has_value())
                << component.id << " " << region << ": " << objects.error().chain();
            EXPECT_FALSE(objects->empty()) << component.id;
            for (const auto& object : *objects) {
                const base::JsonObject line{{"from", "component " + component.id}, {"object", object}};
                lines.insert(base::to_text(line));
            }
        }
    }
    for (const auto& line : lines) file << line << "\n";
    EXPECT_TRUE(file.flush().good());
}

}  // namespace
}  // namespace instantstart::flows
