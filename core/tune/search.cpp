#include "core/tune/search.h"

#include "core/base/progress_part.h"
#include "core/tune/corners.h"
#include "core/tune/plan_scatter.h"
#include "core/tune/repair.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>
#include <string>
#include <utility>

namespace halftone::tune {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kPreliminaryPoints = 3; // points measured on estimated errors
constexpr std::size_t kGroupsPerEstimate = 2; // neighbouring groups lowered together in an estimate
constexpr std::size_t kCornersTried = 8; // corners of the estimated hull, fastest first

class Search
{
public:
    Search(Oracle &oracle, const SearchSettings &settings, const Progress &progress, const Told &told)
        : m_oracle(oracle)
        , m_settings(settings)
        , m_progress(progress)
        , m_told(told)
    {
    }

    Result<Front> run()
    {
        HALFTONE_TRY(const std::optional<Network> sketch, m_oracle.sketch(part(0, 0.05)));
        if (sketch) {
            begin(*sketch);
        } else {
            HALFTONE_TRY(Network network, m_oracle.profile(part(0, 0.1)));
            begin(std::move(network));
        }
        // Without float32 there is nothing to give.
        HALFTONE_CHECK(evaluate(m_front.surrogate().widest(), Origin::Float32));
        HALFTONE_TRY(m_front.stoppedBy, searchOn(sketch ? &*sketch : nullptr));
        tell();
        return std::move(m_front);
    }

private:
    /// sketch  of what was begun with; null: it was the whole network
    Result<StoppedBy> searchOn(const Network *sketch)
    {
        const auto stopped = [this](const Error &error) -> Result<StoppedBy> {
            if (error.code != Errc::Cancelled)
                return error;
            return m_progress.stopped() ? StoppedBy::Cancelled : StoppedBy::Time;
        };
        if (sketch != nullptr)
            if (const auto done = fill(*sketch); !done.ok())
                return stopped(done.error());
        if (m_settings.onlyFastest && m_settings.limit) {
            const auto isFound = tryFastest();
            if (!isFound.ok())
                return stopped(isFound.error());
            if (isFound.value())
                return StoppedBy::Done;
        }
        for (const auto step :
             {&Search::measureLowest, &Search::estimate, &Search::timeConversions, &Search::measureErrors,
              &Search::measureHull, &Search::closeIn, &Search::repair, &Search::confirm})
            if (const auto done = (this->*step)(); !done.ok())
                return stopped(done.error());
        return StoppedBy::Done;
    }

    void begin(Network network)
    {
        take(std::move(network));
        tell();
    }

    void take(Network network)
    {
        m_front.groups = std::move(network.groups);
        m_front.links = std::move(network.links);
        m_front.areLayersDisturbed = network.isDisturbed;
    }

    /// The ends that a sketch knows, then all groups and labels; what was measured goes on with these.
    Result<void> fill(const Network &sketch)
    {
        HALFTONE_CHECK(measureLowest());
        HALFTONE_CHECK(checkTime());
        HALFTONE_TRY(Network network, m_oracle.profile(part(0.05, 0.05)));
        const double measure = network.wideMs / sketch.wideMs;
        take(std::move(network));
        for (Point &point : m_front.points) {
            point.labels = relabelled(point.labels, sketch.groups, m_front.groups);
            point.predicted = m_front.predict(point.labels);
            point.measured->milliseconds *= measure;
            for (double &end : point.measured->ci95)
                end *= measure;
        }
        tell();
        return {};
    }

    /// Whether the labels that take least time by the sums, or those that are tried next, meet the limit and are faster than float32.
    Result<bool> tryFastest()
    {
        HALFTONE_CHECK(timeConversions());
        const Surrogate sums = m_front.surrogate();
        const Labels fastest = sums.completed(sums.cheapest(0));
        HALFTONE_TRY(const Measurement measured, evaluate(fastest, Origin::Hull));
        // For decibels the sums of errors that are known well say more than a walk.
        if (!holds(measured) && m_settings.limit->metric == Limit::Metric::Top1 && m_oracle.canEstimate())
            HALFTONE_CHECK(walkFromFastest());
        if (!std::isfinite(fastestWithin()))
            return false;
        HALFTONE_CHECK(confirm());
        return std::isfinite(fastestWithin());
    }

    /// How many answers are right no sum of errors tells, and it is measured as soon as what a sum needs: the ends are tried, and corners until
    /// one meets the limit or none is left that would be faster than what does.
    Result<void> walkFromFastest()
    {
        HALFTONE_CHECK(measureLowest());
        HALFTONE_CHECK(estimateErrors(1));
        const std::vector<Labels> hull = m_front.surrogate().hull();
        std::size_t tried = 0;
        for (std::size_t k = hull.size(); k-- > 1 && tried < kCornersTried; ++tried) { // the first is float32
            if (m_front.predict(hull[k]).milliseconds >= fastestWithin())
                break;
            HALFTONE_TRY(const Measurement measured, evaluate(hull[k], Origin::Hull));
            if (holds(measured))
                break;
        }
        return {};
    }

    /// Milliseconds of the fastest point that is offered and meets the limit; infinite where none but float32 does.
    double fastestWithin() const
    {
        double fastest = std::numeric_limits<double>::infinity();
        for (const std::size_t k : m_front.best()) {
            const Point &point = m_front.points[k];
            if (point.origin != Origin::Float32 && holds(*point.measured))
                fastest = std::min(fastest, point.measured->milliseconds);
        }
        return fastest;
    }

    /// All that may be lowered: with float32 the first points that a person sees.
    Result<void> measureLowest()
    {
        const Surrogate sums = m_front.surrogate();
        for (const Label label : {Label::Target, Label::Int8}) {
            Labels lowest = sums.widest();
            for (std::size_t k = 0; k < lowest.size(); ++k)
                if (m_front.groups[k].isTunable && m_front.groups[k].costs.allows(label))
                    lowest[k] = label;
            if (lowest == sums.widest())
                continue;
            HALFTONE_CHECK(evaluate(sums.completed(lowest), Origin::Lowest));
        }
        return {};
    }

    Result<void> timeConversions()
    {
        if (std::exchange(m_areConversionsTimed, true))
            return {};
        HALFTONE_CHECK(checkTime());
        HALFTONE_TRY(auto links, m_oracle.timeConversions(part(0.1, 0.05)));
        if (links)
            m_front.links = std::move(*links);
        return {};
    }

    /// Errors by a few examples, and the points that these show to be worth most, what a conversion takes as good as known: soon most of the
    /// front is there.
    Result<void> estimate()
    {
        if (!m_oracle.canEstimate() || m_settings.limit)
            return {};
        HALFTONE_CHECK(estimateErrors(kGroupsPerEstimate));
        const std::vector<Labels> hull = m_front.surrogate().hull();
        for (const Labels &labels : hull)
            predict(labels, Origin::Hull);
        tell();
        HALFTONE_CHECK(measureMostGained(hull, std::min(kPreliminaryPoints, m_settings.points)));
        std::erase_if(m_front.points, [](const Point &point) { return !point.measured; });
        return {};
    }

    /// So many neighbouring groups at a time, the last ones first: what lies before them is as it was.
    Result<void> estimateErrors(std::size_t together)
    {
        for (const Label label : {Label::Target, Label::Int8}) {
            std::vector<std::size_t> run;
            for (std::size_t k = m_front.groups.size(); k-- > 0;) {
                if (m_front.groups[k].isTunable && m_front.groups[k].costs.allows(label))
                    run.push_back(k);
                if (run.size() == together || (k == 0 && !run.empty()))
                    HALFTONE_CHECK(estimateError(std::exchange(run, {}), label));
            }
        }
        for (Group &group : m_front.groups)
            group.isErrorKnown = true;
        calibrateKappa();
        tell();
        return {};
    }

    Result<void> estimateError(const std::vector<std::size_t> &run, Label label)
    {
        HALFTONE_CHECK(checkTime());
        const auto left = static_cast<double>(run.back()) / static_cast<double>(m_front.groups.size());
        m_progress.tell(0.15 + 0.1 * (1 - left), "estimate of " + m_front.groups[run.back()].name);
        const Clock::time_point begin = Clock::now();
        Labels labels = m_front.surrogate().widest();
        for (const std::size_t k : run)
            labels[k] = label;
        HALFTONE_TRY(const double error, m_oracle.estimate(labels, Progress{m_progress.stop, {}}));
        m_front.errorsSeconds += std::chrono::duration<double>(Clock::now() - begin).count();
        if (!std::isfinite(error) && run.size() > 1) { // which one is it?
            for (const std::size_t k : run)
                HALFTONE_CHECK(estimateError({k}, label));
            return {};
        }
        shareError(run, label, error);
        return {};
    }

    /// Nobody knows which of them loses how much: as if all gained their time at the same price, so that they go together.
    void shareError(const std::vector<std::size_t> &run, Label label, double error)
    {
        std::vector<double> gained;
        for (const std::size_t k : run) {
            const auto &times = m_front.groups[k].costs.microseconds;
            gained.push_back(std::max(times[0] - times[static_cast<std::size_t>(label)], 0.0));
        }
        const double all = std::reduce(gained.begin(), gained.end());
        for (std::size_t k = 0; k < run.size(); ++k)
            takeError(m_front.groups[run[k]], label,
                      all > 0 && std::isfinite(error) ? error * gained[k] / all
                                                      : error / static_cast<double>(run.size()));
    }

    /// Each group alone, the last one first: what lies before it is as it was.
    Result<void> measureErrors()
    {
        for (std::size_t k = m_front.groups.size(); k-- > 0;) {
            Group &group = m_front.groups[k];
            const auto left = static_cast<double>(k) / static_cast<double>(m_front.groups.size());
            for (const Label label : {Label::Target, Label::Int8}) {
                if (!group.isTunable || !group.costs.allows(label))
                    continue;
                HALFTONE_CHECK(checkTime());
                m_progress.tell(0.25 + 0.4 * (1 - left), "isolated error of " + group.name);
                const Clock::time_point begin = Clock::now();
                HALFTONE_TRY(const double error,
                             m_oracle.errorAlone(k, label, Progress{m_progress.stop, {}}));
                m_front.errorsSeconds += std::chrono::duration<double>(Clock::now() - begin).count();
                ++m_front.passes; // estimates cost next to nothing
                takeError(group, label, error);
            }
            group.isErrorKnown = true;
            tell();
        }
        calibrateKappa();
        return {};
    }

    /// What overflows alone does so in any company.
    static void takeError(Group &group, Label label, double error)
    {
        const auto at = static_cast<std::size_t>(label);
        group.costs.error[at] = std::isfinite(error) ? error : 0;
        if (std::isfinite(error))
            return;
        group.costs.isAllowed[at] = false;
        if (group.costs.isFixed()) {
            group.isTunable = false;
            group.whyFixed = "overflows in a narrower type";
        }
    }

    Result<void> measureHull()
    {
        auto [hull, gap] = m_front.surrogate().hullWithGap();
        m_front.lowerBoundGap = gap;
        for (const Labels &labels : hull)
            predict(labels, Origin::Hull);
        tell();
        if (m_settings.limit && m_settings.limit->metric == Limit::Metric::Sqnr)
            return measureNearLimit(hull);
        return measureMostGained(hull, m_settings.points);
    }

    /// Until so many of the hull's points are measured: those that gain most come first.
    Result<void> measureMostGained(const std::vector<Labels> &hull, std::size_t most)
    {
        const auto count = [this] {
            return static_cast<std::size_t>(std::ranges::count_if(m_front.points, [](const Point &point) {
                return point.measured && point.origin == Origin::Hull;
            }));
        };
        while (count() < most) {
            const Labels *next = mostGained(m_front, hull);
            if (next == nullptr)
                break;
            HALFTONE_CHECK(evaluate(*next, Origin::Hull));
        }
        return {};
    }

    Result<void> measureNearLimit(const std::vector<Labels> &hull)
    {
        for (const std::size_t k : nearestTo(m_front, hull, m_settings.limit->value))
            HALFTONE_CHECK(evaluate(hull[k], Origin::Hull));
        return {};
    }

    /// Between the last corner of the hull that meets the limit and the first that does not.
    Result<void> closeIn()
    {
        if (!m_settings.limit)
            return {};
        const std::vector<Labels> hull = m_front.surrogate().hull();
        std::size_t meets = 0; // float32 does
        std::size_t fails = hull.size();
        for (std::size_t k = 0; k < hull.size(); ++k) {
            const Point *point = m_front.find(hull[k]);
            if (point == nullptr || !point->measured)
                continue;
            if (holds(*point->measured))
                meets = std::max(meets, k);
            else
                fails = std::min(fails, k);
        }
        for (std::size_t trial = 0; trial < 4 && meets + 1 < fails; ++trial) {
            const std::size_t middle = nextBetween(hull, meets, fails);
            HALFTONE_TRY(const Measurement measured, evaluate(hull[middle], Origin::Hull));
            (holds(measured) ? meets : fails) = middle;
        }
        return {};
    }

    /// The narrowest that is predicted to meet the limit, if that can be predicted; else the middle.
    std::size_t nextBetween(const std::vector<Labels> &hull, std::size_t meets, std::size_t fails) const
    {
        if (m_settings.limit->metric == Limit::Metric::Sqnr) {
            for (std::size_t k = fails - 1; k > meets; --k)
                if (m_front.predict(hull[k]).sqnrDb >= m_settings.limit->value)
                    return k;
            return meets + 1;
        }
        return (meets + fails) / 2;
    }

    bool holds(const Measurement &measured) const
    {
        return measured.isClean && (!m_settings.limit || m_settings.limit->holdsFor(measured));
    }

    /// Between corners of the hull, and as far as measurements show the sums to be wrong.
    Result<void> repair()
    {
        if (!m_settings.limit)
            return {};
        for (std::size_t trial = 0; trial < m_settings.trials; ++trial) {
            const std::optional<Labels> labels
                = nextTrial(m_front.surrogate(), m_front.kappa, trials(), errorAllowed());
            if (!labels)
                return {};
            HALFTONE_CHECK(evaluate(*labels, Origin::Repair));
        }
        return {};
    }

    /// What is offered is timed once more, which may show it to be beaten by others.
    Result<void> confirm()
    {
        const auto isOpen = [this](std::size_t k) {
            const Point &point = m_front.points[k];
            return point.origin != Origin::Float32 && !m_confirmed.contains(point.labels);
        };
        while (true) {
            const std::vector<std::size_t> offered = m_front.best();
            const auto found = std::ranges::find_if(offered, isOpen);
            if (found == offered.end())
                return {};
            HALFTONE_CHECK(checkTime());
            Point &point = m_front.points[*found];
            m_progress.tell(0.95, "timing the offered points again");
            HALFTONE_TRY(point.measured,
                         m_oracle.confirm(point.labels, *point.measured, Progress{m_progress.stop, {}}));
            m_confirmed.insert(point.labels);
            takeIntervals();
            tell();
        }
    }

    /// With every point that is timed once more it is better known how far plans lie apart, for all of them.
    void takeIntervals()
    {
        PlanScatter scatter;
        for (const Point &point : m_front.points)
            if (point.measured)
                scatter.add(point.measured->planRatios);
        for (Point &point : m_front.points) {
            const std::size_t plans = point.measured ? point.measured->planRatios.size() : 0;
            if (const auto factor = plans > 0 ? scatter.factorFor(plans) : std::nullopt)
                point.measured->ci95
                    = {point.measured->milliseconds / *factor, point.measured->milliseconds * *factor};
        }
    }

    std::vector<Trial> trials() const
    {
        std::vector<Trial> trials;
        for (const Point &point : m_front.points)
            if (point.measured)
                trials.push_back({point.labels,
                                  point.measured->isClean ? errorOf(point.measured->sqnrDb)
                                                          : std::numeric_limits<double>::infinity(),
                                  holds(*point.measured)});
        return trials;
    }

    /// A limit that is no error lets what lies between the worst that met it and the best that did not.
    double errorAllowed() const
    {
        if (m_settings.limit->metric == Limit::Metric::Sqnr)
            return errorOf(m_settings.limit->value);
        double met = 0;
        double missed = std::numeric_limits<double>::infinity();
        for (const Trial &trial : trials()) {
            if (trial.holds)
                met = std::max(met, trial.error);
            else
                missed = std::min(missed, trial.error);
        }
        return std::isfinite(missed) && missed > met ? std::sqrt(std::max(met, 1e-30) * missed) : met;
    }

    Result<Measurement> evaluate(const Labels &labels, Origin origin)
    {
        if (const Point *known = m_front.find(labels); known != nullptr && known->measured)
            return *known->measured;
        if (m_front.evaluations > 1) // the first two are what there is to tell at all
            HALFTONE_CHECK(checkTime());
        m_progress.tell(0.7, "measuring " + std::string(nameOf(origin)));
        HALFTONE_TRY(Measurement measured, m_oracle.measure(labels, Progress{m_progress.stop, {}}));
        ++m_front.evaluations;
        ++m_front.passes;
        Point &point = predict(labels, origin);
        point.measured = measured;
        point.foundSeconds = std::chrono::duration<double>(Clock::now() - m_start).count();
        calibrateKappa();
        tell();
        return measured;
    }

    Point &predict(const Labels &labels, Origin origin)
    {
        const Point *const known = m_front.find(labels);
        const auto at = known != nullptr ? static_cast<std::size_t>(known - m_front.points.data())
                                         : m_front.points.size();
        if (known == nullptr)
            m_front.points.push_back(Point{labels, origin, {}, {}, 0});
        Point &point = m_front.points[at];
        point.predicted = m_front.predict(point.labels);
        return point;
    }

    /// The median of what was measured over what the sums say; 1 before anything is known.
    void calibrateKappa()
    {
        const bool isKnown = std::ranges::all_of(
            m_front.groups, [](const Group &g) { return g.isErrorKnown || !g.isTunable; });
        if (!isKnown)
            return;
        const Surrogate sums = m_front.surrogate();
        std::vector<double> ratios;
        for (const Point &point : m_front.points) {
            const double sum = sums.error(point.labels);
            if (point.measured && point.measured->isClean && sum > 0 && std::isfinite(point.measured->sqnrDb))
                ratios.push_back(errorOf(point.measured->sqnrDb) / sum);
        }
        if (ratios.empty())
            return;
        std::ranges::sort(ratios);
        m_front.kappa = ratios[ratios.size() / 2];
        for (Point &point : m_front.points)
            point.predicted = m_front.predict(point.labels);
    }

    Result<void> checkTime()
    {
        HALFTONE_CHECK(m_progress.checkStop());
        if (m_settings.time && Clock::now() - m_start > *m_settings.time)
            return cancelled();
        return {};
    }

    Progress part(double from, double share) const { return partOf(m_progress, from, share); }

    void tell()
    {
        m_front.seconds = std::chrono::duration<double>(Clock::now() - m_start).count();
        if (m_told)
            m_told(m_front);
    }

    Oracle &m_oracle;
    const SearchSettings &m_settings;
    const Progress &m_progress;
    const Told &m_told;
    Front m_front;
    std::set<Labels> m_confirmed; ///< timed once more
    bool m_areConversionsTimed = false;
    Clock::time_point m_start = Clock::now();
};

} // namespace

Result<Front> search(Oracle &oracle, const SearchSettings &settings, const Progress &progress,
                     const Told &told)
{
    return Search(oracle, settings, progress, told).run();
}

} // namespace halftone::tune
