#include "core/layout/first_view.h"
#include "core/layout/shown_graph.h"
#include "tests/support/decoder_network.h"
#include "tests/support/onnx_builder.h"

#include <QTest>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>

using namespace halftone;
using graph::Entry;
using graph::NodeId;
using layout::Detail;
using tensor::DType;

namespace {

template <class Element>
tensor::Tensor tensorOf(DType type, tensor::Shape shape, const std::vector<Element> &values)
{
    std::vector<std::byte> bytes(values.size() * sizeof(Element));
    std::memcpy(bytes.data(), values.data(), bytes.size());
    return tensor::Tensor::owning(type, std::move(shape), std::move(bytes));
}

tensor::Tensor scalar(float value)
{
    return tensorOf<float>(DType::F32, tensor::Shape::ofRank(0), {value});
}

/// x -> codes -> reals -> Mul by a scalar -> codes -> reals -> two readers, as exporters write a quantized model. One scale serves both
/// pairs.
struct Quantized
{
    test::OnnxBuilder g{13};
    Entry x = g.input("x", "1", "1,8");
    Entry scale = g.constant("scale", scalar(0.5F));
    Entry zero = g.constant("zero", tensorOf<std::uint8_t>(DType::U8, tensor::Shape::ofRank(0), {128}));
    Entry q1 = g.op("QuantizeLinear", "q1", {}, {x, scale, zero});
    Entry d1 = g.op("DequantizeLinear", "d1", {}, {q1, scale, zero});
    Entry mul = g.op("Mul", "mul", {}, {d1, g.constant("half", scalar(0.125F))});
    Entry q2 = g.op("QuantizeLinear", "q2", {}, {mul, scale, zero});
    Entry d2 = g.op("DequantizeLinear", "d2", {}, {q2, scale, zero});
    Entry a = g.op("Relu", "a", {}, {d2});
    Entry b = g.op("Sigmoid", "b", {}, {d2});
    Entry sum = g.op("Add", "sum", {}, {a, b});

    graph::Model model(std::vector<Entry> heads) { return {g.withHeads(heads), {}, true}; }
    graph::Model model() { return model({sum}); }
};

layout::Picture pictureOf(const graph::Model &model, Detail detail, layout::BlockTree &tree)
{
    auto view = layout::firstView(model, false, detail);
    if (!view.ok())
        qFatal("%s", view.error().message().c_str());
    tree = view.value().tree;
    return std::move(view).value().picture;
}

std::vector<std::string> namesOf(const graph::Model &model, const layout::Picture &picture)
{
    std::vector<std::string> names;
    for (const layout::PlacedItem &item : picture.items)
        names.push_back(model.graph.node(item.item.id).name);
    std::ranges::sort(names);
    return names;
}

/// "from to" and the badge of each edge.
std::map<std::string, std::string> edgesOf(const graph::Model &model, const layout::BlockTree &tree,
                                           const layout::Picture &picture)
{
    std::map<std::string, std::string> edges;
    for (const layout::PlacedEdge &edge : picture.edges)
        edges.emplace(model.graph.node(picture.items[edge.from].item.id).name + ' '
                          + model.graph.node(picture.items[edge.to].item.id).name,
                      edge.pair ? tree.asides.badges.at(*edge.pair) : std::string());
    return edges;
}

} // namespace

/// What has a box of its own, and where the rest is told.
class TestShownGraph : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void constantsStandInTheirReaders();
    void pairsStandOnTheirEdges();
    void everythingCanBeShownAsNodes();
    void outputsAndCodesThatOthersReadKeepTheirBoxes();
    void aLargeConstantOfSeveralReadersHasABox();
    void formsOfConstantsStandInTheirReader();
    void foldedBlocksLeadForwardPastPairs();
    void shapeArithmeticIsOneSmallBlock();
    void whatEveryBlockReadsIsAPortAtEach();
    void branchesKeepTheirEdges();
    void portsOfADecoderAreNamedByWhatTheyCarry();
    void codesMadeAtRunTimeStandOnTheEdge();
};

void TestShownGraph::constantsStandInTheirReaders()
{
    Quantized made;
    const graph::Model model = made.model();
    const layout::BlockTree tree = layout::shownTree(model, Detail::Computed);
    QCOMPARE(tree.asides.insets.size(), std::size_t{1});
    QCOMPARE(tree.asides.insets.at(made.mul.node), std::string("B = 0.125"));
    QCOMPARE(layout::heldText(model, made.zero.node), std::string("128"));
    QCOMPARE(layout::heldText(model, made.sum.node), std::string());
}

void TestShownGraph::pairsStandOnTheirEdges()
{
    Quantized made;
    const graph::Model model = made.model();
    layout::BlockTree tree;
    const layout::Picture picture = pictureOf(model, Detail::Computed, tree);
    QCOMPARE(namesOf(model, picture), (std::vector<std::string>{"a", "b", "mul", "sum", "x"}));
    const std::string badge = "u8 · scale 0.5 · zero 128";
    QCOMPARE(edgesOf(model, tree, picture),
             (std::map<std::string, std::string>{
                 {"a sum", ""}, {"b sum", ""}, {"mul a", badge}, {"mul b", badge}, {"x mul", badge}}));
    QCOMPARE(tree.boxOf[made.q1.node], made.mul.node);
    QCOMPARE(tree.boxOf[made.d2.node], made.a.node);
    for (const layout::PlacedEdge &edge : picture.edges) // what a wire carries is what its reader reads
        for (const layout::Wire &wire : edge.wires)
            QCOMPARE(wire.from, model.graph.inputs(wire.reader)[wire.input]);
}

void TestShownGraph::everythingCanBeShownAsNodes()
{
    Quantized made;
    const graph::Model model = made.model();
    layout::BlockTree tree;
    const layout::Picture picture = pictureOf(model, Detail::Everything, tree);
    QCOMPARE(picture.items.size(), model.graph.nodeCount());
    QVERIFY(tree.asides.insets.empty() && tree.asides.badges.empty());
}

void TestShownGraph::outputsAndCodesThatOthersReadKeepTheirBoxes()
{
    Quantized made;
    const Entry other = made.g.op("Cast", "other", {{"to", "1"}}, {made.q2});
    const graph::Model model = made.model({made.sum, made.d1, other});
    const std::vector<char> drawn = layout::shownGraph(model, Detail::Computed).drawn;
    for (const Entry &shown : {made.d1, made.q1, made.q2, made.d2})
        QVERIFY2(drawn[shown.node] != 0, model.graph.node(shown.node).name.c_str());
    QVERIFY(drawn[made.scale.node] == 0);
}

void TestShownGraph::aLargeConstantOfSeveralReadersHasABox()
{
    test::OnnxBuilder g(13);
    const Entry x = g.input("x", "1", "1,100");
    const Entry table
        = g.constant("table", tensorOf(DType::F32, tensor::Shape{100}, std::vector<float>(100, 1)));
    const Entry own = g.constant("own", tensorOf(DType::F32, tensor::Shape{100}, std::vector<float>(100, 1)));
    const Entry a = g.op("Add", "a", {}, {x, table});
    const Entry b = g.op("Mul", "b", {}, {a, table});
    const Entry c = g.op("Mul", "c", {}, {b, own});
    const graph::Model model{g.withHeads({c}), {}, true};
    const layout::ShownGraph shown = layout::shownGraph(model, Detail::Computed);
    QVERIFY(shown.drawn[table.node] != 0);
    QVERIFY(shown.drawn[own.node] == 0);
    QVERIFY(shown.asides.insets.empty()); // too many elements to be told
}

void TestShownGraph::formsOfConstantsStandInTheirReader()
{
    test::OnnxBuilder g(13);
    const Entry x = g.input("x", "1", "2,3");
    const Entry shape = g.constant("shape", tensorOf<std::int64_t>(DType::I64, tensor::Shape{2}, {3, -1}));
    const Entry reshaped = g.op("Reshape", "reshaped", {}, {x, shape});
    const Entry bias = g.constant("bias", tensorOf<float>(DType::F32, tensor::Shape{2}, {1, 2}));
    const Entry form
        = g.op("Reshape", "form", {},
               {bias, g.constant("to", tensorOf<std::int64_t>(DType::I64, tensor::Shape{2}, {1, 2}))});
    const Entry sum = g.op("Add", "sum", {}, {reshaped, form});
    const graph::Model model{g.withHeads({sum}), {}, true};
    const layout::BlockTree tree = layout::shownTree(model, Detail::Computed);
    QCOMPARE(tree.asides.insets.size(), std::size_t{1});
    QCOMPARE(tree.asides.insets.at(reshaped.node), std::string("shape = [3, -1]"));
    QCOMPARE(tree.blockOf[form.node], layout::kNoBlock);
    QCOMPARE(tree.boxOf[bias.node], sum.node);
}

void TestShownGraph::foldedBlocksLeadForwardPastPairs()
{
    test::OnnxBuilder g(13);
    Entry x = g.input("x", "1", "1,8");
    const Entry scale = g.constant("scale", scalar(0.5F));
    for (int k = 0; k < 20; ++k) {
        const std::string at = "layers." + std::to_string(k) + '.';
        const auto op = [&](const char *type, const char *name, const std::vector<Entry> &inputs) {
            return g.op(type, (at + name).c_str(), {}, inputs);
        };
        const Entry in = op("DequantizeLinear", "d", {op("QuantizeLinear", "q", {x, scale}), scale});
        const Entry y = op("Mul", "mul", {op("Relu", "relu", {in}), op("Sigmoid", "sigmoid", {in})});
        x = op("Add", "add", {op("Tanh", "tanh", {y}), in});
    }
    const graph::Model model{g.withHeads({x}), {}, true};
    const layout::BlockTree tree = layout::shownTree(model, Detail::Computed);
    QCOMPARE(tree.blocks[1].name, std::string("layers.0"));
    QCOMPARE(tree.blocks[1].operators, std::size_t{5});
    for (std::size_t opened = 0; opened < tree.blocks.size(); ++opened) {
        std::vector<char> open(tree.blocks.size(), 0);
        open[layout::kRoot] = open[opened] = 1;
        const auto items = layout::visibleItems(tree, open);
        const auto standIn = layout::standIns(tree, open);
        const auto placeOf = [&](NodeId id) { return std::ranges::find(items, standIn[id]) - items.begin(); };
        for (NodeId id = 0; id < model.graph.nodeCount(); ++id)
            for (const Entry &input : model.graph.inputs(id))
                if (const NodeId from = tree.asides.sourceOf(input).node; tree.boxOf[from] == from)
                    QVERIFY(placeOf(from) <= placeOf(id));
    }
}

/// Reshape(x, Concat(Gather(Shape(x), 0), -1)) and a Gather that two read.
void TestShownGraph::shapeArithmeticIsOneSmallBlock()
{
    test::OnnxBuilder g(13);
    const auto integers = [&](const char *name, std::vector<std::int64_t> values) {
        const auto count = static_cast<std::int64_t>(values.size());
        return g.constant(name, tensorOf(DType::I64, tensor::Shape{count}, values));
    };
    const Entry x = g.input("x", "1", "2,3,4");
    const Entry exp = g.op("Exp", "exp", {}, {x});
    const Entry shape = g.op("Shape", "shape", {}, {exp});
    const Entry gather = g.op("Gather", "gather", {{"axis", "0"}}, {shape, integers("zero", {0})});
    const Entry concat = g.op("Concat", "concat", {{"axis", "0"}}, {gather, integers("minus", {-1})});
    const Entry reshaped = g.op("Reshape", "reshaped", {}, {exp, concat});
    const Entry size = g.op("Cast", "size", {{"to", "1"}}, {g.op("Size", "count", {}, {exp})});
    const Entry scaled = g.op("Div", "scaled", {}, {reshaped, size});
    const graph::Model model{g.withHeads({scaled}), {}, true};
    const layout::BlockTree tree = layout::shownTree(model, Detail::Computed);
    const auto block = std::ranges::find_if(tree.blocks, layout::isShapeChain);
    QVERIFY(block != tree.blocks.end());
    QCOMPARE(block->operators, std::size_t{3});
    const auto id = static_cast<layout::BlockId>(block - tree.blocks.begin());
    QCOMPARE(layout::nodesIn(tree, id), (std::vector<NodeId>{shape.node, gather.node, concat.node}));
    QVERIFY(layout::openWithin(tree, 1000)[id] == 0);
    QVERIFY(tree.asides.isFaintNode(concat.node));
    QVERIFY(!tree.asides.isFaintNode(size.node) && !tree.asides.isFaintNode(reshaped.node)); // reals
    QVERIFY(tree.asides.insets.at(concat.node).find("[") == std::string::npos); // one element is no list
    const layout::BlockTree whole = layout::shownTree(model, Detail::Everything);
    QVERIFY(std::ranges::none_of(whole.blocks, layout::isShapeChain));
}

/// Without edges from the mask, the blocks stand below one another.
void TestShownGraph::whatEveryBlockReadsIsAPortAtEach()
{
    test::OnnxBuilder g(13);
    constexpr std::size_t kBlocks = 8;
    Entry x = g.input("x", "1", "1,8");
    const Entry mask = g.op("Tanh", "prepare.mask", {}, {g.input("m", "1", "1,8")});
    for (std::size_t k = 0; k < kBlocks; ++k) {
        const std::string at = "layers." + std::to_string(k) + '.';
        x = g.op("Add", (at + "add").c_str(), {}, {x, mask});
        for (const char *const type : {"Exp", "Relu", "Sigmoid", "Tanh"})
            x = g.op(type, (at + type).c_str(), {}, {x});
    }
    const graph::Model model{g.withHeads({x}), {}, true};
    const layout::BlockTree tree = layout::shownTree(model, Detail::Computed);
    QCOMPARE(tree.asides.ports.size(), std::size_t{1});
    QCOMPARE(tree.asides.ports.at(mask.node), std::string("mask"));
    QVERIFY(layout::shownTree(model, Detail::Everything).asides.ports.empty());
    for (const bool isFolded : {true, false}) {
        const auto made = layout::firstView(model, isFolded, Detail::Computed);
        QVERIFY(made.ok());
        const layout::Picture &picture = made.value().picture;
        QCOMPARE(picture.ports.size(), kBlocks);
        double left = -1; // of the blocks, or of the nodes in them
        for (const layout::PlacedPort &port : picture.ports) {
            QCOMPARE(picture.items[port.from].item, (layout::ItemRef{false, mask.node}));
            const double centre = picture.items[port.to].rect.centreX();
            QVERIFY(left < 0 || std::abs(centre - left) < 1);
            left = centre;
        }
        for (const layout::PlacedEdge &edge : picture.edges)
            QVERIFY(picture.items[edge.from].item != (layout::ItemRef{false, mask.node}));
    }
}

void TestShownGraph::branchesKeepTheirEdges()
{
    test::OnnxBuilder g(13);
    const Entry x = g.op("Exp", "x", {}, {g.input("in", "1", "1,8")});
    std::vector<Entry> ends;
    for (int branch = 0; branch < 12; ++branch) {
        Entry y = x;
        for (int k = 0; k < 30; ++k)
            y = g.op("Relu", ("b" + std::to_string(branch) + '.' + std::to_string(k)).c_str(), {}, {y});
        ends.push_back(y);
    }
    const graph::Model model{g.withHeads({g.op("Concat", "all", {{"axis", "1"}}, ends)}), {}, true};
    QVERIFY(layout::shownTree(model, Detail::Computed).asides.ports.empty());
}

/// DynamicQuantizeLinear stands on the edge, the product with its Cast and its scales is one block, and both are nodes on request.
void TestShownGraph::codesMadeAtRunTimeStandOnTheEdge()
{
    test::OnnxBuilder g(13);
    const Entry x = g.input("x", "1", "4,8");
    const Entry relu = g.op("Relu", "relu", {}, {x});
    const Entry codes = g.op("DynamicQuantizeLinear", "codes", {}, {relu});
    const Entry scale{codes.node, 1, 0};
    const Entry zero{codes.node, 2, 0};
    std::vector<Entry> made;
    for (const char *const name : {"q", "k", "v"}) {
        const std::string n = name;
        const Entry weight = g.constant(
            (n + "_w").c_str(), tensorOf<std::int8_t>(DType::I8, {8, 2}, std::vector<std::int8_t>(16, 3)));
        const Entry product = g.op("MatMulInteger", (n + "_product").c_str(), {}, {codes, weight, zero});
        const Entry cast = g.op("Cast", (n + "_cast").c_str(), {{"to", "1"}}, {product});
        const Entry scales
            = g.op("Mul", (n + "_scales").c_str(), {}, {scale, g.constant((n + "_s").c_str(), scalar(0.5F))});
        made.push_back(g.op("Mul", (n + "_scaled").c_str(), {}, {cast, scales}));
    }
    const Entry sum = g.op("Sum", "sum", {}, made);
    const graph::Model model{g.withHeads({sum}), {}, true};
    const layout::BlockTree tree = layout::shownTree(model, Detail::Computed, true);
    QVERIFY(tree.asides.isOnEdge(codes.node));
    QCOMPARE(tree.asides.badges.at(codes.node), std::string("u8 · scale at run time"));
    std::size_t products = 0;
    for (const layout::Block &block : tree.blocks)
        if (block.unit == patterns::UnitKind::CodedProduct) {
            ++products;
            QCOMPARE(block.operators, std::size_t{4});
        }
    QCOMPARE(products, std::size_t{3});
    const layout::BlockTree all = layout::shownTree(model, Detail::Everything, true);
    QVERIFY(!all.asides.isOnEdge(codes.node));
}

void TestShownGraph::portsOfADecoderAreNamedByWhatTheyCarry()
{
    test::DecoderSize size;
    size.blocks = 8;
    const graph::Model model = test::decoderNetwork(size);
    const layout::BlockTree tree = layout::shownTree(model, Detail::Computed);
    std::set<std::string> names;
    for (const auto &[source, name] : tree.asides.ports)
        names.insert(name);
    QCOMPARE(names, (std::set<std::string>{"mask", "rotary_cos", "rotary_sin"}));
}

QTEST_GUILESS_MAIN(TestShownGraph)
#include "tst_shown_graph.moc"
