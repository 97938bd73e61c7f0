// A folder of signature vectors in the form of AWS's published suite: `make aws-signature-cases CASES=DIR`.
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

TEST(SignatureFolder, a_folder_in_the_published_form_passes) {
    const char* folder = std::getenv("INSTANTSTART_SIGNATURE_CASES");
    ASSERT_NE(folder, nullptr) << "INSTANTSTART_SIGNATURE_CASES names no folder";
    int passed = 0;
    int failed = 0;
    for (const auto& entry : fs::recursive_directory_iterator(folder)) {
        if (entry.path().extension() != ".req") continue;
        ++(passes(entry.path()) ? passed : failed);
    }
    std::cout << passed << " passed, " << failed << " failed\n";
    EXPECT_GT(passed, 0);
}

}  // namespace
}  // namespace instantstart::aws
