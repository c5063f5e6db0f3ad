#pragma once

#include <chrono>
#include <csignal>
#include <stop_token>
#include <thread>

namespace halftone::cli {

/// Turns Ctrl-C, SIGTERM and SIGHUP into a stop request, and ends the program itself where what runs has not stopped within
/// kPatience, or is asked a second time. The signals are blocked in every thread that begins later and waited for in one of
/// its own, since next to nothing may be done inside a signal handler.
class Interrupt
{
public:
    static constexpr std::chrono::milliseconds kPatience{350};

    Interrupt();
    ~Interrupt();
    Interrupt(const Interrupt &) = delete;
    Interrupt &operator=(const Interrupt &) = delete;

    std::stop_token token() const { return m_stop.get_token(); }

private:
    static constexpr int kWake
        = SIGUSR1; ///< from the destructor: nobody waits for a tick at the end of a command

    void wait(const std::stop_token &ended);

    sigset_t m_signals{};
    std::stop_source m_stop;
    std::jthread m_thread;
};

} // namespace halftone::cli
