// Table: what an informer fills. It names the fields that it reads of an object; the decoder hands over those
// and nothing else, while the bytes come in, and no document is ever built.
//
// Calls of one object: begin(), then open/text/number/flag/close in the order of the document, then put() or
// remove(), or neither where the object turned out to be broken. A list is start_list(), objects,
// finish_list(): what was not in it goes. Nothing of a table trusts what it is told: a text may be any bytes
// of valid UTF-8, of up to kMaxText.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace instantstart::kube {

// A member that is read. Arrays are transparent: their elements count as the member itself.
struct Wanted {
    Wanted(std::string key, int tag, std::vector<Wanted> below = {})
        : key(std::move(key)), tag(tag), below(std::move(below)) {}
    std::string key;  // "*" is any other key
    int tag = 0;      // what the table calls it; 0: only on the way to what is below
    std::vector<Wanted> below;
};

class Table {
public:
    static constexpr std::size_t kMaxText = 4096;  // bytes; longer texts are cut

    virtual ~Table() = default;
    // The members of an object that are read, besides metadata's name, namespace and resourceVersion.
    virtual std::vector<Wanted> wanted() const = 0;

    virtual void begin() = 0;
    virtual void open(int tag) = 0;  // an object that carries a tag
    virtual void close(int tag) = 0;
    // `key` is that of the member, which matters where "*" was asked for.
    virtual void text(int tag, std::string_view key, std::string_view value) = 0;
    virtual void number(int tag, std::string_view key, std::int64_t value) = 0;
    virtual void flag(int tag, std::string_view key, bool value) = 0;
    // The object is complete. True where the table is another afterwards.
    virtual bool put(std::string_view ns, std::string_view name) = 0;
    virtual bool remove(std::string_view ns, std::string_view name) = 0;

    virtual void start_list() = 0;
    virtual bool finish_list() = 0;
    virtual void clear() = 0;
    virtual std::size_t size() const = 0;
};

}  // namespace instantstart::kube
