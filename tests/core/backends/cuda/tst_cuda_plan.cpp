#include "core/backends/backends.h"
#include "core/backends/cuda/backend.h"
#include "core/backends/cuda/plan.h"
#include "core/backends/reference/reference_backend.h"
#include "core/dialect/registry.h"
#include "core/infer/infer_types.h"
#include "core/infer/typed_model.h"
#include "core/infer/variables.h"
#include "core/interpret/interpreter.h"
#include "core/interpret/random_params.h"
#include "core/io/arrays/npz.h"
#include "core/io/model_io.h"
#include "core/kernels/latency_plan.h"
#include "core/mixed/convert_model.h"
#include "core/tensor/elements.h"
#include "tests/core/backends/cuda/host_library.h"
#include "tests/support/build_graph.h"

#include <QDir>
#include <QTest>

#include <cmath>
#include <cstring>

using namespace halftone;
using graph::Entry;
using tensor::DType;
using tensor::Shape;
using tensor::Tensor;

/// Whole networks as the CUDA backend plans them, run on this machine (host_gpu.h): fused, with their channels last, over one arena.
class CudaPlanTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase();
    void elementsThatFollowEachOtherAreOneKernel();
    void channelsStayLastFromConvolutionToConvolution();
    void whatHasNoKernelIsCopiedAndSaysSo();
    void anIndexOutsideIsAnError();
    void floatsOfTwoTypesMeet();
    void tf32IsAllowedInEveryProductOrInNone_data();
    void tf32IsAllowedInEveryProductOrInNone();
    void convolutionsAreWhatIsQuicker_data();
    void convolutionsAreWhatIsQuicker();
    void functionsBehindProductsAreApartWhereThatIsQuicker();
    void aRunIsOneLaunch();
    void theDeviceAloneCopiesNothingBack();
    void aSecondRunTakesNewInputs();
    void networks_data();
    void networks();
    void sharedModels_data();
    void sharedModels();
};

namespace {

using Shapes = std::unordered_map<std::string, Shape>;

Result<infer::TypedModel> typedOf(const graph::Model &model, const Shapes &inputs)
{
    Shapes known = inputs;
    for (const tensor::Array &array : model.parameters)
        known.emplace(dialect::variableOf(model.graph, array.name), array.shape);
    infer::TypedModel typed{model, {}, {}};
    HALFTONE_TRY(typed.shapes, infer::inferShapes(model.graph, known));
    std::vector<policy::Warning> warnings;
    HALFTONE_TRY(const auto variables, infer::classifyVariables(model, {}, warnings));
    std::vector<DType> ofVariables;
    for (const infer::Variable &variable : variables)
        ofVariables.push_back(variable.type);
    HALFTONE_TRY(typed.types, infer::inferTypes(model.graph, ofVariables));
    return typed;
}

/// A plan on this machine, and what it was given.
struct Planned
{
    std::shared_ptr<test::HostGpu> gpu = std::make_shared<test::HostGpu>();
    std::unique_ptr<kernels::LatencyPlan> plan;
    QString failure;

    std::vector<std::string> kernels() const
    {
        std::vector<std::string> names;
        for (const kernels::PlanStep &step : plan->steps())
            names.push_back(step.kernel);
        return names;
    }
};

std::shared_ptr<const kernels::Backend> reference()
{
    return backends::reference::referenceBackend({1, false});
}

Planned planned(const graph::Model &model, const Shapes &inputs)
{
    Planned result;
    const auto typed = typedOf(model, inputs);
    if (!typed.ok()) {
        result.failure = QString::fromStdString(typed.error().message());
        return result;
    }
    auto plan = backends::cuda::cudaBackend(result.gpu, {}, reference())->plan(typed.value(), {});
    if (plan.ok())
        result.plan = std::move(plan).value();
    else
        result.failure = QString::fromStdString(plan.error().message());
    return result;
}

/// Numbers between -1 and 1, others for each seed.
std::vector<float> numbers(std::size_t count, unsigned seed)
{
    std::vector<float> values(count);
    for (std::size_t k = 0; k < count; ++k)
        values[k] = static_cast<float>((k * 37 + seed * 11) % 101) / 50.0F - 1.0F;
    return values;
}

void feed(kernels::LatencyPlan &plan, unsigned seed)
{
    for (std::size_t k = 0; k < plan.inputs().size(); ++k) {
        const kernels::TensorDesc &desc = plan.inputs()[k].desc;
        const auto values
            = numbers(static_cast<std::size_t>(*desc.shape.elementCount()), seed + static_cast<unsigned>(k));
        tensor::narrow(values.data(), values.size(), desc.dtype, plan.input(k).data());
    }
}

std::vector<double> outputOf(const kernels::LatencyPlan &plan, std::size_t k)
{
    std::vector<double> values(static_cast<std::size_t>(*plan.outputs()[k].desc.shape.elementCount()));
    tensor::widen(plan.outputs()[k].desc.dtype, plan.output(k).data(), values.size(), values.data());
    return values;
}

/// The same inputs through the interpreter.
Result<std::vector<Tensor>> interpreted(const graph::Model &model, const kernels::LatencyPlan &plan,
                                        unsigned seed)
{
    interpret::Feed values;
    for (std::size_t k = 0; k < plan.inputs().size(); ++k) {
        const kernels::TensorDesc &desc = plan.inputs()[k].desc;
        const auto drawn
            = numbers(static_cast<std::size_t>(*desc.shape.elementCount()), seed + static_cast<unsigned>(k));
        std::vector<std::byte> bytes(drawn.size() * tensor::sizeOf(desc.dtype));
        tensor::narrow(drawn.data(), drawn.size(), desc.dtype, bytes.data());
        values.emplace(plan.inputs()[k].name, Tensor::owning(desc.dtype, desc.shape, std::move(bytes)));
    }
    HALFTONE_TRY(auto interpreter, interpret::Interpreter::create(model, {reference()}));
    return interpreter.run(values);
}

/// What is wrong with the plan's outputs; relative to the largest value of each.
QString difference(const graph::Model &model, kernels::LatencyPlan &plan, unsigned seed, double tolerance)
{
    feed(plan, seed);
    if (const auto done = plan.run(); !done.ok())
        return QString::fromStdString(done.error().message());
    const auto want = interpreted(model, plan, seed);
    if (!want.ok())
        return QString::fromStdString(want.error().message());
    for (std::size_t k = 0; k < want.value().size(); ++k) {
        const std::vector<double> got = outputOf(plan, k);
        std::vector<double> expected(want.value()[k].elementCount());
        tensor::widen(want.value()[k].dtype(), want.value()[k].bytes().data(), expected.size(),
                      expected.data());
        if (got.size() != expected.size())
            return QStringLiteral("output %1 has %2 elements").arg(k).arg(got.size());
        double largest = 0;
        for (const double x : expected)
            largest = std::max(largest, std::abs(x));
        for (std::size_t i = 0; i < got.size(); ++i)
            if (!(std::abs(got[i] - expected[i]) <= tolerance * std::max(largest, 1e-3)))
                return QStringLiteral("output %1: element %2 is %3, expected %4")
                    .arg(k)
                    .arg(i)
                    .arg(got[i])
                    .arg(expected[i]);
    }
    return {};
}

graph::Model withParameters(const graph::Model &bare, const Shapes &inputs)
{
    auto model = interpret::withRandomParameters(bare, inputs, 3);
    if (!model.ok())
        qFatal("%s", model.error().message().c_str());
    return std::move(model).value();
}

/// conv, batch norm, ReLU, conv, a sum with what came before, ReLU, pooling, a layer, softmax.
graph::Model residualNetwork()
{
    test::GraphBuilder g;
    const Entry x = g.variable("x");
    const auto conv = [&g](const char *name, Entry from, const char *filters) {
        return g.op(
            "Convolution", name,
            {from, g.variable(std::string(name) + "_weight"), g.variable(std::string(name) + "_bias")},
            {{"kernel", "(3, 3)"}, {"pad", "(1, 1)"}, {"num_filter", filters}});
    };
    const Entry first = conv("c1", x, "8");
    const Entry norm = g.op("BatchNorm", "n",
                            {first, g.variable("n_gamma"), g.variable("n_beta"), g.variable("n_moving_mean"),
                             g.variable("n_moving_var")});
    const Entry active = g.op("Activation", "a1", {norm}, {{"act_type", "relu"}});
    const Entry second = conv("c2", active, "8");
    const Entry sum = g.op("elemwise_add", "s", {second, active});
    const Entry relu = g.op("Activation", "a2", {sum}, {{"act_type", "relu"}});
    const Entry pool
        = g.op("Pooling", "p", {relu}, {{"kernel", "(2, 2)"}, {"stride", "(2, 2)"}, {"pool_type", "avg"}});
    const Entry full = g.op("FullyConnected", "f", {pool, g.variable("f_weight"), g.variable("f_bias")},
                            {{"num_hidden", "10"}});
    return withParameters(g.model({g.op("softmax", "y", {full})}), {{"x", Shape{2, 3, 6, 6}}});
}

} // namespace

void CudaPlanTest::initTestCase()
{
#ifdef HALFTONE_SANITIZED
    QSKIP("the threads of a block are contexts (host_gpu.h), which sanitizers do not follow");
#endif
}

void CudaPlanTest::elementsThatFollowEachOtherAreOneKernel()
{
    test::GraphBuilder g;
    const Entry x = g.variable("x");
    const Entry y = g.variable("y");
    const Entry sum = g.op("broadcast_add", "s", {x, y});
    const Entry e = g.op("sigmoid", "e", {g.op("tanh", "t", {sum})});
    const graph::Model model = g.model({g.op("broadcast_mul", "m", {e, g.op("exp", "z", {x})})});
    const Planned made = planned(model, {{"x", Shape{2, 3, 8}}, {"y", Shape{3, 1}}});
    QVERIFY2(made.plan, qPrintable(made.failure));
    QCOMPARE(made.kernels(),
             (std::vector<std::string>{"copy to the device", "copy to the device", "own nvrtc elementwise",
                                       "copy to the host"}));
    QCOMPARE(made.plan->steps()[2].nodes.size(), 5U);
    const QString wrong = difference(model, *made.plan, 1, 1e-6);
    QVERIFY2(wrong.isEmpty(), qPrintable(wrong));
}

void CudaPlanTest::channelsStayLastFromConvolutionToConvolution()
{
    const graph::Model model = residualNetwork();
    const Planned made = planned(model, {{"x", Shape{2, 3, 6, 6}}});
    QVERIFY2(made.plan, qPrintable(made.failure));
    // BatchNorm, ReLU, the sum and the biases are in the convolutions; nothing is put in another order on the way, but for the
    // layer that wants its features in rows.
    QCOMPARE(made.kernels(),
             (std::vector<std::string>{"copy to the device", "own nvrtc convolution", "own nvrtc convolution",
                                       "own nvrtc pooling", "own nvrtc reorder", "own nvrtc matrix product",
                                       "own nvrtc softmax", "copy to the host"}));
    const QString wrong = difference(model, *made.plan, 2, 1e-5);
    QVERIFY2(wrong.isEmpty(), qPrintable(wrong));
}

void CudaPlanTest::whatHasNoKernelIsCopiedAndSaysSo()
{
    test::GraphBuilder g;
    const Entry x = g.variable("x");
    const Entry sorted = g.op("sort", "order", {g.op("relu", "r", {x})});
    const graph::Model model = g.model({g.op("exp", "e", {sorted})});
    const Planned made = planned(model, {{"x", Shape{2, 5}}});
    QVERIFY2(made.plan, qPrintable(made.failure));
    const auto kernels = made.kernels();
    QVERIFY(std::ranges::any_of(kernels,
                                [](const std::string &name) { return name.starts_with("on the cpu: "); }));
    QCOMPARE(std::ranges::count(kernels, "copy to the host"), 2);
    QVERIFY(std::ranges::count(kernels, "copy to the device") >= 2);
    const QString wrong = difference(model, *made.plan, 1, 1e-6);
    QVERIFY2(wrong.isEmpty(), qPrintable(wrong));
}

/// As the reference says it, and the plan runs on with indices that are good.
void CudaPlanTest::anIndexOutsideIsAnError()
{
    plan::PlanGraph graph;
    const plan::ValueId data = graph.addValue({DType::F32, {3, 2}}, "data");
    const plan::ValueId index = graph.addValue({DType::I64, {4}}, "index");
    const plan::ValueId result = graph.addValue({DType::F32, {4, 2}}, "result");
    graph.inputs = {data, index};
    graph.outputs = {result};
    graph.outputNames = {"result"};
    graph.nodes.push_back(
        {ops::Gather{0, ops::IndexMode::Raise}, "Gather", {"lookup"}, {data, index}, {result}, {}});
    const auto gpu = std::make_shared<test::HostGpu>();
    const auto plan = backends::cuda::makePlan(std::move(graph), gpu, {}, nullptr);
    QVERIFY2(plan.ok(), plan.ok() ? "" : plan.error().message().c_str());
    const std::vector<float> rows{0, 1, 10, 11, 20, 21};
    std::memcpy(plan.value()->input(0).data(), rows.data(), rows.size() * sizeof rows[0]);
    const auto run = [&](const std::vector<std::int64_t> &indices) {
        std::memcpy(plan.value()->input(1).data(), indices.data(), indices.size() * sizeof indices[0]);
        return plan.value()->run();
    };
    QVERIFY(run({2, -1, 0, -3}).ok());
    QCOMPARE(outputOf(*plan.value(), 0), (std::vector<double>{20, 21, 20, 21, 0, 1, 0, 1}));
    for (const auto &[indices, bad] : {std::pair(std::vector<std::int64_t>{0, 3, 9, 1}, "index 3"),
                                       std::pair(std::vector<std::int64_t>{0, 1, 2, -4}, "index -4")}) {
        const auto done = run(indices);
        QVERIFY(!done.ok());
        QCOMPARE(done.error().code, Errc::BadInput);
        QCOMPARE(done.error().where, std::string("lookup, input 1"));
        QCOMPARE(done.error().found, std::string(bad));
        QCOMPARE(done.error().expected, std::string("an index from -3 to 2"));
    }
    QVERIFY(!plan.value()->timeSteps(1).ok());
    QVERIFY(run({1, 1, 1, 1}).ok());
}

/// What casts between them would write is read as it is; a scalar beside float16 is a float16 itself.
void CudaPlanTest::floatsOfTwoTypesMeet()
{
    plan::PlanGraph graph;
    const plan::ValueId half = graph.addValue({DType::F16, {3}}, "half");
    const plan::ValueId wide = graph.addValue({DType::F32, {3}}, "wide");
    const plan::ValueId sum = graph.addValue({DType::F32, {3}}, "sum");
    const plan::ValueId scaled = graph.addValue({DType::F16, {3}}, "scaled");
    graph.inputs = {half, wide};
    graph.outputs = {sum, scaled};
    graph.outputNames = {"sum", "scaled"};
    graph.nodes.push_back({ops::Binary{ops::BinaryKind::Add, true}, "add", {"add"}, {half, wide}, {sum}, {}});
    graph.nodes.push_back(
        {ops::ScalarBinary{ops::BinaryKind::Mul, false, 0.1, false}, "mul", {"mul"}, {half}, {scaled}, {}});
    const auto plan
        = backends::cuda::makePlan(std::move(graph), std::make_shared<test::HostGpu>(), {}, nullptr);
    QVERIFY2(plan.ok(), plan.ok() ? "" : plan.error().message().c_str());
    const std::vector<float> halves{1, 1000, 3};
    const std::vector<float> wides{0.1F, 0.01F, -3};
    tensor::narrow(halves.data(), halves.size(), DType::F16, plan.value()->input(0).data());
    std::memcpy(plan.value()->input(1).data(), wides.data(), wides.size() * sizeof wides[0]);
    QVERIFY(plan.value()->run().ok());
    const double tenth = tensor::heldIn(DType::F16, 0.1);
    for (std::size_t k = 0; k < 3; ++k) {
        QCOMPARE(outputOf(*plan.value(), 0)[k], static_cast<double>(halves[k] + wides[k]));
        QCOMPARE(outputOf(*plan.value(), 1)[k],
                 tensor::heldIn(DType::F16, static_cast<double>(halves[k] * static_cast<float>(tenth))));
    }
}

void CudaPlanTest::tf32IsAllowedInEveryProductOrInNone_data()
{
    QTest::addColumn<bool>("isAllowed");
    QTest::newRow("float32") << false;
    QTest::newRow("TF32") << true;
}

/// A convolution, a layer, a product of two results, and attention's two, whoever asks for them.
void CudaPlanTest::tf32IsAllowedInEveryProductOrInNone()
{
    QFETCH(bool, isAllowed);
    test::GraphBuilder g;
    const Entry conv
        = g.op("Convolution", "conv", {g.variable("x"), g.variable("conv_weight"), g.variable("conv_bias")},
               {{"kernel", "(3, 3)"}, {"pad", "(1, 1)"}, {"num_filter", "8"}});
    const Entry full
        = g.op("FullyConnected", "full", {conv, g.variable("full_weight"), g.variable("full_bias")},
               {{"num_hidden", "16"}, {"flatten", "False"}});
    const Entry rows = g.op("Reshape", "rows", {full}, {{"shape", "(-3, -2)"}});
    const Entry scores
        = g.op("softmax", "softmax", {g.op("batch_dot", "scores", {rows, rows}, {{"transpose_b", "True"}})});
    const Entry mixed = g.op("batch_dot", "mixed", {scores, rows});
    const Entry square = g.op("batch_dot", "square", {mixed, mixed}, {{"transpose_a", "True"}});
    const Shapes inputs{{"x", {2, 4, 6, 6}}};
    const auto typed = typedOf(withParameters(g.model({square}), inputs), inputs);
    QVERIFY2(typed.ok(), typed.ok() ? "" : typed.error().message().c_str());
    const auto gpu = std::make_shared<test::LibraryGpu>([](const backends::cuda::ProductDesc &) {
        return Result<void>(unsupported("test", "none of them: kernels of our own"));
    });
    const auto plan
        = backends::cuda::cudaBackend(gpu, {.allowsTf32 = isAllowed}, reference())->plan(typed.value(), {});
    QVERIFY2(plan.ok(), plan.ok() ? "" : plan.error().message().c_str());
    std::size_t convolutions = 0;
    for (const backends::cuda::ProductDesc &desc : gpu->asked) {
        QCOMPARE(desc.allowsTf32, isAllowed);
        convolutions += desc.isConvolution ? 1 : 0;
    }
    QVERIFY(convolutions >= 1);
    QVERIFY2(gpu->asked.size() >= convolutions + 4, qPrintable(QString::number(gpu->asked.size())));
}

namespace {

using backends::cuda::ProductDesc;

/// A plan by a library that takes everything, and says what it takes.
Planned plannedBy(const graph::Model &model, const Shapes &inputs,
                  std::function<double(const ProductDesc &)> timeOf,
                  const std::function<bool(const ProductDesc &)> &takesIt = {})
{
    const auto gpu = std::make_shared<test::LibraryGpu>([takesIt](const ProductDesc &desc) {
        return !takesIt || takesIt(desc) ? Result<void>() : Result<void>(unsupported("host", "not that one"));
    });
    gpu->timeOf = std::move(timeOf);
    Planned made{gpu, nullptr, {}};
    const auto typed = typedOf(model, inputs);
    if (!typed.ok())
        return {gpu, nullptr, QString::fromStdString(typed.error().message())};
    auto plan = backends::cuda::cudaBackend(gpu, {}, reference())->plan(typed.value(), {});
    if (!plan.ok())
        return {gpu, nullptr, QString::fromStdString(plan.error().message())};
    made.plan = std::move(plan).value();
    return made;
}

} // namespace

void CudaPlanTest::convolutionsAreWhatIsQuicker_data()
{
    QTest::addColumn<QString>("target");
    QTest::addColumn<double>("convolution");
    QTest::addColumn<double>("product");
    QTest::addColumn<int>("unrolled");
    for (const char *target : {"float32", "float16"}) {
        QTest::addRow("%s: as products", target) << target << 1000.0 << 5.0 << 2;
        QTest::addRow("%s: as they are", target) << target << 10.0 << 500.0 << 0;
        QTest::addRow("%s: too short to ask", target) << target << 2.0 << 0.1 << 0;
    }
}

/// A residual stands behind the second one.
void CudaPlanTest::convolutionsAreWhatIsQuicker()
{
    QFETCH(QString, target);
    QFETCH(double, convolution);
    QFETCH(double, product);
    QFETCH(int, unrolled);
    graph::Model model = residualNetwork();
    if (target == "float16") {
        policy::Policy policy;
        policy.castParams = true;
        model = mixed::convertModel(model, policy, false).value().model;
    }
    const Planned made = plannedBy(model, {{"x", Shape{2, 3, 6, 6}}}, [=](const ProductDesc &desc) {
        return desc.isConvolution ? convolution : product;
    });
    QVERIFY2(made.plan, qPrintable(made.failure));
    const auto kernels = made.kernels();
    QCOMPARE(std::ranges::count(kernels, "own nvrtc unrolled window"), unrolled);
    const QString wrong = difference(model, *made.plan, 4, target == "float32" ? 1e-5 : 4e-3);
    QVERIFY2(wrong.isEmpty(), qPrintable(wrong));
}

/// GELU behind a layer: in one call that takes long, or behind sums, or behind what the layer rounds to halves.
void CudaPlanTest::functionsBehindProductsAreApartWhereThatIsQuicker()
{
    test::GraphBuilder g;
    const Entry full
        = g.op("FullyConnected", "f", {g.variable("x"), g.variable("f_weight"), g.variable("f_bias")},
               {{"num_hidden", "64"}});
    const Entry gelu = g.op("LeakyReLU", "gelu", {full}, {{"act_type", "gelu"}});
    const Entry next = g.op("FullyConnected", "n", {gelu, g.variable("n_weight"), g.variable("n_bias")},
                            {{"num_hidden", "8"}});
    graph::Model model = withParameters(g.model({next}), {{"x", Shape{32, 16}}});
    policy::Policy policy;
    policy.castParams = true;
    model = mixed::convertModel(model, policy, false).value().model;
    struct Times
    {
        double whole, sums, biased;
        bool isApart;
        DType between;
    };
    for (const Times &times :
         {Times{4, 1, 1, false, DType::F16}, {40, 5, 6, true, DType::F32}, {40, 9, 5, true, DType::F16}}) {
        DType between = DType::F16;
        const Planned made = plannedBy(model, {{"x", Shape{32, 16}}}, [&times](const ProductDesc &desc) {
            return desc.activation != backends::cuda::Activation::None ? times.whole
                : desc.hasBias                                         ? times.biased
                                                                       : times.sums;
        });
        QVERIFY2(made.plan, qPrintable(made.failure));
        QCOMPARE(std::ranges::count(made.kernels(), "own nvrtc behind sums"), times.isApart ? 1 : 0);
        for (const auto &[name, kernel] : made.gpu->texts())
            if (kernel.label == "behind sums"
                && kernel.text.find("const float *__restrict__ p0") != std::string::npos)
                between = DType::F32;
        QCOMPARE(between, times.between);
        const QString wrong = difference(model, *made.plan, 4, 4e-3);
        QVERIFY2(wrong.isEmpty(), qPrintable(wrong));
    }
}

void CudaPlanTest::aRunIsOneLaunch()
{
    const Planned made = planned(residualNetwork(), {{"x", Shape{2, 3, 6, 6}}});
    QVERIFY(made.plan);
    const std::size_t launched = made.gpu->launches; // while it was recorded
    QVERIFY(made.plan->run().ok());
    QVERIFY(made.plan->run().ok());
    QCOMPARE(made.gpu->launches, launched);
    QCOMPARE(made.gpu->replays, 2U);
}

/// What is timed on the device alone is its kernels, all of them, of the inputs that a run has; a run's outputs stay as they are.
void CudaPlanTest::theDeviceAloneCopiesNothingBack()
{
    const Planned made = planned(residualNetwork(), {{"x", Shape{2, 3, 6, 6}}});
    QVERIFY(made.plan);
    QVERIFY(made.plan->run().ok());
    const std::vector<double> before = outputOf(*made.plan, 0);
    const std::size_t launched = made.gpu->launches;
    std::ranges::fill(made.plan->input(0), std::byte{0x3F});
    for (int k = 0; k < 2; ++k) {
        const auto milliseconds = made.plan->runOnDevice();
        QVERIFY2(milliseconds.ok(), milliseconds.ok() ? "" : milliseconds.error().message().c_str());
        QVERIFY(milliseconds.value().value_or(0) > 0);
    }
    QCOMPARE(made.gpu->launches, launched + made.plan->launches()->planned); // recorded once
    QCOMPARE(outputOf(*made.plan, 0), before);
    QVERIFY(made.plan->run().ok());
    QVERIFY(outputOf(*made.plan, 0) != before);
}

void CudaPlanTest::aSecondRunTakesNewInputs()
{
    const graph::Model model = residualNetwork();
    const Planned made = planned(model, {{"x", Shape{2, 3, 6, 6}}});
    QVERIFY(made.plan);
    for (const unsigned seed : {1U, 5U, 1U}) {
        const QString wrong = difference(model, *made.plan, seed, 1e-5);
        QVERIFY2(wrong.isEmpty(), qPrintable(wrong));
    }
    const auto times = made.plan->timeSteps(1);
    QVERIFY(times.ok());
    QCOMPARE(times.value()[0].size(), made.plan->steps().size());
    QVERIFY(std::ranges::all_of(times.value()[0], [](double time) { return time > 0; }));
}

void CudaPlanTest::networks_data()
{
    QTest::addColumn<QString>("target");
    for (const char *type : {"float32", "float16", "bfloat16"})
        QTest::newRow(type) << type;
}

void CudaPlanTest::networks()
{
    QFETCH(QString, target);
    graph::Model model = residualNetwork();
    if (target != "float32") {
        policy::Policy policy;
        policy.target = *tensor::dtypeNamed(target.toStdString());
        const auto converted = mixed::convertModel(model, policy, false);
        QVERIFY2(converted.ok(), converted.ok() ? "" : converted.error().message().c_str());
        model = converted.value().model;
    }
    const Planned made = planned(model, {{"x", Shape{2, 3, 6, 6}}});
    QVERIFY2(made.plan, qPrintable(made.failure));
    const QString wrong = difference(model, *made.plan, 3,
                                     target == "float32"       ? 1e-5
                                         : target == "float16" ? 4e-3
                                                               : 3e-2);
    QVERIFY2(wrong.isEmpty(), qPrintable(wrong));
}

void CudaPlanTest::sharedModels_data()
{
    QTest::addColumn<QString>("folder");
    const QString shared = qEnvironmentVariable("HALFTONE_SHARED");
    for (const char *name : {"cifar-resnet20-v1", "mtcnn-det3"})
        if (!shared.isEmpty())
            QTest::newRow(name) << shared + "/models/" + name;
    if (shared.isEmpty())
        QTest::newRow("none") << QString();
}

void CudaPlanTest::sharedModels()
{
    QFETCH(QString, folder);
    if (folder.isEmpty())
        QSKIP("HALFTONE_SHARED names no folder with trained models");
    const QDir dir(folder);
    const QStringList files = dir.entryList({"*-symbol.json", "*.onnx"});
    QVERIFY(!files.isEmpty());
    const auto loaded = io::loadModel(dir.filePath(files[0]).toStdString(), {});
    QVERIFY2(loaded.ok(), loaded.ok() ? "" : loaded.error().message().c_str());
    const auto recorded = io::readNpz(dir.filePath("reference.npz").toStdString());
    QVERIFY(recorded.ok());
    Shapes inputs;
    for (const io::NamedTensor &array : recorded.value())
        if (array.name.starts_with("in0."))
            inputs.emplace(array.name.substr(4), array.tensor.shape());
    const Planned made = planned(loaded.value().model, inputs);
    QVERIFY2(made.plan, qPrintable(made.failure));
    const QString wrong = difference(loaded.value().model, *made.plan, 1, 1e-4);
    QVERIFY2(wrong.isEmpty(), qPrintable(wrong));
}

QTEST_GUILESS_MAIN(CudaPlanTest)
#include "tst_cuda_plan.moc"
