#include "core/layout/block_tree.h"
#include "core/layout/drawn_nodes.h"
#include "core/layout/repeats.h"
#include "tests/support/build_graph.h"

#include <QTest>

#include <algorithm>
#include <random>
#include <set>

using namespace halftone;
using graph::NodeId;
using layout::ItemRef;

namespace {

std::vector<char> allDrawn(const graph::Graph &graph)
{
    return std::vector<char>(graph.nodeCount(), 1);
}

graph::Graph residual(std::size_t blocks)
{
    test::GraphBuilder g;
    auto x = g.variable("data");
    for (std::size_t k = 0; k < blocks; ++k) {
        const std::string name = "unit" + std::to_string(k);
        auto y = g.op("Convolution", name + "_conv1", {x});
        y = g.op("BatchNorm", name + "_bn1", {y});
        y = g.op("Activation", name + "_relu1", {y});
        y = g.op("Convolution", name + "_conv2", {y});
        x = g.op("elemwise_add", name + "_add", {y, x});
    }
    return g.withHeads({x});
}

/// Reads a random number of the nodes before it, mostly near ones.
graph::Graph randomGraph(std::uint32_t seed, std::size_t nodes)
{
    std::mt19937 random(seed);
    test::GraphBuilder g;
    std::vector<graph::Entry> made{g.variable("data")};
    for (std::size_t k = 1; k < nodes; ++k) {
        std::vector<graph::Entry> inputs;
        for (std::size_t n = 1 + random() % 3; n > 0; --n)
            inputs.push_back(made[made.size() - 1 - random() % std::min<std::size_t>(made.size(), 6)]);
        const std::string prefix = "stage" + std::to_string(k / 20) + "_part" + std::to_string(k / 5);
        made.push_back(g.op("add_n", (random() % 4 == 0 ? "n" : prefix + "_n") + std::to_string(k), inputs));
    }
    return g.withHeads({made.back()});
}

graph::Entry layerNorm(test::GraphBuilder &g, const std::string &name, graph::Entry x)
{
    const graph::Attributes last{{"axis", "-1"}, {"keepdims", "True"}};
    const auto difference = g.op("broadcast_sub", name + "a", {x, g.op("mean", name + "b", {x}, last)});
    const auto variance = g.op("mean", name + "c", {g.op("square", name + "d", {difference})}, last);
    const auto root
        = g.op("sqrt", name + "e", {g.op("_plus_scalar", name + "f", {variance}, {{"scalar", "1e-5"}})});
    return g.op("broadcast_mul", name + "g",
                {g.variable(name + "gamma"), g.op("broadcast_div", name + "h", {difference, root})});
}

graph::Entry dense(test::GraphBuilder &g, const std::string &name, graph::Entry x)
{
    return g.op("FullyConnected", name, {x, g.variable(name + "w"), g.variable(name + "b")},
                {{"num_hidden", "8"}, {"flatten", "False"}});
}

/// Names that tell nothing.
/// named  "net.layers.3." begins all names of a layer but that of its softmax
graph::Model transformer(int layers, bool named = false)
{
    test::GraphBuilder g;
    // Without parameters all variables count as constants.
    graph::Entry x = g.op("relu", "embedding", {g.variable("data")});
    int number = 0;
    int at = 0;
    const auto name = [&] {
        return (named ? "net.layers." + std::to_string(at) + "." : std::string()) + "n"
            + std::to_string(number++);
    };
    for (int layer = 0; layer < layers; ++layer) {
        at = layer;
        const auto query = dense(g, name(), x);
        const auto key = dense(g, name(), x);
        const auto value = dense(g, name(), x);
        auto scores = g.op("batch_dot", name(), {query, key}, {{"transpose_b", "True"}});
        scores = g.op("softmax", named ? "Softmax_" + std::to_string(layer) : name(),
                      {g.op("_div_scalar", name(), {scores}, {{"scalar", "8"}})});
        const auto context = dense(g, name(), g.op("batch_dot", name(), {scores, value}));
        x = layerNorm(g, name(), g.op("elemwise_add", name(), {context, x}));
        const auto inner = dense(g, name(), x);
        const auto active = g.op("elemwise_mul", name(), {inner, g.op("sigmoid", name(), {inner})});
        x = layerNorm(g, name(), g.op("elemwise_add", name(), {dense(g, name(), active), x}));
    }
    return g.model({x});
}

/// Units anywhere in it, of which now and then something else reads what is within.
graph::Model randomUnits(std::uint32_t seed)
{
    std::mt19937 random(seed);
    test::GraphBuilder g;
    std::vector<graph::Entry> made{g.variable("data")};
    for (int k = 0; k < 60; ++k) {
        const auto pick
            = [&] { return made[made.size() - 1 - random() % std::min<std::size_t>(made.size(), 9)]; };
        const std::string name = "k" + std::to_string(k);
        const auto x = pick();
        if (random() % 3 == 0) {
            made.push_back(layerNorm(g, name, x));
        } else if (random() % 2 == 0) {
            const auto gate = g.op("sigmoid", name + "s", {x});
            if (random() % 3 == 0)
                made.push_back(g.op("negative", name + "n", {gate}));
            made.push_back(g.op("broadcast_mul", name + "m", {gate, x}));
        } else {
            made.push_back(g.op("broadcast_add", name + "p", {x, pick()}));
        }
    }
    return g.model({made.back()});
}

/// What is wrong with the tree as a tree over the graph, or nothing.
QString flawOf(const layout::BlockTree &tree, const graph::Graph &graph)
{
    std::multiset<NodeId> seen;
    for (layout::BlockId id = 0; id < tree.blocks.size(); ++id) {
        const layout::Block &block = tree.blocks[id];
        std::size_t operators = 0;
        for (const ItemRef &child : block.children) {
            if (child.isBlock) {
                if (child.id <= id || tree.blocks[child.id].parent != id)
                    return "a child does not know its parent";
                operators += tree.blocks[child.id].operators;
            } else {
                seen.insert(child.id);
                if (tree.blockOf[child.id] != id)
                    return "a node does not know its block";
                operators += graph.isVariable(child.id) ? 0 : 1;
            }
        }
        if (operators != block.operators)
            return QStringLiteral("%1 counts %2 operators, has %3")
                .arg(QString::fromStdString(block.name))
                .arg(block.operators)
                .arg(operators);
    }
    for (NodeId id = 0; id < graph.nodeCount(); ++id)
        if (seen.count(id) != 1)
            return "a node is not in exactly one block";
    return {};
}

/// Whether the items that are to be seen can be drawn without a cycle: every edge leads forward in their order.
bool leadsForward(const graph::Graph &graph, const layout::BlockTree &tree, const std::vector<char> &open)
{
    const std::vector<ItemRef> items = layout::visibleItems(tree, open);
    const std::vector<ItemRef> standIn = layout::standIns(tree, open);
    const auto placeOf = [&](NodeId id) { return std::ranges::find(items, standIn[id]) - items.begin(); };
    for (NodeId id = 0; id < graph.nodeCount(); ++id)
        for (const graph::Entry &input : graph.inputs(id))
            if (placeOf(input.node) > placeOf(id))
                return false;
    return true;
}

} // namespace

class TestBlockTree : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void aRunOfNodesWithACommonPrefixIsABlockOfThatName();
    void whatAllNamesBeginWithIsNoBlock();
    void namesThatOnlyCountOneOperatorAreNoBlock();
    void fewerThanFourNodesAreNoBlock();
    void namelessResidualPartsFoldBetweenTheirWaists();
    void layersOfATransformerAreFoldedAndNumberedWithoutNames();
    void blocksWithoutNamesHaveNumbersOfTheirOwn();
    void partsThatRepeatAreFound_data();
    void partsThatRepeatAreFound();
    void aBlockThatHoldsMostOfTheNetworkIsOpenAtFirst();
    void everyNodeIsInOneBlockAndCountsAgree();
    void unitsAreBlocks();
    void transformersFallIntoNumberedBlocks();
    void blocksSayWhichBeforeWhatTheyAre();
    void theWordBeforeANumberThatAllShareStays();
    void unitsNeverFormACycle();
    void foldedBlocksNeverFormACycle();
    void noLevelOfALongNetworkHasMoreThanTwentyFourChildren();
    void blocksOpenLevelByLevelWithinTheBudget();
    void aParameterOfOneReaderIsNotDrawnAndBelongsToIt();
};

void TestBlockTree::aRunOfNodesWithACommonPrefixIsABlockOfThatName()
{
    const graph::Graph graph = residual(3);
    const layout::BlockTree tree = layout::foldGraph(graph, allDrawn(graph));
    QCOMPARE(tree.blocks.size(), std::size_t{4});
    QCOMPARE(tree.blocks[1].name, std::string("unit0"));
    QCOMPARE(tree.blocks[1].operators, std::size_t{5});
    QCOMPARE(tree.blocks[3].name, std::string("unit2"));
}

void TestBlockTree::whatAllNamesBeginWithIsNoBlock()
{
    test::GraphBuilder g;
    auto x = g.variable("data");
    for (const char *name :
         {"net0_a_1", "net0_a_2", "net0_a_3", "net0_a_4", "net0_b_1", "net0_b_2", "net0_b_3", "net0_b_4"})
        x = g.op(std::string_view(name).ends_with('1') ? "exp" : "log", name, {x});
    const graph::Graph graph = g.withHeads({x});
    const layout::BlockTree tree = layout::foldGraph(graph, allDrawn(graph));
    QCOMPARE(tree.blocks.size(), std::size_t{3});
    QCOMPARE(tree.blocks[1].name, std::string("a"));
    QCOMPARE(tree.blocks[2].name, std::string("b"));
}

void TestBlockTree::namesThatOnlyCountOneOperatorAreNoBlock()
{
    test::GraphBuilder g;
    auto x = g.variable("data");
    for (int k = 0; k < 8; ++k) // relu_0, conv0, relu_1, conv1, …
        x = g.op("conv", "conv" + std::to_string(k), {g.op("relu", "relu_" + std::to_string(k), {x})});
    const graph::Graph graph = g.withHeads({x});
    QCOMPARE(layout::foldGraph(graph, allDrawn(graph)).blocks.size(), std::size_t{1});
}

void TestBlockTree::fewerThanFourNodesAreNoBlock()
{
    test::GraphBuilder g;
    auto x = g.variable("data");
    for (const char *name : {"a_1", "a_2", "a_3", "b_1", "b_2", "b_3"})
        x = g.op(std::string_view(name).ends_with('1') ? "exp" : "log", name, {x});
    const graph::Graph graph = g.withHeads({x});
    QCOMPARE(layout::foldGraph(graph, allDrawn(graph)).blocks.size(), std::size_t{1});
}

void TestBlockTree::namelessResidualPartsFoldBetweenTheirWaists()
{
    test::GraphBuilder g;
    auto x = g.variable("data");
    int count = 0;
    const auto op = [&](const char *type, std::vector<graph::Entry> inputs) {
        return g.op(type, "n" + std::to_string(count++), std::move(inputs));
    };
    x = op("Convolution", {x}); // n0
    for (int k = 0; k < 8; ++k) {
        const auto branch = op("Convolution", {op("relu", {op("Convolution", {x})})});
        x = op("elemwise_add", {branch, x});
    }
    const graph::Graph graph = g.withHeads({x});
    const layout::BlockTree tree = layout::foldGraph(graph, allDrawn(graph));
    QCOMPARE(tree.blocks.size(), std::size_t{9});
    for (std::size_t k = 1; k <= 8; ++k) {
        QCOMPARE(tree.blocks[k].operators, std::size_t{4});
        QCOMPARE(tree.blocks[k].name,
                 "block " + std::to_string(k) + " of 8: n" + std::to_string(4 * k - 3) + " … n"
                     + std::to_string(4 * k));
    }
}

/// Twelve layers between an embedding and a head; all read one mask. Names are in no order.
void TestBlockTree::layersOfATransformerAreFoldedAndNumberedWithoutNames()
{
    test::GraphBuilder g;
    int count = 0;
    const auto op = [&](const char *type, std::vector<graph::Entry> inputs) {
        return g.op(type, "t" + std::to_string(count++ * 7919 % 1009), std::move(inputs));
    };
    const auto mask = op("Cast", {g.variable("mask")});
    auto x = op("LayerNorm", {op("broadcast_add", {op("Embedding", {g.variable("ids")}), g.variable("at")})});
    constexpr std::size_t kLayers = 12;
    for (std::size_t k = 0; k < kLayers; ++k) {
        const auto q = op("FullyConnected", {x});
        const auto scores = op("batch_dot", {q, op("transpose", {op("FullyConnected", {x})})});
        const auto weights = op("softmax", {op("broadcast_add", {scores, mask})});
        auto y = op("FullyConnected", {op("batch_dot", {weights, op("FullyConnected", {x})})});
        x = op("LayerNorm", {op("elemwise_add", {y, x})});
        y = op("FullyConnected", {op("LeakyReLU", {op("FullyConnected", {x})})});
        x = op("LayerNorm", {op("elemwise_add", {y, x})});
    }
    const graph::Graph graph = g.withHeads({op("softmax", {op("FullyConnected", {x})})});
    const layout::BlockTree tree = layout::foldGraph(graph, allDrawn(graph));
    QVERIFY(flawOf(tree, graph).isEmpty());
    std::size_t layers = 0;
    for (const layout::Block &block : tree.blocks) {
        if (!block.name.starts_with("block "))
            continue;
        ++layers;
        QVERIFY(block.name.starts_with("block " + std::to_string(layers) + " of 12: "));
        QCOMPARE(block.operators, std::size_t{16});
    }
    QCOMPARE(layers, kLayers);
}

/// Two kinds that come twice each, then three parts within which another repeats.
void TestBlockTree::blocksWithoutNamesHaveNumbersOfTheirOwn()
{
    test::GraphBuilder g;
    int count = 0;
    auto x = g.variable("data");
    const auto chain = [&](std::initializer_list<const char *> types) {
        for (const char *const type : types)
            x = g.op(type, "t" + std::to_string(count++ * 7919 % 1009), {x});
    };
    for (int k = 0; k < 2; ++k)
        chain({"exp", "tanh", "sqrt", "square", "abs", "sigmoid", "relu", "negative"});
    chain({"erf"});
    for (int k = 0; k < 2; ++k)
        chain({"cos", "sin", "log", "ceil", "floor", "rint", "sign", "cbrt"});
    chain({"erf", "erf"});
    for (int layer = 0; layer < 3; ++layer) {
        for (int k = 0; k < 7; ++k)
            chain({"log1p", "expm1", "arctan", "sinh"});
        chain({"softsign", "round"});
    }
    const graph::Graph graph = g.withHeads({x});
    const layout::BlockTree tree = layout::foldGraph(graph, allDrawn(graph));
    std::multiset<std::string> numbers;
    for (const layout::Block &block : tree.blocks)
        if (block.name.starts_with("block "))
            numbers.insert(block.name.substr(0, block.name.find(':')));
    for (const std::string &number : numbers)
        QCOMPARE(numbers.count(number), std::size_t{1});
    for (const char *const number : {"block A1 of 2", "block A2 of 2", "block B1 of 2", "block B2 of 2",
                                     "block 1 of 3", "block 3 of 3", "block 1.1 of 7", "block 3.7 of 7"})
        QVERIFY2(numbers.contains(number), number);
}

void TestBlockTree::partsThatRepeatAreFound_data()
{
    QTest::addColumn<QByteArray>("kinds"); // a letter a place
    QTest::addColumn<QByteArray>("want"); // a number a place: of its part, or '-'
    QTest::newRow("nothing") << QByteArray("abcdefghij") << QByteArray("----------");
    QTest::newRow("three times") << QByteArray("xabcdabcdabcdy") << QByteArray("-111122223333-");
    QTest::newRow("twice is too little") << QByteArray("xabcdabcdy") << QByteArray("----------");
    QTest::newRow("twice much") << QByteArray("abcdefghabcdefgh") << QByteArray("1111111122222222");
    QTest::newRow("too short a part") << QByteArray("abcabcabcabcabc") << QByteArray("---------------");
    QTest::newRow("two kinds of parts")
        << QByteArray("abcdabcdabcd-efghefghefghefgh") << QByteArray("111122223333-1111222233334444");
    QTest::newRow("a part with a part in it")
        << QByteArray("abbbbcabbbbcabbbbc") << QByteArray("111111222222333333");
}

void TestBlockTree::partsThatRepeatAreFound()
{
    QFETCH(QByteArray, kinds);
    QFETCH(QByteArray, want);
    std::vector<layout::RepeatPlace> places;
    for (const char kind : kinds)
        places.push_back({static_cast<std::uint64_t>(kind), 1, 1});
    QByteArray got(kinds.size(), '-');
    for (const layout::Repeat &repeat : layout::findRepeats(places))
        for (std::size_t k = repeat.first; k < repeat.end(); ++k)
            got[static_cast<qsizetype>(k)]
                = static_cast<char>('1' + static_cast<char>((k - repeat.first) / repeat.period));
    QCOMPARE(got, want);
}

void TestBlockTree::aBlockThatHoldsMostOfTheNetworkIsOpenAtFirst()
{
    test::GraphBuilder g;
    auto x = g.variable("data");
    for (int part = 0; part < 2; ++part) {
        const int units = part == 0 ? 500 : 1;
        for (int k = 0; k < units; ++k)
            for (const char *op : {"Convolution", "BatchNorm", "Activation", "Pooling", "Dropout"})
                x = g.op(op, (part == 0 ? "body_unit" : "head_unit") + std::to_string(k) + '_' + op, {x});
    }
    const graph::Graph graph = g.withHeads({x});
    const layout::BlockTree tree = layout::foldGraph(graph, allDrawn(graph));
    const std::vector<char> open = layout::openWithin(tree, 64);
    const auto items = layout::visibleItems(tree, open);
    QVERIFY(items.size() <= 200);
    for (const ItemRef &item : items)
        QVERIFY(!item.isBlock || 2 * tree.blocks[item.id].operators < tree.blocks[layout::kRoot].operators);
}

void TestBlockTree::everyNodeIsInOneBlockAndCountsAgree()
{
    for (std::uint32_t seed = 0; seed < 200; ++seed) {
        const graph::Graph graph = randomGraph(seed, 1 + seed * 3);
        const layout::BlockTree tree = layout::foldGraph(graph, allDrawn(graph));
        const QString flaw = flawOf(tree, graph);
        QVERIFY2(flaw.isEmpty(), qPrintable(QStringLiteral("seed %1: %2").arg(seed).arg(flaw)));
        for (const layout::Block &block : tree.blocks)
            QVERIFY2(block.children.size() <= 24, qPrintable(QString::number(seed)));
    }
}

void TestBlockTree::unitsAreBlocks()
{
    const graph::Model model = transformer(1);
    const layout::BlockTree tree = layout::foldModel(model, layout::drawnNodes(model));
    std::multiset<std::string> names;
    for (const layout::Block &block : tree.blocks)
        if (block.unit)
            names.insert(block.name);
    QCOMPARE(
        names,
        (std::multiset<std::string>{"Attention", "LayerNorm", "LayerNorm", "MLP", "Residual block 1 of 2",
                                    "Residual block 2 of 2", "SiLU", "Transformer block"}));
    const QString flaw = flawOf(layout::foldModel(model, allDrawn(model.graph)), model.graph);
    QVERIFY2(flaw.isEmpty(), qPrintable(flaw));
    // What one operator could compute stays closed, however much room there is.
    const std::vector<char> open = layout::openWithin(tree, 1000);
    for (layout::BlockId id = 1; id < tree.blocks.size(); ++id) {
        if (tree.blocks[id].unit)
            QCOMPARE(open[id] != 0, patterns::isComposite(*tree.blocks[id].unit));
    }
}

void TestBlockTree::transformersFallIntoNumberedBlocks()
{
    const graph::Model model = transformer(5);
    const layout::BlockTree tree = layout::foldModel(model, layout::drawnNodes(model));
    for (int k = 1; k <= 5; ++k) {
        const std::string name = "Transformer block " + std::to_string(k) + " of 5";
        QVERIFY2(
            std::ranges::any_of(tree.blocks, [&](const layout::Block &block) { return block.name == name; }),
            name.c_str());
    }
}

/// Also where an exporter gave one of their nodes another name.
void TestBlockTree::blocksSayWhichBeforeWhatTheyAre()
{
    const graph::Model model = transformer(5, true);
    const layout::BlockTree tree = layout::foldModel(model, layout::drawnNodes(model));
    for (int k = 0; k < 5; ++k) {
        const std::string layer = "net.layers." + std::to_string(k);
        for (const char *const kind : {"Attention", "LayerNorm", "MLP"}) {
            const std::string name = layer + " · " + kind;
            QVERIFY2(std::ranges::any_of(tree.blocks,
                                         [&](const layout::Block &block) { return block.name == name; }),
                     name.c_str());
        }
    }
    for (const layout::Block &block : tree.blocks) // none of a kind alone
        QVERIFY2(!block.unit || block.name.find("layers.") != std::string::npos, block.name.c_str());
}

void TestBlockTree::theWordBeforeANumberThatAllShareStays()
{
    test::GraphBuilder g;
    auto x = g.variable("data");
    for (int layer = 0; layer < 3; ++layer)
        for (const char *const op : {"exp", "log", "abs", "sqrt"})
            x = g.op(op, "net.layers." + std::to_string(layer) + '.' + op, {x});
    const graph::Graph graph = g.withHeads({x});
    const layout::BlockTree tree = layout::foldGraph(graph, allDrawn(graph));
    QCOMPARE(tree.blocks.size(), std::size_t{4});
    QCOMPARE(tree.blocks[1].name, std::string("layers.0"));
    QCOMPARE(tree.blocks[3].name, std::string("layers.2"));
    QCOMPARE(tree.commonPrefix, std::string_view("net.").size());
}

void TestBlockTree::unitsNeverFormACycle()
{
    std::size_t units = 0;
    for (std::uint32_t seed = 0; seed < 100; ++seed) {
        const graph::Model model = randomUnits(seed);
        const layout::BlockTree tree = layout::foldModel(model, layout::drawnNodes(model));
        const QString flaw = flawOf(tree, model.graph);
        QVERIFY2(flaw.isEmpty(), qPrintable(QStringLiteral("seed %1: %2").arg(seed).arg(flaw)));
        std::mt19937 random(seed);
        std::vector<char> open(tree.blocks.size());
        for (char &one : open)
            one = random() % 2 == 0 ? 1 : 0;
        QVERIFY(leadsForward(model.graph, tree, open));
        units += static_cast<std::size_t>(std::ranges::count_if(
            tree.blocks, [](const layout::Block &block) { return block.unit.has_value(); }));
    }
    QVERIFY(units > 500);
}

void TestBlockTree::foldedBlocksNeverFormACycle()
{
    for (std::uint32_t seed = 0; seed < 100; ++seed) {
        const graph::Graph graph = randomGraph(seed, 150);
        const layout::BlockTree tree = layout::foldGraph(graph, allDrawn(graph));
        std::mt19937 random(seed);
        std::vector<char> open(tree.blocks.size());
        for (char &one : open)
            one = random() % 2 == 0 ? 1 : 0;
        QVERIFY(leadsForward(graph, tree, open));
    }
}

void TestBlockTree::noLevelOfALongNetworkHasMoreThanTwentyFourChildren()
{
    const graph::Graph graph = residual(2000);
    const layout::BlockTree tree = layout::foldGraph(graph, allDrawn(graph));
    for (const layout::Block &block : tree.blocks)
        QVERIFY(block.children.size() <= 24);
}

void TestBlockTree::blocksOpenLevelByLevelWithinTheBudget()
{
    const graph::Graph graph = residual(3);
    const layout::BlockTree tree = layout::foldGraph(graph, allDrawn(graph));
    QCOMPARE(layout::visibleItems(tree, layout::openWithin(tree, 15)).size(), std::size_t{4});
    QCOMPARE(layout::visibleItems(tree, layout::openWithin(tree, 16)).size(), std::size_t{16});
}

void TestBlockTree::aParameterOfOneReaderIsNotDrawnAndBelongsToIt()
{
    test::GraphBuilder g;
    const auto data = g.variable("data");
    const auto weight = g.variable("weight");
    const auto shared = g.variable("shared");
    const auto a = g.op("FullyConnected", "a", {data, weight, shared});
    const auto b = g.op("FullyConnected", "b", {a, g.variable("other"), shared});
    graph::Model model = g.model({b});
    const std::vector<char> drawn = layout::drawnNodes(model);
    QVERIFY(drawn[data.node] != 0 && drawn[shared.node] != 0 && drawn[a.node] != 0);
    QVERIFY(drawn[weight.node] == 0);
    const layout::BlockTree tree = layout::flatTree(model.graph, drawn);
    QCOMPARE(tree.boxOf[weight.node], a.node);

    model.hasParameters = true; // and holds none: then all are data
    QVERIFY(layout::drawnNodes(model)[weight.node] != 0);
}

QTEST_GUILESS_MAIN(TestBlockTree)
#include "tst_block_tree.moc"
