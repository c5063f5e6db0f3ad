#include "app/backend_comparison.h"
#include "core/machines/local_chips.h"
#include "tests/support/fake_gpu.h"
#include "tests/window/window_fixture.h"
#include "widgets/plots/latency_plot.h"
#include "widgets/tables/layers_table.h"

#include <QInputDialog>
#include <QMenu>
#include <QMenuBar>
#include <QSignalSpy>
#include <QTableView>

#include <cmath>

using namespace halftone;
using Model = widgets::LayerTableModel;

/// Two backends in one view: the processor and a device of its own (tests/support/fake_gpu.h).
class TestBackends : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void init();
    void nothingIsComparedWithoutData();
    void aDialogAsksForTheOtherOne();
    void whatDiffersStandsBesideTheLayers();
    void otherDataTakeItAway();
    void stopEndsIt();
    void latencyTellsWhatTheDeviceSays();

private:
    void attach();
    QAction *action() const;

    std::unique_ptr<app::MainWindow> m_window;
    widgets::DocumentController &controller() { return m_window->controller(); }
    widgets::LayersTable &table() { return *m_window->findChild<widgets::LayersTable *>(); }
};

void TestBackends::init()
{
    test::failOnWarnings();
    m_window = std::make_unique<app::MainWindow>();
    m_window->open(test::kSampleModel);
    QVERIFY(test::settle(*m_window));
}

void TestBackends::attach()
{
    walks::ExampleOptions data;
    data.inputs = test::kSampleData.toStdString();
    data.examples = 8;
    m_window->jobs().setData(data);
    QVERIFY(test::settleAfterEdit(*m_window));
}

QAction *TestBackends::action() const
{
    for (const QAction *menu : m_window->menuBar()->actions()) {
        for (QAction *one : menu->menu()->actions()) {
            if (one->text().startsWith(u"Compare with"))
                return one;
        }
    }
    return nullptr;
}

void TestBackends::nothingIsComparedWithoutData()
{
    QVERIFY(action() && action()->isEnabled());
    QVERIFY(m_window->backends().whyNot().contains(u"Attach data"));
    action()->trigger();
    QVERIFY(!m_window->findChild<QInputDialog *>());
    app::MainWindow empty;
    QVERIFY(!empty.backends().whyNot().isEmpty());
}

void TestBackends::aDialogAsksForTheOtherOne()
{
    attach();
    action()->trigger();
    QTRY_VERIFY(m_window->findChild<QInputDialog *>());
    auto *const dialog = m_window->findChild<QInputDialog *>();
    const QStringList offered = dialog->comboBoxItems();
    const QString fake = QStringLiteral("fake-gpu: ") + test::kFakeDevice;
    QVERIFY2(offered.contains(fake), qPrintable(offered.join('|')));
    for (const QString &text : offered)
        QVERIFY2(!text.startsWith(u"cpu:"), qPrintable(text)); // that is the one that it is compared with
    dialog->setTextValue(fake);
    QSignalSpy finished(&m_window->backends(), &app::BackendComparison::finished);
    dialog->accept();
    QVERIFY(m_window->backends().isRunning());
    QVERIFY(test::settle(*m_window));
    QCOMPARE(finished.size(), 1);
    QVERIFY2(finished[0][0].toString().startsWith(u"cpu vs. fake-gpu: output "),
             qPrintable(finished[0][0].toString()));
}

/// The fake rounds ReLU to quarters: by at most an eighth, and nothing in front of the first ReLU differs by more than float32's order
/// of additions. The conversion's own errors stay what they were.
void TestBackends::whatDiffersStandsBesideTheLayers()
{
    attach();
    const graph::Graph &graph = controller().snapshot()->graph();
    const graph::NodeId conv = test::nodeNamed(graph, "stem_conv");
    const auto before = controller().figures().nodes[conv].cumulative;
    QVERIFY(before);
    QVERIFY(table().view()->isColumnHidden(Model::BackendSqnr));
    m_window->backends().start("fake-gpu");
    QVERIFY(test::settle(*m_window));
    QVERIFY(!table().view()->isColumnHidden(Model::BackendSqnr));
    QVERIFY(!table().view()->isColumnHidden(Model::BackendMaxAbs));
    const Model &model = *table().model();
    QCOMPARE(model.headerData(Model::BackendSqnr, Qt::Horizontal).toString(), QStringLiteral("fake-gpu dB"));
    QVERIFY(model.headerData(Model::BackendSqnr, Qt::Horizontal, Qt::ToolTipRole)
                .toString()
                .endsWith(u": cpu against fake-gpu"));
    const auto value = [&](graph::NodeId node, int column) {
        return model.index(model.rowOf(node), column).data(Model::SortRole);
    };
    QVERIFY(value(conv, Model::BackendSqnr).toDouble() > 100);
    int relus = 0;
    for (graph::NodeId id = 0; id < graph.nodeCount() && relus == 0; ++id) {
        if (graph.node(id).op != "Activation")
            continue;
        ++relus;
        const double largest = value(id, Model::BackendMaxAbs).toDouble();
        QVERIFY2(largest > 0.1 && largest <= 0.1251, qPrintable(QString::number(largest)));
    }
    QCOMPARE(relus, 1);
    QCOMPARE(controller().figures().nodes[conv].cumulative->sqnrDb, before->sqnrDb);
    QVERIFY(table().csv().section(QStringLiteral("\r\n"), 0, 0).endsWith(u"fake-gpu max"));

    controller().apply(policy::SetTarget{tensor::DType::BF16}); // it is the source's: an edit leaves it
    QVERIFY(test::settleAfterEdit(*m_window));
    QVERIFY(value(conv, Model::BackendSqnr).toDouble() > 100);
    const QString picture = qEnvironmentVariable("HALFTONE_TEST_PICTURE");
    if (!picture.isEmpty()) {
        m_window->resize(1600, 1000);
        m_window->show();
        m_window->jobs().setLatencyWanted(true);
        QVERIFY(test::settleAfterEdit(*m_window));
        m_window->showView(QStringLiteral("layers"));
        QTest::qWait(500);
        m_window->grab().save(picture);
    }
}

void TestBackends::otherDataTakeItAway()
{
    attach();
    m_window->backends().start("reference");
    QVERIFY(test::settle(*m_window));
    QVERIFY(controller().figures().backends);
    m_window->jobs().setData(std::nullopt);
    QVERIFY(test::settleAfterEdit(*m_window));
    QVERIFY(!controller().figures().backends);
    QVERIFY(table().view()->isColumnHidden(Model::BackendSqnr));
}

void TestBackends::stopEndsIt()
{
    attach();
    QSignalSpy finished(&m_window->backends(), &app::BackendComparison::finished);
    m_window->backends().start("fake-gpu");
    m_window->backends().stop();
    QVERIFY(!m_window->backends().isRunning());
    QVERIFY(test::settleAfterEdit(*m_window));
    QTest::qWait(50);
    QCOMPARE(finished.size(), 0);
    QVERIFY(!controller().figures().backends);
}

/// The fake's bytes at its memory's speed are the limit; its plan tells kernels and time (tests/support/fake_gpu.h).
void TestBackends::latencyTellsWhatTheDeviceSays()
{
    attach();
    app::JobSettings settings;
    settings.backend = "fake-gpu";
    settings.repeats = 3;
    m_window->jobs().setSettings(settings);
    m_window->jobs().setLatencyWanted(true);
    m_window->show(); // a panel that is not seen draws nothing
    m_window->showView(QStringLiteral("latency"));
    QVERIFY(test::settleAfterEdit(*m_window));
    const auto latency = controller().figures().latency;
    QVERIFY(latency && latency->fp32.deviceMs && latency->mixed.deviceMs);
    QVERIFY(*latency->mixed.deviceMs < *latency->fp32.deviceMs);
    QCOMPARE(*latency->fp32.launches->measured, latency->fp32.layers.size() + 2);
    double bytes = 0;
    for (const latency::LayerLatency &layer : latency->fp32.layers)
        bytes += layer.step.bytes;
    const double limit = bytes / (test::kFakeBandwidth * 1e9) * 1e3;
    QVERIFY(std::abs(latency->fp32.limitMs.value_or(0) - limit) < 1e-9 * limit);
    auto *const plot = m_window->findChild<widgets::LatencyPlot *>();
    QTRY_VERIFY(!plot->readOut().isEmpty());
    for (const char16_t *part : {u"GPU time", u"planned", u"launched", u"limit"})
        QVERIFY2(plot->readOut().contains(QString::fromUtf16(part)), qPrintable(plot->readOut()));
    const QString picture = qEnvironmentVariable("HALFTONE_TEST_PICTURE_LATENCY");
    if (!picture.isEmpty()) {
        m_window->resize(1600, 1000);
        QTest::qWait(500);
        m_window->grab().save(picture);
    }
}

HALFTONE_WINDOW_TEST(TestBackends,
                     if (qEnvironmentVariableIsEmpty("HALFTONE_TEST_PICTURE"))
                         qputenv("QT_QPA_PLATFORM", "offscreen");
                     test::addFakeGpu();)
#include "tst_backends.moc"
