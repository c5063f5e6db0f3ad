#include "core/profile/latency.h"

#include <QTest>

#include <chrono>
#include <thread>

using namespace halftone;

namespace {

/// A plan of three steps that sleep.
class Sleeper final : public runtime::LatencyPlan
{
public:
    explicit Sleeper(double milliseconds)
        : m_milliseconds(milliseconds)
        , m_steps(3)
    {
        m_steps[1].kind = runtime::StepKind::Cast;
    }

    std::span<const runtime::PlanStep> steps() const override { return m_steps; }
    std::span<const runtime::PlanPort> inputs() const override { return {}; }
    std::span<const runtime::PlanPort> outputs() const override { return {}; }
    std::span<std::byte> input(std::size_t) override { return {}; }
    std::span<const std::byte> output(std::size_t) const override { return {}; }
    Result<void> run(const Progress &progress) override
    {
        if (progress.stopped())
            return Error{Errc::Cancelled, {}, {}, "cancelled", {}};
        ++runs;
        sleep(m_milliseconds);
        return {};
    }
    Result<void> runTimed(std::span<double> microseconds) override
    {
        for (double &time : microseconds)
            time = 1e3 * m_milliseconds / 3;
        return {};
    }
    std::size_t arenaBytes() const override { return 5; }
    std::size_t constantBytes() const override { return 7; }
    void poison() override { }

    int runs = 0;

private:
    static void sleep(double milliseconds)
    {
        const auto end
            = std::chrono::steady_clock::now() + std::chrono::duration<double, std::milli>(milliseconds);
        while (std::chrono::steady_clock::now() < end) { }
    }

    double m_milliseconds;
    std::vector<runtime::PlanStep> m_steps;
};

} // namespace

class LatencyTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void quantilesInterpolate();
    void theIntervalHoldsTheMedianAndNarrows();
    void everyStepIsARowAndCastsAreSummed();
    void theFasterPlanHasTheSmallerRatio();
    void aStoppedMeasurementSaysSo();
};

void LatencyTest::quantilesInterpolate()
{
    QCOMPARE(profile::quantile({4, 1, 3, 2}, 0.5), 2.5);
    QCOMPARE(profile::quantile({4, 1, 3, 2}, 0), 1.0);
    QCOMPARE(profile::quantile({4, 1, 3, 2}, 1), 4.0);
    QCOMPARE(profile::quantile({}, 0.5), 0.0);
}

void LatencyTest::theIntervalHoldsTheMedianAndNarrows()
{
    std::vector<double> few;
    for (int k = 0; k < 10; ++k)
        few.push_back(1 + 0.01 * k);
    std::vector<double> many;
    for (int repeat = 0; repeat < 40; ++repeat)
        many.insert(many.end(), few.begin(), few.end());
    const auto wide = profile::medianInterval(few, 1);
    const auto narrow = profile::medianInterval(many, 1);
    QVERIFY(wide[0] < 1.045 && 1.045 < wide[1]);
    QVERIFY(narrow[1] - narrow[0] < wide[1] - wide[0]);
    QCOMPARE(profile::medianInterval(few, 1), wide);
}

void LatencyTest::everyStepIsARowAndCastsAreSummed()
{
    Sleeper plan(0.3);
    const auto latency = profile::measureLatency(plan, {2, 5});
    QVERIFY(latency.ok());
    QCOMPARE(plan.runs, 7);
    QCOMPARE(latency.value().layers.size(), std::size_t{3});
    QCOMPARE(latency.value().castsUs, 100.0);
    QCOMPARE(latency.value().sumOfLayersMs, 0.3);
    QCOMPARE(latency.value().peakBytes, std::size_t{12});
    QVERIFY(latency.value().minMs >= 0.3 && latency.value().minMs <= latency.value().medianMs
            && latency.value().medianMs <= latency.value().p95Ms);
}

void LatencyTest::theFasterPlanHasTheSmallerRatio()
{
    Sleeper fast(0.2);
    Sleeper slow(0.8);
    const auto versus = profile::measureVersus(fast, slow, {1, 21});
    QVERIFY(versus.ok());
    QVERIFY(versus.value().ratio < 0.6 && versus.value().medianMs >= 0.8);
    QVERIFY(versus.value().ci95[0] <= versus.value().ratio && versus.value().ratio <= versus.value().ci95[1]);
}

void LatencyTest::aStoppedMeasurementSaysSo()
{
    Sleeper plan(0.1);
    std::stop_source stop;
    stop.request_stop();
    const auto latency = profile::measureLatency(plan, {1, 1}, {stop.get_token(), {}});
    QVERIFY(!latency.ok());
    QCOMPARE(latency.error().code, Errc::Cancelled);
}

QTEST_GUILESS_MAIN(LatencyTest)
#include "tst_latency.moc"
