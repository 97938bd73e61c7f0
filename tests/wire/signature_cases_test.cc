// Signature Version 4 against vectors. Ours are in data/signatures.json, made by make_signatures.py with
// AWS's own signer; a folder in the form of AWS's published suite is run too where
// INSTANTSTART_SIGNATURE_CASES names one.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>

#include "aws/sigv4.h"
#include "base/json.h"
#include "base/result.h"
#include "base/text.h"

namespace instantstart::aws {
namespace {

namespace fs = std::filesystem;

std::string read_file(const fs::path& path) {
    std::ifstream in(path, std::ios::binary);
    std::ostringstream out;
    out << in.rdbuf();
    return out.str();
}

// A raw HTTP request as the suite writes it: no length, headers folded over lines, paths unencoded.
http::Request read_request(const std::string& text) {
    http::Request request;
    std::string last;
    const std::size_t blank = text.find("\n\n");
    const auto lines = base::split(text.substr(0, blank), '\n');
    const std::size_t space = lines[0].find(' ');
    request.method = lines[0].substr(0, space);
    request.target = lines[0].substr(space + 1, lines[0].rfind(" HTTP/") - space - 1);
    std::vector<std::pair<std::string, std::string>> fields;
    for (std::size_t i = 1; i < lines.size(); ++i) {
        if (lines[i].empty()) continue;
        if (lines[i].starts_with(' ')) {
            fields.back().second += " " + std::string(base::trim(lines[i]));
        } else {
            const std::size_t colon = lines[i].find(':');
            fields.emplace_back(lines[i].substr(0, colon), lines[i].substr(colon + 1));
        }
    }
    for (auto& [name, value] : fields) request.headers.add(name, value);
    if (blank != std::string::npos) request.body = text.substr(blank + 2);
    return request;
}

bool passes(const fs::path& request_file) {
    const std::string stem = request_file.parent_path() / request_file.stem();
    http::Request request = read_request(read_file(request_file));
    const std::string wanted = read_file(stem + ".authz");
    Credentials credentials;
    credentials.access_key = "AKIDEXAMPLE";
    credentials.secret_key = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY";
    if (wanted.find("x-amz-security-token") != std::string::npos) {
        credentials.session_token =
            read_request(read_file(stem + ".sreq")).headers.get("X-Amz-Security-Token");
    }
    SigningScope scope;
    scope.region = "us-east-1";
    scope.service = "service";
    sign(request, credentials, scope, *base::parse_time("2015-08-30T12:36:00Z"));
    EXPECT_EQ(request.headers.get("Authorization"), wanted) << stem;
    return request.headers.get("Authorization") == wanted;
}

TEST(SignatureCases, a_folder_in_the_published_form_passes) {
    const char* folder = std::getenv("INSTANTSTART_SIGNATURE_CASES");
    if (folder == nullptr) GTEST_SKIP() << "INSTANTSTART_SIGNATURE_CASES names no folder";
    int passed = 0;
    int failed = 0;
    for (const auto& entry : fs::recursive_directory_iterator(folder)) {
        if (entry.path().extension() != ".req") continue;
        ++(passes(entry.path()) ? passed : failed);
    }
    std::cout << passed << " passed, " << failed << " failed\n";
    EXPECT_GT(passed, 0);
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
