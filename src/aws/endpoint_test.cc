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
    const auto override_of = [](auto&&... given) { return endpoint_override(given...).value(); };
    const Profiles profiles = Profiles::from_text("[default]\nendpoint_url = http://profile\n", "").value();
    EXPECT_EQ(override_of(logs, "", variables({}), profiles), "http://profile");
    EXPECT_EQ(override_of(logs, "", variables({{"AWS_ENDPOINT_URL", "http://all"}}), profiles), "http://all");
    const auto both =
        variables({{"AWS_ENDPOINT_URL", "http://all"}, {"AWS_ENDPOINT_URL_CLOUDWATCH_LOGS", "http://logs"}});
    EXPECT_EQ(override_of(logs, "", both, profiles), "http://logs");
    EXPECT_EQ(override_of(logs, "http://fixed", both, profiles), "http://fixed");
    const auto ignored =
        variables({{"AWS_ENDPOINT_URL", "http://all"}, {"AWS_IGNORE_CONFIGURED_ENDPOINT_URLS", "true"}});
    EXPECT_EQ(override_of(logs, "", ignored, profiles), "");
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

TEST(Endpoint, services_section_of_the_profile_stands_before_its_general_url) {
    const Profiles profiles =
        Profiles::from_text(
            "[profile dev]\nservices = mine\nendpoint_url = http://all\n[services mine]\n"
            "cloudwatch_logs =\n  endpoint_url = http://logs\nsagemaker = \n  other = x\n"
            "[profile bad]\nservices = gone\n",
            "")
            .value();
    const auto url = [&](const char* service, std::map<std::string, std::string> set) {
        set.try_emplace("AWS_PROFILE", "dev");
        return endpoint_override(*model::embedded(service), "", variables(std::move(set)), profiles);
    };
    EXPECT_EQ(url("logs", {}).value(), "http://logs");
    EXPECT_EQ(url("sagemaker", {}).value(), "http://all");
    EXPECT_EQ(url("logs", {{"AWS_ENDPOINT_URL", "http://set"}}).value(), "http://set");
    EXPECT_NE(url("logs", {{"AWS_PROFILE", "bad"}}).error().message.find("[services gone]"),
              std::string::npos);
}

TEST(Endpoint, switches_choose_other_hosts_and_do_not_go_with_an_address) {
    EndpointSwitches both;
    both.fips = both.dual_stack = true;
    const model::Service& eks = *model::embedded("eks");
    EXPECT_EQ(resolve_endpoint(eks, "us-west-2", "", both).value().host, "eks-fips.us-west-2.api.aws");
    both.dual_stack = false;
    EXPECT_EQ(resolve_endpoint(eks, "us-west-2", "", both).value().host, "fips.eks.us-west-2.amazonaws.com");
    EXPECT_EQ(resolve_endpoint(eks, "us-west-2", "http://x", both).error().code, "no_endpoint");
    EXPECT_EQ(resolve_endpoint(*model::embedded("s3"), "cn-north-1", "", both).error().code, "no_endpoint");
    const Profiles profiles = Profiles::from_text("[default]\nuse_fips_endpoint = TRUE\n", "").value();
    EXPECT_TRUE(endpoint_switches(variables({}), profiles).fips);
    EXPECT_FALSE(endpoint_switches(variables({{"AWS_USE_FIPS_ENDPOINT", "false"}}), profiles).fips);
}

TEST(Endpoint, partitions_are_known_by_region_and_by_pattern) {
    for (const auto& [region, partition] : std::map<std::string, std::string>{{"us-west-2", "aws"},
                                                                              {"us-gov-new-7", "aws-us-gov"},
                                                                              {"cn-north-1", "aws-cn"},
                                                                              {"us-iso-east-1", "aws-iso"},
                                                                              {"us-isob-far-2", "aws-iso-b"},
                                                                              {"eusc-de-east-1", "aws-eusc"},
                                                                              {"moon-base-1", "aws"}}) {
        EXPECT_EQ(partition_of(region), partition) << region;
    }
    EXPECT_EQ(host_of("sts", "eusc-de-east-1"), "sts.eusc-de-east-1.amazonaws.eu");
    EXPECT_EQ(dns_suffix_of("us-isob-east-1"), "sc2s.sgov.gov");
    EXPECT_FALSE(is_region_name("us-west-2.evil.example/"));
    EXPECT_FALSE(is_region_name("-x"));
}

}  // namespace
}  // namespace instantstart::aws
