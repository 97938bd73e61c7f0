#include "kube/cache/symbols.h"

#include "base/check.h"

namespace instantstart::kube {

Symbols::Symbols() {
    entries_.emplace_back();
}

Symbol Symbols::hold(std::string_view text) {
    if (text.empty()) return 0;
    if (const auto found = known_.find(text); found != known_.end()) {
        ++entries_[found->second].holders;
        return found->second;
    }
    Symbol symbol = 0;
    if (free_.empty()) {
        symbol = static_cast<Symbol>(entries_.size());
        entries_.emplace_back();
    } else {
        symbol = free_.back();
        free_.pop_back();
    }
    auto& entry = entries_[symbol];
    entry.text = text;
    entry.holders = 1;
    known_.emplace(entry.text, symbol);
    return symbol;
}

void Symbols::release(Symbol symbol) {
    if (symbol == 0) return;
    auto& entry = entries_[symbol];
    CHECK(entry.holders > 0);
    if (--entry.holders > 0) return;
    known_.erase(entry.text);
    entry.text = std::string();
    free_.push_back(symbol);
}

Symbol Symbols::find(std::string_view text) const {
    const auto found = known_.find(text);
    return found == known_.end() ? 0 : found->second;
}

}  // namespace instantstart::kube
