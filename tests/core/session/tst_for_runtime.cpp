#include "core/session/for_runtime.h"
#include "tests/support/onnx_builder.h"

#include <QTest>

using namespace halftone;
using quantize::QuantizeOptions;
using tensor::DType;

namespace {

graph::Model network(int opset)
{
    test::OnnxBuilder g(opset);
    const graph::Entry x = g.input("x", "float32", "[1,2,4,4]");
    const graph::Entry w = g.input("w", "float32", "[2,2,1,1]");
    const graph::Entry conv = g.op("Conv", "conv", {}, {x, w});
    const graph::Entry last = g.op("Concat", "last", {{"axis", "1"}}, {conv, conv});
    return {g.withHeads({last}), {}, true};
}

const runtimes::KernelTable &table(const char *name)
{
    return *runtimes::kernelTableOf(name);
}

} // namespace

/// Conversions that keep to what a runtime has kernels for.
class ForRuntimeTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void whatHasNoKernelStays()
    {
        policy::Policy policy;
        policy.target = DType::F16;
        const auto left = session::fitPolicy(table("ort"), network(17), policy);
        QVERIFY2(left.ok(), left.ok() ? "" : left.error().message().c_str());
        QCOMPARE(left.value().size(), std::size_t{1});
        QCOMPARE(left.value()[0].name, std::string("conv"));
        QVERIFY(left.value()[0].why.find("has no float16 kernel for Conv") != std::string::npos);
        QCOMPARE(policy.excludedNames, std::vector<std::string>{"conv"});
    }

    void anOverrideStays()
    {
        policy::Policy policy;
        policy.target = DType::F16;
        policy.nodeOverrides.emplace("conv", DType::F16);
        const auto left = session::fitPolicy(table("ort"), network(17), policy);
        QVERIFY(left.ok() && left.value().empty() && policy.excludedNames.empty());
    }

    /// Conv takes bfloat16 from opset 22 on, which the documented release of TensorRT does not read.
    void anOpsetThatIsNotReadKeepsFloat32()
    {
        policy::Policy policy;
        policy.target = DType::BF16;
        const auto left = session::fitPolicy(table("tensorrt"), network(17), policy);
        QVERIFY(left.ok());
        QCOMPARE(left.value().size(), std::size_t{1});
        QVERIFY(left.value()[0].why.find("needs opset 22") != std::string::npos);
    }

    void aNewerModelIsRefused()
    {
        policy::Policy policy;
        const auto left = session::fitPolicy(table("tensorrt"), network(22), policy);
        QVERIFY(!left.ok());
        QCOMPARE(left.error().code, Errc::Unsupported);
        const auto read = session::checkOpset(table("tensorrt"), network(21).graph);
        QVERIFY(!read.ok());
        QCOMPARE(read.error().code, Errc::Unsupported);
        QVERIFY(session::checkOpset(table("ort"), network(21).graph).ok());
        QVERIFY(session::checkOpset(table("tensorrt"), network(20).graph).ok());
    }

    /// Statistics stay in float32 where they may, and OpenVINO takes one type only.
    void aNormalisationOfTwoTypesIsRefused()
    {
        const auto answer = [](int opset, DType type) {
            return table("openvino").answer("BatchNormalization", opset, type, true).isRefused();
        };
        QVERIFY(!answer(13, DType::F16));
        QVERIFY(answer(14, DType::F16) && answer(22, DType::BF16));
        QVERIFY(!table("openvino").answer("BatchNormalization", 22, DType::F16).isRefused());
        QCOMPARE(table("ort").answer("BatchNormalization", 22, DType::F16, true).type, DType::F32);
    }

    /// A convolution raises the model to the opset in which a normalisation has parameters of their own type.
    void theVersionIsThatOfTheWholeModel()
    {
        test::OnnxBuilder g(13);
        const graph::Entry x = g.input("x", "float32", "[1,2,4,4]");
        const graph::Entry w = g.input("w", "float32", "[2,2,1,1]");
        const graph::Entry v = g.input("v", "float32", "[2]");
        const graph::Entry conv = g.op("Conv", "conv", {}, {x, w});
        const graph::Entry last = g.op("BatchNormalization", "last", {}, {conv, v, v, v, v});
        policy::Policy policy;
        policy.target = DType::BF16;
        const auto left = session::fitPolicy(table("openvino"), {g.withHeads({last}), {}, true}, policy);
        QVERIFY(left.ok());
        QCOMPARE(policy.excludedNames, std::vector<std::string>{"last"});
    }

    /// Those that only run in another type are measured, not left out.
    void whatIsRefusedIsKnown()
    {
        policy::Policy policy;
        policy.target = DType::F16;
        const auto wide = session::refusedNodes("ort", network(17), policy);
        QVERIFY(wide.ok() && wide.value().empty());
        policy.target = DType::BF16;
        const auto refused = session::refusedNodes("ort", network(17), policy);
        QVERIFY(refused.ok());
        QCOMPARE(refused.value().size(), std::size_t{1});
        QCOMPARE(refused.value()[0].name, std::string("conv"));
        QVERIFY(session::refusedNodes("cpu", network(17), policy).value().empty());
    }

    void theFormOfCodesIsTheRuntimes()
    {
        QuantizeOptions options;
        options.asOperators = options.perChannel = true;
        QVERIFY(session::fitQuantization(table("ort"), options).empty());
        QVERIFY(options.asOperators);
        QCOMPARE(session::fitQuantization(table("openvino"), options).size(), std::size_t{1});
        QVERIFY(!options.asOperators);
        options.asOperators = true;
        options.perChannel = false;
        QVERIFY(session::fitQuantization(table("openvino"), options).empty());
    }

    void zeroPointsAreZeroForTensorRt()
    {
        QuantizeOptions options;
        options.asOperators = true;
        QCOMPARE(session::fitQuantization(table("tensorrt"), options).size(), std::size_t{2});
        QVERIFY(!options.asOperators && options.keepsBiases);
        QCOMPARE(options.codes, quantize::QuantizedCodes::Int8);
    }
};

QTEST_GUILESS_MAIN(ForRuntimeTest)
#include "tst_for_runtime.moc"
