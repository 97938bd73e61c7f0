#include "aws/profile.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace instantstart::aws {
namespace {

Environment variables(std::map<std::string, std::string> values) {
    return [values](const std::string& name) {
        const auto found = values.find(name);
        return found == values.end() ? std::string() : found->second;
    };
}

std::string fault_of(std::string_view text) {
    const auto parsed = parse_ini(text);
    return parsed.has_value() ? "" : parsed.error().message;
}

TEST(Ini, keys_values_comments_and_continuations) {
    const IniFile file = parse_ini(
                             "\xEF\xBB\xBF# first\r\n[ a ]\r\nKey = v # no comment\r\nother: w\r\n"
                             "long = one\n  # skipped\n  two\n\n  three\n; no\n[b]\nempty =\n")
                             .value();
    const IniSection& a = file.at("a");
    EXPECT_EQ(a.values.at("key"), "v # no comment");
    EXPECT_EQ(a.values.at("other"), "w");
    EXPECT_EQ(a.values.at("long"), "one\ntwo\n\nthree");
    EXPECT_EQ(file.at("b").values.at("empty"), "");
}

TEST(Ini, indented_blocks_are_values_of_their_own) {
    const IniFile file =
        parse_ini(
            "[services x]\nsagemaker =\n  endpoint_url = http://a=b\n  Mode = y\ns3 = \n\n[default]\nc = d\n")
            .value();
    EXPECT_EQ(file.at("services x").nested.at("sagemaker").at("endpoint_url"), "http://a=b");
    EXPECT_EQ(file.at("services x").nested.at("sagemaker").at("Mode"), "y");
    EXPECT_EQ(file.at("services x").values.at("s3"), "");
    EXPECT_EQ(file.at("default").values.at("c"), "d");
}

TEST(Ini, defaults_stand_in_every_section) {
    const IniFile file = parse_ini("[DEFAULT]\nregion = r\n[a]\n[b]\nregion = own\n").value();
    EXPECT_EQ(file.at("a").values.at("region"), "r");
    EXPECT_EQ(file.at("b").values.at("region"), "own");
    EXPECT_EQ(file.count("DEFAULT"), 0U);
}

TEST(Ini, faults_say_the_line) {
    EXPECT_NE(fault_of("a = b\n").find("line 1: a line before"), std::string::npos);
    EXPECT_NE(fault_of("[a]\n\nnonsense\n").find("line 3: neither"), std::string::npos);
    EXPECT_NE(fault_of("[a]\n[b]\n[a]\n").find("line 3: the section [a]"), std::string::npos);
    EXPECT_NE(fault_of("[a]\nk=1\nK=2\n").find("line 3: the key k"), std::string::npos);
    EXPECT_NE(fault_of("[a]\n= 2\n").find("without a key"), std::string::npos);
    EXPECT_NE(fault_of("[a]\ns3 =\n  x = 1\n  y\n").find("line 4: the indented line \"y\""),
              std::string::npos);
    EXPECT_NE(fault_of("[a]\nk = \xff\n").find("UTF-8"), std::string::npos);
}

TEST(Ini, words_are_split_as_a_shell_quotes_them) {
    using Words = std::vector<std::string>;
    EXPECT_EQ(split_words(R"( /bin/x  "a b" 'c\' d\ e "q\"\n" '' )").value(),
              (Words{"/bin/x", "a b", "c\\", "d e", "q\"\\n", ""}));
    EXPECT_EQ(split_words("$HOME `id` *").value(), (Words{"$HOME", "`id`", "*"}));
    EXPECT_FALSE(split_words("'open").has_value());
    EXPECT_FALSE(split_words("end\\").has_value());
}

TEST(Profiles, sections_of_each_kind_have_their_names) {
    const Profiles profiles =
        Profiles::from_text(
            "[default]\nregion = d\n[profile \"two words\"]\nregion=r2\n[other]\nregion=no\n"
            "[services x]\nregion=no\n[sso-session corp]\nsso_region = s\n[profilex]\nregion=no\n",
            "[keys]\naws_access_key_id = A\n")
            .value();
    EXPECT_EQ(profiles.value("two words", "region"), "r2");
    EXPECT_EQ(profiles.find("services x"), nullptr);
    EXPECT_EQ(profiles.find("other"), nullptr);
    EXPECT_EQ(profiles.find("profilex"), nullptr);
    EXPECT_EQ(profiles.sso_session("corp")->at("sso_region"), "s");
    EXPECT_TRUE(profiles.in_credentials_file("keys", "aws_access_key_id"));
    EXPECT_EQ(region_from(variables({{"AWS_PROFILE", "two words"}}), profiles), "r2");
    EXPECT_EQ(region_from(variables({{"AWS_DEFAULT_REGION", "d"}, {"AWS_REGION", "r"}}), profiles), "r");
}

TEST(Profiles, credentials_file_wins_and_names_itself) {
    const Profiles profiles = Profiles::from_text("[default]\naws_access_key_id = old\nregion = r\n",
                                                  "[default]\naws_access_key_id = new\n")
                                  .value();
    EXPECT_EQ(profiles.value("default", "aws_access_key_id"), "new");
    EXPECT_EQ(profiles.value("default", "region"), "r");
    EXPECT_EQ(profiles.file_of("default", "aws_access_key_id"), "the credentials file");
    EXPECT_EQ(profiles.file_of("default", "region"), "the config file");
}

TEST(Profiles, files_are_found_and_their_faults_name_them) {
    const std::filesystem::path home = std::filesystem::path(::testing::TempDir()) / "profiles_home";
    std::filesystem::create_directories(home / ".aws");
    std::ofstream(home / ".aws/config") << "[default]\nregion = r\n";
    const auto environment = variables({{"HOME", home}});
    EXPECT_EQ(Profiles::read(environment).value().value("default", "region"), "r");
    std::ofstream(home / ".aws/credentials") << "no section\n";
    const auto broken = Profiles::read(environment);
    ASSERT_FALSE(broken.has_value());
    EXPECT_EQ(broken.error().code, "config_file_invalid");
    EXPECT_EQ(broken.error().message.find((home / ".aws/credentials").string() + ", line 1"), 0U)
        << broken.error().message;
    EXPECT_EQ(read_small_file(home.string()), "");
    std::filesystem::remove_all(home);
}

}  // namespace
}  // namespace instantstart::aws
