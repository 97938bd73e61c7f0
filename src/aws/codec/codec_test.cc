#include "aws/codec/codec.h"

#include <gtest/gtest.h>

#include "aws/codec/checksum.h"
#include "base/text.h"

namespace instantstart::aws::codec {
namespace {

const model::Operation& operation_of(const char* service, const char* operation) {
    return *model::embedded(service)->operation(operation);
}

Call call_of(const char* service, const char* operation, const char* parameters) {
    const auto object = base::parse_json(parameters).value().get_object();
    Call call = serialise(*model::embedded(service), operation_of(service, operation), object).value();
    add_checksum(operation_of(service, operation), object, call);
    return call;
}

Answer answer_of(int status, std::string body) {
    Answer answer;
    answer.status = status;
    answer.body = std::move(body);
    return answer;
}

std::string parsed(const char* service, const char* operation, const Answer& answer) {
    auto result = parse(*model::embedded(service), operation_of(service, operation), answer);
    return result.has_value() ? base::to_text(result.value()) : result.error().code;
}

WireError error_of(const char* service, const char* operation, const Answer& answer) {
    return parse_error(*model::embedded(service), operation_of(service, operation), answer);
}

TEST(Serialise, a_header_stays_one_line_of_its_own) {
    const auto code_of = [](const char* parameters) {
        const auto object = base::parse_json(parameters).value().get_object();
        const auto made = serialise(*model::embedded("s3"), operation_of("s3", "PutObject"), object);
        return made.has_value() ? std::string("written") : made.error().chain();
    };
    EXPECT_EQ(
        code_of(R"({"Bucket":"b","Key":"k","CacheControl":"no-cache","Metadata":{"a-b":"two words\t"}})"),
        "written");
    EXPECT_NE(code_of(R"({"Bucket":"b","Key":"k","CacheControl":"a\r\nx-amz-acl: public-read"})")
                  .find("the value of Cache-Control must not hold line ends"),
              std::string::npos);
    for (const char* metadata : {R"({"a b":"1"})", R"({"a:b":"1"})", R"({"a\nb":"1"})"}) {
        const std::string parameters = R"({"Bucket":"b","Key":"k","Metadata":)" + std::string(metadata) + "}";
        EXPECT_NE(code_of(parameters.c_str()).find("a header cannot be called"), std::string::npos)
            << metadata;
    }
}

TEST(ParseError, headers_that_are_not_utf8_are_latin1) {
    Answer answer = answer_of(400, "{}");
    answer.headers.set("x-amzn-RequestId", "caf\xe9");
    answer.headers.set("x-amzn-errortype", "Ung\xfcltig:http://x");
    const WireError error = error_of("eks", "DescribeCluster", answer);
    EXPECT_EQ(error.request_id, "caf\u00e9");
    EXPECT_EQ(error.code, "Ung\u00fcltig");
}

TEST(Parse, text_that_is_not_utf8_is_unreadable) {
    const char* body = "<DescribeVpcsResponse><nextToken>\xff</nextToken></DescribeVpcsResponse>";
    EXPECT_EQ(parsed("ec2", "DescribeVpcs", answer_of(200, body)), "unreadable_answer");
}

TEST(Parse, references_beyond_unicode_are_unreadable) {
    const char* body = "<DescribeVpcsResponse><nextToken>&#x1F16800;</nextToken></DescribeVpcsResponse>";
    EXPECT_EQ(parsed("ec2", "DescribeVpcs", answer_of(200, body)), "unreadable_answer");
}

TEST(Serialise, parameters_of_other_kinds_than_the_model_has_still_end) {
    const auto written = [](const char* service, const char* operation, const char* parameters) {
        const auto object = base::parse_json(parameters).value().get_object();
        return serialise(*model::embedded(service), operation_of(service, operation), object).has_value();
    };
    EXPECT_TRUE(written("s3", "ListObjectsV2", R"({"Bucket":"b","MaxKeys":["x",1],"StartAfter":{"a":[1]}})"));
    EXPECT_TRUE(written("s3", "PutObject", R"({"Bucket":"b","Key":"k","ContentType":["a"],"Metadata":[1]})"));
    EXPECT_TRUE(written("ec2", "DescribeVpcs", R"({"MaxResults":[1],"VpcIds":{"a":1}})"));
}

TEST(Parse, times_keep_their_fraction_and_the_far_future) {
    const auto expires = [](const std::string& time) {
        const std::string body = R"({"nodegroup":{"createdAt":)" + time + "}}";
        return parsed("eks", "DescribeNodegroup", answer_of(200, body));
    };
    EXPECT_EQ(expires("1398796238.123"), R"({"nodegroup":{"createdAt":"2014-04-29T18:30:38.123Z"}})");
    EXPECT_EQ(expires("-0.000001"), R"({"nodegroup":{"createdAt":"1969-12-31T23:59:59.999999Z"}})");
    EXPECT_EQ(expires("253402300799"), R"({"nodegroup":{"createdAt":"9999-12-31T23:59:59Z"}})");
}

TEST(Parse, a_failure_under_the_status_of_a_success_is_unreadable) {
    const Answer answer = answer_of(200, "<Error><Code>InternalError</Code></Error>");
    EXPECT_EQ(parsed("s3", "ListObjectsV2", answer), "unreadable_answer");
}

TEST(Serialise, rest_json_fills_path_query_and_body) {
    const Call tags = call_of("eks", "UntagResource",
                              R"({"resourceArn":"arn:aws:eks:r:1:cluster/demo","tagKeys":["a","b c"]})");
    EXPECT_EQ(tags.method + " " + tags.path, "DELETE /tags/arn%3Aaws%3Aeks%3Ar%3A1%3Acluster%2Fdemo");
    EXPECT_EQ(tags.query,
              (std::vector<std::pair<std::string, std::string>>{{"tagKeys", "a"}, {"tagKeys", "b c"}}));
    EXPECT_EQ(tags.body, "");
    const Call create =
        call_of("eks", "CreateAddon", R"({"clusterName":"c","addonName":"coredns","tags":{"k":"v"}})");
    EXPECT_EQ(create.path, "/clusters/c/addons");
    EXPECT_EQ(create.body, R"({"addonName":"coredns","tags":{"k":"v"}})");
    EXPECT_EQ(create.headers.get("Content-Type"), "application/json");
}

TEST(Serialise, label_that_is_empty_is_an_error) {
    const base::JsonObject none;
    const auto made = serialise(*model::embedded("eks"), operation_of("eks", "DescribeCluster"), none);
    ASSERT_FALSE(made.has_value());
    EXPECT_EQ(made.error().kind, base::ErrorKind::invalid);
}

TEST(Serialise, rest_xml_has_namespace_and_checksum) {
    const Call call = call_of("s3", "DeleteObjects",
                              R"({"Bucket":"b","Delete":{"Objects":[{"Key":"a<&>b"}],"Quiet":true}})");
    EXPECT_EQ(call.method + " " + call.path, "POST /b");
    EXPECT_EQ(call.body,
              "<Delete "
              "xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\"><Object><Key>a&lt;&amp;&gt;b</Key></Object>"
              "<Quiet>true</Quiet></Delete>");
    EXPECT_EQ(call.headers.get("x-amz-sdk-checksum-algorithm"), "CRC32");
    EXPECT_FALSE(call.headers.get("x-amz-checksum-crc32").empty());
    const Call put = call_of("s3", "PutObject",
                             R"({"Bucket":"b","Key":"d/ü","Body":"x","ChecksumAlgorithm":"SHA256",
                    "Metadata":{"a":"1"}})");
    EXPECT_EQ(put.path, "/b/d/%C3%BC");
    EXPECT_EQ(put.body, "x");
    EXPECT_EQ(put.headers.get("x-amz-meta-a"), "1");
    EXPECT_EQ(put.headers.get("x-amz-checksum-sha256"), "LXEWQrcmsEQBYnyp+6wy9chTD7GQPMTbAiWHF5IaSIE=");
    EXPECT_FALSE(put.headers.has("x-amz-checksum-crc32"));
}

TEST(Serialise, query_lists_and_json_targets) {
    const Call role =
        call_of("iam", "CreateRole",
                R"({"RoleName":"r","AssumeRolePolicyDocument":"{}","Tags":[{"Key":"k","Value":"v"}]})");
    EXPECT_EQ(role.body,
              "Action=CreateRole&Version=2010-05-08&RoleName=r&AssumeRolePolicyDocument=%7B%7D"
              "&Tags.member.1.Key=k&Tags.member.1.Value=v");
    const Call cluster = call_of("sagemaker", "DescribeCluster", R"({"ClusterName":"demo"})");
    EXPECT_EQ(cluster.headers.get("X-Amz-Target"), "SageMaker.DescribeCluster");
    EXPECT_EQ(cluster.headers.get("Content-Type"), "application/x-amz-json-1.1");
    EXPECT_EQ(cluster.body, R"({"ClusterName":"demo"})");
    const Call events = call_of("sagemaker", "ListClusterEvents",
                                R"({"ClusterName":"demo","EventTimeAfter":"2026-11-30T12:00:00Z"})");
    EXPECT_EQ(events.body, R"({"ClusterName":"demo","EventTimeAfter":1796040000})");
}

TEST(Parse, times_are_text_in_every_protocol) {
    EXPECT_EQ(parsed("sagemaker", "DescribeCluster",
                     answer_of(200, R"({"CreationTime":1796040000.5,"ClusterName":null})")),
              R"({"CreationTime":"2026-11-30T12:00:00.500Z"})");
    EXPECT_EQ(parsed("eks", "DescribeCluster", answer_of(200, R"({"cluster":{"createdAt":1796040000}})")),
              R"({"cluster":{"createdAt":"2026-11-30T12:00:00Z"}})");
    EXPECT_EQ(
        parsed("iam", "GetRole",
               answer_of(200,
                         "<GetRoleResponse><GetRoleResult><Role><CreateDate>2026-11-30T12:00:00Z</CreateDate>"
                         "<AssumeRolePolicyDocument>%7B%22a%22%3A1%7D</AssumeRolePolicyDocument>"
                         "</Role></GetRoleResult></GetRoleResponse>")),
        R"({"Role":{"CreateDate":"2026-11-30T12:00:00Z","AssumeRolePolicyDocument":"{\"a\":1}"}})");
    Answer head = answer_of(200, "");
    head.headers.set("Last-Modified", "Mon, 30 Nov 2026 12:00:00 GMT");
    head.headers.set("Content-Length", "5");
    head.headers.set("x-amz-meta-k", "v");
    EXPECT_EQ(parsed("s3", "HeadObject", head),
              R"({"LastModified":"2026-11-30T12:00:00Z","ContentLength":5,"Metadata":{"k":"v"}})");
}

TEST(Parse, answers_that_are_no_answers_are_errors) {
    for (const char* body :
         {"", "<html><body>hello</body></html>", "<DescribeVpcsResponse><vpcSet>", "{}", "\x01\x02"}) {
        EXPECT_EQ(parsed("ec2", "DescribeVpcs", answer_of(200, body)), "unreadable_answer") << body;
    }
    EXPECT_EQ(parsed("iam", "GetRole", answer_of(200, "<GetRoleResponse/>")), "unreadable_answer");
    for (const char* body : {"<html></html>", "[1]", "{\"cluster\":", "nonsense"}) {
        EXPECT_EQ(parsed("eks", "DescribeCluster", answer_of(200, body)), "unreadable_answer") << body;
        EXPECT_EQ(parsed("sagemaker", "DescribeCluster", answer_of(200, body)), "unreadable_answer") << body;
    }
    EXPECT_EQ(parsed("s3", "ListObjectsV2", answer_of(200, "<ListBucketResult><Key>")), "unreadable_answer");
    EXPECT_EQ(parsed("s3", "GetBucketLocation",
                     answer_of(200, "<LocationConstraint>eu-west-1</LocationConstraint>")),
              R"({"LocationConstraint":"eu-west-1"})");
}

TEST(ParseError, each_protocol_has_its_form) {
    const auto query =
        error_of("iam", "GetRole",
                 answer_of(404,
                           "<ErrorResponse xmlns=\"u\"><Error><Type>Sender</Type><Code>NoSuchEntity</Code>"
                           "<Message>gone</Message></Error><RequestId>r1</RequestId></ErrorResponse>"));
    EXPECT_EQ(query.code + "|" + query.message + "|" + query.request_id, "NoSuchEntity|gone|r1");
    const auto ec2 = error_of(
        "ec2", "DescribeVpcs",
        answer_of(400,
                  "<?xml version=\"1.0\"?><Response><Errors><Error><Code>InvalidVpcID.NotFound</Code>"
                  "<Message>m</Message></Error></Errors><RequestID>r2</RequestID></Response>"));
    EXPECT_EQ(ec2.code + "|" + ec2.request_id, "InvalidVpcID.NotFound|r2");
    const auto s3 = error_of(
        "s3", "GetObject",
        answer_of(404, "<Error><Code>NoSuchKey</Code><Message>m</Message><RequestId>r3</RequestId></Error>"));
    EXPECT_EQ(s3.code + "|" + s3.request_id, "NoSuchKey|r3");
    Answer rest = answer_of(409, R"({"message":"busy","clusterName":"demo"})");
    rest.headers.set("x-amzn-ErrorType", "aws#ResourceInUseException:http://internal/");
    rest.headers.set("x-amzn-RequestId", "r4");
    const auto eks = error_of("eks", "CreateCluster", rest);
    EXPECT_EQ(eks.code + "|" + eks.message + "|" + eks.request_id, "ResourceInUseException|busy|r4");
    EXPECT_EQ(base::to_text(eks.members), R"({"clusterName":"demo"})");
    EXPECT_EQ(error_of("sagemaker", "ListClusters",
                       answer_of(400, R"({"__type":"a.b#ValidationException","message":"x"})"))
                  .code,
              "ValidationException");
}

TEST(ParseError, without_a_readable_body_the_status_names_it) {
    EXPECT_EQ(error_of("s3", "HeadBucket", answer_of(404, "")).code, "NotFound");
    EXPECT_EQ(error_of("s3", "HeadBucket", answer_of(403, "")).code, "AccessDenied");
    for (const char* service : {"ec2", "sagemaker", "eks", "s3", "iam"}) {
        const char* operation = model::embedded(service)->operations.begin()->first.c_str();
        for (const char* body :
             {"", "<html><h1>502</h1></html>", "<!DOCTYPE html>", "{\"half\":", "<Error><Code>", "[]"}) {
            const auto error = error_of(service, operation, answer_of(502, body));
            EXPECT_EQ(error.code, "BadGateway") << service << body;
            EXPECT_FALSE(error.message.empty());
        }
    }
    EXPECT_EQ(error_of("eks", "ListClusters", answer_of(418, "")).code, "HTTP418");
}

TEST(Checksum, crc32_is_the_usual_one) {
    EXPECT_EQ(crc32("123456789"), 0xCBF43926U);
}

}  // namespace
}  // namespace instantstart::aws::codec
