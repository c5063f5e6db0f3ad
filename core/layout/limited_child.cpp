#include "core/layout/limited_child.h"

#include "core/base/child_process.h"
#include "core/base/file_descriptor.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace halftone::layout {
namespace {

using Clock = std::chrono::steady_clock;

/// The two ends of a two-way channel. A socket, not a pipe: writing to a program that has ended is then an error here and
/// no signal.
struct Channel
{
    FileDescriptor ours;
    FileDescriptor theirs;

    bool open()
    {
        int ends[2];
        if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
            return false;
        ours = FileDescriptor(ends[0]);
        theirs = FileDescriptor(ends[1]);
        return ::fcntl(ends[0], F_SETFL, O_NONBLOCK) == 0;
    }
};

/// Readable once a stop is requested, so that poll() wakes up.
class StopSignal
{
public:
    explicit StopSignal(const std::stop_token &stop)
        : m_event(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK))
        , m_callback(stop, Wake{m_event.number()})
    {
    }
    int number() const { return m_event.number(); }

private:
    struct Wake
    {
        int event;
        void operator()() const { ::eventfd_write(event, 1); }
    };

    FileDescriptor m_event;
    std::stop_callback<Wake> m_callback;
};

bool wouldBlock()
{
    return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
}

/// Watches a program's limits.
class Watch
{
public:
    Watch(const ChildProcess &child, const ChildLimits &limits)
        : m_child(child)
        , m_limits(limits)
        , m_deadline(Clock::now() + limits.waiting)
    {
    }

    /// The limit that it has gone beyond; empty: none.
    std::string exceeded(std::size_t written) const
    {
        const auto ms = [](std::chrono::milliseconds time) { return std::to_string(time.count()) + " ms"; };
        if (m_child.computed() >= m_limits.computing)
            return ms(m_limits.computing) + " of CPU time";
        if (Clock::now() >= m_deadline)
            return ms(m_limits.waiting) + " of waiting";
        return written > m_limits.output ? std::to_string(m_limits.output >> 20) + " MB" : std::string();
    }

    /// Before this time it cannot go beyond a limit of time.
    int sleepMs() const
    {
        const auto left
            = std::min(std::chrono::duration_cast<std::chrono::milliseconds>(m_deadline - Clock::now()),
                       m_limits.computing - m_child.computed());
        return static_cast<int>(std::max<std::chrono::milliseconds::rep>(left.count(), 0)) + 1;
    }

private:
    const ChildProcess &m_child;
    const ChildLimits &m_limits;
    Clock::time_point m_deadline;
};

} // namespace

Result<ChildOutcome> runChild(const std::vector<std::string> &command, std::string_view input,
                              const ChildLimits &limits, const std::stop_token &stop)
{
    Channel channel;
    if (!channel.open())
        return unsupported(command.front(), std::strerror(errno), "a pipe to the program");
    HALFTONE_TRY(ChildProcess child,
                 ChildProcess::start(command, {channel.theirs.number(), channel.theirs.number()}));
    channel.theirs.close();
    const StopSignal stopped(stop);
    const Watch watch(child, limits);

    ChildOutcome outcome;
    bool writing = true;
    for (bool reading = true; reading;) {
        outcome.exceeded = watch.exceeded(outcome.output.size());
        if (!outcome.exceeded.empty()) {
            child.kill();
            break;
        }
        pollfd polled[2]
            = {{channel.ours.number(), static_cast<short>(writing ? POLLIN | POLLOUT : POLLIN), 0},
               {stopped.number(), POLLIN, 0}};
        if (::poll(polled, 2, watch.sleepMs()) < 0 && errno != EINTR)
            break;
        if (stop.stop_requested()) {
            child.kill();
            child.wait();
            return cancelled();
        }
        if (writing && (polled[0].revents & POLLOUT) != 0) {
            const ssize_t sent = ::send(channel.ours.number(), input.data(), input.size(), MSG_NOSIGNAL);
            if (sent > 0)
                input.remove_prefix(static_cast<std::size_t>(sent));
            if (input.empty() || (sent < 0 && !wouldBlock())) {
                ::shutdown(channel.ours.number(), SHUT_WR);
                writing = false;
            }
        }
        if ((polled[0].revents & (POLLIN | POLLHUP | POLLERR)) != 0) {
            char buffer[65536];
            const ssize_t got = ::recv(channel.ours.number(), buffer, sizeof buffer, 0);
            if (got > 0)
                outcome.output.append(buffer, static_cast<std::size_t>(got));
            else
                reading = got < 0 && wouldBlock();
        }
    }
    outcome.exitCode = child.wait();
    return outcome;
}

} // namespace halftone::layout
