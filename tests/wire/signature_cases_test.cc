// Signature Version 4 against vectors in data/signatures.json, made by make_signatures.py with botocore's
// signer.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "aws/sigv4.h"
#include "base/json.h"
#include "base/result.h"

namespace instantstart::aws {
namespace {

namespace fs = std::filesystem;

std::string read_file(const fs::path& path) {
    std::ifstream in(path, std::ios::binary);
    std::ostringstream out;
    out << in.rdbuf();
    return out.str();
}

TEST(SignatureCases, ours_agree_with_the_reference_signer) {
    const auto cases = base::parse_json(read_file(SOURCE_DIR "/tests/wire/data/signatures.json")).value();
    ASSERT_GT(cases.as_array().size(), 20U);
    for (const auto& one : cases.as_array()) {
        http::Request request;
        request.method = base::get_string(one, "method");
        const http::Url url = http::parse_url(base::get_string(one, "url")).value();
        request.scheme = url.scheme;
        request.host = url.host;
        request.port = url.port;
        request.target = url.target;
        request.body = base::get_string(one, "body");
        for (const auto& header : base::get_object(one, "headers")) {
            request.headers.set(header.key(), std::string(header.value().as_string()));
        }
        Credentials credentials;
        credentials.access_key = "AKIDEXAMPLE";
        credentials.secret_key = base::get_string(one, "secret");
        credentials.session_token = base::get_string(one, "token");
        SigningScope scope;
        scope.region = base::get_string(one, "region");
        scope.service = base::get_string(one, "service");
        if (scope.service == "s3") scope.style = SigningStyle::s3;
        const auto now = *base::parse_time(base::get_string(one, "time"));
        if (base::get_string(one, "kind") == "presigned") {
            const std::string target =
                presigned_target(request, credentials, scope, now, std::chrono::seconds(60));
            EXPECT_EQ(target.substr(target.find("X-Amz-Signature=")), base::get_string(one, "expected"))
                << base::to_text(one);
        } else {
            sign(request, credentials, scope, now);
            EXPECT_EQ(request.headers.get("Authorization"), base::get_string(one, "expected"))
                << base::to_text(one);
        }
    }
}

}  // namespace
}  // namespace instantstart::aws
