#include "app/bars/chip_box.h"
#include "app/live_jobs.h"
#include "app/summary.h"
#include "core/hardware/catalogue.h"
#include "core/machines/local_chips.h"
#include "core/session/export.h"
#include "tests/support/fake_gpu.h"
#include "tests/widgets/models/sample_document.h"
#include "tests/window/window_fixture.h"
#include "widgets/common/formatters.h"
#include "widgets/common/precision_palette.h"
#include "widgets/inspector/details.h"
#include "widgets/models/asked_types.h"
#include "widgets/models/list_entries.h"

#include <QSignalSpy>

using namespace halftone;

/// The chip that a model is converted for, chosen in the window.
class TestChip : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void init();
    void aChipDecidesAsOnTheCommandLine();
    void theGpuIsOfferedBesideTheProcessor();
    void aFileThatIsNoneIsRefusedAndNothingChanges();
    void nodesThatDidNotGetWhatWasAskedAreColouredAndSayWhy();
    void modeTvmShowsItsOwnClassesInPlaceOfTheLists();
    void modeAllMarksWhereItBreaks();
    void aFormatForAnalysisIsComparedAndNotExported();

private:
    void theWindowSaysIn(tensor::DType type);

    std::unique_ptr<app::MainWindow> m_window;
    widgets::DocumentController &controller() { return m_window->controller(); }
    app::ChipBox &box() { return *m_window->findChild<app::ChipBox *>(QStringLiteral("chip")); }
};

void TestChip::init()
{
    test::failOnWarnings();
    m_window = std::make_unique<app::MainWindow>();
    m_window->open(test::kSampleModel);
    QVERIFY(test::settle(*m_window));
}

void TestChip::aChipDecidesAsOnTheCommandLine()
{
    QVERIFY(box().findData(QStringLiteral("conv16")) > 0);
    box().choose(QStringLiteral("conv16"));
    QVERIFY(test::settleAfterEdit(*m_window));
    QCOMPARE(controller().snapshot()->policy->hardware, std::string("conv16"));
    QVERIFY2(box().currentText().endsWith(QStringLiteral(" (conv16)")), qPrintable(box().currentText()));
    // conv16 has 16 bit in its matrix units alone (resources/hardware/conv16.json).
    const graph::Graph &graph = controller().snapshot()->graph();
    for (graph::NodeId id = 0; id < graph.nodeCount(); ++id) {
        if (controller().snapshot()->precisionOf(id) == tensor::DType::F16)
            QVERIFY2(graph.node(id).op == "Convolution" || graph.node(id).op == "FullyConnected",
                     graph.node(id).op.c_str());
    }
    controller().undo();
    QVERIFY(controller().snapshot()->policy->hardware.empty());
    QCOMPARE(box().currentIndex(), 0);
}

/// A conversion for it takes what it was found to do from its own clock (tests/support/fake_gpu.h).
void TestChip::theGpuIsOfferedBesideTheProcessor()
{
    const QString name = QStringLiteral("this-gpu");
    QTRY_VERIFY(box().findData(name) > 0);
    QCOMPARE(box().findData(QStringLiteral("this")), 1); // every processor is described
    QCOMPARE(box().findData(name), 2);
    QTRY_COMPARE(box().itemText(box().findData(name)), QStringLiteral("this GPU (NVIDIA H100 SXM)"));
    QCOMPARE(box().itemText(box().findData(QStringLiteral("sm_80"))), QStringLiteral("NVIDIA A100 (sm_80)"));
    QVERIFY(box().itemData(box().findData(name), Qt::ToolTipRole).toString().contains(u"H100"));
    box().choose(name);
    QVERIFY(test::settleAfterEdit(*m_window));
    QCOMPARE(controller().snapshot()->policy->hardware, std::string("this-gpu"));
    QCOMPARE(box().currentText(), QStringLiteral("this GPU (NVIDIA H100 SXM)"));
    QVERIFY(!controller().snapshot()->error);
    const auto &chip = controller().snapshot()->converted->chip;
    QVERIFY(chip);
    QCOMPARE(chip->name, std::string("sm_90"));
    if (machines::availableBackend(hardware::kThisGpu) == "fake-gpu")
        QCOMPARE(chip->measuredSpeed(hardware::Unit::Conv, tensor::DType::F16).value_or(0), 4.0);
    controller().undo();
    QCOMPARE(box().currentIndex(), 0);
}

void TestChip::aFileThatIsNoneIsRefusedAndNothingChanges()
{
    QTemporaryDir folder;
    QFile file(folder.filePath(QStringLiteral("mine.json")));
    QVERIFY(file.open(QIODevice::WriteOnly) && file.write("{\"name\": 3}") > 0);
    file.close();
    const std::uint64_t before = controller().document()->revision();
    QSignalSpy refused(&box(), &app::ChipBox::refused);
    box().choose(file.fileName());
    QCOMPARE(refused.size(), 1);
    QVERIFY(refused[0][0].toString().contains(QStringLiteral("mine.json")));
    QCOMPARE(controller().document()->revision(), before);
    QCOMPARE(box().currentIndex(), 0);
}

void TestChip::nodesThatDidNotGetWhatWasAskedAreColouredAndSayWhy()
{
    box().choose(QStringLiteral("int8-npu")); // which has no 16 bit at all
    QVERIFY(test::settleAfterEdit(*m_window));
    const session::Snapshot &snapshot = *controller().snapshot();
    auto *const view = m_window->findChild<widgets::GraphView *>();
    view->setColourBy(widgets::ColourBy::Asked);
    view->unfoldAll();
    QVERIFY(test::settleAfterEdit(*m_window));
    std::size_t differing = 0;
    for (graph::NodeId id = 0; id < snapshot.graph().nodeCount(); ++id) {
        const widgets::AskedAndGot types = widgets::askedAndGot(snapshot, id);
        const auto item = view->scene()->itemOf(id);
        if (types.asked == tensor::DType::Unknown || item == widgets::kNoItem
            || view->scene()->items()[item].ref.isBlock)
            continue;
        QCOMPARE(view->looks().items[item].share, types.differ() ? 1.0F : 0.0F);
        if (!types.differ())
            continue;
        ++differing;
        const widgets::Details details = widgets::describeNode(snapshot, controller().figures(), id);
        QString why;
        for (const widgets::DetailSection &section : details.sections) {
            for (const widgets::DetailRow &row : section.rows)
                why = row.label == QStringLiteral("why not") ? row.value : why;
        }
        QVERIFY2(!why.isEmpty(), snapshot.graph().node(id).name.c_str());
    }
    QVERIFY(view->looks().hasFigures);
    QVERIFY(differing >= 3); // the convolutions and products that the lists would lower
}

void TestChip::modeTvmShowsItsOwnClassesInPlaceOfTheLists()
{
    controller().apply(policy::SetMode{policy::Mode::Tvm});
    QVERIFY(test::settleAfterEdit(*m_window));
    const widgets::ListEntries entries = widgets::listEntries(*controller().snapshot(), {});
    std::size_t nodes = 0;
    for (const auto &list : entries) {
        for (const widgets::ListEntry &entry : list) {
            QVERIFY2(entry.nodes > 0, entry.name.c_str());
            nodes += entry.nodes;
        }
    }
    std::size_t operators = 0;
    const graph::Graph &graph = controller().snapshot()->graph();
    for (graph::NodeId id = 0; id < graph.nodeCount(); ++id)
        operators += graph.isVariable(id) ? 0 : 1;
    QCOMPARE(nodes, operators);
}

/// The sample sums squares of up to 255 over 64 pixels and more: beyond 65504, and so nothing behind them is right.
void TestChip::modeAllMarksWhereItBreaks()
{
    const session::Snapshot &before = *controller().snapshot();
    const graph::NodeId energy = test::nodeNamed(before.graph(), "energy");
    controller().apply(policy::SetMode{policy::Mode::All});
    walks::ExampleOptions data;
    data.inputs = test::kSampleData.toStdString();
    data.examples = 32;
    m_window->jobs().setData(data);
    QVERIFY(test::settleAfterEdit(*m_window));
    const session::Snapshot &snapshot = *controller().snapshot();
    QCOMPARE(snapshot.precisionOf(energy), tensor::DType::F16);
    widgets::GraphView &view = m_window->graphView();
    view.setColourBy(widgets::ColourBy::Error);
    view.unfoldAll();
    QVERIFY(test::settleAfterEdit(*m_window));
    const auto warns = [&](const char *name) {
        return view.looks().items[view.scene()->itemOf(test::nodeNamed(snapshot.graph(), name))].warns;
    };
    QVERIFY(!warns("pixel_square"));
    QVERIFY(warns("energy"));
    const widgets::Details details = widgets::describeModel(snapshot, controller().figures());
    bool isTold = false;
    for (const widgets::DetailSection &section : details.sections) {
        for (const widgets::DetailRow &row : section.rows)
            isTold = isTold
                || (row.label.startsWith(u"first layer below") && row.isWarning && row.link == energy);
    }
    QVERIFY(isTold);
}

/// Lists, nodes, edges and status bar name the type that was asked for, and not the float16 that stands in for it.
void TestChip::theWindowSaysIn(tensor::DType type)
{
    const auto &snapshot = *controller().snapshot();
    const QString name = QString::fromUtf8(tensor::nameOf(type).data());
    const auto conv = test::nodeNamed(snapshot.graph(), "stem_conv");
    QCOMPARE(snapshot.precisionOf(conv), type);
    QCOMPARE(widgets::titleOf(widgets::ListId::Target, snapshot.target()), name);
    const QString summary = app::summaryOf(snapshot, controller().figures(), app::ComparedOn::Data);
    QVERIFY2(summary.contains(name) && !summary.contains(u"float16"), qPrintable(summary));
    const auto &scene = *m_window->graphView().scene();
    const widgets::Looks &looks = m_window->graphView().looks();
    QCOMPARE(looks.items[scene.itemOf(conv)].type, type);
    const bool isDark = false;
    QCOMPARE(widgets::precisionLook(type, isDark).badge, widgets::shortType(type));
    for (const widgets::CastMark &mark : looks.casts)
        QVERIFY(mark.count == 0 || mark.type != tensor::DType::F16);
}

void TestChip::aFormatForAnalysisIsComparedAndNotExported()
{
    controller().apply(policy::SetTarget{tensor::DType::F8E4M3FN});
    walks::ExampleOptions data;
    data.inputs = test::kSampleData.toStdString();
    data.examples = 4;
    m_window->jobs().setData(data);
    QTRY_VERIFY(controller().figures().comparison && controller().figures().comparison->isWhole);
    QVERIFY(test::settle(*m_window));
    const double sqnr = controller().figures().comparison->comparison.outputs.front().figures.sqnrDb;
    theWindowSaysIn(tensor::DType::F8E4M3FN);
    controller().apply(policy::SetTarget{tensor::DType::BF16});
    QVERIFY(test::settleAfterEdit(*m_window));
    QVERIFY(sqnr < controller().figures().comparison->comparison.outputs.front().figures.sqnrDb);
    controller().undo();
    QVERIFY(test::settleAfterEdit(*m_window));
    session::ExportOptions writing;
    QTemporaryDir folder;
    writing.prefix = folder.filePath(QStringLiteral("never")).toStdString();
    const auto written = session::exportAll(*controller().snapshot(), {}, writing, {});
    QVERIFY(!written.ok());
    QVERIFY(QDir(folder.path()).isEmpty());
    const auto target = controller().document()->policy().analysedFormat;
    QCOMPARE(target, std::optional(tensor::DType::F8E4M3FN));
}

HALFTONE_WINDOW_TEST(TestChip, test::addFakeGpu();)
#include "tst_chip.moc"
