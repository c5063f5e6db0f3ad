#include "core/quantize/quantize.h"
#include "tests/support/onnx_builder.h"

#include <QTest>

#include <algorithm>
#include <array>
#include <cmath>

using namespace halftone;
using tensor::DType;

namespace {

/// x times a matrix of one row an output, which is turned in the graph.
class TurnedProduct
{
public:
    TurnedProduct()
    {
        const auto x = m_builder.input("x", "float32", "[4,5,2]");
        const auto weight = m_builder.input("w", "float32", "[3,2]");
        m_turned = m_builder.op("Transpose", "turned", {{"perm", "[1,0]"}}, {weight});
        m_product = m_builder.op("MatMul", "y", {}, {x, m_turned});
    }

    graph::Entry turned() const { return m_turned; }
    graph::Entry product() const { return m_product; }

    graph::Model model(const std::vector<graph::Entry> &heads)
    {
        return {m_builder.withHeads(heads),
                {test::OnnxBuilder::floats("w", {3, 2}, {1, -4, 0.5F, 0.2F, -3, 0})},
                true};
    }

private:
    test::OnnxBuilder m_builder{13};
    graph::Entry m_turned;
    graph::Entry m_product;
};

} // namespace

/// What passes through pairs, by the definition of codes (core/quantize/RULES.md).
class TestPairs : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    /// Exporters write x · Wᵀ so: were the turned matrix data, its codes would be of uint8 with one scale, and W stay in float32.
    void aWeightBehindATransposeIsAWeight()
    {
        TurnedProduct network;
        quantize::QuantizeOptions options;
        options.perChannel = true;
        const auto made = quantize::quantize(network.model({network.product()}), options, {{"x", {-1, 1}}});
        QVERIFY2(made.ok(), made.ok() ? "" : made.error().message().c_str());
        const graph::Model &model = made.value().model;
        QCOMPARE(
            test::operatorsIn(model.graph),
            (std::vector<std::string>{"DequantizeLinear", "DequantizeLinear", "MatMul", "QuantizeLinear"}));
        std::vector<std::int8_t> codes;
        std::vector<float> steps;
        for (const tensor::Array &array : model.parameters) {
            QVERIFY(array.name != "w");
            if (array.values.shape() == tensor::Shape{2, 3})
                codes = array.values.values<std::int8_t>();
            else if (array.values.dtype() == DType::F32 && array.values.elementCount() == 3)
                steps = array.values.values<float>();
        }
        QCOMPARE(codes, (std::vector<std::int8_t>{32, 127, -127, -127, 51, 0})); // 127 · w / amax of the row
        QCOMPARE(steps.size(), 3U);
        for (std::size_t k = 0; k < 3; ++k)
            QVERIFY(std::abs(steps[k] * 127 - std::array{4.0F, 0.5F, 3.0F}[k]) < 1e-6);
    }

    void whoElseReadsTheTurnedMatrixStillDoes()
    {
        TurnedProduct network;
        const auto made
            = quantize::quantize(network.model({network.product(), network.turned()}), {}, {{"x", {-1, 1}}});
        QVERIFY2(made.ok(), made.ok() ? "" : made.error().message().c_str());
        const std::vector<std::string> ops = test::operatorsIn(made.value().model.graph);
        QCOMPARE(std::ranges::count(ops, "Transpose"), 1);
        QCOMPARE(std::ranges::count(ops, "QuantizeLinear"), 1);
        QVERIFY(std::ranges::find(made.value().model.parameters, "w", &tensor::Array::name)
                != made.value().model.parameters.end());
    }
};

QTEST_GUILESS_MAIN(TestPairs)
#include "tst_pairs.moc"
