#include "core/tune/repair.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

namespace halftone::tune {
namespace {

constexpr std::size_t kLongestRun = 6;
constexpr std::size_t kMostForPairs = 200; ///< groups: every pair is tried at every step
constexpr std::size_t kMostForDetours = 64; ///< groups: each is widened, and the way down sought again
constexpr std::size_t kStarts = 6;
constexpr double kMostWeight = 4; ///< of a group, above or below kappa
constexpr std::array kOptimism{1.0, 1.26, 1.58, 2.0, 2.5, 4.0}; ///< 0, 1, 2, 3, 4 and 6 dB

struct Change
{
    std::size_t group;
    Label label;
};
using Move = std::vector<Change>;

/// What changes of labels do to the sums, in time proportional to the links that they touch.
class Sums
{
public:
    Sums(const Surrogate &surrogate, std::vector<double> weights)
        : m_surrogate(surrogate)
        , m_weights(std::move(weights))
        , m_links(surrogate.groups.size())
    {
        for (std::size_t k = 0; k < surrogate.links.size(); ++k) {
            m_links[surrogate.links[k].producer].push_back(k);
            for (const std::size_t reader : surrogate.links[k].readers)
                m_links[reader].push_back(k);
        }
    }

    double microseconds(const Labels &labels) const { return m_surrogate.microseconds(labels); }
    double error(const Labels &labels) const
    {
        double sum = 0;
        for (std::size_t k = 0; k < labels.size(); ++k)
            sum += errorOf(k, labels[k]);
        return sum;
    }
    double errorOf(std::size_t group, Label label) const
    {
        return m_weights[group] * m_surrogate.groups[group].error[static_cast<std::size_t>(label)];
    }
    double errorAdded(const Labels &labels, const Move &move) const
    {
        double added = 0;
        for (const auto &[group, label] : move)
            added += errorOf(group, label) - errorOf(group, labels[group]);
        return added;
    }
    /// `labels` are as before afterwards.
    double timeAdded(Labels &labels, const Move &move) const
    {
        static thread_local std::vector<std::size_t> touched; // millions of calls
        static thread_local Move back;
        back.clear();
        touched.clear();
        for (const Change &change : move)
            touched.insert(touched.end(), m_links[change.group].begin(), m_links[change.group].end());
        std::sort(touched.begin(), touched.end());
        touched.erase(std::unique(touched.begin(), touched.end()), touched.end());
        double added = -conversions(labels, touched);
        for (const auto &[group, label] : move) {
            const auto &times = m_surrogate.groups[group].microseconds;
            added += times[static_cast<std::size_t>(label)] - times[static_cast<std::size_t>(labels[group])];
            back.push_back({group, labels[group]});
            labels[group] = label;
        }
        added += conversions(labels, touched);
        for (const auto &[group, label] : back)
            labels[group] = label;
        return added;
    }

private:
    double conversions(const Labels &labels, const std::vector<std::size_t> &links) const
    {
        double sum = 0;
        for (const std::size_t k : links) {
            const Link &link = m_surrogate.links[k];
            sum += link.microseconds(labels);
        }
        return sum;
    }

    const Surrogate &m_surrogate;
    std::vector<double> m_weights;
    std::vector<std::vector<std::size_t>> m_links; ///< by group
};

class Descent
{
public:
    Descent(const Surrogate &surrogate, const Sums &sums, std::span<const Trial> trials, double allowed)
        : m_surrogate(surrogate)
        , m_sums(sums)
        , m_trials(trials)
        , m_allowed(allowed)
    {
        for (std::size_t k = 0; k < surrogate.groups.size(); ++k)
            if (!surrogate.groups[k].isFixed())
                m_free.push_back(k);
        for (const Trial &trial : trials)
            m_known.push_back(surrogate.said(trial.labels));
        for (const Trial &trial : trials)
            if (trial.holds)
                m_least = std::min(m_least, sums.microseconds(trial.labels) * (1 - 1e-9));
    }

    std::optional<Labels> run()
    {
        for (const Labels &start : starts())
            descend(affordable(start), true);
        return m_best;
    }

private:
    /// Measured networks whose errors are the nearest to what is allowed, and the widest labels.
    std::vector<Labels> starts() const
    {
        std::vector<std::pair<double, const Trial *>> near;
        for (const Trial &trial : m_trials)
            near.emplace_back(std::abs(std::log(std::max(m_sums.error(trial.labels), 1e-30) / m_allowed)),
                              &trial);
        std::ranges::stable_sort(near, {}, [](const auto &one) { return one.first; });
        std::vector<Labels> labels;
        for (std::size_t k = 0; k < std::min(kStarts, near.size()); ++k)
            labels.push_back(near[k].second->labels);
        labels.push_back(m_surrogate.widest());
        return labels;
    }

    /// Widens what saves most error for the time it takes, until the sum is allowed.
    Labels affordable(Labels labels) const
    {
        while (m_sums.error(labels) > m_allowed) {
            std::optional<Change> best;
            double most = 0;
            for (const std::size_t k : m_free) {
                const Move widened{{k, m_surrogate.groups[k].widest()}};
                const double saved = -m_sums.errorAdded(labels, widened);
                const double rate = saved / std::max(m_sums.timeAdded(labels, widened), 1e-3);
                if (saved > 0 && rate > most) {
                    most = rate;
                    best = widened[0];
                }
            }
            if (!best)
                break;
            labels[best->group] = best->label;
        }
        return labels;
    }

    void descend(Labels labels, bool mayDetour)
    {
        double time = m_sums.microseconds(labels);
        double error = m_sums.error(labels);
        note(labels, {}, time, error);
        for (std::size_t step = 0; step < 4 * m_free.size(); ++step) {
            const std::optional<Move> move = steepest(labels, time, error);
            if (!move)
                break;
            time += m_sums.timeAdded(labels, *move);
            error += m_sums.errorAdded(labels, *move);
            for (const auto &[group, label] : *move)
                labels[group] = label;
        }
        if (!mayDetour || m_free.size() > kMostForDetours
            || std::ranges::find(m_ends, labels) != m_ends.end())
            return;
        m_ends.push_back(labels);
        for (const std::size_t k : m_free) {
            Labels detour = labels;
            detour[k] = m_surrogate.groups[k].widest();
            if (detour != labels)
                descendWithout(std::move(detour), k);
        }
    }

    /// A way down that leaves `group` as it is.
    void descendWithout(Labels labels, std::size_t group)
    {
        std::erase(m_free, group);
        descend(std::move(labels), false);
        m_free.insert(std::ranges::lower_bound(m_free, group), group);
    }

    std::optional<Move> steepest(Labels &labels, double time, double error)
    {
        std::optional<Move> best;
        double least = -1e-9;
        const auto consider = [&](Move &&move) {
            const double loses = error + m_sums.errorAdded(labels, move);
            if (loses > m_allowed)
                return;
            const double added = m_sums.timeAdded(labels, move);
            note(labels, move, time + added, loses);
            if (added < least) {
                least = added;
                best = std::move(move);
            }
        };
        considerRuns(labels, consider);
        if (!best && m_free.size() <= kMostForPairs)
            considerPairs(labels, consider);
        return best;
    }

    template <class Consider>
    void considerRuns(const Labels &labels, const Consider &consider) const
    {
        for (std::size_t first = 0; first < m_free.size(); ++first) {
            for (const Label label : kLabels) {
                Move move;
                for (std::size_t k = first; k < std::min(first + kLongestRun, m_free.size()); ++k) {
                    if (!m_surrogate.groups[m_free[k]].allows(label))
                        break;
                    if (labels[m_free[k]] == label)
                        continue;
                    move.push_back({m_free[k], label});
                    consider(Move(move));
                }
            }
        }
    }

    template <class Consider>
    void considerPairs(const Labels &labels, const Consider &consider) const
    {
        for (const std::size_t a : m_free) {
            for (const std::size_t b : m_free) {
                const bool mayExchange = a < b && labels[a] != labels[b]
                    && m_surrogate.groups[a].allows(labels[b]) && m_surrogate.groups[b].allows(labels[a]);
                if (mayExchange)
                    consider(Move{{a, labels[b]}, {b, labels[a]}});
            }
        }
    }

    /// Keeps the fastest that nobody has measured.
    void note(const Labels &labels, const Move &move, double time, double error)
    {
        if (time >= m_least || error > m_allowed)
            return;
        Labels changed = labels;
        for (const auto &[group, label] : move)
            changed[group] = label;
        if (std::ranges::find(m_known, m_surrogate.said(changed)) != m_known.end())
            return;
        m_least = time;
        m_best = std::move(changed);
    }

    const Surrogate &m_surrogate;
    const Sums &m_sums;
    std::span<const Trial> m_trials;
    double m_allowed;
    std::vector<Labels> m_known; ///< what the trials' policies say
    std::vector<std::size_t> m_free; ///< groups with a choice, ascending
    double m_least = std::numeric_limits<double>::infinity(); ///< microseconds
    std::optional<Labels> m_best;
    std::vector<Labels> m_ends; ///< of ways down that detours were sought from
};

/// What stands in a sum, and what was measured in its place.
void correct(const Surrogate &surrogate, const Trial &trial, double kappa, std::vector<double> &weights)
{
    constexpr double kRate = 0.5;
    std::vector<double> parts;
    double sum = 0;
    for (std::size_t k = 0; k < weights.size(); ++k) {
        parts.push_back(weights[k] * surrogate.groups[k].error[static_cast<std::size_t>(trial.labels[k])]);
        sum += parts.back();
    }
    if (sum <= 0 || !(trial.error > 0) || !std::isfinite(trial.error))
        return;
    const double ratio = std::log(trial.error / sum);
    for (std::size_t k = 0; k < weights.size(); ++k)
        weights[k] = std::clamp(weights[k] * std::exp(kRate * ratio * parts[k] / sum), kappa / kMostWeight,
                                kappa * kMostWeight);
}

} // namespace

std::vector<double> correctedWeights(const Surrogate &surrogate, double kappa, std::span<const Trial> trials)
{
    constexpr int kRounds = 20;
    std::vector<double> weights(surrogate.groups.size(), kappa);
    for (int round = 0; round < kRounds; ++round)
        for (const Trial &trial : trials)
            correct(surrogate, trial, kappa, weights);
    return weights;
}

std::optional<Labels> nextTrial(const Surrogate &surrogate, double kappa, std::span<const Trial> trials,
                                double allowed)
{
    const Sums sums(surrogate, correctedWeights(surrogate, kappa, trials));
    for (const double optimism : kOptimism)
        if (auto labels = Descent(surrogate, sums, trials, allowed * optimism).run())
            return labels;
    return std::nullopt;
}

} // namespace halftone::tune
