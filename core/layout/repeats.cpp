#include "core/layout/repeats.h"

#include <algorithm>
#include <optional>

namespace halftone::layout {
namespace {

constexpr std::size_t kLeastOperators = 4;
constexpr std::size_t kManyOperators = 8; ///< twice is enough for such a part
constexpr std::size_t kLongestPeriod = 512;

class Search
{
public:
    explicit Search(std::span<const RepeatPlace> places)
        : m_places(places)
    {
    }

    std::vector<Repeat> run()
    {
        std::vector<std::pair<std::size_t, std::size_t>> open{{0, m_places.size()}};
        std::vector<Repeat> found;
        while (!open.empty()) {
            const auto [first, last] = open.back();
            open.pop_back();
            const auto best = bestIn(first, last);
            if (!best)
                continue;
            found.push_back(*best);
            open.emplace_back(first, best->first);
            open.emplace_back(best->end(), last);
        }
        std::ranges::sort(found, {}, &Repeat::first);
        return found;
    }

private:
    std::optional<Repeat> bestIn(std::size_t first, std::size_t last) const
    {
        std::optional<Repeat> best;
        const std::size_t longest = std::min(kLongestPeriod, (last - first) / 2);
        for (std::size_t period = 2; period <= longest; ++period) {
            for (std::size_t at = first; at + period < last;) {
                std::size_t end = at; // of the places that come again a period later
                while (end + period < last && m_places[end].kind == m_places[end + period].kind)
                    ++end;
                if (end - at >= period) {
                    const Repeat repeat = cut(at, end + period, period);
                    if (isWorth(repeat) && (!best || coverOf(repeat) > coverOf(*best)))
                        best = repeat;
                }
                at = std::max(end, at) + 1;
            }
        }
        return best;
    }

    static std::size_t coverOf(const Repeat &repeat) { return repeat.period * repeat.count; }

    /// Of a stretch with that period: where to begin.
    Repeat cut(std::size_t first, std::size_t last, std::size_t period) const
    {
        const auto from = [&](std::size_t begin) { return Repeat{begin, period, (last - begin) / period}; };
        Repeat best = from(first);
        for (std::size_t begin = first + 1; begin < first + period && begin + 2 * period <= last; ++begin) {
            if (m_places[begin].crossing < m_places[best.first].crossing)
                best = from(begin);
        }
        return best;
    }

    bool isWorth(const Repeat &repeat) const
    {
        std::size_t operators = 0;
        for (std::size_t k = repeat.first; k < repeat.first + repeat.period; ++k)
            operators += m_places[k].operators;
        if (operators < kLeastOperators || (repeat.count < 3 && operators < kManyOperators))
            return false;
        // What has a shorter period is that one's affair, also where it is too short to be folded.
        for (std::size_t period = 1; period <= repeat.period / 2; ++period) {
            if (repeat.period % period != 0)
                continue;
            bool isSame = true;
            for (std::size_t k = repeat.first; isSame && k + period < repeat.end(); ++k)
                isSame = m_places[k].kind == m_places[k + period].kind;
            if (isSame)
                return false;
        }
        return true;
    }

    std::span<const RepeatPlace> m_places;
};

} // namespace

std::vector<Repeat> findRepeats(std::span<const RepeatPlace> places)
{
    return Search(places).run();
}

} // namespace halftone::layout
