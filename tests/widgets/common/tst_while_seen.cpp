#include "widgets/common/latest_job.h"
#include "widgets/common/while_seen.h"

#include <QDockWidget>
#include <QLabel>
#include <QMainWindow>
#include <QTest>

#ifdef __linux__
#include <sys/resource.h>
#include <unistd.h>
#endif

using namespace halftone::widgets;

/// Work of panels that nobody can see, and work beside the window.
class TestWhileSeen : public QObject
{
    Q_OBJECT

private:
    /// Two docks, one behind the other's tab.
    struct Docks
    {
        QMainWindow window;
        QDockWidget *front = new QDockWidget(QStringLiteral("front"), &window);
        QDockWidget *back = new QDockWidget(QStringLiteral("back"), &window);
        QLabel *panel = new QLabel(QStringLiteral("panel"));
        int works = 0;
        WhileSeen *seen = new WhileSeen(panel, [this] { ++works; });

        Docks()
        {
            window.setCentralWidget(new QLabel(QStringLiteral("centre")));
            front->setWidget(new QLabel(QStringLiteral("other")));
            back->setWidget(panel);
            window.addDockWidget(Qt::BottomDockWidgetArea, front);
            window.addDockWidget(Qt::BottomDockWidgetArea, back);
            window.tabifyDockWidget(front, back);
            front->raise();
            window.resize(600, 500);
        }
        bool show()
        {
            window.show();
            return QTest::qWaitForWindowExposed(&window)
                && QTest::qWaitFor([this] { return !isInSight(panel); });
        }
    };

private Q_SLOTS:
    void aWindowThatNobodyHasShownCountsAsSeen()
    {
        Docks docks;
        QVERIFY(isInSight(docks.panel));
        docks.seen->ask();
        QCOMPARE(docks.works, 1);
    }

    void behindATabNothingIsDone()
    {
        Docks docks;
        QVERIFY(docks.show());
        QVERIFY(docks.panel->isVisible()); // for Qt
        for (int k = 0; k < 20; ++k) {
            docks.seen->ask();
            QCoreApplication::processEvents();
        }
        QCOMPARE(docks.works, 0);
        QVERIFY(docks.seen->isBehind());
        docks.back->raise();
        QTRY_COMPARE(docks.works, 1);
        QVERIFY(isInSight(docks.panel));
        docks.seen->ask();
        QCOMPARE(docks.works, 2);
        docks.front->raise();
        docks.back->raise();
        QTest::qWait(20);
        QCOMPARE(docks.works, 2); // nothing was asked for meanwhile
    }

    void aClosedDockAndAHiddenWindowDoNothing()
    {
        Docks docks;
        QVERIFY(docks.show());
        docks.back->raise();
        QTRY_VERIFY(isInSight(docks.panel));
        docks.back->close();
        docks.seen->ask();
        QCOMPARE(docks.works, 0);
        docks.back->show();
        docks.back->raise();
        QTRY_COMPARE(docks.works, 1);
        docks.window.hide();
        docks.seen->ask();
        QCOMPARE(docks.works, 1);
        docks.window.show();
        QTRY_COMPARE(docks.works, 2);
    }

    void afterItsDockWasMovedAPanelIsStillFound()
    {
        Docks docks;
        QVERIFY(docks.show());
        docks.back->setFloating(true);
        QTRY_VERIFY(isInSight(docks.panel));
        docks.back->setFloating(false);
        docks.window.tabifyDockWidget(docks.front, docks.back);
        docks.front->raise();
        QTRY_VERIFY(!isInSight(docks.panel));
        docks.works = 0;
        docks.seen->ask();
        QCOMPARE(docks.works, 0);
        docks.back->raise();
        QTRY_COMPARE(docks.works, 1);
    }

    void whoReadsWhatAPanelShowsGetsTheNewest()
    {
        Docks docks;
        QVERIFY(docks.show());
        docks.seen->ask();
        docks.seen->catchUp();
        QCOMPARE(docks.works, 1);
        docks.seen->catchUp();
        QCOMPARE(docks.works, 1);
        docks.back->raise();
        QTest::qWait(20);
        QCOMPARE(docks.works, 1);
    }

    /// So that the window answers while all processors compute; also of threads that a job starts.
    void jobsGiveWayToTheWindow()
    {
#ifdef __linux__
        const auto priority = [] { return getpriority(PRIO_PROCESS, static_cast<id_t>(gettid())); };
        const int own = priority();
        LatestJob job;
        std::pair<int, int> told{own, own};
        bool isDone = false;
        job.start(
            [priority](const std::stop_token &) {
                std::pair<int, int> both{priority(), 0};
                std::jthread([&both, priority] { both.second = priority(); }).join();
                return both;
            },
            [&](std::pair<int, int> both) {
                told = both;
                isDone = true;
            });
        QTRY_VERIFY(isDone);
        QVERIFY(told.first > own || own >= 19); // the lowest
        QCOMPARE(told.second, told.first);
        QCOMPARE(priority(), own);
#else
        QSKIP("A priority is the whole process's here.");
#endif
    }
};

QTEST_MAIN(TestWhileSeen)
#include "tst_while_seen.moc"
