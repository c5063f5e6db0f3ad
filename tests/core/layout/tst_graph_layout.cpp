#include "core/layout/dot_layout.h"
#include "core/layout/graph_layout.h"
#include "core/layout/layered_layout.h"
#include "tests/support/build_graph.h"

#include <QElapsedTimer>
#include <QFile>
#include <QIODevice>
#include <QTemporaryDir>
#include <QTest>

#include <random>
#include <set>
#include <thread>

using namespace halftone;
using graph::NodeId;
using layout::Rect;

namespace {

graph::Graph randomGraph(std::uint32_t seed, std::size_t nodes, std::size_t back = 6)
{
    std::mt19937 random(seed);
    test::GraphBuilder g;
    std::vector<graph::Entry> made{g.variable("data")};
    for (std::size_t k = 1; k < nodes; ++k) {
        std::vector<graph::Entry> inputs;
        for (std::size_t n = 1 + random() % 2; n > 0; --n)
            inputs.push_back(made[made.size() - 1 - random() % std::min(made.size(), back)]);
        made.push_back(g.op("add_n", "stage" + std::to_string(k / 12) + "_n" + std::to_string(k), inputs));
    }
    return g.withHeads({made.back()});
}

/// Convolution, normalisation, activation, convolution, sum: `blocks` of five operators.
graph::Graph residual(std::size_t blocks)
{
    test::GraphBuilder g;
    auto x = g.variable("data");
    for (std::size_t k = 0; k < blocks; ++k) {
        const std::string name = "stage" + std::to_string(k / 50) + "_unit" + std::to_string(k);
        auto y = g.op("Convolution", name + "_conv1", {x});
        y = g.op("BatchNorm", name + "_bn1", {y});
        y = g.op("Activation", name + "_relu1", {y});
        y = g.op("Convolution", name + "_conv2", {y});
        x = g.op("elemwise_add", name + "_add", {y, x});
    }
    return g.withHeads({x});
}

struct Folded
{
    layout::BlockTree tree;
    layout::ItemSizes sizes;
    layout::PieceCache cache;

    explicit Folded(const graph::Graph &graph)
        : tree(layout::foldGraph(graph, std::vector<char>(graph.nodeCount(), 1)))
    {
        sizes.nodes.assign(graph.nodeCount(), {160, 40});
        sizes.foldedBlocks.assign(tree.blocks.size(), {200, 64});
    }

    layout::Picture picture(const graph::Graph &graph, const std::vector<char> &open,
                            const layout::LayoutOptions &options = {})
    {
        auto result = layout::layoutGraph(graph, tree, open, sizes, options, cache);
        if (!result.ok())
            qFatal("%s", result.error().message().c_str());
        return std::move(result).value();
    }
};

/// What is wrong with a picture by the definition of one, or nothing.
QString flawOf(const layout::Picture &picture)
{
    constexpr double kRounding = 0.6; // Graphviz gives hundredths of an inch on large drawings
    const auto &items = picture.items;
    for (std::size_t a = 0; a < items.size(); ++a) {
        const Rect &r = items[a].rect;
        if (r.x < -kRounding || r.y < -kRounding || r.right() > picture.size.width + kRounding
            || r.bottom() > picture.size.height + kRounding)
            return "an item is outside";
        for (std::size_t b = a + 1; b < items.size(); ++b) {
            const bool isInside = items[a].isFrame && r.contains(items[b].rect);
            if (!isInside && r.overlaps(items[b].rect))
                return QStringLiteral("items %1 and %2 overlap").arg(a).arg(b);
        }
    }
    for (const layout::PlacedEdge &edge : picture.edges) {
        const Rect &from = items[edge.from].rect;
        const Rect &to = items[edge.to].rect;
        if (edge.wires.empty() || edge.line.size() < 2)
            return "an edge is empty";
        if (from.bottom() > to.y)
            return "an edge leads upward";
        const layout::Point first = edge.line.front();
        const layout::Point last = edge.line.back();
        if (std::abs(first.y - from.bottom()) > kRounding || std::abs(last.y - to.y) > kRounding)
            return "an edge does not begin and end at the borders";
        if (first.x < from.x - kRounding || first.x > from.right() + kRounding || last.x < to.x - kRounding
            || last.x > to.right() + kRounding)
            return "an edge ends beside its node";
    }
    return {};
}

bool isSame(const layout::Picture &a, const layout::Picture &b)
{
    if (a.items.size() != b.items.size() || a.edges.size() != b.edges.size())
        return false;
    for (std::size_t k = 0; k < a.items.size(); ++k)
        if (a.items[k].rect != b.items[k].rect || a.items[k].item != b.items[k].item)
            return false;
    for (std::size_t k = 0; k < a.edges.size(); ++k)
        if (a.edges[k].line != b.edges[k].line)
            return false;
    return true;
}

/// A program in place of Graphviz's.
QString script(const QTemporaryDir &folder, const QByteArray &lines)
{
    const QString path = folder.filePath("slow-dot");
    QFile file(path);
    if (!file.open(QIODevice::WriteOnly))
        qFatal("no script");
    file.write("#!/bin/sh\n" + lines);
    file.close();
    file.setPermissions(QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner);
    return path;
}

/// One that takes all input, says who it is and never answers.
QString sleeper(const QTemporaryDir &folder)
{
    return script(folder, "echo $$ > " + folder.filePath("pid").toUtf8() + "\nexec sleep 600\n");
}

bool isRunning(const QTemporaryDir &folder)
{
    QFile file(folder.filePath("pid"));
    const QByteArray id = file.open(QIODevice::ReadOnly) ? file.readAll().trimmed() : QByteArray();
    return !id.isEmpty() && QFile::exists("/proc/" + id);
}

layout::Piece pieceOf(const graph::Graph &graph)
{
    layout::Piece piece;
    std::set<std::pair<std::uint32_t, std::uint32_t>> known;
    for (NodeId id = 0; id < graph.nodeCount(); ++id) {
        piece.nodes.push_back({160, 40});
        for (const graph::Entry &input : graph.inputs(id))
            if (known.emplace(input.node, id).second)
                piece.edges.push_back({input.node, id});
    }
    return piece;
}

} // namespace

class TestGraphLayout : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void nothingOverlapsAndEdgesLeadDown_data();
    void nothingOverlapsAndEdgesLeadDown();
    void theSamePictureComesTwice();
    void openingABlockLaysOutOnlyWhatChanged();
    void everyWireBetweenVisibleItemsIsInOneEdge();
    void withoutGraphvizThePlainLayoutServesAndSaysSo();
    void graphvizThatAnswersNonsenseIsNotBelieved();
    void graphvizThatHangsIsKilledAtTheTimeLimit();
    void onlyItsOwnTimeCountsAgainstGraphviz();
    void cancellingKillsTheChildAtOnce();
    void tenThousandNodesAreLaidOutInTwoSeconds();
    void noPartOfAFoldedNetworkIsTooLargeForGraphviz();
    void aPieceOfFiveThousandNodesNeverGoesToGraphviz();
    void emptyAndSingleGraphsHavePictures();
};

void TestGraphLayout::nothingOverlapsAndEdgesLeadDown_data()
{
    QTest::addColumn<QString>("program");
    QTest::addColumn<bool>("allOpen");
    QTest::newRow("Graphviz, folded") << "dot" << false;
    QTest::newRow("Graphviz, open") << "dot" << true;
    QTest::newRow("plain, folded") << "" << false;
    QTest::newRow("plain, open") << "" << true;
}

void TestGraphLayout::nothingOverlapsAndEdgesLeadDown()
{
    QFETCH(QString, program);
    QFETCH(bool, allOpen);
    layout::LayoutOptions options;
    options.program = program.toStdString();
    options.limits.computing = options.limits.waiting = std::chrono::seconds(20);
    for (std::uint32_t seed = 0; seed < 25; ++seed) {
        const graph::Graph graph = randomGraph(seed, 2 + seed * 4);
        Folded folded(graph);
        const auto open = allOpen ? layout::allOpen(folded.tree) : layout::openWithin(folded.tree, 12);
        const layout::Picture picture = folded.picture(graph, open, options);
        const QString flaw = flawOf(picture);
        QVERIFY2(flaw.isEmpty(), qPrintable(QStringLiteral("seed %1: %2").arg(seed).arg(flaw)));
        QCOMPARE(picture.plainPieces, program.isEmpty() ? picture.pieces : 0);
    }
}

void TestGraphLayout::theSamePictureComesTwice()
{
    const graph::Graph graph = randomGraph(7, 120);
    for (const char *program : {"dot", ""}) {
        layout::LayoutOptions options;
        options.program = program;
        options.limits.computing = options.limits.waiting = std::chrono::seconds(20);
        Folded one(graph);
        Folded other(graph);
        const auto open = layout::allOpen(one.tree);
        const layout::Picture first = one.picture(graph, open, options);
        QVERIFY(isSame(first, other.picture(graph, open, options)));
        QVERIFY(isSame(first, one.picture(graph, open, options))); // now from the cache
    }
}

void TestGraphLayout::openingABlockLaysOutOnlyWhatChanged()
{
    const graph::Graph graph = residual(20);
    Folded folded(graph);
    auto open = layout::allOpen(folded.tree);
    const layout::Picture before = folded.picture(graph, open);
    QVERIFY(before.pieces >= 20);
    QVERIFY(folded.cache.size() < 4); // the blocks are alike
    const std::size_t known = folded.cache.size();
    open.back() = 0;
    folded.picture(graph, open);
    QVERIFY(folded.cache.size() <= known + 1);
}

void TestGraphLayout::everyWireBetweenVisibleItemsIsInOneEdge()
{
    const graph::Graph graph = randomGraph(3, 80);
    Folded folded(graph);
    const auto open = layout::openWithin(folded.tree, 20);
    const auto standIn = layout::standIns(folded.tree, open);
    const layout::Picture picture = folded.picture(graph, open);
    std::size_t expected = 0;
    for (NodeId id = 0; id < graph.nodeCount(); ++id)
        for (const graph::Entry &input : graph.inputs(id))
            expected += standIn[id] != standIn[input.node] ? 1 : 0;
    std::size_t wires = 0;
    for (const layout::PlacedEdge &edge : picture.edges) {
        wires += edge.wires.size();
        for (const layout::Wire &wire : edge.wires) {
            QVERIFY(picture.items[edge.from].item == standIn[wire.from.node]);
            QVERIFY(picture.items[edge.to].item == standIn[wire.reader]);
            QVERIFY(graph.inputs(wire.reader)[wire.input] == wire.from);
        }
    }
    QCOMPARE(wires, expected);
}

void TestGraphLayout::withoutGraphvizThePlainLayoutServesAndSaysSo()
{
    const graph::Graph graph = randomGraph(5, 40);
    Folded folded(graph);
    layout::LayoutOptions options;
    options.program = "no-such-program";
    const layout::Picture picture = folded.picture(graph, layout::allOpen(folded.tree), options);
    QVERIFY(flawOf(picture).isEmpty());
    QCOMPARE(picture.plainPieces, picture.pieces);
    QVERIFY(picture.note.find("no-such-program") != std::string::npos);
}

void TestGraphLayout::graphvizThatAnswersNonsenseIsNotBelieved()
{
    const layout::Piece piece = pieceOf(randomGraph(1, 6));
    const layout::Piece *const asked[] = {&piece, &piece};
    for (const char *answer : {"", "stop\n", "node 0 1\nstop\n", "node 99999 1 1\nstop\nnode -1 1 1\nstop\n",
                               "edge 0 1 4 1 1\nstop\n", "edge 0 1 99999999 1 1\nstop\n", "\n\n\0x"}) {
        const auto layouts = layout::readPlain(answer, asked);
        QCOMPARE(layouts.size(), std::size_t{2});
        QVERIFY(!layouts[0] && !layouts[1]);
    }
    Folded folded(randomGraph(1, 30));
    layout::LayoutOptions options;
    options.program = "cat"; // fails on -Tplain
    const layout::Picture picture = folded.picture(randomGraph(1, 30), layout::allOpen(folded.tree), options);
    QVERIFY(flawOf(picture).isEmpty());
    QCOMPARE(picture.plainPieces, picture.pieces);
}

void TestGraphLayout::graphvizThatHangsIsKilledAtTheTimeLimit()
{
    const QTemporaryDir folder;
    layout::LayoutOptions options;
    options.program = sleeper(folder).toStdString();
    options.limits.waiting = std::chrono::milliseconds(300);
    const graph::Graph graph = randomGraph(5, 20);
    layout::PieceCache cache;
    const layout::Piece piece = pieceOf(graph);
    QElapsedTimer timer;
    timer.start();
    const auto outcome = layout::stackLayouts(std::span(&piece, 1), options, cache);
    QVERIFY(outcome.ok());
    QVERIFY(timer.elapsed() < 1500);
    QCOMPARE(outcome.value().plainPieces, outcome.value().pieces);
    QVERIFY(outcome.value().note.find("300 ms of waiting") != std::string::npos);
    QVERIFY(!isRunning(folder));
}

void TestGraphLayout::onlyItsOwnTimeCountsAgainstGraphviz()
{
    const QTemporaryDir folder;
    const layout::Piece piece = pieceOf(randomGraph(5, 20));
    layout::PieceCache cache;
    layout::LayoutOptions options;
    options.limits.computing = std::chrono::milliseconds(300);
    options.program = script(folder, "sleep 1\nexec dot -Tplain\n").toStdString(); // as on a loaded machine
    const auto late = layout::stackLayouts(std::span(&piece, 1), options, cache);
    QVERIFY(late.ok());
    QCOMPARE(late.value().plainPieces, std::size_t{0});
    QVERIFY(late.value().note.empty());

    layout::PieceCache empty;
    options.program = script(folder, "while :; do :; done\n").toStdString();
    QElapsedTimer timer;
    timer.start();
    const auto busy = layout::stackLayouts(std::span(&piece, 1), options, empty);
    QVERIFY(busy.ok());
    QVERIFY(timer.elapsed() < options.limits.waiting.count());
    QCOMPARE(busy.value().plainPieces, busy.value().pieces);
    QVERIFY2(busy.value().note.find("300 ms of CPU time") != std::string::npos, busy.value().note.c_str());
    // Asked again with more time, it does what it could not.
    options.program = "dot";
    QCOMPARE(layout::stackLayouts(std::span(&piece, 1), options, empty).value().plainPieces, std::size_t{0});
}

void TestGraphLayout::cancellingKillsTheChildAtOnce()
{
    const QTemporaryDir folder;
    layout::LayoutOptions options;
    options.program = sleeper(folder).toStdString();
    options.limits.waiting = std::chrono::minutes(5);
    const layout::Piece piece = pieceOf(randomGraph(5, 20));
    layout::PieceCache cache;
    std::stop_source stop;
    bool wasRunning = false;
    QElapsedTimer sinceStop;
    std::jthread canceller([&] {
        for (int k = 0; k < 2000 && !isRunning(folder); ++k)
            std::this_thread::sleep_for(std::chrono::milliseconds(5));
        wasRunning = isRunning(folder);
        sinceStop.start();
        stop.request_stop();
    });
    const auto outcome
        = layout::stackLayouts(std::span(&piece, 1), options, cache, Progress{stop.get_token(), {}});
    canceller.join();
    QVERIFY(wasRunning);
    QVERIFY(sinceStop.elapsed() < 1000);
    QVERIFY(!outcome.ok());
    QCOMPARE(outcome.error().code, Errc::Cancelled);
    QVERIFY(!isRunning(folder));
}

void TestGraphLayout::tenThousandNodesAreLaidOutInTwoSeconds()
{
    const graph::Graph graph = residual(2000);
    QElapsedTimer timer;
    timer.start();
    Folded folded(graph);
    const layout::Picture picture = folded.picture(graph, layout::openWithin(folded.tree, 64));
    const auto foldedMs = timer.restart();
    const layout::Picture whole = folded.picture(graph, layout::allOpen(folded.tree));
    const auto openMs = timer.elapsed();
    qInfo("10,001 nodes: folded to %zu items %lld ms, all open %zu items %lld ms", picture.items.size(),
          static_cast<long long>(foldedMs), whole.items.size(), static_cast<long long>(openMs));
    QVERIFY(foldedMs < 2000);
    QVERIFY(openMs < 5000);
    QVERIFY(picture.items.size() <= 64 + 40);
    QVERIFY(flawOf(picture).isEmpty());
}

/// Names that tell nothing, and no waist: every operator also reads one before its neighbours.
void TestGraphLayout::noPartOfAFoldedNetworkIsTooLargeForGraphviz()
{
    test::GraphBuilder g;
    std::vector<graph::Entry> made{g.variable("data")};
    std::mt19937 random(4);
    const char *const ops[] = {"add", "mul", "sub", "max"};
    for (int k = 1; k <= 3265; ++k) {
        const auto back = [&](std::size_t most) {
            return made[made.size() - 1 - random() % std::min(made.size(), most)];
        };
        made.push_back(g.op(ops[random() % 4], "x" + std::to_string(random()), {back(3), back(12)}));
    }
    const graph::Graph graph = g.withHeads({made.back()});
    Folded folded(graph);
    layout::LayoutOptions options;
    options.limits.computing = options.limits.waiting = std::chrono::minutes(5);
    const layout::Picture first = folded.picture(graph, layout::openWithin(folded.tree, 64), options);
    QVERIFY2(first.note.empty(), first.note.c_str());
    QCOMPARE(first.plainPieces, std::size_t{0});
    const layout::Picture whole = folded.picture(graph, layout::allOpen(folded.tree), options);
    QVERIFY2(whole.note.find("too large") == std::string::npos, whole.note.c_str());
    QVERIFY(layout::visibleItems(folded.tree, layout::openWithin(folded.tree, 64)).size() <= 200);
}

void TestGraphLayout::aPieceOfFiveThousandNodesNeverGoesToGraphviz()
{
    const QTemporaryDir folder;
    layout::LayoutOptions options;
    options.program = sleeper(folder).toStdString();
    test::GraphBuilder g; // two long strands: no waist between their ends
    const auto data = g.variable("data");
    auto a = data;
    auto b = data;
    for (int k = 0; k < 2500; ++k) {
        a = g.op("exp", "a" + std::to_string(k), {a});
        b = g.op("exp", "b" + std::to_string(k), {b});
    }
    const graph::Graph graph = g.withHeads({g.op("elemwise_add", "sum", {a, b})});
    const layout::Piece piece = pieceOf(graph);
    layout::PieceCache cache;
    const auto outcome = layout::stackLayouts(std::span(&piece, 1), options, cache);
    QVERIFY(outcome.ok());
    QCOMPARE(outcome.value().plainPieces, std::size_t{1});
    QVERIFY(!QFile::exists(folder.filePath("pid")));
}

void TestGraphLayout::emptyAndSingleGraphsHavePictures()
{
    const graph::Graph empty;
    Folded none(empty);
    QVERIFY(none.picture(empty, layout::allOpen(none.tree)).items.empty());
    test::GraphBuilder g;
    const graph::Graph single = g.withHeads({g.variable("data")});
    Folded one(single);
    const layout::Picture picture = one.picture(single, layout::allOpen(one.tree));
    QCOMPARE(picture.items.size(), std::size_t{1});
    QVERIFY(picture.items[0].rect == (Rect{0, 0, 160, 40}));
    QVERIFY(picture.size == (layout::Size{160, 40}));
}

QTEST_GUILESS_MAIN(TestGraphLayout)
#include "tst_graph_layout.moc"
