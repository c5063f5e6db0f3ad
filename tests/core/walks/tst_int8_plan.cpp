#include "core/backends/backends.h"
#include "core/interpret/interpreter.h"
#include "core/interpret/random_params.h"
#include "core/latency/latency.h"
#include "core/latency/typed_model.h"
#include "core/walks/quantize.h"
#include "tests/support/int8_networks.h"

#include <QTest>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>

using namespace halftone;
using kernels::PlanStep;
using kernels::StepKind;
using tensor::DType;

namespace {

using Shapes = std::unordered_map<std::string, tensor::Shape>;
const Shapes kPicture{{"data", {1, 3, 32, 32}}};

/// Random parameters with biases and statistics that are none of the neutral ones.
graph::Model parameterised(const graph::Model &bare)
{
    auto model = interpret::withRandomParameters(bare, kPicture, 1).value();
    for (tensor::Array &array : model.parameters) {
        const bool isShift = array.name.ends_with("_bias") || array.name.ends_with("_beta");
        if (!isShift && !array.name.ends_with("_gamma"))
            continue;
        std::vector<float> values = array.values.values<float>();
        for (std::size_t i = 0; i < values.size(); ++i)
            values[i] = (isShift ? 0.0F : 1.0F) + 0.3F * std::sin(static_cast<float>(i * i + values.size()));
        std::vector<std::byte> bytes(values.size() * sizeof(float));
        std::memcpy(bytes.data(), values.data(), bytes.size());
        array.values = tensor::Tensor::owning(DType::F32, array.values.shape(), std::move(bytes));
    }
    return model;
}

/// With ten bits of mantissa.
float onGrid(float value)
{
    int exponent = 0;
    const float mantissa = std::frexp(value, &exponent);
    return std::ldexp(std::round(mantissa * 1024), exponent - 10);
}

graph::Model quantized(const graph::Model &bare, quantize::QuantizedForm form,
                       std::vector<std::string> excluded = {})
{
    const graph::Model model = parameterised(bare);
    quantize::QuantizeOptions options;
    options.form = form;
    options.isFull = form == quantize::QuantizedForm::Plain;
    options.excludedNames = std::move(excluded);
    std::vector<std::string> names;
    for (const quantize::ObservedTensor &tensor : quantize::planQuantization(model, options).value().observed)
        names.push_back(tensor.source);
    auto ranges = walks::rangesOnRandomValues(model, names, kPicture, 2, {});
    if (!ranges.ok())
        qFatal("%s", ranges.error().message().c_str());
    // The last bits are the processor's; on a coarser grid every machine computes with the same codes.
    for (auto &[name, range] : ranges.value()) {
        range.low = onGrid(range.low);
        range.high = onGrid(range.high);
    }
    auto made = quantize::quantize(model, options, ranges.value());
    if (!made.ok())
        qFatal("%s", made.error().message().c_str());
    return std::move(made).value().model;
}

std::unique_ptr<kernels::LatencyPlan> planOf(const graph::Model &model,
                                             kernels::PlanLayout layout = kernels::PlanLayout::Measured)
{
    const auto backend = backends::planningBackend(backends::kDefaultBackend, 2).value();
    const auto typed = latency::typedModel(model, kPicture, {});
    if (!typed.ok())
        qFatal("%s", typed.error().message().c_str());
    auto plan = backend->plan(typed.value(), {{}, layout});
    if (!plan.ok())
        qFatal("%s", plan.error().message().c_str());
    latency::fillInputs(*plan.value(), 1);
    return std::move(plan).value();
}

std::unique_ptr<kernels::LatencyPlan>
int8PlanOf(const graph::Model &bare, quantize::QuantizedForm form = quantize::QuantizedForm::Onednn)
{
    return planOf(quantized(bare, form));
}

using Values = std::map<graph::NodeId, tensor::Tensor>;

/// The first output of every node, on the data that the plan has.
Values valuesOf(const graph::Model &model, const char *backend, const tensor::Tensor &data)
{
    auto interpreter = interpret::Interpreter::create(model, backends::backendChain(backend, 2).value());
    if (!interpreter.ok())
        qFatal("%s", interpreter.error().message().c_str());
    Values values;
    interpret::RunOptions options;
    options.tap = [&values](const interpret::NodeValue &value) -> Result<void> {
        values[value.node] = value.outputs[0];
        return {};
    };
    const auto done = interpreter.value().run({{"data", data}}, options);
    if (!done.ok())
        qFatal("%s", done.error().message().c_str());
    return values;
}

tensor::Tensor dataOf(kernels::LatencyPlan &plan)
{
    const auto bytes = plan.input(0);
    return tensor::Tensor::owning(DType::F32, plan.inputs()[0].desc.shape, {bytes.begin(), bytes.end()});
}

template <class T>
std::vector<T> as(std::span<const std::byte> bytes)
{
    std::vector<T> values(bytes.size() / sizeof(T));
    std::memcpy(values.data(), bytes.data(), bytes.size());
    return values;
}

/// The largest distance of two tensors of codes.
int distance(DType type, std::span<const std::byte> a, std::span<const std::byte> b)
{
    int most = a.size() == b.size() ? 0 : 1000;
    for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
        const auto at = [&](std::span<const std::byte> bytes) {
            return type == DType::U8 ? std::to_integer<int>(bytes[i]) : static_cast<std::int8_t>(bytes[i]);
        };
        most = std::max(most, std::abs(at(a) - at(b)));
    }
    return most;
}

graph::Model networkOf(int network)
{
    return network == 0 ? test::residualNetwork()
        : network == 1  ? test::separableNetwork()
        : network == 2  ? test::fireNetwork()
                        : test::clippedNetwork();
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
        const auto cpu = backends::backendInfo(backends::kDefaultBackend).value();
        if (!cpu.makesPlans)
            QSKIP("this build has no oneDNN");
        m_hasVnni = cpu.support(DType::I8) == kernels::Support::Native;
        m_hasBfloat16 = cpu.support(DType::BF16) == kernels::Support::Native;
    }

    void noReorderStandsBetweenTwoInt8Neighbours_data()
    {
        QTest::addColumn<int>("network");
        QTest::addColumn<bool>("plain");
        QTest::addColumn<int>("products"); ///< convolutions and fully connected layers
        QTest::addColumn<int>("others"); ///< steps on codes beside them
        // Pools, and one copy for each concatenation, are all there is.
        QTest::newRow("residual") << 0 << false << 10 << 2;
        QTest::newRow("separable") << 1 << false << 12 << 1;
        QTest::newRow("fire") << 2 << false << 11 << 5;
        // One by one MXNet also normalises, adds, and cuts what BatchNorm gave at zero.
        QTest::newRow("residual, plain") << 0 << true << 10 << 2 + 9 + 2 + 7;
        QTest::newRow("separable, plain") << 1 << true << 12 << 1 + 11 + 1 + 8;
        QTest::newRow("fire, plain") << 2 << true << 11 << 5;
    }
    void noReorderStandsBetweenTwoInt8Neighbours()
    {
        QFETCH(int, network);
        QFETCH(bool, plain);
        QFETCH(int, products);
        QFETCH(int, others);
        if (!m_hasVnni)
            QSKIP("without VNNI products of codes are computed in float32");
        const auto plan = int8PlanOf(
            networkOf(network), plain ? quantize::QuantizedForm::Plain : quantize::QuantizedForm::Onednn);
        int onCodes = 0;
        int steps = 0;
        for (const PlanStep &step : plan->steps()) {
            const std::string what = step.op + ' ' + step.kernel;
            QVERIFY2(step.kind == StepKind::Compute, what.c_str());
            if (!isCode(step))
                continue;
            ++steps;
            QVERIFY2(!step.kernel.starts_with("ref"), what.c_str());
            onCodes += step.op.starts_with("_sg_") || step.op == "_contrib_quantized_conv"
                    || step.op == "_contrib_quantized_fully_connected"
                ? 1
                : 0;
        }
        QCOMPARE(onCodes, products);
        QVERIFY2(steps <= products + others, std::to_string(steps).c_str());
    }

    /// Sums are scaled in float32 where the reference kernels use double, and so are averages: a code may be its
    /// neighbour where the scaled value lies within some 2^-16 of a step of the middle between two. Nothing else may
    /// differ. (None does from AVX2 on.)
    void plainNetworksGiveTheCodesOfTheReferenceKernels_data()
    {
        QTest::addColumn<int>("network");
        QTest::newRow("residual") << 0;
        QTest::newRow("separable") << 1;
        QTest::newRow("fire") << 2;
        QTest::newRow("clipped") << 3;
    }
    void plainNetworksGiveTheCodesOfTheReferenceKernels()
    {
        QFETCH(int, network);
        graph::Model model = quantized(networkOf(network), quantize::QuantizedForm::Plain);
        const tensor::Tensor data = dataOf(*planOf(model));
        const Values wanted = valuesOf(model, "reference", data);
        const Values got = valuesOf(model, "cpu", data);
        std::size_t codes = 0;
        std::size_t differing = 0;
        for (const auto &[node, value] : wanted) {
            const std::string &name = model.graph.node(node).name;
            const DType type = value.dtype();
            if (type != DType::I8 && type != DType::U8)
                continue;
            QVERIFY2(distance(type, got.at(node).bytes(), value.bytes()) <= 1, name.c_str());
            // A plan that ends here fuses all that lies before.
            model.graph.setHeads({{node, 0}});
            const auto plan = planOf(model);
            std::memcpy(plan->input(0).data(), data.bytes().data(), data.bytes().size());
            QVERIFY(plan->run().ok());
            QVERIFY2(distance(type, plan->output(0), value.bytes()) <= 1, name.c_str());
            codes += value.bytes().size();
            for (std::size_t i = 0; i < value.bytes().size(); ++i)
                differing += plan->output(0)[i] != value.bytes()[i] ? 1U : 0U;
        }
        QVERIFY2(differing * 10000 <= codes,
                 (std::to_string(differing) + " of " + std::to_string(codes)).c_str());
    }

    void aSumThatIsReadAsRealsIsTheSumOfBoth()
    {
        graph::Model model = quantized(test::residualNetwork(), quantize::QuantizedForm::Onednn);
        const tensor::Tensor data = dataOf(*planOf(model));
        const Values wanted = valuesOf(model, "reference", data);
        bool isFound = false;
        for (const auto &[node, value] : wanted) {
            const graph::NodeDef &def = model.graph.node(node);
            if (def.op.find("dnn_conv") == std::string::npos || def.name.find("add") == std::string::npos)
                continue;
            isFound = true;
            graph::Graph graph = model.graph;
            auto dequantize = std::make_shared<graph::NodeDef>();
            dequantize->op = "_contrib_dequantize";
            dequantize->name = "reals";
            const std::vector<graph::Entry> inputs{{node, 0}, {node, 1}, {node, 2}};
            const graph::NodeId reals = graph.add(std::move(dequantize), inputs);
            graph.setHeads({{reals, 0}});
            const graph::Model asked{graph, model.parameters, false};
            const std::vector<float> want = as<float>(valuesOf(asked, "reference", data).at(reals).bytes());
            const auto plan = planOf(asked);
            std::memcpy(plan->input(0).data(), data.bytes().data(), data.bytes().size());
            QVERIFY(plan->run().ok());
            const std::vector<float> got = as<float>(plan->output(0));
            QCOMPARE(got.size(), want.size());
            const float most = *std::ranges::max_element(want);
            for (std::size_t i = 0; i < got.size(); ++i) // one step of 255 at most: the plan rounds once less
                QVERIFY(std::abs(got[i] - want[i]) <= most / 120);
        }
        QVERIFY(isFound);
    }

    void oneConversionStandsBetweenInt8AndBfloat16()
    {
        if (!m_hasVnni || !m_hasBfloat16)
            QSKIP("this processor emulates int8 or bfloat16, with conversions of their own");
        const auto plan = int8PlanOf(test::mixedNetwork());
        std::map<std::string, int> steps;
        for (const PlanStep &step : plan->steps()) {
            QVERIFY2(step.kernel != "reference", step.op.c_str());
            ++steps[step.kind == StepKind::Compute ? step.op : std::string(kernels::nameOf(step.kind))];
        }
        // The data, what the Deconvolution gives, and what the pool gives; each convolution writes reals itself.
        QCOMPARE(steps["_contrib_quantize_v2"], 3);
        QCOMPARE(steps["_contrib_dequantize"], 0);
        QCOMPARE(steps["cast"], 0);
        QVERIFY(steps["reorder"]
                <= 1); // codes lie with their channels last, the Deconvolution's data may not
    }

    void codesBecomeBfloat16InTheLayoutThatTheConvolutionWants()
    {
        if (!m_hasBfloat16)
            QSKIP("this processor has no bfloat16");
        for (const auto layout : {kernels::PlanLayout::Blocked, kernels::PlanLayout::ChannelsLast}) {
            const auto plan = planOf(quantized(test::forkedNetwork(), quantize::QuantizedForm::Onednn,
                                               {"narrow", "narrow_relu", "product"}),
                                     layout);
            std::map<std::string, int> steps;
            for (const PlanStep &step : plan->steps())
                ++steps[step.kind == StepKind::Compute ? step.op : std::string(kernels::nameOf(step.kind))];
            QCOMPARE(steps["_contrib_dequantize"], 1);
            QCOMPARE(steps["cast"], 0);
            QCOMPARE(steps["_contrib_quantized_pooling"], 1);
            // The product's two sides may lie differently; what is made of codes need not be moved.
            QVERIFY(steps["reorder"] <= 1);
        }
    }

    void twoRunsGiveTheSameBits()
    {
        const auto plan = int8PlanOf(test::fireNetwork());
        QVERIFY(plan->run().ok());
        const std::vector<std::byte> first(plan->output(0).begin(), plan->output(0).end());
        QVERIFY(plan->run().ok());
        QVERIFY(std::ranges::equal(first, plan->output(0)));
    }

private:
    bool m_hasVnni = false;
    bool m_hasBfloat16 = false;
};

QTEST_GUILESS_MAIN(TestInt8Plan)
#include "tst_int8_plan.moc"
