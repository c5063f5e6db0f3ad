#include "core/infer/infer_shapes.h"
#include "core/infer/infer_types.h"
#include "core/infer/node_types.h"
#include "core/io/mxnet/symbol_json.h"
#include "tests/support/build_graph.h"
#include "tests/support/files.h"

#include <QTest>

using namespace halftone;
using graph::NodeId;
using tensor::DType;
using tensor::Shape;

namespace {

const std::string kFolder = std::string(HALFTONE_TEST_DATA) + "/bodies/";

graph::Graph graphNamed(const std::string &name)
{
    std::vector<std::string> notes;
    auto graph = io::readSymbol(test::readFile(kFolder + name + "-symbol.json"), notes);
    if (!graph.ok())
        qFatal("%s: %s", name.c_str(), graph.error().message().c_str());
    return std::move(graph).value();
}

DType typeOf(const nlohmann::json &value)
{
    return value.is_null() ? DType::Unknown
                           : tensor::dtypeNamed(value.get<std::string>()).value_or(DType::Unknown);
}

std::unordered_map<std::string, NodeId> idsByName(const graph::Graph &graph)
{
    std::unordered_map<std::string, NodeId> ids;
    for (NodeId id = 0; id < graph.nodeCount(); ++id)
        ids.emplace(graph.node(id).name, id);
    return ids;
}

std::vector<DType> variableTypes(const graph::Graph &graph, const nlohmann::json &given)
{
    std::vector<DType> types(graph.nodeCount(), DType::Unknown);
    const auto ids = idsByName(graph);
    for (const auto &[name, type] : given.items())
        types[ids.at(name)] = typeOf(type);
    return types;
}

/// A node of that operator whose only body is `body`.
graph::Graph around(const std::string &op, graph::Graph body, std::size_t inputs,
                    graph::Attributes attributes = {})
{
    graph::Graph graph = test::emptyGraph();
    std::vector<graph::Entry> entries;
    for (std::size_t i = 0; i < inputs; ++i) {
        const NodeId id = graph.add(test::nodeOf("null", "in" + std::to_string(i)), {});
        entries.push_back({id, 0, 0});
    }
    const auto shared = std::make_shared<const graph::Graph>(std::move(body));
    const NodeId id = graph.add(
        std::make_shared<graph::NodeDef>(graph::NodeDef{op, "around", std::move(attributes), {shared}}),
        entries);
    graph.setHeads({{id, 0, 0}});
    return graph;
}

graph::Graph sumBody()
{
    test::GraphBuilder g;
    const auto a = g.variable("a");
    return g.withHeads({g.op("elemwise_add", "sum", {a, g.variable("b")})});
}

ops::TypeOutcome outcomeOf(const graph::Graph &graph, std::vector<DType> &in, std::vector<DType> &out,
                           std::size_t *where = nullptr)
{
    const auto id = static_cast<NodeId>(graph.nodeCount() - 1);
    return infer::NodeTypes(graph).apply(id, in, out, where);
}

} // namespace

class TestBodies : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void typesAreThoseOfMxnet_data() { addRows("given", "shapes", false); }
    void typesAreThoseOfMxnet();
    void shapesSayWhatMxnetsSay_data() { addRows("shapes", "shapes", true); }
    void shapesSayWhatMxnetsSay();

    void aFusedNodeIsTypedByItsBody();
    void aContradictionInABodyIsRefusedAndTold();
    void inputsMeetVariablesInTheOrderOfAWalkFromTheHeads();
    void aBodyWithOtherInputsThanItsNodeSaysNothing();
    void quantizedFusedNodesKeepTheirOwnRule();
    void bodiesNestedTooDeepStayOpen();
    void aLocationThatPointsNowhereIsAnError();

private:
    static const nlohmann::json &goldens()
    {
        static const nlohmann::json kRows = test::readJson(kFolder + "expected.json");
        return kRows;
    }
    static void addRows(const char *key, const char *other, bool wanted)
    {
        QTest::addColumn<int>("index");
        for (std::size_t i = 0; i < goldens().size(); ++i) {
            const auto &row = goldens()[i];
            if (row.contains(key) && row.contains(other) == wanted)
                QTest::addRow("%s %s", row.at("graph").get<std::string>().c_str(),
                              row.at("given").dump().c_str())
                    << static_cast<int>(i);
        }
    }
};

void TestBodies::typesAreThoseOfMxnet()
{
    QFETCH(int, index);
    const auto &row = goldens()[static_cast<std::size_t>(index)];
    const graph::Graph graph = graphNamed(row.at("graph"));
    const auto types = infer::inferTypes(graph, variableTypes(graph, row.at("given")));
    if (row.contains("refused")) {
        QVERIFY(!types.ok());
        QVERIFY(!types.error().where.empty());
        return;
    }
    QVERIFY2(types.ok(), types.ok() ? "" : types.error().message().c_str());
    const auto ids = idsByName(graph);
    for (const auto &node : row.at("types")) {
        for (std::size_t k = 0; k < node.at(1).size(); ++k) {
            const DType mine = types.value().at(ids.at(node.at(0)), static_cast<std::uint32_t>(k));
            QVERIFY2(mine == typeOf(node.at(1).at(k)),
                     (node.dump() + " here " + std::string(tensor::nameOf(mine))).c_str());
        }
    }
}

void TestBodies::shapesSayWhatMxnetsSay()
{
    QFETCH(int, index);
    const auto &row = goldens()[static_cast<std::size_t>(index)];
    const graph::Graph graph = graphNamed(row.at("graph"));
    std::unordered_map<std::string, Shape> given;
    for (const auto &[name, dims] : row.at("given").items())
        given.emplace(name, Shape(dims.get<std::vector<std::int64_t>>()));
    const auto shapes = infer::inferShapes(graph, given);
    QVERIFY2(shapes.ok(), shapes.ok() ? "" : shapes.error().message().c_str());
    const auto ids = idsByName(graph);
    for (const auto &node : row.at("shapes")) {
        for (std::size_t k = 0; k < node.at(1).size(); ++k) {
            if (node.at(1).at(k).is_null())
                continue;
            const Shape &mine = shapes.value().byNode[ids.at(node.at(0))][k];
            QVERIFY2(mine == Shape(node.at(1).at(k).get<std::vector<std::int64_t>>()),
                     (node.dump() + " here " + mine.toString()).c_str());
        }
    }
}

void TestBodies::aFusedNodeIsTypedByItsBody()
{
    const graph::Graph graph = around("_sg_onednn_conv", sumBody(), 2);
    std::vector<DType> in{DType::Unknown, DType::BF16};
    std::vector<DType> out{DType::Unknown};
    QVERIFY(outcomeOf(graph, in, out) == ops::TypeOutcome::Complete);
    QVERIFY(in[0] == DType::BF16 && out[0] == DType::BF16);

    in = {DType::Unknown, DType::Unknown};
    out = {DType::Unknown};
    QVERIFY(outcomeOf(graph, in, out) == ops::TypeOutcome::Incomplete);

    out = {DType::F16}; // backward, from the output
    QVERIFY(outcomeOf(graph, in, out) == ops::TypeOutcome::Complete);
    QVERIFY(in[0] == DType::F16 && in[1] == DType::F16);
}

void TestBodies::aContradictionInABodyIsRefusedAndTold()
{
    const graph::Graph graph = around("_sg_mkldnn_conv", sumBody(), 2);
    std::vector<DType> in{DType::F16, DType::F32};
    std::vector<DType> out{DType::Unknown};
    std::size_t where = 0;
    QVERIFY(outcomeOf(graph, in, out, &where) == ops::TypeOutcome::Refused);
    QCOMPARE(where, infer::NodeTypes::kInBody);

    const auto types = infer::inferTypes(graph, std::vector{DType::F16, DType::F32});
    QVERIFY(!types.ok());
    QCOMPARE(types.error().where, std::string("around"));
    QVERIFY(types.error().found.starts_with("_sg_mkldnn_conv: in its body: sum: elemwise_add gets types"));

    // Twice the same input, of which the body wants two types.
    test::GraphBuilder g;
    const auto cast = g.op("amp_cast", "cast", {g.variable("a")}, {{"dtype", "float16"}});
    const graph::Graph head = around("_sg_mkldnn_conv", g.withHeads({cast}), 1);
    in = {DType::F32};
    out = {DType::F32};
    QVERIFY(outcomeOf(head, in, out) == ops::TypeOutcome::Refused);
}

void TestBodies::inputsMeetVariablesInTheOrderOfAWalkFromTheHeads()
{
    // In the file b stands before a; the sum reads a first.
    test::GraphBuilder g;
    const auto b = g.variable("b");
    const auto a = g.variable("a");
    const auto ids = g.op("Cast", "ids", {b}, {{"dtype", "int32"}});
    const auto taken = g.op("take", "taken", {a, ids});
    const graph::Graph graph = around("_sg_mkldnn_conv", g.withHeads({taken}), 2);
    std::vector<DType> in{DType::F16, DType::I64};
    std::vector<DType> out{DType::Unknown};
    QVERIFY(outcomeOf(graph, in, out) == ops::TypeOutcome::Complete);
    QVERIFY(out[0] == DType::F16);
}

void TestBodies::aBodyWithOtherInputsThanItsNodeSaysNothing()
{
    const graph::Graph graph = around("_sg_mkldnn_conv", sumBody(), 3);
    std::vector<DType> in{DType::F16, DType::F32, DType::F32};
    std::vector<DType> out{DType::Unknown};
    QVERIFY(outcomeOf(graph, in, out) != ops::TypeOutcome::Refused);
    QVERIFY(in[1] == DType::F32);
    QVERIFY(infer::inferShapes(graph, {{"in0", Shape{2}}, {"in1", Shape{3}}}).ok());
}

void TestBodies::quantizedFusedNodesKeepTheirOwnRule()
{
    const graph::Graph graph = around("_sg_mkldnn_conv", sumBody(), 4, {{"quantized", "True"}});
    std::vector<DType> in{DType::U8, DType::I8, DType::F32, DType::F32};
    std::vector<DType> out(3, DType::Unknown);
    QVERIFY(outcomeOf(graph, in, out) != ops::TypeOutcome::Refused);
    QVERIFY(out[1] == DType::F32 && out[2] == DType::F32);
}

void TestBodies::bodiesNestedTooDeepStayOpen()
{
    const auto nested = [](int levels) {
        graph::Graph graph = sumBody();
        for (int i = 0; i < levels; ++i)
            graph = around("_sg_mkldnn_conv", std::move(graph), 2);
        return graph;
    };
    const graph::Graph four = nested(4);
    const auto head = four.heads()[0];
    QVERIFY(infer::inferTypes(four, std::vector{DType::F16}).value().of(head) == DType::F16);
    QVERIFY(infer::inferShapes(four, {{"in1", Shape{2, 3}}}).value().of(head) == (Shape{2, 3}));
    const graph::Graph six = nested(6);
    QVERIFY(infer::inferTypes(six, std::vector{DType::F16, DType::F32}).ok());
    QVERIFY(!infer::inferShapes(six, {{"in1", Shape{2, 3}}}).value().of(head).hasRank());
}

void TestBodies::aLocationThatPointsNowhereIsAnError()
{
    const graph::Graph graph = around("_foreach", sumBody(), 2,
                                      {{"num_args", "3"},
                                       {"num_outputs", "1"},
                                       {"num_out_data", "1"},
                                       {"in_data_locs", "[7]"},
                                       {"in_state_locs", "[]"},
                                       {"remain_locs", "[1]"}});
    const auto types = infer::inferTypes(graph, std::vector{DType::F32, DType::F32});
    QVERIFY(!types.ok());
    QCOMPARE(types.error().where, std::string("around"));
    QVERIFY(!infer::inferShapes(graph, {}).ok());
}

QTEST_APPLESS_MAIN(TestBodies)
#include "tst_bodies.moc"
