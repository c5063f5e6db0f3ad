#include "core/backends/backends.h"
#include "core/compare/int8_layer.h"
#include "core/compare/kept_compare.h"
#include "core/mixed/convert_model.h"
#include "tests/support/build_graph.h"

#include <QTest>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <functional>

using namespace halftone;
using graph::NodeId;
using tensor::DType;

namespace {

constexpr std::size_t kChannels = 4;
constexpr std::size_t kExamples = 6;
constexpr double kData = 1.25; ///< magnitudes of ranges
constexpr double kFirst = 2.5;
constexpr double kSecond = 3.75;

using Values = std::vector<double>; ///< of kExamples rows of kChannels
using Matrix = std::array<std::array<double, kChannels>, kChannels>;

tensor::Tensor tensorOf(const std::vector<float> &values, const tensor::Shape &shape)
{
    std::vector<std::byte> bytes(values.size() * sizeof(float));
    std::memcpy(bytes.data(), values.data(), bytes.size());
    return tensor::Tensor::owning(DType::F32, shape, std::move(bytes));
}

double weightAt(int layer, std::size_t row, std::size_t column)
{
    return static_cast<float>(0.6
                              * std::sin(1 + 3.1 * layer + 1.7 * static_cast<double>(row)
                                         + 0.9 * static_cast<double>(row * column)));
}

Matrix weightsOf(int layer)
{
    Matrix weights{};
    for (std::size_t row = 0; row < kChannels; ++row)
        for (std::size_t column = 0; column < kChannels; ++column)
            weights[row][column] = weightAt(layer, row, column);
    return weights;
}

Values dataValues()
{
    Values values(kExamples * kChannels);
    for (std::size_t i = 0; i < values.size(); ++i)
        values[i] = static_cast<float>(1.2 * std::sin(static_cast<double>(i * i) + 0.3));
    return values;
}

/// Convolutions of one pixel are products with a matrix: conv0, relu0, conv1, sum with relu0, relu1.
graph::Model network()
{
    test::GraphBuilder g;
    std::vector<tensor::Array> parameters;
    const auto conv = [&](int layer, graph::Entry x) {
        const std::string name = "conv" + std::to_string(layer);
        std::vector<float> values;
        for (std::size_t i = 0; i < kChannels * kChannels; ++i)
            values.push_back(static_cast<float>(weightAt(layer, i / kChannels, i % kChannels)));
        tensor::Array array;
        array.name = "arg:" + name + "_weight";
        array.shape = {4, 4, 1, 1};
        array.values = tensorOf(values, array.shape);
        parameters.push_back(std::move(array));
        return g.op("Convolution", name, {x, g.variable(name + "_weight")},
                    {{"kernel", "(1, 1)"}, {"num_filter", "4"}, {"no_bias", "True"}});
    };
    const auto relu = [&](const char *name, graph::Entry x) {
        return g.op("Activation", name, {x}, {{"act_type", "relu"}});
    };
    const auto first = relu("relu0", conv(0, g.variable("data")));
    const auto sum = g.op("elemwise_add", "sum", {conv(1, first), first});
    graph::Model model = g.model({relu("relu1", sum)});
    model.parameters = std::move(parameters);
    model.hasParameters = true;
    return model;
}

Values product(const Matrix &weights, const Values &x)
{
    Values y(x.size());
    for (std::size_t i = 0; i < x.size(); ++i)
        for (std::size_t k = 0; k < kChannels; ++k)
            y[i] += weights[i % kChannels][k] * x[i / kChannels * kChannels + k];
    return y;
}

Values each(const Values &a, const std::function<double(double)> &function)
{
    Values made;
    std::ranges::transform(a, std::back_inserter(made), function);
    return made;
}

Values plus(const Values &a, const Values &b)
{
    Values sum;
    std::ranges::transform(a, b, std::back_inserter(sum), std::plus<>());
    return sum;
}

Values rectified(const Values &x)
{
    return each(x, [](double value) { return std::max(value, 0.0); });
}

/// To codes and back (core/quantize/RULES.md, Q-quantize).
Values coded(const Values &x, double most, bool isSigned)
{
    const double step = most / (isSigned ? 127.5 : 255.5);
    return each(x, [&](double value) {
        return step
            * std::clamp(std::nearbyint(value / step), isSigned ? -128.0 : 0.0, isSigned ? 127.0 : 255.0);
    });
}

/// Each output channel of weights with a scale of its own.
Matrix codedWeights(Matrix weights)
{
    for (auto &row : weights) {
        double most = 0;
        for (const double value : row)
            most = std::max(most, std::abs(value));
        for (double &value : row)
            value = std::clamp(std::nearbyint(value * 127.5 / most), -128.0, 127.0) * most / 127.5;
    }
    return weights;
}

struct Figures
{
    double rmse = 0;
    double most = 0;
};

Figures figuresOf(const Values &reference, const Values &other)
{
    Figures figures;
    for (std::size_t i = 0; i < reference.size(); ++i) {
        const double d = std::abs(reference[i] - other[i]);
        figures.most = std::max(figures.most, d);
        figures.rmse += d * d / static_cast<double>(reference.size());
    }
    figures.rmse = std::sqrt(figures.rmse);
    return figures;
}

bool isThat(const std::optional<tensor::ErrorFigures> &got, const Figures &want)
{
    if (!got)
        return false;
    qInfo("rmse %.8f, of the definition %.8f", got->rmse, want.rmse);
    return want.rmse > 0 && std::abs(got->rmse - want.rmse) < 1e-4 * want.rmse
        && std::abs(got->maxAbs - want.most) < 1e-4 * want.most;
}

compare::ComparedModels pairOf(const graph::Model &model)
{
    policy::Policy policy;
    policy.target = DType::BF16;
    policy.int8Ops = {{"Convolution"}};
    const auto range = [](double low, double high) {
        return quantize::QuantizedRange{static_cast<float>(low), static_cast<float>(high)};
    };
    const quantize::QuantizedRanges ranges{
        {"data", range(-kData, 1)}, {"relu0_output", range(0, kFirst)}, {"relu1_output", range(0, kSecond)}};
    auto converted = mixed::convertModel(model, policy, false, {}, nullptr, &ranges);
    if (!converted.ok())
        qFatal("%s", converted.error().message().c_str());
    return compare::convertedPair(model, converted.value().model, converted.value().conversion);
}

const compare::LayerErrors &rowOf(const compare::Comparison &comparison, const graph::Graph &graph,
                                  const char *name)
{
    for (const compare::LayerErrors &row : comparison.layers)
        if (graph.node(row.node).name == name)
            return row;
    qFatal("no row %s", name);
    return comparison.layers[0];
}

} // namespace

class TestInt8Layer : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void theEffectOfAnInt8LayerIsThatOfTheDefinition_data()
    {
        QTest::addColumn<bool>("kept");
        QTest::newRow("at once") << false;
        QTest::newRow("kept") << true;
    }
    void theEffectOfAnInt8LayerIsThatOfTheDefinition()
    {
        QFETCH(bool, kept);
        const graph::Model model = network();
        const compare::ComparedModels pair = pairOf(model);
        const auto chain = backends::backendChain("reference", 1).value();
        const Values data = dataValues();
        const interpret::Feed feed{{"data", tensorOf({data.begin(), data.end()}, {6, 4, 1, 1})}};
        compare::CompareSettings settings;
        settings.isolated = true;
        compare::Comparison comparison;
        if (kept) {
            auto compare = compare::KeptCompare::create(model, {feed}, chain).value();
            auto answer = compare.compare(pair, settings);
            QVERIFY2(answer.ok() && answer.value(), answer.ok() ? "" : answer.error().message().c_str());
            comparison = answer.value()->comparison;
            QVERIFY(compare.compare(pair, settings).ok());
            QCOMPARE(compare.computedNodes(), std::size_t{0});
        } else {
            auto compare = compare::LayerCompare::create(pair, chain, settings);
            QVERIFY2(compare.ok(), compare.ok() ? "" : compare.error().message().c_str());
            QVERIFY(compare.value().add(feed).ok());
            comparison = compare.value().result();
        }
        const Matrix first = weightsOf(0);
        const Matrix second = weightsOf(1);
        const auto rest = [&](const Values &x) { return rectified(plus(product(second, x), x)); };
        const Values relu0 = rectified(product(first, data));
        const Values relu1 = rest(relu0);
        const Values relu0Alone
            = coded(rectified(product(codedWeights(first), coded(data, kData, true))), kFirst, false);
        const Values codes = coded(relu0, kFirst, false);
        const Values relu1Alone
            = coded(rectified(plus(product(codedWeights(second), codes), codes)), kSecond, false);

        const auto &row0 = rowOf(comparison, model.graph, "relu0");
        const auto &row1 = rowOf(comparison, model.graph, "relu1");
        QVERIFY(isThat(row0.isolated, figuresOf(relu0, relu0Alone)));
        QVERIFY(isThat(row0.isolatedAtOutputs, figuresOf(relu1, rest(relu0Alone))));
        QVERIFY(isThat(row1.isolated, figuresOf(relu1, relu1Alone)));
        QVERIFY(isThat(row1.isolatedAtOutputs, figuresOf(relu1, relu1Alone)));
    }

    void theOthersOfAFusedLayerHaveNone()
    {
        const graph::Model model = network();
        const compare::ComparedModels pair = pairOf(model);
        for (NodeId id = 0; id < model.graph.nodeCount(); ++id) {
            const std::string &name = model.graph.node(id).name;
            const bool isLayer = name == "relu0" || name == "relu1";
            QCOMPARE(compare::int8Layer(pair, id).has_value(), isLayer);
            if (!model.graph.isVariable(id))
                QVERIFY(pair.int8Group[id] != rewrite::kNoNode && (pair.int8Group[id] == id) == isLayer);
        }
    }
};

QTEST_APPLESS_MAIN(TestInt8Layer)
#include "tst_int8_layer.moc"
