/// Preloaded into a program, makes its n-th request for memory fail, for one n after another: main() is run in a child for
/// each, forked before it begins, which costs a millisecond where starting anew would cost ten.
///
/// HALFTONE_FAIL_AT       numbers and ranges: "1-500,612,750"; 0 fails none
/// HALFTONE_FAIL_OUTPUTS  files that the program writes, separated by ':'; removed before each run
/// HALFTONE_FAIL_STEADY   not empty: what it prints is the same each time, and goes into the hash
/// HALFTONE_FAIL_SECONDS  that one run may take (default 20)
///
/// For each n one line on standard error: n, how it ended ("exit 3", "signal 6", "hang"), whether the request was reached, "reached by
/// oneDNN" where that asked, how many there were, a hash of what was written, and the last line on standard error.

#include <dlfcn.h>
#include <execinfo.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string>
#include <string_view>
#include <vector>

extern "C"
{
    void *__libc_malloc(std::size_t);
    void *__libc_calloc(std::size_t, std::size_t);
    void *__libc_realloc(void *, std::size_t);
    void *__libc_memalign(std::size_t, std::size_t);
}

namespace {

/// What a child tells the parent.
struct Shared
{
    std::atomic<std::uint64_t> requests{0};
    std::atomic<bool> isReached{false};
    std::atomic<bool> isOneDnns{false};
};

Shared *s_shared = nullptr; // null: nothing is counted
std::uint64_t s_failing = 0;

/// Whether the request at hand is oneDNN's: by the innermost frame that is none of the languages' libraries.
bool isOneDnns()
{
    void *frames[16];
    const int count = ::backtrace(frames, 16);
    for (int k = 0; k < count; ++k) {
        Dl_info info;
        if (::dladdr(frames[k], &info) == 0 || info.dli_fname == nullptr)
            continue;
        const std::string_view file = info.dli_fname;
        const auto isOf = [file](std::string_view name) { return file.find(name) != std::string_view::npos; };
        if (!isOf("libfail_nth") && !isOf("libc.so") && !isOf("libstdc++"))
            return isOf("libdnnl");
    }
    return false;
}

/// Whether this request is the one.
bool fails()
{
    if (s_shared == nullptr || ++s_shared->requests != s_failing)
        return false;
    s_shared->isReached = true;
    s_shared->isOneDnns = isOneDnns();
    errno = ENOMEM;
    return true;
}

using Main = int (*)(int, char **, char **);
Main s_main = nullptr;

std::vector<std::uint64_t> numbersIn(const char *text)
{
    std::vector<std::uint64_t> numbers;
    while (text != nullptr && *text != '\0') {
        char *end = nullptr;
        const std::uint64_t first = std::strtoull(text, &end, 10);
        const std::uint64_t last = *end == '-' ? std::strtoull(end + 1, &end, 10) : first;
        for (std::uint64_t n = first; n <= last; ++n)
            numbers.push_back(n);
        text = *end == ',' ? end + 1 : nullptr;
    }
    return numbers;
}

std::vector<std::string> partsOf(const char *text)
{
    std::vector<std::string> parts;
    std::string_view rest = text == nullptr ? std::string_view() : text;
    while (!rest.empty()) {
        const std::size_t length = std::min(rest.find(':'), rest.size());
        parts.emplace_back(rest.substr(0, length));
        rest.remove_prefix(std::min(length + 1, rest.size()));
    }
    return parts;
}

std::string contentOf(int file)
{
    std::string text;
    char buffer[65536];
    ::lseek(file, 0, SEEK_SET);
    for (ssize_t got = ::read(file, buffer, sizeof buffer); got > 0;
         got = ::read(file, buffer, sizeof buffer))
        text.append(buffer, static_cast<std::size_t>(got));
    return text;
}

/// FNV-1a of the program's output and files.
std::uint64_t hashOf(const std::string &output, const std::vector<std::string> &files)
{
    std::uint64_t hash = 14695981039346656037U;
    const auto add = [&hash](std::string_view text) {
        for (const char c : text)
            hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211U;
    };
    add(output);
    for (const std::string &name : files) {
        const int file = ::open(name.c_str(), O_RDONLY | O_CLOEXEC);
        add(file < 0 ? "none" : contentOf(file));
        if (file >= 0)
            ::close(file);
    }
    return hash;
}

std::string lastLineOf(std::string text)
{
    while (!text.empty() && text.back() == '\n')
        text.pop_back();
    const std::size_t newline = text.rfind('\n');
    return newline == std::string::npos ? text : text.substr(newline + 1);
}

/// "exit 3", "signal 11" or, after so many seconds, "hang".
std::string endOf(pid_t child, double seconds)
{
    int status = 0;
    for (double waited = 0; waited < seconds; waited += 0.001) {
        if (::waitpid(child, &status, WNOHANG) == child)
            return WIFSIGNALED(status) ? "signal " + std::to_string(WTERMSIG(status))
                                       : "exit " + std::to_string(WEXITSTATUS(status));
        const timespec pause{0, 1'000'000};
        ::nanosleep(&pause, nullptr);
    }
    ::kill(child, SIGKILL);
    ::waitpid(child, &status, 0);
    return "hang";
}

int forEach(int count, char **arguments, char **environment)
{
    const std::vector<std::uint64_t> numbers = numbersIn(std::getenv("HALFTONE_FAIL_AT"));
    const std::vector<std::string> files = partsOf(std::getenv("HALFTONE_FAIL_OUTPUTS"));
    const char *const limit = std::getenv("HALFTONE_FAIL_SECONDS");
    const char *const steady = std::getenv("HALFTONE_FAIL_STEADY");
    const bool isSteady = steady != nullptr && *steady != 0;
    const double seconds = limit != nullptr ? std::atof(limit) : 20;
    ::unsetenv("LD_PRELOAD"); // its own children are not to be counted
    void *const memory
        = ::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    const int output = ::memfd_create("output", 0);
    const int errors = ::memfd_create("errors", 0);
    isOneDnns(); // what reads the stack is loaded by the first call
    for (const std::uint64_t n : numbers) {
        auto *const shared = new (memory) Shared;
        for (const std::string &name : files)
            ::unlink(name.c_str());
        for (const int file : {output, errors}) {
            static_cast<void>(::ftruncate(file, 0));
            ::lseek(file, 0, SEEK_SET);
        }
        const pid_t child = ::fork();
        if (child == 0) {
            ::dup2(output, STDOUT_FILENO);
            ::dup2(errors, STDERR_FILENO);
            ::close(output);
            ::close(errors);
            s_failing = n;
            s_shared = shared;
            return s_main(count, arguments, environment);
        }
        const std::string end = endOf(child, seconds);
        std::fprintf(
            stderr, "%llu\t%s\t%s\t%llu\t%016llx\t%s\n", static_cast<unsigned long long>(n), end.c_str(),
            shared->isOneDnns       ? "reached by oneDNN"
                : shared->isReached ? "reached"
                                    : "beyond",
            static_cast<unsigned long long>(shared->requests.load()),
            static_cast<unsigned long long>(hashOf(isSteady ? contentOf(output) : std::string(), files)),
            lastLineOf(contentOf(errors)).c_str());
        if (n > 0 && !shared->isReached && end != "hang")
            break; // there are not so many
    }
    std::_Exit(0);
}

} // namespace

extern "C"
{

    void *malloc(std::size_t bytes)
    {
        return fails() ? nullptr : __libc_malloc(bytes);
    }
    void *calloc(std::size_t count, std::size_t bytes)
    {
        return fails() ? nullptr : __libc_calloc(count, bytes);
    }
    void *realloc(void *old, std::size_t bytes)
    {
        return fails() ? nullptr : __libc_realloc(old, bytes);
    }
    void *memalign(std::size_t unit, std::size_t bytes)
    {
        return fails() ? nullptr : __libc_memalign(unit, bytes);
    }
    void *aligned_alloc(std::size_t unit, std::size_t bytes)
    {
        return memalign(unit, bytes);
    }

    int posix_memalign(void **memory, std::size_t unit, std::size_t bytes)
    {
        *memory = memalign(unit, bytes);
        return *memory == nullptr ? ENOMEM : 0;
    }

    void *mmap(void *at, std::size_t bytes, int protection, int flags, int file, off_t offset) noexcept
    {
        if (fails())
            return MAP_FAILED;
        return reinterpret_cast<void *>(::syscall(SYS_mmap, at, bytes, protection, flags, file, offset));
    }

    int __libc_start_main(Main program, int count, char **arguments, void (*begin)(), void (*end)(),
                          void (*loaderEnd)(), void *stack)
    {
        using Start = int (*)(Main, int, char **, void (*)(), void (*)(), void (*)(), void *);
        const auto start = reinterpret_cast<Start>(::dlsym(RTLD_NEXT, "__libc_start_main"));
        s_main = program;
        const bool isWanted = std::getenv("HALFTONE_FAIL_AT") != nullptr;
        return start(isWanted ? forEach : program, count, arguments, begin, end, loaderEnd, stack);
    }

} // extern "C"
