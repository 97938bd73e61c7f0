// Projection: reads JSON as it comes in and tells of the wanted members only. Holds a path and one text at a
// time, whatever the size of the document.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "kube/cache/table.h"

namespace instantstart::kube::impl {

class ProjectionSink {
public:
    virtual ~ProjectionSink() = default;
    virtual void open(int tag) = 0;
    virtual void close(int tag) = 0;
    virtual void text(int tag, std::string_view key, std::string_view value) = 0;
    virtual void number(int tag, std::string_view key, std::int64_t value) = 0;
    virtual void flag(int tag, std::string_view key, bool value) = 0;
};

class Projection {
public:
    // `root` describes the document's own object; it and `sink` outlive the projection.
    Projection(const Wanted& root, ProjectionSink& sink);
    ~Projection();
    Projection(const Projection&) = delete;
    Projection& operator=(const Projection&) = delete;

    // Takes the beginning of `bytes`: up to the end of the document, or all. The number of bytes taken. An
    // error (code "invalid_json") where they are not JSON of an object.
    base::Result<std::size_t> write(std::string_view bytes);
    // The document is complete; reset() begins another.
    bool is_done() const;
    // Something other than white space has come of a document that is not complete.
    bool is_begun() const { return taken_ > 0 && !is_done(); }
    void reset();
    // Bytes of the document so far.
    std::size_t taken() const { return taken_; }

private:
    struct Parser;
    std::unique_ptr<Parser> parser_;
    std::size_t taken_ = 0;
};

}  // namespace instantstart::kube::impl
