// Symbols: texts that many records share (node names, namespaces, labels), each kept once and counted.
//
// A record holds the number of a symbol and gives it back when it goes; what nobody holds any more is
// forgotten, so a cluster whose jobs come and go does not grow. One loop only.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace instantstart::kube {

// The number of a text; 0 is the empty text.
using Symbol = std::uint32_t;

class Symbols {
public:
    Symbols();
    Symbols(const Symbols&) = delete;
    Symbols& operator=(const Symbols&) = delete;

    // The symbol of a text, with one more holder.
    Symbol hold(std::string_view text);
    // One holder less.
    void release(Symbol symbol);
    // The symbol where somebody holds it, else 0.
    Symbol find(std::string_view text) const;
    // The text, as long as somebody holds it.
    const std::string& text(Symbol symbol) const { return entries_[symbol].text; }
    std::size_t size() const { return known_.size(); }

private:
    struct Entry {
        Entry() = default;
        std::string text;
        std::uint32_t holders = 0;
    };
    std::deque<Entry> entries_;  // never moved: the keys of `known_` look into them
    std::vector<Symbol> free_;
    std::unordered_map<std::string_view, Symbol> known_;
};

}  // namespace instantstart::kube
