#include "tests/widgets/graphview/graph_fixture.h"
#include "widgets/common/precision_palette.h"
#include "widgets/graphview/canvas.h"
#include "widgets/graphview/item_tip.h"
#include "widgets/graphview/legend.h"
#include "widgets/graphview/minimap.h"
#include "widgets/graphview/scene_painter.h"

#include <QHelpEvent>
#include <QImage>
#include <QPainter>
#include <QToolTip>

#include <algorithm>
#include <cmath>

using namespace halftone;
using graph::NodeId;
using widgets::Camera;
using widgets::ItemIndex;

namespace {

constexpr int kPlace = 60; ///< pixels from the picture's left and upper edge to the item that is looked at

QPalette palette(bool isDark)
{
    const QColor base = isDark ? QColor(0x1c, 0x1e, 0x21) : QColor(Qt::white);
    const QColor text = isDark ? QColor(0xe4, 0xe4, 0xe4) : QColor(0x1b, 0x1b, 0x1b);
    QPalette palette(base, base);
    palette.setColor(QPalette::Base, base);
    palette.setColor(QPalette::Window, base);
    palette.setColor(QPalette::Text, text);
    palette.setColor(QPalette::WindowText, text);
    palette.setColor(QPalette::Highlight, isDark ? QColor(0x2f, 0x6f, 0xb0) : QColor(0x1f, 0x6f, 0xb8));
    return palette;
}

/// With the item's corner at (kPlace, kPlace).
QImage drawn(const widgets::PaintInput &input, ItemIndex item, double scale, bool isDark)
{
    QImage image(900, 400, QImage::Format_RGB32);
    const QPalette colours = palette(isDark);
    image.fill(colours.color(QPalette::Base));
    QPainter painter(&image);
    Camera camera;
    camera.scale = scale;
    camera.origin = input.scene->items()[item].rect.topLeft() - QPointF(kPlace, kPlace) / scale;
    widgets::ScenePainter(colours, QGuiApplication::font())
        .paint(painter, image.rect(), image.rect(), camera, input);
    return image;
}

bool isAlike(const QColor &a, const QColor &b)
{
    return std::abs(a.red() - b.red()) + std::abs(a.green() - b.green()) + std::abs(a.blue() - b.blue()) < 24;
}

} // namespace

/// What is drawn over the graph's nodes and beside them, by its pixels.
class TestGraphMarks : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void aCastsMarkIsSeenOnABorderOfItsOwnColour_data() { themes(); }
    void aCastsMarkIsSeenOnABorderOfItsOwnColour();
    void theLegendsMarksHaveTheColoursThatCastsHave();
    void theLegendCountsOperatorsOfBodiesToo();
    void theScaleOfRangesEndsWhereTheTargetTypeDoes();
    void whatIsSelectedIsSeenWhenErrorsAreColoured_data() { themes(); }
    void whatIsSelectedIsSeenWhenErrorsAreColoured();
    void sideBySideTheOverviewTakesNoNodesClick();
    void tipsTellWholeNames();

private:
    static void themes()
    {
        QTest::addColumn<bool>("isDark");
        QTest::newRow("light") << false;
        QTest::newRow("dark") << true;
    }
};

/// Of a cast at a parameter, which lies over the band of its node, there along the row through its middle.
void TestGraphMarks::aCastsMarkIsSeenOnABorderOfItsOwnColour()
{
    QFETCH(const bool, isDark);
    constexpr double kScale = 2;
    constexpr int kHalf = 7; // of the mark at this scale
    test::OpenedGraph opened;
    opened.openSample();
    widgets::PaintInput input = opened.view->canvas()->input();
    const ItemIndex item = input.scene->itemOf(opened.node("prob"));
    auto looks = std::make_shared<widgets::Looks>(*input.looks);
    QCOMPARE(looks->items[item].type, tensor::DType::F32); // whose band has no pattern
    looks->items[item].castsInside = 1;
    input.looks = looks;
    const QImage image = drawn(input, item, kScale, isDark);
    const QColor band = widgets::precisionLook(tensor::DType::F32, isDark).colour;
    const int row
        = kPlace + static_cast<int>(std::lround((input.scene->items()[item].rect.height() - 6) * kScale));
    QVERIFY(isAlike(image.pixelColor(kPlace + 3, row), band)); // the mark itself
    QVERIFY(isAlike(image.pixelColor(kPlace + kHalf + 5, row), band)); // what it lies on
    double most = 1;
    for (int x = kPlace + kHalf - 2; x <= kPlace + kHalf + 2; ++x)
        most = std::max(most, widgets::contrastRatio(image.pixelColor(x, row), band));
    QVERIFY2(most >= 2, qPrintable(QString::number(most)));
}

void TestGraphMarks::theLegendsMarksHaveTheColoursThatCastsHave()
{
    test::OpenedGraph opened;
    opened.openSample();
    const auto *const legend = opened.view->findChild<widgets::Legend *>();
    QVERIFY(legend);
    const auto tells = [legend](tensor::DType type) { return std::ranges::count(legend->castTypes(), type); };
    QCOMPARE(tells(tensor::DType::F16), 1);
    QCOMPARE(tells(tensor::DType::F32), 1);
    const auto &marks = opened.view->looks().casts;
    for (const widgets::CastMark &mark : marks)
        QVERIFY(mark.count == 0 || tells(mark.type) == 1);

    // Both are drawn before the words that they belong to.
    const QString words = QStringLiteral("%1 casts inserted").arg(opened.controller.snapshot()->castCount());
    const QImage image = const_cast<widgets::Legend *>(legend)->grab().toImage();
    const int end
        = image.width() - 20 - legend->fontMetrics().horizontalAdvance(words); // and the mark that folds it
    for (const tensor::DType type : {tensor::DType::F16, tensor::DType::F32}) {
        const QColor colour = widgets::precisionLook(type, widgets::isDark(legend->palette())).colour;
        int seen = 0;
        for (int x = std::max(0, end - 30); x < end; ++x)
            for (int y = 0; y < image.height(); ++y)
                seen += image.pixelColor(x, y) == colour ? 1 : 0;
        QVERIFY2(seen > 20, qPrintable(colour.name()));
    }

    QVERIFY(opened.controller.apply(policy::MoveOperators{{"Convolution"}, policy::List::Int8}));
    QVERIFY(opened.settle());
    for (const widgets::CastMark &mark : opened.view->looks().casts)
        QVERIFY(mark.count == 0 || tells(mark.type) == 1);
}

/// The file has 3 operators in its graph and 13 in bodies of Loop, If and Scan, which have no boxes.
void TestGraphMarks::theLegendCountsOperatorsOfBodiesToo()
{
    test::OpenedGraph opened;
    opened.open(QStringLiteral(HALFTONE_TEST_DATA "/onnx/edges.onnx"));
    const auto *const legend = opened.view->findChild<widgets::Legend *>();
    QVERIFY(legend);
    const auto counted = [legend] {
        int operators = 0;
        for (const QString &part : legend->precisionsText().split(QStringLiteral(" \u00b7 ")))
            operators += part.contains("cast") ? 0 : part.section(' ', -1).toInt();
        return operators;
    };
    QVERIFY2(counted() == 16, qPrintable(legend->precisionsText()));
    const QString casts = QString::number(opened.controller.snapshot()->castCount());
    QVERIFY2(legend->precisionsText().contains(casts + " cast"), qPrintable(legend->precisionsText()));
    opened.view->setSides(widgets::Sides::Original);
    QVERIFY(!legend->precisionsText().contains("cast"));
    QVERIFY2(counted() == 3, qPrintable(legend->precisionsText())); // whose bodies' types nobody infers
}

void TestGraphMarks::theScaleOfRangesEndsWhereTheTargetTypeDoes()
{
    test::OpenedGraph opened;
    opened.openSample();
    opened.view->setColourBy(widgets::ColourBy::Overflow);
    QCOMPARE(opened.view->looks().high, 65504.0);
    QVERIFY(opened.controller.apply(policy::SetTarget{tensor::DType::BF16}));
    QVERIFY(opened.settle());
    QCOMPARE(opened.view->looks().target, tensor::DType::BF16);
    QVERIFY(opened.view->looks().high > 3.38e38 && opened.view->looks().high < 3.4e38);
}

/// At 3 to 1 against what it is drawn on (WCAG 2.1, 1.4.11), whatever the error: also within a frame.
void TestGraphMarks::whatIsSelectedIsSeenWhenErrorsAreColoured()
{
    QFETCH(const bool, isDark);
    test::OpenedGraph opened;
    opened.openSample();
    for (const char *name : {"prob", "stage1_a_conv"}) {
        widgets::PaintInput input = opened.view->canvas()->input();
        const NodeId node = opened.node(name);
        const ItemIndex item = input.scene->itemOf(node);
        QVERIFY(!input.scene->items()[item].ref.isBlock);
        input.colourBy = widgets::ColourBy::Error;
        const auto at = [&](const QImage &image, int above) {
            const int x = kPlace + static_cast<int>(input.scene->items()[item].rect.width() / 4);
            return image.pixelColor(x, kPlace - above);
        };
        for (const float share : {0.0F, 0.25F, 0.5F, 0.75F, 1.0F}) {
            auto looks = std::make_shared<widgets::Looks>(*input.looks);
            looks->items[item].share = share;
            input.looks = looks;
            input.emphasis = std::make_shared<const widgets::Emphasis>(
                widgets::emphasisOf(*input.scene, std::vector{node}));
            const QImage image = drawn(input, item, 1, isDark);
            const QColor ring = at(image, 3);
            const QColor ground = at(image, 6);
            const double found = widgets::contrastRatio(ring, ground);
            QVERIFY2(found >= 3,
                     qPrintable(QStringLiteral("%1 at %2: %3 on %4 is %5")
                                    .arg(QLatin1String(name))
                                    .arg(double(share))
                                    .arg(ring.name(), ground.name())
                                    .arg(found)));
            input.emphasis = std::make_shared<const widgets::Emphasis>();
            QVERIFY(at(drawn(input, item, 1, isDark), 3) == ground); // it is the selection's
        }
    }
}

/// Half as wide, a canvas has nodes nearly everywhere. Wherever one goes, what lies over no node may stay.
void TestGraphMarks::sideBySideTheOverviewTakesNoNodesClick()
{
    test::OpenedGraph opened;
    opened.openWide(6, 40);
    opened.view->unfoldAll();
    QVERIFY(opened.settle());
    opened.view->setSides(widgets::Sides::Both);
    opened.view->zoomToFull();
    auto *const canvas = opened.view->canvas();
    const widgets::Minimap *const map = canvas->minimap();
    const widgets::Scene &scene = *opened.view->scene();
    int shown = 0;
    int hidden = 0;
    for (double x = -700; x < scene.size().width(); x += 190)
        for (double y = 0; y < scene.size().height(); y += 370) {
            Camera camera = canvas->camera();
            camera.origin = {x, y};
            Q_EMIT canvas->cameraMoved(camera);
            (map->isVisible() ? shown : hidden) += 1;
            for (const widgets::SceneItem &item : scene.items()) {
                const QPoint place = canvas->camera().toView(item.rect.center()).toPoint();
                if (!item.isFrame && canvas->rect().contains(place))
                    QVERIFY(canvas->childAt(place) != map);
                QVERIFY(item.isFrame || !map->isVisible()
                        || !canvas->camera().toView(item.rect).intersects(QRectF(map->geometry())));
            }
        }
    QVERIFY2(shown > 0 && hidden > 0, qPrintable(QStringLiteral("%1, %2").arg(shown).arg(hidden)));
    QVERIFY(!opened.view->originalCanvas()->minimap()->isVisible());
}

void TestGraphMarks::tipsTellWholeNames()
{
    test::OpenedGraph opened;
    opened.openResidual(12);
    opened.view->unfoldAll();
    QVERIFY(opened.settle());
    const auto &items = opened.view->scene()->items();
    for (ItemIndex k = 0; k < items.size(); ++k)
        QVERIFY(widgets::tipOf(items[k], opened.view->looks().items[k], widgets::ColourBy::Precision)
                    .startsWith(items[k].name));
    const std::string name = "stage0_unit5_conv1";
    opened.view->showNode(opened.node(name));
    QVERIFY(opened.settle());
    auto *const canvas = opened.view->canvas();
    const QRectF box = items[opened.view->scene()->itemOf(opened.node(name))].rect;
    const QPoint place = canvas->camera().toView(box.center()).toPoint();
    QHelpEvent help(QEvent::ToolTip, place, canvas->mapToGlobal(place));
    QCoreApplication::sendEvent(canvas, &help);
    QVERIFY2(QToolTip::text().startsWith(QString::fromStdString(name)), qPrintable(QToolTip::text()));
    QToolTip::hideText();
}

QTEST_MAIN(TestGraphMarks)
#include "tst_graph_marks.moc"
