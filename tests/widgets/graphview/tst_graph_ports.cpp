#include "tests/widgets/graphview/graph_fixture.h"
#include "widgets/graphview/canvas.h"
#include "widgets/graphview/item_tip.h"

#include <algorithm>

using namespace halftone;
using widgets::ItemIndex;
using widgets::SceneItem;

namespace {

constexpr int kBlocks = 8;

/// Blocks of five operators, each of which reads one mask.
QByteArray maskedSymbol()
{
    QStringList nodes{QString::fromLatin1(R"({"op":"null","name":"data","inputs":[]})"),
                      QString::fromLatin1(R"({"op":"null","name":"given","inputs":[]})"),
                      QString::fromLatin1(R"({"op":"exp","name":"prepare_mask","inputs":[[1,0,0]]})")};
    int last = 0;
    for (int k = 0; k < kBlocks; ++k) {
        nodes << QString::fromLatin1(
                     R"({"op":"elemwise_add","name":"layers_%1_add","inputs":[[%2,0,0],[2,0,0]]})")
                     .arg(k)
                     .arg(last);
        for (const char *const op : {"exp", "sqrt", "abs", "square"}) {
            last = static_cast<int>(nodes.size()) - 1;
            nodes << QString::fromLatin1(R"({"op":"%1","name":"layers_%2_%1","inputs":[[%3,0,0]]})")
                         .arg(QLatin1String(op))
                         .arg(k)
                         .arg(last);
        }
        last = static_cast<int>(nodes.size()) - 1;
    }
    return QStringLiteral(R"({"nodes":[%1],"arg_nodes":[0,1],"heads":[[%2,0,0]]})")
        .arg(nodes.join(','))
        .arg(last)
        .toUtf8();
}

} // namespace

/// Values that are read all along the graph, and what else has no box.
class TestGraphPorts : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void portsAreNamedAndLeadTheEyeOn()
    {
        test::OpenedGraph opened;
        opened.openText("masked-symbol.json", maskedSymbol());
        opened.view->unfoldAll();
        QVERIFY(opened.settle());
        const widgets::Scene &scene = *opened.view->scene();
        const ItemIndex mask = scene.itemOf(opened.node("prepare_mask"));
        QCOMPARE(scene.portsOutOf(mask).size(), std::size_t{kBlocks});
        QVERIFY(scene.edgesOutOf(mask).empty());
        const QString name = scene.items()[mask].gives;
        QVERIFY2(name.endsWith(QStringLiteral("mask")), qPrintable(name));
        const ItemIndex reader = scene.itemOf(opened.node("layers_5_add"));
        QCOMPARE(scene.items()[reader].reads, name);
        QVERIFY(widgets::tipOf(scene.items()[reader], opened.view->looks().items[reader],
                               widgets::ColourBy::Precision)
                    .contains(name));
        // A click on its name leads to where it comes from, and back again.
        const graph::NodeId source = opened.node("prepare_mask");
        QCOMPARE(std::vector(scene.portSources(reader).begin(), scene.portSources(reader).end()),
                 std::vector{source});
        opened.view->showNode(opened.node("layers_5_add"));
        QVERIFY(opened.settle());
        const QRectF box = opened.view->canvas()->camera().toView(scene.items()[reader].rect);
        QTest::mouseClick(opened.view->canvas(), Qt::LeftButton, {},
                          (box.topLeft() + QPointF(10, -8) * opened.view->scale()).toPoint());
        QVERIFY(opened.controller.selection().current() == source);
        opened.controller.selection().set(opened.node("given")); // what depends on it stands out
        QVERIFY(!opened.view->emphasis().isFaded(reader));
    }

    void allNodesHaveTheirEdgesWhereThatIsAskedFor()
    {
        test::OpenedGraph opened;
        opened.openText("masked-symbol.json", maskedSymbol());
        QSignalSpy changed(opened.view, &widgets::GraphView::detailChanged);
        opened.view->setDetail(layout::Detail::Everything);
        QVERIFY(opened.settle());
        opened.view->unfoldAll();
        QVERIFY(opened.settle());
        QCOMPARE(changed.size(), 1);
        const widgets::Scene &scene = *opened.view->scene();
        QCOMPARE(scene.edgesOutOf(scene.itemOf(opened.node("prepare_mask"))).size(), std::size_t{kBlocks});
        QVERIFY(
            std::ranges::all_of(scene.items(), [](const SceneItem &item) { return item.reads.isEmpty(); }));
    }

    void theBlockAroundANodeFolds()
    {
        test::OpenedGraph opened;
        opened.openText("masked-symbol.json", maskedSymbol());
        opened.view->unfoldAll();
        QVERIFY(opened.settle());
        QVERIFY(!opened.view->canFoldAround());
        opened.controller.selection().set(opened.node("layers_5_abs"));
        QVERIFY(opened.view->canFoldAround() && !opened.view->canUnfoldCurrent());
        const std::size_t before = opened.view->scene()->items().size();
        opened.view->foldAround();
        QVERIFY(opened.settle());
        QCOMPARE(opened.view->scene()->items().size(), before - 5);
        QVERIFY(opened.view->canUnfoldCurrent());
        opened.view->unfoldCurrent();
        QVERIFY(opened.settle());
        QCOMPARE(opened.view->scene()->items().size(), before);
    }
};

QTEST_MAIN(TestGraphPorts)
#include "tst_graph_ports.moc"
