#include "app/cli/interrupt.h"

#include "core/base/atomic_file.h"

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <ctime>
#include <string_view>

namespace halftone::cli {
namespace {

constexpr int kStopped = 130;

/// Without unwinding: what runs may be anywhere, or wait for something that never comes.
[[noreturn]] void endNow()
{
    AtomicFile::removeTemporaries();
    constexpr std::string_view kLine = "error: stopped\n";
    [[maybe_unused]] const ssize_t told = ::write(STDERR_FILENO, kLine.data(), kLine.size());
    std::_Exit(kStopped);
}

} // namespace

Interrupt::Interrupt()
{
    sigemptyset(&m_signals);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP, kWake})
        sigaddset(&m_signals, signal);
    pthread_sigmask(SIG_BLOCK, &m_signals, nullptr);
    m_thread = std::jthread([this](const std::stop_token &ended) { wait(ended); });
}

Interrupt::~Interrupt()
{
    m_thread.request_stop();
    pthread_kill(m_thread.native_handle(), kWake);
}

void Interrupt::wait(const std::stop_token &ended)
{
    // The end of a child process interrupts this wait, too, where the thread that started it blocks signals meanwhile.
    const auto isToWait = [](int signal) { return signal == kWake || (signal < 0 && errno == EINTR); };
    while (isToWait(sigwaitinfo(&m_signals, nullptr)) && !ended.stop_requested()) { }
    if (ended.stop_requested())
        return;
    m_stop.request_stop();
    const timespec patience{0, std::chrono::nanoseconds(kPatience).count()};
    while (isToWait(sigtimedwait(&m_signals, nullptr, &patience))) {
        if (ended.stop_requested())
            return;
    }
    endNow();
}

} // namespace halftone::cli
