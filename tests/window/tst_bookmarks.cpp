#include "app/bookmarks_menu.h"
#include "app/live_jobs.h"
#include "app/summary.h"
#include "tests/window/window_fixture.h"

#include <QSignalSpy>

using namespace halftone;
using app::Bookmark;
using app::BookmarksMenu;
using app::MainWindow;
using test::settle;
using widgets::ColourBy;
using widgets::Sides;

/// Views of the graph that have a name, and what a task is judged by: what a person sets once and the session keeps.
class TestBookmarks : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void theTextGivesTheSameBookmarks()
    {
        const std::vector<Bookmark> bookmarks{
            {QStringLiteral("stem & \"head\" \u00e4"),
             {1, 0, 1},
             {0.5, {-12.25, 1e6}},
             ColourBy::Error,
             Sides::Both},
            {QStringLiteral("two"), {}, {}, ColourBy::Precision, Sides::Original}};
        QVERIFY(app::bookmarksOf(app::bookmarksText(bookmarks)) == bookmarks);
        QCOMPARE(app::bookmarksText({}), std::string());
    }

    void hostileTextsAreNoBookmarks_data()
    {
        QTest::addColumn<QString>("text");
        const auto one = [](const char *fields) {
            return QStringLiteral(
                       "[{\"name\":\"a\",\"open_blocks\":\"1 0\",\"scale\":1,\"x\":0,\"y\":0,\"colour_by\":0,"
                       "\"sides\":1,%1}]")
                .arg(QLatin1String(fields));
        };
        QTest::newRow("no JSON") << "][";
        QTest::newRow("an object") << "{}";
        QTest::newRow("numbers") << "[1,2]";
        QTest::newRow("no name") << one("\"name\":\"  \"");
        QTest::newRow("a name that is a number") << one("\"name\":7");
        QTest::newRow("no scale") << one("\"scale\":0");
        QTest::newRow("a scale below all sense") << one("\"scale\":1e-300");
        QTest::newRow("a scale that is a text") << one("\"scale\":\"1\"");
        QTest::newRow("a place beyond all") << one("\"x\":1e300");
        QTest::newRow("colour") << one("\"colour_by\":99");
        QTest::newRow("sides") << one("\"sides\":-1");
    }
    void hostileTextsAreNoBookmarks()
    {
        QFETCH(const QString, text);
        QVERIFY(app::bookmarksOf(text.toStdString()).empty());
    }

    void blocksOfAnotherModelAreNotOpened()
    {
        MainWindow window;
        window.openSample(test::mxnetSample());
        QVERIFY(settle(window));
        const std::vector<char> open = window.graphView().openBlocks();
        window.bookmarks().setBookmarks(
            {{QStringLiteral("other"), {1, 1}, {0.5, {3, 4}}, {}, Sides::Converted}});
        window.bookmarks().goTo(0);
        QVERIFY(settle(window));
        QCOMPARE(window.graphView().openBlocks(), open);
        QCOMPARE(window.graphView().view()->camera.scale, 0.5);
    }

    void aBookmarkBringsTheViewBack()
    {
        MainWindow window;
        window.resize(1200, 800);
        window.show();
        window.openSample(test::mxnetSample());
        QVERIFY(settle(window));
        widgets::GraphView &graph = window.graphView();
        BookmarksMenu &bookmarks = window.bookmarks();
        QSignalSpy changed(&bookmarks, &BookmarksMenu::changed);
        graph.foldAll();
        graph.setColourBy(ColourBy::Error);
        QVERIFY(settle(window));
        graph.zoomIn();
        const auto view = graph.view();
        bookmarks.add(QStringLiteral("  folded "));
        QCOMPARE(changed.count(), 1);
        QCOMPARE(bookmarks.bookmarks().front().name, QStringLiteral("folded"));

        graph.unfoldAll();
        graph.setColourBy(ColourBy::Precision);
        graph.setSides(Sides::Both);
        QVERIFY(settle(window));
        graph.fit();
        QVERIFY(graph.view()->open != view->open);
        QTest::keyClick(&window, Qt::Key_1, Qt::AltModifier);
        QVERIFY(settle(window));
        QCOMPARE(graph.view()->open, view->open);
        QVERIFY(graph.view()->camera == view->camera);
        QCOMPARE(graph.colourBy(), ColourBy::Error);
        QCOMPARE(graph.sides(), Sides::Converted);
        graph.back(); // as any other way through the graph
        QVERIFY(settle(window));
        QVERIFY(graph.view()->open != view->open);
    }

    void namesAreGivenAndTaken()
    {
        MainWindow window;
        window.openSample(test::mxnetSample());
        QVERIFY(settle(window));
        BookmarksMenu &bookmarks = window.bookmarks();
        bookmarks.add(QStringLiteral("a"));
        bookmarks.add(QStringLiteral("b"));
        window.graphView().setColourBy(ColourBy::Latency);
        bookmarks.add(QStringLiteral("a")); // of the new view
        bookmarks.add(QStringLiteral(" "));
        QCOMPARE(bookmarks.bookmarks().size(), std::size_t{2});
        QCOMPARE(bookmarks.bookmarks()[0].colourBy, ColourBy::Latency);
        bookmarks.rename(1, QStringLiteral("c"));
        bookmarks.rename(1, QString());
        QCOMPARE(bookmarks.bookmarks()[1].name, QStringLiteral("c"));
        QCOMPARE(bookmarks.actions().size(), 2 + 1 + 2);
        bookmarks.remove(0);
        bookmarks.remove(7);
        QCOMPARE(bookmarks.bookmarks().size(), std::size_t{1});
        QCOMPARE(bookmarks.bookmarks()[0].name, QStringLiteral("c"));
    }

    void aSessionKeepsThem()
    {
        const QTemporaryDir folder;
        const QString path = folder.filePath("a.halftone");
        std::vector<Bookmark> kept;
        {
            MainWindow window;
            window.openSample(test::mxnetSample());
            QVERIFY(settle(window));
            QVERIFY(window.files().save(path).ok());
            QVERIFY(!window.files().isModified());
            window.bookmarks().add(QStringLiteral("kept"));
            QVERIFY(window.files().isModified());
            QVERIFY(window.files().save(path).ok());
            QVERIFY(!window.files().isModified());
            kept = window.bookmarks().bookmarks();
        }
        MainWindow window;
        window.open(path);
        QVERIFY(settle(window));
        QVERIFY(window.bookmarks().bookmarks() == kept);
        QVERIFY(!window.files().isModified());
        window.open(test::kSampleModel); // has none
        QVERIFY(settle(window));
        QVERIFY(window.bookmarks().bookmarks().empty());
    }

    void anotherMetricLeavesValuesAndRangesAsTheyAre()
    {
        MainWindow window;
        window.open(test::kSampleModel);
        QVERIFY(settle(window));
        walks::ExampleOptions data;
        data.inputs = test::kSampleData.toStdString();
        data.examples = 16;
        window.jobs().setData(data);
        QVERIFY(settle(window));
        const auto figures = window.controller().figures();
        QVERIFY(figures.comparison->task);
        QCOMPARE(figures.comparison->task->metric, tasks::Metric::Top1);
        QVERIFY(figures.comparison->task->isGuessed);
        data.metric = tasks::Metric::Cosine;
        window.jobs().setData(data);
        QVERIFY(settle(window));
        const auto now = window.controller().figures();
        QCOMPARE(now.comparison->task->metric, tasks::Metric::Cosine);
        QVERIFY(now.calibration == figures.calibration);
        const QString summary = app::summaryOf(*window.controller().snapshot(), now);
        QVERIFY2(summary.contains("cosine to float32 "), qPrintable(summary));

        QSignalSpy failed(&window.jobs(), &app::LiveJobs::failed);
        walks::ExampleOptions wrong = data;
        wrong.targets = test::kSampleModel.toStdString(); // no array
        window.jobs().setData(wrong);
        QTRY_COMPARE(failed.count(), 1);
        QVERIFY(settle(window));
        QVERIFY(window.jobs().data() == data); // what was there stays
    }
};

HALFTONE_WINDOW_TEST(TestBookmarks)
#include "tst_bookmarks.moc"
