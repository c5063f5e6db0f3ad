#include "core/tensor/elements.h"
#include "core/weights/lower_weights.h"
#include "tests/support/onnx_builder.h"

#include <QTest>

#include <array>
#include <cmath>

using namespace halftone;
using policy::WeightForm;
using policy::WeightMethod;
using tensor::DType;
using test::OnnxBuilder;
using weights::WeightsRequest;

namespace {

std::vector<float> ramp(std::size_t count)
{
    std::vector<float> values;
    for (std::size_t k = 0; k < count; ++k)
        values.push_back(std::sin(static_cast<float>(k)) * static_cast<float>(1 + k % 7));
    return values;
}

WeightsRequest request(const std::vector<const char *> &rules, std::optional<WeightForm> form = {})
{
    WeightsRequest request;
    for (const char *const text : rules)
        request.rules.push_back(policy::weightRuleIn(text).value());
    request.method = WeightMethod::Nearest;
    request.form = form;
    return request;
}

/// x[n, 32] · w[32, 6], of which a Gemm with a transposed matrix and another product make more.
graph::Model network(int opset, const char *type = "float32")
{
    OnnxBuilder builder(opset);
    const auto x = builder.input("x", type, "[n,32]");
    const auto w = builder.input("w", type, "[32,6]");
    const auto t = builder.input("t", type, "[32,6]");
    const auto b = builder.input("b", type, "[32]");
    const auto v = builder.input("v", type, "[6,32]");
    const auto first = builder.op("MatMul", "first", {}, {x, w});
    const auto layer = builder.op("Gemm", "layer", {{"transB", "1"}}, {first, t, b});
    const auto turned = builder.op("Transpose", "turned", {{"perm", "[1,0]"}}, {v});
    const auto second = builder.op("MatMul", "second", {}, {layer, turned});
    const auto scores = builder.op("MatMul", "scores", {}, {x, second});
    return {builder.withHeads({second, scores}),
            {OnnxBuilder::floats("w", {32, 6}, ramp(192)), OnnxBuilder::floats("t", {32, 6}, ramp(192)),
             OnnxBuilder::floats("b", {32}, ramp(32)), OnnxBuilder::floats("v", {6, 32}, ramp(192))},
            true};
}

weights::LoweredModel lowered(const graph::Model &model, const WeightsRequest &request)
{
    auto made = weights::lowerWeights(model, request);
    if (!made.ok())
        qFatal("%s", made.error().message().c_str());
    return std::move(made).value();
}

std::vector<std::string> parametersOf(const graph::Model &model)
{
    std::vector<std::string> names;
    for (const tensor::Array &array : model.parameters)
        names.push_back(array.name);
    return names;
}

const graph::NodeDef &nodeNamed(const graph::Graph &graph, const std::string &name)
{
    for (graph::NodeId id = 0; id < graph.nodeCount(); ++id)
        if (graph.node(id).name == name)
            return graph.node(id);
    qFatal("no node %s", name.c_str());
}

std::string textOf(const graph::NodeDef &node, const char *key)
{
    const std::string *const text = node.attributes.find(key);
    return text ? *text : std::string();
}

} // namespace

class TestLowerWeights : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void operatorsWhereThereAreSome()
    {
        const auto made = lowered(network(17), request({"uint4/32"}));
        QCOMPARE(test::operatorsIn(made.model.graph),
                 (std::vector<std::string>{"Gemm", "MatMul", "com.microsoft.MatMulNBits",
                                           "com.microsoft.MatMulNBits"}));
    }

    void skippedNodesSayWhy()
    {
        const auto made = lowered(network(17), request({"int4/32"}));
        QCOMPARE(made.weights.size(), 2U); // K of the Gemm is 6
        QCOMPARE(made.skipped.size(), 2U);
        QCOMPARE(made.skipped[0].name, std::string("layer"));
        QCOMPARE(made.skipped[0].why, std::string("K is 6, less than the block of 32; int4/channel works"));
        QCOMPARE(made.skipped[1].name, std::string("scores"));
        QCOMPARE(made.skipped[1].why, std::string("its weights are not constant"));
    }

    void operatorsKeepNamesAndSayTheirExtents()
    {
        const auto made = lowered(network(17), request({"uint4/32", "layer=none"}));
        const graph::NodeDef &product = nodeNamed(made.model.graph, "second");
        QCOMPARE(product.op, std::string("com.microsoft.MatMulNBits"));
        QCOMPARE(product.outputs, (std::vector<std::string>{"second"}));
        for (const auto &[key, value] : {std::pair("K", "32"), std::pair("N", "6"), std::pair("bits", "4"),
                                         std::pair("block_size", "32")})
            QCOMPARE(textOf(product, key), std::string(value));
        QCOMPARE(made.model.graph.dialect()->versionNumber(), 17);
        QVERIFY(made.notes.empty());
        // What nothing reads any more is gone, the transpose too.
        QCOMPARE(parametersOf(made.model),
                 (std::vector<std::string>{"t", "b", "w_quantized", "w_scale", "w_zero_point", "v_quantized",
                                           "v_scale", "v_zero_point"}));
    }

    /// 192 codes of 4 bits, 6 scales of 32 and 6 zero points in a byte each.
    void bitsCountScalesAndZeroPoints()
    {
        const auto made = lowered(network(17), request({"first=uint4/32"}));
        QCOMPARE(made.weights.size(), 1U);
        QCOMPARE(weights::bitsPerWeight(made.weights), (192 * 4 + 6 * 32 + 6 * 8) / 192.0);
    }

    void pairsRaiseTheVersion()
    {
        const auto made = lowered(network(17), request({"MatMul=int4/32"}, WeightForm::Pairs));
        QCOMPARE(made.model.graph.dialect()->versionNumber(), 21);
        QCOMPARE(made.notes,
                 (std::vector<std::string>{"ONNX opset 17 raised to ONNX opset 21: int4/32 needs it"}));
        const graph::NodeDef &decode = nodeNamed(made.model.graph, "v_DequantizeLinear");
        QCOMPARE(textOf(decode, "axis"), std::string("0"));
        QCOMPARE(textOf(decode, "block_size"), std::string("32"));
        QCOMPARE(nodeNamed(made.model.graph, "second").op, std::string("MatMul"));
    }

    void aGemmKeepsItsOrder()
    {
        const auto made = lowered(network(13), request({"layer=int8/channel"}));
        QCOMPARE(made.model.graph.dialect()->versionNumber(), 13);
        const graph::NodeDef &decode = nodeNamed(made.model.graph, "t_DequantizeLinear");
        QCOMPARE(textOf(decode, "axis"), std::string("0"));
        QVERIFY(textOf(decode, "block_size").empty());
        QCOMPARE(textOf(nodeNamed(made.model.graph, "layer"), "transB"), std::string("1"));
    }

    /// What two nodes read is stored once.
    void sharedMatricesAreOne()
    {
        OnnxBuilder builder(21);
        const auto x = builder.input("x", "float32", "[n,32]");
        const auto w = builder.input("w", "float32", "[32,6]");
        const auto a = builder.op("MatMul", "a", {}, {x, w});
        const auto b = builder.op("MatMul", "b", {}, {x, w});
        const graph::Model model{
            builder.withHeads({a, b, w}), {OnnxBuilder::floats("w", {32, 6}, ramp(192))}, true};
        const auto made = lowered(model, request({"int8/32"}));
        QCOMPARE(parametersOf(made.model), (std::vector<std::string>{"w", "w_quantized", "w_scale"}));
        QCOMPARE(made.weights[0].matrix, made.weights[1].matrix);
        QCOMPARE(weights::bitsPerWeight(made.weights), 9.0);
    }

    /// Codes are chosen by what the weights were before a conversion rounded them.
    void originalsDecide()
    {
        const graph::Model originals = network(17);
        graph::Model model = network(17, "float16");
        for (tensor::Array &array : model.parameters) {
            const std::vector<float> values = array.values.values<float>();
            std::vector<std::byte> halves(values.size() * 2);
            tensor::narrow(values.data(), values.size(), DType::F16, halves.data());
            array.values = tensor::Tensor::owning(DType::F16, array.shape, std::move(halves));
        }
        const auto made
            = weights::lowerWeights(model, request({"first=int8/32"}, WeightForm::Pairs), &originals);
        QVERIFY(made.ok());
        const auto other = lowered(originals, request({"first=int8/32"}, WeightForm::Pairs));
        QVERIFY(std::ranges::equal(
            made.value().weights[0].matrix->tensorOf(weights::CodedMatrix::Part::Codes).bytes(),
            other.weights[0].matrix->tensorOf(weights::CodedMatrix::Part::Codes).bytes()));
        QCOMPARE(made.value().weights[0].matrix->tensorOf(weights::CodedMatrix::Part::Scales).dtype(),
                 DType::F16);
    }

    void roundedModelsKeepTheirNodes()
    {
        const graph::Model model = network(17);
        const auto made = weights::roundWeights(model, request({"MatMul=nf4/32"}));
        QVERIFY(made.ok());
        QCOMPARE(test::operatorsIn(made.value().model.graph), test::operatorsIn(model.graph));
        QCOMPARE(parametersOf(made.value().model),
                 (std::vector<std::string>{"t", "b", "w_rounded", "v_rounded"}));
    }

    void refusals_data()
    {
        QTest::addColumn<QString>("rule");
        QTest::addColumn<bool>("asOperators");
        QTest::addColumn<QString>("words");
        QTest::newRow("no file has it") << "nf4/64" << false << "nf4/64 is not stored in ONNX";
        QTest::newRow("no operator") << "int8/channel" << true << "int8/channel has no operator on codes";
        QTest::newRow("no node") << "thrid=int4/32" << false << "thrid";
        QTest::newRow("no node by pattern") << "/^q$/=int4/32" << false << "/^q$/";
        QTest::newRow("bad pattern") << "/(/=int4/32" << false << "/(/";
        QTest::newRow("nothing left") << "scores=int4/32" << false << "its weights are not constant";
    }
    void refusals()
    {
        QFETCH(QString, rule);
        QFETCH(bool, asOperators);
        QFETCH(QString, words);
        const std::string text = rule.toStdString();
        const auto made = weights::lowerWeights(
            network(17),
            request({text.c_str()}, asOperators ? std::optional(WeightForm::Operators) : std::nullopt));
        QVERIFY(!made.ok());
        QVERIFY2(QString::fromStdString(made.error().message()).contains(words),
                 made.error().message().c_str());
    }

    void rulesAreRead()
    {
        const auto rule = policy::weightRuleIn("/a=b/=uint4/64");
        QVERIFY(rule.ok());
        QCOMPARE(rule.value().target, std::string("/a=b/"));
        QCOMPARE(policy::formatText(rule.value()), std::string("uint4/64"));
        QCOMPARE(policy::formatText(policy::weightRuleIn("x=none").value()), std::string("none"));
        const auto wrong = policy::weightRuleIn("int4/48");
        QVERIFY(!wrong.ok());
        QVERIFY(QString::fromStdString(wrong.error().expected).contains("int4/32 works"));
    }
};

QTEST_GUILESS_MAIN(TestLowerWeights)
#include "tst_lower_weights.moc"
