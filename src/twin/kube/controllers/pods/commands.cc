#include "twin/kube/controllers/pods/commands.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <vector>

#include "base/text.h"

namespace instantstart::twin::kube::controllers {

namespace {

using Words = std::vector<std::string>;

Words words_of(const JsonValue& holder) {
    Words out;
    for (const char* member : {"command", "args"}) {
        for (const auto& word : base::get_array(holder, member)) {
            if (word.is_string()) out.emplace_back(word.get_string());
        }
    }
    return out;
}

std::string text_of(const JsonValue& holder) {
    return base::join(words_of(holder), " ") + " ";
}

std::string_view base_name(std::string_view path) {
    const auto slash = path.rfind('/');
    return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

bool is_shell(std::string_view word) {
    const auto name = base_name(word);
    return name == "sh" || name == "bash" || name == "ash" || name == "dash";
}

std::optional<double> number(std::string_view text) {
    double out = 0;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), out);
    if (text.empty() || read.ec != std::errc() || read.ptr != text.data() + text.size() ||
        !std::isfinite(out) || out < 0)
        return std::nullopt;
    return out;
}

// One simple command. False where it is not one of those that are known; `ends` where the script is over.
bool add_statement(const Words& words, Run& run, bool& ends) {
    const auto name = base_name(words[0]);
    const std::string first = words.size() > 1 ? words[1] : "";
    run.code = 0;
    if (name == "echo" || name == "true" || name == ":" || name == "printf") return true;
    if (name == "false") {
        run.code = 1;
        return true;
    }
    const auto value = number(first);
    if (name == "sleep") {
        if (!value) return false;
        run.seconds += *value;
        return true;
    }
    if (name != "exit") return false;
    if (words.size() > 1 && !value) return false;
    run.code = static_cast<int>(value.value_or(0));
    ends = true;
    return true;
}

Words split_words(std::string_view statement) {
    Words out;
    std::string word;
    for (const char c : std::string(statement) + " ") {
        if (c != ' ' && c != '\t') {
            word += c;
        } else if (!word.empty()) {
            out.push_back(std::move(word));
            word.clear();
        }
    }
    return out;
}

std::optional<Run> script_run(std::string script, bool stops_at_error) {
    // A conjunction stops at its first failure; everything else goes on.
    for (std::size_t at = 0; (at = script.find("&&", at)) != std::string::npos;) script.replace(at, 2, "\n&");
    std::replace(script.begin(), script.end(), ';', '\n');
    Run run;
    bool ends = false;
    for (const auto& line : base::split(script, '\n')) {
        std::string_view statement = base::trim(line);
        const bool conjunct = statement.starts_with("&");
        if (conjunct) statement = base::trim(statement.substr(1));
        if (statement.empty()) continue;
        if (ends || (run.code != 0 && (conjunct || stops_at_error))) break;
        if (statement.find_first_of("|<>$`(){}&\\\"'") != std::string::npos &&
            !statement.starts_with("echo "))
            return std::nullopt;
        const Words words = split_words(statement);
        if (!add_statement(words, run, ends)) return std::nullopt;
    }
    return run;
}

std::optional<std::int64_t> number_after(const std::string& text, std::string_view word) {
    const auto at = text.find(word);
    if (at == std::string::npos) return std::nullopt;
    std::int64_t out = 0;
    const char* begin = text.data() + at + word.size();
    const auto read = std::from_chars(begin, text.data() + text.size(), out);
    if (read.ec != std::errc()) return std::nullopt;
    return out;
}

// The operator of a custom resource says when its pods end.
bool belongs_to_operator(const JsonObject& pod) {
    const auto& owners = base::get_array(pod, "metadata.ownerReferences");
    return !owners.empty() && base::get_string(owners[0], "kind") != "Job";
}

}  // namespace

std::optional<Run> plain_run(const JsonValue& holder) {
    const Words words = words_of(holder);
    if (words.empty()) return std::nullopt;
    if (is_shell(words[0]) && words.size() >= 3 && words[1].starts_with("-") && words[1].ends_with("c"))
        return script_run(words[2], words[1].find('e') != std::string::npos);
    Run run;
    bool ends = false;
    if (!add_statement(words, run, ends) || ends) return std::nullopt;  // exit is a shell's own
    return run;
}

std::optional<Run> run_of_container(const JsonObject& pod, const JsonValue& container) {
    const auto plain = plain_run(container);
    if (plain) return plain;
    if (base::get_string(pod, "spec.restartPolicy", "Always") == "Always") return std::nullopt;
    if (belongs_to_operator(pod)) return std::nullopt;
    const auto text = text_of(container);
    if (text.find("sleep infinity") != std::string::npos) return std::nullopt;
    Run run;
    run.seconds = static_cast<double>(number_after(text, "sleep ").value_or(20));
    run.code = static_cast<int>(number_after(text, "exit ").value_or(0));
    return run;
}

std::optional<Run> run_of_init_container(const JsonValue& container) {
    if (const auto plain = plain_run(container)) return plain;
    if (text_of(container).find("sleep infinity") != std::string::npos) return std::nullopt;
    Run run;
    run.seconds = 1;
    return run;
}

bool probe_succeeds(const JsonValue& probe) {
    const auto* exec = base::find_path(probe, "exec");
    if (exec == nullptr) return true;
    const auto run = plain_run(*exec);
    return !run || run->code == 0;
}

double pre_stop_seconds(const JsonValue& container) {
    const auto* hook = base::find_path(container, "lifecycle.preStop");
    if (hook == nullptr) return 0;
    if (base::find_path(*hook, "sleep") != nullptr)
        return static_cast<double>(base::get_int(*hook, "sleep.seconds"));
    const auto* exec = base::find_path(*hook, "exec");
    const auto run = exec == nullptr ? std::nullopt : plain_run(*exec);
    return run ? run->seconds : 0;
}

}  // namespace instantstart::twin::kube::controllers
