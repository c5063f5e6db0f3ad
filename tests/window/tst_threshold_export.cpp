#include "app/dialogs/export_dialog.h"
#include "app/export_job.h"
#include "core/io/formats.h"
#include "core/session/export.h"
#include "tests/support/call_cli.h"
#include "tests/support/files.h"
#include "tests/window/window_fixture.h"
#include "widgets/models/threshold_editor.h"
#include "widgets/plots/calibration_plot.h"
#include "widgets/plots/custom_plot.h"
#include "widgets/plots/threshold_handle.h"

#include <QCheckBox>
#include <QDialog>
#include <QLineEdit>
#include <QListWidget>

using namespace halftone;
using app::MainWindow;
using test::settle;
using test::settleAfterEdit;
using widgets::CalibrationPlot;
using widgets::ThresholdEditor;
using widgets::ThresholdHandle;

namespace {

constexpr const char *kTensor = "normalized_output"; // what the first convolution reads

} // namespace

/// From the mouse on a plot to the ranges in an exported symbol.
class TestThresholdExport : public QObject
{
    Q_OBJECT

    /// The sample with its convolutions in int8, calibrated.
    static bool showInt8Sample(MainWindow &window)
    {
        window.resize(1600, 1000);
        window.show();
        window.openSample(test::mxnetSample());
        return settle(window)
            && window.controller().apply(policy::MoveOperators{{"Convolution"}, policy::List::Int8})
            && settleAfterEdit(window);
    }

    /// Takes the grip right of the values to half of where it is.
    static void dragToHalf(CalibrationPlot &plot, double threshold)
    {
        ThresholdHandle &grip = *plot.handles().front();
        QCPAxis *const axis = plot.plot()->axisRects().front()->axis(QCPAxis::atBottom);
        QTest::mousePress(&grip, Qt::LeftButton, {}, grip.rect().center());
        const QPoint inPlot(static_cast<int>(std::lround(axis->coordToPixel(threshold / 2))),
                            grip.geometry().center().y());
        const QPoint local = grip.mapFrom(plot.plot(), inPlot);
        QMouseEvent move(QEvent::MouseMove, local, grip.mapToGlobal(local), Qt::NoButton, Qt::LeftButton, {});
        QApplication::sendEvent(&grip, &move);
        QTest::mouseRelease(&grip, Qt::LeftButton, {}, grip.rect().center());
    }

private Q_SLOTS:
    void aDraggedThresholdGivesWhatTheCommandLineGivesForIt()
    {
        const QTemporaryDir folder;
        MainWindow window;
        QVERIFY(showInt8Sample(window));
        auto &controller = window.controller();
        QVERIFY(window.showView("calibration"));
        auto *const editor = window.findChild<ThresholdEditor *>();
        auto *const plot = window.findChild<CalibrationPlot *>();
        QVERIFY(editor && plot);
        const auto &calibrated = controller.figures().calibration;
        QVERIFY(calibrated);
        const auto tensor
            = std::ranges::find(calibrated->tensors, kTensor, &calibration::CalibratedTensor::name);
        QVERIFY(tensor != calibrated->tensors.end());
        editor->choose(static_cast<std::size_t>(tensor - calibrated->tensors.begin()));
        QTRY_VERIFY_WITH_TIMEOUT(editor->study() && !editor->isChoosing(), 60000);
        QTRY_VERIFY_WITH_TIMEOUT(plot->handles().front()->isVisible(), 60000);

        const double before = editor->value();
        dragToHalf(*plot, before);
        const auto &thresholds = controller.document()->policy().thresholds;
        QVERIFY(thresholds.contains(kTensor));
        const double dragged = thresholds.at(kTensor).value.value_or(0);
        QVERIFY2(std::abs(dragged - before / 2) < 0.1 * before, qPrintable(QString::number(dragged)));
        // A large conversion is derived in the background.
        QTRY_VERIFY_WITH_TIMEOUT(controller.snapshot()->revision == controller.document()->revision(), 60000);
        QVERIFY(settleAfterEdit(window));

        session::ExportOptions options;
        options.prefix = folder.filePath("window").toStdString();
        options.report = false;
        const auto written = session::exportAll(*controller.snapshot(), controller.figures(), options, {});
        QVERIFY2(written.ok(), written.ok() ? "" : written.error().message().c_str());
        const auto converted
            = test::callCli({"convert", test::kSampleModel, "--out", folder.filePath("cli"), "--policy",
                             folder.filePath("window.policy.json"), "--inputs", test::kSampleData});
        QVERIFY2(converted.code == 0, converted.err);
        const std::string symbol = test::readFile(folder.filePath("window-symbol.json").toStdString());
        QVERIFY(symbol.find('"' + std::to_string(dragged) + '"') != std::string::npos);
        QCOMPARE(symbol, test::readFile(folder.filePath("cli-symbol.json").toStdString()));
    }

    void theProposedNameSaysInt8AndWhyParametersAreFloat32()
    {
        MainWindow window;
        window.jobs().setErrorsWanted(false);
        QVERIFY(showInt8Sample(window));
        auto &controller = window.controller();
        QVERIFY(app::proposedPrefix(*controller.snapshot()).endsWith("/digits-int8"));
        const QString why = app::whyParametersStay(*controller.snapshot());
        QVERIFY2(why.contains("quantizes the weights") && why.contains("Store Parameters"), qPrintable(why));
        QVERIFY2(!app::whatIsStored(*controller.snapshot()).contains("codes"),
                 qPrintable(app::whatIsStored(*controller.snapshot())));
        QVERIFY(controller.apply(policy::SetCastParams{true}));
        QTRY_VERIFY(controller.snapshot()->revision == controller.document()->revision());
        QCOMPARE(app::whyParametersStay(*controller.snapshot()), QString());
    }

    void aModelThatWasQuantizedBeforeStoresItsCodes()
    {
        MainWindow window;
        window.jobs().setErrorsWanted(false);
        window.open(QStringLiteral(HALFTONE_TEST_DATA "/qdq/qdq.onnx"));
        QTRY_VERIFY(window.controller().isOpen() && !window.files().isOpening());
        QVERIFY(settle(window));
        const session::Snapshot &snapshot = *window.controller().snapshot();
        QVERIFY2(app::whatIsStored(snapshot).contains("int8 codes"), qPrintable(app::whatIsStored(snapshot)));
        QVERIFY2(!app::whyParametersStay(snapshot).contains("when it runs"),
                 qPrintable(app::whyParametersStay(snapshot)));
    }

    /// As ONNX has it: the weights are in the file as codes, and nothing is computed of them when it runs.
    void weightsThatAreStoredAsCodesAreSaidToBe()
    {
        MainWindow window;
        const auto samples = app::samples();
        const auto onnx = std::ranges::find_if(samples, [](const app::Sample &sample) {
            return sample.format->title == std::string_view("ONNX");
        });
        if (onnx == samples.end())
            QSKIP("this build was made without ONNX");
        window.openSample(*onnx);
        QVERIFY(settle(window));
        auto &controller = window.controller();
        QVERIFY(controller.apply(policy::MoveOperators{{"Conv"}, policy::List::Int8}));
        QVERIFY(settleAfterEdit(window));
        const QString stored = app::whatIsStored(*controller.snapshot());
        QVERIFY2(stored.contains("int8 codes") && stored.contains("in float32"), qPrintable(stored));
        QVERIFY(!app::whyParametersStay(*controller.snapshot()).contains("when it runs"));

        const QTemporaryDir folder;
        app::ExportDialog dialog(folder.filePath("x"), controller.snapshot()->source);
        dialog.setNote(stored);
        const auto *const files = dialog.findChild<QListWidget *>();
        const auto boxes = dialog.findChildren<QCheckBox *>();
        // Each file is named by its box, and comes and goes with it.
        for (const char *what : {"Model", "Policy", "Report"}) {
            const QString start = QString::fromUtf8(what) + ": ";
            const auto isListed = [&] { return !files->findItems(start, Qt::MatchStartsWith).isEmpty(); };
            const auto box = std::ranges::find_if(boxes, [&](const QCheckBox *one) {
                return QString(one->text()).remove('&').contains(QLatin1String(what), Qt::CaseInsensitive)
                    && one->isChecked();
            });
            QVERIFY2(box != boxes.end(), what);
            QVERIFY2(isListed(), what);
            (*box)->setChecked(false);
            QVERIFY2(!isListed(), what);
        }
    }

    void theReportWaitsForTheComparisonThatRuns()
    {
        const QTemporaryDir folder;
        MainWindow window;
        window.show();
        window.openSample(test::mxnetSample());
        QVERIFY(settle(window));
        QVERIFY(window.controller().apply(policy::SetTarget{tensor::DType::BF16}));
        QTRY_VERIFY(window.jobs().isBusy() || window.isSettled());
        const QString prefix = folder.filePath("soon");
        QTimer::singleShot(0, &window, [&] {
            if (auto *const dialog = qobject_cast<QDialog *>(QApplication::activeModalWidget())) {
                dialog->findChild<QLineEdit *>()->setText(prefix);
                dialog->accept();
            }
        });
        for (QAction *action : window.findChildren<QAction *>()) {
            if (action->shortcut() == QKeySequence(Qt::CTRL | Qt::Key_E))
                action->trigger();
        }
        QTRY_VERIFY_WITH_TIMEOUT(QFile::exists(prefix + ".html"), 60000);
        const std::string page = test::readFile((prefix + ".html").toStdString());
        QVERIFY(page.find("Not compared") == std::string::npos);
        QVERIFY(page.find("Computed ") != std::string::npos);
        QVERIFY(settle(window));
    }

    void correctedBiasesAreThoseOfTheCommandLine()
    {
        const QTemporaryDir folder;
        MainWindow window;
        QVERIFY(showInt8Sample(window));

        const auto exportTo = [&](const QString &prefix, bool corrects) {
            bool wasOffered = false;
            QTimer::singleShot(0, &window, [&] {
                auto *const dialog = qobject_cast<QDialog *>(QApplication::activeModalWidget());
                if (!dialog)
                    return;
                dialog->findChild<QLineEdit *>()->setText(prefix);
                for (QCheckBox *box : dialog->findChildren<QCheckBox *>()) {
                    const bool isCorrection = box->text().contains(u"biases");
                    wasOffered = wasOffered || (isCorrection && box->isEnabled() && !box->isChecked());
                    if (isCorrection)
                        box->setChecked(corrects);
                }
                dialog->accept();
            });
            for (QAction *action : window.findChildren<QAction *>()) {
                if (action->shortcut() == QKeySequence(Qt::CTRL | Qt::Key_E))
                    action->trigger();
            }
            return wasOffered && QTest::qWaitFor([&] { return QFile::exists(prefix + ".html"); }, 60000);
        };
        QVERIFY(exportTo(folder.filePath("plain"), false));
        QVERIFY(exportTo(folder.filePath("window"), true));
        const auto converted = test::callCli({"convert", test::kSampleModel, "--out", folder.filePath("cli"),
                                              "--policy", folder.filePath("window.policy.json"), "--inputs",
                                              test::kSampleData, "--correct-biases"});
        QVERIFY2(converted.code == 0, converted.err);
        const auto parameters = [&](const char *name) {
            return test::readFile(folder.filePath(QLatin1String(name) + "-0000.params").toStdString());
        };
        const auto report = [&](const char *name) {
            return QString::fromStdString(
                test::readFile(folder.filePath(QLatin1String(name) + ".html").toStdString()));
        };
        for (const char *name : {"plain", "window"}) { // figures are there after the correction too
            QVERIFY2(!report(name).contains("Not compared"), name);
            QVERIFY2(report(name).contains("operators in int8"), name);
            QVERIFY2(report(name).contains("Quantized to int8"), name);
        }
        QVERIFY(parameters("window") == parameters("cli"));
        QVERIFY(parameters("window") != parameters("plain"));
        QCOMPARE(test::readFile(folder.filePath("window-symbol.json").toStdString()),
                 test::readFile(folder.filePath("cli-symbol.json").toStdString()));
    }
};

HALFTONE_WINDOW_TEST(TestThresholdExport)
#include "tst_threshold_export.moc"
