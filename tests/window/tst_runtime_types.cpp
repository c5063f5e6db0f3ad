#include "app/summary.h"
#include "core/session/snapshot.h"
#include "tests/support/fake_runtime.h"
#include "tests/window/window_fixture.h"
#include "widgets/graphview/legend.h"
#include "widgets/graphview/scene_painter.h"
#include "widgets/inspector/details.h"
#include "widgets/plots/latency_plot.h"
#include "widgets/tables/layers_table.h"

#include <QTableView>

using namespace halftone;
using Model = widgets::LayerTableModel;

/// What the window says of a runtime that runs float16 in float32 (tests/support/fake_runtime.h).
class TestRuntimeTypes : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void init();
    void typesThatRanAreShownEverywhere();
    void withoutARuntimeNothingIsSaid();

private:
    void measureOn(const std::string &backend);

    std::unique_ptr<app::MainWindow> m_window;
    widgets::DocumentController &controller() { return m_window->controller(); }
};

void TestRuntimeTypes::init()
{
    test::failOnWarnings();
    m_window = std::make_unique<app::MainWindow>();
    m_window->open(test::kSampleModel);
    QVERIFY(test::settle(*m_window));
}

void TestRuntimeTypes::measureOn(const std::string &backend)
{
    app::JobSettings settings;
    settings.backend = backend;
    settings.repeats = 3;
    m_window->jobs().setSettings(settings);
    m_window->jobs().setLatencyWanted(true);
    m_window->show(); // a panel that is not seen draws nothing
    m_window->showView(QStringLiteral("latency"));
    QVERIFY(test::settleAfterEdit(*m_window));
}

void TestRuntimeTypes::typesThatRanAreShownEverywhere()
{
    measureOn("fake-runtime");
    const auto latency = controller().figures().latency;
    QVERIFY(latency && latency->mixed.runtime && latency->native);
    const graph::NodeId conv = test::nodeNamed(controller().snapshot()->graph(), "stem_conv");
    const auto &mixed = controller().figures().nodes[conv].mixed;
    QVERIFY(mixed);
    QCOMPARE(mixed->asked, tensor::DType::F16);
    QCOMPARE(mixed->ranIn, tensor::DType::F32);

    const auto *const table = m_window->findChild<widgets::LayersTable *>();
    m_window->showView(QStringLiteral("layers"));
    QTRY_VERIFY(!table->view()->isColumnHidden(Model::RanIn));
    const Model &model = *table->model();
    QCOMPARE(model.index(model.rowOf(conv), Model::RanIn).data().toString(), QStringLiteral("f16\u2192f32"));

    const widgets::Details details
        = widgets::describeNode(*controller().snapshot(), controller().figures(), conv);
    bool isTold = false;
    for (const widgets::DetailSection &section : details.sections)
        for (const widgets::DetailRow &row : section.rows)
            isTold = isTold || row.value == u"Fake Runtime ran it in float32, not in float16 (fake_f32)";
    QVERIFY(isTold);

    auto *const plot = m_window->findChild<widgets::LatencyPlot *>();
    m_window->showView(QStringLiteral("latency"));
    QTRY_VERIFY2(plot->readOut().contains(u"Fake Runtime ran "), qPrintable(plot->readOut()));

    auto *const view = m_window->findChild<widgets::GraphView *>();
    view->setColourBy(widgets::ColourBy::RanIn);
    view->unfoldAll();
    QVERIFY(test::settleAfterEdit(*m_window));
    const auto item = view->scene()->itemOf(conv);
    QVERIFY(item != widgets::kNoItem && !view->scene()->items()[item].ref.isBlock);
    const widgets::ItemLook &look = view->looks().items[item];
    QCOMPARE(look.type, tensor::DType::F32);
    QCOMPARE(look.asked, tensor::DType::F16);
    QCOMPARE(widgets::badgeText(look, {}), QStringLiteral("f16\u2192f32"));
    const QString picture = qEnvironmentVariable("HALFTONE_TEST_PICTURE");
    if (!picture.isEmpty()) {
        m_window->resize(1600, 1000);
        controller().selection().set(conv);
        QTest::qWait(1000);
        m_window->grab().save(picture);
    }
}

void TestRuntimeTypes::withoutARuntimeNothingIsSaid()
{
    measureOn(std::string(backends::kDefaultBackend));
    const auto *const table = m_window->findChild<widgets::LayersTable *>();
    QVERIFY(table->view()->isColumnHidden(Model::RanIn));
    for (const session::NodeFigures &node : controller().figures().nodes)
        QVERIFY(!node.fp32 || node.fp32->ranIn == tensor::DType::Unknown);
}

HALFTONE_WINDOW_TEST(TestRuntimeTypes,
                     if (qEnvironmentVariableIsEmpty("HALFTONE_TEST_PICTURE"))
                         qputenv("QT_QPA_PLATFORM", "offscreen");
                     test::addFakeRuntime();)
#include "tst_runtime_types.moc"
