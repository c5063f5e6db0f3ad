#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <stop_token>

namespace halftone::app {

/// Whose turn it is to compute, so that neither disturbs what the other one measures: the figures that answer an edit, or a search that
/// goes on for long. Figures go first, and wait for no more than one measurement of the search. For all threads.
class MachineTurn
{
public:
    enum class Of
    {
        Figures,
        Search
    };

    /// false: stopped before the turn came. Needs: give() afterwards
    bool take(Of who, const std::stop_token &stop)
    {
        std::unique_lock lock(m_lock);
        if (who == Of::Figures)
            ++m_figuresWaiting;
        const bool isMine = m_changed.wait(
            lock, stop, [&] { return !m_isTaken && (who == Of::Figures || m_figuresWaiting == 0); });
        if (who == Of::Figures)
            --m_figuresWaiting;
        m_isTaken = m_isTaken || isMine;
        if (!isMine)
            m_changed.notify_all(); // who waited for these figures waits no longer
        return isMine;
    }
    void give()
    {
        const std::scoped_lock lock(m_lock);
        m_isTaken = false;
        m_changed.notify_all();
    }

private:
    std::mutex m_lock;
    std::condition_variable_any m_changed;
    int m_figuresWaiting = 0;
    bool m_isTaken = false;
};

/// A turn until the end of its scope.
class TakenTurn
{
public:
    TakenTurn(std::shared_ptr<MachineTurn> turn, MachineTurn::Of who, const std::stop_token &stop)
        : m_turn(std::move(turn))
        , m_isMine(m_turn->take(who, stop))
    {
    }
    ~TakenTurn()
    {
        if (m_isMine)
            m_turn->give();
    }
    TakenTurn(const TakenTurn &) = delete;
    TakenTurn &operator=(const TakenTurn &) = delete;

    bool isMine() const { return m_isMine; } ///< false: stopped before it came

private:
    std::shared_ptr<MachineTurn> m_turn;
    bool m_isMine;
};

} // namespace halftone::app
