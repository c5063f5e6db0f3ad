#include "core/runtimes/runtime_process.h"

#include "core/base/text.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>
#include <stop_token>

namespace halftone::runtimes {
namespace {

using Clock = std::chrono::steady_clock;

constexpr const char *kProgram = "halftone-runtime";

bool isAgain()
{
    return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
}

struct Wake
{
    int event;
    void operator()() const { ::eventfd_write(event, 1); }
};

} // namespace

std::chrono::milliseconds limit()
{
    constexpr std::chrono::minutes kUsual{10};
    const char *const text = std::getenv("HALFTONE_RUNTIME_LIMIT");
    const auto seconds = text != nullptr ? parseInteger(text) : std::nullopt;
    return seconds && *seconds > 0 ? std::chrono::milliseconds(std::chrono::seconds(*seconds)) : kUsual;
}

std::string runtimeProgram()
{
    if (const char *const named = std::getenv("HALFTONE_RUNTIME"); named != nullptr && *named != '\0')
        return named;
    std::error_code none;
    const auto folder = std::filesystem::read_symlink("/proc/self/exe", none).parent_path();
    const auto above = folder.parent_path();
    for (const std::filesystem::path &place :
         {folder, above / "bin", above, above.parent_path() / "halftone/bin"})
        if (const std::string program = (place / kProgram).string(); ::access(program.c_str(), X_OK) == 0)
            return program;
    return kProgram;
}

Result<std::unique_ptr<RuntimeProcess>> RuntimeProcess::start(std::string_view kind, std::string title,
                                                              const std::string &library)
{
    std::unique_ptr<RuntimeProcess> process(new RuntimeProcess(std::move(title)));
    HALFTONE_CHECK(process->open({runtimeProgram(), std::string(kind), library}));
    return process;
}

Result<void> RuntimeProcess::open(const std::vector<std::string> &command)
{
    int ends[2] = {-1, -1};
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        return unsupported(command.front(), std::strerror(errno), "a channel to the program");
    m_channel = FileDescriptor(ends[0]);
    const FileDescriptor theirs(ends[1]);
    m_errors = FileDescriptor(::memfd_create("errors of a runtime", MFD_CLOEXEC));
    m_wakes = FileDescriptor(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    if (::fcntl(ends[0], F_SETFL, O_NONBLOCK) != 0 || !m_wakes.isOpen())
        return unsupported(command.front(), std::strerror(errno), "a channel to the program");
    HALFTONE_TRY(m_child,
                 ChildProcess::start(command, {theirs.number(), theirs.number(), m_errors.number()}));
    return {};
}

/// Either way, until all is there, the stop is requested or the time is over.
Result<void> RuntimeProcess::transfer(std::byte *in, const std::byte *out, std::size_t size,
                                      const Progress &progress)
{
    for (std::size_t done = 0; done < size;) {
        const ssize_t moved = in != nullptr
            ? ::recv(m_channel.number(), in + done, size - done, 0)
            : ::send(m_channel.number(), out + done, size - done, MSG_NOSIGNAL);
        if (moved > 0) {
            done += static_cast<std::size_t>(moved);
            continue;
        }
        if (moved == 0 || !isAgain())
            return ended();
        const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(m_deadline - Clock::now());
        pollfd polled[2] = {{m_channel.number(), static_cast<short>(in != nullptr ? POLLIN : POLLOUT), 0},
                            {m_wakes.number(), POLLIN, 0}};
        ::poll(polled, 2,
               static_cast<int>(std::clamp<std::chrono::milliseconds::rep>(left.count(), 0, 60000)));
        if (progress.stopped()) {
            m_child.kill();
            return cancelled();
        }
        if (Clock::now() >= m_deadline) {
            m_child.kill();
            return unsupported(
                m_title, "no answer after " + std::to_string(limit().count() / 1000) + " s, and was ended",
                "; HALFTONE_RUNTIME_LIMIT allows it more seconds");
        }
    }
    return {};
}

Result<Message> RuntimeProcess::ask(const OrderedJson &head, std::span<const std::span<const std::byte>> body,
                                    const Progress &progress)
{
    if (m_isOver)
        return unsupported(m_title, "its process has ended");
    HALFTONE_CHECK(progress.checkStop());
    m_deadline = Clock::now() + limit();
    const std::stop_callback<Wake> wakes(progress.stop, Wake{m_wakes.number()});
    m_isOver = true; // unless all goes well
    HALFTONE_CHECK(writeMessage(head, body, [&](std::span<const std::byte> bytes) {
        return transfer(nullptr, bytes.data(), bytes.size(), progress);
    }));
    HALFTONE_TRY(Message answer, readMessage([&](std::span<std::byte> bytes) {
                     return transfer(bytes.data(), nullptr, bytes.size(), progress);
                 }));
    m_isOver = false;
    return answer;
}

/// Why the process is gone.
Error RuntimeProcess::ended()
{
    m_child.kill(); // it may have closed the channel without ending
    const int code = m_child.wait();
    const std::string words = lastWords();
    const std::string how = code > 128 && code - 128 != SIGKILL
        ? "crashed with signal " + std::to_string(code - 128) + " (" + ::strsignal(code - 128) + ')'
        : "ended";
    return unsupported(m_title, how + (words.empty() ? std::string() : ": " + words));
}

/// The last line that says something.
std::string RuntimeProcess::lastWords() const
{
    constexpr off_t kMost = 2000;
    struct stat facts
    { };
    if (!m_errors.isOpen() || ::fstat(m_errors.number(), &facts) != 0)
        return {};
    std::string text(static_cast<std::size_t>(std::min(facts.st_size, kMost)), '\0');
    const ssize_t got
        = ::pread(m_errors.number(), text.data(), text.size(), std::max<off_t>(facts.st_size - kMost, 0));
    text.resize(static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    const std::string_view words = trimmed(text);
    return printable(words.substr(words.rfind('\n') == std::string_view::npos ? 0 : words.rfind('\n') + 1));
}

} // namespace halftone::runtimes
