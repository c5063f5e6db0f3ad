#include "core/infer/infer_shapes.h"
#include "core/mixed/convert_model.h"
#include "core/tune/adopt.h"
#include "core/tune/grouping.h"
#include "tests/support/build_graph.h"

#include <QTest>

#include <string>
#include <unordered_map>
#include <vector>

using namespace halftone;
using tensor::DType;
using tune::Label;
using tune::Labels;

namespace {

constexpr unsigned kTunable = 5;

/// A stem, two convolutions beside it whose sum goes on, and two that read the sum.
graph::Model residual()
{
    test::GraphBuilder g;
    const auto conv = [&g](const std::string &name, graph::Entry x) {
        return g.op("Convolution", name, {x, g.variable(name + "_weight")},
                    {{"kernel", "(3, 3)"}, {"pad", "(1, 1)"}, {"num_filter", "4"}, {"no_bias", "True"}});
    };
    const graph::Entry stem = conv("stem", g.variable("data"));
    const graph::Entry second = conv("second", conv("first", stem));
    const graph::Entry sum = g.op("elemwise_add", "sum", {second, stem});
    const graph::Entry out = g.op("Activation", "relu", {sum}, {{"act_type", "relu"}});
    return g.model({conv("left", out), conv("right", sum)});
}

/// As a backend fuses them, each a microsecond.
latency::Latency latency()
{
    latency::Latency latency;
    const std::vector<std::vector<std::string>> steps{{"stem"}, {"first"}, {"second", "sum"},
                                                      {"relu"}, {"left"},  {"right"}};
    for (const auto &nodes : steps) {
        latency::LayerLatency &layer = latency.layers.emplace_back();
        layer.step.nodes = nodes;
        layer.medianUs = 1;
    }
    return latency;
}

policy::Policy bfloat16()
{
    policy::Policy policy;
    policy.target = DType::BF16;
    return policy;
}

mixed::ConvertedModel converted(const graph::Model &model, const policy::Policy &policy)
{
    auto made = mixed::convertModel(model, policy, false);
    if (!made.ok())
        qFatal("%s", made.error().message().c_str());
    return std::move(made).value();
}

tune::Network network(const graph::Model &model, const mixed::ConvertedModel &narrow)
{
    const auto shapes = infer::inferShapes(model.graph, {{"data", tensor::Shape{1, 4, 8, 8}}});
    if (!shapes.ok())
        qFatal("%s", shapes.error().message().c_str());
    const latency::Latency times = latency();
    return tune::networkOf(model, shapes.value(), times, {&narrow, &times}, nullptr);
}

} // namespace

class TestGrouping : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void aSumBelongsToTheConvolutionThatItIsFusedWith()
    {
        const graph::Model model = residual();
        const tune::Network found = network(model, converted(model, bfloat16()));
        unsigned tunable = 0;
        for (const tune::Group &group : found.groups) {
            tunable += group.isTunable ? 1 : 0;
            std::vector<std::string> joining;
            for (const graph::NodeId id : group.joining)
                joining.push_back(model.graph.node(id).name);
            QCOMPARE(joining,
                     group.name == "second" ? std::vector<std::string>{"sum"} : std::vector<std::string>{});
        }
        QCOMPARE(tunable, kTunable);
    }

    /// What a search counts for a group is what a conversion makes of it, whatever the neighbours are: else the sum would be rounded wherever
    /// that saves a cast.
    void theSumHasItsGroupsLabelInEveryLabelling()
    {
        const graph::Model model = residual();
        const policy::Policy base = bfloat16();
        const tune::Network found = network(model, converted(model, base));
        for (unsigned mask = 0; mask < 1U << kTunable; ++mask) {
            Labels labels;
            unsigned tunable = 0;
            for (const tune::Group &group : found.groups) {
                const bool isLow = group.isTunable && (mask >> tunable++ & 1U) != 0;
                labels.push_back(isLow || !group.isTunable ? Label::Target : Label::Float32);
            }
            const policy::Policy policy = tune::policyFor(base, model.graph, found.groups, labels);
            const mixed::ConvertedModel made = converted(model, policy);
            for (std::size_t k = 0; k < found.groups.size(); ++k) {
                if (!found.groups[k].isTunable)
                    continue;
                const DType wanted = labels[k] == Label::Target ? DType::BF16 : DType::F32;
                for (const graph::NodeId id : found.groups[k].nodes)
                    QVERIFY2(made.conversion.precisionOf(id) == wanted,
                             (model.graph.node(id).name + ' ' + std::to_string(mask)).c_str());
            }
        }
    }

    /// Both ends are the same policy however their nodes are grouped: points of a search stay what they were when int8 joins groups.
    void theEndsSayNothingOfSums()
    {
        const graph::Model model = residual();
        const policy::Policy base = bfloat16();
        const tune::Network found = network(model, converted(model, base));
        const Labels lowest(found.groups.size(), Label::Target);
        QVERIFY(tune::policyFor(base, model.graph, found.groups, lowest) == base);
        const Labels wide(found.groups.size(), Label::Float32);
        const policy::Policy float32 = tune::policyFor(base, model.graph, found.groups, wide);
        QCOMPARE(float32.nodeOverrides.size(), std::size_t(kTunable));
        QVERIFY(!float32.nodeOverrides.contains("sum"));
    }

    /// Overrides of sums are the search's, as those of what it decided about.
    void anotherSearchDecidesAboutSumsAnew()
    {
        const graph::Model model = residual();
        const policy::Policy base = bfloat16();
        tune::Front front;
        front.groups = network(model, converted(model, base)).groups;
        Labels labels(front.groups.size(), Label::Target);
        labels[0] = Label::Float32;
        const policy::Policy adopted = tune::adoptedPolicy(front, base, model.graph, labels);
        QVERIFY(adopted.nodeOverrides.contains("sum"));
        QVERIFY(adopted.reasons.contains("sum"));
        QVERIFY(tune::withoutAdopted(adopted) == base);
    }
};

QTEST_GUILESS_MAIN(TestGrouping)
#include "tst_grouping.moc"
