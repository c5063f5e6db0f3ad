#include "tests/widgets/graphview/graph_fixture.h"
#include "widgets/graphview/canvas.h"
#include "widgets/graphview/find_panel.h"
#include "widgets/graphview/minimap.h"
#include "widgets/graphview/node_drag.h"
#include "widgets/graphview/plain_note.h"
#include "widgets/graphview/scene_painter.h"

#include <QAbstractButton>
#include <QComboBox>
#include <QFileInfo>
#include <QImage>
#include <QLineEdit>
#include <QMimeData>
#include <QPaintEngine>
#include <QPainter>
#include <QPushButton>
#include <QSplitter>
#include <QXmlStreamReader>

#include <algorithm>

using namespace halftone;
using graph::NodeId;
using widgets::Camera;
using widgets::ItemIndex;

namespace {

/// Takes down where texts and open lines are drawn.
class DrawingLog : public QPaintEngine
{
public:
    DrawingLog()
        : QPaintEngine(AllFeatures)
    {
    }
    bool begin(QPaintDevice *) override { return true; }
    bool end() override { return true; }
    void updateState(const QPaintEngineState &) override { }
    void drawPixmap(const QRectF &, const QPixmap &, const QRectF &) override { }
    void drawPath(const QPainterPath &) override { }
    void drawPolygon(const QPointF *points, int count, PolygonDrawMode mode) override
    {
        if (mode == PolylineMode)
            lines.emplace_back(QList<QPointF>(points, points + count));
    }
    void drawTextItem(const QPointF &begin, const QTextItem &item) override
    {
        texts.emplace_back(
            item.text(),
            QRectF(begin.x(), begin.y() - 0.7 * item.ascent(), item.width(), 0.7 * item.ascent()));
    }
    Type type() const override { return User; }

    std::vector<QPolygonF> lines;
    std::vector<std::pair<QString, QRectF>> texts;
};

class LoggedDevice : public QPaintDevice
{
public:
    QPaintEngine *paintEngine() const override { return &log; }
    mutable DrawingLog log;

protected:
    int metric(PaintDeviceMetric metric) const override
    {
        switch (metric) {
        case PdmWidth:
        case PdmHeight:
            return 1000;
        case PdmDevicePixelRatio:
            return 1;
        case PdmDevicePixelRatioScaled:
            return static_cast<int>(QPaintDevice::devicePixelRatioFScale());
        case PdmDpiX:
        case PdmDpiY:
        case PdmPhysicalDpiX:
        case PdmPhysicalDpiY:
            return 96;
        default:
            return 0;
        }
    }
};

} // namespace

class TestGraphView : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void aPieceOfTheGraphStaysInSight();
    void unfoldingLandsOnContent();
    void everyDrawnNodeOfTheSampleIsShown();
    void aClickSelectsAndControlTogglesAndTheGroundClears();
    void aChoiceElsewhereIsShownHere();
    void whatIsHoveredHereAndElsewhereHasARing();
    void theRubberBandSelectsWhatItTouches();
    void whatLeadsToAndFromTheChosenNodeStandsOut();
    void aDoubleClickOpensABlockAndKeepsItInPlace();
    void backspaceFoldsTheBlockAround();
    void backAndForwardRestoreFoldingAndPlace();
    void arrowsWalkAlongEdges();
    void aChoiceElsewhereIsBroughtIntoSight();
    void theFirstViewSaysWhatEdgesCarry();
    void noLineRunsThroughTheTitleOfAFrame();
    void aTitleAboveCoversNoOther();
    void aRepeatedBlockThatIsNarrowTellsItsNumber();
    void showingANodeOpensItsBlocksAndCentresIt();
    void anEditRecoloursWithoutANewLayout();
    void castsAreMarkedOnTheEdgesThatTheConversionNames();
    void aBlockCountsItsOperatorsByPrecision();
    void bothSidesMoveInStep();
    void whatIsInTheMiddleStaysThereSideBySide();
    void wiresOfInt8OperatorsCarryCodes();
    void altAndAClickShowTheSameNodeInTheOtherGraph();
    void blocksThatWereOpenOpenAgain();
    void aPlainDrawingSaysWhyAndIsTriedAgain();
    void theWheelScrollsAndWithControlZoomsUnderThePointer();
    void textsComeBackWhenTheZoomRests();
    void leftDragOnTheGroundPans();
    void aMovedPictureIsTheOneDrawnAnew();
    void aDragCarriesTheNamesOfTheChosenNodes();
    void theMenuIsAskedForWithTheClickedNodeChosen();
    void findMarksAndWalksThroughWhatItFinds();
    void theNewestDocumentWins();
    void closingTheDocumentLeavesAnEmptyView();
    void exportsAreWholeFilesOfTheirKind();
    void everyControlHasAnAccessibleName();

private:
    static QPoint viewPlaceOf(const widgets::GraphView &view, ItemIndex item)
    {
        return view.canvas()->camera().toView(view.scene()->items()[item].rect.center()).toPoint();
    }
    /// A block that is folded; the view is made to have one.
    static ItemIndex foldedBlock(test::OpenedGraph &opened)
    {
        opened.view->foldAll();
        opened.settle();
        const auto &items = opened.view->scene()->items();
        const auto place = std::ranges::find_if(items, [](const auto &item) { return item.ref.isBlock; });
        return static_cast<ItemIndex>(place - items.begin());
    }
};

/// Sixty chains side by side: the whole is far wider than any view in which something can be read.
void TestGraphView::unfoldingLandsOnContent()
{
    test::OpenedGraph opened;
    opened.openWide(60, 84);
    const auto isLegible = [&] {
        const widgets::Camera camera = opened.view->canvas()->camera();
        const QRectF seen = camera.toScene(QRectF(opened.view->canvas()->rect()));
        return camera.scale > 0.3
            && std::ranges::any_of(opened.view->scene()->items(), [&](const widgets::SceneItem &item) {
                   return !item.isFrame && seen.contains(item.rect);
               });
    };
    opened.view->zoomToFull();
    opened.view->unfoldAll();
    QVERIFY(opened.settle());
    QVERIFY(isLegible());
    opened.view->foldAll();
    QVERIFY(opened.settle());
    opened.view->zoomToFull();
    for (int level = 0; level < 3; ++level) { // from the outermost block inwards
        const auto &items = opened.view->scene()->items();
        const auto widest = std::ranges::find_if(
            items, [](const widgets::SceneItem &item) { return item.ref.isBlock && !item.isFrame; });
        if (widest == items.end())
            break;
        opened.view->setBlockOpen(widest->ref.id, true);
        QVERIFY(opened.settle());
        QVERIFY(isLegible());
    }
}

void TestGraphView::aPieceOfTheGraphStaysInSight()
{
    const QSizeF scene(400, 3000);
    const QSizeF view(800, 600);
    for (const double scale : {0.01, 0.5, 1.0, 4.0}) {
        for (const QPointF &origin :
             {QPointF(-1e6, -1e6), QPointF(1e6, 1e6), QPointF(-1e6, 10), QPointF(10, 1e6)}) {
            Camera camera{scale, origin};
            camera.keepInSight(scene, view);
            const QRectF seen = camera.toView(QRectF(QPointF(), scene)).intersected(QRectF(QPointF(), view));
            QVERIFY(seen.width() > std::min(Camera::kInSight, scene.width() * scale) - 0.01);
            QVERIFY(seen.height() > std::min(Camera::kInSight, scene.height() * scale) - 0.01);
        }
    }
    Camera inside{1, {100, 500}};
    inside.keepInSight(scene, view);
    QCOMPARE(inside.origin, QPointF(100, 500));
}

void TestGraphView::everyDrawnNodeOfTheSampleIsShown()
{
    test::OpenedGraph opened;
    opened.openSample();
    const auto &items = opened.view->scene()->items();
    const auto shown = std::ranges::count_if(items, [](const auto &item) { return !item.ref.isBlock; });
    QCOMPARE(shown, 30); // 29 operators and the picture
    QVERIFY(
        std::ranges::any_of(items, [](const auto &item) { return item.isFrame && item.name == "stage1"; }));
    QCOMPARE(opened.view->scene()->itemOf(opened.node("fc_weight")),
             opened.view->scene()->itemOf(opened.node("fc")));
}

void TestGraphView::aClickSelectsAndControlTogglesAndTheGroundClears()
{
    test::OpenedGraph opened;
    opened.openSample();
    opened.view->fit();
    const auto *scene = opened.view->scene();
    const NodeId pool = opened.node("pool");
    const NodeId flat = opened.node("flat");
    QTest::mouseClick(opened.view->canvas(), Qt::LeftButton, {},
                      viewPlaceOf(*opened.view, scene->itemOf(pool)));
    QCOMPARE(opened.controller.selection().nodes(), std::vector<NodeId>{pool});
    QTest::mouseClick(opened.view->canvas(), Qt::LeftButton, Qt::ControlModifier,
                      viewPlaceOf(*opened.view, scene->itemOf(flat)));
    QCOMPARE(opened.controller.selection().nodes(), (std::vector<NodeId>{pool, flat}));
    QTest::mouseClick(opened.view->canvas(), Qt::LeftButton, Qt::ControlModifier,
                      viewPlaceOf(*opened.view, scene->itemOf(pool)));
    QCOMPARE(opened.controller.selection().nodes(), std::vector<NodeId>{flat});
    QTest::mouseClick(opened.view->canvas(), Qt::LeftButton, {}, {3, 500});
    QVERIFY(opened.controller.selection().nodes().empty());
}

void TestGraphView::whatIsHoveredHereAndElsewhereHasARing()
{
    test::OpenedGraph opened;
    opened.openSample();
    opened.view->fit();
    auto &selection = opened.controller.selection();
    auto *const canvas = opened.view->canvas();
    const NodeId pool = opened.node("pool");
    QTest::mouseMove(canvas, viewPlaceOf(*opened.view, opened.view->scene()->itemOf(pool)));
    QTRY_COMPARE(selection.hovered(), std::optional(pool));
    QCOMPARE(canvas->hovered(), opened.view->scene()->itemOf(pool));
    QVERIFY(selection.nodes().empty());
    QTest::mouseMove(canvas, {3, 500});
    QTRY_VERIFY(!selection.hovered());
    QCOMPARE(canvas->hovered(), widgets::kNoItem);

    const QImage before = canvas->grab().toImage();
    const NodeId flat = opened.node("flat");
    selection.hover(flat);
    QCOMPARE(canvas->hovered(), opened.view->scene()->itemOf(flat));
    QVERIFY(canvas->grab().toImage() != before);
    // Folded away, a layer is marked at its block; a block that is hovered is no layer.
    const ItemIndex block = foldedBlock(opened);
    opened.view->fit();
    const NodeId inside = opened.view->scene()->nodesOf(block).front();
    selection.hover(inside);
    QCOMPARE(canvas->hovered(), block);
    QTest::mouseMove(canvas, viewPlaceOf(*opened.view, block));
    QTRY_VERIFY(!selection.hovered());
    opened.controller.setDocument(nullptr);
    QCOMPARE(canvas->hovered(), widgets::kNoItem);
}

void TestGraphView::aChoiceElsewhereIsShownHere()
{
    test::OpenedGraph opened;
    opened.openSample();
    const NodeId node = opened.node("stem_conv");
    opened.controller.selection().set(node);
    QVERIFY(opened.view->emphasis().isSelected(opened.view->scene()->itemOf(node)));
    QVERIFY(opened.view->canvas()->accessibleDescription().contains("stem_conv"));
    opened.controller.selection().clear();
    QVERIFY(!opened.view->emphasis().isSelected(opened.view->scene()->itemOf(node)));
}

/// A row of a table that is selected is seen in the graph; what is in sight stays where it is.
void TestGraphView::aChoiceElsewhereIsBroughtIntoSight()
{
    test::OpenedGraph opened;
    opened.openResidual(20);
    opened.view->unfoldAll();
    QVERIFY(opened.settle());
    opened.view->zoomToFull();
    const auto *const canvas = opened.view->canvas();
    const auto seen = [&](NodeId node) {
        const QRectF rect = opened.view->scene()->items()[opened.view->scene()->itemOf(node)].rect;
        return QRectF(canvas->rect()).contains(canvas->camera().toView(rect));
    };
    for (const char *name : {"stage0_unit19_soft", "stage0_unit0_conv1"}) {
        const NodeId node = opened.node(name);
        opened.controller.selection().clear();
        opened.controller.selection().set(node);
        QVERIFY2(seen(node), name);
        const QPointF origin = canvas->camera().origin;
        opened.controller.selection().set(opened.node(name));
        QCOMPARE(canvas->camera().origin, origin);
    }
    QCOMPARE(canvas->camera().scale, 1.0);
    opened.controller.selection().set(opened.node("stage0_unit19_soft"));
    opened.view->resize(900, 300); // as when a panel comes up
    QVERIFY(seen(opened.node("stage0_unit19_soft")));
}

/// Shapes too, at the scale in which a model that is too large for the view is first shown.
void TestGraphView::theFirstViewSaysWhatEdgesCarry()
{
    test::OpenedGraph opened;
    opened.openResidual(20);
    opened.view->unfoldAll();
    QVERIFY(opened.settle());
    const auto *const scene = opened.view->scene();
    Camera camera;
    camera.scale = 0.8; // ViewNavigator::showFirst()
    camera.centreOn(scene->items()[scene->itemOf(opened.node("stage0_unit5_conv1"))].rect.center(),
                    {600, 600});
    const auto drawn = [&](bool withTypes) {
        QImage image(600, 600, QImage::Format_RGB32);
        image.fill(Qt::white);
        QPainter painter(&image);
        widgets::PaintInput input = opened.view->canvas()->input();
        if (!withTypes)
            input.snapshot.reset();
        widgets::ScenePainter(opened.view->palette(), opened.view->font())
            .paint(painter, image.rect(), image.rect(), camera, input);
        return image;
    };
    QVERIFY(drawn(true) != drawn(false));
}

void TestGraphView::noLineRunsThroughTheTitleOfAFrame()
{
    test::OpenedGraph opened;
    opened.openResidual(100);
    opened.view->unfoldAll();
    QVERIFY(opened.settle());
    const auto &scene = *opened.view->scene();
    const auto &items = scene.items();
    const auto frame = std::ranges::find_if(items, [](const auto &item) { return item.isFrame; });
    QVERIFY(frame != items.end());
    Camera camera;
    camera.scale = 0.8;
    camera.origin = {frame->rect.center().x() - 500 / 0.8, frame->rect.top() - 100};
    LoggedDevice device;
    QPainter painter(&device);
    widgets::ScenePainter(opened.view->palette(), opened.view->font())
        .paint(painter, {0, 0, 1000, 1000}, {0, 0, 1000, 1000}, camera, opened.view->canvas()->input());
    painter.end();
    int titles = 0;
    for (const auto &[text, box] : device.log.texts) {
        if (!text.startsWith(QChar(0x25be)) && !text.endsWith(QStringLiteral("operators")))
            continue;
        ++titles;
        for (const QPolygonF &line : device.log.lines)
            for (qsizetype k = 1; k < line.size(); ++k)
                QVERIFY2(!layout::crossingOf({line[k - 1].x(), line[k - 1].y()}, {line[k].x(), line[k].y()},
                                             box.top(), box.bottom())
                              .value_or(layout::Span{-2, -1})
                              .overlaps({box.left(), box.right()}),
                         qPrintable(text));
    }
    QVERIFY(titles >= 2);
}

/// The title of a frame that has left the view, while one scrolls past the next ones.
void TestGraphView::aTitleAboveCoversNoOther()
{
    test::OpenedGraph opened;
    opened.openResidual(100);
    opened.view->unfoldAll();
    QVERIFY(opened.settle());
    const auto &items = opened.view->scene()->items();
    const auto inner
        = std::ranges::find_if(items, [](const auto &item) { return item.isFrame && item.depth > 1; });
    QVERIFY(inner != items.end());
    const widgets::PaintInput input = opened.view->canvas()->input();
    const QRectF area(0, 0, 1000, 1000);
    int above = 0;
    int own = 0;
    for (int offset = -60; offset < 60; offset += 3) {
        Camera camera;
        camera.origin = {inner->rect.left() - 20, inner->rect.top() + offset};
        LoggedDevice device;
        QPainter painter(&device);
        widgets::ScenePainter drawing(opened.view->palette(), opened.view->font());
        drawing.paint(painter, area, area, camera, input);
        painter.end();
        for (const auto &title : drawing.titlesAbove(area, camera, input)) {
            ++above;
            for (const auto &[text, box] : device.log.texts)
                if (text.startsWith(QChar(0x25be)) || text.endsWith(QStringLiteral("operators"))) {
                    ++own;
                    QVERIFY2(!title.place.intersects(box), qPrintable(title.text + text));
                }
        }
    }
    QVERIFY(above > 20 && own > 20);
}

void TestGraphView::aRepeatedBlockThatIsNarrowTellsItsNumber()
{
    const QFontMetricsF metrics(QGuiApplication::font());
    const QString name = QStringLiteral("block 2 of 12: conv06 \u2026 add_26");
    const double whole = metrics.horizontalAdvance(name);
    QCOMPARE(widgets::titleWithin(name, whole + 1, metrics), name);
    QCOMPARE(widgets::titleWithin(name, whole - 1, metrics), QStringLiteral("block 2 of 12"));
    const QString unit = QStringLiteral("Residual block 3 of 10");
    const double unitWidth = metrics.horizontalAdvance(unit);
    QCOMPARE(widgets::titleWithin(unit, unitWidth + 1, metrics), unit);
    QCOMPARE(widgets::titleWithin(unit, unitWidth - 1, metrics), QStringLiteral("block 3 of 10"));
    QCOMPARE(widgets::titleWithin(unit, metrics.horizontalAdvance("3 of 10") + 1, metrics),
             QStringLiteral("3 of 10"));
    QVERIFY(widgets::titleWithin("scope: a_long_name", 60, metrics).contains(QChar(0x2026)));
}

void TestGraphView::theRubberBandSelectsWhatItTouches()
{
    test::OpenedGraph opened;
    opened.openSample();
    opened.view->fit();
    auto *canvas = opened.view->canvas();
    QTest::mousePress(canvas, Qt::LeftButton, Qt::ShiftModifier, {2, 2});
    QTest::mouseMove(canvas, {400, 400});
    QTest::mouseRelease(canvas, Qt::LeftButton, Qt::ShiftModifier,
                        {canvas->width() - 2, canvas->height() - 2});
    QCOMPARE(opened.controller.selection().nodes().size(), std::size_t{30});
}

void TestGraphView::whatLeadsToAndFromTheChosenNodeStandsOut()
{
    test::OpenedGraph opened;
    opened.openSample();
    opened.controller.selection().set(opened.node("stage2_shortcut_conv"));
    const auto *scene = opened.view->scene();
    const auto isFaded
        = [&](const char *name) { return opened.view->emphasis().isFaded(scene->itemOf(opened.node(name))); };
    QVERIFY(!isFaded("data") && !isFaded("stage1_relu") && !isFaded("stage2_add") && !isFaded("prob"));
    QVERIFY(isFaded("stage2_a_conv") && isFaded("stage2_b_bn"));
}

void TestGraphView::aDoubleClickOpensABlockAndKeepsItInPlace()
{
    test::OpenedGraph opened;
    opened.openSample();
    const ItemIndex block = foldedBlock(opened);
    const auto ref = opened.view->scene()->items()[block].ref;
    const QPointF before
        = opened.view->canvas()->camera().toView(opened.view->scene()->items()[block].rect.topLeft());
    QTest::mouseDClick(opened.view->canvas(), Qt::LeftButton, {}, viewPlaceOf(*opened.view, block));
    QVERIFY(opened.settle());
    const ItemIndex frame = opened.view->scene()->itemOf(ref);
    QVERIFY(opened.view->scene()->items()[frame].isFrame);
    const QPointF after
        = opened.view->canvas()->camera().toView(opened.view->scene()->items()[frame].rect.topLeft());
    QVERIFY(std::abs(after.y() - before.y()) < 1);
}

void TestGraphView::backspaceFoldsTheBlockAround()
{
    test::OpenedGraph opened;
    opened.openSample();
    opened.controller.selection().set(opened.node("stage1_b_conv"));
    QTest::keyClick(opened.view->canvas(), Qt::Key_Backspace);
    QVERIFY(opened.settle());
    const ItemIndex item = opened.view->scene()->itemOf(opened.node("stage1_b_conv"));
    QCOMPARE(opened.view->scene()->items()[item].name, QStringLiteral("stage1 · Residual block 1 of 2"));
    QCOMPARE(opened.controller.selection().nodes().size(), std::size_t{6}); // all of stage1 but its last relu
}

void TestGraphView::backAndForwardRestoreFoldingAndPlace()
{
    test::OpenedGraph opened;
    opened.openSample();
    const auto open = opened.view->openBlocks();
    const auto camera = opened.view->canvas()->camera();
    opened.view->foldAll();
    QVERIFY(opened.settle());
    QVERIFY(opened.view->openBlocks() != open);
    QVERIFY(opened.view->canGoBack());
    while (opened.view->canGoBack()) {
        opened.view->back();
        QVERIFY(opened.settle());
    }
    QCOMPARE(opened.view->openBlocks(), open);
    QVERIFY(opened.view->canvas()->camera() == camera);
    while (opened.view->canGoForward()) {
        opened.view->forward();
        QVERIFY(opened.settle());
    }
    QVERIFY(opened.view->openBlocks() != open);
}

void TestGraphView::arrowsWalkAlongEdges()
{
    test::OpenedGraph opened;
    opened.openSample();
    auto &selection = opened.controller.selection();
    const auto press = [&](Qt::Key key) { QTest::keyClick(opened.view->canvas(), key); };
    selection.set(opened.node("pool"));
    press(Qt::Key_Down);
    QCOMPARE(*selection.current(), opened.node("flat"));
    press(Qt::Key_Up);
    press(Qt::Key_Up);
    QCOMPARE(*selection.current(), opened.node("stage2_relu"));
    press(Qt::Key_End);
    QCOMPARE(*selection.current(), opened.node("prob"));
    press(Qt::Key_Down);
    QCOMPARE(*selection.current(), opened.node("prob"));
    press(Qt::Key_Home);
    QCOMPARE(*selection.current(), opened.node("data"));
}

void TestGraphView::showingANodeOpensItsBlocksAndCentresIt()
{
    test::OpenedGraph opened;
    opened.openResidual(200);
    opened.view->foldAll();
    QVERIFY(opened.settle());
    const NodeId node = opened.node("stage2_unit123_conv2");
    Q_EMIT opened.controller.selection().shownRequested(node);
    QVERIFY(opened.settle());
    const ItemIndex item = opened.view->scene()->itemOf(node);
    QVERIFY(!opened.view->scene()->items()[item].ref.isBlock);
    const QPoint place = viewPlaceOf(*opened.view, item);
    QVERIFY((place - opened.view->canvas()->rect().center()).manhattanLength() < 4);
}

void TestGraphView::anEditRecoloursWithoutANewLayout()
{
    test::OpenedGraph opened;
    opened.openSample();
    const auto *scene = opened.view->scene();
    const ItemIndex item = scene->itemOf(opened.node("stem_conv"));
    QVERIFY(tensor::isHalf(opened.view->looks().items[item].type));
    QSignalSpy settled(opened.view, &widgets::GraphView::settled);
    QVERIFY(opened.controller.apply(policy::OverrideNodes{{"stem_conv"}, tensor::DType::F32}));
    QCOMPARE(opened.view->looks().items[item].type, tensor::DType::F32);
    QCOMPARE(opened.view->scene(), scene);
    QVERIFY(!opened.view->isBusy());
    QTest::qWait(50);
    QCOMPARE(settled.count(), 0);
}

void TestGraphView::castsAreMarkedOnTheEdgesThatTheConversionNames()
{
    test::OpenedGraph opened;
    opened.openSample();
    const auto &conversion = opened.controller.snapshot()->converted->conversion;
    std::size_t marked = 0;
    for (const auto &cast : conversion.casts) {
        for (const auto &reader : cast.readers) {
            if (reader.node == rewrite::kNoNode)
                continue;
            const auto edge = opened.view->scene()->edgeOf(reader.node, reader.input);
            if (edge != widgets::kNoItem) {
                QVERIFY(opened.view->looks().casts[edge].count > 0);
                ++marked;
            }
        }
    }
    std::size_t marks = 0;
    for (const auto &mark : opened.view->looks().casts)
        marks += mark.count;
    QVERIFY(marked > 0);
    QCOMPARE(marks, marked);
    opened.view->setSides(widgets::Sides::Original);
    QVERIFY(
        std::ranges::none_of(opened.view->looks().casts, [](const auto &mark) { return mark.count > 0; }));
    const ItemIndex item = opened.view->scene()->itemOf(opened.node("stem_conv"));
    QCOMPARE(opened.view->looks().items[item].type, tensor::DType::F32);
}

void TestGraphView::aBlockCountsItsOperatorsByPrecision()
{
    test::OpenedGraph opened;
    opened.openSample();
    const ItemIndex block = foldedBlock(opened);
    std::map<tensor::DType, std::uint32_t> expected;
    for (const NodeId node : opened.view->scene()->nodesOf(block))
        ++expected[opened.controller.snapshot()->precisionOf(node)];
    const auto &mix = opened.view->looks().items[block].mix;
    for (std::size_t k = 0; k + 1 < mix.size(); ++k)
        QCOMPARE(mix[k], expected[widgets::kMixTypes[k]]);
}

void TestGraphView::bothSidesMoveInStep()
{
    test::OpenedGraph opened;
    opened.openSample();
    opened.view->setSides(widgets::Sides::Both);
    const auto canvases = opened.view->findChildren<widgets::Canvas *>();
    QCOMPARE(canvases.size(), 2);
    QVERIFY(canvases[0]->isVisible() && canvases[1]->isVisible());
    QVERIFY(canvases[0]->input().converted != canvases[1]->input().converted);
    opened.view->zoomIn();
    QVERIFY(canvases[0]->camera() == canvases[1]->camera());
    QTest::keyClick(canvases[0], Qt::Key_PageDown);
    QVERIFY(canvases[0]->camera() == canvases[1]->camera());
}

void TestGraphView::whatIsInTheMiddleStaysThereSideBySide()
{
    test::OpenedGraph opened;
    opened.openSample();
    const auto middle = [&] {
        const auto *canvas = opened.view->canvas();
        return canvas->camera().toScene(QPointF(canvas->width() / 2.0, 0)).x();
    };
    const int whole = opened.view->canvas()->width();
    for (const bool isMoved : {false, true}) {
        if (isMoved) {
            opened.view->zoomIn();
            opened.view->showNode(opened.node("stem_conv"));
            QVERIFY(opened.settle());
        }
        const double before = middle();
        opened.view->setSides(widgets::Sides::Both);
        QVERIFY(opened.view->canvas()->width() < 0.6 * whole);
        QVERIFY(std::abs(middle() - before) < 2);
        opened.view->setSides(widgets::Sides::Converted);
        QVERIFY(std::abs(middle() - before) < 2);
    }
}

void TestGraphView::wiresOfInt8OperatorsCarryCodes()
{
    test::OpenedGraph opened;
    opened.openSample();
    QVERIFY(opened.controller.apply(policy::MoveOperators{{"Convolution"}, policy::List::Int8}));
    QVERIFY(opened.settle());
    const session::Snapshot &snapshot = *opened.controller.snapshot();
    const auto typeOf = [&](const char *from, const char *to) {
        const NodeId reader = opened.node(to);
        const auto inputs = snapshot.graph().inputs(reader);
        for (std::uint32_t k = 0; k < inputs.size(); ++k) {
            if (snapshot.graph().node(inputs[k].node).name == from)
                return widgets::typeOnWire(snapshot, {inputs[k], reader, k}, true);
        }
        return tensor::DType::F64;
    };
    using tensor::DType;
    QCOMPARE(typeOf("stem_conv", "stem_bn"), DType::Unknown); // within one operator
    QCOMPARE(typeOf("stem_bn", "stem_relu"), DType::Unknown);
    const DType read = typeOf("normalized", "stem_conv"); // quantized on the way
    QVERIFY(read == DType::I8 || read == DType::U8);
    const DType between = typeOf("stem_relu", "stage1_a_conv"); // behind a ReLU
    QVERIFY(between == DType::I8 || between == DType::U8);
    QCOMPARE(typeOf("stage2_relu", "pool"), DType::F32);
}

void TestGraphView::altAndAClickShowTheSameNodeInTheOtherGraph()
{
    test::OpenedGraph opened;
    opened.openSample();
    opened.view->unfoldAll();
    QVERIFY(opened.settle());
    const NodeId node = opened.node("stem_conv");
    opened.view->showNode(node);
    QVERIFY(opened.settle());
    QSignalSpy told(opened.view, &widgets::GraphView::counterpartShown);
    const auto *scene = opened.view->scene();
    const ItemIndex item = scene->itemOf(node);
    QTest::mouseClick(opened.view->canvas(), Qt::LeftButton, Qt::AltModifier,
                      viewPlaceOf(*opened.view, item));
    QCOMPARE(opened.view->sides(), widgets::Sides::Both);
    auto *const original = opened.view->originalCanvas();
    QCOMPARE(original->marked(), item);
    QCOMPARE(opened.view->canvas()->marked(), widgets::kNoItem);
    QCOMPARE(opened.controller.selection().nodes(), std::vector<NodeId>{node});
    QVERIFY2(told.value(0).value(0).toString().startsWith("stem_conv: f32 in the original"),
             qPrintable(told.value(0).value(0).toString()));
    // Out of sight in the other canvas, which is narrower: brought there.
    const auto isSeen = [&](const widgets::Canvas *canvas) {
        return QRectF(canvas->rect()).contains(canvas->camera().toView(scene->items()[item].rect));
    };
    QVERIFY(isSeen(original));
    QTRY_COMPARE_WITH_TIMEOUT(original->marked(), widgets::kNoItem, 5000);

    opened.view->findChild<QSplitter *>()->setSizes({1300, 300});
    QTest::qWait(10);
    widgets::Camera camera = original->camera();
    camera.origin.rx() = scene->items()[item].rect.left() - 700 / camera.scale;
    Q_EMIT original->cameraMoved(camera);
    QVERIFY(isSeen(original) && !isSeen(opened.view->canvas()));
    QTest::mouseClick(original, Qt::LeftButton, Qt::AltModifier,
                      original->camera().toView(scene->items()[item].rect.center()).toPoint());
    QVERIFY(isSeen(opened.view->canvas()));
    QCOMPARE(opened.view->canvas()->marked(), item);
}

void TestGraphView::blocksThatWereOpenOpenAgain()
{
    test::OpenedGraph opened;
    opened.openResidual(60);
    const std::vector<char> first = opened.view->openBlocks();
    opened.view->foldAll();
    QVERIFY(opened.settle());
    const std::vector<char> folded = opened.view->openBlocks();
    QVERIFY(folded != first);
    opened.view->restoreOpenBlocks(first);
    QVERIFY(opened.settle());
    QCOMPARE(opened.view->openBlocks(), first);
    opened.view->restoreOpenBlocks({1, 1}); // of another model
    QVERIFY(opened.settle());
    QCOMPARE(opened.view->openBlocks(), first);

    auto document = session::Document::open(opened.folder.filePath("long-symbol.json").toStdString());
    opened.controller.setDocument(std::move(document).value());
    opened.view->restoreOpenBlocks(folded); // before its first picture
    QVERIFY(opened.settle());
    QCOMPARE(opened.view->openBlocks(), folded);
}

void TestGraphView::aPlainDrawingSaysWhyAndIsTriedAgain()
{
    const QTemporaryDir folder;
    QFile dot(folder.filePath("dot"));
    QVERIFY(dot.open(QIODevice::WriteOnly));
    dot.write("#!/bin/sh\nexit 3\n");
    dot.close();
    dot.setPermissions(QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner);
    const QByteArray path = qgetenv("PATH");
    qputenv("PATH", folder.path().toLocal8Bit() + ':' + path);
    test::OpenedGraph opened;
    opened.openSample();
    qputenv("PATH", path);
    QVERIFY2(opened.view->plainNote().text().contains("dot failed with exit code 3"),
             qPrintable(opened.view->plainNote().text()));
    const auto before = opened.view->scene()->items();
    const auto buttons = opened.view->plainNote().findChildren<QPushButton *>();
    QCOMPARE(buttons.size(), 1);
    QTest::mouseClick(buttons[0], Qt::LeftButton);
    QVERIFY(opened.settle());
    QCOMPARE(opened.view->plainNote().text(), QString());
    QVERIFY(std::ranges::any_of(opened.view->scene()->items(), [&](const auto &item) {
        return item.rect
            != before[static_cast<std::size_t>(&item - opened.view->scene()->items().data())].rect;
    }));
}

void TestGraphView::theWheelScrollsAndWithControlZoomsUnderThePointer()
{
    test::OpenedGraph opened;
    opened.openSample();
    auto *canvas = opened.view->canvas();
    const auto before = canvas->camera();
    const QPointF at(300, 200);
    const auto wheel = [&](Qt::KeyboardModifiers modifiers) {
        QWheelEvent event(at, canvas->mapToGlobal(at), {}, {0, 120}, Qt::NoButton, modifiers,
                          Qt::NoScrollPhase, false);
        QCoreApplication::sendEvent(canvas, &event);
    };
    wheel(Qt::NoModifier);
    QCOMPARE(canvas->camera().scale, before.scale);
    QVERIFY(canvas->camera().origin.y() < before.origin.y());
    const QPointF under = canvas->camera().toScene(at);
    wheel(Qt::ControlModifier);
    QVERIFY(canvas->camera().scale > before.scale);
    QVERIFY((canvas->camera().toScene(at) - under).manhattanLength() < 1e-6);
}

void TestGraphView::textsComeBackWhenTheZoomRests()
{
    test::OpenedGraph opened;
    opened.openWide(60, 84);
    opened.view->unfoldAll();
    QVERIFY(opened.settle());
    auto *canvas = opened.view->canvas();
    QTRY_VERIFY(!canvas->isFading());
    const QSizeF size = opened.view->scene()->size();
    auto camera = canvas->camera();
    camera.scale = 0.55;
    camera.centreOn({size.width() / 2, size.height() / 2}, canvas->size());
    canvas->setCamera(camera);
    const auto picture = [&] { return canvas->grab().toImage().convertToFormat(QImage::Format_RGB32); };
    for (int k = 0; k < 4; ++k) {
        camera.zoomAt({800, 500}, camera.scale * 1.03);
        canvas->setCamera(camera);
    }
    const QImage zooming = picture();
    QTRY_VERIFY(canvas->isComplete());
    picture();
    QTRY_VERIFY(canvas->isComplete());
    const QImage resting = picture();
    canvas->setInput(widgets::PaintInput(canvas->input()));
    QCOMPARE(picture(), resting);
    QVERIFY(zooming != resting); // more boxes than can be lettered in a frame's time
}

void TestGraphView::leftDragOnTheGroundPans()
{
    test::OpenedGraph opened;
    opened.openSample();
    auto *canvas = opened.view->canvas();
    const auto before = canvas->camera();
    QTest::mousePress(canvas, Qt::LeftButton, {}, {5, 300});
    QTest::mouseMove(canvas, {45, 330});
    QTest::mouseMove(canvas, {65, 360});
    QTest::mouseRelease(canvas, Qt::LeftButton, {}, {65, 360});
    const QPointF moved = (before.origin - canvas->camera().origin) * before.scale;
    QVERIFY((moved - QPointF(60, 60)).manhattanLength() < 1);
}

/// What was drawn is moved, and only what comes into the view is drawn: it must look as if all had been.
void TestGraphView::aMovedPictureIsTheOneDrawnAnew()
{
    test::OpenedGraph opened;
    opened.openResidual(200);
    opened.view->unfoldAll();
    QVERIFY(opened.settle());
    auto *canvas = opened.view->canvas();
    canvas->minimap()->hide();
    const auto picture = [&] { return canvas->grab().toImage().convertToFormat(QImage::Format_RGB32); };
    for (const double scale : {0.1, 0.3, 0.8}) {
        auto camera = canvas->camera();
        camera.scale = scale;
        camera.centreOn({opened.view->scene()->size().width() / 2, 3000}, canvas->size());
        canvas->setCamera(camera);
        picture();
        for (int k = 0; k < 12; ++k) {
            camera.origin += QPointF(k % 4 == 3 ? -31 : 9, k % 3 == 2 ? -40 : 57) / scale;
            canvas->setCamera(camera);
            picture();
        }
        QTRY_VERIFY(canvas->isComplete());
        const QImage moved = picture();
        canvas->setInput(widgets::PaintInput(canvas->input()));
        const QImage anew = picture();
        qsizetype differing = 0;
        for (int y = 0; y < moved.height(); ++y)
            for (int x = 0; x < moved.width(); ++x)
                differing += moved.pixel(x, y) != anew.pixel(x, y) ? 1 : 0;
        QVERIFY2(differing * 500 < qsizetype(moved.width()) * moved.height(),
                 qPrintable(QStringLiteral("%1 pixels at %2").arg(differing).arg(scale)));
    }
}

void TestGraphView::aDragCarriesTheNamesOfTheChosenNodes()
{
    test::OpenedGraph opened;
    opened.openSample();
    const auto mime
        = widgets::nodesMime(opened.controller.snapshot()->graph(), {opened.node("pool"), opened.node("fc")});
    QCOMPARE(mime->data("application/x-halftone-nodes"), QByteArray("pool\nfc"));
}

void TestGraphView::theMenuIsAskedForWithTheClickedNodeChosen()
{
    test::OpenedGraph opened;
    opened.openSample();
    opened.view->fit();
    QSignalSpy asked(opened.view, &widgets::GraphView::nodesMenuRequested);
    const NodeId node = opened.node("fc");
    const QPoint at = viewPlaceOf(*opened.view, opened.view->scene()->itemOf(node));
    QContextMenuEvent event(QContextMenuEvent::Mouse, at, opened.view->canvas()->mapToGlobal(at));
    QCoreApplication::sendEvent(opened.view->canvas(), &event);
    QCOMPARE(asked.count(), 1);
    QCOMPARE(opened.controller.selection().nodes(), std::vector<NodeId>{node});
}

void TestGraphView::findMarksAndWalksThroughWhatItFinds()
{
    test::OpenedGraph opened;
    opened.openSample();
    QTest::keyClick(opened.view->canvas(), Qt::Key_F, Qt::ControlModifier);
    QVERIFY(opened.view->findPanel()->isVisible());
    QTest::keyClicks(opened.view->findPanel()->findChild<QLineEdit *>(), "op:conv");
    QCOMPARE(opened.view->findPanel()->found().size(), std::size_t{6});
    QVERIFY(opened.view->emphasis().isFound(opened.view->scene()->itemOf(opened.node("stem_conv"))));
    opened.view->findNext();
    QCOMPARE(*opened.controller.selection().current(), opened.node("stem_conv"));
    opened.view->findNext();
    QCOMPARE(*opened.controller.selection().current(), opened.node("stage1_a_conv"));
    opened.view->findPrevious();
    opened.view->findPrevious();
    QCOMPARE(*opened.controller.selection().current(), opened.node("stage2_shortcut_conv"));
    QTest::keyClick(opened.view->findPanel(), Qt::Key_Escape);
    QVERIFY(!opened.view->findPanel()->isVisible());
}

void TestGraphView::theNewestDocumentWins()
{
    test::OpenedGraph opened;
    opened.openResidual(300);
    QSignalSpy settled(opened.view, &widgets::GraphView::settled);
    for (int k = 0; k < 10; ++k) {
        opened.view->unfoldAll();
        auto document = session::Document::open(HALFTONE_SOURCE_DIR "/resources/sample/digits-symbol.json");
        opened.controller.setDocument(std::move(document).value());
    }
    QVERIFY(opened.settle());
    QTest::qWait(100);
    QCOMPARE(settled.count(), 1);
    QCOMPARE(&opened.view->scene()->graph(), &opened.controller.snapshot()->graph());
}

void TestGraphView::closingTheDocumentLeavesAnEmptyView()
{
    test::OpenedGraph opened;
    opened.openSample();
    opened.controller.selection().set(opened.node("fc"));
    opened.controller.setDocument(nullptr);
    QVERIFY(!opened.view->isBusy());
    QVERIFY(opened.view->scene() == nullptr);
    opened.view->grab();
    QTest::keyClick(opened.view->canvas(), Qt::Key_Down);
    opened.view->fit();
    opened.openSample();
    QVERIFY(opened.view->scene() != nullptr);
}

void TestGraphView::exportsAreWholeFilesOfTheirKind()
{
    test::OpenedGraph opened;
    opened.openSample();
    const QString base = opened.folder.filePath("graph.");
    for (const char *ending : {"svg", "png", "pdf"})
        QVERIFY(opened.view->exportTo(base + ending).ok());
    QFile svg(base + "svg");
    QVERIFY(svg.open(QIODevice::ReadOnly));
    const QByteArray text = svg.readAll();
    QXmlStreamReader reader(text);
    while (!reader.atEnd())
        reader.readNext();
    QVERIFY2(!reader.hasError(), qPrintable(reader.errorString()));
    for (const char *name : {"pixel_square", "stage1", "prob", "Convolution"})
        QVERIFY(text.contains(name));
    const QImage image(base + "png");
    QVERIFY(image.width() > opened.view->scene()->size().width());
    QFile pdf(base + "pdf");
    QVERIFY(pdf.open(QIODevice::ReadOnly));
    QVERIFY(pdf.readAll().startsWith("%PDF"));
    QCOMPARE(opened.view->exportTo(base + "bmp").error().code, Errc::BadCall);
    QVERIFY(!opened.view->exportTo(opened.folder.filePath("no/such/folder.svg")).ok());
}

void TestGraphView::everyControlHasAnAccessibleName()
{
    test::OpenedGraph opened;
    opened.openSample();
    opened.view->setSides(widgets::Sides::Both);
    opened.view->showFind();
    for (const QWidget *widget : opened.view->findChildren<QWidget *>()) {
        if (!widget->isVisible() || widget->focusPolicy() == Qt::NoFocus)
            continue;
        const auto *button = qobject_cast<const QAbstractButton *>(widget);
        QVERIFY2(!widget->accessibleName().isEmpty() || (button && !button->text().isEmpty()),
                 widget->metaObject()->className());
    }
}

QTEST_MAIN(TestGraphView)
#include "tst_graph_view.moc"
