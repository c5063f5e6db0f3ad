#include "app/bars/suggestion_bar.h"
#include "tests/window/window_fixture.h"
#include "widgets/graphview/canvas.h"
#include "widgets/graphview/graph_view.h"
#include "widgets/graphview/legend.h"

#include <QAction>
#include <QLabel>
#include <QPushButton>

#include <algorithm>

using namespace halftone;
using app::MainWindow;

/// A screen of 1920 × 1080 pixels at 200 %: what is told of the graph leaves room for it.
class TestLowWindow : public QObject
{
    Q_OBJECT

private:
    static constexpr QSize kLow{960, 540};

    static QAction *legendAction(const MainWindow &window)
    {
        for (QAction *action : window.findChildren<QAction *>())
            if (action->text() == u"&Legend")
                return action;
        return nullptr;
    }

private Q_SLOTS:
    void aSuggestionIsOneLineWithItsConsequence()
    {
        MainWindow window;
        window.resize(kLow);
        window.show();
        window.openSample(test::mxnetSample());
        QVERIFY(test::settle(window));
        const auto &bar = window.suggestionBar();
        auto *const button = bar.findChild<QPushButton *>();
        QVERIFY(bar.isVisible() && button->isVisible());
        QVERIFY2(bar.height() <= button->height() + 16, qPrintable(QString::number(bar.height())));
        const QString whole = bar.text();
        const auto isTold = [&](const QString &part) {
            const auto labels = bar.findChildren<QLabel *>();
            return std::ranges::any_of(labels, [&](const QLabel *label) {
                return label->isVisible() && label->text().contains(part)
                    && (label->wordWrap() || label->sizeHint().width() <= label->width());
            });
        };
        QVERIFY2(isTold("top-1 ") && isTold(", casts "), qPrintable(whole));
        QTest::mouseClick(button, Qt::LeftButton); // what it did is told likewise
        QVERIFY(test::settleAfterEdit(window));
        QVERIFY(bar.text().startsWith("Done: ") && isTold("top-1 "));
        QVERIFY(bar.height() <= button->height() + 16);
        window.resize(1500, 950);
        QTRY_VERIFY(isTold(bar.text())); // all of it, on as many lines as that takes
    }

    void theLegendIsShortAndFolds()
    {
        MainWindow window;
        window.resize(kLow);
        window.show();
        window.openSample(test::mxnetSample());
        QVERIFY(test::settle(window));
        widgets::Legend &legend = *window.graphView().legend();
        QVERIFY(legend.isVisible());
        QVERIFY2(2 * legend.width() < window.graphView().canvas()->width(),
                 qPrintable(QString::number(legend.width())));
        QAction *const action = legendAction(window);
        QVERIFY(action && action->isChecked());
        QTest::mouseClick(&legend, Qt::LeftButton);
        QVERIFY(legend.isFolded() && !action->isChecked());
        QVERIFY(legend.width() < 2 * legend.height());
        MainWindow later; // as the person left it
        QVERIFY(later.graphView().legend()->isFolded());
        action->trigger();
        QVERIFY(!legend.isFolded());
    }
};

HALFTONE_WINDOW_TEST(TestLowWindow)
#include "tst_low_window.moc"
