#include "core/infer/infer_types.h"
#include "core/io/model_io.h"
#include "core/mixed/convert_model.h"
#include "tests/support/build_graph.h"
#include "tests/support/typed/convert.h"

#include <QTest>

#include <algorithm>
#include <cmath>

using namespace halftone;
using graph::Entry;
using tensor::DType;
using test::convert;
using test::GraphBuilder;

namespace {

const graph::Attributes kDense{{"num_hidden", "4"}, {"no_bias", "True"}};

policy::Policy castingParams(policy::Mode mode)
{
    policy::Policy policy;
    policy.mode = mode;
    policy.castParams = true;
    return policy;
}

bool warns(const mixed::ConvertedModel &converted, const std::string &line)
{
    return std::ranges::any_of(converted.warnings, [&](const policy::Warning &warning) {
        return warning.entry + ": " + warning.text == line;
    });
}

} // namespace

/// What a conversion says of its parameters: in the log, and in the graph that it writes.
class TestWrittenParameters : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void weightsThatVanishOrAreNaNAreTold();
    void whatOnlyCastsReadSaysItsType_data();
    void whatOnlyCastsReadSaysItsType();
    void weightsOfFourBitsStayAndTheirScalesAreOfTheTarget_data();
    void weightsOfFourBitsStayAndTheirScalesAreOfTheTarget();
};

void TestWrittenParameters::weightsThatVanishOrAreNaNAreTold()
{
    GraphBuilder g;
    const auto a = g.op("FullyConnected", "a", {g.variable("x"), g.variable("w")}, kDense);
    graph::Model model{g.withHeads({g.op("FullyConnected", "b", {a, g.variable("v")}, kDense)}), {}, true};
    const std::vector<std::pair<std::vector<float>, std::vector<float>>> harmful{
        {{1e-9F, 1, 0, 1}, {1, -1e-9F, 1e-10F, 1}}, {{1, 1, std::nanf(""), 1}, {1, 1, 1, 1}}};
    const char *const told[]{
        "parameters: 3 of 8 values underflow to zero in the target type: "
        "arg:w 1, arg:v 2",
        "parameter \"arg:w\": NaN in 1 of 4 values, regardless of the type they are stored in"};
    for (std::size_t k = 0; k < harmful.size(); ++k) {
        model.parameters
            = {test::floatArray("arg:w", harmful[k].first), test::floatArray("arg:v", harmful[k].second)};
        for (const policy::Mode mode : {policy::Mode::NodeForNode, policy::Mode::Typed}) {
            policy::Policy policy = castingParams(mode);
            QVERIFY(warns(convert(model, policy), told[k]));
            QVERIFY(!mixed::convertModel(model, policy, true).ok());
            policy.castParams = false; // they stay as they are
            QVERIFY(mixed::convertModel(model, policy, true).ok());
        }
    }
}

void TestWrittenParameters::whatOnlyCastsReadSaysItsType_data()
{
    QTest::addColumn<QString>("op");
    QTest::addColumn<bool>(
        "isOpen"); // MXNet's simple_bind: "cannot decide dtypes for the following arguments"
    QTest::newRow("an operator between parameter and cast") << "sin" << true;
    QTest::newRow("rows of a parameter") << "take" << true;
    QTest::newRow("a parameter and data") << "broadcast_add" << false;
}

void TestWrittenParameters::whatOnlyCastsReadSaysItsType()
{
    QFETCH(QString, op);
    QFETCH(bool, isOpen);
    GraphBuilder g;
    const auto x = g.variable("x");
    const auto w = g.variable("w");
    const std::vector<Entry> inputs = op == "sin" ? std::vector{w}
        : op == "take"                            ? std::vector{w, x}
                                                  : std::vector{x, w};
    const auto middle = g.op(op.toStdString(), "middle", inputs);
    const auto fc = g.op("FullyConnected", "fc", {middle, g.variable("v")}, kDense);
    policy::Policy policy = castingParams(policy::Mode::Typed);
    policy.moves = {{op.toStdString(), policy::Policy::Move::To::Fp32}};
    const graph::Model model{
        g.withHeads({fc}), {test::floatArray("arg:w", {1, 1}), test::floatArray("arg:v", {1, 1})}, true};
    const auto converted = convert(model, policy);
    const graph::Graph &graph = converted.model.graph;
    const auto markOf = [&](const char *name) {
        for (graph::NodeId id = 0; id < graph.nodeCount(); ++id) {
            if (graph.node(id).name == name)
                return graph.node(id).attributes.find("__dtype__");
        }
        return static_cast<const std::string *>(nullptr);
    };
    QCOMPARE(markOf("w") != nullptr, isOpen);
    if (isOpen)
        QCOMPARE(*markOf("w"), std::string("0"));
    QCOMPARE(markOf("x"), nullptr);
    // With the marks and the data's type all types follow.
    std::vector<DType> told(graph.nodeCount(), DType::Unknown);
    for (graph::NodeId id = 0; id < graph.nodeCount(); ++id) {
        if (const std::string *mark = graph.node(id).attributes.find("__dtype__"))
            told[id] = *mark == "0" ? DType::F32 : DType::F16;
        else if (graph.node(id).name == "x")
            told[id] = DType::F32;
    }
    const auto types = infer::inferTypes(graph, told).value();
    for (graph::NodeId id = 0; id < graph.nodeCount(); ++id)
        QVERIFY(types.of({id, 0, 0}) != DType::Unknown);
}

void TestWrittenParameters::weightsOfFourBitsStayAndTheirScalesAreOfTheTarget_data()
{
    QTest::addColumn<int>("target");
    QTest::newRow("float16") << static_cast<int>(DType::F16);
    QTest::newRow("bfloat16") << static_cast<int>(DType::BF16);
}

/// DequantizeLinear, opset 21: the result has the type of the scale.
void TestWrittenParameters::weightsOfFourBitsStayAndTheirScalesAreOfTheTarget()
{
    QFETCH(const int, target);
    const auto loaded = io::loadModel(HALFTONE_TEST_DATA "/coded_plans/four_bits.onnx");
    if (!loaded.ok() && loaded.error().code == Errc::Unsupported)
        QSKIP("this build was made without ONNX");
    QVERIFY2(loaded.ok(), loaded.ok() ? "" : loaded.error().message().c_str());
    const graph::Model &source = loaded.value().model;
    policy::Policy policy;
    policy.target = static_cast<DType>(target);
    const auto converted = mixed::convertModel(source, policy, false);
    QVERIFY2(converted.ok(), converted.ok() ? "" : converted.error().message().c_str());
    const auto &parameters = converted.value().model.parameters;
    QCOMPARE(parameters.size(), source.parameters.size());
    std::size_t ofFourBits = 0;
    for (std::size_t k = 0; k < parameters.size(); ++k) {
        const tensor::Tensor &before = source.parameters[k].values;
        if (tensor::packedBits(before.dtype()) == 0) {
            QCOMPARE(parameters[k].values.dtype(), policy.target);
            continue;
        }
        ++ofFourBits;
        QCOMPARE(parameters[k].values.dtype(), before.dtype());
        QCOMPARE(parameters[k].values.stored().place(), before.stored().place());
    }
    QCOMPARE(ofFourBits, std::size_t{5}); // three weights, two zero points
    std::size_t products = 0;
    const graph::Graph &graph = converted.value().conversion.graph;
    for (graph::NodeId id = 0; id < graph.nodeCount(); ++id) {
        if (graph.node(id).op != "MatMul" && graph.node(id).op != "DequantizeLinear")
            continue;
        ++products;
        QCOMPARE(converted.value().conversion.types.at(id, 0), policy.target);
    }
    QCOMPARE(products, std::size_t{6});
}

QTEST_APPLESS_MAIN(TestWrittenParameters)
#include "tst_written_parameters.moc"
