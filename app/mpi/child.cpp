#include "app/mpi/child.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>

namespace halftone::mpi {
namespace {

constexpr int kCannotStart = 127;

/// In the child, between fork() and exec(): nothing that takes a lock.
[[noreturn]] void become(char *const *words, int input, int output, pid_t parent)
{
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    ::signal(SIGPIPE, SIG_DFL); // what is ignored stays so
    if (::getppid() != parent) // which has died meanwhile
        ::_exit(kCannotStart);
    const int nothing = ::open("/dev/null", O_RDWR | O_CLOEXEC);
    ::dup2(input >= 0 ? input : nothing, STDIN_FILENO);
    if (output != STDOUT_FILENO)
        ::dup2(output >= 0 ? output : nothing, STDOUT_FILENO);
    ::execv(words[0], words);
    ::_exit(kCannotStart);
}

void closeEnd(int &end)
{
    if (end >= 0)
        ::close(end);
    end = -1;
}

} // namespace

Child::~Child()
{
    if (m_process > 0) {
        ::kill(m_process, SIGKILL);
        wait();
    }
    closeEnd(m_input);
    closeEnd(m_output);
}

Result<void> Child::start(const std::vector<std::string> &arguments, Output output, bool takesLines)
{
    const auto failure = [&] {
        return inFile(badInput({}, std::strerror(errno), "halftone-cli in the folder of halftone-mpi"),
                      arguments[0]);
    };
    if (::access(arguments[0].c_str(), X_OK) != 0)
        return failure();
    std::vector<std::string> copies = arguments;
    std::vector<char *> words;
    for (std::string &word : copies)
        words.push_back(word.data());
    words.push_back(nullptr);
    std::array<int, 2> input{-1, -1};
    std::array<int, 2> told{-1, output == Output::Shown ? STDOUT_FILENO : -1};
    if (takesLines && ::pipe2(input.data(), O_CLOEXEC) != 0)
        return failure();
    m_input = input[1];
    if (output == Output::Read && ::pipe2(told.data(), O_CLOEXEC) != 0) {
        const auto why = failure();
        ::close(input[0]);
        return why;
    }
    m_output = told[0];
    std::signal(SIGPIPE, SIG_IGN); // tell() says it
    const pid_t parent = ::getpid();
    m_process = ::fork();
    if (m_process == 0)
        become(words.data(), input[0], told[1], parent);
    const auto started = m_process > 0 ? Result<void>() : Result<void>(failure());
    closeEnd(input[0]);
    if (output == Output::Read)
        closeEnd(told[1]);
    return started;
}

Result<void> Child::tell(const std::string &line)
{
    const std::string bytes = line + '\n';
    for (std::size_t done = 0; done < bytes.size();) {
        const ssize_t written = ::write(m_input, bytes.data() + done, bytes.size() - done);
        if (written < 0 && errno != EINTR)
            return badInput("merge",
                            std::string("stopped early; see the error above (") + std::strerror(errno) + ')');
        done += static_cast<std::size_t>(written > 0 ? written : 0);
    }
    return {};
}

std::optional<std::string> Child::readLine()
{
    for (;;) {
        if (const std::size_t end = m_read.find('\n'); end != std::string::npos) {
            std::string line = m_read.substr(0, end);
            m_read.erase(0, end + 1);
            return line;
        }
        std::array<char, 4096> bytes{};
        const ssize_t count = ::read(m_output, bytes.data(), bytes.size());
        if (count == 0 || (count < 0 && errno != EINTR))
            return std::nullopt;
        m_read.append(bytes.data(), static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
    }
}

int Child::wait()
{
    closeEnd(m_input);
    int status = 0;
    while (::waitpid(m_process, &status, 0) < 0 && errno == EINTR) { }
    m_process = 0;
    constexpr int kSignal = 128;
    return WIFEXITED(status) ? WEXITSTATUS(status) : kSignal + WTERMSIG(status);
}

Result<int> runProgram(const std::vector<std::string> &arguments, Child::Output output)
{
    Child child;
    HALFTONE_CHECK(child.start(arguments, output));
    return child.wait();
}

} // namespace halftone::mpi
