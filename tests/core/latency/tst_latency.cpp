#include "core/backends/backends.h"
#include "core/base/thread_share.h"
#include "core/dialect/registry.h"
#include "core/infer/infer_types.h"
#include "core/infer/typed_model.h"
#include "core/interpret/random_params.h"
#include "core/latency/latency.h"
#include "tests/support/build_graph.h"

#include <sched.h>

#include <QTest>

#include <atomic>
#include <chrono>
#include <cmath>
#include <limits>
#include <thread>

using namespace halftone;

namespace {

/// A plan of three steps that sleep.
class Sleeper final : public kernels::LatencyPlan
{
public:
    /// disturbedFrom  the run from which on others are at work, and runs take six times as long
    /// disturbedTo    the run from which on they are gone
    explicit Sleeper(double milliseconds, int disturbedFrom = std::numeric_limits<int>::max(),
                     int disturbedTo = std::numeric_limits<int>::max())
        : m_milliseconds(milliseconds)
        , m_disturbedFrom(disturbedFrom)
        , m_disturbedTo(disturbedTo)
        , m_steps(3)
    {
        m_steps[1].kind = kernels::StepKind::Cast;
    }

    std::span<const kernels::PlanStep> steps() const override { return m_steps; }
    std::span<const kernels::PlanPort> inputs() const override { return {}; }
    std::span<const kernels::PlanPort> outputs() const override { return {}; }
    std::span<std::byte> input(std::size_t) override { return {}; }
    std::span<const std::byte> output(std::size_t) const override { return {}; }
    Result<void> run(const Progress &progress) override
    {
        if (progress.stopped())
            return Error{Errc::Cancelled, {}, {}, "cancelled", {}};
        ++runs;
        sleep(runs < m_disturbedFrom || runs >= m_disturbedTo ? m_milliseconds : 6 * m_milliseconds);
        return {};
    }
    Result<std::vector<std::vector<double>>> timeSteps(std::size_t timed, const Progress &) override
    {
        return std::vector<std::vector<double>>(timed, std::vector<double>(3, 1e3 * m_milliseconds / 3));
    }
    std::optional<std::size_t> arenaBytes() const override { return 5; }
    std::optional<std::size_t> constantBytes() const override { return 7; }

    int runs = 0;

private:
    static void sleep(double milliseconds)
    {
        const auto end
            = std::chrono::steady_clock::now() + std::chrono::duration<double, std::milli>(milliseconds);
        while (std::chrono::steady_clock::now() < end) { }
    }

    double m_milliseconds;
    int m_disturbedFrom;
    int m_disturbedTo;
    std::vector<kernels::PlanStep> m_steps;
};

/// Four stages of bottlenecks with normalisations and sums, of ResNet-50's widths: some milliseconds.
graph::Model residualNetwork()
{
    test::GraphBuilder g;
    const auto layer = [&g](const std::string &name, graph::Entry x, int filters, int kernel, int stride) {
        const std::string k = std::to_string(kernel);
        const std::string p = std::to_string(kernel / 2);
        const std::string s = std::to_string(stride);
        x = g.op("Convolution", name, {x, g.variable(name + "_weight")},
                 {{"kernel", "(" + k + ", " + k + ")"},
                  {"pad", "(" + p + ", " + p + ")"},
                  {"stride", "(" + s + ", " + s + ")"},
                  {"num_filter", std::to_string(filters)},
                  {"no_bias", "True"}});
        return g.op("BatchNorm", name + "_bn",
                    {x, g.variable(name + "_gamma"), g.variable(name + "_beta"), g.variable(name + "_mean"),
                     g.variable(name + "_var")},
                    {{"fix_gamma", "False"}});
    };
    const auto relu = [&g](const std::string &name, graph::Entry x) {
        return g.op("Activation", name, {x}, {{"act_type", "relu"}});
    };
    graph::Entry x = relu("stem_relu", layer("stem", g.variable("data"), 64, 7, 2));
    for (int stage = 0; stage < 4; ++stage) {
        const std::string name = "stage" + std::to_string(stage);
        const int width = 64 << stage;
        const graph::Entry shortcut = layer(name + "_down", x, 4 * width, 1, 2);
        x = relu(name + "_relu0", layer(name + "_a", x, width, 1, 2));
        x = relu(name + "_relu1", layer(name + "_b", x, width, 3, 1));
        x = layer(name + "_c", x, 4 * width, 1, 1);
        x = relu(name + "_out", g.op("elemwise_add", name + "_sum", {x, shortcut}));
    }
    return g.model({g.op("Pooling", "pool", {x},
                         {{"global_pool", "True"}, {"kernel", "(1, 1)"}, {"pool_type", "avg"}})});
}

Result<std::unique_ptr<kernels::LatencyPlan>> planOf(const graph::Model &bare, const tensor::Shape &data)
{
    HALFTONE_TRY(const graph::Model model, interpret::withRandomParameters(bare, {{"data", data}}, 1));
    std::unordered_map<std::string, tensor::Shape> known{{"data", data}};
    for (const tensor::Array &array : model.parameters)
        known.emplace(dialect::dialectNamed("mxnet")->variableOf(array.name), array.shape);
    HALFTONE_TRY(const infer::ShapeMap shapes, infer::inferShapes(model.graph, known));
    const std::vector<tensor::DType> variables(model.graph.nodeCount(), tensor::DType::F32);
    HALFTONE_TRY(const infer::TypeMap types, infer::inferTypes(model.graph, variables));
    HALFTONE_TRY(const auto backend, backends::planningBackend(backends::kDefaultBackend, 1));
    return backend->plan({model, types, shapes}, {});
}

} // namespace

class LatencyTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void quantilesInterpolate();
    void aMachineWithOtherWorkIsRecognised();
    void whatWasDisturbedIsMeasuredAgain();
    void aThreadThatWaitsForAProcessorKnows();
    void theIntervalHoldsTheMedianAndNarrows();
    void everyStepIsARowAndCastsAreSummed();
    void layersTogetherTakeAsLongAsTheWhole();
    void theFasterPlanHasTheSmallerRatio();
    void runsInTurnsOnAMachineWithOtherWorkAreRecognised();
    void aStoppedMeasurementSaysSo();
};

void LatencyTest::quantilesInterpolate()
{
    QCOMPARE(latency::quantile({4, 1, 3, 2}, 0.5), 2.5);
    QCOMPARE(latency::quantile({4, 1, 3, 2}, 0), 1.0);
    QCOMPARE(latency::quantile({4, 1, 3, 2}, 1), 4.0);
    QCOMPARE(latency::quantile({}, 0.5), 0.0);
}

void LatencyTest::aMachineWithOtherWorkIsRecognised()
{
    latency::Latency latency;
    QVERIFY(!latency::isDisturbed(latency)); // nothing was measured
    latency.minMs = 5.07;
    latency.medianMs = 5.4;
    QVERIFY(!latency::isDisturbed(latency));
    latency.medianMs = 240;
    QVERIFY(latency::isDisturbed(latency));
    latency.medianMs = 5.4;
    latency.p95Ms = 10;
    QVERIFY(!latency::isDisturbed(latency));
    latency.p95Ms = 26; // most runs had the machine for themselves, some had not
    QVERIFY(latency::isDisturbed(latency));
    latency.p95Ms = 5.5;
    latency.wasBusy = true; // all runs took long, but the thread was seen to wait
    QVERIFY(latency::isDisturbed(latency));
}

/// Others leave after the first measurement: that one does not count. Where they stay, the last one says so.
void LatencyTest::whatWasDisturbedIsMeasuredAgain()
{
    latency::LatencySettings settings{1, 11};
    settings.attempts = 5;
    Sleeper left(0.3, 6, 12);
    const auto latency = latency::measureLatency(left, settings);
    QVERIFY(latency.ok());
    QVERIFY(latency.value().attempts > 1);
    QVERIFY(latency.value().medianMs < 0.6);
    Sleeper stay(0.3, 6);
    Sleeper quiet(0.3);
    settings.attempts = 2;
    const auto versus = latency::measureVersus(stay, quiet, settings);
    QVERIFY(versus.ok());
    QCOMPARE(versus.value().attempts, std::size_t{2});
    settings.attempts = 1;
    Sleeper once(0.3, 6);
    const auto single = latency::measureLatency(once, settings);
    QVERIFY(single.ok());
    QCOMPARE(single.value().attempts, std::size_t{1});
    QVERIFY(latency::isDisturbed(single.value()));
}

/// Two threads on one processor: each waits about half the time, and no run is shorter than the others.
void LatencyTest::aThreadThatWaitsForAProcessorKnows()
{
    if (!timeWaited())
        QSKIP("this system does not count how long threads wait");
    cpu_set_t own;
    CPU_ZERO(&own);
    if (sched_getaffinity(0, sizeof own, &own) != 0)
        QSKIP("this system does not say where threads run");
    cpu_set_t one;
    CPU_ZERO(&one);
    for (int k = 0; k < CPU_SETSIZE && CPU_COUNT(&one) == 0; ++k)
        if (CPU_ISSET(k, &own))
            CPU_SET(k, &one);
    if (sched_setaffinity(0, sizeof one, &one) != 0)
        QSKIP("this system does not let threads be bound");
    std::atomic<bool> isOver = false;
    std::thread other([&isOver] { // inherits the place
        while (!isOver) { }
    });
    Sleeper plan(40);
    const auto before = *timeWaited();
    const auto latency = latency::measureLatency(plan, {0, 10});
    const std::chrono::duration<double> waited = *timeWaited() - before;
    isOver = true;
    other.join();
    sched_setaffinity(0, sizeof own, &own);
    QVERIFY(latency.ok());
    QVERIFY2(waited.count() > 0.05, qPrintable(QString::number(waited.count())));
    QVERIFY(latency::isDisturbed(latency.value()));
}

void LatencyTest::theIntervalHoldsTheMedianAndNarrows()
{
    std::vector<double> few;
    for (int k = 0; k < 10; ++k)
        few.push_back(1 + 0.01 * k);
    std::vector<double> many;
    for (int repeat = 0; repeat < 40; ++repeat)
        many.insert(many.end(), few.begin(), few.end());
    const auto wide = latency::medianInterval(few, 1);
    const auto narrow = latency::medianInterval(many, 1);
    QVERIFY(wide[0] < 1.045 && 1.045 < wide[1]);
    QVERIFY(narrow[1] - narrow[0] < wide[1] - wide[0]);
    QCOMPARE(latency::medianInterval(few, 1), wide);
}

void LatencyTest::everyStepIsARowAndCastsAreSummed()
{
    Sleeper plan(0.3);
    const auto latency = latency::measureLatency(plan, {2, 5});
    QVERIFY(latency.ok());
    QCOMPARE(plan.runs, 7);
    QCOMPARE(latency.value().layers.size(), std::size_t{3});
    QCOMPARE(latency.value().castsUs, 100.0);
    QCOMPARE(latency.value().sumOfLayersMs, 0.3);
    QCOMPARE(latency.value().peakBytes, std::size_t{12});
    QVERIFY(latency.value().minMs >= 0.3 && latency.value().minMs <= latency.value().medianMs
            && latency.value().medianMs <= latency.value().p95Ms);
    const auto steps = latency::measureLatency(plan, {2, 5, false, true});
    QVERIFY(steps.ok());
    QCOMPARE(plan.runs, 9); // those that do not count
    QCOMPARE(steps.value().castsUs, 100.0);
    QCOMPARE(steps.value().sumOfLayersMs, 0.3);
    QCOMPARE(steps.value().medianMs, 0.0);
}

/// Nothing is forgotten and the clock between the steps costs next to nothing: within 5 %.
void LatencyTest::layersTogetherTakeAsLongAsTheWhole()
{
#ifdef HALFTONE_SANITIZED
    QSKIP("checks between the steps stretch times");
#endif
    const auto chain = backends::backendChain("cpu", 1);
    QVERIFY(chain.ok());
    if (chain.value().size() < 2)
        QSKIP("this build has no oneDNN");
    auto plan = planOf(residualNetwork(), {1, 3, 128, 128});
    QVERIFY2(plan.ok(), plan.ok() ? "" : plan.error().message().c_str());
    latency::fillInputs(*plan.value(), 1);
    // Another program that takes the processor stretches most of the whole runs and few of the single steps; then the
    // shortest ones, which nobody interrupted, are what can be compared.
    QString seen;
    for (int attempt = 0; attempt < 8; ++attempt) {
        const auto latency = latency::measureLatency(*plan.value(), {5, 100});
        QVERIFY(latency.ok());
        double shortest = 0;
        for (const latency::LayerLatency &layer : latency.value().layers)
            shortest += layer.minUs / 1e3;
        const double ratio = latency.value().sumOfLayersMs / latency.value().medianMs;
        const double best = shortest / latency.value().minMs;
        if (std::abs(ratio - 1) <= 0.05 || std::abs(best - 1) <= 0.05)
            return;
        seen += QString::number(ratio) + " (shortest " + QString::number(best) + ") ";
    }
    QFAIL(qPrintable(seen));
}

void LatencyTest::theFasterPlanHasTheSmallerRatio()
{
    Sleeper fast(0.2);
    Sleeper slow(0.8);
    const auto versus = latency::measureVersus(fast, slow, {1, 21});
    QVERIFY(versus.ok());
    QVERIFY(versus.value().ratio < 0.6 && versus.value().medianMs >= 0.8);
    QVERIFY(versus.value().ci95[0] <= versus.value().ratio && versus.value().ratio <= versus.value().ci95[1]);
}

/// Whichever of the two they disturb.
void LatencyTest::runsInTurnsOnAMachineWithOtherWorkAreRecognised()
{
    for (const bool isOwn : {true, false}) {
        Sleeper plan(0.3, isOwn ? 5 : 1000);
        Sleeper other(0.3, isOwn ? 1000 : 5);
        const auto versus = latency::measureVersus(plan, other, {1, 21});
        QVERIFY(versus.ok());
        QVERIFY(versus.value().isDisturbed);
    }
    int quiet = 0; // attempts during which nothing was seen of others
    for (int attempt = 0; attempt < 100 && quiet < 8; ++attempt) {
        Sleeper plan(0.3);
        Sleeper other(0.3);
        const auto before = timeWaited();
        const auto versus = latency::measureVersus(plan, other, {1, 21});
        QVERIFY(versus.ok());
        if (!versus.value().isDisturbed)
            return;
        const auto after = timeWaited();
        quiet += !before || *after - *before < std::chrono::milliseconds(1) ? 1 : 0;
        QTest::qSleep(20);
    }
    if (quiet == 0)
        QSKIP("this machine had other work all the time");
    QFAIL("never undisturbed");
}

void LatencyTest::aStoppedMeasurementSaysSo()
{
    Sleeper plan(0.1);
    std::stop_source stop;
    stop.request_stop();
    const auto latency = latency::measureLatency(plan, {1, 1}, {stop.get_token(), {}});
    QVERIFY(!latency.ok());
    QCOMPARE(latency.error().code, Errc::Cancelled);
}

QTEST_GUILESS_MAIN(LatencyTest)
#include "tst_latency.moc"
