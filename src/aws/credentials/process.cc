#include "aws/credentials/process.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "aws/credentials/documents.h"
#include "rt/event.h"

extern char** environ;

namespace instantstart::aws {

namespace {

constexpr std::size_t kErrorBytes = 4096;
constexpr auto kPoll = std::chrono::milliseconds(5);

// A pipe whose reading end is ours and never waits.
struct Pipe {
    Pipe() = default;
    int reading = -1, writing = -1;
    bool open() {
        std::array<int, 2> ends{};
        if (::pipe2(ends.data(), O_CLOEXEC) != 0) return false;
        reading = ends[0];
        writing = ends[1];
        return ::fcntl(reading, F_SETFL, O_NONBLOCK) == 0;
    }
    void close_writing() {
        if (writing >= 0) ::close(writing);
        writing = -1;
    }
    ~Pipe() {
        close_writing();
        if (reading >= 0) ::close(reading);
    }
    Pipe(const Pipe&) = delete;
    Pipe& operator=(const Pipe&) = delete;
};

// A running program. Destroyed before its end, it is killed with all that it started.
class Program {
public:
    Program() = default;
    ~Program() {
        if (pid_ <= 0) return;
        ::kill(-pid_, SIGKILL);
        ::waitpid(pid_, nullptr, 0);
    }
    Program(const Program&) = delete;
    Program& operator=(const Program&) = delete;

    // 0, or errno.
    int start(std::vector<std::string> words, int to_stdout, int to_stderr) {
        std::vector<char*> arguments;
        arguments.reserve(words.size() + 1);
        for (std::string& word : words) arguments.push_back(word.data());
        arguments.push_back(nullptr);
        posix_spawn_file_actions_t files{};
        posix_spawn_file_actions_init(&files);
        posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
        posix_spawn_file_actions_adddup2(&files, to_stdout, 1);
        posix_spawn_file_actions_adddup2(&files, to_stderr, 2);
        posix_spawn_file_actions_addclosefrom_np(&files, 3);
        posix_spawnattr_t attributes{};
        posix_spawnattr_init(&attributes);
        sigset_t none{}, all{};
        sigemptyset(&none);
        sigfillset(&all);
        posix_spawnattr_setsigmask(&attributes, &none);
        posix_spawnattr_setsigdefault(&attributes, &all);
        posix_spawnattr_setflags(&attributes,
                                 POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
        const int failed =
            ::posix_spawnp(&pid_, arguments.front(), &files, &attributes, arguments.data(), environ);
        posix_spawnattr_destroy(&attributes);
        posix_spawn_file_actions_destroy(&files);
        if (failed != 0) pid_ = -1;
        return failed;
    }

    // The status of waitpid once it has ended.
    std::optional<int> ended() {
        int status = 0;
        if (::waitpid(pid_, &status, WNOHANG) != pid_) return std::nullopt;
        pid_ = -1;
        return status;
    }

private:
    pid_t pid_ = -1;
};

// What one of its outputs has brought so far.
struct Output {
    Output() = default;
    Pipe pipe;
    std::string text;
    // Takes what is there without waiting, of which `most` + 1 bytes are kept.
    // Bounded itself: what is written as fast as it is read would hold the whole process.
    void drain(std::size_t most) {
        constexpr int kReadsMost = 64;
        std::array<char, 4096> buffer{};
        for (int reads = 0; reads < kReadsMost; ++reads) {
            const ssize_t count = ::read(pipe.reading, buffer.data(), buffer.size());
            if (count <= 0) return;
            const std::size_t left = most + 1 - std::min(most + 1, text.size());
            text.append(buffer.data(), std::min(left, static_cast<std::size_t>(count)));
        }
    }
};

struct Run {
    Run() = default;
    Program program;
    Output output, errors;
    int status = 0;
};

// Looks, rather than waits for the ends of the pipes: something that the program leaves running may hold
// them. Ends early where more was written than is taken: the program is killed with its Run.
Task<void> finish(rt::Clock& clock, std::shared_ptr<Run> run, std::size_t most) {
    while (true) {
        const auto status = run->program.ended();
        run->output.drain(most);
        run->errors.drain(kErrorBytes);
        if (status) run->status = *status;
        if (status || run->output.text.size() > most) co_return base::ok();
        CO_CHECK_OK(co_await clock.sleep(kPoll));
    }
}

base::Result<std::shared_ptr<Run>> start(const std::string& command, const std::string& what) {
    auto words = split_words(command);
    if (!words.has_value())
        return no_credentials(what + " cannot be split into words: " + words.error().message);
    if (words->empty()) return no_credentials(what + " is empty");
    const std::string program = words->front();
    auto run = std::make_shared<Run>();
    if (!run->output.pipe.open() || !run->errors.pipe.open())
        return no_credentials(what + ": no pipe can be made: " + std::strerror(errno));
    const int failed =
        run->program.start(std::move(*words), run->output.pipe.writing, run->errors.pipe.writing);
    if (failed != 0)
        return no_credentials(what + ": " + cleaned(program, 200) +
                              " cannot be run: " + std::strerror(failed));
    run->output.pipe.close_writing();
    run->errors.pipe.close_writing();
    return run;
}

base::Result<Credentials> read_answer(const Run& run, const ProcessLimits& limits, const std::string& what) {
    if (run.output.text.size() > limits.output_bytes)
        return no_credentials(what + " wrote more than " + std::to_string(limits.output_bytes) + " bytes");
    const std::string said = run.errors.text.empty() ? "" : ": " + cleaned(run.errors.text, 500);
    if (WIFSIGNALED(run.status))
        return no_credentials(what + " was ended by signal " + std::to_string(WTERMSIG(run.status)) + said);
    if (WEXITSTATUS(run.status) != 0)
        return no_credentials(what + " ended with status " + std::to_string(WEXITSTATUS(run.status)) + said);
    TRY(const base::JsonObject document, object_of(run.output.text, what));
    if (base::get_int(document, "Version") != 1)
        return no_credentials(what + " must answer \"Version\": 1, which is the only one known");
    return credentials_of(document, what);
}

}  // namespace

Task<Credentials> from_process(Context context, rt::Clock& clock, std::string command, std::string profile,
                               ProcessLimits limits) {
    const std::string what = "credential_process of profile " + profile;
    CO_TRY(const std::shared_ptr<Run> run, start(command, what));
    context.log(base::LogLevel::debug, "credential_process_started", {{"profile", base::JsonValue(profile)}});
    auto done = co_await rt::with_limit(clock, limits.time, finish(clock, run, limits.output_bytes));
    if (done.has_value()) co_return read_answer(*run, limits, what);
    if (done.error().kind != base::ErrorKind::deadline) co_return std::move(done).error();
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(limits.time).count();
    const std::string said = run->errors.text.empty() ? "" : ": " + cleaned(run->errors.text, 500);
    co_return no_credentials(what + " did not end within " + std::to_string(seconds) + " s" + said);
}

}  // namespace instantstart::aws
