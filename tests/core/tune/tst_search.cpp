#include "core/tune/corners.h"
#include "core/tune/front_json.h"
#include "core/tune/plan_scatter.h"
#include "core/tune/recording.h"
#include "core/tune/search.h"

#include <QTest>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <random>
#include <stop_token>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

using namespace halftone;
using tune::Front;
using tune::Label;
using tune::Labels;
using tune::Limit;
using tune::Measurement;
using tune::Origin;
using tune::Pick;

namespace {

constexpr std::size_t kGroups = 12;
constexpr unsigned kNetworks = 12;
constexpr std::size_t kWidth = 8; ///< features
constexpr std::size_t kExamples = 8;

using Values = std::array<double, kWidth * kExamples>;

/// To whole parts of the largest magnitude, so many of them.
void roundToCodes(Values &values, double codes)
{
    double most = 0;
    for (const double value : values)
        most = std::max(most, std::abs(value));
    for (double &value : values)
        value = most > 0 ? std::nearbyint(value * codes / most) * most / codes : 0;
}

/// A residual network of dense layers with every assignment of two labels computed, so that the best is known: a lowered layer's
/// input is rounded to codes of 3 to 11 bits. Each layer's times and each conversion's are drawn.
class RecordedNetwork final : public tune::Oracle
{
public:
    explicit RecordedNetwork(unsigned seed)
        : m_random(seed)
    {
        for (auto &matrix : m_weights)
            for (double &weight : matrix)
                weight = std::normal_distribution(0.0, 0.35)(m_random);
        Values input{};
        for (double &value : input)
            value = std::normal_distribution(0.0, 1.0)(m_random);
        drawTimes();
        m_outputs.resize(std::size_t{1} << kGroups);
        compute(input, {}, 0, 0);
        m_wide = sums().microseconds(labelsOf(0));
    }

    Result<tune::Network> profile(const Progress & /*progress*/) override
    {
        tune::Network network;
        for (std::size_t k = 0; k < kGroups; ++k) {
            tune::Group group;
            group.name = "layer" + std::to_string(k);
            group.isTunable = true;
            group.costs = m_costs[k];
            network.groups.push_back(std::move(group));
        }
        network.links = m_links;
        network.wideMs = m_wide / 1e3;
        return network;
    }
    void resume(const tune::Network & /*network*/) override { }
    Result<double> errorAlone(std::size_t group, Label /*label*/, const Progress &progress) override
    {
        HALFTONE_CHECK(progress.checkStop());
        ++asked;
        if (failAt != 0 && asked >= failAt)
            return badInput("layer", "no such thing", "another one");
        if (stopAfter != 0 && asked >= stopAfter)
            stop.request_stop();
        return errorOf(std::size_t{1} << group);
    }
    Result<Measurement> measure(const Labels &labels, const Progress &progress) override
    {
        HALFTONE_CHECK(progress.checkStop());
        ++measured[labels];
        return measurementOf(choiceOf(labels));
    }

    Measurement measurementOf(std::size_t choice) const
    {
        Measurement measurement;
        measurement.sqnrDb = tune::decibelsOf(errorOf(choice));
        const double time = sums().microseconds(labelsOf(choice));
        measurement.milliseconds = time / 1e3;
        measurement.ratio = time / m_wide;
        measurement.ci95 = {measurement.milliseconds * 0.99, measurement.milliseconds * 1.01};
        return measurement;
    }

    /// The fastest of all assignments that keep so many decibels.
    double bestMilliseconds(double decibels) const
    {
        double best = m_wide / 1e3;
        for (std::size_t choice = 0; choice < m_outputs.size(); ++choice) {
            const Measurement measurement = measurementOf(choice);
            if (measurement.sqnrDb >= decibels)
                best = std::min(best, measurement.milliseconds);
        }
        return best;
    }
    double wideMilliseconds() const { return m_wide / 1e3; }

    static std::size_t choiceOf(const Labels &labels)
    {
        std::size_t choice = 0;
        for (std::size_t k = 0; k < labels.size(); ++k)
            choice |= std::size_t{labels[k] == Label::Target} << k;
        return choice;
    }

    double errorOf(std::size_t choice) const
    {
        double noise = 0;
        double signal = 0;
        for (std::size_t k = 0; k < m_outputs[0].size(); ++k) {
            noise += std::pow(m_outputs[choice][k] - m_outputs[0][k], 2);
            signal += std::pow(m_outputs[0][k], 2);
        }
        return noise / signal;
    }

    std::size_t asked = 0;
    std::size_t stopAfter = 0; ///< errors alone; 0: never
    std::size_t failAt = 0; ///< likewise
    std::stop_source stop;
    std::map<Labels, int> measured;

private:
    void drawTimes()
    {
        const auto draw
            = [this](double from, double to) { return std::uniform_real_distribution(from, to)(m_random); };
        for (std::size_t k = 0; k < kGroups; ++k) {
            m_codes[k] = std::exp2(draw(2, 10)) - 1;
            const double wide = draw(10, 100);
            m_costs[k] = {{wide, wide * draw(0.25, 0.9), 0}, {}, {true, true, false}};
            if (k + 1 == kGroups)
                continue;
            tune::Link link{k,
                            k % 2 == 1 && k + 2 < kGroups ? std::vector{k + 1, k + 2} : std::vector{k + 1}};
            link.prices.castMicroseconds = link.prices.widenMicroseconds = draw(1, 12);
            m_links.push_back(std::move(link));
        }
    }

    tune::Surrogate sums() const { return {{m_costs.begin(), m_costs.end()}, m_links}; }

    static Labels labelsOf(std::size_t choice)
    {
        Labels labels;
        for (std::size_t k = 0; k < kGroups; ++k)
            labels.push_back((choice >> k & 1) != 0 ? Label::Target : Label::Float32);
        return labels;
    }
    /// Layer after layer, both ways each: what lies before a layer is computed once for both.
    void compute(const Values &value, const Values &before, std::size_t layer, std::size_t choice)
    {
        if (layer == kGroups) {
            m_outputs[choice] = value;
            return;
        }
        for (const std::size_t isLowered : {0U, 1U}) {
            Values read = value;
            if (isLowered != 0)
                roundToCodes(read, m_codes[layer]);
            Values next = product(layer, read);
            if (layer % 2 == 1) // the end of a block
                for (std::size_t k = 0; k < next.size(); ++k)
                    next[k] += before[k];
            compute(next, layer % 2 == 1 ? before : value, layer + 1, choice | isLowered << layer);
        }
    }
    Values product(std::size_t layer, const Values &read) const
    {
        Values result{};
        for (std::size_t example = 0; example < kExamples; ++example)
            for (std::size_t to = 0; to < kWidth; ++to) {
                double sum = 0;
                for (std::size_t from = 0; from < kWidth; ++from)
                    sum += m_weights[layer][to * kWidth + from] * read[example * kWidth + from];
                result[example * kWidth + to] = std::max(sum, layer % 2 == 0 ? 0.0 : sum);
            }
        return result;
    }

    std::mt19937 m_random;
    std::array<std::array<double, kWidth * kWidth>, kGroups> m_weights{};
    std::array<tune::GroupCosts, kGroups> m_costs{};
    std::array<double, kGroups> m_codes{};
    std::vector<tune::Link> m_links;
    std::vector<Values> m_outputs; ///< by choice: bit k is set where layer k is lowered
    double m_wide = 0; ///< microseconds
};

/// Knows errors by a few examples only roughly, and is a little slower whenever something is timed again.
class RoughNetwork final : public tune::Oracle
{
public:
    explicit RoughNetwork(unsigned seed)
        : m_inner(seed)
    {
    }

    Result<tune::Network> profile(const Progress &progress) override { return m_inner.profile(progress); }
    void resume(const tune::Network &network) override { m_inner.resume(network); }
    bool canEstimate() const override { return true; }
    Result<double> estimate(const Labels &labels, const Progress & /*progress*/) override
    {
        asked.push_back("estimate");
        estimated.push_back(labels);
        if (overflows && labels[*overflows] != Label::Float32)
            return std::numeric_limits<double>::infinity();
        return m_inner.errorOf(RecordedNetwork::choiceOf(labels)) * (asked.size() % 2 == 0 ? 1.5 : 0.7);
    }
    Result<double> errorAlone(std::size_t group, Label label, const Progress &progress) override
    {
        asked.push_back("error");
        if (overflows == group)
            return std::numeric_limits<double>::infinity();
        return m_inner.errorAlone(group, label, progress);
    }
    Result<Measurement> measure(const Labels &labels, const Progress &progress) override
    {
        asked.push_back("measure");
        return m_inner.measure(labels, progress);
    }
    Result<Measurement> confirm(const Labels &labels, const Measurement &measured,
                                const Progress & /*progress*/) override
    {
        asked.push_back("confirm");
        ++confirmed[labels];
        Measurement again = measured;
        again.milliseconds *= 1.01;
        again.ratio *= 1.01;
        again.planRatios = {measured.ratio, 1.01 * measured.ratio, 1.02 * measured.ratio};
        return again;
    }

    std::optional<std::size_t> overflows; ///< where its group is lowered
    std::vector<std::string> asked; ///< in order
    std::vector<Labels> estimated; ///< likewise
    std::map<Labels, int> confirmed;

private:
    RecordedNetwork m_inner;
};

/// On a machine with other work.
class BusyNetwork final : public tune::Oracle
{
public:
    BusyNetwork(bool areLayersDisturbed, bool arePointsDisturbed)
        : m_inner(5)
        , m_areLayersDisturbed(areLayersDisturbed)
        , m_arePointsDisturbed(arePointsDisturbed)
    {
    }

    Result<tune::Network> profile(const Progress &progress) override
    {
        HALFTONE_TRY(tune::Network network, m_inner.profile(progress));
        network.isDisturbed = m_areLayersDisturbed;
        return network;
    }
    void resume(const tune::Network & /*network*/) override { }
    Result<double> errorAlone(std::size_t group, Label label, const Progress &progress) override
    {
        return m_inner.errorAlone(group, label, progress);
    }
    Result<Measurement> measure(const Labels &labels, const Progress &progress) override
    {
        HALFTONE_TRY(Measurement measured, m_inner.measure(labels, progress));
        measured.isDisturbed = m_arePointsDisturbed;
        return measured;
    }

private:
    RecordedNetwork m_inner;
    bool m_areLayersDisturbed;
    bool m_arePointsDisturbed;
};

/// Where a tenth of the answers is wrong from so many decibels down.
class AnsweringNetwork final : public tune::Oracle
{
public:
    AnsweringNetwork(unsigned seed, double decibels)
        : m_inner(seed)
        , m_decibels(decibels)
    {
    }

    Result<tune::Network> profile(const Progress &progress) override { return m_inner.profile(progress); }
    void resume(const tune::Network & /*network*/) override { }
    bool canEstimate() const override { return true; }
    Result<double> estimate(const Labels &labels, const Progress &progress) override
    {
        return m_inner.estimate(labels, progress);
    }
    Result<double> errorAlone(std::size_t group, Label label, const Progress &progress) override
    {
        return m_inner.errorAlone(group, label, progress);
    }
    Result<Measurement> measure(const Labels &labels, const Progress &progress) override
    {
        HALFTONE_TRY(Measurement measured, m_inner.measure(labels, progress));
        measured.top1Reference = 1;
        measured.top1 = measured.sqnrDb >= m_decibels ? 1 : 0.9;
        return measured;
    }
    bool hasAskedForErrors() const { return std::ranges::count(m_inner.asked, "error") > 0; }

private:
    RoughNetwork m_inner;
    double m_decibels;
};

/// Between its layers lie some that only follow: a policy cannot say their labels.
class FollowingNetwork final : public tune::Oracle
{
public:
    explicit FollowingNetwork(unsigned seed)
        : m_inner(seed)
        , m_random(seed)
    {
    }

    Result<tune::Network> profile(const Progress &progress) override
    {
        HALFTONE_TRY(tune::Network network, m_inner.profile(progress));
        std::uniform_real_distribution draw(1.0, 12.0);
        for (std::size_t k = 0; k + 3 < kGroups; k += 3) {
            tune::Group group;
            group.name = "between" + std::to_string(k);
            group.isErrorKnown = true;
            const double wide = draw(m_random);
            group.costs = {{wide, wide * 0.9, 0}, {}, {true, true, false}, true};
            const std::size_t own = network.groups.size();
            network.links.push_back({k, {own}, {draw(m_random)}});
            network.links.push_back({own, {k + 2, k + 3}, {draw(m_random)}});
            network.groups.push_back(std::move(group));
        }
        return network;
    }
    void resume(const tune::Network & /*network*/) override { }
    Result<double> errorAlone(std::size_t group, Label label, const Progress &progress) override
    {
        return m_inner.errorAlone(group, label, progress);
    }
    Result<Measurement> measure(const Labels &labels, const Progress &progress) override
    {
        return m_inner.measure({labels.begin(), labels.begin() + kGroups}, progress);
    }

    const std::map<Labels, int> &measured() const { return m_inner.measured; }

private:
    RecordedNetwork m_inner;
    std::mt19937 m_random;
};

tune::SearchSettings within(double decibels)
{
    tune::SearchSettings settings;
    settings.limit = Limit{Limit::Metric::Sqnr, decibels};
    return settings;
}

/// A point that was measured, for fronts made by hand.
tune::Point pointOf(Label label, double milliseconds, double decibels, bool isClean = true)
{
    tune::Point point;
    point.labels = {label};
    point.origin = label == Label::Float32 ? Origin::Float32 : Origin::Hull;
    point.measured.emplace();
    point.measured->milliseconds = milliseconds;
    point.measured->ratio = milliseconds / 10;
    point.measured->sqnrDb = decibels;
    point.measured->isClean = isClean;
    return point;
}

constexpr double kExact = std::numeric_limits<double>::infinity();

} // namespace

/// Four nodes: first a group each, in float32 or the target; with int8 the first two are one, and times are in another measure.
class SketchingOracle final : public tune::Oracle
{
public:
    Result<std::optional<tune::Network>> sketch(const Progress & /*progress*/) override
    {
        return std::optional(networkOf({{0}, {1}, {2}, {3}}, 2, false));
    }
    Result<tune::Network> profile(const Progress & /*progress*/) override
    {
        ++profiled;
        return networkOf({{0, 1}, {2}, {3}}, 3, true);
    }
    void resume(const tune::Network & /*network*/) override { }
    Result<double> errorAlone(std::size_t, Label label, const Progress & /*progress*/) override
    {
        return label == Label::Int8 ? 1e-3 : 1e-5;
    }
    Result<tune::Measurement> measure(const Labels &labels, const Progress & /*progress*/) override
    {
        asked.push_back(labels);
        tune::Measurement measured;
        for (const Label label : labels)
            measured.ratio -= (label == Label::Int8         ? 0.6
                                   : label == Label::Target ? 0.4
                                                            : 0.0)
                / static_cast<double>(labels.size());
        measured.sqnrDb = 100 * measured.ratio;
        measured.milliseconds = (profiled > 0 ? 3 : 2) * measured.ratio;
        measured.ci95 = {0.99 * measured.milliseconds, 1.01 * measured.milliseconds};
        return measured;
    }

    std::vector<Labels> asked;
    int profiled = 0;

private:
    static tune::Network networkOf(const std::vector<std::vector<graph::NodeId>> &groups, double wideMs,
                                   bool hasInt8)
    {
        tune::Network network;
        network.wideMs = wideMs;
        for (const auto &nodes : groups) {
            tune::Group group;
            group.name = "node" + std::to_string(nodes[0]);
            group.nodes = nodes;
            group.isTunable = true;
            group.costs.isAllowed = {true, true, hasInt8};
            group.costs.microseconds = {1000, 600, 400};
            network.groups.push_back(std::move(group));
        }
        return network;
    }
};

class TestSearch : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void nearlyAllThatCouldBeGainedIsGained_data();
    void nearlyAllThatCouldBeGainedIsGained();
    void aFailureIsNoWantOfTime();
    void theFastestEndsASearchForIt();
    void accuracyIsTriedFromTheFastestOn();
    void noLabellingIsMeasuredTwice();
    void noPolicyIsMeasuredTwice();
    void whatFollowsCompletesALabelling();
    void theSameAnswersGiveTheSamePoints();
    void pointsComeBeforeErrorsAreKnownWell();
    void whatIsNoFasterThanFloat32GainsNothing();
    void aGlanceFindsWhatOverflows();
    void whatIsOfferedIsTimedOnceMore();
    void timesThatOtherWorkDisturbedAreMarked();
    void aRecordedSearchIsReplayed();
    void theEndsOfASketchComeFirst();
    void whoStopsKeepsWhatWasFound();
    void timeThatIsUpEndsIt();
    void pointsAreToldAsTheyAreFound();
    void onlyWhatIsFasterAndCleanIsOffered();
    void theFastestWithinTheLimitIsPicked();
    void theKneeIsWhereTheFrontBends();
    void aLimitOfAccuracyIsInPoints();
};

void TestSearch::nearlyAllThatCouldBeGainedIsGained_data()
{
    QTest::addColumn<double>("decibels");
    QTest::newRow("20 dB") << 20.0;
    QTest::newRow("30 dB") << 30.0;
    QTest::newRow("40 dB") << 40.0;
}

/// Of what the best assignment gains, over networks of which all 4096 assignments are known.
void TestSearch::nearlyAllThatCouldBeGainedIsGained()
{
    QFETCH(double, decibels);
    std::vector<double> shares;
    for (unsigned seed = 1; seed <= kNetworks; ++seed) {
        RecordedNetwork network(seed);
        const Result<Front> front = tune::search(network, within(decibels));
        QVERIFY(front.ok());
        // N/2 + 15 passes, beside float32's: a group alone is about half a pass, since only what lies behind it is computed.
        QCOMPARE(network.asked, kGroups);
        QVERIFY2(front.value().evaluations <= 15 + 1, qPrintable(QString::number(front.value().evaluations)));
        const auto picked = tune::pick(front.value(), Pick::FastestWithin, within(decibels).limit);
        QVERIFY(picked);
        const double wide = network.wideMilliseconds();
        const double possible = wide - network.bestMilliseconds(decibels);
        const Measurement &found = *front.value().points[*picked].measured;
        QVERIFY(found.sqnrDb >= decibels);
        if (possible > 1e-9)
            shares.push_back((wide - found.milliseconds) / possible);
    }
    QVERIFY(shares.size() >= kNetworks / 2);
    const double mean
        = std::accumulate(shares.begin(), shares.end(), 0.0) / static_cast<double>(shares.size());
    const double worst = *std::ranges::min_element(shares);
    qInfo("%zu networks: mean %.4f, worst %.4f of the best gain", shares.size(), mean, worst);
    QVERIFY(mean >= 0.98);
    QVERIFY(worst >= 0.79);
}

/// Who asks for one network within a limit waits for errors of groups alone only where the fastest misses the limit.
void TestSearch::theFastestEndsASearchForIt()
{
    for (unsigned seed = 1; seed <= kNetworks; ++seed) {
        RecordedNetwork network(seed);
        tune::SearchSettings settings = within(-100);
        settings.onlyFastest = true;
        const Result<Front> loose = tune::search(network, settings);
        QVERIFY(loose.ok());
        QCOMPARE(network.asked, std::size_t{0});
        QCOMPARE(loose.value().evaluations, std::size_t{2}); // float32's, too
        QVERIFY(loose.value().stoppedBy == tune::StoppedBy::Done);
        const auto picked = tune::pick(loose.value(), Pick::FastestWithin, settings.limit);
        QVERIFY(picked);
        QCOMPARE(loose.value().points[*picked].measured->milliseconds, network.bestMilliseconds(-100));
        const std::string reason
            = reasonOf(loose.value(), loose.value().points[*picked].labels, 0, "bfloat16");
        QVERIFY2(reason.find("dB") == std::string::npos, reason.c_str());

        settings.limit->value = 60;
        RecordedNetwork again(seed);
        const Result<Front> tight = tune::search(again, settings);
        QVERIFY(tight.ok());
        QCOMPARE(again.asked, kGroups);
        const auto found = tune::pick(tight.value(), Pick::FastestWithin, settings.limit);
        QVERIFY(found && tight.value().points[*found].measured->sqnrDb >= 60);
    }
}

void TestSearch::accuracyIsTriedFromTheFastestOn()
{
    unsigned early = 0;
    for (unsigned seed = 1; seed <= kNetworks; ++seed) {
        AnsweringNetwork network(seed, 15);
        tune::SearchSettings settings;
        settings.limit = Limit{Limit::Metric::Top1, -0.5};
        settings.onlyFastest = true;
        const Result<Front> front = tune::search(network, settings);
        QVERIFY(front.ok());
        const auto picked = tune::pick(front.value(), Pick::FastestWithin, settings.limit);
        QVERIFY(picked && front.value().points[*picked].measured->sqnrDb >= 15);
        early += network.hasAskedForErrors() ? 0 : 1;
    }
    QVERIFY2(early >= kNetworks * 2 / 3, qPrintable(QString::number(early)));
}

void TestSearch::noLabellingIsMeasuredTwice()
{
    RecordedNetwork network(3);
    const Result<Front> front = tune::search(network, within(30));
    QVERIFY(front.ok());
    for (const auto &[labels, times] : network.measured)
        QCOMPARE(times, 1);
    QCOMPARE(front.value().evaluations, network.measured.size());
}

/// Labellings that differ in what only follows are one policy.
void TestSearch::noPolicyIsMeasuredTwice()
{
#ifdef HALFTONE_SANITIZED // what they look for is found on few
    constexpr unsigned kFollowing = 3;
#else
    constexpr unsigned kFollowing = kNetworks;
#endif
    for (unsigned seed = 1; seed <= kFollowing; ++seed) {
        for (const double decibels : {20.0, 30.0, 40.0}) {
            FollowingNetwork network(seed);
            const Result<Front> front = tune::search(network, within(decibels));
            QVERIFY(front.ok());
            for (const auto &[labels, times] : network.measured())
                QCOMPARE(times, 1);
            QCOMPARE(front.value().evaluations, network.measured().size());
        }
    }
}

/// Against all labels that the followers could have.
void TestSearch::whatFollowsCompletesALabelling()
{
    FollowingNetwork network(4);
    const auto profiled = network.profile({});
    QVERIFY(profiled.ok());
    Front front;
    front.groups = profiled.value().groups;
    front.links = profiled.value().links;
    const tune::Surrogate sums = front.surrogate();
    std::mt19937 random(7);
    for (int trial = 0; trial < 20; ++trial) {
        Labels labels = sums.widest();
        for (std::size_t k = 0; k < kGroups; ++k)
            labels[k] = random() % 2 == 0 ? Label::Float32 : Label::Target;
        const std::size_t following = labels.size() - kGroups;
        double least = kExact;
        for (std::size_t choice = 0; choice < std::size_t{1} << following; ++choice) {
            Labels other = labels;
            for (std::size_t k = 0; k < following; ++k)
                other[kGroups + k] = (choice >> k & 1) != 0 ? Label::Target : Label::Float32;
            QCOMPARE(sums.said(other), sums.said(labels));
            least = std::min(least, sums.microseconds(other));
        }
        const Labels completed = sums.completed(labels);
        QCOMPARE(sums.said(completed), sums.said(labels));
        QVERIFY(std::abs(sums.microseconds(completed) - least) < 1e-6);
    }
}

void TestSearch::theSameAnswersGiveTheSamePoints()
{
    const auto found = [] {
        RecordedNetwork network(5);
        std::vector<std::pair<Labels, double>> points;
        const Result<Front> front = tune::search(network, within(30));
        for (const tune::Point &point : front.value().points)
            points.emplace_back(point.labels, point.predicted.sqnrDb);
        return points;
    };
    QCOMPARE(found(), found());
}

void TestSearch::pointsComeBeforeErrorsAreKnownWell()
{
    RoughNetwork network(5);
    const Result<Front> front = tune::search(network, {});
    QVERIFY(front.ok());
    const auto firstError = std::ranges::find(network.asked, "error");
    QCOMPARE(network.estimated.size(), kGroups / 2); // at two neighbours each
    for (const Labels &labels : network.estimated)
        QCOMPARE(std::ranges::count(labels, Label::Target), 2);
    // The ends, and three of the hull.
    QCOMPARE(std::count(network.asked.begin(), firstError, "measure"), std::ptrdiff_t{5});
    QCOMPARE(front.value().passes, kGroups + front.value().evaluations);
    RecordedNetwork exact(5);
    const Result<Front> without = tune::search(exact, {});
    for (std::size_t k = 0; k < kGroups; ++k) // estimates are forgotten
        QCOMPARE(front.value().groups[k].costs.error, without.value().groups[k].costs.error);
}

/// Float32 alone may be faster than the sum of its layers beside lowered ones says.
void TestSearch::whatIsNoFasterThanFloat32GainsNothing()
{
    Front front;
    front.groups.resize(2);
    for (tune::Group &group : front.groups) {
        group.isTunable = true;
        group.costs = {{10, 5, 0}, {0, 1e-4, 0}, {true, true, false}};
    }
    const Labels wide{Label::Float32, Label::Float32};
    const Labels half{Label::Target, Label::Float32}; // 15 us by the sums
    const Labels lowest{Label::Target, Label::Target};
    const auto add = [&](const Labels &labels, Origin origin, double milliseconds, double decibels) {
        tune::Point point{labels, origin, front.predict(labels), {}, 0};
        if (milliseconds > 0) {
            point.measured.emplace();
            point.measured->milliseconds = milliseconds;
            point.measured->sqnrDb = decibels;
        }
        front.points.push_back(point);
    };
    add(wide, Origin::Float32, 0.020, std::numeric_limits<double>::infinity());
    add(lowest, Origin::Lowest, 0.010, 37);
    add(half, Origin::Hull, 0, 0);
    const std::vector<Labels> hull{wide, half, lowest};
    QCOMPARE(tune::mostGained(front, hull), &hull[1]);
    front.points[0].measured->milliseconds = 0.0149;
    QVERIFY(tune::mostGained(front, hull) == nullptr);
}

/// Of two groups estimated together, the overflowing one is found, and the other stays free.
void TestSearch::aGlanceFindsWhatOverflows()
{
    RoughNetwork network(5);
    network.overflows = 5;
    const Result<Front> front = tune::search(network, {});
    QVERIFY(front.ok());
    QCOMPARE(network.estimated.size(), kGroups / 2 + 2);
    const auto alone = [&](std::size_t group) {
        return std::ranges::any_of(network.estimated, [&](const Labels &labels) {
            return std::ranges::count(labels, Label::Target) == 1 && labels[group] == Label::Target;
        });
    };
    QVERIFY(alone(4));
    QVERIFY(alone(5));
    for (std::size_t k = 0; k < kGroups; ++k)
        QCOMPARE(front.value().groups[k].isTunable, k != 5);
}

void TestSearch::whatIsOfferedIsTimedOnceMore()
{
    RoughNetwork network(5);
    const Result<Front> front = tune::search(network, {});
    QVERIFY(front.ok());
    QVERIFY(front.value().best().size() > 2);
    for (const std::size_t k : front.value().best())
        QVERIFY(front.value().points[k].origin == Origin::Float32
                || network.confirmed[front.value().points[k].labels] == 1);
    // Logarithms of three plans are 0, 0.00995 and 0.0198: 0.0099 is their standard deviation, and that of all together.
    const double t = tune::studentQuantile(2 * network.confirmed.size());
    for (const tune::Point &point : front.value().points) {
        if (!network.confirmed.contains(point.labels))
            continue;
        const Measurement &measured = *point.measured;
        const double above = std::log(measured.ci95[1] / measured.milliseconds);
        QVERIFY(std::abs(above / (t * 0.0099 * std::sqrt(4.0 / 3)) - 1) < 0.01);
        QVERIFY(std::abs(std::log(measured.milliseconds / measured.ci95[0]) - above) < 1e-9);
    }
}

/// In the front, in what is written of it, and by who goes on from a record.
void TestSearch::timesThatOtherWorkDisturbedAreMarked()
{
    for (const bool areLayers : {false, true}) {
        for (const bool arePoints : {false, true}) {
            BusyNetwork network(areLayers, arePoints);
            tune::RecordingOracle recording(network, {}, {});
            const Result<Front> front = tune::search(recording, {});
            QVERIFY(front.ok());
            RecordedNetwork nobody(6); // is not asked
            const Result<tune::Record> record = tune::readRecord(tune::writeRecord(recording.record()));
            QVERIFY(record.ok());
            tune::RecordingOracle replayed(nobody, record.value(), {});
            const Result<Front> again = tune::search(replayed, {});
            QVERIFY(again.ok());
            for (const Front *one : {&front.value(), &again.value()}) {
                QCOMPARE(one->areLayersDisturbed, areLayers);
                QCOMPARE(one->isDisturbed(), areLayers || arePoints);
                const auto json
                    = tune::frontJson(*one, std::vector<std::string>(one->points.size()), {}, "float16");
                QCOMPARE(json.at("layers_disturbed").get<bool>(), areLayers);
                QCOMPARE(json.at("disturbed").get<bool>(), areLayers || arePoints);
                for (const auto &point : json.at("points"))
                    QCOMPARE(point.at("disturbed").get<bool>(), arePoints);
            }
        }
    }
}

void TestSearch::aRecordedSearchIsReplayed()
{
    const auto pointsOf = [](const Front &front) {
        std::vector<std::tuple<Labels, double, double>> points;
        for (const tune::Point &point : front.points)
            points.emplace_back(point.labels, point.measured ? point.measured->milliseconds : -1,
                                point.measured ? point.measured->ci95[1] : -1);
        return points;
    };
    RoughNetwork network(5);
    tune::RecordingOracle recording(network, {}, {});
    const Result<Front> front = tune::search(recording, {});
    QVERIFY(front.ok());
    const Result<tune::Record> record = tune::readRecord(tune::writeRecord(recording.record()));
    QVERIFY(record.ok());
    RoughNetwork other(6); // must not be asked
    tune::RecordingOracle replayed(other, record.value(), {});
    const Result<Front> again = tune::search(replayed, {});
    QVERIFY(again.ok());
    QVERIFY(other.asked.empty());
    QCOMPARE(pointsOf(again.value()), pointsOf(front.value()));

    RecordedNetwork withoutGlances(6); // what was recorded counts, whoever does not answer
    tune::RecordingOracle alike(withoutGlances, record.value(), {});
    const Result<Front> alone = tune::search(alike, {});
    QVERIFY(alone.ok());
    QCOMPARE(withoutGlances.asked, 0);
    QVERIFY(withoutGlances.measured.empty());
    QCOMPARE(pointsOf(alone.value()), pointsOf(front.value()));
}

/// They are measured once, before the groups are known that they are told with in the end, also by who goes on from a record.
void TestSearch::theEndsOfASketchComeFirst()
{
    SketchingOracle network;
    tune::RecordingOracle recording(network, {}, {});
    std::vector<std::size_t> told; // points that are measured, by when the groups were those of the sketch
    const Result<Front> front = tune::search(recording, {}, {}, [&](const Front &now) {
        if (now.groups.size() == 4)
            told.push_back(now.points.size());
    });
    QVERIFY(front.ok());
    QCOMPARE(told, (std::vector<std::size_t>{0, 1, 2}));
    const std::vector<tune::Point> &points = front.value().points;
    QCOMPARE(points[0].labels, Labels(3, Label::Float32));
    QCOMPARE(points[0].origin, Origin::Float32);
    QCOMPARE(points[0].measured->milliseconds, 3.0);
    QCOMPARE(points[1].labels, Labels(3, Label::Target));
    QCOMPARE(points[1].origin, Origin::Lowest);
    QVERIFY(std::abs(points[1].measured->milliseconds - 0.6 * 3) < 1e-12);
    QVERIFY(std::abs(points[1].measured->ci95[1] - 1.01 * 0.6 * 3) < 1e-12);
    QVERIFY(front.value().find(Labels(3, Label::Int8)) != nullptr);
    QCOMPARE(network.asked[0], Labels(4, Label::Float32));
    QCOMPARE(network.asked[1], Labels(4, Label::Target));
    QCOMPARE(network.asked[2], Labels(3, Label::Int8));
    QCOMPARE(front.value().evaluations, network.asked.size());

    const auto readBack
        = [](const tune::Record &record) { return tune::readRecord(tune::writeRecord(record)).value(); };
    tune::Record begun{};
    begun.sketch = recording.record().sketch;
    begun.sketched = recording.record().sketched;
    for (const tune::Record &record : {readBack(begun), readBack(recording.record())}) {
        SketchingOracle other;
        tune::RecordingOracle going(other, record, {});
        const Result<Front> again = tune::search(going, {});
        QVERIFY(again.ok());
        QCOMPARE(other.profiled, record.network ? 0 : 1);
        QVERIFY(std::ranges::none_of(other.asked, [](const Labels &labels) { return labels.size() == 4; }));
        QVERIFY(!record.network || other.asked.empty());
        QCOMPARE(again.value().points.size(), points.size());
        for (std::size_t k = 0; k < points.size(); ++k) {
            QCOMPARE(again.value().points[k].labels, points[k].labels);
            QVERIFY(
                std::abs(again.value().points[k].measured->milliseconds - points[k].measured->milliseconds)
                < 1e-12);
        }
    }
}

void TestSearch::whoStopsKeepsWhatWasFound()
{
    RecordedNetwork network(5);
    network.stopAfter = 4;
    const Result<Front> front = tune::search(network, {}, {network.stop.get_token(), {}});
    QVERIFY(front.ok());
    QCOMPARE(front.value().stoppedBy, tune::StoppedBy::Cancelled);
    QCOMPARE(network.asked, std::size_t{4});
    QVERIFY(!front.value().best().empty()); // float32 at least
}

void TestSearch::aFailureIsNoWantOfTime()
{
    RecordedNetwork network(5);
    network.failAt = 4;
    const Result<Front> front = tune::search(network, {});
    QVERIFY(!front.ok());
    QCOMPARE(front.error().code, Errc::BadInput);
}

void TestSearch::timeThatIsUpEndsIt()
{
    RecordedNetwork network(5);
    tune::SearchSettings settings;
    settings.time = std::chrono::duration<double>(1e-9);
    const Result<Front> front = tune::search(network, settings);
    QVERIFY(front.ok());
    QCOMPARE(front.value().stoppedBy, tune::StoppedBy::Time);
    QVERIFY(!front.value().best().empty());
}

void TestSearch::pointsAreToldAsTheyAreFound()
{
    RecordedNetwork network(5);
    std::vector<std::size_t> evaluations;
    bool wasPredictedFirst = false;
    const Result<Front> front = tune::search(network, within(30), {}, [&](const Front &known) {
        evaluations.push_back(known.evaluations);
        wasPredictedFirst
            |= std::ranges::any_of(known.points, [](const auto &point) { return !point.measured; });
    });
    QVERIFY(front.ok());
    QVERIFY(std::ranges::is_sorted(evaluations));
    QCOMPARE(evaluations.back(), front.value().evaluations);
    QVERIFY(wasPredictedFirst);
}

void TestSearch::onlyWhatIsFasterAndCleanIsOffered()
{
    Front front;
    front.points
        = {pointOf(Label::Float32, 10, kExact),  pointOf(Label::Target, 11, 20),
           pointOf(Label::Target, 8, 35),        pointOf(Label::Target, 9, 30), // beaten by the one before
           pointOf(Label::Target, 4, 15, false), pointOf(Label::Target, 6, 25)};
    front.points.push_back(pointOf(Label::Target, 1, 50));
    front.points.back().measured.reset(); // only predicted
    QCOMPARE(front.best(), (std::vector<std::size_t>{0, 2, 5}));
}

void TestSearch::theFastestWithinTheLimitIsPicked()
{
    Front front;
    front.points
        = {pointOf(Label::Float32, 10, kExact), pointOf(Label::Target, 8, 35), pointOf(Label::Target, 6, 25)};
    const auto picked = [&](double decibels) {
        return tune::pick(front, Pick::FastestWithin, Limit{Limit::Metric::Sqnr, decibels});
    };
    QCOMPARE(picked(20), std::optional<std::size_t>(2));
    QCOMPARE(picked(25), std::optional<std::size_t>(2));
    QCOMPARE(picked(30), std::optional<std::size_t>(1));
    QCOMPARE(picked(90), std::optional<std::size_t>(0)); // float32 itself
    QCOMPARE(tune::pick(front, Pick::FastestWithin, {}), std::optional<std::size_t>(2));
    QCOMPARE(tune::pick(Front(), Pick::FastestWithin, {}), std::optional<std::size_t>());
}

void TestSearch::theKneeIsWhereTheFrontBends()
{
    Front front;
    front.points = {pointOf(Label::Float32, 10, 100), pointOf(Label::Target, 9, 60),
                    pointOf(Label::Target, 5, 55), pointOf(Label::Target, 4.5, 20)};
    QCOMPARE(tune::pick(front, Pick::Knee, {}), std::optional<std::size_t>(2));
}

void TestSearch::aLimitOfAccuracyIsInPoints()
{
    const Limit limit{Limit::Metric::Top1, -0.5};
    Measurement measured;
    QVERIFY(!limit.holdsFor(measured)); // nobody knows it
    measured.top1Reference = 0.800;
    measured.top1 = 0.795;
    QVERIFY(limit.holdsFor(measured));
    measured.top1 = 0.794;
    QVERIFY(!limit.holdsFor(measured));
    measured.top1 = 0.9;
    measured.isClean = false;
    QVERIFY(!limit.holdsFor(measured));
}

QTEST_GUILESS_MAIN(TestSearch)
#include "tst_search.moc"
