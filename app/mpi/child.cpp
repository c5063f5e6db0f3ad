#include "app/mpi/child.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>

namespace halftone::mpi {
namespace {

constexpr int kCannotStart = 127;

/// In the child, between fork() and exec(): nothing that takes a lock.
[[noreturn]] void become(char *const *words, Child::Output output, int input, pid_t parent)
{
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    ::signal(SIGPIPE, SIG_DFL); // what is ignored stays so
    if (::getppid() != parent) // which has died meanwhile
        ::_exit(kCannotStart);
    const int nothing = ::open("/dev/null", O_RDWR | O_CLOEXEC);
    ::dup2(input >= 0 ? input : nothing, STDIN_FILENO);
    if (output == Child::Output::Dropped)
        ::dup2(nothing, STDOUT_FILENO);
    ::execv(words[0], words);
    ::_exit(kCannotStart);
}

} // namespace

Child::~Child()
{
    if (m_process > 0) {
        ::kill(m_process, SIGKILL);
        wait();
    }
}

Result<void> Child::start(const std::vector<std::string> &arguments, Output output, bool takesLines)
{
    const auto failure = [&] {
        return inFile(badInput({}, std::strerror(errno), "halftone-cli beside halftone-mpi"), arguments[0]);
    };
    if (::access(arguments[0].c_str(), X_OK) != 0)
        return failure();
    std::vector<std::string> copies = arguments;
    std::vector<char *> words;
    for (std::string &word : copies)
        words.push_back(word.data());
    words.push_back(nullptr);
    std::array<int, 2> ends{-1, -1};
    if (takesLines && ::pipe2(ends.data(), O_CLOEXEC) != 0)
        return failure();
    std::signal(SIGPIPE, SIG_IGN); // tell() says it
    const pid_t parent = ::getpid();
    m_process = ::fork();
    if (m_process == 0)
        become(words.data(), output, ends[0], parent);
    if (ends[0] >= 0)
        ::close(ends[0]);
    m_input = ends[1];
    return m_process > 0 ? Result<void>() : Result<void>(failure());
}

Result<void> Child::tell(const std::string &line)
{
    const std::string bytes = line + '\n';
    for (std::size_t done = 0; done < bytes.size();) {
        const ssize_t written = ::write(m_input, bytes.data() + done, bytes.size() - done);
        if (written < 0 && errno != EINTR)
            return badInput("merge", std::strerror(errno), "a program that goes on; why not is told above");
        done += static_cast<std::size_t>(written > 0 ? written : 0);
    }
    return {};
}

int Child::wait()
{
    if (m_input >= 0)
        ::close(m_input);
    m_input = -1;
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
