#include "core/dialect/registry.h"
#include "core/quantize/correct_biases.h"
#include "tests/support/build_graph.h"

#include <QTest>

#include <cmath>
#include <memory>

using namespace halftone;

namespace {

std::vector<float> valuesOf(const graph::Model &model, std::string_view name)
{
    for (const tensor::Array &array : model.parameters) {
        if (dialect::dialectNamed("mxnet")->variableOf(array.name) == name)
            return array.values.values<float>();
    }
    return {};
}

/// A 1×1 convolution of two channels to one, whose weight 0.3 has no code of its own.
graph::Graph convolution(bool hasBias, bool hasNorm)
{
    test::GraphBuilder g;
    std::vector<graph::Entry> inputs{g.variable("data"), g.variable("w")};
    if (hasBias)
        inputs.push_back(g.variable("b"));
    graph::Entry last
        = g.op("Convolution", "conv", inputs,
               {{"kernel", "(1, 1)"}, {"num_filter", "1"}, {"no_bias", hasBias ? "False" : "True"}});
    if (hasNorm)
        last = g.op("BatchNorm", "bn",
                    {last, g.variable("gamma"), g.variable("beta"), g.variable("mean"), g.variable("var")},
                    {{"eps", "1"}, {"fix_gamma", "False"}});
    return g.withHeads({last});
}

graph::Model modelOf(graph::Graph graph)
{
    graph::Model model;
    model.graph = std::move(graph);
    tensor::Array weight = test::floatArray("arg:w", {1.0F, 0.3F});
    weight.shape = {1, 2, 1, 1};
    weight.values = tensor::Tensor(tensor::DType::F32, weight.shape, weight.values.bytes(),
                                   std::make_shared<tensor::Tensor>(weight.values));
    model.parameters = {std::move(weight),
                        test::floatArray("arg:b", {0.5F}),
                        test::floatArray("arg:gamma", {4}),
                        test::floatArray("arg:beta", {-1}),
                        test::floatArray("aux:mean", {7}),
                        test::floatArray("aux:var", {3})};
    model.hasParameters = true;
    return model;
}

quantize::Int8Product productOf(const graph::Graph &graph)
{
    for (graph::NodeId id = 0; id < graph.nodeCount(); ++id) {
        if (graph.node(id).op == "Convolution")
            return {id, "data", true};
    }
    return {};
}

/// By hand: codes 127 and 38 of 127.5 steps a unit; the data's second channel loses a quarter of its mean in its codes.
const std::unordered_map<std::string, quantize::FeatureMeans> kMeans{{"data", {{1, 2}, {1, 1.5}}}};
constexpr double kShift = (127 / 127.5 * 1 + 38 / 127.5 * 1.5) - (1.0 * 1 + 0.3 * 2);

} // namespace

class TestCorrectBiases : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void aBiasLosesTheMeanError()
    {
        const graph::Model model = modelOf(convolution(true, true));
        const auto corrected = quantize::correctBiases(model, {productOf(model.graph)}, kMeans);
        QVERIFY(corrected.ok());
        QCOMPARE(corrected.value().corrected, std::size_t{1});
        QVERIFY(std::abs(valuesOf(corrected.value().model, "b")[0] - (0.5 - kShift)) < 1e-6);
        QCOMPARE(valuesOf(corrected.value().model, "beta")[0], -1.0F);
        QCOMPARE(valuesOf(model, "b")[0], 0.5F); // the given model stays
    }

    void withoutABiasTheNormBehindLosesItScaled()
    {
        const graph::Model model = modelOf(convolution(false, true));
        const auto corrected = quantize::correctBiases(model, {productOf(model.graph)}, kMeans);
        QVERIFY(corrected.ok());
        // gamma / sqrt(var + eps) = 4 / 2
        QVERIFY(std::abs(valuesOf(corrected.value().model, "beta")[0] - (-1 - 2 * kShift)) < 1e-6);
        QCOMPARE(valuesOf(corrected.value().model, "mean")[0], 7.0F);
    }

    void aLayerWithoutEitherIsTold()
    {
        const graph::Model model = modelOf(convolution(false, false));
        const auto corrected = quantize::correctBiases(model, {productOf(model.graph)}, kMeans);
        QVERIFY(corrected.ok());
        QCOMPARE(corrected.value().corrected, std::size_t{0});
        QCOMPARE(corrected.value().notes.size(), std::size_t{1});
        QVERIFY(corrected.value().notes[0].starts_with("conv: "));
    }

    void meansOfAnotherSizeChangeNothing()
    {
        const graph::Model model = modelOf(convolution(true, false));
        const auto corrected
            = quantize::correctBiases(model, {productOf(model.graph)}, {{"data", {{1, 2, 3}, {1, 2, 3}}}});
        QVERIFY(corrected.ok());
        QCOMPARE(corrected.value().corrected, std::size_t{0});
        QCOMPARE(valuesOf(corrected.value().model, "b")[0], 0.5F);
    }
};

QTEST_GUILESS_MAIN(TestCorrectBiases)
#include "tst_correct_biases.moc"
