// Web: serves the console that is built into the binary.
#pragma once

#include <map>
#include <string>

#include "base/embedded.h"
#include "http/message.h"

namespace instantstart::api {

class Web {
public:
    // `files` outlive this: embedded::console() in the product.
    explicit Web(const std::vector<base::EmbeddedFile>& files);
    // GET or HEAD of any path outside the API. Paths without a dot are the app's own and get index.html.
    http::Response handle(const http::Request& request) const;
    void add_security_headers(http::Response& response) const;

private:
    struct File {
        std::string_view content, gzip;
        std::string etag;
    };
    http::Response file_response(const http::Request& request, const std::string& path,
                                 const File& file) const;
    std::map<std::string, File, std::less<>> files_;
};

}  // namespace instantstart::api
