#include "core/base/child_process.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <ctime>

extern char **environ;

namespace halftone {
namespace {

void addStream(posix_spawn_file_actions_t &actions, int from, int to)
{
    if (from >= 0)
        ::posix_spawn_file_actions_adddup2(&actions, from, to);
    else
        ::posix_spawn_file_actions_addopen(&actions, to, "/dev/null", O_RDWR, 0);
}

/// 0, or the errno why the program did not start.
int spawn(const std::vector<std::string> &command, const ChildStreams &streams, pid_t &pid)
{
    std::vector<char *> arguments;
    for (const std::string &argument : command)
        arguments.push_back(const_cast<char *>(argument.c_str()));
    arguments.push_back(nullptr);

    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawnattr_init(&attributes);
    addStream(actions, streams.input, STDIN_FILENO);
    addStream(actions, streams.output, STDOUT_FILENO);
    addStream(actions, streams.errors, STDERR_FILENO);
    sigset_t none; // signals that this program blocks and handles in a thread are the child's again
    sigemptyset(&none);
    ::posix_spawnattr_setsigmask(&attributes, &none);
    sigset_t ignored; // by this program
    sigemptyset(&ignored);
    sigaddset(&ignored, SIGPIPE);
    ::posix_spawnattr_setsigdefault(&attributes, &ignored);
    ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    const int failure
        = ::posix_spawnp(&pid, command.front().c_str(), &actions, &attributes, arguments.data(), environ);
    ::posix_spawn_file_actions_destroy(&actions);
    ::posix_spawnattr_destroy(&attributes);
    return failure;
}

} // namespace

ChildProcess::~ChildProcess()
{
    if (m_pid <= 0)
        return;
    kill();
    wait();
}

Result<ChildProcess> ChildProcess::start(const std::vector<std::string> &command, const ChildStreams &streams)
{
    ChildProcess child;
    if (const int failure = spawn(command, streams, child.m_pid); failure != 0) {
        child.m_pid = -1;
        return unsupported(command.front(), std::strerror(failure), "a program that can be started");
    }
    return child;
}

void ChildProcess::kill() const
{
    ::kill(m_pid, SIGKILL);
}

void ChildProcess::terminate() const
{
    ::kill(m_pid, SIGTERM);
}

std::chrono::milliseconds ChildProcess::computed() const
{
    clockid_t clock{};
    timespec used{};
    if (::clock_getcpuclockid(m_pid, &clock) != 0 || ::clock_gettime(clock, &used) != 0)
        return {};
    return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::seconds(used.tv_sec)
                                                                 + std::chrono::nanoseconds(used.tv_nsec));
}

int ChildProcess::wait()
{
    int status = 0;
    while (::waitpid(m_pid, &status, 0) < 0 && errno == EINTR) { }
    m_pid = -1;
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

} // namespace halftone
