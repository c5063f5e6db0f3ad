#include "tests/widgets/models/sample_document.h"
#include "widgets/common/elided_label.h"
#include "widgets/common/precision_palette.h"
#include "widgets/models/latency_words.h"
#include "widgets/plots/custom_plot.h"
#include "widgets/plots/error_plot.h"
#include "widgets/plots/histogram_bins.h"
#include "widgets/plots/latency_plot.h"

#include <QCoreApplication>
#include <QDockWidget>
#include <QElapsedTimer>
#include <QFile>
#include <QHelpEvent>
#include <QIODevice>
#include <QMainWindow>
#include <QPoint>
#include <QTemporaryDir>
#include <QTest>
#include <QToolTip>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <limits>
#include <numeric>

using namespace halftone;
using namespace halftone::widgets;

namespace {

double threadMs()
{
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6;
}

/// A drawing that takes the thread's time.
class CostlyPlot : public PlotPanel
{
public:
    static constexpr double kCostMs = 40;

    explicit CostlyPlot(DocumentController *controller)
        : PlotPanel(controller, QStringLiteral("costly"), nullptr)
    {
    }
    QString csv() const override { return {}; }

    int draws = 0;
    std::uint64_t drawn = 0; ///< revision of the figures

protected:
    void rebuild() override
    {
        const double begun = threadMs();
        while (threadMs() - begun < kCostMs) { }
        ++draws;
        drawn = controller()->figures().comparisonRevision;
        showPlot();
    }
    void fitAxes() override { }
    QString textAt(const QPointF &) const override { return {}; }
    void pick(const QPointF &) override { }
};

/// A chain of operators as a symbol, with as many layers, and one layer of integers beside it.
std::unique_ptr<session::Document> chain(const QTemporaryDir &folder, int layers)
{
    QStringList nodes{QString::fromLatin1(R"({"op":"null","name":"data","inputs":[]})")};
    for (int k = 0; k < layers; ++k)
        nodes << QString::fromLatin1(R"({"op":"%1","name":"layers.%2.n%3","inputs":[[%4,0,0]]})")
                     .arg(k % 2 == 0 ? QLatin1String("exp") : QLatin1String("tanh"))
                     .arg(k / 10)
                     .arg(k % 10)
                     .arg(k);
    nodes << QString::fromLatin1(R"({"op":"shape_array","name":"shape","inputs":[[0,0,0]]})");
    QFile file(folder.filePath(QStringLiteral("chain-symbol.json")));
    if (!file.open(QIODevice::WriteOnly))
        qFatal("cannot write the chain");
    file.write(
        QString::fromLatin1(
            R"({"nodes":[%1],"arg_nodes":[0],"heads":[[%2,0,0]],"attrs":{"mxnet_version":["int",10901]}})")
            .arg(nodes.join(QLatin1Char(',')))
            .arg(layers)
            .toUtf8());
    file.close();
    auto opened = session::Document::open(file.fileName().toStdString());
    if (!opened.ok())
        qFatal("%s", opened.error().message().c_str());
    return std::move(opened).value();
}

tensor::ErrorFigures errorOf(double sqnrDb)
{
    tensor::ErrorFigures figures;
    figures.sqnrDb = sqnrDb;
    return figures;
}

} // namespace

class TestPlots : public QObject
{
    Q_OBJECT

private:
    DocumentController m_controller;
    session::Figures m_figures;

    graph::NodeId node(const char *name) const
    {
        return test::nodeNamed(m_controller.snapshot()->graph(), name);
    }
    template <class Plot>
    std::unique_ptr<Plot> shown()
    {
        auto plot = std::make_unique<Plot>(&m_controller);
        plot->resize(900, 320);
        plot->show();
        if (!QTest::qWaitForWindowExposed(plot.get()))
            qFatal("no window");
        QCoreApplication::processEvents();
        return plot;
    }

private Q_SLOTS:
    void initTestCase()
    {
        m_controller.setDocument(test::openSample());
        QVERIFY(m_controller.snapshot());
        m_figures = test::comparedFigures(*m_controller.snapshot(), 4);
        QVERIFY(m_figures.comparison);
        auto latency = std::make_shared<session::LatencyFigures>();
        latency->fp32.layers.push_back({{}, 20, 15});
        m_figures.latency = latency;
        m_figures.latencyRevision = m_controller.snapshot()->revision;
        for (const char *fused : {"stem_conv", "stem_bn"})
            m_figures.nodes[node(fused)].fp32 = session::NodeLatency{20, 0, 1};
    }

    void init()
    {
        test::failOnWarnings();
        m_controller.setFigures(m_figures);
        m_controller.selection().clear();
        m_controller.selection().hover(std::nullopt);
    }

    void emptyPlotsSayWhichStepFillsThem()
    {
        m_controller.setFigures({});
        QVERIFY(shown<ErrorPlot>()->emptyText().contains(QStringLiteral("errors")));
        QVERIFY(shown<LatencyPlot>()->emptyText().contains(QStringLiteral("latency")));
    }

    void errorsAreDrawnAtTheirLayer()
    {
        const auto plot = shown<ErrorPlot>();
        QVERIFY(plot->emptyText().isEmpty());
        const QCPGraph *const cumulative = plot->plot()->graph(0);
        // prob is the last of 29 operators.
        const double sqnr = m_figures.nodes[node("prob")].cumulative->sqnrDb;
        const auto last = cumulative->data()->constEnd() - 1;
        QCOMPARE(last->key, 29.0);
        QCOMPARE(last->value, sqnr);
        // Layers without any error have no point.
        const auto isDrawn = [](const session::NodeFigures &figures) {
            return figures.cumulative
                && !(std::isinf(figures.cumulative->sqnrDb) && figures.cumulative->sqnrDb > 0);
        };
        QCOMPARE(cumulative->dataCount(), std::ranges::count_if(m_figures.nodes, isDrawn));
    }

    void onlyWhatRoundingCanChangeIsDrawn()
    {
        const QTemporaryDir folder;
        DocumentController controller;
        controller.setDocument(chain(folder, 20));
        session::Figures figures;
        figures.comparison = std::make_shared<const walks::CompareOutcome>();
        figures.nodes.resize(controller.snapshot()->graph().nodeCount());
        const double exact = std::numeric_limits<double>::infinity();
        for (session::NodeFigures &one : figures.nodes)
            one.cumulative = one.isolated = errorOf(60);
        for (std::size_t k = 1; k <= 5; ++k) // node 0 is the input
            figures.nodes[k].cumulative = figures.nodes[k].isolated = errorOf(exact);
        figures.nodes[8].cumulative = errorOf(147); // no more than float32's own rounding
        figures.nodes[9].cumulative = errorOf(-12);
        ErrorPlot plot(&controller);
        plot.resize(900, 320);
        plot.show();
        QVERIFY(QTest::qWaitForWindowExposed(&plot));
        controller.setFigures(figures);
        const QCPGraph &cumulative = *plot.plot()->graph(0);
        QTRY_COMPARE(cumulative.dataCount(), 15);
        QCOMPARE(cumulative.data()->constBegin()->key, 6.0);
        QCOMPARE(plot.plot()->graph(1)->dataCount(), 15);
        QCOMPARE((cumulative.data()->constEnd() - 1)->key, 20.0); // integers have no place
        QVERIFY(plot.plot()->xAxis->range().upper < 21);
        const QCPRange decibels = plot.plot()->yAxis->range();
        QVERIFY2(decibels.upper >= 120 && decibels.upper <= 126, qPrintable(QString::number(decibels.upper)));
        for (const QCPGraphData &one : *cumulative.data())
            QVERIFY(decibels.contains(one.value));
        QVERIFY2(plot.readOut().startsWith(QStringLiteral("5 of 20 layers are exact")),
                 qPrintable(plot.readOut()));
    }

    /// One layer in hundreds that is bad stays in sight.
    void isolatedErrorsOfManyLayersAreABandPerBlock()
    {
        const QTemporaryDir folder;
        DocumentController controller;
        controller.setDocument(chain(folder, 500)); // blocks of ten
        session::Figures figures;
        figures.comparison = std::make_shared<const walks::CompareOutcome>();
        figures.nodes.resize(controller.snapshot()->graph().nodeCount());
        const double exact = std::numeric_limits<double>::infinity();
        for (std::size_t k = 0; k < 500; ++k) {
            session::NodeFigures &one = figures.nodes[k + 1]; // node 0 is the input
            one.cumulative = errorOf(40);
            one.isolated = errorOf(k / 10 == 3 ? exact : 50 + static_cast<double>(k % 10));
        }
        figures.nodes[75].isolated = errorOf(5);
        ErrorPlot plot(&controller);
        plot.resize(900, 320);
        plot.show();
        QVERIFY(QTest::qWaitForWindowExposed(&plot));
        controller.setFigures(figures);
        QTRY_COMPARE(plot.plot()->graph(1)->dataCount(), 100); // the graph's blocks
        const auto in = [&](int graph, int block) { // where a block begins and ends
            const auto data = plot.plot()->graph(graph)->data();
            const auto from = data->at(2 * block);
            const auto to = data->at(2 * block + 1);
            return from->key == block * 10 + 0.5 && to->key == block * 10 + 10.5 ? from->value : -1.0;
        };
        QCOMPARE(in(1, 0), 50.0);
        QVERIFY(in(2, 0) >= 54 && in(2, 0) <= 55);
        QCOMPARE(in(1, 7), 5.0); // the outlier
        QVERIFY(in(2, 7) >= 53 && in(2, 7) <= 55);
        QVERIFY(std::isnan(in(1, 3)) && std::isnan(in(2, 3))); // nothing but exact layers
        QVERIFY(plot.plot()->graph(2)->visible());
        QVERIFY(plot.plot()->legend->hasItemWithPlottable(plot.plot()->graph(2)));
        plot.plot()->replot();
        QTest::mouseMove(
            plot.plot(),
            {static_cast<int>(plot.plot()->xAxis->coordToPixel(72)), plot.plot()->axisRect()->center().y()});
        QTRY_VERIFY2(plot.readOut().endsWith(QStringLiteral("; worst of layers.7: 5.0 dB")),
                     qPrintable(plot.readOut()));
    }

    void aClickChoosesTheLayerUnderIt()
    {
        const auto plot = shown<ErrorPlot>();
        plot->plot()->replot();
        // stem_conv is the seventh operator.
        const QPoint place(static_cast<int>(plot->plot()->xAxis->coordToPixel(7)),
                           plot->plot()->axisRect()->center().y());
        QTest::mouseClick(plot->plot(), Qt::LeftButton, {}, place);
        QCOMPARE(m_controller.selection().current(), std::optional(node("stem_conv")));
        QTest::mouseMove(plot->plot(), place + QPoint(1, 1));
        QTRY_VERIFY(plot->readOut().startsWith(QStringLiteral("stem_conv: cumulative ")));
    }

    /// Hovering one panel marks the same layer in the others.
    void whatIsHoveredIsMarkedHereAndElsewhere()
    {
        const auto plot = shown<ErrorPlot>();
        plot->plot()->replot();
        const QCPAxis *const axis = plot->plot()->xAxis;
        const auto *const mark = plot->plot()->findChild<QCPItemRect *>();
        QVERIFY(mark && !mark->visible());
        const QPoint place(static_cast<int>(axis->coordToPixel(7)), plot->plot()->axisRect()->center().y());
        QTest::mouseMove(plot->plot(), place);
        QTRY_COMPARE(m_controller.selection().hovered(), std::optional(node("stem_conv")));
        QVERIFY(m_controller.selection().nodes().empty());
        QEvent leave(QEvent::Leave);
        QCoreApplication::sendEvent(plot->plot(), &leave);
        QVERIFY(!m_controller.selection().hovered());
        QVERIFY(!mark->visible());

        m_controller.selection().hover(node("prob"));
        QVERIFY(mark->visible());
        QCOMPARE(mark->topLeft->key(), 28.5); // the last of 29 operators
        QCOMPARE(mark->bottomRight->key(), 29.5);
        QVERIFY(plot->readOut().startsWith(QStringLiteral("prob: cumulative ")));
    }

    void namesOfLayersStandBelowTheAxisAndAreClicked()
    {
        const auto plot = shown<ErrorPlot>();
        plot->plot()->replot();
        QCPAxis *const axis = plot->plot()->xAxis;
        const QVector<double> places = axis->tickVector();
        const QVector<QString> names = axis->tickVectorLabels();
        const QFontMetrics metrics(axis->tickLabelFont());
        double end = -1e9;
        int written = 0;
        for (qsizetype k = 0; k < places.size(); ++k) {
            if (places[k] < axis->range().lower || places[k] > axis->range().upper)
                continue;
            QVERIFY(!names[k].isEmpty());
            const double middle = axis->coordToPixel(places[k]);
            const double half = metrics.horizontalAdvance(names[k]) / 2.0;
            QVERIFY2(middle - half > end, qPrintable(names[k])); // none touches the one before
            end = middle + half;
            ++written;
        }
        QVERIFY2(written >= 5, qPrintable(QString::number(written)));
        QVERIFY(end <= plot->plot()->width() + 1);
        // Any part of a name stands for its layer, also where it lies below its neighbours.
        const double second = places[places.indexOf(1.0) + 1];
        const QPoint onName(static_cast<int>(axis->coordToPixel(second)) + metrics.averageCharWidth() * 4,
                            plot->plot()->axisRect()->rect().bottom() + metrics.height());
        QTest::mouseClick(plot->plot(), Qt::LeftButton, {}, onName);
        const graph::Graph &graph = m_controller.snapshot()->graph();
        const auto current = m_controller.selection().current();
        QVERIFY(current);
        graph::NodeId layer = 0;
        for (double at = 0; layer < graph.nodeCount(); ++layer) {
            at += graph.isVariable(layer) ? 0 : 1;
            if (at == second)
                break;
        }
        QCOMPARE(*current, layer);
        QHelpEvent help(QEvent::ToolTip, onName, plot->plot()->mapToGlobal(onName));
        QCoreApplication::sendEvent(plot->plot(), &help);
        QCOMPARE(QToolTip::text(), QString::fromStdString(graph.node(layer).name));
        QToolTip::hideText();
    }

    void axesFollowFiguresUnlessAPersonHasMovedThem()
    {
        const auto plot = shown<LatencyPlot>();
        const QCPAxis *const axis = plot->plot()->yAxis;
        session::Figures slower = m_figures;
        slower.nodes[node("stem_conv")].fp32 = session::NodeLatency{900, 0, 0};
        m_controller.setFigures(slower);
        QTRY_VERIFY2(axis->range().upper > 900, qPrintable(QString::number(axis->range().upper)));
        QTest::keyClick(plot.get(), Qt::Key_Up);
        const QCPRange moved = axis->range();
        slower.nodes[node("stem_conv")].fp32->microseconds = 9000;
        m_controller.setFigures(slower);
        QCOMPARE(axis->range().upper, moved.upper);
        QTest::keyClick(plot.get(), Qt::Key_Home);
        QTRY_VERIFY(axis->range().upper > 9000);
    }

    void behindATabNothingIsDrawn()
    {
        QMainWindow window;
        auto *const front = new QDockWidget(QStringLiteral("front"), &window);
        auto *const back = new QDockWidget(QStringLiteral("back"), &window);
        auto *const plot = new ErrorPlot(&m_controller);
        front->setWidget(new QLabel);
        back->setWidget(plot);
        window.setCentralWidget(new QLabel);
        window.addDockWidget(Qt::BottomDockWidgetArea, front);
        window.addDockWidget(Qt::BottomDockWidgetArea, back);
        window.tabifyDockWidget(front, back);
        back->raise();
        window.resize(900, 700);
        window.show();
        QVERIFY(QTest::qWaitForWindowExposed(&window));
        QTRY_COMPARE(plot->plot()->graph(0)->dataCount(),
                     23); // seen once: of 29 layers, ReLU and Flatten round nothing
        front->raise();
        QTest::qWait(50);
        int draws = 0;
        connect(plot->plot(), &QCustomPlot::afterReplot, this, [&draws] { ++draws; });
        session::Figures figures = m_figures;
        const graph::NodeId last = node("prob");
        for (int k = 0; k < 20; ++k) {
            figures.nodes[last].cumulative->sqnrDb = 20 + k;
            m_controller.setFigures(figures);
            m_controller.selection().set(node("stem_conv"));
            m_controller.selection().hover(node("stem_conv"));
            QCoreApplication::processEvents();
        }
        QTest::qWait(50);
        QVERIFY(plot->isVisible()); // for Qt
        QCOMPARE(draws, 0);
        back->raise();
        QTRY_VERIFY(draws > 0);
        QCOMPARE((plot->plot()->graph(0)->data()->constEnd() - 1)->value, 39.0);
    }

    /// A drawing that takes long is drawn so seldom that the window has most of the time, and the last figures come.
    void drawingTakesAFifthOfTheTime()
    {
        CostlyPlot plot(&m_controller);
        plot.resize(300, 200);
        plot.show();
        QVERIFY(QTest::qWaitForWindowExposed(&plot));
        const int before = plot.draws;
        session::Figures figures = m_figures;
        QElapsedTimer timer;
        timer.start();
        for (std::uint64_t k = 1; timer.elapsed() < 1000; ++k) {
            figures.comparisonRevision = k;
            m_controller.setFigures(figures);
            QTest::qWait(10);
        }
        const double drawing = (plot.draws - before) * CostlyPlot::kCostMs;
        const double share = drawing / static_cast<double>(timer.elapsed());
        qInfo("%d drawings, %.0f %% of the time", plot.draws - before, 100 * share);
        QVERIFY(plot.draws - before >= 1);
        QVERIFY(share < 0.3);
        QTRY_COMPARE(plot.drawn, figures.comparisonRevision);
    }

    /// What the mouse is over is marked without drawing the curves anew.
    void theMarkIsDrawnAlone()
    {
        const auto plot = shown<ErrorPlot>();
        plot->plot()->replot();
        QTest::qWait(50); // those that are queued
        int draws = 0;
        connect(plot->plot(), &QCustomPlot::afterReplot, this, [&draws] { ++draws; });
        for (const char *name : {"stem_conv", "prob", "stem_bn"}) {
            m_controller.selection().hover(node(name));
            m_controller.selection().set(node(name));
            QTest::qWait(5);
        }
        QCOMPARE(draws, 0);
    }

    /// Wide curves of thousands of points take half a second.
    void curvesOfManyLayersAreThin()
    {
        const QTemporaryDir folder;
        DocumentController controller;
        controller.setDocument(chain(folder, 2000));
        session::Figures figures;
        figures.comparison = std::make_shared<const walks::CompareOutcome>();
        figures.nodes.resize(controller.snapshot()->graph().nodeCount());
        for (std::size_t k = 0; k < figures.nodes.size(); ++k)
            figures.nodes[k].cumulative = errorOf(50 + 20 * std::sin(static_cast<double>(k)));
        ErrorPlot plot(&controller);
        plot.resize(900, 320);
        plot.show();
        QVERIFY(QTest::qWaitForWindowExposed(&plot));
        controller.setFigures(figures);
        QTRY_COMPARE(plot.plot()->graph(0)->dataCount(), 2000);
        const QCPGraph &curve = *plot.plot()->graph(0);
        QVERIFY(curve.pen().widthF() <= 1);
        QVERIFY(curve.adaptiveSampling()); // no more points than pixels
        QVERIFY(curve.scatterStyle().isNone());
    }

    /// The whole network's time, in the status bar's words, and bars of the type that was timed: bfloat16's are not float16's.
    void latencyIsToldInWordsAndInTheTargetsColour()
    {
        auto latency = std::make_shared<session::LatencyFigures>(*m_figures.latency);
        latency->native = true;
        latency->versus = {0.8, 0.75, {0.71, 0.79}};
        session::Figures figures = m_figures;
        figures.latency = latency;
        const auto plot = shown<LatencyPlot>();
        const auto *const mixed = qobject_cast<QCPBars *>(plot->plot()->plottable(2));
        QVERIFY(mixed);
        for (const tensor::DType target : {tensor::DType::BF16, tensor::DType::F16}) {
            m_controller.apply(policy::SetTarget{target});
            figures.latencyRevision = m_controller.snapshot()->revision;
            m_controller.setFigures(figures);
            QCOMPARE(plot->readOut(), latencyWords(*latency, target).sentence());
            QColor colour = mixed->brush().color();
            colour.setAlpha(255);
            QCOMPARE(colour.rgb(), precisionLook(target, isDark(plot->palette())).colour.rgb());
        }
        figures.latencyRevision = m_controller.snapshot()->revision - 1;
        m_controller.setFigures(figures);
        QCOMPARE(plot->readOut(),
                 QStringLiteral("before the last edit: ")
                     + latencyWords(*latency, tensor::DType::F16).sentence());
        m_controller.undo();
        m_controller.undo();
    }

    /// In words and in the colour of warnings; what is under the cursor is no warning.
    void latencyThatGainsNothingIsAWarning()
    {
        auto latency = std::make_shared<session::LatencyFigures>(*m_figures.latency);
        latency->native = true;
        latency->fp32.medianMs = latency->fp32.minMs = latency->mixed.medianMs = latency->mixed.minMs = 1;
        latency->versus = {0.8, 1.42, {1.38, 1.46}};
        session::Figures figures = m_figures;
        figures.latency = latency;
        figures.latencyRevision = m_controller.snapshot()->revision;
        const auto plot = shown<LatencyPlot>();
        const QList<QLabel *> labels = plot->findChildren<QLabel *>();
        const auto found = std::ranges::find(labels, plot->readOut(), &QLabel::text);
        QVERIFY(found != labels.end());
        const auto *const line = dynamic_cast<const ElidedLabel *>(*found);
        QVERIFY(line);
        QCOMPARE(line->warnsFrom(), ElidedLabel::kNowhere);
        m_controller.setFigures(figures);
        QVERIFY2(plot->readOut().contains(QStringLiteral("no speed-up on this machine")),
                 qPrintable(plot->readOut()));
        QCOMPARE(line->warnsFrom(), qsizetype{0});
        const QColor warning = warningColour(line->palette());
        const QImage drawn = plot->grab().toImage();
        const QRect place(line->mapTo(plot.get(), QPoint()), line->size());
        bool isSeen = false;
        for (int y = place.top(); y <= place.bottom(); ++y)
            for (int x = place.left(); x <= place.right(); ++x)
                isSeen = isSeen || drawn.pixelColor(x, y) == warning;
        QVERIFY(isSeen);
        latency = std::make_shared<session::LatencyFigures>(*latency);
        latency->native = false;
        figures.latency = latency;
        m_controller.setFigures(figures);
        QVERIFY2(plot->readOut().contains(QStringLiteral("is emulated on this machine")),
                 qPrintable(plot->readOut()));
        QCOMPARE(line->warnsFrom(), ElidedLabel::kNowhere);
    }

    void whatIsFusedIsDrawnOnce()
    {
        const auto plot = shown<LatencyPlot>();
        const auto *const bars = qobject_cast<QCPBars *>(plot->plot()->plottable(0));
        QVERIFY(bars);
        QCOMPARE(bars->dataCount(), 1);
        QCOMPARE(bars->data()->at(0)->value, 20.0);
        QVERIFY(plot->csv().contains(QStringLiteral("stem_bn,20,,1")));
    }

    void joinedBinsKeepTheCount()
    {
        calibration::Histogram histogram;
        std::vector<float> values(10001);
        std::iota(values.begin(), values.end(), -5000.0F);
        histogram.add(values, 5000);
        for (const std::size_t most : {1U, 7U, 400U, 100000U}) {
            const auto bins = drawnBins(histogram, -5000, 5000, most);
            QVERIFY(bins.size() <= most);
            double count = 0;
            for (const DrawnBin &bin : bins)
                count += bin.count;
            QCOMPARE(count, 10001.0);
        }
        QVERIFY(drawnBins(histogram, 1, 1, 10).empty());
        QVERIFY(drawnBins(calibration::Histogram(), -1, 1, 10).empty());
        // Only what lies in the range, give or take the bins at its edges.
        double count = 0;
        for (const DrawnBin &bin : drawnBins(histogram, 100, 200, 400))
            count += bin.count;
        QVERIFY(count >= 101 && count <= 105);
    }

    void exportsArePicturesDocumentsAndFigures()
    {
        const auto plot = shown<ErrorPlot>();
        const QTemporaryDir folder;
        const auto write
            = [&](const char *name) { return plot->exportTo(folder.filePath(QLatin1String(name))); };
        const auto start = [&](const char *name) {
            QFile file(folder.filePath(QLatin1String(name)));
            return file.open(QIODevice::ReadOnly) ? file.read(8) : QByteArray();
        };
        QVERIFY(write("p.png").ok());
        QVERIFY(start("p.png").startsWith("\x89PNG"));
        QVERIFY(write("p.pdf").ok());
        QVERIFY(start("p.pdf").startsWith("%PDF"));
        QVERIFY(write("p.csv").ok());
        QVERIFY(start("p.csv").startsWith("name,sqn"));
        QVERIFY(!write("p.gif").ok());
        QVERIFY(!write("nowhere/p.png").ok());
    }

    void keysZoomPanAndShowAll()
    {
        const auto plot = shown<ErrorPlot>();
        const QCPRange whole = plot->plot()->xAxis->range();
        QTest::keyClick(plot.get(), Qt::Key_Plus);
        QVERIFY(plot->plot()->xAxis->range().size() < whole.size());
        QTest::keyClick(plot.get(), Qt::Key_Right);
        QTest::keyClick(plot.get(), Qt::Key_Home);
        QCOMPARE(plot->plot()->xAxis->range(), whole);
    }

    void theZoomStaysWhenFiguresChange()
    {
        const auto plot = shown<ErrorPlot>();
        QTest::keyClick(plot.get(), Qt::Key_Plus);
        const QCPRange zoomed = plot->plot()->xAxis->range();
        m_controller.setFigures(m_figures);
        QCOMPARE(plot->plot()->xAxis->range(), zoomed);
    }
};

QTEST_MAIN(TestPlots)
#include "tst_plots.moc"
