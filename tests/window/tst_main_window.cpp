#include "app/live_jobs.h"
#include "app/suggestion.h"
#include "app/summary.h"
#include "app/window_style.h"
#include "core/session/export.h"
#include "core/session/graph_picture.h"
#include "tests/window/window_fixture.h"

#include <QDockWidget>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QPainter>
#include <QProcess>
#include <QPushButton>
#include <QRandomGenerator>
#include <QStatusBar>
#include <QStyleOption>
#include <QTreeView>

using namespace halftone;
using app::MainWindow;
using test::settle;
using test::settleAfterEdit;

namespace {

QJsonObject jsonOf(const QStringList &arguments)
{
    QProcess program;
    program.start(QStringLiteral(HALFTONE_CLI), arguments);
    if (!program.waitForFinished(120000) || program.exitCode() != 0)
        qFatal("halftone-cli: %s", program.readAllStandardError().constData());
    return QJsonDocument::fromJson(program.readAllStandardOutput()).object();
}

void dropFile(MainWindow &window, const QString &path)
{
    QMimeData mime;
    mime.setUrls({QUrl::fromLocalFile(path)});
    QDragEnterEvent enter(QPoint(50, 50), Qt::CopyAction, &mime, Qt::LeftButton, Qt::NoModifier);
    QCoreApplication::sendEvent(&window, &enter);
    QVERIFY(enter.isAccepted());
    QDropEvent drop(QPointF(50, 50), Qt::CopyAction, &mime, Qt::LeftButton, Qt::NoModifier);
    QCoreApplication::sendEvent(&window, &drop);
}

} // namespace

class TestMainWindow : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void theSampleShowsWhatOverflowsAndAButtonThatMendsIt();
    void figuresEqualTheCommandLines();
    void latencyIsNotShownForWhatIsEmulated();
    void aFailedOpenSaysWhyAndLeavesWhatWasOpen();
    void aDroppedFileOpens();
    void undoTakesBackAllOfManyEdits();
    void anExportedModelIsTheConvertedOne();
    void aSessionComesBackAsItWasSaved();
    void resultsOfASessionStandWhileTheirDataAndSettingsAreTheSame_data();
    void resultsOfASessionStandWhileTheirDataAndSettingsAreTheSame();
    void openBlocksComeBackFromASessionAndAfterACrash();
    void aChangedModelIsToldWhenItsSessionOpens();
    void unsavedWorkOfAKilledProgramIsOffered();
    void aClosedDocumentLeavesNoJournal();
    void aPageBehindOthersComesToTheFrontBeforeItsKeyHidesIt();
    void theFirstWindowShowsTheNamesOfOperatorsWhole();
    void boxesAndIconsAreSeenOnDarkGround();
    void theSuggestionStaysWhileFiguresAreAwaited();
    void whatIsStoppedIsSaid();
};

void TestMainWindow::aPageBehindOthersComesToTheFrontBeforeItsKeyHidesIt()
{
    MainWindow window;
    window.show();
    QVERIFY(QTest::qWaitForWindowExposed(&window));
    window.openSample();
    QVERIFY(settle(window));
    auto *const error = window.findChild<QDockWidget *>(QStringLiteral("error"));
    QAction *show = nullptr;
    for (QAction *action : window.findChildren<QAction *>()) {
        if (action->shortcut() == QKeySequence(Qt::CTRL | Qt::Key_R))
            show = action;
    }
    QVERIFY(show);
    QVERIFY(!error->isHidden() && error->visibleRegion().isEmpty()); // a tab behind Layers
    show->trigger();
    QTRY_VERIFY(!error->isHidden() && !error->visibleRegion().isEmpty());
    QVERIFY(show->isChecked());
    show->trigger();
    QTRY_VERIFY(error->isHidden());
    QVERIFY(!show->isChecked());
}

void TestMainWindow::theFirstWindowShowsTheNamesOfOperatorsWhole()
{
    QSettings().remove(QStringLiteral("layout"));
    MainWindow window;
    window.show();
    QVERIFY(QTest::qWaitForWindowExposed(&window));
    window.openSample();
    QVERIFY(settle(window));
    const auto *const view = window.lists().findChild<QTreeView *>();
    const auto at = window.lists().model()->indexOf(widgets::ListId::Target, "FullyConnected");
    QTRY_VERIFY(view->visualRect(at).width() > view->fontMetrics().horizontalAdvance("FullyConnected") + 4);
}

void TestMainWindow::boxesAndIconsAreSeenOnDarkGround()
{
    const QPalette before = QApplication::palette();
    app::applyTheme(app::Theme::Dark);
    const app::WindowStyle style;
    const auto strongest = [](const QImage &image) {
        int most = 0;
        for (int y = 0; y < image.height(); ++y)
            for (int x = 0; x < image.width(); ++x)
                most = std::max(most, qGray(image.pixel(x, y)));
        return most;
    };
    const int ground = qGray(QApplication::palette().color(QPalette::Window).rgb());
    QImage image(20, 20, QImage::Format_RGB32);
    for (const QStyle::PrimitiveElement element :
         {QStyle::PE_IndicatorCheckBox, QStyle::PE_IndicatorRadioButton}) {
        image.fill(QApplication::palette().color(QPalette::Window));
        QStyleOptionButton option;
        option.rect = QRect(2, 2, 16, 16);
        option.palette = QApplication::palette();
        option.state = QStyle::State_Enabled | QStyle::State_Off;
        QPainter painter(&image);
        style.drawPrimitive(element, &option, &painter, nullptr);
        painter.end();
        QVERIFY(strongest(image) - ground > 80);
    }
    for (const QStyle::StandardPixmap icon :
         {QStyle::SP_TitleBarCloseButton, QStyle::SP_TitleBarNormalButton}) {
        image.fill(QApplication::palette().color(QPalette::Window));
        QPainter painter(&image);
        style.standardIcon(icon, nullptr, nullptr).paint(&painter, image.rect());
        painter.end();
        QVERIFY(strongest(image) - ground > 80);
    }
    QApplication::setPalette(before);
}

void TestMainWindow::theSuggestionStaysWhileFiguresAreAwaited()
{
    MainWindow window;
    window.openSample();
    QVERIFY(settle(window));
    const QString text = window.suggestionBar().text();
    QVERIFY(!text.isEmpty());
    QVERIFY(window.controller().apply(policy::MoveOperators{{"Convolution"}, policy::List::Fp32}));
    QCOMPARE(window.suggestionBar().text(), text);
    QVERIFY(window.controller().apply(policy::MoveOperators{{"sum"}, policy::List::Fp32}));
    QVERIFY(window.suggestionBar().text().isEmpty()); // it has been done
    QVERIFY(settleAfterEdit(window));
}

void TestMainWindow::whatIsStoppedIsSaid()
{
    MainWindow window;
    window.openSample();
    QTRY_VERIFY(window.jobs().isBusy());
    for (QAction *action : window.findChildren<QAction *>()) {
        if (action->shortcut() == QKeySequence(Qt::Key_Escape))
            action->trigger();
    }
    QVERIFY(!window.jobs().isBusy());
    QVERIFY(window.statusBar()->currentMessage().contains(QStringLiteral("Compute Again")));
}

void TestMainWindow::theSampleShowsWhatOverflowsAndAButtonThatMendsIt()
{
    MainWindow window;
    window.openSample();
    QVERIFY(settle(window));
    const auto &bar = window.suggestionBar();
    QVERIFY2(bar.text().startsWith("energy (sum) overflows in float16"), qPrintable(bar.text()));

    auto *const mend = bar.findChild<QPushButton *>();
    QTest::mouseClick(mend, Qt::LeftButton);
    QVERIFY(settleAfterEdit(window));
    const session::Snapshot &snapshot = *window.controller().snapshot();
    QCOMPARE(snapshot.precisionOf(test::nodeNamed(snapshot.graph(), "energy")), tensor::DType::F32);
    QCOMPARE(window.controller().figures().comparison->other->top1,
             window.controller().figures().comparison->reference->top1);
    QVERIFY(bar.text().isEmpty());
}

void TestMainWindow::figuresEqualTheCommandLines()
{
    const QString policy
        = QStringLiteral(HALFTONE_SOURCE_DIR "/resources/sample/all-float16-but-sum.policy.json");
    MainWindow window;
    window.open(test::kSampleModel);
    window.applyPolicyWhenOpen(policy);
    QVERIFY(settle(window));
    session::ExampleOptions data;
    data.inputs = test::kSampleData.toStdString();
    window.jobs().setData(data);
    QVERIFY(settleAfterEdit(window));

    const QJsonObject report = jsonOf({"compare", test::kSampleModel, "--policy", policy, "--inputs",
                                       test::kSampleData, "--effect", "both", "--json"});
    const session::Snapshot &snapshot = *window.controller().snapshot();
    const session::Figures &figures = window.controller().figures();
    const QJsonArray layers = report["layers"].toArray();
    int compared = 0;
    for (const auto &value : layers) {
        const QJsonObject layer = value.toObject();
        const graph::NodeId node = test::nodeNamed(snapshot.graph(), layer["name"].toString().toStdString());
        if (node == passes::kNoNode || !figures.nodes[node].cumulative)
            continue;
        ++compared;
        QCOMPARE(figures.nodes[node].cumulative->maxAbs, layer["max_abs"].toDouble());
        if (layer["sqnr_db"].isDouble())
            QCOMPARE(figures.nodes[node].cumulative->sqnrDb, layer["sqnr_db"].toDouble());
        QCOMPARE(double(figures.nodes[node].cumulative->overflow), layer["overflow"].toDouble());
    }
    QVERIFY(compared > 20);
    QCOMPARE(figures.comparison->other->top1, report["top1"].toObject()["mixed"].toDouble());

    const QJsonObject converted = jsonOf({"convert", test::kSampleModel, "--policy", policy, "--out",
                                          QDir::tempPath() + "/halftone-window-test", "--json"});
    QCOMPARE(double(snapshot.castCount()),
             converted["casts"].toDouble() + converted["multicasts"].toDouble());
}

void TestMainWindow::latencyIsNotShownForWhatIsEmulated()
{
    MainWindow window;
    window.openSample();
    window.jobs().setErrorsWanted(false);
    window.jobs().setLatencyWanted(true);
    QVERIFY(settle(window));
    const auto &latency = window.controller().figures().latency;
    if (!latency)
        QSKIP("this build has no latency plans");
    QVERIFY(!latency->native); // no machine here computes in float16
    QVERIFY(
        app::summaryOf(*window.controller().snapshot(), window.controller().figures()).contains("emulated"));
}

void TestMainWindow::aFailedOpenSaysWhyAndLeavesWhatWasOpen()
{
    const QTemporaryDir folder;
    const QString bad = folder.filePath("bad-symbol.json");
    QFile file(bad);
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write("{\"nodes\": 7}");
    file.close();

    MainWindow window;
    window.open(bad);
    QVERIFY(settle(window));
    QVERIFY(!window.controller().isOpen());
    QVERIFY2(window.failure().startsWith(bad), qPrintable(window.failure()));

    window.openSample();
    QVERIFY(settle(window));
    const auto before = window.controller().snapshot();
    window.open(bad);
    QVERIFY(settle(window));
    QVERIFY(!window.failure().isEmpty());
    QVERIFY(window.controller().snapshot() == before);
}

void TestMainWindow::aDroppedFileOpens()
{
    MainWindow window;
    dropFile(window, test::kSampleModel);
    QVERIFY(settle(window));
    QVERIFY(window.controller().isOpen());
    dropFile(window, test::kSampleData);
    QVERIFY(settleAfterEdit(window));
    QVERIFY(window.jobs().data().has_value());
    QVERIFY(window.controller().figures().comparison != nullptr);
}

void TestMainWindow::undoTakesBackAllOfManyEdits()
{
    MainWindow window;
    window.open(test::kSampleModel);
    window.jobs().setErrorsWanted(false);
    QVERIFY(settle(window));
    widgets::DocumentController &controller = window.controller();
    const graph::Graph &graph = controller.snapshot()->graph();
    const policy::Policy first = controller.document()->policy();
    QRandomGenerator random(7);
    int done = 0;
    while (done < 500) {
        const graph::NodeDef &node
            = graph.node(static_cast<graph::NodeId>(random.bounded(int(graph.nodeCount()))));
        if (node.isVariable())
            continue;
        const std::uint64_t before = controller.document()->revision();
        switch (random.bounded(5)) {
        case 0:
            controller.apply(policy::ExcludeNames{{node.name}});
            break;
        case 1:
            controller.apply(policy::IncludeNames{{node.name}});
            break;
        case 2:
            controller.apply(policy::OverrideNodes{{node.name}, tensor::DType::F32});
            break;
        case 3:
            controller.apply(policy::SetTarget{random.bounded(2) ? tensor::DType::F16 : tensor::DType::BF16});
            break;
        default:
            controller.apply(policy::MoveOperators{{node.op}, static_cast<policy::List>(random.bounded(3))});
        }
        done += controller.document()->revision() != before ? 1 : 0;
    }
    const policy::Policy last = controller.document()->policy();
    for (int i = 0; i < 500; ++i)
        controller.undo();
    QVERIFY(controller.document()->policy() == first);
    QVERIFY(!controller.document()->canUndo());
    for (int i = 0; i < 500; ++i)
        controller.redo();
    QVERIFY(controller.document()->policy() == last);
}

void TestMainWindow::anExportedModelIsTheConvertedOne()
{
    const QTemporaryDir folder;
    MainWindow window;
    window.openSample();
    QVERIFY(settle(window));
    const session::Snapshot &snapshot = *window.controller().snapshot();
    session::ExportOptions options;
    options.prefix = folder.filePath("out").toStdString();
    const auto picture = session::graphPicture(snapshot);
    QVERIFY(picture.ok());
    const auto written
        = session::exportAll(snapshot, window.controller().figures(), options, picture.value());
    QVERIFY2(written.ok(), written.ok() ? "" : written.error().message().c_str());
    QCOMPARE(written.value(), session::filesOf(options));
    const QJsonObject info = jsonOf({"info", folder.filePath("out-symbol.json"), "--json"});
    QCOMPARE(info["ops"].toObject()["amp_cast"].toInt(), int(snapshot.castCount()));
    QFile page(folder.filePath("out.html"));
    QVERIFY(page.open(QIODevice::ReadOnly));
    const QByteArray html = page.readAll();
    QVERIFY(html.contains("<svg") && html.contains("pixel_square") && html.contains("energy"));
    QVERIFY(!html.contains("http://")
            || html.indexOf("http://") == html.indexOf("http://www.w3.org/2000/svg"));

    options.prefix = snapshot.source->symbolPath.substr(0, snapshot.source->symbolPath.size() - 12);
    QVERIFY(!session::exportAll(snapshot, {}, options, {}).ok()); // never over the source
}

void TestMainWindow::aSessionComesBackAsItWasSaved()
{
    const QTemporaryDir folder;
    const QString path = folder.filePath("a.halftone");
    policy::Policy saved;
    session::Figures results;
    {
        MainWindow window;
        window.openSample();
        QVERIFY(settle(window));
        QVERIFY(!window.files().isModified());
        window.controller().apply(policy::ExcludeNames{{"stem_conv"}});
        window.controller().apply(policy::ExcludeNames{{"stem_bn"}});
        window.controller().undo();
        QVERIFY(settleAfterEdit(window));
        QVERIFY(window.files().isModified());
        saved = window.controller().document()->policy();
        results = window.controller().figures();
        QVERIFY(results.comparison);
        QVERIFY(window.files().save(path).ok());
        QVERIFY(!window.files().isModified());
    }
    MainWindow window;
    window.jobs().setErrorsWanted(false); // so that nothing is computed anew
    window.open(path);
    QVERIFY(settle(window));
    const session::Figures &figures = window.controller().figures();
    QVERIFY(figures.comparison);
    QCOMPARE(figures.comparison->other->top1, results.comparison->other->top1);
    QCOMPARE(figures.nodes.size(), results.nodes.size());
    for (std::size_t k = 0; k < figures.nodes.size(); ++k) {
        QCOMPARE(figures.nodes[k].cumulative.has_value(), results.nodes[k].cumulative.has_value());
        if (figures.nodes[k].cumulative)
            QCOMPARE(figures.nodes[k].cumulative->maxAbs, results.nodes[k].cumulative->maxAbs);
    }
    QVERIFY(window.controller().isOpen());
    QVERIFY(window.controller().document()->policy() == saved);
    QVERIFY(window.controller().document()->canUndo());
    QVERIFY(window.controller().document()->canRedo());
    QVERIFY(window.jobs().data().has_value());
    QVERIFY(!window.files().isModified());
}

void TestMainWindow::resultsOfASessionStandWhileTheirDataAndSettingsAreTheSame_data()
{
    QTest::addColumn<std::vector<policy::Edit>>("edits");
    QTest::newRow("float16") << std::vector<policy::Edit>{};
    // int8 needs the statistics for its ranges, and is converted once more when these have come.
    QTest::newRow("int8") << std::vector<policy::Edit>{
        policy::MoveOperators{{"Convolution"}, policy::List::Int8},
        policy::SetThresholds{{"stem_relu_output"},
                              policy::ThresholdChoice{policy::ThresholdMethod::Mse, 2.5}}};
}

/// That nothing was computed anew is seen by the time that it took, which no second run has again.
void TestMainWindow::resultsOfASessionStandWhileTheirDataAndSettingsAreTheSame()
{
    QFETCH(std::vector<policy::Edit>, edits);
    const QTemporaryDir folder;
    const QString path = folder.filePath("a.halftone");
    const QString data = folder.filePath("digits.npz");
    QVERIFY(QFile::copy(test::kSampleData, data));
    double seconds = 0;
    {
        MainWindow window;
        window.open(test::kSampleModel);
        QVERIFY(settle(window));
        session::ExampleOptions examples;
        examples.inputs = data.toStdString();
        examples.examples = 6;
        window.jobs().setData(examples);
        for (const policy::Edit &edit : edits)
            QVERIFY(window.controller().apply(edit));
        QVERIFY(settleAfterEdit(window));
        seconds = window.controller().figures().comparison->seconds;
        QVERIFY(window.files().save(path).ok());
    }
    const auto open = [&path](MainWindow &window) {
        window.open(path);
        return settle(window) && window.controller().figures().calibration != nullptr;
    };
    const auto isOfNow = [](MainWindow &window) {
        const session::Figures &figures = window.controller().figures();
        const std::uint64_t now = window.controller().snapshot()->revision;
        return figures.comparisonRevision == now && figures.isolatedRevision == now;
    };
    {
        MainWindow window;
        QVERIFY(open(window)); // statistics of tensors are collected anew
        QVERIFY(isOfNow(window));
        QCOMPARE(window.controller().figures().comparison->seconds, seconds);
        window.controller().apply(policy::ExcludeNames{{"stem_conv"}});
        QVERIFY(settleAfterEdit(window));
        QVERIFY(isOfNow(window));
        QVERIFY(window.controller().figures().comparison->seconds != seconds);
        window.controller().undo();
        QVERIFY(settleAfterEdit(window));
        QVERIFY(isOfNow(window));
        QCOMPARE(window.controller().figures().comparison->seconds, seconds);
        window.jobs().runAgain();
        QVERIFY(settleAfterEdit(window));
        QVERIFY(isOfNow(window));
        QVERIFY(window.controller().figures().comparison->seconds != seconds);
    }
    {
        MainWindow window;
        app::JobSettings other = window.jobs().settings();
        other.threads = 1;
        window.jobs().setSettings(other);
        QVERIFY(open(window));
        QVERIFY(isOfNow(window));
        QVERIFY(window.controller().figures().comparison->seconds != seconds);
    }
    QFile changed(data);
    QVERIFY(changed.open(QIODevice::ReadWrite));
    QVERIFY(
        changed.setFileTime(QDateTime::currentDateTime().addSecs(-3600), QFileDevice::FileModificationTime));
    changed.close();
    MainWindow window;
    QVERIFY(open(window));
    QVERIFY(isOfNow(window));
    QVERIFY(window.controller().figures().comparison->seconds != seconds);
}

void TestMainWindow::openBlocksComeBackFromASessionAndAfterACrash()
{
    const QTemporaryDir folder;
    const QString path = folder.filePath("a.halftone");
    const QString copy = app::journalFolder() + "/crashed.journal";
    std::vector<char> saved;
    std::vector<char> atCrash;
    {
        MainWindow window;
        window.openSample();
        QVERIFY(settle(window));
        const std::vector<char> first = window.graphView().openBlocks();
        window.graphView().foldAll();
        QVERIFY(settle(window));
        saved = window.graphView().openBlocks();
        QVERIFY(saved != first);
        QVERIFY(window.files().save(path).ok());
        const auto block = static_cast<layout::BlockId>(std::ranges::find(first.begin() + 1, first.end(), 1)
                                                        - first.begin());
        window.graphView().setBlockOpen(block, true);
        QVERIFY(settle(window));
        atCrash = window.graphView().openBlocks();
        window.controller().apply(policy::ExcludeNames{{"stem_conv"}}); // without an edit nothing is offered
        QVERIFY(atCrash != saved);
        // What a crash would leave behind.
        const QDir journals(app::journalFolder());
        const QStringList left = journals.entryList({"*.journal"}, QDir::Files);
        QCOMPARE(left.size(), 1);
        QVERIFY(QFile::copy(journals.filePath(left[0]), copy));
    }
    {
        MainWindow window;
        window.open(path);
        QVERIFY(settle(window));
        QCOMPARE(window.graphView().openBlocks(), saved);
        QVERIFY(!window.files().isModified());
    }
    MainWindow window;
    window.files().recover(copy);
    QVERIFY(settle(window));
    QCOMPARE(window.graphView().openBlocks(), atCrash);
    app::DocumentFiles::discardJournal(copy);
}

void TestMainWindow::aChangedModelIsToldWhenItsSessionOpens()
{
    const QTemporaryDir folder;
    for (const char *name : {"digits-symbol.json", "digits-0000.params"})
        QVERIFY(QFile::copy(QStringLiteral(HALFTONE_SOURCE_DIR "/resources/sample/") + name,
                            folder.filePath(name)));
    const QString path = folder.filePath("a.halftone");
    MainWindow window;
    window.open(folder.filePath("digits-symbol.json"));
    QVERIFY(settle(window));
    QVERIFY(window.files().save(path).ok());
    QFile symbol(folder.filePath("digits-symbol.json"));
    QVERIFY(symbol.setPermissions(QFile::ReadOwner | QFile::WriteOwner));
    QVERIFY(symbol.open(QIODevice::Append));
    symbol.write("\n");
    symbol.close();
    QSignalSpy warned(&window.files(), &app::DocumentFiles::warned);
    window.open(path);
    QVERIFY(settle(window));
    QCOMPARE(warned.count(), 1);
}

void TestMainWindow::unsavedWorkOfAKilledProgramIsOffered()
{
    const QString journal = app::journalFolder() + "/left.journal";
    session::Journal::Head head;
    head.state.symbolPath = test::kSampleModel.toStdString();
    policy::Policy edited;
    edited.excludedNames = {"stem_conv"};
    head.state.history = {{{policy::Policy(), ""}}, 0};
    {
        auto begun = session::Journal::create(journal.toStdString(), head);
        QVERIFY(begun.ok() && begun.value().edited({edited, "Exclude stem_conv"}).ok());
    }
    QCOMPARE(app::DocumentFiles::leftJournals(), QStringList{journal});
    MainWindow window;
    window.files().recover(journal);
    QVERIFY(settle(window));
    QVERIFY(window.controller().document()->policy() == edited);
    QVERIFY(window.files().isModified());
    app::DocumentFiles::discardJournal(journal);
}

void TestMainWindow::aClosedDocumentLeavesNoJournal()
{
    {
        MainWindow window;
        window.openSample();
        QVERIFY(settle(window));
        QVERIFY(app::DocumentFiles::leftJournals().isEmpty()); // held by this very program
        window.files().close();
        QVERIFY(!window.controller().isOpen());
    }
    QVERIFY(app::DocumentFiles::leftJournals().isEmpty());
}

int main(int argc, char **argv)
{
    const test::PrivateHome home;
    QApplication application(argc, argv);
    TestMainWindow test;
    return QTest::qExec(&test, argc, argv);
}

#include "tst_main_window.moc"
