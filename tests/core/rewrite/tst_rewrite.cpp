#include "core/dialect/dialect.h"
#include "core/dialect/onnx/onnx_dialect.h"
#include "core/io/model_io.h"
#include "core/io/mxnet/symbol_json.h"
#include "core/rewrite/inline_calls.h"
#include "core/rewrite/rewrite.h"
#include "tests/support/build_graph.h"
#include "tests/support/files.h"
#include "tests/support/graph_text.h"

#include <QTest>

#include <algorithm>
#include <filesystem>

using namespace halftone;

namespace {

const std::string kData = HALFTONE_TEST_DATA;

graph::Model modelOf(const std::string &path)
{
    std::vector<std::string> notes;
    auto graph = io::readSymbol(test::readFile(path), notes);
    if (!graph.ok())
        qFatal("%s: %s", path.c_str(), graph.error().message().c_str());
    return {std::move(graph).value(), {}, false};
}

rewrite::Rewritten run(const char *pass, const graph::Model &model)
{
    auto rewritten = rewrite::findRewritePass(pass)->run(model, {});
    if (!rewritten.ok())
        qFatal("%s: %s", pass, rewritten.error().message().c_str());
    return std::move(rewritten).value();
}

/// Appends a node of ONNX to `graph`; one without an input and of the word for these is a variable.
graph::Entry add(graph::Graph &graph, const char *op, const char *name, graph::Attributes attributes,
                 const std::vector<graph::Entry> &inputs)
{
    graph::NodeDef def{op, name, std::move(attributes), {}, op == dialect::onnx::kVariableOp};
    if (!def.variable)
        def.outputs.emplace_back(name);
    return {graph.add(std::make_shared<const graph::NodeDef>(std::move(def)), inputs)};
}

QStringList operatorsOf(const graph::Graph &graph)
{
    QStringList rows;
    for (graph::NodeId id = 0; id < graph.nodeCount(); ++id) {
        if (!graph.isVariable(id))
            rows.append(QString::fromStdString(graph.node(id).op + ' ' + graph.node(id).name));
    }
    rows.sort();
    return rows;
}

} // namespace

class TestRewrite : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void sharingMergesWhatTheReferenceMerges_data();
    void sharingMergesWhatTheReferenceMerges();
    void sharingNamesWhatVanished();
    void attributesThatMeanTheSameAreEqual();
    void strippingGivesTheRecordedGraphs_data();
    void strippingGivesTheRecordedGraphs();
    void strippingWidensHalfParametersAndSaysTheyStayRounded();
    void strippingOnnxWidensAllThatSays16Bit();
    void strippingOnnxNamesWhatMakes16BitItself();
    void foldingRemovesACastToTheTypeThereIs();
    void foldingUndoesAnExactWidening();
    void foldingKeepsARoundingCast();
    void pruningRemovesUnreadNodesAndParameters();
    void inliningNamesNodesAfterTheirCalls();
    void inliningTakesControlFlowAlong();
    void inliningMayLeaveOperatorsOfLibraries();
    void inliningLeavesWhatItsBodyOnlyStandsFor();
};

void TestRewrite::sharingMergesWhatTheReferenceMerges_data()
{
    QTest::addColumn<QString>("name");
    QTest::addColumn<QStringList>("after");
    // Values are compared by meaning, not as text, so these merge here though they do not in the reference.
    const std::vector<std::string> merged{"attr_text_differs", "explicit_default_attr", "user_attr_differs"};
    const nlohmann::json file = test::readJson(kData + "/cse/expected.json");
    for (const auto &recorded : file.at("cases")) {
        const std::string name = recorded.at("name");
        if (std::ranges::find(merged, name) != merged.end())
            continue;
        QStringList after;
        for (const auto &row : recorded.at("after")) {
            if (row[0] != "null")
                after.append(
                    QString::fromStdString(row[0].get<std::string>() + ' ' + row[1].get<std::string>()));
        }
        after.sort();
        QTest::newRow(name.c_str()) << QString::fromStdString(name) << after;
    }
}

void TestRewrite::sharingMergesWhatTheReferenceMerges()
{
    QFETCH(QString, name);
    QFETCH(QStringList, after);
    const graph::Model model = modelOf(kData + "/cse/" + name.toStdString() + "-symbol.json");
    const rewrite::Rewritten shared = run("share", model);
    QCOMPARE(operatorsOf(shared.model.graph), after);
    QCOMPARE(shared.changed == 0, operatorsOf(model.graph) == after);
    QCOMPARE(run("share", shared.model).changed, std::size_t{0});
}

void TestRewrite::sharingNamesWhatVanished()
{
    const rewrite::Rewritten shared = run("share", modelOf(kData + "/cse/same_unary-symbol.json"));
    QCOMPARE(shared.notes, std::vector<std::string>{"e2 was merged into e1"});
}

void TestRewrite::attributesThatMeanTheSameAreEqual()
{
    for (const char *name : {"attr_text_differs", "explicit_default_attr", "user_attr_differs"})
        QCOMPARE(run("share", modelOf(kData + "/cse/" + name + "-symbol.json")).changed, std::size_t{1});
}

void TestRewrite::strippingGivesTheRecordedGraphs_data()
{
    QTest::addColumn<QString>("name");
    for (const char *name : {"cast_of_cast", "head_cast", "inner_and_head", "multicast"})
        QTest::newRow(name) << QString::fromLatin1(name);
}

void TestRewrite::strippingGivesTheRecordedGraphs()
{
    QFETCH(QString, name);
    const std::string base = kData + "/strip/" + name.toStdString();
    const rewrite::Rewritten stripped = run("strip-casts", modelOf(base + "-symbol.json"));
    QCOMPARE(QString::fromStdString(
                 test::difference(stripped.model.graph, modelOf(base + "-expected.json").graph)),
             QString());
    // Each of them has one cast that is an output, which MXNet keeps too.
    QCOMPARE(
        stripped.notes,
        std::vector<std::string>{"1 cast is an output and stays: the outputs keep their types and names"});
}

void TestRewrite::strippingWidensHalfParametersAndSaysTheyStayRounded()
{
    test::GraphBuilder g;
    const auto w = g.variable("w", {{"__dtype__", "2"}});
    graph::Model model = g.model({g.op("elemwise_add", "a", {g.variable("x"), w})});
    model.hasParameters = true;
    model.parameters.push_back(test::floatArray("arg:w", {1.5F, 2.25F}));
    model.parameters[0].values = tensor::Tensor::owning(
        tensor::DType::F16, tensor::Shape{2},
        {std::byte{0x00}, std::byte{0x3E}, std::byte{0x80}, std::byte{0x40}}); // 1.5, 2.25
    const rewrite::Rewritten stripped = run("strip-casts", model);
    QCOMPARE(stripped.model.parameters[0].values.values<float>(), (std::vector<float>{1.5F, 2.25F}));
    QCOMPARE(*stripped.model.graph.node(1).attributes.find("__dtype__") == "0"
                 || *stripped.model.graph.node(0).attributes.find("__dtype__") == "0",
             true);
    QCOMPARE(stripped.notes.size(), std::size_t{1});
}

/// Casts of another tool's converter, and a constant in 16 bit beside them.
void TestRewrite::strippingOnnxWidensAllThatSays16Bit()
{
    graph::Graph graph(dialect::onnx::onnxDialect(17));
    const auto x = add(graph, "Input", "x", {{"type", "float32"}}, {});
    const auto i = add(graph, "Input", "i", {{"type", "int64"}}, {});
    graph::NodeDef constant{"Constant", "k", {{"value", "float16[1]"}}, {}};
    constant.outputs.emplace_back("k");
    constant.tensors.emplace_back("value",
                                  tensor::Tensor::owning(tensor::DType::F16, tensor::Shape{1},
                                                         {std::byte{0x00}, std::byte{0x3E}})); // 1.5
    const graph::Entry k{graph.add(std::make_shared<const graph::NodeDef>(constant), {})};
    const auto half = add(graph, "Cast", "narrow", {{"to", "10"}}, {x});
    const auto sum = add(graph, "Add", "sum", {}, {half, k});
    const auto number = add(graph, "Cast", "number", {{"to", "10"}}, {i});
    const auto product = add(graph, "Mul", "product", {}, {sum, number});
    const auto wide = add(graph, "Cast", "wide", {{"to", "1"}}, {product});
    graph.setHeads({add(graph, "Relu", "y", {}, {wide})});
    const graph::Graph stripped = run("strip-casts", {std::move(graph), {}, false}).model.graph;
    QCOMPARE(operatorsOf(stripped),
             (QStringList{"Add sum", "Cast number", "Constant k", "Mul product", "Relu y"}));
    for (graph::NodeId id = 0; id < stripped.nodeCount(); ++id) {
        const graph::NodeDef &node = stripped.node(id);
        if (node.op == "Cast")
            QCOMPARE(*node.attributes.find("to"), std::string("1"));
        if (node.op == "Constant")
            QCOMPARE(node.tensorOf("value")->values<float>(), std::vector<float>{1.5F});
    }
}

void TestRewrite::strippingOnnxNamesWhatMakes16BitItself()
{
    graph::Graph graph(dialect::onnx::onnxDialect(17));
    graph.setHeads({add(graph, "RandomNormal", "noise", {{"dtype", "10"}, {"shape", "[2]"}}, {})});
    const auto stripped = rewrite::findRewritePass("strip-casts")->run({std::move(graph), {}, false}, {});
    QVERIFY(!stripped.ok());
    QCOMPARE(stripped.error().code, Errc::Unsupported);
    QCOMPARE(stripped.error().where, std::string("noise"));
}

void TestRewrite::foldingRemovesACastToTheTypeThereIs()
{
    test::GraphBuilder g;
    const auto x = g.variable("x");
    const auto cast = g.op("amp_cast", "c", {x}, {{"dtype", "float32"}});
    const rewrite::Rewritten folded = run("fold-casts", g.model({g.op("exp", "e", {cast})}));
    QCOMPARE(test::linesOf(folded.model.graph), (std::vector<std::string>{"null x()", "exp e(x)", "-> e"}));
}

void TestRewrite::foldingUndoesAnExactWidening()
{
    test::GraphBuilder g;
    const auto half = g.op("amp_cast", "down", {g.variable("x")}, {{"dtype", "float16"}});
    const auto wide = g.op("amp_cast", "up", {half}, {{"dtype", "float32"}});
    const auto again = g.op("amp_cast", "again", {wide}, {{"dtype", "float16"}});
    const rewrite::Rewritten folded = run("fold-casts", g.model({g.op("relu", "r", {again})}));
    QCOMPARE(test::linesOf(folded.model.graph),
             (std::vector<std::string>{"null x()", "amp_cast down(x)", "relu r(down)", "-> r"}));
}

void TestRewrite::foldingKeepsARoundingCast()
{
    test::GraphBuilder g;
    const auto half = g.op("amp_cast", "down", {g.variable("x")}, {{"dtype", "float16"}});
    const auto wide = g.op("amp_cast", "up", {half}, {{"dtype", "float32"}});
    const graph::Model model = g.model({g.op("exp", "e", {wide})});
    QCOMPARE(run("fold-casts", model).changed, std::size_t{0});
}

void TestRewrite::pruningRemovesUnreadNodesAndParameters()
{
    test::GraphBuilder g;
    const auto x = g.variable("x");
    g.op("exp", "unused", {g.variable("w")});
    graph::Model model = g.model({g.op("relu", "r", {x})});
    model.hasParameters = true;
    model.parameters.push_back(test::floatArray("arg:w", {1}));
    const rewrite::Rewritten pruned = run("dead-code", model);
    QCOMPARE(test::linesOf(pruned.model.graph), (std::vector<std::string>{"null x()", "relu r(x)", "-> r"}));
    QVERIFY(pruned.model.parameters.empty());
    QCOMPARE(pruned.changed, std::size_t{3});
}

void TestRewrite::inliningNamesNodesAfterTheirCalls()
{
    const auto loaded = io::loadModel(kData + "/onnx_calls/function_nested.onnx");
    if (!loaded.ok() && loaded.error().code == Errc::Unsupported)
        QSKIP("this build was made without ONNX");
    QVERIFY(loaded.ok());
    const rewrite::Rewritten made = run("inline-functions", loaded.value().model);
    QCOMPARE(made.changed, std::size_t{1});
    QCOMPARE(
        operatorsOf(made.model.graph),
        (QStringList{"Add y/b", "Add y/t", "Add y/u", "Elu y/Inner#0/t", "Elu y/Inner#1/t", "Identity y/c"}));
    const graph::Graph &graph = made.model.graph;
    QCOMPARE(dialect::of(graph).entryName(graph, graph.heads()[0]), std::string("y"));
    QCOMPARE(dialect::of(graph).entryName(graph, graph.heads()[1]), std::string("same"));
}

void TestRewrite::inliningTakesControlFlowAlong()
{
    const auto loaded = io::loadModel(kData + "/onnx_calls/function_in_branch.onnx");
    if (!loaded.ok() && loaded.error().code == Errc::Unsupported)
        QSKIP("this build was made without ONNX");
    QVERIFY(loaded.ok());
    const rewrite::Rewritten made = run("inline-functions", loaded.value().model);
    QCOMPARE(made.notes, std::vector<std::string>());
    QVERIFY(!operatorsOf(made.model.graph).filter(QStringLiteral("If ")).isEmpty());
    QVERIFY(operatorsOf(made.model.graph).filter(QStringLiteral("fn.")).isEmpty());
}

void TestRewrite::inliningMayLeaveOperatorsOfLibraries()
{
    const auto wanted = rewrite::InlinedCalls::OfTheModel;
    const auto library = io::loadModel(kData + "/onnx_calls/fast_gelu.onnx");
    if (!library.ok() && library.error().code == Errc::Unsupported)
        QSKIP("this build was made without ONNX");
    const auto own = io::loadModel(kData + "/onnx_calls/function_nested.onnx");
    QVERIFY(library.ok() && own.ok());
    const auto left = rewrite::inlineCalls(library.value().model, wanted, {});
    QVERIFY(left.ok());
    QCOMPARE(left.value().changed, std::size_t{0});
    QCOMPARE(operatorsOf(left.value().model.graph).filter(QStringLiteral("FastGelu")).size(), 1);
    const auto inlined = rewrite::inlineCalls(own.value().model, wanted, {});
    QVERIFY(inlined.ok());
    QVERIFY(operatorsOf(inlined.value().model.graph).filter(QStringLiteral("fn.")).isEmpty());
}

/// Texts are told by their places, and scores without their labels: a file says of its outputs that they are the others.
void TestRewrite::inliningLeavesWhatItsBodyOnlyStandsFor()
{
    const auto loaded = io::loadModel(kData + "/onnx/zip_map.onnx");
    if (!loaded.ok() && loaded.error().code == Errc::Unsupported)
        QSKIP("this build was made without ONNX");
    QVERIFY(loaded.ok());
    const rewrite::Rewritten made = run("inline-functions", loaded.value().model);
    QCOMPARE(made.changed, std::size_t{1});
    const QStringList operators = operatorsOf(made.model.graph);
    QCOMPARE(operators.filter(QStringLiteral("ai.onnx.ml")),
             (QStringList{"ai.onnx.ml.LabelEncoder name", "ai.onnx.ml.ZipMap z"}));
    QCOMPARE(run("inline-functions", made.model).changed, std::size_t{0});
}

QTEST_APPLESS_MAIN(TestRewrite)
#include "tst_rewrite.moc"
