#include "tests/widgets/models/calibrated_sample.h"
#include "widgets/models/threshold_words.h"
#include "widgets/plots/calibration_plot.h"
#include "widgets/plots/custom_plot.h"
#include "widgets/plots/threshold_handle.h"

#include <QAccessible>
#include <QElapsedTimer>
#include <QEvent>
#include <QLatin1Char>
#include <QPoint>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>

#include <algorithm>
#include <cmath>

using namespace halftone;
using namespace halftone::widgets;

namespace {

constexpr int kMostMs = 60000; ///< for a study, without optimization and beside other tests

} // namespace

class TestCalibrationPlot : public QObject
{
    Q_OBJECT

private:
    session::Figures m_figures;
    std::unique_ptr<DocumentController> m_controller;
    std::unique_ptr<ThresholdEditor> m_editor;
    std::unique_ptr<CalibrationPlot> m_plot;

    /// Shows the tensor and waits for its study.
    void choose(const char *name)
    {
        m_editor->choose(test::tensorNamed(*m_figures.calibration, name));
        QTRY_VERIFY_WITH_TIMEOUT(m_editor->study(), kMostMs);
        QTRY_VERIFY_WITH_TIMEOUT(!m_editor->isChoosing(), kMostMs);
        QTRY_VERIFY(handle().isVisible());
    }
    ThresholdHandle &handle(std::size_t k = 0) const { return *m_plot->handles()[k]; }
    QCPAxis *axisOf(std::size_t k) const
    {
        return m_plot->plot()->axisRects()[k == 2 ? 2 : 0]->axis(QCPAxis::atBottom);
    }
    const policy::Policy &policy() const { return m_controller->document()->policy(); }
    std::optional<double> ownThreshold(const std::string &tensor) const
    {
        const auto found = policy().thresholds.find(tensor);
        return found == policy().thresholds.end() ? std::nullopt : found->second.value;
    }
    void moveMouse(ThresholdHandle &grip, double axisValue, QCPAxis *axis)
    {
        const QPoint inPlot(static_cast<int>(std::lround(axis->coordToPixel(axisValue))),
                            grip.geometry().center().y());
        const QPoint local = grip.mapFrom(m_plot->plot(), inPlot);
        QMouseEvent move(QEvent::MouseMove, local, grip.mapToGlobal(local), Qt::NoButton, Qt::LeftButton, {});
        QApplication::sendEvent(&grip, &move);
    }

private Q_SLOTS:
    void initTestCase()
    {
        const auto document = test::openSample();
        QVERIFY(document);
        m_figures.calibration = test::calibratedSample(*test::snapshotOf(*document));
        QVERIFY(m_figures.calibration);
    }

    void init()
    {
        test::failOnWarnings();
        m_controller = std::make_unique<DocumentController>();
        m_controller->setDocument(test::openSample());
        m_controller->setFigures(m_figures);
        m_editor = std::make_unique<ThresholdEditor>(m_controller.get());
        m_plot = std::make_unique<CalibrationPlot>(m_controller.get(), m_editor.get());
        m_plot->resize(1200, 320);
        m_plot->show();
        QVERIFY(QTest::qWaitForWindowExposed(m_plot.get()));
    }

    void cleanup()
    {
        m_plot.reset();
        m_editor.reset();
        m_controller.reset();
    }

    void anEmptyPlotSaysWhichStepFillsIt()
    {
        QVERIFY(m_plot->emptyText().contains(QStringLiteral("Select a tensor")));
        m_controller->setFigures({});
        QVERIFY(m_plot->emptyText().contains(QStringLiteral("Attach data")));
        QVERIFY(!m_plot->emptyText().contains(QStringLiteral("Calibrate"))); // which no menu has
        m_controller->setDocument(nullptr);
        QVERIFY(m_plot->emptyText().contains(QStringLiteral("Open a model")));
    }

    void theTensorFollowsTheSelectionAndLeadsIt()
    {
        const auto node
            = [&](const char *name) { return test::nodeNamed(m_controller->snapshot()->graph(), name); };
        m_controller->selection().set(node("stem_conv"));
        QCOMPARE(m_editor->tensor()->name, std::string("stem_conv_output"));
        QVERIFY(m_plot->emptyText().isEmpty());
        choose("stem_bn_output");
        QCOMPARE(m_controller->selection().current(), std::optional(node("stem_bn")));
        m_controller->selection().clear();
        QVERIFY(!m_editor->tensor());
    }

    void draggingTheGripSetsTheThresholdByOneEdit_data()
    {
        QTest::addColumn<int>("grip");
        QTest::newRow("right of the values") << 0;
        QTest::newRow("left of the values") << 1;
        QTest::newRow("on the curves") << 2;
    }

    void draggingTheGripSetsTheThresholdByOneEdit()
    {
        QFETCH(const int, grip);
        choose("stem_conv_output");
        const auto k = static_cast<std::size_t>(grip);
        const double before = m_editor->value();
        QSignalSpy edits(m_controller.get(), &DocumentController::edited);
        QTest::mousePress(&handle(k), Qt::LeftButton, {}, handle(k).rect().center());
        const double side = k == 1 ? -1 : 1;
        for (const double share : {0.9, 0.7, 0.5}) {
            moveMouse(handle(k), side * before * share, axisOf(k));
            QVERIFY(m_editor->isMoving());
            // A pixel is some bins.
            const double pixel = axisOf(k)->range().size() / axisOf(k)->axisRect()->width();
            QVERIFY(std::abs(m_editor->value() - before * share) < 2 * pixel);
            QCOMPARE(m_editor->value(), m_editor->study()->snapped(m_editor->value()));
        }
        QCOMPARE(edits.count(), 0);
        const double moved = m_editor->value();
        QTest::mouseRelease(&handle(k), Qt::LeftButton, {}, handle(k).rect().center());
        QCOMPARE(edits.count(), 1);
        QCOMPARE(ownThreshold("stem_conv_output"), std::optional(moved));
        QCOMPARE(m_editor->value(), moved);
        m_controller->undo();
        QVERIFY(!ownThreshold("stem_conv_output"));
        QCOMPARE(m_editor->value(), before);
        m_controller->redo();
        QCOMPARE(m_editor->value(), moved);
    }

    void figuresFollowTheDragAtOnce()
    {
        choose("stem_conv_output");
        const double largest = m_editor->tensor()->statistics.absMax;
        QTest::mousePress(&handle(), Qt::LeftButton, {}, handle().rect().center());
        std::vector<double> times;
        for (int step = 60; step > 20; --step) {
            QElapsedTimer clock;
            clock.start();
            moveMouse(handle(), largest * step / 64, axisOf(0));
            const double here = m_editor->value();
            const calibration::ThresholdFigures figures = m_editor->study()->at(here);
            QVERIFY(m_plot->readOut().startsWith(clippedText(figures.clipped)));
            QVERIFY(
                m_plot->readOut().contains(QString::number(*figures.sqnrDb, 'f', 1) + QStringLiteral(" dB")));
            times.push_back(static_cast<double>(clock.nsecsElapsed()) / 1e6);
        }
        QTest::mouseRelease(&handle(), Qt::LeftButton, {}, handle().rect().center());
        std::ranges::nth_element(times, times.begin() + 20);
        qInfo("a step of the drag: %.2f ms", times[20]);
        QVERIFY(times[20] < 16);
    }

    void escapePutsTheThresholdBack()
    {
        choose("stem_conv_output");
        const double before = m_editor->value();
        QSignalSpy edits(m_controller.get(), &DocumentController::edited);
        QTest::mousePress(&handle(), Qt::LeftButton, {}, handle().rect().center());
        moveMouse(handle(), before / 2, axisOf(0));
        QVERIFY(m_editor->value() < before * 0.6);
        QTest::keyClick(&handle(), Qt::Key_Escape);
        QCOMPARE(m_editor->value(), before);
        moveMouse(handle(), before / 3, axisOf(0)); // the drag has ended
        QTest::mouseRelease(&handle(), Qt::LeftButton, {}, handle().rect().center());
        QCOMPARE(m_editor->value(), before);
        QCOMPARE(edits.count(), 0);
    }

    void keysMoveByBinsAndSettleTogether()
    {
        choose("stem_conv_output");
        m_editor->setByHand(m_editor->study()->snapped(m_editor->tensor()->statistics.absMax / 2));
        const double before = m_editor->value();
        const double width = m_editor->study()->binWidth();
        QSignalSpy edits(m_controller.get(), &DocumentController::edited);
        const auto bins = [&] { return std::lround((m_editor->value() - before) / width); };
        QTest::keyClick(m_plot.get(), Qt::Key_Right);
        QCOMPARE(bins(), 1L);
        QTest::keyClick(&handle(), Qt::Key_Left);
        QTest::keyClick(&handle(), Qt::Key_Left);
        QCOMPARE(bins(), -1L);
        QTest::keyClick(&handle(), Qt::Key_Right, Qt::ShiftModifier);
        QCOMPARE(bins(), 9L);
        QTest::keyClick(&handle(), Qt::Key_PageDown);
        QCOMPARE(bins(), -91L);
        QCOMPARE(edits.count(), 0);
        QTRY_COMPARE(edits.count(), 1); // a while after the last key
        QCOMPARE(std::lround((*ownThreshold("stem_conv_output") - before) / width), -91L);
        QTest::keyClick(&handle(), Qt::Key_Home);
        QTest::keyClick(&handle(), Qt::Key_Return);
        QCOMPARE(ownThreshold("stem_conv_output"), std::optional(m_editor->tensor()->statistics.absMax));
        QTest::keyClick(&handle(), Qt::Key_Left);
        QTest::keyClick(&handle(), Qt::Key_Escape);
        QCOMPARE(m_editor->value(), m_editor->tensor()->statistics.absMax);
    }

    void parametersHaveNoGrip()
    {
        choose("stem_conv_output");
        m_editor->choose(test::tensorNamed(*m_figures.calibration, "stem_conv_weight"));
        QTRY_VERIFY_WITH_TIMEOUT(m_editor->study(), kMostMs);
        QVERIFY(!m_editor->canMove());
        QTest::qWait(20);
        for (const ThresholdHandle *grip : m_plot->handles())
            QVERIFY(!grip->isVisible());
        QTest::keyClick(m_plot.get(), Qt::Key_Home);
        QVERIFY(!m_editor->isMoving());
    }

    void aTensorFromZeroOnHasOneGripOnItsValues()
    {
        choose("stem_relu_output");
        QVERIFY(handle(0).isVisible());
        QVERIFY(!handle(1).isVisible());
        QVERIFY(handle(2).isVisible());
    }

    void theGripIsASliderForScreenReaders()
    {
        choose("stem_conv_output");
        QAccessibleInterface *const accessible = QAccessible::queryAccessibleInterface(&handle());
        QVERIFY(accessible);
        QCOMPARE(accessible->role(), QAccessible::Slider);
        QCOMPARE(accessible->text(QAccessible::Name), QStringLiteral("Threshold"));
        QVERIFY(accessible->text(QAccessible::Description).contains(QStringLiteral("stem_conv_output")));
        const double before = m_editor->value();
        const int now = accessible->valueInterface()->currentValue().toInt();
        accessible->valueInterface()->setCurrentValue(now / 2);
        QVERIFY(std::abs(m_editor->value() - before / 2) < 2 * m_editor->study()->binWidth());
        QCOMPARE(handle().cursor().shape(), Qt::SplitHCursor);
    }

    void theExportedFiguresHoldEveryFiniteValueAndTheCurves()
    {
        choose("stem_conv_output");
        double values = 0;
        std::map<QString, int> kinds;
        for (const QString &line : m_plot->csv().split(QStringLiteral("\r\n"))) {
            const QStringList fields = line.split(QLatin1Char(','));
            ++kinds[fields.value(1)];
            if (fields.value(1) == QStringLiteral("value"))
                values += fields.last().toDouble();
        }
        QCOMPARE(values, 4.0 * 16 * 8 * 8); // pictures, channels, height, width
        QCOMPARE(kinds[QStringLiteral("SQNR")], 256);
        QCOMPARE(kinds[QStringLiteral("divergence")], 512);
        QVERIFY(kinds[QStringLiteral("divergence in the entropy search")] > 300);
        QCOMPARE(kinds[QStringLiteral("SQNR of entropy")], 1);
        QCOMPARE(kinds[QStringLiteral("clipped by p99.9")], 1);
        const QTemporaryDir folder;
        QVERIFY(m_plot->exportTo(folder.filePath(QStringLiteral("p.png"))).ok());
        QVERIFY(m_plot->exportTo(folder.filePath(QStringLiteral("p.pdf"))).ok());
    }

    void theDrawingsStandAsTheRoomAllows()
    {
        choose("stem_conv_output");
        const auto rects = m_plot->plot()->axisRects();
        QCOMPARE(rects.size(), 3);
        QVERIFY(rects[1]->left() > rects[0]->right() && rects[2]->left() > rects[1]->right());
        m_plot->resize(700, 600);
        QTRY_VERIFY(rects[1]->top() > rects[0]->bottom());
        QVERIFY(rects[2]->left() > rects[1]->right());
        QVERIFY(rects[0]->width() > 500);
        QTRY_VERIFY(std::abs(handle().geometry().center().y() - rects[0]->center().y()) <= 1);
    }

    /// Of 130 pixels, the drawing keeps most.
    void aLowDrawingHasNumbersAloneBelowItsAxis()
    {
        choose("stem_conv_output");
        const auto rects = m_plot->plot()->axisRects();
        m_plot->resize(480, 170);
        QTRY_COMPARE(rects[0]->axis(QCPAxis::atBottom)->label(), QString());
        QTRY_VERIFY2(rects[0]->height() > 0.6 * m_plot->plot()->height(),
                     qPrintable(QString::number(rects[0]->height())));
        for (const QCPAxisRect *rect : rects)
            QVERIFY(rect->axis(QCPAxis::atBottom)->ticker()->tickCount() <= 3);
        m_plot->resize(1200, 600);
        QTRY_COMPARE(rects[0]->axis(QCPAxis::atBottom)->label(), QStringLiteral("value"));
    }
};

QTEST_MAIN(TestCalibrationPlot)
#include "tst_calibration_plot.moc"
