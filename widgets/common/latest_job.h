#pragma once

#include "core/base/guarded.h"
#include "core/base/thread_share.h"

#include <QCoreApplication>
#include <QMetaObject>

#include <memory>
#include <stop_token>
#include <thread>
#include <type_traits>
#include <utility>

namespace halftone::widgets {

/// Work beside the window's thread, of which only the newest answer counts: starting anew stops what runs and forgets its
/// answer. It has a lower priority than the window, and so do the threads that it starts. For the thread that has the application object.
/// Its end stops the work and waits for it.
class LatestJob
{
public:
    LatestJob() = default;
    LatestJob(const LatestJob &) = delete;
    LatestJob &operator=(const LatestJob &) = delete;

    /// work     `T work(std::stop_token)`, on a thread of its own once what ran before has ended. What it throws, for want
    ///          of memory, becomes an Error where T is a Result, and nothing, a T{}, where it is none.
    /// deliver  `void deliver(T)`, on this thread; not called when another start() or cancel() came first
    template <class Work, class Deliver>
    void start(Work work, Deliver deliver)
    {
        cancel();
        m_thread = std::jthread([this, previous = std::move(m_thread), work = std::move(work),
                                 deliver = std::move(deliver)](std::stop_token stop) mutable {
            stepBehind(kStepsBehind);
            if (previous.joinable())
                previous.join();
            if (stop.stop_requested())
                return;
            const auto answer = answerOf(work, stop);
            // Posted to the application and not to an owner: the token, asked on the receiving thread, tells whether the
            // owner still wants it, and there is no race with the owner's end.
            QMetaObject::invokeMethod(
                qApp,
                [this, stop, answer, deliver = std::move(deliver)]() mutable {
                    if (stop.stop_requested())
                        return;
                    m_running = false;
                    deliver(std::move(*answer));
                },
                Qt::QueuedConnection);
        });
        m_running = true;
    }

    void cancel()
    {
        m_thread.request_stop();
        m_running = false;
    }
    bool isRunning() const { return m_running; } ///< an answer is still to come

private:
    static constexpr int kStepsBehind = 5; ///< a third of the weight: other programs do not stop it

    template <class Work>
    static auto answerOf(Work &work, const std::stop_token &stop) noexcept
    {
        using Answer = decltype(work(stop));
        try {
            return std::make_shared<Answer>(work(stop));
        } catch (...) {
            Error failure = currentFailure();
            if constexpr (std::is_constructible_v<Answer, Error>)
                return std::make_shared<Answer>(std::move(failure));
            else
                return std::make_shared<Answer>();
        }
    }

    bool m_running = false;
    std::jthread m_thread;
};

} // namespace halftone::widgets
