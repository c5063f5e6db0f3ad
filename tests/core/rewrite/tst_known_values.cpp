#include "core/dialect/dialect.h"
#include "core/dialect/onnx/onnx_dialect.h"
#include "core/io/model_io.h"
#include "core/rewrite/rewrite.h"
#include "tests/support/build_graph.h"

#include <QTest>

#include <algorithm>

using namespace halftone;
using tensor::DType;
using tensor::Shape;
using tensor::Tensor;

namespace {

const std::string kData = HALFTONE_TEST_DATA;

Tensor floats(const std::vector<float> &values)
{
    const auto bytes = std::as_bytes(std::span(values));
    return Tensor::owning(DType::F32, Shape{static_cast<std::int64_t>(values.size())},
                          std::vector<std::byte>(bytes.begin(), bytes.end()));
}

/// Stands for a backend: whatever it is asked, each head is this vector. Counts what it was asked.
struct Oracle
{
    std::vector<float> answer{7, 8};
    std::vector<std::string> asked{};

    rewrite::RewriteRequest request()
    {
        rewrite::RewriteRequest made;
        made.compute = [this](const graph::Model &model) -> Result<std::vector<Tensor>> {
            asked.push_back(model.graph.node(model.graph.heads()[0].node).name);
            return std::vector<Tensor>(model.graph.heads().size(), floats(answer));
        };
        return made;
    }
};

rewrite::Rewritten run(const char *pass, const graph::Model &model,
                       const rewrite::RewriteRequest &request = {})
{
    auto rewritten = rewrite::findRewritePass(pass)->run(model, request);
    if (!rewritten.ok())
        qFatal("%s: %s", pass, rewritten.error().message().c_str());
    return std::move(rewritten).value();
}

/// A graph of ONNX, node by node.
class OnnxBuilder
{
public:
    graph::Entry input(const std::string &name, const char *type = "float32", const char *shape = "[2]")
    {
        return {m_graph.add(dialect().makeVariable(name, {{"type", type}, {"shape", shape}}), {}), 0, 0};
    }
    graph::Entry parameter(const std::string &name, std::vector<float> values)
    {
        m_model.hasParameters = true;
        m_model.parameters.push_back(test::floatArray(name, std::move(values)));
        return input(name);
    }
    graph::Entry op(const char *op, const std::string &name, const std::vector<graph::Entry> &inputs,
                    graph::Attributes attributes = {})
    {
        graph::NodeDef def{op, name, std::move(attributes), {}};
        def.outputs = {name};
        for (std::uint32_t k = 0; k < inputs.size(); ++k)
            def.slots.push_back(k); // as the reader has them
        return {m_graph.add(std::make_shared<const graph::NodeDef>(std::move(def)), inputs), 0, 0};
    }
    graph::Model model(std::vector<graph::Entry> heads)
    {
        m_model.graph = m_graph;
        m_model.graph.setHeads(std::move(heads));
        return m_model;
    }

private:
    static const dialect::Dialect &dialect() { return dialect::onnx::onnxDialect(17); }

    graph::Graph m_graph{dialect()};
    graph::Model m_model;
};

std::vector<std::string> parametersOf(const graph::Model &model)
{
    std::vector<std::string> names;
    for (const tensor::Array &array : model.parameters)
        names.push_back(array.name);
    return names;
}

QStringList operatorsOf(const graph::Graph &graph)
{
    QStringList rows;
    for (graph::NodeId id = 0; id < graph.nodeCount(); ++id)
        if (!graph.isVariable(id))
            rows.append(QString::fromStdString(graph.node(id).op + ' ' + graph.node(id).name));
    return rows;
}

/// What the second input of a node holds.
std::vector<std::int64_t> targetOf(const graph::Model &model, const std::string &node)
{
    for (graph::NodeId id = 0; id < model.graph.nodeCount(); ++id) {
        if (model.graph.node(id).name != node)
            continue;
        const std::string &name = model.graph.node(model.graph.inputs(id)[1].node).name;
        const auto array = std::ranges::find(model.parameters, name, &tensor::Array::name);
        if (array == model.parameters.end())
            qFatal("%s is no parameter", name.c_str());
        const auto values = array->values.values<std::int64_t>();
        return {values.begin(), values.end()};
    }
    return {};
}

} // namespace

/// Passes that put known values in the place of what computes them.
class KnownValuesTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void whatDependsOnConstantsBecomesAParameterOfItsName()
    {
        OnnxBuilder g;
        const auto x = g.input("x");
        const auto w = g.op("Add", "sum", {g.parameter("a", {1, 2}), g.parameter("b", {3, 4})});
        const graph::Model model = g.model({g.op("Mul", "y", {x, g.op("Exp", "e", {w})})});
        Oracle oracle;
        const rewrite::Rewritten made = run("fold-constants", model, oracle.request());
        QCOMPARE(oracle.asked, (std::vector<std::string>{"sum", "e"}));
        QCOMPARE(operatorsOf(made.model.graph), QStringList{"Mul y"});
        QCOMPARE(parametersOf(made.model), std::vector<std::string>{"e"});
        QCOMPARE(made.model.parameters[0].values.values<float>()[1], 8.0F);
        QCOMPARE(made.changed, std::size_t{4}); // two nodes and two parameters
        QCOMPARE(run("fold-constants", made.model, oracle.request()).changed, std::size_t{0});
    }

    void aConstantOutputIsANodeThatHoldsIt()
    {
        OnnxBuilder g;
        const graph::Model model = g.model({g.op("Exp", "y", {g.parameter("a", {1, 2})})});
        Oracle oracle;
        const rewrite::Rewritten made = run("fold-constants", model, oracle.request());
        QCOMPARE(operatorsOf(made.model.graph), QStringList{"Constant y"});
        const graph::Graph &graph = made.model.graph;
        QCOMPARE(dialect::of(graph).entryName(graph, graph.heads()[0]), std::string("y"));
        QVERIFY(made.model.parameters.empty());
    }

    void parametersThatACallerMayReplaceAreNoConstants()
    {
        OnnxBuilder g;
        const graph::Model model
            = g.model({g.op("Mul", "y", {g.input("x"), g.op("Exp", "e", {g.parameter("a", {1, 2})})})});
        Oracle oracle;
        rewrite::RewriteRequest request = oracle.request();
        request.replaceable.insert("a");
        QCOMPARE(run("fold-constants", model, request).changed, std::size_t{0});
        QVERIFY(oracle.asked.empty());
    }

    void whatDrawsNumbersOrMakesRealsOfCodesStays()
    {
        OnnxBuilder g;
        const auto x = g.input("x");
        const auto a = g.parameter("a", {1, 2});
        const auto s = g.parameter("s", {1, 2});
        const auto codes = g.op("QuantizeLinear", "q", {a, s}, {{"axis", "0"}});
        const auto reals = g.op("DequantizeLinear", "d", {codes, s}, {{"axis", "0"}});
        const auto drawn = g.op("RandomNormalLike", "r", {a});
        const graph::Model model = g.model({g.op("Mul", "y", {x, reals}), g.op("Mul", "z", {x, drawn})});
        Oracle oracle;
        QCOMPARE(run("fold-constants", model, oracle.request()).changed, std::size_t{0});
        QVERIFY(oracle.asked.empty());
    }

    /// 16 MiB of what 8 bytes say.
    void whatWouldMakeTheFileMuchLargerStays()
    {
        OnnxBuilder g;
        graph::Model model;
        const auto shape = g.input("shape", "int64", "[1]");
        model = g.model({g.op("Add", "y", {g.input("x"), g.op("ConstantOfShape", "zeros", {shape})})});
        model.hasParameters = true;
        tensor::Array extent;
        extent.name = "shape";
        extent.shape = Shape{1};
        const std::int64_t elements = std::int64_t{1} << 22;
        const auto bytes = std::as_bytes(std::span(&elements, 1));
        extent.values
            = Tensor::owning(DType::I64, Shape{1}, std::vector<std::byte>(bytes.begin(), bytes.end()));
        model.parameters.push_back(extent);
        Oracle oracle;
        QCOMPARE(run("fold-constants", model, oracle.request()).changed, std::size_t{0});
        QVERIFY(oracle.asked.empty());
    }

    void whatCannotBeComputedStays()
    {
        OnnxBuilder g;
        const graph::Model model
            = g.model({g.op("Mul", "y", {g.input("x"), g.op("Exp", "e", {g.parameter("a", {1, 2})})})});
        rewrite::RewriteRequest request;
        request.compute = [](const graph::Model &) -> Result<std::vector<Tensor>> {
            return unsupported("e", "no kernel");
        };
        QCOMPARE(run("fold-constants", model, request).changed, std::size_t{0});
        request.compute = [](const graph::Model &) -> Result<std::vector<Tensor>> { return cancelled(); };
        const auto stopped = rewrite::findRewritePass("fold-constants")->run(model, request);
        QVERIFY(!stopped.ok());
        QCOMPARE(stopped.error().code, Errc::Cancelled);
    }

    /// x is (n, 4, 6); the first target is x's own first extent and -1, the second -1 and what is computed of the known extents.
    void targetsOfReshapesAreWrittenAsFarAsTheyAreKnown()
    {
        const auto loaded = io::loadModel(kData + "/onnx/shape_arithmetic.onnx");
        if (!loaded.ok() && loaded.error().code == Errc::Unsupported)
            QSKIP("this build was made without ONNX");
        QVERIFY(loaded.ok());
        const rewrite::Rewritten made = run("simplify-shapes", loaded.value().model);
        QCOMPARE(operatorsOf(made.model.graph),
                 (QStringList{"Reshape flat", "Reshape whole", "Transpose turned"}));
        QCOMPARE(targetOf(made.model, "flat"), (std::vector<std::int64_t>{0, -1}));
        QCOMPARE(targetOf(made.model, "whole"), (std::vector<std::int64_t>{-1, 2, 3}));
        QCOMPARE(made.model.parameters.size(), std::size_t{2});
        QCOMPARE(run("simplify-shapes", made.model).changed, std::size_t{0});
    }

    /// Extents of another tensor, or at another place, are no 0 of this one, and only one may be left open.
    void targetsThatCannotBeSaidStay_data()
    {
        QTest::addColumn<QString>("shape");
        QTest::addColumn<bool>("ofAnother");
        QTest::addColumn<QList<qint64>>("target");
        QTest::newRow("its own") << "[a,b,6]" << false << QList<qint64>{0, 0, 6};
        QTest::newRow("of another") << "[a,b,6]" << true << QList<qint64>{};
        QTest::newRow("of another, one open") << "[a,4,6]" << true << QList<qint64>{-1, 4, 6};
        QTest::newRow("all known") << "[2,4,6]" << true << QList<qint64>{2, 4, 6};
    }
    void targetsThatCannotBeSaidStay()
    {
        QFETCH(QString, shape);
        QFETCH(bool, ofAnother);
        QFETCH(QList<qint64>, target);
        OnnxBuilder g;
        const auto x = g.input("x", "float32", qPrintable(shape));
        const auto other = g.input("other", "float32", qPrintable(shape));
        const auto extents = g.op("Shape", "s", {ofAnother ? other : x});
        const graph::Model model = g.model({g.op("Reshape", "y", {x, extents})});
        const rewrite::Rewritten made = run("simplify-shapes", model);
        if (target.isEmpty())
            QCOMPARE(made.changed, std::size_t{0});
        else
            QCOMPARE(targetOf(made.model, "y"), std::vector<std::int64_t>(target.begin(), target.end()));
    }

    /// 7 / 2 is 3 among integers and 3.5 among reals.
    void divisionOfRealsIsNotRoundedDown_data()
    {
        QTest::addColumn<QString>("type");
        QTest::addColumn<bool>("isKnown");
        QTest::newRow("int64") << "7" << true;
        QTest::newRow("float32") << "1" << false;
    }
    void divisionOfRealsIsNotRoundedDown()
    {
        QFETCH(QString, type);
        QFETCH(bool, isKnown);
        OnnxBuilder g;
        const auto x = g.input("x", "float32", "[7,2]");
        const auto extents = g.op("Cast", "c", {g.op("Shape", "s", {x})}, {{"to", type.toStdString()}});
        const auto first = g.op("Slice", "first",
                                {extents, g.op("Constant", "k0", {}, {{"value_ints", "[0]"}}),
                                 g.op("Constant", "k1", {}, {{"value_ints", "[1]"}})});
        const auto second = g.op("Slice", "second",
                                 {extents, g.op("Constant", "k2", {}, {{"value_ints", "[1]"}}),
                                  g.op("Constant", "k3", {}, {{"value_ints", "[2]"}})});
        const auto half = g.op("Cast", "half", {g.op("Div", "d", {first, second})}, {{"to", "7"}});
        const graph::Model model = g.model({g.op("Expand", "y", {g.input("one", "float32", "[1]"), half})});
        const rewrite::Rewritten made = run("simplify-shapes", model);
        if (isKnown)
            QCOMPARE(targetOf(made.model, "y"), std::vector<std::int64_t>{3});
        else
            QVERIFY(operatorsOf(made.model.graph).contains("Div d"));
    }

    void anOpsetIsRaisedAndNeverLowered()
    {
        OnnxBuilder g;
        const graph::Model model = g.model({g.op("Relu", "y", {g.input("x")})});
        rewrite::RewriteRequest request;
        request.number = 21;
        const rewrite::Rewritten made = run("raise-opset", model, request);
        QCOMPARE(dialect::of(made.model.graph).versionNumber(), 21);
        request.number = 13;
        QCOMPARE(dialect::of(run("raise-opset", made.model, request).model.graph).versionNumber(), 21);
        request.number = 99;
        const auto refused = rewrite::findRewritePass("raise-opset")->run(model, request);
        QVERIFY(!refused.ok());
        QCOMPARE(refused.error().code, Errc::BadCall);
        test::GraphBuilder mxnet;
        const auto none
            = rewrite::findRewritePass("raise-opset")->run(mxnet.model({mxnet.variable("x")}), request);
        QVERIFY(!none.ok());
        QCOMPARE(none.error().code, Errc::Unsupported);
    }
};

QTEST_APPLESS_MAIN(KnownValuesTest)
#include "tst_known_values.moc"
