#include "core/backends/backends.h"
#include "core/compare/layer_rows.h"
#include "core/graph/traverse.h"
#include "core/mixed/convert_model.h"
#include "tests/support/decoder_network.h"
#include "tests/support/onnx_builder.h"

#include <QTest>

#include <cmath>
#include <limits>
#include <map>
#include <string>

using namespace halftone;
using compare::Weighed;
using graph::Entry;
using graph::NodeId;
using tensor::Tensor;

namespace {

Tensor reals(tensor::Shape shape, const std::vector<float> &values)
{
    return test::OnnxBuilder::floats("x", std::move(shape), values).values;
}

NodeId named(const graph::Graph &graph, std::string_view name)
{
    for (NodeId id = 0; id < graph.nodeCount(); ++id)
        if (graph.node(id).name == name)
            return id;
    qFatal("no node %s", std::string(name).c_str());
}

} // namespace

/// What lies behind a mask has no weight after the softmax, and hides no error of what the mask lets through.
class TestMaskedValues : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void whatSoftmaxReadsAloneIsWeighed()
    {
        test::OnnxBuilder g(13);
        const Entry x = g.input("x", "float32", "[2,4]");
        const Entry mask = g.input("mask", "float32", "[2,4]");
        const auto add = [&](const char *name) { return g.op("Add", name, {}, {x, mask}); };
        const auto softmax = [&](const char *name, const Entry &of, const char *axis = "-1") {
            return g.op("Softmax", name, {{"axis", axis}}, {of});
        };
        const Entry plain = add("plain");
        const Entry cast = add("cast");
        const Entry both = add("both");
        const Entry output = add("output");
        const Entry log = add("log");
        const Entry second = add("second");
        const graph::Graph graph = g.withHeads(
            {softmax("s1", plain), softmax("s2", g.op("Cast", "half", {{"to", "1"}}, {cast})),
             softmax("s3", both), g.op("Relu", "relu", {}, {both}), softmax("s4", output), output,
             g.op("LogSoftmax", "s5", {{"axis", "-1"}}, {log}), softmax("s6", second, "0")});
        const std::vector<Weighed> weighed = compare::weighedValues(graph);
        const Weighed last{104, -1};
        QVERIFY(weighed[plain.node] == last);
        QVERIFY(weighed[cast.node] == last);
        QVERIFY(weighed[second.node] == (Weighed{104, 0}));
        for (const Entry &all : {both, output, log, x, mask})
            QVERIFY(weighed[all.node] == Weighed{});
    }

    /// Values by the definition: three places of the first row and four of the second count.
    void placesWithoutWeightAreLeftOut()
    {
        const float inf = std::numeric_limits<float>::infinity();
        const Tensor r = reals({2, 4}, {1, 2, -1e9F, 3, 1, 2, 3, -100});
        const Tensor x = reals({2, 4}, {1.5F, 2, -inf, 3, 1, 2, 3, -100.5F});
        tensor::ErrorMetrics metrics;
        QCOMPARE(compare::addErrors(r, x, metrics, 1, {104, -1}), std::uint64_t{0});
        const tensor::ErrorFigures weighed = metrics.figures();
        QCOMPARE(weighed.count, std::uint64_t{7});
        QCOMPARE(weighed.overflow, std::uint64_t{0});
        QCOMPARE(weighed.maxAbs, 0.5);
        const double signal = 1 + 4 + 9 + 1 + 4 + 9 + 10000;
        QVERIFY(std::abs(weighed.sqnrDb - 10 * std::log10(signal / 0.5)) < 1e-9);

        // Another axis, or a value that something else reads: every place counts.
        tensor::ErrorMetrics all;
        QVERIFY(compare::addErrors(r, x, all, 1, {104, 0}).has_value());
        QCOMPARE(all.figures().count, std::uint64_t{8});
        QCOMPARE(all.figures().overflow, std::uint64_t{1});

        // Where the other model lets through what the mask hides, that is an error.
        tensor::ErrorMetrics open;
        const Tensor leak = reals({2, 4}, {1, 2, 0, 3, 1, 2, 3, -100});
        QVERIFY(compare::addErrors(r, leak, open, 1, {104, -1}).has_value());
        QCOMPARE(open.figures().count, std::uint64_t{8});
        QCOMPARE(open.figures().maxAbs, 1e9);
    }

    /// A causal mask of -1e9 is infinite in float16: each block's sum is judged like the scores that go into it.
    void aDecodersMaskedSumsAreJudgedWhereTheMaskLetsThrough()
    {
        test::DecoderSize size;
        size.blocks = 2;
        size.length = 8;
        const graph::Model model = test::decoderNetwork(size);
        policy::Policy policy;
        auto converted = mixed::convertModel(model, policy, false);
        QVERIFY2(converted.ok(), converted.ok() ? "" : converted.error().message().c_str());
        const auto chain = backends::backendChain("reference", 1);
        QVERIFY(chain.ok());
        const compare::ComparedModels models
            = compare::convertedPair(model, converted.value().model, converted.value().conversion);
        compare::CompareSettings settings;
        auto compare = compare::LayerCompare::create(models, chain.value(), settings);
        QVERIFY(compare.ok());
        const std::vector<std::int64_t> tokens{3, 14, 15, 92, 65, 35, 89, 79};
        std::vector<std::byte> bytes(tokens.size() * sizeof(std::int64_t));
        std::memcpy(bytes.data(), tokens.data(), bytes.size());
        interpret::Feed feed;
        feed["tokens"] = Tensor::owning(tensor::DType::I64, {1, 8}, std::move(bytes));
        const auto added = compare.value().add(feed);
        QVERIFY2(added.ok(), added.ok() ? "" : added.error().message().c_str());
        const compare::Comparison result = compare.value().result();
        const auto figures = [&](std::string_view name) {
            const NodeId node = named(model.graph, name);
            for (const compare::LayerErrors &layer : result.layers)
                if (layer.node == node)
                    return *layer.cumulative;
            qFatal("no figures");
        };
        // Of the 144 sums that the mask lets through, those of the first block that ONNX Runtime puts over 104 below their row's largest are 4.
        const std::map<std::string, std::uint64_t> weighed{{"/model/layers.0", 140},
                                                           {"/model/layers.1", 144}};
        for (const auto &[block, count] : weighed) {
            const tensor::ErrorFigures scores = figures(block + "/self_attn/Div");
            const tensor::ErrorFigures masked = figures(block + "/self_attn/Add");
            QCOMPARE(scores.count, std::uint64_t{4 * 8 * 8});
            QCOMPARE(masked.count, count);
            QCOMPARE(masked.overflow, std::uint64_t{0});
            QVERIFY2(std::abs(masked.sqnrDb - scores.sqnrDb) < 12,
                     qPrintable(QStringLiteral("%1 and %2 dB").arg(masked.sqnrDb).arg(scores.sqnrDb)));
        }
    }
};

QTEST_GUILESS_MAIN(TestMaskedValues)
#include "tst_masked_values.moc"
