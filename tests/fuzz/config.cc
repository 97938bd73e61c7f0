// Any two texts as the AWS configuration files.
#include "aws/ini.h"
#include "aws/profile.h"
#include "input.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace instantstart;
    fuzz::Input input(data, size);
    const std::string_view config = input.until(std::string_view("\0", 1));
    const auto parsed = aws::parse_ini(config);
    if (!parsed.has_value()) {
        fuzz::require(parsed.error().code == "config_file_invalid", "a broken file is called so");
        fuzz::require(parsed.error().message.starts_with("line "), "a broken file's line is named");
    }
    const auto profiles = aws::Profiles::from_text(config, input.rest());
    if (profiles.has_value()) {
        profiles.value().find("default");
        profiles.value().value("default", "region");
        const auto value = profiles.value().service_value("default", "sagemaker", "endpoint_url");
        fuzz::require(value.has_value() || !value.error().message.empty(), "an error has a message");
        const aws::Environment environment = [&](const std::string& name) {
            return name == "AWS_PROFILE" ? std::string(config.substr(0, 20)) : std::string();
        };
        aws::region_from(environment, profiles.value());
    }
    const auto words = aws::split_words(input.rest());
    fuzz::require(words.has_value() || words.error().code == "bad_quotes",
                  "a command is words or badly quoted");
    return 0;
}
