#include "twin/aws/codec/codec.h"

#include <gtest/gtest.h>

#include "base/result.h"
#include "twin/aws/codec/checksum.h"
#include "twin/aws/codec/chunked.h"
#include "twin/aws/codec/route.h"

namespace instantstart::twin::codec {
namespace {

const aws::model::Service& model(const char* name) {
    return *aws::model::embedded(name);
}

http::Request request_of(std::string method, std::string target, std::string body = "") {
    http::Request out;
    out.method = std::move(method);
    out.target = std::move(target);
    out.body = std::move(body);
    return out;
}

JsonObject params_of(const char* service, const http::Request& request) {
    auto parsed = parse_call(model(service), request);
    return std::get<ParsedCall>(parsed).params;
}

TEST(Codec, ec2_forms_become_parameters) {
    const auto params =
        params_of("ec2", request_of("POST", "/",
                                    "Action=DescribeVpcs&Version=2016-11-15&VpcId.1=vpc-1&VpcId.2=vpc-2&"
                                    "Filter.1.Name=tag%3Aa&Filter.1.Value.1=x+y&DryRun=true"));
    EXPECT_EQ(base::to_text(params),
              R"({"Filters":[{"Name":"tag:a","Values":["x y"]}],"VpcIds":["vpc-1","vpc-2"],"DryRun":true})");
}

TEST(Codec, query_lists_keep_their_order_beyond_nine) {
    std::string body = "Action=SimulateCustomPolicy&Version=2010-05-08";
    for (int i = 1; i <= 11; ++i)
        body += "&ActionNames.member." + std::to_string(i) + "=a:" + std::to_string(i);
    const auto params = params_of("iam", request_of("POST", "/", body));
    EXPECT_EQ(base::get_string(params, "ActionNames.10"), "a:11");
}

TEST(Codec, json_times_and_unknown_operations) {
    auto request = request_of("POST", "/", "{}");
    request.headers.set("x-amz-target", "SageMaker.NoSuchThing");
    EXPECT_EQ(std::get<ServiceError>(parse_call(model("sagemaker"), request)).code,
              "UnknownOperationException");
    request.headers.set("x-amz-target", "SageMaker.ListClusters");
    request.body = R"({"CreationTimeAfter":1500000000})";
    EXPECT_EQ(base::get_string(params_of("sagemaker", request), "CreationTimeAfter"), "2017-07-14T02:40:00Z");
    request.body = "{broken";
    EXPECT_EQ(std::get<ServiceError>(parse_call(model("sagemaker"), request)).code, "SerializationException");
}

TEST(Codec, rest_paths_find_the_operation_that_lacks_nothing) {
    EXPECT_EQ(route(model("s3"), request_of("PUT", "/b/k/with/slashes"))->name, "PutObject");
    EXPECT_EQ(route(model("s3"), request_of("PUT", "/b/k?partNumber=1&uploadId=u"))->name, "UploadPart");
    EXPECT_EQ(route(model("s3"), request_of("GET", "/b?list-type=2"))->name, "ListObjectsV2");
    EXPECT_EQ(route(model("s3"), request_of("GET", "/b?location"))->name, "GetBucketLocation");
    auto copy = request_of("PUT", "/b/k");
    copy.headers.set("x-amz-copy-source", "b/other");
    EXPECT_EQ(route(model("s3"), copy)->name, "CopyObject");
    EXPECT_EQ(route(model("eks"), request_of("GET", "/clusters/demo/node-groups/n1"))->name,
              "DescribeNodegroup");
    EXPECT_EQ(route(model("eks"), request_of("GET", "/no/such/path/at/all")), nullptr);
}

TEST(Codec, labels_are_decoded_once) {
    const auto params = params_of("eks", request_of("GET", "/tags/arn%3Aaws%3Aeks%3Ax%3Acluster%2Fdemo"));
    EXPECT_EQ(base::get_string(params, "resourceArn"), "arn:aws:eks:x:cluster/demo");
}

TEST(Codec, errors_stand_as_each_protocol_has_them) {
    const ServiceError error(400, "Code", "a < b");
    EXPECT_NE(
        failure(model("ec2"), nullptr, error, "id").body.find("<Response><Errors><Error><Code>Code</Code>"),
        std::string::npos);
    EXPECT_NE(failure(model("iam"), nullptr, error, "id").body.find("<Message>a &lt; b</Message>"),
              std::string::npos);
    EXPECT_EQ(failure(model("sagemaker"), nullptr, error, "id").body,
              R"({"__type":"Code","message":"a < b"})");
    EXPECT_EQ(failure(model("eks"), nullptr, error, "id").headers.get("x-amzn-errortype"), "Code");
    EXPECT_NE(failure(model("s3"), nullptr, error, "id").body.find("<Error><Code>Code</Code>"),
              std::string::npos);
}

TEST(Codec, validation_speaks_as_the_service_does) {
    ParsedCall call;
    call.operation = model("ec2").operation("ModifyVpcAttribute");
    EXPECT_EQ(validate_call(model("ec2"), call)->code, "MissingParameter");
    call.operation = model("sagemaker").operation("DescribeCluster");
    EXPECT_EQ(validate_call(model("sagemaker"), call)->code, "ValidationException");
    call.operation = model("eks").operation("CreateCluster");
    EXPECT_EQ(validate_call(model("eks"), call)->code, "InvalidParameterException");
    call.operation = model("eks").operation("ListAssociatedAccessPolicies");
    EXPECT_EQ(validate_call(model("eks"), call)->code, "InvalidRequestException");
}

TEST(Codec, chunked_bodies_lose_their_frames_and_give_trailers) {
    auto request = request_of("PUT", "/b/k",
                              "5;chunk-signature=x\r\nhello\r\n0\r\nx-amz-checksum-crc32:NhCmhg==\r\n\r\n");
    request.headers.set("content-encoding", "aws-chunked");
    ASSERT_TRUE(is_aws_chunked(request));
    ASSERT_TRUE(decode_aws_chunked(request).has_value());
    EXPECT_EQ(request.body, "hello");
    EXPECT_EQ(request.headers.get("x-amz-checksum-crc32"), checksum("CRC32", "hello"));
    auto broken = request_of("PUT", "/b/k", "ffffffffffffffff\r\nhello");
    EXPECT_FALSE(decode_aws_chunked(broken).has_value());
}

}  // namespace
}  // namespace instantstart::twin::codec
