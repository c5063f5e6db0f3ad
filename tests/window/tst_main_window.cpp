#include "app/bars/notice_bar.h"
#include "app/dialogs/attach_dialog.h"
#include "app/drawn_inputs.h"
#include "app/first_steps.h"
#include "app/live_jobs.h"
#include "app/message_log.h"
#include "app/suggestion.h"
#include "app/summary.h"
#include "app/window_style.h"
#include "core/io/arrays/npz.h"
#include "core/session/export.h"
#include "core/session/graph_picture.h"
#include "tests/widgets/models/sample_document.h"
#include "tests/window/window_fixture.h"
#include "widgets/common/elided_label.h"
#include "widgets/graphview/graph_view.h"
#include "widgets/models/tune_state.h"
#include "widgets/plots/latency_plot.h"
#include "widgets/tables/layers_table.h"

#include <QAbstractButton>
#include <QApplication>
#include <QCheckBox>
#include <QClipboard>
#include <QComboBox>
#include <QDir>
#include <QDockWidget>
#include <QImage>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QLabel>
#include <QMenu>
#include <QMenuBar>
#include <QMessageBox>
#include <QPainter>
#include <QProcess>
#include <QPushButton>
#include <QRandomGenerator>
#include <QSignalSpy>
#include <QStatusBar>
#include <QStyleOption>
#include <QTableView>
#include <QTemporaryDir>
#include <QTimer>
#include <QToolButton>
#include <QTreeView>

#include <algorithm>
#include <cmath>

using namespace halftone;
using app::MainWindow;
using test::openQuickly;
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
    void theSampleIsThereAsOnnxToo();
    void drawnInputsReplaceDataOnlyWhenConfirmed();
    void theRunMenuMeasuresCalibratesAndTunes();
    void rowsOfLayersCanBeMovedToAList();
    void noWidgetKeepsColoursOfAnotherTheme();
    void tooLittleMemoryIsMendedFromTheNotice();
    void figuresEqualTheCommandLines();
    void latencyIsNotShownForWhatIsEmulated();
    void aFailedOpenSaysWhyAndLeavesWhatWasOpen();
    void aDroppedFileOpens();
    void undoTakesBackAllOfManyEdits();
    void anExportedModelIsTheConvertedOne();
    void aPageBehindOthersComesToTheFrontBeforeItsKeyHidesIt();
    void theFirstWindowShowsTheNamesOfOperatorsWhole();
    void drawingsOpenHighAndKeepTheHeightThatAPersonGivesThem();
    void drawingsOpenHighOnALaterStartToo();
    void entriesOfMenusShowTheirToolTips();
    void aNodesMenuCopiesItsWholeName();
    void theStatusBarWarnsOfTimesThatGainNothing();
    void boxesAndIconsAreSeenOnDarkGround();
    void theSuggestionStaysWhileFiguresAreAwaited();
    void whatIsStoppedIsSaid();
    void dataThatContradictTheModelChangeNothing();
    void dataInPlaceOfOthersDimTheFiguresOfThose();
    void afterASuggestionTheKeysAreTheGraphs();
    void messagesAreOfTheModelThatIsOpen();
    void aModelWithoutShapesIsGreetedByNoError();
    void aPolicyFileOpensOntoTheModel();
    void whatBelongsToTheSampleIsNotSavedBesideIt();
    void theFirstStepsAreShownUntilTheyAreClosed();
    void timesThatAreAwaitedAreNotAskedFor();
    void anOnnxModelIsEditedComparedSavedAndExported();
    void whereThereAreNoDataInputsAreDrawn();
    void aDroppedFolderTakesItsLabelsAndAsksForRulesThatLack();
};

const QString kOnnxModel = QStringLiteral(HALFTONE_SOURCE_DIR "/tests/data/onnx/network.onnx");

void TestMainWindow::aDroppedFolderTakesItsLabelsAndAsksForRulesThatLack()
{
    const QTemporaryDir folder;
    const QString model = folder.filePath("own-symbol.json");
    QVERIFY(QFile::copy(test::kSampleModel, model));
    QVERIFY(QFile::copy(HALFTONE_SOURCE_DIR "/resources/sample/digits-0000.params",
                        folder.filePath("own-0000.params")));
    const QString pictures = folder.filePath("pictures");
    QVERIFY(QDir().mkdir(pictures));
    QImage picture(8, 8, QImage::Format_Grayscale8);
    picture.fill(200);
    QVERIFY(picture.save(pictures + "/a.png"));
    QFile labels(pictures + "/labels.csv");
    QVERIFY(labels.open(QIODevice::WriteOnly) && labels.write("file,class_index\na.png,3\n") > 0);
    labels.close();
    MainWindow window;
    window.open(model);
    QVERIFY(settle(window));
    QString asked; // by the dialog, which runs a loop of its own until it is closed
    QTimer close;
    connect(&close, &QTimer::timeout, this, [&asked] {
        if (auto *const dialog = qobject_cast<app::AttachDialog *>(QApplication::activeModalWidget())) {
            asked = QString::fromStdString(dialog->options().inputs);
            dialog->reject();
        }
    });
    close.start(20);
    dropFile(window, pictures);
    QTRY_COMPARE_WITH_TIMEOUT(asked, pictures, 20000);
    close.stop();
    QVERIFY(!window.jobs().data());

    QVERIFY(QFile::copy(HALFTONE_SOURCE_DIR "/resources/sample/preprocess.json",
                        folder.filePath("preprocess.json")));
    dropFile(window, pictures);
    QVERIFY(settleAfterEdit(window));
    QVERIFY(window.jobs().data());
    QVERIFY(window.jobs().data()->labels.ends_with("labels.csv"));
    QVERIFY(window.controller().figures().comparison->reference); // so that there is an accuracy
}

void TestMainWindow::whereThereAreNoDataInputsAreDrawn()
{
    MainWindow window;
    window.open(kOnnxModel);
    QVERIFY(settle(window));
    QVERIFY(!window.controller().figures().comparison);
    for (QAction *action : window.findChildren<QAction *>())
        if (action->text() == u"Draw Random &Inputs")
            action->trigger();
    QVERIFY(settleAfterEdit(window));
    const session::Figures &figures = window.controller().figures();
    QVERIFY(figures.comparison);
    QCOMPARE(figures.comparison->examples, std::size_t{8});
    QStringList said;
    for (const QLabel *label : window.statusBar()->findChildren<QLabel *>())
        said << label->text();
    QVERIFY2(said.join(' ').contains("on random inputs"), qPrintable(said.join(' ')));
    QVERIFY2(!said.join(' ').contains("top-1"), qPrintable(said.join(' '))); // which would be accuracy
    QStringList buttons;
    for (const QToolButton *button : window.findChildren<QToolButton *>())
        buttons << button->text();
    QVERIFY(buttons.contains("random inputs"));
}

void TestMainWindow::anOnnxModelIsEditedComparedSavedAndExported()
{
    const QTemporaryDir folder;
    const QString model = folder.filePath("network.onnx");
    QVERIFY(QFile::copy(kOnnxModel, model));
    const QString session = folder.filePath("network.halftone");
    {
        MainWindow window;
        dropFile(window, model);
        QVERIFY(settle(window));
        QVERIFY2(window.controller().isOpen(), qPrintable(window.failure()));
        for (const QComboBox *box : window.findChildren<QComboBox *>())
            if (box->accessibleName()
                == u"mode") // node for node as MXNet does it, an ONNX model cannot be converted
                for (int k = 0; k < box->count(); ++k)
                    QCOMPARE(box->model()->flags(box->model()->index(k, 0)).testFlag(Qt::ItemIsEnabled),
                             box->itemText(k) != u"mxnet");
        jobs::ExampleOptions data;
        data.inputs = test::kSampleData.toStdString();
        window.jobs().setData(data);
        QVERIFY(settleAfterEdit(window));
        const session::Figures &figures = window.controller().figures();
        QVERIFY(figures.comparison && figures.comparison->reference && figures.calibration);
        QVERIFY(!figures.calibration->tensors.empty());
        const graph::Graph &graph = window.controller().snapshot()->graph();
        const graph::NodeId conv = test::nodeNamed(graph, "conv0");
        QCOMPARE(window.controller().snapshot()->precisionOf(conv), tensor::DType::F16);
        QVERIFY(window.controller().apply(policy::OverrideNodes{{"conv0"}, tensor::DType::F32}));
        QVERIFY(settleAfterEdit(window));
        QCOMPARE(window.controller().snapshot()->precisionOf(conv), tensor::DType::F32);
        QCOMPARE(figures.comparisonRevision, window.controller().snapshot()->revision);
        QAction *store = nullptr;
        for (QAction *action : window.findChildren<QAction *>())
            if (action->text() == u"Store &Parameters in the Target Type")
                store = action;
        QVERIFY(store && store->isChecked()); // as is usual in this format
        store->trigger();
        QVERIFY(settleAfterEdit(window));
        QVERIFY(!store->isChecked());
        for (const tensor::Array &array : window.controller().snapshot()->converted->model.parameters)
            QCOMPARE(array.values.dtype(), tensor::DType::F32);
        window.controller().undo();
        QVERIFY(settleAfterEdit(window));
        QVERIFY(store->isChecked());
        const auto saved = window.files().save(session);
        QVERIFY2(saved.ok(), saved.ok() ? "" : saved.error().message().c_str());
    }
    MainWindow window;
    window.open(session);
    QVERIFY(settle(window));
    const session::Snapshot &snapshot = *window.controller().snapshot();
    QCOMPARE(snapshot.precisionOf(test::nodeNamed(snapshot.graph(), "conv0")), tensor::DType::F32);
    session::ExportOptions options;
    options.prefix = folder.filePath("out").toStdString();
    const auto picture = session::graphPicture(snapshot);
    QVERIFY(picture.ok());
    const auto written
        = session::exportAll(snapshot, window.controller().figures(), options, picture.value());
    QVERIFY2(written.ok(), written.ok() ? "" : written.error().message().c_str());
    QCOMPARE(written.value(), session::filesOf(options, *snapshot.source));
    QCOMPARE(QString::fromStdString(written.value().front()), folder.filePath("out.onnx"));
    const QJsonObject info = jsonOf({"info", folder.filePath("out.onnx"), "--json"});
    QCOMPARE(info["ops"].toObject()["Cast"].toInt(), int(snapshot.castCount()));
    options.prefix = folder.filePath("network").toStdString();
    QVERIFY(!session::exportAll(snapshot, {}, options, {}).ok()); // never over the source
}

/// While the errors are computed first, neither the first steps nor the empty drawing asks for what has been asked for.
void TestMainWindow::timesThatAreAwaitedAreNotAskedFor()
{
    QSettings().remove(QStringLiteral("firstStepsClosed"));
    MainWindow window;
    window.resize(1400, 900);
    window.show();
    window.openSample();
    QTRY_VERIFY(window.jobs().isBusy());
    window.showView(QStringLiteral("latency"));
    auto *const plot = window.findChild<widgets::LatencyPlot *>();
    QTRY_VERIFY2(plot->emptyText().startsWith(QStringLiteral("Turn on")), qPrintable(plot->emptyText()));
    QPushButton *measure = nullptr;
    for (QPushButton *button : window.findChild<app::FirstSteps *>()->findChildren<QPushButton *>())
        if (button->text() == u"Measure Latency")
            measure = button;
    QVERIFY(measure && measure->isVisible());
    window.jobs().setLatencyWanted(true);
    QVERIFY(!measure->isVisible());
    QVERIFY2(plot->emptyText().startsWith(QStringLiteral("Layer times are measured when")),
             qPrintable(plot->emptyText()));
    window.jobs().setLatencyWanted(false);
    QVERIFY(measure->isVisible());
    QVERIFY(plot->emptyText().startsWith(QStringLiteral("Turn on")));
}

void TestMainWindow::theFirstStepsAreShownUntilTheyAreClosed()
{
    QSettings().remove(QStringLiteral("firstStepsClosed"));
    {
        MainWindow window;
        window.jobs().setErrorsWanted(false);
        auto *const steps = window.findChild<app::FirstSteps *>();
        QVERIFY(!steps->isVisibleTo(&window)); // on the start page
        window.openSample();
        QVERIFY(settle(window));
        QVERIFY(steps->isVisibleTo(&window));
        for (QPushButton *button : steps->findChildren<QPushButton *>())
            if (button->text() == u"Measure Latency")
                button->click();
        for (const QCheckBox *box : window.findChildren<QCheckBox *>())
            if (box->accessibleName() == u"Live latency")
                QVERIFY(box->isChecked());
        window.jobs().cancel();
        for (const QPushButton *button :
             steps->findChildren<QPushButton *>()) // what is done is not offered again
            QVERIFY2(!button->isVisibleTo(steps), qPrintable(button->text())); // the sample brings its data
        QTest::mouseClick(steps->findChild<QToolButton *>(), Qt::LeftButton);
        QVERIFY(!steps->isVisibleTo(&window));
    }
    MainWindow window;
    window.jobs().setErrorsWanted(false);
    window.openSample();
    QVERIFY(settle(window));
    QVERIFY(!window.findChild<app::FirstSteps *>()->isVisibleTo(&window));
}

void TestMainWindow::dataThatContradictTheModelChangeNothing()
{
    const QTemporaryDir folder;
    const std::string wrong = folder.filePath("wrong.npz").toStdString();
    const io::NamedTensor array{
        "data",
        tensor::Tensor::owning(tensor::DType::F32, {2, 3, 8, 8}, std::vector<std::byte>(4 * 2 * 3 * 8 * 8))};
    QVERIFY(io::writeNpz(std::span(&array, 1), wrong).ok());
    MainWindow window;
    window.openSample();
    QVERIFY(settle(window));
    const session::Figures before = window.controller().figures();
    const std::string data = window.jobs().data()->inputs;
    const std::uint64_t revision = window.controller().snapshot()->revision;
    QSignalSpy failed(&window.jobs(), &app::LiveJobs::failed);
    jobs::ExampleOptions examples;
    examples.inputs = wrong;
    window.jobs().setData(examples);
    QVERIFY(settleAfterEdit(window));
    QCOMPARE(failed.size(), 1);
    QVERIFY2(failed[0][0].toString().startsWith("Could not attach "), qPrintable(failed[0][0].toString()));
    const auto *const notice = window.findChild<QWidget *>(QStringLiteral("notice"));
    QVERIFY(notice->isVisibleTo(&window)); // until right ones come, at the end
    QCOMPARE(window.jobs().data()->inputs, data);
    QCOMPARE(window.controller().snapshot()->revision, revision);
    const session::Figures &after = window.controller().figures();
    QCOMPARE(after.comparison.get(), before.comparison.get());
    QCOMPARE(after.comparisonRevision, revision);
    QVERIFY(after.calibration == before.calibration);
    examples.inputs = data;
    window.jobs().setData(examples);
    QTRY_VERIFY(!notice->isVisibleTo(&window));
    window.jobs().cancel();
}

void TestMainWindow::dataInPlaceOfOthersDimTheFiguresOfThose()
{
    MainWindow window;
    window.openSample();
    QVERIFY(settle(window));
    QCOMPARE(window.controller().figures().comparisonRevision, window.controller().snapshot()->revision);
    window.jobs().setErrorsWanted(false); // so that they are not computed anew
    jobs::ExampleOptions examples;
    examples.inputs = HALFTONE_SOURCE_DIR "/resources/sample/digits-calibration.npz";
    window.jobs().setData(examples);
    QVERIFY(settleAfterEdit(window));
    QCOMPARE(window.jobs().data()->inputs, examples.inputs);
    QVERIFY(window.controller().figures().comparison); // still there, and marked as of before
    QVERIFY(window.controller().figures().comparisonRevision != window.controller().snapshot()->revision);
}

void TestMainWindow::afterASuggestionTheKeysAreTheGraphs()
{
    MainWindow window;
    window.show();
    QVERIFY(QTest::qWaitForWindowActive(&window));
    window.openSample();
    QVERIFY(settle(window));
    const auto target = [&window] { return window.controller().document()->policy().target; };
    const tensor::DType before = target();
    auto *const mend = window.suggestionBar().findChild<QPushButton *>();
    mend->setFocus();
    QTest::mouseClick(mend, Qt::LeftButton);
    QVERIFY(settleAfterEdit(window));
    QCOMPARE(QApplication::focusWidget(), window.graphView().focusProxy());
    QTest::keyClick(QApplication::focusWidget(), Qt::Key_Down);
    QCOMPARE(target(), before);

    QComboBox *targets = nullptr;
    for (QComboBox *box : window.findChildren<QComboBox *>()) {
        if (box->findText("bfloat16") < 0)
            continue;
        QVERIFY2(!targets, "the target is chosen in one place");
        targets = box;
    }
    QVERIFY(targets);
    targets->setFocus();
    targets->setCurrentIndex(targets->findText("bfloat16"));
    Q_EMIT targets->activated(targets->currentIndex());
    QCOMPARE(target(), tensor::DType::BF16);
    QCOMPARE(QApplication::focusWidget(), window.graphView().focusProxy());
    window.jobs().cancel();
}

void TestMainWindow::messagesAreOfTheModelThatIsOpen()
{
    MainWindow window;
    window.jobs().setErrorsWanted(false);
    window.openSample();
    QVERIFY(settle(window));
    window.tellFailure("something about the sample");
    const auto *const log = window.findChild<app::MessageLog *>();
    QVERIFY(log->toPlainText().contains("something about the sample"));
    window.open(test::kSampleModel);
    QVERIFY(settle(window));
    QVERIFY(!log->toPlainText().contains("something about the sample"));
}

/// Of a symbol alone nobody knows the shapes: that is a note, since nothing has failed.
void TestMainWindow::aModelWithoutShapesIsGreetedByNoError()
{
    const QTemporaryDir folder;
    const QString path = folder.filePath("alone-symbol.json");
    QFile file(path);
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write(R"({"nodes":[{"op":"null","name":"data","inputs":[]},
        {"op":"exp","name":"e","inputs":[[0,0,0]]}],"arg_nodes":[0],"heads":[[1,0,0]]})");
    file.close();
    MainWindow window;
    window.jobs().setLatencyWanted(true);
    window.open(path);
    QVERIFY(settle(window));
    QVERIFY2(window.failure().isEmpty(), qPrintable(window.failure()));
    const QString said = window.findChild<app::MessageLog *>()->toPlainText();
    QVERIFY2(said.contains("No latency yet"), qPrintable(said));
    window.jobs().setLatencyWanted(false);
}

void TestMainWindow::aPolicyFileOpensOntoTheModel()
{
    const QTemporaryDir folder;
    const QString path = folder.filePath("mine.json"); // told by what is in it
    QVERIFY(QFile::copy(HALFTONE_SOURCE_DIR "/resources/sample/all-float16-but-sum.policy.json", path));
    MainWindow window;
    window.jobs().setErrorsWanted(false);
    window.open(test::kSampleModel);
    QVERIFY(settle(window));
    dropFile(window, path);
    QVERIFY(settleAfterEdit(window));
    QVERIFY(window.controller().isOpen());
    QVERIFY(window.controller().document()->canUndo());
    QVERIFY(window.failure().isEmpty());
}

void TestMainWindow::whatBelongsToTheSampleIsNotSavedBesideIt()
{
    const QTemporaryDir folder;
    QCOMPARE(app::folderFor(folder.filePath("model-symbol.json")), folder.path());
    QVERIFY(!app::folderFor(test::kSampleModel).contains("resources"));
}

void TestMainWindow::aPageBehindOthersComesToTheFrontBeforeItsKeyHidesIt()
{
    MainWindow window;
    window.show();
    QVERIFY(QTest::qWaitForWindowExposed(&window));
    openQuickly(window);
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

void TestMainWindow::drawingsOpenHighAndKeepTheHeightThatAPersonGivesThem()
{
    QSettings().remove(QStringLiteral("layout"));
    MainWindow window;
    window.resize(1400, 900);
    window.show();
    QVERIFY(QTest::qWaitForWindowExposed(&window));
    openQuickly(window);
    QTest::qWait(200); // until the first sizes are taken
    const auto dock
        = [&window](const char *name) { return window.findChild<QDockWidget *>(QString::fromLatin1(name)); };
    // With the tabs below it, as parts of the window's height.
    const auto share = [&window, &dock](const char *name) {
        return double(window.statusBar()->y() - dock(name)->y()) / window.height();
    };
    QVERIFY2(share("layers") < 0.35, qPrintable(QString::number(share("layers"))));
    dock("error")->raise();
    QTRY_VERIFY2(std::abs(share("error") - 0.45) < 0.02, qPrintable(QString::number(share("error"))));
    dock("calibration")->raise();
    QTRY_VERIFY(std::abs(share("calibration") - 0.45) < 0.02);
    window.resizeDocks({dock("calibration")}, {300}, Qt::Vertical);
    QTRY_VERIFY(share("calibration") < 0.38);
    const double chosen = share("calibration");
    dock("latency")->raise();
    QTest::qWait(50);
    QCOMPARE(share("latency"), chosen);
}

/// A layout is saved at every end, also where nobody has opened a drawing yet.
void TestMainWindow::drawingsOpenHighOnALaterStartToo()
{
    QSettings().remove(QStringLiteral("layout"));
    QSettings().remove(QStringLiteral("drawingShown"));
    const auto shareOf = [](MainWindow &window, const char *name, bool isRaised) {
        window.resize(1400, 900);
        window.show();
        if (!QTest::qWaitForWindowExposed(&window))
            return 0.0;
        openQuickly(window);
        auto *const dock = window.findChild<QDockWidget *>(QString::fromLatin1(name));
        if (isRaised)
            dock->raise();
        QTest::qWait(200); // until the first sizes are taken
        return double(window.statusBar()->y() - dock->y()) / window.height();
    };
    {
        MainWindow window;
        QVERIFY(shareOf(window, "layers", false) < 0.35);
        QVERIFY(window.close());
    }
    double chosen = 0;
    {
        MainWindow window;
        QVERIFY(!QSettings().value(QStringLiteral("layout")).toByteArray().isEmpty());
        const double share = shareOf(window, "error", true);
        QVERIFY2(std::abs(share - 0.45) < 0.02, qPrintable(QString::number(share)));
        auto *const dock = window.findChild<QDockWidget *>(QStringLiteral("error"));
        window.resizeDocks({dock}, {250}, Qt::Vertical);
        QTest::qWait(50);
        chosen = double(window.statusBar()->y() - dock->y()) / window.height();
        QVERIFY(chosen < 0.4);
        QVERIFY(window.close());
    }
    MainWindow window;
    const double share = shareOf(window, "latency", true);
    QVERIFY2(std::abs(share - chosen) < 0.02, qPrintable(QString::number(share)));
}

void TestMainWindow::entriesOfMenusShowTheirToolTips()
{
    MainWindow window;
    const auto menus = window.menuBar()->findChildren<QMenu *>();
    const auto draws = [](const QMenu *menu) {
        return std::ranges::any_of(menu->actions(), [](const QAction *action) {
            return action->toolTip() == app::drawnInputsMeaning();
        });
    };
    const auto model = std::ranges::find_if(menus, draws);
    QVERIFY(model != menus.end());
    QVERIFY((*model)->toolTipsVisible());
}

/// The menu waits for a choice: a timer makes it.
void TestMainWindow::aNodesMenuCopiesItsWholeName()
{
    MainWindow window;
    window.show();
    openQuickly(window);
    const graph::Graph &graph = window.controller().snapshot()->graph();
    window.controller().selection().set(test::nodeNamed(graph, "stage2_shortcut_conv"));
    bool hasBlockMenu = false;
    QTimer::singleShot(0, &window, [&hasBlockMenu] {
        auto *const menu = qobject_cast<QMenu *>(QApplication::activePopupWidget());
        if (!menu)
            qFatal("no menu");
        for (QAction *action : menu->actions()) {
            hasBlockMenu = hasBlockMenu
                || (action->menu() && action->menu()->objectName() == QStringLiteral("moveBlock"));
            if (action->text().remove(QLatin1Char('&')) == QStringLiteral("Copy Name"))
                action->trigger();
        }
        menu->close();
    });
    Q_EMIT window.findChild<widgets::GraphView *>()->nodesMenuRequested(QPoint(100, 100));
    QVERIFY(hasBlockMenu);
    QCOMPARE(QApplication::clipboard()->text(), QStringLiteral("stage2_shortcut_conv"));
}

/// In the colour of warnings, and only that part.
void TestMainWindow::theStatusBarWarnsOfTimesThatGainNothing()
{
    MainWindow window;
    window.openSample();
    QVERIFY(settle(window));
    session::Figures figures = window.controller().figures();
    const session::Snapshot &snapshot = *window.controller().snapshot();
    auto latency = std::make_shared<session::LatencyFigures>();
    latency->versus = {0.8, 1.42, {1.38, 1.46}};
    figures.latency = latency;
    figures.latencyRevision = snapshot.revision;
    window.controller().setFigures(figures);
    const widgets::ElidedLabel *summary = nullptr;
    for (const QLabel *label : window.statusBar()->findChildren<QLabel *>())
        if (const auto *const elided = dynamic_cast<const widgets::ElidedLabel *>(label))
            summary = elided;
    QVERIFY(summary);
    const QString warning = app::warningOf(snapshot, figures);
    QVERIFY2(warning.contains(QStringLiteral("slower")), qPrintable(warning));
    QVERIFY(summary->warnsFrom() > 0);
    QCOMPARE(summary->text().mid(summary->warnsFrom()), warning);
    latency = std::make_shared<session::LatencyFigures>(*latency);
    latency->versus = {0.8, 0.75, {0.71, 0.79}};
    figures.latency = latency;
    window.controller().setFigures(figures);
    QVERIFY(app::warningOf(snapshot, figures).isEmpty());
    QCOMPARE(summary->warnsFrom(), widgets::ElidedLabel::kNowhere);
}

void TestMainWindow::theFirstWindowShowsTheNamesOfOperatorsWhole()
{
    QSettings().remove(QStringLiteral("layout"));
    MainWindow window;
    window.show();
    QVERIFY(QTest::qWaitForWindowExposed(&window));
    openQuickly(window);
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
        if (action->shortcut() == QKeySequence(Qt::SHIFT | Qt::Key_Escape))
            action->trigger();
    }
    QVERIFY(!window.jobs().isBusy());
    QVERIFY(window.statusBar()->currentMessage().contains(QStringLiteral("Compute Again")));
}

void TestMainWindow::tooLittleMemoryIsMendedFromTheNotice()
{
    MainWindow window;
    app::JobSettings little;
    little.memoryLimit = 2000; // bytes
    window.jobs().setSettings(little);
    window.openSample();
    const auto *const notice = window.findChild<app::NoticeBar *>(QStringLiteral("notice"));
    QVERIFY(notice != nullptr);
    QTRY_VERIFY2_WITH_TIMEOUT(notice->text().contains("memory: a limit of 2.0 KiB is too small"),
                              qPrintable(notice->text()), 60000);
    QVERIFY(!window.controller().figures().comparison);
    auto *const mend = notice->findChild<QPushButton *>();
    QCOMPARE(mend->text(), QStringLiteral("Memory Limit…"));
    QVERIFY(mend->isVisibleTo(&window));
    QTimer answer;
    connect(&answer, &QTimer::timeout, this, [&answer] {
        QWidget *const dialog = QApplication::activeModalWidget();
        if (dialog == nullptr || QApplication::focusWidget() == nullptr)
            return;
        answer.stop();
        QTest::keyClicks(QApplication::focusWidget(), "512"); // in place of what stands there
        QTest::keyClick(QApplication::focusWidget(), Qt::Key_Return);
    });
    answer.start(20);
    QTest::mouseClick(mend, Qt::LeftButton);
    QCOMPARE(window.jobs().settings().memoryLimit, std::size_t{512} << 20);
    QVERIFY2(notice->text().isEmpty(), qPrintable(notice->text()));
    QTRY_VERIFY_WITH_TIMEOUT(window.controller().figures().comparison != nullptr, 60000);
}

void TestMainWindow::drawnInputsReplaceDataOnlyWhenConfirmed()
{
    MainWindow window;
    test::openQuickly(window);
    const auto before = window.jobs().data();
    QVERIFY(before);
    const auto draw = [&window](bool confirms) {
        bool wasAsked = false;
        QTimer answer;
        answer.setSingleShot(true);
        connect(&answer, &QTimer::timeout, &window, [&] {
            auto *const box = qobject_cast<QMessageBox *>(QApplication::activeModalWidget());
            wasAsked = box != nullptr;
            for (QAbstractButton *button : box ? box->buttons() : QList<QAbstractButton *>())
                if ((button->text().remove('&') == u"Replace") == confirms)
                    return button->click();
        });
        answer.start(0);
        for (QAction *action : window.findChildren<QAction *>())
            if (action->text() == u"Draw Random &Inputs")
                action->trigger();
        return wasAsked;
    };
    QVERIFY(draw(false));
    QVERIFY(settleAfterEdit(window));
    QVERIFY(window.jobs().data() == before);
    QVERIFY(draw(true));
    QVERIFY(settleAfterEdit(window));
    QVERIFY(!(window.jobs().data() == before));
    QVERIFY(!draw(true)); // drawn ones can be drawn again
    QVERIFY(settleAfterEdit(window));
}

void TestMainWindow::theRunMenuMeasuresCalibratesAndTunes()
{
    MainWindow window;
    window.show();
    test::openQuickly(window);
    const auto trigger = [&window](const QString &text) {
        for (const QMenu *menu : window.menuBar()->findChildren<QMenu *>())
            for (QAction *action :
                 QString(menu->title()).remove('&') == u"Run" ? menu->actions() : QList<QAction *>{})
                if (QString(action->text()).remove('&') == text)
                    return action->trigger(), true;
        return false;
    };
    const auto isInFront = [&window](const char *panel) {
        return !window.findChild<QDockWidget *>(QString::fromLatin1(panel))->visibleRegion().isEmpty();
    };
    QVERIFY(!window.jobs().isLatencyWanted());
    QVERIFY(trigger(QStringLiteral("Measure Latency")));
    QVERIFY(window.jobs().isLatencyWanted());
    QTRY_VERIFY(isInFront("latency"));
    QVERIFY(trigger(QStringLiteral("Calibrate")));
    QTRY_VERIFY(isInFront("calibration"));
    QVERIFY(settle(window));
    window.jobs().setLatencyWanted(false);
    QVERIFY(settle(window));
    QVERIFY(trigger(QStringLiteral("Tune")));
    QTRY_VERIFY(isInFront("tune"));
    QVERIFY(window.tune().isRunning() || !window.tune().whyNot().isEmpty());
    if (window.tune().isRunning())
        Q_EMIT window.tune().stopWanted();
    QVERIFY(settle(window));
}

void TestMainWindow::rowsOfLayersCanBeMovedToAList()
{
    MainWindow window;
    window.show();
    test::openQuickly(window);
    window.controller().selection().set(
        test::nodeNamed(window.controller().snapshot()->graph(), "stem_conv"));
    auto *const table = window.findChild<widgets::LayersTable *>();
    Q_EMIT table->view()->customContextMenuRequested(QPoint(5, 5));
    auto *const menu = table->findChild<QMenu *>(QStringLiteral("rowMenu"));
    QVERIFY(menu);
    QAction *const move = menu->actions().value(0);
    QVERIFY(move && move->menu());
    QCOMPARE(move->text().remove('&'), QStringLiteral("Move To"));
    for (QAction *list : move->menu()->actions())
        if (list->text().startsWith(QStringLiteral("excluded"), Qt::CaseInsensitive))
            list->trigger();
    menu->close();
    QVERIFY(settleAfterEdit(window));
    QCOMPARE(window.controller().document()->policy().excludedNames, std::vector<std::string>{"stem_conv"});
}

/// As style sheets do, which hold the palette that they were made with.
void TestMainWindow::noWidgetKeepsColoursOfAnotherTheme()
{
    MainWindow window;
    window.show();
    test::openQuickly(window);
    for (const QWidget *widget : window.findChildren<QWidget *>())
        QVERIFY2(widget->styleSheet().isEmpty(), widget->metaObject()->className());
}

void TestMainWindow::theSampleIsThereAsOnnxToo()
{
    MainWindow window;
    for (QAction *action : window.findChildren<QAction *>())
        if (action->text() == u"&ONNX Model")
            action->trigger();
    const bool isOpen = settle(window);
    if (window.controller().document() == nullptr)
        QSKIP("this build was made without ONNX");
    QVERIFY(isOpen);
    const auto &bar = window.suggestionBar();
    QVERIFY2(bar.text().startsWith("energy (ReduceSum) overflows in float16"), qPrintable(bar.text()));
    QTest::mouseClick(bar.findChild<QPushButton *>(), Qt::LeftButton);
    QVERIFY(settleAfterEdit(window));
    const session::Figures &figures = window.controller().figures();
    QCOMPARE(figures.comparison->other->top1, figures.comparison->reference->top1);
}

void TestMainWindow::theSampleShowsWhatOverflowsAndAButtonThatMendsIt()
{
    MainWindow window;
    window.openSample();
    QVERIFY(settle(window));
    const auto &bar = window.suggestionBar();
    QVERIFY2(bar.text().startsWith("energy (sum) overflows in float16"), qPrintable(bar.text()));

    const QString promised = bar.text(); // what it gains and costs
    QVERIFY2(promised.contains("Keep sum in fp32: top-1 ") && promised.contains(", casts "),
             qPrintable(promised));
    const double before = window.controller().figures().comparison->other->top1;
    auto *const mend = bar.findChild<QPushButton *>();
    QTest::mouseClick(mend, Qt::LeftButton);
    QVERIFY(settleAfterEdit(window));
    const session::Snapshot &snapshot = *window.controller().snapshot();
    QCOMPARE(snapshot.precisionOf(test::nodeNamed(snapshot.graph(), "energy")), tensor::DType::F32);
    QCOMPARE(window.controller().figures().comparison->other->top1,
             window.controller().figures().comparison->reference->top1);
    // What it did, in the figures of before and now, and a way back.
    const double now = window.controller().figures().comparison->other->top1;
    QVERIFY2(promised.contains(
                 QStringLiteral("%1 \u2192 %2").arg(100 * before, 0, 'f', 1).arg(100 * now, 0, 'f', 1)),
             qPrintable(promised)); // as was said before it was done
    QVERIFY2(bar.text().startsWith("Done: Keep sum in fp32. top-1 "), qPrintable(bar.text()));
    QCOMPARE(bar.kind(), app::NoticeBar::Kind::Information);
    QVERIFY2(bar.text().contains(
                 QStringLiteral("%1 \u2192 %2").arg(100 * before, 0, 'f', 1).arg(100 * now, 0, 'f', 1)),
             qPrintable(bar.text()));
    QCOMPARE(mend->text(), "Undo");
    QTest::mouseClick(mend, Qt::LeftButton);
    QVERIFY(settleAfterEdit(window));
    QVERIFY2(bar.text().startsWith("energy (sum) overflows in float16"), qPrintable(bar.text()));
}

void TestMainWindow::figuresEqualTheCommandLines()
{
    const QString policy
        = QStringLiteral(HALFTONE_SOURCE_DIR "/resources/sample/all-float16-but-sum.policy.json");
    MainWindow window;
    window.open(test::kSampleModel);
    window.applyPolicyWhenOpen(policy);
    QVERIFY(settle(window));
    jobs::ExampleOptions data;
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
        if (node == rewrite::kNoNode || !figures.nodes[node].cumulative)
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
    if (latency->native)
        QSKIP("this machine computes in float16");
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
    QCOMPARE(written.value(), session::filesOf(options, *snapshot.source));
    const QJsonObject info = jsonOf({"info", folder.filePath("out-symbol.json"), "--json"});
    QCOMPARE(info["ops"].toObject()["amp_cast"].toInt(), int(snapshot.castCount()));
    QFile page(folder.filePath("out.html"));
    QVERIFY(page.open(QIODevice::ReadOnly));
    const QByteArray html = page.readAll();
    QVERIFY(html.contains("<svg") && html.contains("pixel_square") && html.contains("energy"));
    QVERIFY(!html.contains("http://")
            || html.indexOf("http://") == html.indexOf("http://www.w3.org/2000/svg"));

    options.format = io::formatNamed("onnx");
    const auto translated = session::exportAll(snapshot, {}, options, {});
    QVERIFY2(translated.ok(), translated.ok() ? "" : translated.error().message().c_str());
    QCOMPARE(translated.value(), session::filesOf(options, *snapshot.source));
    QCOMPARE(QString::fromStdString(translated.value().front()), folder.filePath("out.onnx"));
    QCOMPARE(jsonOf({"info", folder.filePath("out.onnx"), "--json"})["format"].toString(), QString("onnx"));
    options.format = nullptr;

    options.prefix = snapshot.source->modelPath.substr(0, snapshot.source->modelPath.size() - 12);
    QVERIFY(!session::exportAll(snapshot, {}, options, {}).ok()); // never over the source
}

HALFTONE_WINDOW_TEST(TestMainWindow)
#include "tst_main_window.moc"
