#include "aws/endpoint.h"

#include <gtest/gtest.h>

namespace instantstart::aws {
namespace {

std::string host_of(const char* service, const char* region) {
    return resolve_endpoint(*model::embedded(service), region, "").value().host;
}

Environment variables(std::map<std::string, std::string> values) {
    return [values](const std::string& name) {
        const auto found = values.find(name);
        return found == values.end() ? std::string() : found->second;
    };
}

TEST(Endpoint, each_service_has_its_host) {
    EXPECT_EQ(host_of("ec2", "us-west-2"), "ec2.us-west-2.amazonaws.com");
    EXPECT_EQ(host_of("sagemaker", "eu-west-1"), "api.sagemaker.eu-west-1.amazonaws.com");
    EXPECT_EQ(host_of("eks", "cn-north-1"), "eks.cn-north-1.amazonaws.com.cn");
    EXPECT_EQ(host_of("elbv2", "us-gov-west-1"), "elasticloadbalancing.us-gov-west-1.amazonaws.com");
    EXPECT_EQ(host_of("iam", "us-west-2"), "iam.amazonaws.com");
    EXPECT_EQ(host_of("iam", "us-gov-east-1"), "iam.us-gov.amazonaws.com");
    EXPECT_EQ(resolve_endpoint(*model::embedded("iam"), "eu-west-1", "").value().signing_region, "us-east-1");
    EXPECT_EQ(resolve_endpoint(*model::embedded("pricing"), "eu-west-1", "").value().signing_region,
              "us-east-1");
}

TEST(Endpoint, overrides_go_from_special_to_general) {
    const model::Service& logs = *model::embedded("logs");
    const Profiles profiles = Profiles::from_text("[default]\nendpoint_url = http://profile\n", "");
    EXPECT_EQ(endpoint_override(logs, "", variables({}), profiles), "http://profile");
    EXPECT_EQ(endpoint_override(logs, "", variables({{"AWS_ENDPOINT_URL", "http://all"}}), profiles),
              "http://all");
    const auto both =
        variables({{"AWS_ENDPOINT_URL", "http://all"}, {"AWS_ENDPOINT_URL_CLOUDWATCH_LOGS", "http://logs"}});
    EXPECT_EQ(endpoint_override(logs, "", both, profiles), "http://logs");
    EXPECT_EQ(endpoint_override(logs, "http://fixed", both, profiles), "http://fixed");
    const auto ignored =
        variables({{"AWS_ENDPOINT_URL", "http://all"}, {"AWS_IGNORE_CONFIGURED_ENDPOINT_URLS", "true"}});
    EXPECT_EQ(endpoint_override(logs, "", ignored, profiles), "");
    const Endpoint at = resolve_endpoint(logs, "us-west-2", "http://127.0.0.1:3097/base/").value();
    EXPECT_EQ(at.scheme + at.host + at.base_path, "http127.0.0.1/base");
    EXPECT_EQ(at.port, 3097);
    EXPECT_FALSE(resolve_endpoint(logs, "us-west-2", "nonsense").has_value());
}

TEST(Endpoint, buckets_go_into_the_name_of_hosts_but_not_of_addresses) {
    Endpoint real = resolve_endpoint(*model::embedded("s3"), "us-west-2", "").value();
    std::string path = "/my-bucket/a%20b";
    use_virtual_host(real, path, "my-bucket");
    EXPECT_EQ(real.host + path, "my-bucket.s3.us-west-2.amazonaws.com/a%20b");
    Endpoint dotted = resolve_endpoint(*model::embedded("s3"), "us-west-2", "").value();
    path = "/my.bucket";
    use_virtual_host(dotted, path, "my.bucket");
    EXPECT_EQ(dotted.host + path, "s3.us-west-2.amazonaws.com/my.bucket");
    Endpoint address = resolve_endpoint(*model::embedded("s3"), "us-west-2", "http://127.0.0.1:1").value();
    path = "/my-bucket";
    use_virtual_host(address, path, "my-bucket");
    EXPECT_EQ(address.host + path, "127.0.0.1/my-bucket");
}

TEST(Profiles, files_are_read_as_the_sdks_read_them) {
    const Sections sections =
        parse_ini("junk\n[ a ]\nKey = v # note\ns3 =\n  nested = 1\n; no\nbare\n[unclosed\nx=1\n");
    EXPECT_EQ(sections.at("a").at("key"), "v");
    EXPECT_EQ(sections.at("a").count("nested"), 0U);
    const Profiles profiles =
        Profiles::from_text("[profile \"two words\"]\nregion=r2\n[services x]\nregion=no\n", "");
    EXPECT_EQ(profiles.value("two words", "region"), "r2");
    EXPECT_EQ(profiles.find("services x"), nullptr);
    EXPECT_EQ(region_from(variables({{"AWS_PROFILE", "two words"}}), profiles), "r2");
    EXPECT_EQ(region_from(variables({{"AWS_DEFAULT_REGION", "d"}, {"AWS_REGION", "r"}}), profiles), "r");
}

}  // namespace
}  // namespace instantstart::aws
