#include "core/base/text.h"
#include "core/dialect/mxnet/cpu_arithmetic.h"
#include "core/quantize/quantize.h"
#include "tests/support/build_graph.h"

#include <QTest>

#include <algorithm>

using namespace halftone;
using quantize::QuantizedForm;
using test::GraphBuilder;

/// What MXNet 1.9.1 was seen to refuse, or to compute otherwise than it says, is not written (core/quantize/RULES.md,
/// Q-sum-above to Q-plain-conv).
namespace {

constexpr int kChannels = 2;

tensor::Array shaped(tensor::Array array, const tensor::Shape &shape)
{
    const auto bytes = array.values.bytes();
    array.shape = shape;
    array.values = tensor::Tensor::owning(tensor::DType::F32, shape, {bytes.begin(), bytes.end()});
    return array;
}

class Network
{
public:
    graph::Entry data(const std::string &name = "data") { return m_builder.variable(name); }

    graph::Entry conv(const std::string &name, graph::Entry x, int groups = 1, int filters = kChannels)
    {
        const auto count = static_cast<std::size_t>(filters * kChannels / groups);
        m_parameters.push_back(
            shaped(test::floatArray("arg:" + name + "_weight", std::vector<float>(count, 0.5F)),
                   {filters, kChannels / groups, 1, 1}));
        return m_builder.op("Convolution", name, {x, m_builder.variable(name + "_weight")},
                            {{"kernel", "(1, 1)"},
                             {"num_filter", std::to_string(filters)},
                             {"num_group", std::to_string(groups)},
                             {"no_bias", "True"}});
    }
    graph::Entry relu(const std::string &name, graph::Entry x)
    {
        return m_builder.op("Activation", name, {x}, {{"act_type", "relu"}});
    }
    graph::Entry op(const std::string &op, const std::string &name, std::vector<graph::Entry> inputs,
                    graph::Attributes attributes = {})
    {
        return m_builder.op(op, name, std::move(inputs), std::move(attributes));
    }
    graph::Entry norm(const std::string &name, graph::Entry x, float gamma)
    {
        std::vector<graph::Entry> inputs{x};
        for (const char *part : {"gamma", "beta", "mean", "var"}) {
            const std::string parameter = name + '_' + part;
            const float value = part == std::string("gamma") ? gamma : 1;
            m_parameters.push_back(test::floatArray("arg:" + parameter, {value, value}));
            inputs.push_back(m_builder.variable(parameter));
        }
        return m_builder.op("BatchNorm", name, inputs, {{"fix_gamma", "True"}});
    }

    graph::Model model(graph::Entry head)
    {
        graph::Model model = m_builder.model({head});
        model.parameters = m_parameters;
        model.hasParameters = true;
        return model;
    }

private:
    GraphBuilder m_builder;
    std::vector<tensor::Array> m_parameters;
};

/// -4..4 for every tensor, 0..4 for those named.
quantize::QuantizedRanges rangesOf(const graph::Model &model, const quantize::QuantizeOptions &options,
                                   const std::vector<std::string> &positive)
{
    const auto planned = quantize::planQuantization(model, options);
    if (!planned.ok())
        qFatal("%s", planned.error().message().c_str());
    quantize::QuantizedRanges ranges;
    for (const quantize::ObservedTensor &tensor : planned.value().observed) {
        const bool isPositive = std::ranges::find(positive, tensor.source) != positive.end();
        ranges[tensor.source] = {isPositive ? 0.0F : -4.0F, 4.0F};
    }
    return ranges;
}

quantize::QuantizedModel quantized(const graph::Model &model, quantize::QuantizeOptions options,
                                   const std::vector<std::string> &positive = {})
{
    options.isFull = true;
    const quantize::QuantizedRanges ranges
        = options.isCalibrated ? rangesOf(model, options, positive) : quantize::QuantizedRanges();
    auto made = quantize::quantize(model, options, ranges);
    if (!made.ok())
        qFatal("%s", made.error().message().c_str());
    return std::move(made).value();
}

const graph::NodeDef *nodeWith(const graph::Graph &graph, const std::string &op,
                               const char *attribute = nullptr)
{
    for (graph::NodeId id = 0; id < graph.nodeCount(); ++id) {
        const graph::NodeDef &node = graph.node(id);
        if (node.op == op && (attribute == nullptr || node.attributes.find(attribute)))
            return &node;
    }
    return nullptr;
}

std::string whyReal(const quantize::QuantizedModel &made, const std::string &name)
{
    const auto found = std::ranges::find(made.skipped, name, &quantize::SkippedNode::name);
    return found == made.skipped.end() ? std::string() : found->why;
}

bool warnsOf(const quantize::QuantizedModel &made, const std::string &node)
{
    return std::ranges::any_of(made.warnings, [&](const policy::Warning &warning) {
        return warning.entry == "node \"" + node + '"';
    });
}

} // namespace

class TestFaithful : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    /// MXNet cuts the result at code 127: half of the codes must hold all values.
    void aSumOfAnInt8AddendBeforeAReluUsesHalfOfTheCodes()
    {
        Network net;
        const auto x = net.data();
        const auto sum = net.op("elemwise_add", "sum", {net.conv("left", x), net.conv("right", x)});
        const auto made
            = quantized(net.model(net.conv("last", net.relu("positive", sum))), {}, {"positive_output"});
        const graph::NodeDef *const node = nodeWith(made.model.graph, "_sg_mkldnn_conv", "with_sum");
        QVERIFY(node != nullptr);
        QVERIFY(node->attributes.find("with_postsum_act") != nullptr);
        QCOMPARE(*node->attributes.find("__most_code__"), std::string("127"));
        const double high = *parseReal(*node->attributes.find("max_calib_range"));
        QVERIFY(std::abs(high - 4 * 255.5 / 127.5) < 1e-5);
        QVERIFY(made.warnings.empty());
        // What was calibrated is told as it was found.
        const auto told = std::ranges::find_if(made.thresholds, [](const auto &threshold) {
            return threshold.tensor.source == "positive_output";
        });
        QCOMPARE(told->range.high, 4.0F);
    }

    void aSumOfAUint8AddendBeforeAReluUsesAll()
    {
        Network net;
        const auto x = net.relu("first_relu", net.conv("first", net.data()));
        const auto sum = net.op("elemwise_add", "sum", {net.conv("left", x), x});
        const auto made = quantized(net.model(net.conv("last", net.relu("positive", sum))), {},
                                    {"first_relu_output", "positive_output"});
        const graph::NodeDef *const node = nodeWith(made.model.graph, "_sg_mkldnn_conv", "with_sum");
        QVERIFY(node != nullptr && node->attributes.find("__most_code__") == nullptr);
        QCOMPARE(*node->attributes.find("max_calib_range"), std::string("4.000000"));
    }

    void aSumOfAUint8AddendStaysApartWithoutARelu()
    {
        Network net;
        const auto x = net.relu("first_relu", net.conv("first", net.data()));
        const auto sum = net.op("elemwise_add", "sum", {net.conv("left", x), x});
        const auto made = quantized(net.model(net.conv("last", sum)), {}, {"first_relu_output"});
        QVERIFY(nodeWith(made.model.graph, "_sg_mkldnn_conv", "with_sum") == nullptr);
        QVERIFY(nodeWith(made.model.graph, "_contrib_quantized_elemwise_add") != nullptr);
        QVERIFY2(made.notes.empty(),
                 made.notes.empty() ? "" : made.notes[0].c_str()); // every range was asked for
        QVERIFY(made.warnings.empty());
    }

    void spoiltActivationsAreNotFused_data()
    {
        QTest::addColumn<QString>("kind");
        QTest::addColumn<bool>("isConv");
        QTest::addColumn<bool>("isCalibrated");
        QTest::addColumn<bool>("isFused");
        QTest::newRow("conv gelu") << "gelu" << true << true << false;
        QTest::newRow("conv leaky") << "leaky" << true << true << true;
        QTest::newRow("conv clip") << "clip" << true << true << true;
        QTest::newRow("conv clip uncalibrated") << "clip" << true << false << false;
        QTest::newRow("full leaky") << "leaky" << false << true << false;
        QTest::newRow("full leaky uncalibrated") << "leaky" << false << false << true;
        QTest::newRow("full gelu") << "gelu" << false << true << true;
        QTest::newRow("full gelu uncalibrated") << "gelu" << false << false << false;
        QTest::newRow("full elu uncalibrated") << "elu" << false << false << false;
        QTest::newRow("full clip uncalibrated") << "clip" << false << false << false;
    }

    void spoiltActivationsAreNotFused()
    {
        QFETCH(QString, kind);
        QFETCH(bool, isConv);
        QFETCH(bool, isCalibrated);
        QFETCH(bool, isFused);
        GraphBuilder builder;
        const auto weight = builder.variable("weight");
        const auto product = isConv
            ? builder.op("Convolution", "product", {builder.variable("data"), weight},
                         {{"kernel", "(1, 1)"}, {"num_filter", "1"}, {"no_bias", "True"}})
            : builder.op("FullyConnected", "product", {builder.variable("data"), weight},
                         {{"num_hidden", "1"}, {"no_bias", "True"}});
        const auto activation = kind == "clip"
            ? builder.op("clip", "activation", {product}, {{"a_min", "0"}, {"a_max", "6"}})
            : builder.op("LeakyReLU", "activation", {product}, {{"act_type", kind.toStdString()}});
        graph::Model model = builder.model({activation});
        tensor::Array one = test::floatArray("arg:weight", {1});
        model.parameters = {one};
        model.hasParameters = true;
        quantize::QuantizeOptions options;
        options.isCalibrated = isCalibrated;
        const auto made = quantized(model, options);
        QCOMPARE(nodeWith(made.model.graph, kind == "clip" ? "clip" : "LeakyReLU") == nullptr, isFused);
        QVERIFY(made.warnings.empty());
    }

    /// Codes of MXNet's calibrated products wrap around.
    void aProductBecomesCodesByANodeOfItsOwn()
    {
        Network net;
        const auto x = net.data();
        const auto product = net.op("elemwise_mul", "product", {net.conv("left", x), net.conv("right", x)});
        const auto made = quantized(net.model(net.conv("last", product)), {});
        const graph::NodeDef *const node = nodeWith(made.model.graph, "_contrib_quantized_elemwise_mul");
        QVERIFY(node != nullptr && node->attributes.find("max_calib_range") == nullptr);
        const graph::NodeDef *const codes = nodeWith(made.model.graph, "_contrib_requantize");
        QVERIFY(codes != nullptr && codes->attributes.find("max_calib_range") != nullptr);
    }

    /// MXNet takes scales of other channels for groups of several filters; of one it takes the right ones.
    void groupsOfSeveralFiltersBecomeCodesByANodeOfTheirOwn()
    {
        for (const int filters : {kChannels, 2 * kChannels}) {
            Network net;
            const auto grouped = net.relu("positive", net.conv("grouped", net.data(), kChannels, filters));
            const auto made = quantized(net.model(grouped), {}, {"positive_output"});
            const graph::NodeDef *const node = nodeWith(made.model.graph, "_sg_mkldnn_conv", "with_act");
            QVERIFY(node != nullptr);
            QCOMPARE(node->attributes.find("max_calib_range") != nullptr, filters == kChannels);
            const graph::NodeDef *const codes = nodeWith(made.model.graph, "_contrib_requantize");
            QCOMPARE(codes == nullptr, filters == kChannels);
            QVERIFY(codes == nullptr || *codes->attributes.find("min_calib_range") == "0.000000");
            QVERIFY(made.warnings.empty());
        }
    }

    void aClipBehindGroupsOfSeveralFiltersIsNotFused()
    {
        for (const int filters : {kChannels, 2 * kChannels}) {
            Network net;
            const auto bounded
                = net.op("clip", "bounded", {net.conv("grouped", net.data(), kChannels, filters)},
                         {{"a_min", "0"}, {"a_max", "6"}});
            const auto made = quantized(net.model(bounded), {}, {"bounded_output"});
            QCOMPARE(nodeWith(made.model.graph, "clip") == nullptr, filters == kChannels);
        }
    }

    void aFileWhoseGroupsKnowTheirRangeIsWarnedOf()
    {
        GraphBuilder body;
        const auto conv
            = body.op("Convolution", "conv", {body.variable("x"), body.variable("w")},
                      {{"kernel", "(1, 1)"}, {"num_filter", "4"}, {"num_group", "2"}, {"no_bias", "True"}});
        graph::NodeDef def{"_sg_mkldnn_conv",
                           "fused",
                           {{"quantized", "true"}, {"min_calib_range", "-1"}, {"max_calib_range", "1"}},
                           {std::make_shared<const graph::Graph>(body.withHeads({conv}))}};
        const auto defect = dialect::mxnet::int8Defect(def, {}, {});
        QVERIFY(defect && defect->text.find("groups") != std::string::npos);
        def.attributes = {{"quantized", "true"}};
        QVERIFY(!dialect::mxnet::int8Defect(def, {}, {}));
    }

    void dataMayBeOfTheTypeThatTheirReadersGive()
    {
        Network net;
        const auto places = net.op("topk", "places", {net.conv("first", net.data())}, {{"dtype", "float64"}});
        const graph::Model model = net.model(
            net.op("broadcast_mul", "scaled", {places, net.op("exp", "other", {net.data("wide")})}));
        QVERIFY(!quantized(model, {}).quantized.empty());
    }

    void aProductOfUint8CodesStaysReal()
    {
        Network net;
        const auto x = net.data();
        const auto left = net.relu("positive", net.conv("left", x));
        const auto product = net.op("elemwise_mul", "product", {left, net.conv("right", x)});
        const auto made = quantized(net.model(net.conv("last", product)), {}, {"positive_output"});
        QVERIFY(nodeWith(made.model.graph, "elemwise_mul") != nullptr);
        QVERIFY(whyReal(made, "product").find("uint8") != std::string::npos);
        QVERIFY(made.warnings.empty());
    }

    void aBatchNormWhoseFixedGammaIsNotOneStaysReal()
    {
        for (const float gamma : {1.0F, 2.0F}) {
            Network net;
            const auto pooled = net.op("Pooling", "pool", {net.conv("first", net.data())},
                                       {{"kernel", "(1, 1)"}, {"pool_type", "max"}});
            const auto made = quantized(net.model(net.conv("last", net.norm("norm", pooled, gamma))), {});
            QCOMPARE(whyReal(made, "norm").empty(), gamma == 1);
        }
    }

    /// MXNet's int8 averages are over the whole kernel where windows reach beyond the padding, its float32 ones are not.
    void anAverageThatMayReachBeyondThePaddingStaysReal()
    {
        for (const char *convention : {"valid", "full"}) {
            Network net;
            const auto pooled
                = net.op("Pooling", "pool", {net.conv("first", net.data())},
                         {{"kernel", "(2, 2)"}, {"pool_type", "avg"}, {"pooling_convention", convention}});
            const auto made = quantized(net.model(net.conv("last", pooled)), {});
            QCOMPARE(whyReal(made, "pool").empty(), std::string(convention) == "valid");
        }
    }

    void dataBelowZeroAreInt8AlsoWhereUint8IsAskedFor()
    {
        quantize::QuantizeOptions options;
        options.codes = quantize::QuantizedCodes::UInt8;
        for (const bool isPositive : {true, false}) {
            Network net;
            const graph::Model model = net.model(net.conv("only", net.data()));
            const auto made = isPositive ? quantized(model, options, {"data"}) : quantized(model, options);
            const graph::NodeDef *const node = nodeWith(made.model.graph, "_contrib_quantize_v2");
            QCOMPARE(*node->attributes.find("out_type"), std::string(isPositive ? "uint8" : "int8"));
            QVERIFY(made.warnings.empty());
            QCOMPARE(made.notes.empty(), isPositive);
            QVERIFY(isPositive || made.notes[0].find("data") != std::string::npos);
        }
    }

    void plainConvolutionsAreWarnedOfByName()
    {
        quantize::QuantizeOptions options;
        options.form = QuantizedForm::Plain;
        Network net;
        const auto made = quantized(net.model(net.conv("second", net.conv("first", net.data()), 2)), options);
        QVERIFY(warnsOf(made, "quantized_first"));
        QVERIFY(warnsOf(made, "quantized_second"));
        QVERIFY(std::ranges::any_of(made.warnings, [](const policy::Warning &warning) {
            return warning.text.find("grouped") != std::string::npos;
        }));
    }
};

QTEST_APPLESS_MAIN(TestFaithful)
#include "tst_faithful.moc"
