#include "api/web/web.h"

#include <array>

#include "base/digest.h"
#include "base/text.h"

namespace instantstart::api {

namespace {

struct TypeRow {
    std::string_view ending, type;
};
constexpr std::array<TypeRow, 13> kTypes = {{{".html", "text/html; charset=utf-8"},
                                             {".js", "text/javascript; charset=utf-8"},
                                             {".mjs", "text/javascript; charset=utf-8"},
                                             {".css", "text/css; charset=utf-8"},
                                             {".json", "application/json"},
                                             {".map", "application/json"},
                                             {".svg", "image/svg+xml"},
                                             {".png", "image/png"},
                                             {".ico", "image/x-icon"},
                                             {".woff2", "font/woff2"},
                                             {".woff", "font/woff"},
                                             {".txt", "text/plain; charset=utf-8"},
                                             {".webmanifest", "application/manifest+json"}}};

std::string_view type_of(std::string_view path) {
    for (const auto& row : kTypes) {
        if (path.ends_with(row.ending)) return row.type;
    }
    return "application/octet-stream";
}

// Cloudscape sets styles at run time, hence the exception for them; nothing else comes from anywhere but
// here.
constexpr const char* kContentPolicy =
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src "
    "'self' data:; "
    "connect-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'";

constexpr const char* kNoConsole =
    "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>InstantStart</title>"
    "<main style=\"font-family:sans-serif;max-width:40em;margin:4em auto\"><h1>InstantStart is running</h1>"
    "<p>This binary was built without the web console. The other faces are here:</p><ul>"
    "<li>REST: <code>/api/v1</code>, described by <a "
    "href=\"/api/v1/openapi.json\">/api/v1/openapi.json</a></li>"
    "<li>MCP: <code>/mcp</code></li><li>Command line: <code>instantstart call --help</code></li></ul>"
    "<p><code>make build</code> builds the console in.</p></main></html>";

}  // namespace

Web::Web(const std::vector<base::EmbeddedFile>& files) {
    for (const auto& file : files) {
        if (file.name.ends_with(".gz")) continue;
        File made;
        made.content = file.content;
        constexpr std::size_t kTagDigits = 20;
        made.etag = "\"" + base::sha256_hex(file.content).substr(0, kTagDigits) + "\"";
        files_.emplace(std::string(file.name), std::move(made));
    }
    for (const auto& file : files) {
        if (!file.name.ends_with(".gz")) continue;
        const auto plain = files_.find(file.name.substr(0, file.name.size() - 3));
        if (plain != files_.end()) plain->second.gzip = file.content;
    }
}

void Web::add_security_headers(http::Response& response) const {
    response.headers.set("X-Content-Type-Options", "nosniff");
    response.headers.set("Referrer-Policy", "no-referrer");
    response.headers.set("X-Frame-Options", "DENY");
    response.headers.set("Cross-Origin-Opener-Policy", "same-origin");
    response.headers.set("Cross-Origin-Resource-Policy", "same-origin");
}

http::Response Web::file_response(const http::Request& request, const std::string& path,
                                  const File& file) const {
    constexpr int kNotModified = 304;
    const bool hashed = path.starts_with("assets/");
    http::Response response;
    if (request.headers.get("If-None-Match") == file.etag) {
        response.status = kNotModified;
    } else if (!file.gzip.empty() &&
               request.headers.get("Accept-Encoding").find("gzip") != std::string::npos) {
        response.headers.set("Content-Encoding", "gzip");
        response.body = std::string(file.gzip);
    } else {
        response.body = std::string(file.content);
    }
    response.headers.set("Content-Type", std::string(type_of(path)));
    response.headers.set("ETag", file.etag);
    response.headers.set("Vary", "Accept-Encoding");
    response.headers.set("Cache-Control", hashed ? "public, max-age=31536000, immutable" : "no-cache");
    response.headers.set("Content-Security-Policy", kContentPolicy);
    return response;
}

http::Response Web::handle(const http::Request& request) const {
    std::string path = base::percent_decode(request.path());
    path.erase(0, path.find_first_not_of('/'));
    const auto exact = files_.find(path);
    if (exact != files_.end()) return file_response(request, path, exact->second);
    constexpr int kNotFound = 404;
    const bool is_file = path.find('.') != std::string::npos;
    if (is_file) return {kNotFound, "text/plain; charset=utf-8", "Not found\n"};
    const auto index = files_.find("index.html");
    if (index != files_.end()) return file_response(request, "index.html", index->second);
    http::Response response(200, "text/html; charset=utf-8", kNoConsole);
    response.headers.set("Content-Security-Policy", kContentPolicy);
    response.headers.set("Cache-Control", "no-cache");
    return response;
}

}  // namespace instantstart::api
