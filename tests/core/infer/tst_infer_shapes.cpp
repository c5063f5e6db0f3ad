#include "core/infer/known_shapes.h"
#include "core/io/mxnet/symbol_json.h"
#include "tests/support/build_graph.h"
#include "tests/support/files.h"

#include <QTest>

using namespace halftone;
using tensor::Shape;

namespace {

const std::string kData = HALFTONE_TEST_DATA;

Shape shapeOf(const nlohmann::json &value)
{
    return value.is_null() ? Shape() : Shape(value.get<std::vector<std::int64_t>>());
}

/// Where the symbol of a golden row lies; empty when it is not at hand.
std::string pathOf(const nlohmann::json &row)
{
    const std::string kind = row.at("kind");
    const std::string name = row.at("name");
    if (kind == "ops" || kind == "amp")
        return kData + "/" + kind + "/" + name + "/model-symbol.json";
    const QByteArray shared = qgetenv("HALFTONE_SHARED");
    if (kind != "model" || shared.isEmpty())
        return {};
    return shared.toStdString() + "/models/" + name + "/" + row.at("symbol").get<std::string>();
}

graph::Graph graphAt(const std::string &path)
{
    std::vector<std::string> notes;
    auto graph = io::readSymbol(test::readFile(path), notes);
    if (!graph.ok())
        qFatal("%s: %s", path.c_str(), graph.error().message().c_str());
    return std::move(graph).value();
}

bool covers(const Shape &mine, const Shape &known)
{
    if (!known.hasRank())
        return true;
    if (!mine.hasRank() || mine.rank() != known.rank())
        return false;
    for (std::size_t axis = 0; axis < known.rank(); ++axis) {
        if (known[axis] >= 0 && known[axis] != mine[axis])
            return false;
    }
    return true;
}

/// The first node whose shapes do not say what MXNet's say; empty when all do. Nodes are matched by name, in
/// order.
std::string firstDifference(const graph::Graph &graph, const infer::ShapeMap &mine,
                            const nlohmann::json &nodes)
{
    std::unordered_map<std::string, graph::NodeId> byName;
    for (graph::NodeId id = 0; id < graph.nodeCount(); ++id)
        byName.emplace(graph.node(id).name, id);
    for (const auto &node : nodes) {
        const std::string name = node.at(0);
        const auto at = byName.find(name);
        if (at == byName.end())
            return name + ": missing";
        for (std::size_t k = 0; k < node.at(1).size(); ++k) {
            const Shape known = shapeOf(node.at(1).at(k));
            const Shape &own = mine.byNode[at->second][k];
            if (!covers(own, known))
                return name + ":" + std::to_string(k) + " " + own.toString() + ", MXNet " + known.toString();
        }
    }
    return {};
}

infer::KnownShapes inputsOf(const nlohmann::json &row, bool openBatch)
{
    infer::KnownShapes known;
    for (const auto &[name, dims] : row.at("inputs").items()) {
        Shape shape = shapeOf(dims);
        if (openBatch)
            shape[0] = Shape::kUnknown;
        known.emplace(name, shape);
    }
    return known;
}

} // namespace

class TestInferShapes : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void everyShapeThatMxnetInfersIsInferred_data() { addRows("nodes"); }
    void everyShapeThatMxnetInfersIsInferred() { compare("nodes", false); }

    void anOpenBatchLeavesNoMoreOpenThanInMxnet_data() { addRows("open_batch"); }
    void anOpenBatchLeavesNoMoreOpenThanInMxnet() { compare("open_batch", true); }

    void shapesAreFoundBackwardsThroughElementwiseOperators()
    {
        test::GraphBuilder g;
        const auto a = g.variable("a");
        const auto sum = g.op("elemwise_add", "sum", {g.op("relu", "relu", {a}), g.variable("b")});
        const graph::Graph graph = g.withHeads({sum});
        const auto shapes = infer::inferShapes(graph, {{"b", Shape{2, 3}}});
        QVERIFY(shapes.ok());
        QVERIFY(shapes.value().of(a) == (Shape{2, 3}));
    }

    void anExtentOfZeroIsOpenUnlessShapesAreNumPys()
    {
        for (const char *op : {"_zeros", "_random_uniform"}) {
            for (const char *flag : {"[\"int\", 0]", "[\"int\", 1]"}) {
                test::GraphBuilder g;
                graph::Graph graph = g.withHeads({g.op(op, "none", {}, {{"shape", "(0, 4)"}})});
                graph.setMetadata({{"is_np_shape", flag}});
                const std::int64_t first = std::string(flag).find('1') == std::string::npos ? -1 : 0;
                QCOMPARE(infer::inferShapes(graph, {}).value().byNode[0][0].toString(),
                         (Shape{first, 4}).toString());
            }
        }
    }

    void aVariablesOwnShapeCountsWhereNoneIsGiven()
    {
        test::GraphBuilder g;
        const auto x = g.variable("x", {{"__shape__", "(0, 3)"}});
        const graph::Graph graph = g.withHeads({g.op("relu", "y", {x})});
        QVERIFY(infer::inferShapes(graph, {}).value().byNode[1][0] == (Shape{-1, 3}));
        QVERIFY(infer::inferShapes(graph, {{"x", Shape{5, 3}}}).value().byNode[1][0] == (Shape{5, 3}));
    }

    void parametersTellTheShapesThatNobodyGives()
    {
        test::GraphBuilder g;
        const auto x = g.variable("x");
        graph::Model model;
        model.graph = g.withHeads({g.op("elemwise_mul", "product", {x, g.variable("w")})});
        for (const char *name : {"arg:w", "aux:m"}) {
            tensor::Array array;
            array.name = name;
            array.shape = Shape{2, 3};
            model.parameters.push_back(array);
        }
        const infer::KnownShapes known = infer::withParameterShapes({{"m", Shape{4}}}, model);
        QVERIFY(known == (infer::KnownShapes{{"w", Shape{2, 3}}, {"m", Shape{4}}}));
        const auto shapes = infer::inferShapes(model.graph, known);
        QVERIFY(shapes.ok());
        QVERIFY(infer::variableShapes(model.graph, shapes.value())
                == (infer::KnownShapes{{"x", Shape{2, 3}}, {"w", Shape{2, 3}}}));
    }

    void aContradictionNamesTheNodeTheInputAndBothShapes()
    {
        test::GraphBuilder g;
        const graph::Graph graph
            = g.withHeads({g.op("elemwise_add", "sum", {g.variable("a"), g.variable("b")})});
        const auto shapes = infer::inferShapes(graph, {{"a", Shape{2, 3}}, {"b", Shape{2, 4}}});
        QVERIFY(!shapes.ok());
        QCOMPARE(shapes.error().where, std::string("sum"));
        QCOMPARE(shapes.error().found, std::string("elemwise_add: input 1: shape (2, 4)"));
        QCOMPARE(shapes.error().expected, std::string("(2, 3)"));
    }

    void aVariableReadTwoWaysIsAContradiction()
    {
        test::GraphBuilder g;
        const auto w = g.variable("w");
        const auto a
            = g.op("FullyConnected", "fa", {g.variable("a"), w}, {{"num_hidden", "4"}, {"no_bias", "True"}});
        const auto b
            = g.op("FullyConnected", "fb", {g.variable("b"), w}, {{"num_hidden", "4"}, {"no_bias", "True"}});
        const graph::Graph graph = g.withHeads({a, b});
        const auto shapes = infer::inferShapes(graph, {{"a", Shape{2, 3}}, {"b", Shape{2, 5}}});
        QVERIFY(!shapes.ok());
        QCOMPARE(shapes.error().where, std::string("fb"));
    }

    void unknownOperatorsLeaveTheirOutputsOpen()
    {
        test::GraphBuilder g;
        const auto mine = g.op("MyOwnOp", "mine", {g.variable("x")});
        const graph::Graph graph = g.withHeads({g.op("relu", "y", {mine})});
        const auto shapes = infer::inferShapes(graph, {{"x", Shape{2, 3}}});
        QVERIFY(shapes.ok() && !shapes.value().of(mine).hasRank());
    }

    void manyOutputsClaimedByASmallGraphAreRefused()
    {
        test::GraphBuilder g;
        graph::Entry x = g.variable("x");
        for (int i = 0; i < 8; ++i)
            x = g.op("SliceChannel", "s" + std::to_string(i), {x}, {{"num_outputs", "65000"}});
        QVERIFY(!infer::inferShapes(g.withHeads({x}), {}).ok());
    }

    void aLongChainTakesNoStackAndLinearTime()
    {
        test::GraphBuilder g;
        graph::Entry x = g.variable("x");
        for (int i = 0; i < 100000; ++i)
            x = g.op("relu", "r", {x});
        const graph::Graph graph = g.withHeads({x});
        const auto shapes = infer::inferShapes(graph, {{"x", Shape{2, 3}}});
        QVERIFY(shapes.ok() && shapes.value().of(x) == (Shape{2, 3}));
    }

private:
    static const nlohmann::json &goldens()
    {
        static const nlohmann::json kRows = test::readJson(kData + "/shapes/graphs.json");
        return kRows;
    }

    static void addRows(const char *key)
    {
        QTest::addColumn<int>("index");
        for (std::size_t i = 0; i < goldens().size(); ++i) {
            const auto &row = goldens()[i];
            if (row.contains(key))
                QTest::addRow("%s %s", row.at("kind").get<std::string>().c_str(),
                              row.at("name").get<std::string>().c_str())
                    << static_cast<int>(i);
        }
    }

    static void compare(const char *key, bool openBatch)
    {
        QFETCH(int, index);
        const auto &row = goldens()[static_cast<std::size_t>(index)];
        const std::string path = pathOf(row);
        if (path.empty())
            QSKIP("the model lies in HALFTONE_SHARED, which is not set");
        const graph::Graph graph = graphAt(path);
        const auto shapes = infer::inferShapes(graph, inputsOf(row, openBatch));
        QVERIFY2(shapes.ok(), shapes.ok() ? "" : shapes.error().message().c_str());
        const std::string difference = firstDifference(graph, shapes.value(), row.at(key));
        QVERIFY2(difference.empty(), difference.c_str());
    }
};

QTEST_APPLESS_MAIN(TestInferShapes)
#include "tst_infer_shapes.moc"
