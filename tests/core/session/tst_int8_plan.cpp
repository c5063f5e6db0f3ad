#include "core/profile/typed_model.h"
#include "core/runtime/backends.h"
#include "core/runtime/random_params.h"
#include "core/session/quantize.h"
#include "tests/support/build_graph.h"

#include <QtTest>

#include <algorithm>
#include <map>

using namespace halftone;
using runtime::PlanStep;
using runtime::StepKind;
using tensor::DType;

namespace {

using Shapes = std::unordered_map<std::string, tensor::Shape>;
const Shapes kPicture{{"data", {1, 3, 32, 32}}};

/// Networks of a family's building blocks, small.
class Network
{
public:
    graph::Entry data() { return m_graph.variable("data"); }
    graph::Entry variable(const std::string &name) { return m_graph.variable(name); }

    graph::Entry conv(const std::string &name, graph::Entry x, int filters, int kernel, int stride = 1,
                      int groups = 1, bool normalised = true)
    {
        const auto pair = [](int n) { return '(' + std::to_string(n) + ", " + std::to_string(n) + ')'; };
        x = m_graph.op("Convolution", name,
                       {x, m_graph.variable(name + "_weight"), m_graph.variable(name + "_bias")},
                       {{"kernel", pair(kernel)},
                        {"pad", pair(kernel / 2)},
                        {"stride", pair(stride)},
                        {"num_group", std::to_string(groups)},
                        {"num_filter", std::to_string(filters)}});
        if (!normalised)
            return x;
        return m_graph.op("BatchNorm", name + "_bn",
                          {x, m_graph.variable(name + "_gamma"), m_graph.variable(name + "_beta"),
                           m_graph.variable(name + "_mean"), m_graph.variable(name + "_var")},
                          {{"fix_gamma", "False"}});
    }
    graph::Entry relu(const std::string &name, graph::Entry x)
    {
        return m_graph.op("Activation", name, {x}, {{"act_type", "relu"}});
    }
    graph::Entry maxPool(const std::string &name, graph::Entry x)
    {
        return m_graph.op("Pooling", name, {x},
                          {{"kernel", "(3, 3)"}, {"stride", "(2, 2)"}, {"pool_type", "max"}});
    }
    graph::Entry op(const std::string &op, const std::string &name, std::vector<graph::Entry> inputs,
                    graph::Attributes attributes = {})
    {
        return m_graph.op(op, name, std::move(inputs), std::move(attributes));
    }
    graph::Model classified(graph::Entry x)
    {
        x = m_graph.op("Pooling", "pool", {x},
                       {{"global_pool", "True"}, {"kernel", "(1, 1)"}, {"pool_type", "avg"}});
        x = m_graph.op("FullyConnected", "fc",
                       {x, m_graph.variable("fc_weight"), m_graph.variable("fc_bias")},
                       {{"num_hidden", "10"}});
        return m_graph.model({x});
    }

private:
    test::GraphBuilder m_graph;
};

graph::Model residual()
{
    Network n;
    graph::Entry x = n.maxPool("stem_pool", n.relu("stem_relu", n.conv("stem", n.data(), 32, 7, 2)));
    for (const auto &[name, stride] : std::map<std::string, int>{{"a", 1}, {"b", 2}}) {
        const graph::Entry shortcut = n.conv(name + "_down", x, 64, 1, stride);
        x = n.relu(name + "_relu1", n.conv(name + "1", x, 16, 1, stride));
        x = n.relu(name + "_relu2", n.conv(name + "2", x, 16, 3));
        x = n.op("elemwise_add", name + "_sum", {n.conv(name + "3", x, 64, 1), shortcut});
        x = n.relu(name + "_out", x);
    }
    return n.classified(x);
}

graph::Model separable()
{
    Network n;
    graph::Entry x = n.relu("stem_relu", n.conv("stem", n.data(), 32, 3, 2));
    for (const auto &[name, stride] : std::map<std::string, int>{{"a", 1}, {"b", 2}, {"c", 1}}) {
        const graph::Entry before = x;
        x = n.relu(name + "_relu1", n.conv(name + "_expand", x, 64, 1));
        x = n.relu(name + "_relu2", n.conv(name + "_depth", x, 64, 3, stride, 64));
        x = n.conv(name + "_project", x, 32, 1);
        if (name == "c")
            x = n.op("elemwise_add", name + "_sum", {x, before});
    }
    return n.classified(n.relu("last", n.conv("head", x, 64, 1)));
}

graph::Model fire()
{
    Network n;
    graph::Entry x = n.relu("stem_relu", n.conv("stem", n.data(), 32, 3, 2, 1, false));
    for (const char *letter : {"a", "b", "c"}) {
        const std::string name = letter;
        x = name == "b" ? n.maxPool(name + "_pool", x) : x;
        x = n.relu(name + "_relu1", n.conv(name + "_squeeze", x, 16, 1, 1, 1, false));
        const graph::Entry narrow = n.relu(name + "_relu2", n.conv(name + "_expand1", x, 32, 1, 1, 1, false));
        const graph::Entry wide = n.relu(name + "_relu3", n.conv(name + "_expand3", x, 32, 3, 1, 1, false));
        x = n.op("Concat", name + "_concat", {narrow, wide}, {{"num_args", "2"}, {"dim", "1"}});
    }
    return n.classified(x);
}

/// int8, bfloat16 and int8 again, with float32 at the end.
graph::Model mixed()
{
    Network n;
    const auto cast = [&n](const std::string &name, graph::Entry x, const char *type) {
        return n.op("amp_cast", name, {x}, {{"dtype", type}});
    };
    graph::Entry x = n.relu("stem_relu", n.conv("stem", n.data(), 32, 3, 2));
    x = cast("narrow", x, "bfloat16");
    x = n.op("Deconvolution", "middle", {x, cast("narrow_weight", n.variable("middle_weight"), "bfloat16")},
             {{"kernel", "(3, 3)"}, {"pad", "(1, 1)"}, {"num_filter", "32"}, {"no_bias", "True"}});
    x = cast("widen", n.relu("middle_relu", x), "float32");
    x = n.relu("last", n.conv("head", x, 64, 3));
    return n.classified(n.op("exp", "exp", {x}));
}

std::unique_ptr<runtime::LatencyPlan> int8PlanOf(const graph::Model &bare)
{
    static const auto fallback = runtime::backendChain("reference", 2).value();
    const auto model = runtime::withRandomParameters(bare, kPicture, 1);
    const auto quantized = session::quantizedForProfile(model.value(), kPicture, {}, 2, {});
    if (!quantized.ok())
        qFatal("%s", quantized.error().message().c_str());
    const auto typed = profile::typedModel(quantized.value(), kPicture, {});
    if (!typed.ok())
        qFatal("%s", typed.error().message().c_str());
    runtime::PlanOptions options;
    options.threads = 2;
    options.fallback = fallback.front().get();
    auto plan = profile::measurablePlan(typed.value(), options);
    if (!plan.ok())
        qFatal("%s", plan.error().message().c_str());
    return std::move(plan).value();
}

bool isCode(const PlanStep &step)
{
    return step.dtype == DType::I8 || step.dtype == DType::U8;
}

} // namespace

class TestInt8Plan : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase()
    {
        const auto backends = runtime::allBackends();
        const auto cpu = std::ranges::find(backends, "cpu", &runtime::BackendInfo::name);
        if (cpu == backends.end() || !cpu->available)
            QSKIP("this build has no oneDNN");
    }

    void noReorderStandsBetweenTwoInt8Neighbours_data()
    {
        QTest::addColumn<int>("network");
        QTest::addColumn<int>("products"); ///< convolutions and fully connected layers
        QTest::newRow("residual") << 0 << 10;
        QTest::newRow("separable") << 1 << 12;
        QTest::newRow("fire") << 2 << 11;
    }
    void noReorderStandsBetweenTwoInt8Neighbours()
    {
        QFETCH(int, network);
        QFETCH(int, products);
        const auto plan = int8PlanOf(network == 0 ? residual() : network == 1 ? separable() : fire());
        int onCodes = 0;
        int steps = 0;
        for (const PlanStep &step : plan->steps()) {
            const std::string what = step.op + ' ' + step.kernel;
            QVERIFY2(step.kind == StepKind::Compute, what.c_str());
            if (!isCode(step))
                continue;
            ++steps;
            QVERIFY2(!step.kernel.starts_with("ref"), what.c_str());
            onCodes += step.op.starts_with("_sg_") ? 1 : 0;
        }
        QCOMPARE(onCodes, products);
        // Pools, and one copy for each concatenation, are all there is beside the products.
        const int others[] = {2, 1, 5};
        QVERIFY2(steps <= products + others[network], std::to_string(steps).c_str());
    }

    void oneConversionStandsBetweenInt8AndBfloat16()
    {
        const auto plan = int8PlanOf(mixed());
        std::map<std::string, int> steps;
        for (const PlanStep &step : plan->steps()) {
            QVERIFY2(step.kernel != "reference", step.op.c_str());
            ++steps[step.kind == StepKind::Compute ? step.op : std::string(runtime::nameOf(step.kind))];
        }
        // The data, what the Deconvolution gives, and what the pool gives; each convolution writes reals itself.
        QCOMPARE(steps["_contrib_quantize_v2"], 3);
        QCOMPARE(steps["_contrib_dequantize"], 0);
        QCOMPARE(steps["cast"], 0);
        QVERIFY(steps["reorder"]
                <= 1); // codes lie with their channels last, the Deconvolution's data may not
    }

    void twoRunsGiveTheSameBits()
    {
        const auto plan = int8PlanOf(fire());
        QVERIFY(plan->run().ok());
        const std::vector<std::byte> first(plan->output(0).begin(), plan->output(0).end());
        QVERIFY(plan->run().ok());
        QVERIFY(std::ranges::equal(first, plan->output(0)));
    }
};

QTEST_GUILESS_MAIN(TestInt8Plan)
#include "tst_int8_plan.moc"
