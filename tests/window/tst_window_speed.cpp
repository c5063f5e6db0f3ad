#include "core/interpret/random_params.h"
#include "core/io/model_io.h"
#include "tests/support/build_graph.h"
#include "tests/widgets/graphview/graph_fixture.h"
#include "tests/window/window_fixture.h"
#include "widgets/graphview/canvas.h"
#include "widgets/plots/custom_plot.h"
#include "widgets/plots/error_plot.h"

#include <QElapsedTimer>

#include <algorithm>
#include <array>
#include <chrono>
#include <ctime>
#include <limits>
#include <map>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

using namespace halftone;
using app::MainWindow;

namespace {

#ifdef NDEBUG
constexpr double kSlack = 1;
#else
constexpr double kSlack = 10; // unoptimised
#endif

double quantile(std::vector<double> values, double q)
{
    std::ranges::sort(values);
    return values[static_cast<std::size_t>(q * static_cast<double>(values.size() - 1))];
}

/// How much slower this machine is now than a quiet one of the kind that the limits were set on: the same little work, which is
/// none of the program's, takes so many times as long. At least 1.
double slownessNow()
{
#ifdef NDEBUG
    constexpr double kOnAQuietMachineMs = 2.2;
#else
    constexpr double kOnAQuietMachineMs = 11.0;
#endif
    QElapsedTimer timer;
    timer.start();
    std::map<std::string, std::vector<int>> table;
    for (int i = 0; i < 6000; ++i)
        table["name of a node " + std::to_string(i * 7919 % 6000)].push_back(i);
    const double elapsed = static_cast<double>(timer.nsecsElapsed()) / 1e6;
    return table.size() == 6000 ? std::max(1.0, elapsed / kOnAQuietMachineMs) : 1;
}

/// Milliseconds that this thread has computed.
double threadMs()
{
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6;
}

/// The longest time for which the event loop did not turn, in milliseconds.
class Watchdog : public QObject
{
public:
    Watchdog()
    {
        forget();
        startTimer(1);
    }
    double longestMs() const { return m_longest; }
    double longestWorkMs() const
    {
        return m_longestWork;
    } ///< of which the thread computed; neighbours do not lengthen it
    void forget()
    {
        m_longest = m_longestWork = 0;
        m_clock.start();
        m_worked = threadMs();
    }

protected:
    void timerEvent(QTimerEvent *) override
    {
        m_longest = std::max(m_longest, static_cast<double>(m_clock.nsecsElapsed()) / 1e6);
        m_clock.start();
        const double before = std::exchange(m_worked, threadMs());
        m_longestWork = std::max(m_longestWork, m_worked - before);
    }

private:
    QElapsedTimer m_clock;
    double m_longest = 0;
    double m_worked = 0;
    double m_longestWork = 0;
};

QString longModel(const QTemporaryDir &folder, int blocks)
{
    const QString path = folder.filePath(QStringLiteral("long-symbol.json"));
    QFile file(path);
    if (!file.open(QIODevice::WriteOnly))
        qFatal("cannot write %s", qPrintable(path));
    file.write(test::residualSymbol(blocks));
    return path;
}

/// ResNet-50 v1 (He et al. 2015, table 1) with parameters drawn at random, written as a person would have it.
QString resnet50(const QTemporaryDir &folder)
{
    test::GraphBuilder g;
    const auto conv = [&g](const graph::Entry &x, const std::string &name, int filters, int kernel,
                           int stride, bool isActive) {
        const auto pair
            = [](int value) { return '(' + std::to_string(value) + ", " + std::to_string(value) + ')'; };
        auto y = g.op("Convolution", name + "_conv", {x, g.variable(name + "_weight")},
                      {{"num_filter", std::to_string(filters)},
                       {"kernel", pair(kernel)},
                       {"stride", pair(stride)},
                       {"pad", pair(kernel / 2)},
                       {"no_bias", "True"}});
        y = g.op("BatchNorm", name + "_bn",
                 {y, g.variable(name + "_gamma"), g.variable(name + "_beta"),
                  g.variable(name + "_running_mean"), g.variable(name + "_running_var")},
                 {{"fix_gamma", "False"}});
        return isActive ? g.op("Activation", name + "_relu", {y}, {{"act_type", "relu"}}) : y;
    };
    auto x = conv(g.variable("data"), "stem", 64, 7, 2, true);
    x = g.op("Pooling", "stem_pool", {x},
             {{"kernel", "(3, 3)"}, {"stride", "(2, 2)"}, {"pad", "(1, 1)"}, {"pool_type", "max"}});
    constexpr std::array kUnits{3, 4, 6, 3};
    for (int stage = 0; stage < 4; ++stage) {
        for (int unit = 0; unit < kUnits[static_cast<std::size_t>(stage)]; ++unit) {
            const std::string name = "stage" + std::to_string(stage + 1) + "_unit" + std::to_string(unit + 1);
            const int narrow = 64 << stage;
            const int stride = unit == 0 && stage > 0 ? 2 : 1;
            auto y = conv(x, name + "_a", narrow, 1, stride, true);
            y = conv(y, name + "_b", narrow, 3, 1, true);
            y = conv(y, name + "_c", 4 * narrow, 1, 1, false);
            const auto skip = unit == 0 ? conv(x, name + "_skip", 4 * narrow, 1, stride, false) : x;
            x = g.op("elemwise_add", name + "_add", {y, skip});
            x = g.op("Activation", name + "_relu", {x}, {{"act_type", "relu"}});
        }
    }
    x = g.op("Pooling", "pool", {x}, {{"global_pool", "True"}, {"kernel", "(7, 7)"}, {"pool_type", "avg"}});
    x = g.op("FullyConnected", "fc", {x, g.variable("fc_weight"), g.variable("fc_bias")},
             {{"num_hidden", "1000"}});
    const auto model
        = interpret::withRandomParameters(g.model({x}), {{"data", tensor::Shape{1, 3, 224, 224}}}, 1);
    if (!model.ok())
        qFatal("%s", model.error().message().c_str());
    const QString prefix = folder.filePath(QStringLiteral("resnet50"));
    if (!io::saveModel(model.value(), prefix.toStdString(), {}).ok())
        qFatal("cannot write %s", qPrintable(prefix));
    return prefix + QStringLiteral("-symbol.json");
}

} // namespace

/// Prints the product's figures, measured through the real window off screen; the limits are those of an optimised build.
class TestWindowSpeed : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void anEditIsConvertedAndPaintedInTime_data()
    {
        QTest::addColumn<int>("blocks");
        QTest::addColumn<double>("limitMs");
        QTest::newRow("1,000 operators") << 200 << 16.0;
        QTest::newRow("10,000 operators") << 2000 << 50.0;
    }
    void anEditIsConvertedAndPaintedInTime()
    {
        QFETCH(int, blocks);
        QFETCH(double, limitMs);
        const QTemporaryDir folder;
        MainWindow window;
        window.resize(1600, 1000);
        window.show();
        window.open(longModel(folder, blocks));
        QVERIFY(test::settle(window));
        std::vector<double> times;
        std::vector<double> fairTimes; // as on a quiet machine
        double slowness = slownessNow();
        for (int i = 0; i < 60; ++i) {
            QElapsedTimer timer;
            timer.start();
            window.controller().apply(
                policy::MoveOperators{{"Convolution"}, i % 2 ? policy::List::Target : policy::List::Fp32});
            // On long models the conversion comes from a job.
            while (window.controller().snapshot()->revision != window.controller().document()->revision())
                QCoreApplication::processEvents(QEventLoop::WaitForMoreEvents);
            window.graphView().canvas()->repaint();
            times.push_back(static_cast<double>(timer.nsecsElapsed()) / 1e6);
            const double before = std::exchange(slowness, slownessNow());
            fairTimes.push_back(times.back() / std::midpoint(before, slowness));
            QTest::qWait(5);
        }
        qInfo("%d operators: edit to painted, median %.1f ms, p95 %.1f ms; on a quiet machine p95 %.1f ms",
              blocks * 5, quantile(times, 0.5), quantile(times, 0.95), quantile(fairTimes, 0.95));
        QVERIFY(quantile(fairTimes, 0.95) < limitMs * kSlack);
    }

    void aLongModelOpensToAFirstPicture()
    {
        const QTemporaryDir folder;
        const QString path = longModel(folder, 2000);
        MainWindow window;
        window.resize(1600, 1000);
        window.show();
        QElapsedTimer timer;
        timer.start();
        window.open(path);
        QVERIFY(QTest::qWaitFor(
            [&window] { return window.graphView().scene() && !window.graphView().isBusy(); }, 30000));
        window.graphView().canvas()->repaint();
        qInfo("10,000 operators: first picture after %lld ms", static_cast<long long>(timer.elapsed()));
        QVERIFY(static_cast<double>(timer.elapsed()) < 2000 * kSlack);
    }

    void aNetworkOf25MillionParametersOpensWithinASecond()
    {
        const QTemporaryDir folder;
        const QString path = resnet50(folder);
        MainWindow window;
        window.resize(1600, 1000);
        window.show();
        QTest::qWait(50);
        QElapsedTimer timer;
        timer.start();
        window.open(path);
        QVERIFY(QTest::qWaitFor(
            [&window] { return window.graphView().scene() && !window.graphView().isBusy(); }, 30000));
        window.graphView().canvas()->repaint();
        const auto elapsed = timer.elapsed();
        std::size_t parameters = 0;
        for (const tensor::Array &array : window.controller().snapshot()->source->model.parameters)
            parameters += array.values.elementCount();
        qInfo("ResNet-50, %.1f M parameters: first picture after %lld ms",
              static_cast<double>(parameters) / 1e6, static_cast<long long>(elapsed));
        QVERIFY(parameters > 25'000'000);
        QVERIFY(static_cast<double>(elapsed) < 1000 * kSlack);
    }

    /// Compared with what converting the model takes on one thread, which the window waited for once.
    void openingALargeModelLeavesTheWindowAwake()
    {
        const QTemporaryDir folder;
        const QString path = longModel(folder, 10000);
        double conversionMs = 0;
        {
            const auto document = session::Document::open(path.toStdString());
            QVERIFY(document.ok());
            const double before = threadMs();
            QVERIFY(session::Document::derive(document.value()->request(), nullptr).ok());
            conversionMs = threadMs() - before;
        }
        MainWindow window;
        window.resize(1600, 1000);
        window.show();
        QTest::qWait(50);
        Watchdog watchdog;
        const auto longest = [&](const char *what) {
            QTest::qWait(400); // names of layers follow a moment later
            if (!test::settle(window))
                return std::numeric_limits<double>::infinity();
            qInfo("%s: pause of the event loop %.0f ms at most, %.0f ms of work; a conversion takes %.0f ms",
                  what, watchdog.longestMs(), watchdog.longestWorkMs(), conversionMs);
            const double work = watchdog.longestWorkMs();
            watchdog.forget();
            return work;
        };
        window.open(path);
        QVERIFY(test::settle(window));
        QVERIFY(window.controller().snapshot()->converted);
        QVERIFY(longest("50,000 operators") < conversionMs / 2);
        window.openSample(test::mxnetSample()); // what was shown goes
        QVERIFY(test::settle(window));
        QVERIFY(longest("another model after that") < conversionMs / 2);
    }

    /// While figures of 2,000 layers come twenty times a second, once every panel was in front: what a person does is painted at
    /// once, and what is behind is not drawn at all. Only this thread's time counts, which neighbours do not lengthen.
    void figuresThatComeLeaveTheWindowAwake_data()
    {
        QTest::addColumn<QString>("inFront");
        QTest::newRow("layers") << QStringLiteral("layers");
        QTest::newRow("error") << QStringLiteral("error");
    }
    void figuresThatComeLeaveTheWindowAwake()
    {
        QFETCH(QString, inFront);
        const QTemporaryDir folder;
        MainWindow window;
        window.resize(1600, 1000);
        window.show();
        window.open(longModel(folder, 400));
        QVERIFY(test::settle(window));
        session::Figures figures;
        auto outcome = std::make_shared<walks::CompareOutcome>();
        outcome->isWhole = false;
        outcome->comparison.threshold = 30;
        figures.comparison = outcome;
        figures.comparisonRevision = window.controller().snapshot()->revision;
        figures.nodes.resize(window.controller().snapshot()->graph().nodeCount());
        int step = 0;
        const auto comes = [&] {
            for (std::size_t k = 0; k < figures.nodes.size(); ++k) {
                tensor::ErrorFigures error;
                error.sqnrDb = 40 + static_cast<double>((k * 7919 + static_cast<std::size_t>(step)) % 50);
                figures.nodes[k].cumulative = figures.nodes[k].isolated = error;
            }
            ++step;
            window.controller().setFigures(figures);
        };
        comes();
        for (const char *view : {"layers", "error", "blocks", "latency", "calibration", "tune", "messages"}) {
            window.showView(QString::fromLatin1(view));
            QTest::qWait(50);
        }
        window.showView(inFront);
        QTest::qWait(100);
        auto *const plot = window.findChild<widgets::ErrorPlot *>();
        QVERIFY(plot);
        int draws = 0;
        connect(plot->plot(), &QCustomPlot::afterReplot, this, [&draws] { ++draws; });
        std::vector<double> times;
        for (int k = 0; k < 60; ++k) {
            const double before = threadMs();
            comes();
            QTest::mouseMove(window.graphView().canvas(), QPoint(300 + k, 200));
            window.graphView().canvas()->repaint();
            QCoreApplication::processEvents();
            times.push_back(threadMs() - before);
            QTest::qWait(20);
        }
        qInfo("2,000 layers, %s in front: input to paint median %.1f ms, p99 %.1f ms; Error drawn %d times",
              qPrintable(inFront), quantile(times, 0.5), quantile(times, 0.99), draws);
        QVERIFY(quantile(times, 0.99) < 50 * kSlack);
        if (inFront != u"error")
            QCOMPARE(draws, 0);
        else
            QVERIFY(draws > 0 && draws <= 60);
    }

    void theWindowsThreadIsNeverBlockedForLong()
    {
        MainWindow window;
        window.resize(1600, 1000);
        window.show();
        Watchdog watchdog;
        window.openSample(test::mxnetSample());
        QVERIFY(test::settle(window));
        QTest::qWait(50);
        watchdog.forget();
        for (int i = 0; i < 20; ++i) {
            window.controller().apply(
                policy::MoveOperators{{"sum"}, i % 2 ? policy::List::Target : policy::List::Fp32});
            QTest::qWait(25); // jobs run and are overtaken
        }
        QVERIFY(test::settle(window));
        qInfo("longest pause of the event loop while jobs run: %.0f ms", watchdog.longestMs());
        QVERIFY(watchdog.longestMs() < 100 * kSlack);
    }
};

HALFTONE_WINDOW_TEST(TestWindowSpeed)
#include "tst_window_speed.moc"
