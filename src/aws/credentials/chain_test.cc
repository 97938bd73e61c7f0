// The order of the sources, and profiles that lead from one to the next.
#include "aws/credentials/source_fixture.h"
#include "base/digest.h"
#include "base/text.h"

namespace instantstart::aws {
namespace {

class Chain : public SourceFixture {};

TEST_F(Chain, environment_comes_first) {
    credentials("[default]\naws_access_key_id = P\naws_secret_access_key = S\n");
    variables_["AWS_ACCESS_KEY_ID"] = "A";
    EXPECT_TRUE(fails_with("AWS_ACCESS_KEY_ID is set without AWS_SECRET_ACCESS_KEY"));
    variables_["AWS_SECRET_ACCESS_KEY"] = "B";
    variables_["AWS_SESSION_TOKEN"] = "C";
    variables_["AWS_CREDENTIAL_EXPIRATION"] = "2026-11-30T12:30:00Z";
    EXPECT_EQ(fetch().value().session_token, "C");
    EXPECT_EQ(fetch().value().expires, base::parse_time("2026-11-30T12:30:00Z"));
    variables_["AWS_CREDENTIAL_EXPIRATION"] = "soon";
    EXPECT_TRUE(fails_with("AWS_CREDENTIAL_EXPIRATION is not a time"));
}

TEST_F(Chain, secret_without_its_key_is_passed_over_and_told) {
    variables_["AWS_SECRET_ACCESS_KEY"] = "B";
    variables_["AWS_EC2_METADATA_DISABLED"] = "true";
    EXPECT_TRUE(fails_with("switched off by AWS_EC2_METADATA_DISABLED"));
    EXPECT_NE(chain_->tried().at(0).find("set without AWS_ACCESS_KEY_ID"), std::string::npos);
    EXPECT_EQ(chain_->tried().size(), 4U);
}

TEST_F(Chain, profile_has_keys_and_the_credentials_file_wins) {
    config(
        "[default]\naws_access_key_id = old\naws_secret_access_key = o\n[profile "
        "other]\naws_access_key_id=O\n");
    credentials("# mine\n[default]\naws_access_key_id = A\naws_secret_access_key = B\n");
    EXPECT_EQ(key(), "A");
    EXPECT_NE(fetch().value().source.find(".aws/credentials"), std::string::npos);
    variables_["AWS_PROFILE"] = "other";
    EXPECT_TRUE(fails_with("profile other in " + (folder_ / ".aws/config").string() +
                           " has no aws_secret_access_key beside aws_access_key_id"));
    variables_["AWS_PROFILE"] = "gone";
    EXPECT_TRUE(fails_with("the profile gone is neither in"));
    credentials("broken\n");
    EXPECT_TRUE(fails_with(".aws/credentials, line 1"));
}

TEST_F(Chain, keys_that_change_in_the_file_are_seen_at_the_next_fetch) {
    credentials("[default]\naws_access_key_id = A\naws_secret_access_key = B\n");
    EXPECT_EQ(key(), "A");
    credentials("[default]\naws_access_key_id = A2\naws_secret_access_key = B\n");
    EXPECT_EQ(key(), "A2");
}

TEST_F(Chain, roles_are_assumed_along_their_source_profiles) {
    config(
        "[profile dev]\nrole_arn = arn:r\nsource_profile = middle\nexternal_id = x\nduration_seconds = 900\n"
        "role_session_name = me\n[profile middle]\nrole_arn = arn:m\nsource_profile = base\n"
        "[profile base]\naws_access_key_id = A\naws_secret_access_key = B\n");
    variables_["AWS_PROFILE"] = "dev";
    EXPECT_EQ(key(), "ASIA2");
    ASSERT_EQ(calls_.size(), 2U);
    EXPECT_EQ(calls_[0], R"(sts AssumeRole as A {"RoleArn":"arn:m","RoleSessionName":"instantstart"})");
    EXPECT_EQ(calls_[1],
              R"(sts AssumeRole as ASIA1 {"DurationSeconds":900,"ExternalId":"x","RoleArn":"arn:r",)"
              R"("RoleSessionName":"me"})");
    EXPECT_NE(fetch().value().source.find("assumed with role arn:m of profile middle, assumed with keys of"),
              std::string::npos);
}

TEST_F(Chain, role_may_take_the_keys_of_its_own_profile) {
    config("[default]\nrole_arn = arn:r\nsource_profile = default\n");
    credentials("[default]\naws_access_key_id = A\naws_secret_access_key = B\n");
    EXPECT_EQ(key(), "ASIA1");
    EXPECT_EQ(calls_.at(0).find("sts AssumeRole as A "), 0U);
}

TEST_F(Chain, half_configured_roles_say_which_profile_and_key) {
    config(
        "[profile none]\nrole_arn = arn:r\n[profile both]\nrole_arn = arn:r\nsource_profile = a\n"
        "credential_source = Environment\n[profile gone]\nrole_arn = arn:r\nsource_profile = nowhere\n"
        "[profile a]\nrole_arn = arn:a\nsource_profile = b\n[profile b]\nrole_arn = arn:b\nsource_profile = "
        "a\n"
        "[profile mfa]\nrole_arn = arn:r\nsource_profile = a\nmfa_serial = arn:mfa\n"
        "[profile time]\nrole_arn = arn:r\nsource_profile = a\nduration_seconds = 12h\n"
        "[profile odd]\nrole_arn = arn:r\ncredential_source = Ec2\n[profile empty]\nregion = r\n"
        "[profile on_empty]\nrole_arn = arn:r\nsource_profile = empty\n[profile env]\nrole_arn = arn:r\n"
        "credential_source = Environment\n[profile ecs]\nrole_arn = arn:r\ncredential_source = EcsContainer\n"
        "[profile signed_in]\nlogin_session = arn:x\n");
    const std::map<std::string, std::string> expected = {
        {"none", "has role_arn without source_profile or credential_source"},
        {"both", "has both source_profile and credential_source"},
        {"gone", "names source_profile = nowhere, which is in neither file"},
        {"a", "closes a ring of source_profile: a -> b -> a"},
        {"mfa", "wants a code of an MFA device (mfa_serial)"},
        {"time", "has duration_seconds = 12h, which is not a number from 900 to 43200"},
        {"odd", "has credential_source = Ec2; known are"},
        {"on_empty", "names source_profile = empty, which configures no credentials"},
        {"env", "has credential_source = Environment, but AWS_ACCESS_KEY_ID is not set"},
        {"ecs", "has credential_source = EcsContainer, but no"},
        {"signed_in", "uses `aws login` (login_session)"}};
    for (const auto& [profile, words] : expected) {
        variables_["AWS_PROFILE"] = profile;
        EXPECT_TRUE(fails_with(words)) << profile;
        EXPECT_EQ(fetch().error().code, "CredentialsUnavailable") << profile;
    }
    EXPECT_TRUE(calls_.empty());
}

TEST_F(Chain, role_takes_its_source_from_the_container) {
    config("[default]\nrole_arn = arn:r\ncredential_source = EcsContainer\n");
    variables_["AWS_CONTAINER_CREDENTIALS_RELATIVE_URI"] = "/v2/id";
    serve("169.254.170.2:80",
          {{"GET /v2/id", {200, R"({"AccessKeyId":"E","SecretAccessKey":"B","Token":"C"})"}}});
    EXPECT_EQ(key(), "ASIA1");
    EXPECT_EQ(calls_.at(0).find("sts AssumeRole as E "), 0U);
}

TEST_F(Chain, refused_role_is_unavailable_and_a_passing_fault_stays_one) {
    config("[default]\nrole_arn = arn:r\nsource_profile = default\n");
    credentials("[default]\naws_access_key_id = A\naws_secret_access_key = B\n");
    answers_.emplace("AssumeRole",
                     base::Error(base::ErrorKind::denied, "AccessDenied", "User is not authorized"));
    EXPECT_EQ(fetch().error().code, "CredentialsUnavailable");
    EXPECT_TRUE(
        fails_with("the role arn:r of profile default cannot be assumed with keys of profile default"));
    EXPECT_TRUE(fails_with("User is not authorized (AccessDenied)"));
    answers_.clear();
    answers_.emplace("AssumeRole",
                     base::Error(base::ErrorKind::denied, "CredentialsExpired", "token has expired"));
    EXPECT_EQ(fetch().error().code, "CredentialsExpired");
    answers_.clear();
    answers_.emplace("AssumeRole", base::Error(base::ErrorKind::unavailable, "connection_refused", "no"));
    EXPECT_EQ(fetch().error().kind, base::ErrorKind::unavailable);
}

TEST_F(Chain, web_identity_of_the_environment_stands_before_the_keys_of_the_profile) {
    credentials("[default]\naws_access_key_id = A\naws_secret_access_key = B\n");
    variables_["AWS_WEB_IDENTITY_TOKEN_FILE"] = file("token", "jwt\n");
    variables_["AWS_ROLE_ARN"] = "arn:r";
    EXPECT_EQ(key(), "ASIA1");
    EXPECT_EQ(calls_.at(0),
              "sts AssumeRoleWithWebIdentity as  "
              R"({"RoleArn":"arn:r","RoleSessionName":"instantstart","WebIdentityToken":"jwt"})");
    file("token", "renewed");
    EXPECT_EQ(key(), "ASIA2");
    EXPECT_NE(calls_.at(1).find("renewed"), std::string::npos);
    variables_["AWS_ROLE_ARN"] = "";
    EXPECT_TRUE(fails_with("is configured without a role"));
    variables_["AWS_WEB_IDENTITY_TOKEN_FILE"] = "/nowhere";
    variables_["AWS_ROLE_ARN"] = "arn:r";
    EXPECT_TRUE(fails_with("/nowhere cannot be read or is empty"));
}

TEST_F(Chain, web_identity_of_a_profile_may_be_the_source_of_a_role) {
    const std::string token = file("token", "jwt");
    config(
        "[default]\nrole_arn = arn:r\nsource_profile = web\n[profile web]\nrole_arn = "
        "arn:w\nrole_session_name = n\n"
        "web_identity_token_file = " +
        token + "\n");
    EXPECT_EQ(key(), "ASIA2");
    EXPECT_EQ(calls_.at(0).find("sts AssumeRoleWithWebIdentity as  "), 0U);
    EXPECT_EQ(calls_.at(1).find("sts AssumeRole as ASIA1 "), 0U);
}

const char* const kSession =
    "[profile dev]\nsso_session = corp\nsso_account_id = 111122223333\nsso_role_name = Admin\n"
    "[sso-session corp]\nsso_region = eu-west-1\nsso_start_url = https://corp.example/start\n";

class Sso : public SourceFixture {
protected:
    Sso() {
        config(kSession);
        variables_["AWS_PROFILE"] = "dev";
        answers_.emplace(
            "GetRoleCredentials",
            base::JsonObject{{"roleCredentials", base::JsonObject{{"accessKeyId", "SSO"},
                                                                  {"secretAccessKey", "s"},
                                                                  {"sessionToken", "t"},
                                                                  {"expiration", 1796045400000}}}});
    }
    // Named by SHA-1 of "corp".
    std::string cache() { return ".aws/sso/cache/" + base::hex(base::sha1("corp")) + ".json"; }
    void token(const std::string& ends, const std::string& more = "") {
        file(cache(), R"({"accessToken":"tok","expiresAt":")" + ends + "\"" + more + "}");
    }
    const std::string renewal_ =
        R"(,"refreshToken":"ref","clientId":"c","clientSecret":"cs","registrationExpiresAt":"2027-01-01T00:00:00Z")";
};

TEST_F(Sso, token_of_the_session_is_exchanged_in_its_region) {
    token("2026-11-30T20:00:00Z");
    const auto got = fetch();
    ASSERT_TRUE(got.has_value()) << got.error().chain();
    EXPECT_EQ(got->access_key, "SSO");
    EXPECT_EQ(got->expires, base::parse_time("2026-11-30T13:30:00Z"));
    EXPECT_EQ(calls_, std::vector<std::string>{
                          "sso GetRoleCredentials as  "
                          R"({"accessToken":"tok","accountId":"111122223333","roleName":"Admin"})"
                          " eu-west-1"});
}

TEST_F(Sso, absent_expired_and_revoked_tokens_say_how_to_sign_in) {
    EXPECT_TRUE(fails_with("is not there (" + (folder_ / cache()).string()));
    EXPECT_EQ(fetch().error().code, "CredentialsExpired");
    EXPECT_EQ(fetch().error().hint, "Run: aws sso login --profile dev");
    token("2026-11-30T11:00:00Z");
    EXPECT_TRUE(fails_with("expired at 2026-11-30T11:00:00Z"));
    EXPECT_TRUE(calls_.empty());
    token("2026-11-30T20:00:00Z");
    answers_.clear();
    answers_.emplace("GetRoleCredentials", base::Error(base::ErrorKind::denied, "UnauthorizedException",
                                                       "Session token not found"));
    EXPECT_TRUE(fails_with("is not valid any more"));
    file(cache(), "{");
    EXPECT_TRUE(fails_with("cannot be read"));
}

TEST_F(Sso, token_near_its_end_is_renewed_and_kept) {
    token("2026-11-30T12:05:00Z", renewal_);
    answers_.emplace("CreateToken",
                     base::JsonObject{{"accessToken", "new"}, {"expiresIn", 3600}, {"refreshToken", "r2"}});
    EXPECT_EQ(key(), "SSO");
    ASSERT_EQ(calls_.size(), 2U);
    EXPECT_EQ(calls_[0],
              R"(sso-oidc CreateToken as  {"clientId":"c","clientSecret":"cs","grantType":"refresh_token",)"
              R"("refreshToken":"ref"} eu-west-1)");
    EXPECT_NE(calls_[1].find(R"("accessToken":"new")"), std::string::npos);
    const auto kept = base::parse_json(read_small_file(folder_ / cache())).value();
    EXPECT_EQ(base::get_string(kept, "refreshToken"), "r2");
    EXPECT_EQ(base::get_string(kept, "clientId"), "c");
    EXPECT_EQ(base::get_string(kept, "expiresAt"), "2026-11-30T13:00:00Z");
    using std::filesystem::perms;
    EXPECT_EQ(std::filesystem::status(folder_ / cache()).permissions(),
              perms::owner_read | perms::owner_write);
}

TEST_F(Sso, token_that_cannot_be_renewed_serves_to_its_end) {
    token("2026-11-30T12:05:00Z", renewal_);
    answers_.emplace("CreateToken", base::Error(base::ErrorKind::invalid, "InvalidGrantException", "no"));
    EXPECT_EQ(key(), "SSO");
    token("2026-11-30T11:59:00Z", renewal_);
    EXPECT_TRUE(fails_with("expired at 2026-11-30T11:59:00Z and could not be renewed (no)"));
}

TEST_F(Sso, profiles_of_the_older_form_use_their_url) {
    config(
        "[profile dev]\nsso_account_id = 1\nsso_role_name = R\nsso_start_url = https://s\nsso_region = r\n");
    file(".aws/sso/cache/" + base::hex(base::sha1("https://s")) + ".json",
         R"({"accessToken":"tok","expiresAt":"2026-11-30T20:00:00Z"})");
    EXPECT_EQ(key(), "SSO");
    EXPECT_NE(calls_.at(0).find(" r"), std::string::npos);
}

TEST_F(Sso, half_configured_sign_in_says_what_is_missing) {
    config("[profile dev]\nsso_session = gone\nsso_role_name = R\n");
    EXPECT_TRUE(fails_with("has no section [sso-session gone]"));
    config("[profile dev]\nsso_session = corp\nsso_role_name = R\n[sso-session corp]\nsso_region = r\n");
    EXPECT_TRUE(fails_with("without sso_account_id, sso_start_url"));
    config(std::string(kSession) + "sso_role_name = Other\n");
    EXPECT_TRUE(fails_with("differ in sso_role_name"));
}

}  // namespace
}  // namespace instantstart::aws
