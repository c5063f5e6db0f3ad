#include "app/bars/notice_bar.h"
#include "core/hardware/catalogue.h"
#include "tests/widgets/graphview/graph_fixture.h"
#include "tests/window/window_fixture.h"
#include "widgets/graphview/legend.h"

#include <QAction>
#include <QLabel>
#include <QProgressBar>
#include <QRegularExpression>
#include <QSignalSpy>
#include <QStatusBar>

#include <functional>
#include <memory>
#include <utility>

using namespace halftone;
using app::MainWindow;
using widgets::DocumentController;

namespace {

constexpr int kBlocks = 3000; ///< of five operators: more than are converted at once
constexpr int kOpenMs = 60000;
constexpr int kTries = 5;

QString summaryIn(const MainWindow &window)
{
    for (const QLabel *const label : window.statusBar()->findChildren<QLabel *>())
        if (label->accessibleName() == u"Summary")
            return label->text();
    return {};
}

bool showsProgress(const MainWindow &window)
{
    const auto *const bar = window.statusBar()->findChild<QProgressBar *>();
    return bar && bar->isVisibleTo(&window);
}

QAction *actionOf(const MainWindow &window, const QString &text)
{
    for (QAction *const action : window.findChildren<QAction *>())
        if (action->text().remove('&') == text)
            return action;
    qFatal("no action %s", qPrintable(text));
}

QStringList noticesOf(const MainWindow &window)
{
    QStringList texts;
    for (const auto *bar : window.findChildren<app::NoticeBar *>())
        if (bar->isVisibleTo(&window))
            texts << bar->text();
    return texts;
}

const session::Snapshot &snapshotOf(MainWindow &window)
{
    return *window.controller().snapshot();
}

std::size_t computingIn(const session::Snapshot &snapshot, std::string_view op, tensor::DType type)
{
    std::size_t count = 0;
    for (graph::NodeId id = 0; id < snapshot.graph().nodeCount(); ++id)
        count += snapshot.graph().node(id).op == op && snapshot.precisionOf(id) == type ? 1 : 0;
    return count;
}

} // namespace

/// From a file to a window that shows it, where the conversion takes a while.
class TestOpening : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase()
    {
        m_large = m_folder.filePath(QStringLiteral("large-symbol.json"));
        QFile file(m_large);
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write(test::residualSymbol(kBlocks));
    }

    void aLargeModelIsShownBeforeItsConversionIs()
    {
        const auto window = newWindow();
        DocumentController &controller = window->controller();
        QSignalSpy opened(&controller, &DocumentController::documentChanged);
        QSignalSpy converted(&controller, &DocumentController::snapshotChanged);
        bool isAwaited = false;
        connect(&controller, &DocumentController::documentChanged, this, [&] {
            isAwaited = controller.snapshot()->isAwaited() && controller.isDeriving()
                && !controller.snapshot()->rules->places.empty() && controller.snapshot()->sourceTypes;
        });
        QString summary;
        bool isShown = false;
        connect(&controller, &DocumentController::derivingChanged, this, [&] {
            if (!controller.isDeriving())
                return;
            summary = summaryIn(*window);
            isShown = showsProgress(*window) && actionOf(*window, "Stop")->isEnabled();
        });
        window->open(m_large);
        QTRY_VERIFY_WITH_TIMEOUT(controller.isOpen(), kOpenMs);
        QVERIFY(test::settle(*window));
        QVERIFY(isAwaited);
        QCOMPARE(summary, QStringLiteral("%1 ops, being converted").arg(5 * kBlocks));
        QVERIFY(isShown);
        QCOMPARE(opened.count(), 1);
        QCOMPARE(converted.count(), 1);
        QVERIFY(snapshotOf(*window).converted && !snapshotOf(*window).error);
        QVERIFY(!showsProgress(*window));
        // softmax is in the list of float32
        const QString expected = QStringLiteral("%1 of %2 ops in float16").arg(4 * kBlocks).arg(5 * kBlocks);
        QVERIFY2(summaryIn(*window).startsWith(expected), qPrintable(summaryIn(*window)));
    }

    void aSmallModelIsConvertedAtOnce()
    {
        const auto window = newWindow();
        QSignalSpy deriving(&window->controller(), &DocumentController::derivingChanged);
        bool isConverted = false;
        connect(&window->controller(), &DocumentController::documentChanged, this,
                [&] { isConverted = snapshotOf(*window).converted != nullptr; });
        window->open(test::kSampleModel);
        QTRY_VERIFY_WITH_TIMEOUT(window->controller().isOpen(), kOpenMs);
        QVERIFY(isConverted);
        QVERIFY(test::settle(*window));
        QCOMPARE(deriving.count(), 0);
    }

    void aMeasurementOfTheMachineIsNotWaitedFor()
    {
        auto document = session::Document::open(test::kSampleModel.toStdString());
        QVERIFY(document.ok());
        policy::Policy policy;
        policy.hardware = std::string(hardware::kThis);
        document.value()->setHistory({{{policy, {}}}, 0});
        DocumentController controller;
        controller.setDocument(std::move(document).value());
        QVERIFY(controller.snapshot()->isAwaited() && controller.isDeriving());
        controller.setDocument(nullptr);
        QVERIFY(!controller.isDeriving() && !controller.snapshot());
    }

    void closingStopsTheConversion()
    {
        whileConverting([this](MainWindow &window) {
            QSignalSpy converted(&window.controller(), &DocumentController::snapshotChanged);
            QVERIFY(window.close());
            QVERIFY(!window.controller().isOpen() && !window.controller().isDeriving());
            QVERIFY(!showsProgress(window));
            QTest::qWait(300);
            QCOMPARE(converted.count(), 0);
        });
    }

    void openingAnotherModelStopsTheConversion()
    {
        whileConverting([this](MainWindow &window) {
            window.open(test::kSampleModel);
            bool isOther = false;
            int wrong = 0;
            connect(&window.controller(), &DocumentController::documentChanged, this,
                    [&] { isOther = true; });
            connect(&window.controller(), &DocumentController::snapshotChanged, this, [&] {
                wrong += isOther && snapshotOf(window).source->modelPath == m_large.toStdString() ? 1 : 0;
            });
            QTRY_VERIFY_WITH_TIMEOUT(isOther, kOpenMs);
            QVERIFY(!window.controller().isDeriving()); // which the sample has no need of
            QVERIFY(test::settle(window));
            QCOMPARE(wrong, 0);
            QCOMPARE(snapshotOf(window).source->modelPath, test::kSampleModel.toStdString());
            QVERIFY(snapshotOf(window).converted);
        });
    }

    void editsMadeMeanwhileHold()
    {
        whileConverting([](MainWindow &window) {
            DocumentController &controller = window.controller();
            QVERIFY(controller.apply(policy::MoveOperators{{"Convolution"}, policy::List::Fp32}));
            QVERIFY(controller.isDeriving() && snapshotOf(window).isAwaited());
            QVERIFY(test::settle(window));
            QCOMPARE(snapshotOf(window).revision, controller.document()->revision());
            QCOMPARE(computingIn(snapshotOf(window), "Convolution", tensor::DType::F32), 2u * kBlocks);
            controller.undo();
            QVERIFY(test::settle(window));
            QCOMPARE(computingIn(snapshotOf(window), "Convolution", tensor::DType::F16), 2u * kBlocks);
        });
    }

    void listsThatCannotBeAppliedAreTold()
    {
        whileConverting([](MainWindow &window) {
            policy::Policy policy = window.controller().document()->policy();
            policy.hardware = "no such chip";
            QVERIFY(window.controller().apply(policy::ReplacePolicy{policy, "Set Chip"}));
            QVERIFY(test::settle(window));
            QVERIFY(snapshotOf(window).error && !snapshotOf(window).converted);
            const QStringList notices = noticesOf(window);
            QVERIFY2(notices.size() == 1 && notices[0].startsWith("These lists cannot be applied: ")
                         && notices[0].contains("no such chip"),
                     qPrintable(notices.join('\n')));
            QCOMPARE(summaryIn(window), QStringLiteral("%1 ops, not converted").arg(5 * kBlocks));
            window.controller().undo();
            QVERIFY(test::settle(window));
            QVERIFY(snapshotOf(window).converted && !snapshotOf(window).error);
            QVERIFY(noticesOf(window).isEmpty());
        });
    }

    void aConversionIsStoppedAndTakenUpAgain()
    {
        whileConverting([](MainWindow &window) {
            actionOf(window, "Stop")->trigger();
            QVERIFY(!window.controller().isDeriving() && !showsProgress(window));
            QVERIFY(!actionOf(window, "Stop")->isEnabled());
            QVERIFY(snapshotOf(window).error && snapshotOf(window).error->code == Errc::Cancelled);
            const QStringList notices = noticesOf(window);
            QVERIFY2(notices.size() == 1 && notices[0].startsWith("The conversion was stopped."),
                     qPrintable(notices.join('\n')));
            QTest::qWait(300);
            QVERIFY(!snapshotOf(window).converted);
            actionOf(window, "Compute Again")->trigger();
            QVERIFY(window.controller().isDeriving());
            QVERIFY(test::settle(window));
            QVERIFY(snapshotOf(window).converted && !snapshotOf(window).error);
            QVERIFY(noticesOf(window).isEmpty());
        });
    }

    void openingIsStopped()
    {
        const auto window = newWindow();
        window->open(test::kSampleModel);
        QTRY_VERIFY_WITH_TIMEOUT(window->controller().isOpen(), kOpenMs);
        QVERIFY(test::settle(*window));
        window->open(m_large);
        QVERIFY(window->files().isOpening() && showsProgress(*window));
        actionOf(*window, "Stop")->trigger();
        QVERIFY(!window->files().isOpening() && !showsProgress(*window));
        QTest::qWait(300);
        QVERIFY(test::settle(*window));
        QCOMPARE(snapshotOf(*window).source->modelPath, test::kSampleModel.toStdString());
    }

    void whatWasMeantForAStoppedOpeningIsForgotten()
    {
        const QString policy = m_folder.filePath(QStringLiteral("all.policy.json"));
        QFile file(policy);
        QVERIFY(file.open(QIODevice::WriteOnly) && file.write("{\"mode\": \"all\"}") > 0);
        file.close();
        const auto window = newWindow();
        window->open(m_large);
        window->applyPolicyWhenOpen(policy);
        QVERIFY(window->files().isOpening());
        actionOf(*window, "Stop")->trigger();
        window->open(test::kSampleModel);
        QTRY_VERIFY_WITH_TIMEOUT(window->controller().isOpen(), kOpenMs);
        QVERIFY(test::settle(*window));
        QVERIFY(!window->controller().document()->canUndo());
    }

    void legendAndStatusLineCountTheSameOperators_data()
    {
        QTest::addColumn<QString>("model");
        QTest::addColumn<int>("count"); // as the file says
        // A Loop, with an If in it, with a Scan in that: 3 operators in the graph, 13 in bodies.
        QTest::newRow("bodies") << "/onnx/edges.onnx" << 16;
        QTest::newRow("pairs on edges") << "/qdq/qdq.onnx" << 33;
        QTest::newRow("constants") << "/onnx/long_rows.onnx" << 96;
    }
    void legendAndStatusLineCountTheSameOperators()
    {
        QFETCH(QString, model);
        QFETCH(int, count);
        const auto window = newWindow();
        window->open(QStringLiteral(HALFTONE_TEST_DATA) + model);
        QTRY_VERIFY_WITH_TIMEOUT(window->controller().isOpen(), kOpenMs);
        QVERIFY(test::settle(*window));
        const auto legend = window->graphView().findChild<widgets::Legend *>()->precisionsText();
        const auto numbersIn = [](const QString &text, const QString &pattern) {
            const auto found = QRegularExpression(pattern).match(text);
            return std::pair(found.captured(1).toInt(), found.captured(2).toInt());
        };
        const auto [lowered, all]
            = numbersIn(summaryIn(*window), QStringLiteral("^(\\d+) of (\\d+) ops in (?:float16|int8)"));
        const QString type = summaryIn(*window).contains("ops in int8") ? "int8" : "float16";
        QCOMPARE(all, count);
        int operators = 0;
        for (const QString &part : legend.split(QStringLiteral(" \u00b7 ")))
            operators += numbersIn(part, QStringLiteral("^[a-z]+\\d* (\\d+)()$")).first;
        QVERIFY2(operators == all, qPrintable(legend));
        QCOMPARE(numbersIn(legend, type + QStringLiteral(" (\\d+)()")).first, lowered);
        QCOMPARE(numbersIn(legend, QStringLiteral("(\\d+)() casts? inserted")).first,
                 numbersIn(summaryIn(*window), QStringLiteral("(\\d+)() casts?")).first);
    }

private:
    static std::unique_ptr<MainWindow> newWindow()
    {
        auto window = std::make_unique<MainWindow>();
        window->jobs().setErrorsWanted(false);
        window->show();
        return window;
    }

    /// Calls act() with a window that has opened the large model and converts it still. Where the machine is so busy that the
    /// conversion ends before, it is opened once more.
    void whileConverting(const std::function<void(MainWindow &)> &act)
    {
        for (int k = 0; k < kTries; ++k) {
            const auto window = newWindow();
            bool isConverting = false;
            connect(
                &window->controller(), &DocumentController::derivingChanged, window.get(),
                [&] {
                    if (isConverting || !window->controller().isDeriving())
                        return;
                    isConverting = true;
                    act(*window);
                },
                Qt::QueuedConnection);
            window->open(m_large);
            QTRY_VERIFY_WITH_TIMEOUT(isConverting || (window->isVisible() && test::settle(*window)), kOpenMs);
            if (isConverting)
                return;
        }
        QFAIL("the conversion was never seen to run");
    }

    QTemporaryDir m_folder;
    QString m_large;
};

HALFTONE_WINDOW_TEST(TestOpening)
#include "tst_opening.moc"
