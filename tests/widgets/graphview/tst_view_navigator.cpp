#include "widgets/graphview/graph_keys.h"
#include "widgets/graphview/view_navigator.h"

#include <QSignalSpy>
#include <QTest>
#include <QWidget>

using namespace halftone::widgets;

/// Where the graph is looked at, without a graph.
class TestViewNavigator : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void allOfTheSceneIsFittedIntoTheViewport();
    void aLargeSceneIsFirstSeenLegiblyFromItsTop();
    void whatWasFittedIsFittedAgainInAnotherSize();
    void whereAPersonMovedToStays();
    void zoomingKeepsTheMiddleInPlace();
    void revealingMovesNoFurtherThanNeeded();
    void goingBackAndForwardRestoresViews();
    void keysMeanTheirCommands_data();
    void keysMeanTheirCommands();

private:
    static QRectF seen(const ViewNavigator &navigator, const QSizeF &scene)
    {
        return navigator.camera().toView(QRectF(QPointF(), scene));
    }
};

void TestViewNavigator::allOfTheSceneIsFittedIntoTheViewport()
{
    QWidget viewport;
    viewport.resize(800, 600);
    ViewNavigator navigator(&viewport);
    constexpr double kUnfolded = 1.2e6; // ten thousand operators, one above the other
    for (const QSizeF &scene :
         {QSizeF(100, 100), QSizeF(4000, 300), QSizeF(300, 90000), QSizeF(900, kUnfolded)}) {
        navigator.setSceneSize(scene);
        navigator.fit();
        const QRectF shown = seen(navigator, scene);
        QVERIFY(QRectF(viewport.rect()).contains(shown));
        QVERIFY(navigator.camera().scale <= 1); // small graphs are not blown up
        QVERIFY(qAbs(shown.center().x() - 400) < 0.01 && qAbs(shown.center().y() - 300) < 0.01);
    }
}

void TestViewNavigator::aLargeSceneIsFirstSeenLegiblyFromItsTop()
{
    QWidget viewport;
    viewport.resize(800, 600);
    ViewNavigator navigator(&viewport);
    navigator.setSceneSize({500, 20000});
    navigator.showFirst();
    QVERIFY(navigator.camera().scale >= 0.8);
    const QRectF shown = seen(navigator, {500, 20000});
    QVERIFY(shown.top() > 0 && shown.top() < 100);
    QVERIFY(qAbs(shown.center().x() - 400) < 0.01);
    navigator.setEntrance(100); // all of its width is seen: it stays in the middle
    navigator.showFirst();
    QVERIFY(qAbs(seen(navigator, {500, 20000}).center().x() - 400) < 0.01);
    navigator.setSceneSize({3000, 20000});
    navigator.setEntrance(2500);
    navigator.showFirst();
    QVERIFY(qAbs(navigator.camera().toView(QRectF(2500, 0, 0, 0)).x() - 400) < 0.01);
}

void TestViewNavigator::whatWasFittedIsFittedAgainInAnotherSize()
{
    QWidget viewport;
    viewport.resize(800, 600);
    ViewNavigator navigator(&viewport);
    navigator.setSceneSize({700, 5000});
    navigator.fit();
    viewport.resize(400, 200);
    navigator.viewportResized();
    QVERIFY(QRectF(viewport.rect()).contains(seen(navigator, {700, 5000})));
}

void TestViewNavigator::whereAPersonMovedToStays()
{
    QWidget viewport;
    viewport.resize(800, 600);
    ViewNavigator navigator(&viewport);
    navigator.setSceneSize({700, 5000});
    navigator.fit();
    const Camera chosen{2, {30, 40}};
    navigator.moveTo(chosen);
    viewport.resize(400, 200);
    navigator.viewportResized();
    QCOMPARE(navigator.camera(), chosen);
    viewport.resize(300, 200); // a pane beside it takes room: the middle stays the middle
    const QPointF middle = navigator.camera().toScene(QPointF(200, 100));
    navigator.viewportResizedFrom(400);
    QCOMPARE(navigator.camera().toScene(QPointF(150, 100)), middle);
}

void TestViewNavigator::zoomingKeepsTheMiddleInPlace()
{
    QWidget viewport;
    viewport.resize(800, 600);
    ViewNavigator navigator(&viewport);
    navigator.setSceneSize({700, 5000});
    navigator.moveTo({1, {10, 20}});
    QSignalSpy moved(&navigator, &ViewNavigator::moved);
    const QPointF middle = navigator.camera().toScene(QPointF(400, 300));
    navigator.zoomBy(1.7);
    QCOMPARE(moved.size(), 1);
    QVERIFY((navigator.camera().toScene(QPointF(400, 300)) - middle).manhattanLength() < 1e-9);
    QCOMPARE(navigator.camera().scale, 1.7);
}

void TestViewNavigator::revealingMovesNoFurtherThanNeeded()
{
    QWidget viewport;
    viewport.resize(800, 600);
    ViewNavigator navigator(&viewport);
    navigator.setSceneSize({700, 5000});
    navigator.moveTo({1, {0, 0}});
    navigator.reveal({300, 300, 50, 20}, viewport.size());
    QCOMPARE(navigator.camera().origin, QPointF(0, 0)); // seen already
    navigator.reveal({300, 900, 50, 20}, viewport.size());
    QCOMPARE(navigator.camera().origin.x(), 0.0);
    QCOMPARE(navigator.camera().toView(QPointF(0, 920)).y(), 600.0 - 28); // at the lower margin
}

void TestViewNavigator::goingBackAndForwardRestoresViews()
{
    QWidget viewport;
    viewport.resize(800, 600);
    ViewNavigator navigator(&viewport);
    QVERIFY(!navigator.goBack({1}) && !navigator.goForward({1}));
    navigator.moveTo({1, {5, 6}});
    navigator.remember({1, 0});
    navigator.moveTo({2, {7, 8}});
    const auto back = navigator.goBack({1, 1});
    QVERIFY(back && back->open == std::vector<char>({1, 0}) && back->camera == (Camera{1, {5, 6}}));
    navigator.moveTo(back->camera);
    const auto forward = navigator.goForward(back->open);
    QVERIFY(forward && forward->open == std::vector<char>({1, 1}) && forward->camera == (Camera{2, {7, 8}}));
    navigator.forgetViews();
    QVERIFY(!navigator.canGoBack() && !navigator.canGoForward());
}

void TestViewNavigator::keysMeanTheirCommands_data()
{
    QTest::addColumn<int>("key");
    QTest::addColumn<Qt::KeyboardModifiers>("modifiers");
    QTest::addColumn<int>("command");
    const auto row
        = [](const char *name, Qt::Key key, Qt::KeyboardModifiers modifiers, GraphCommand command) {
              QTest::newRow(name) << static_cast<int>(key) << modifiers << static_cast<int>(command);
          };
    row("arrow", Qt::Key_Left, Qt::NoModifier, GraphCommand::Walk);
    row("arrow with shift extends", Qt::Key_Down, Qt::ShiftModifier, GraphCommand::Walk);
    row("alt and arrow", Qt::Key_Left, Qt::AltModifier, GraphCommand::Back);
    row("plus alone", Qt::Key_Plus, Qt::NoModifier, GraphCommand::None);
    row("control and plus", Qt::Key_Plus, Qt::ControlModifier, GraphCommand::ZoomIn);
    row("return", Qt::Key_Return, Qt::NoModifier, GraphCommand::OpenOrClose);
    row("alt and return", Qt::Key_Return, Qt::AltModifier, GraphCommand::ShowCounterpart);
    row("F3 backwards", Qt::Key_F3, Qt::ShiftModifier, GraphCommand::FindPrevious);
    row("a letter", Qt::Key_F, Qt::NoModifier, GraphCommand::None);
    row("control and a letter", Qt::Key_F, Qt::ControlModifier, GraphCommand::Find);
}

void TestViewNavigator::keysMeanTheirCommands()
{
    QFETCH(int, key);
    QFETCH(Qt::KeyboardModifiers, modifiers);
    QFETCH(int, command);
    QCOMPARE(static_cast<int>(commandOf(key, modifiers)), command);
}

QTEST_MAIN(TestViewNavigator)
#include "tst_view_navigator.moc"
