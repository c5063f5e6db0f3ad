#include "core/backends/cuda/backend.h"
#include "core/backends/cuda/toolkit/blas.h"
#include "core/backends/cuda/toolkit/dnn.h"
#include "core/backends/reference/reference_backend.h"
#include "core/dialect/registry.h"
#include "core/infer/infer_types.h"
#include "core/infer/typed_model.h"
#include "core/infer/variables.h"
#include "core/interpret/interpreter.h"
#include "core/interpret/random_params.h"
#include "core/kernels/latency_plan.h"
#include "core/mixed/convert_model.h"
#include "core/tensor/elements.h"
#include "tests/core/backends/cuda/chips.h"
#include "tests/core/backends/cuda/host_library.h"
#include "tests/support/build_graph.h"

#include <QTest>

#include <cmath>

using namespace halftone;
using graph::Entry;
using tensor::DType;
using tensor::Shape;
using tensor::Tensor;

/// Networks as a GPU with NVIDIA's libraries gets them: cuDNN itself says which convolutions it has a plan for, the rules of cuBLASLt
/// which products; what they take is computed by its definition on this machine, and values are those of the reference kernels.
class CudaLibrariesTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase();
    void blocksAreOneProductEach_data();
    void blocksAreOneProductEach();
};

namespace {

std::shared_ptr<backends::cuda::ProductMaker> dnn()
{
    static const auto maker = backends::cuda::loadDnn(test::describedChip(test::kChips[4]));
    return maker.ok() ? maker.value() : nullptr;
}

Result<void> judge(const backends::cuda::ProductDesc &desc)
{
    if (desc.isConvolution) {
        const auto plan = dnn()->prepare(desc, nullptr);
        return plan.ok() ? Result<void>() : Result<void>(plan.error());
    }
    const auto product = backends::cuda::blasProduct(desc);
    return product.ok() ? Result<void>() : Result<void>(product.error());
}

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
    std::vector<DType> types;
    for (const infer::Variable &variable : variables)
        types.push_back(variable.type);
    HALFTONE_TRY(typed.types, infer::inferTypes(model.graph, types));
    return typed;
}

std::vector<float> numbers(std::size_t count)
{
    std::vector<float> values(count);
    for (std::size_t k = 0; k < count; ++k)
        values[k] = static_cast<float>((k * 37) % 101) / 50.0F - 1.0F;
    return values;
}

/// A bottleneck with a residual, an inverted one with ReLU6, a layer with GELU behind it, a product of two results.
graph::Model blocks()
{
    test::GraphBuilder g;
    const auto conv = [&g](const char *name, Entry from, const char *filters, const char *kernel,
                           const char *pad, const char *groups = "1") {
        return g.op(
            "Convolution", name,
            {from, g.variable(std::string(name) + "_weight"), g.variable(std::string(name) + "_bias")},
            {{"kernel", kernel}, {"pad", pad}, {"num_filter", filters}, {"num_group", groups}});
    };
    const auto relu = [&g](const char *name, Entry from) {
        return g.op("Activation", name, {from}, {{"act_type", "relu"}});
    };
    const Entry x = g.variable("x");
    const Entry first = relu("r1", conv("c1", x, "16", "(3, 3)", "(1, 1)"));
    const Entry inner = relu("r2", conv("c2", first, "8", "(1, 1)", "(0, 0)"));
    const Entry sum
        = relu("r3", g.op("elemwise_add", "s", {conv("c3", inner, "16", "(3, 3)", "(1, 1)"), first}));
    const Entry deep = g.op("clip", "r6", {conv("c4", sum, "16", "(3, 3)", "(1, 1)", "16")},
                            {{"a_min", "0"}, {"a_max", "6"}});
    const Entry pool
        = g.op("Pooling", "p", {deep}, {{"kernel", "(2, 2)"}, {"stride", "(2, 2)"}, {"pool_type", "max"}});
    const Entry full = g.op("FullyConnected", "f", {pool, g.variable("f_weight"), g.variable("f_bias")},
                            {{"num_hidden", "16"}});
    const Entry other = g.op("FullyConnected", "h", {full, g.variable("h_weight"), g.variable("h_bias")},
                             {{"num_hidden", "16"}});
    const Entry scores = g.op("dot", "d", {full, other}, {{"transpose_b", "True"}});
    auto model = interpret::withRandomParameters(g.model({g.op("softmax", "y", {scores})}),
                                                 {{"x", Shape{2, 3, 6, 6}}}, 3);
    if (!model.ok())
        qFatal("%s", model.error().message().c_str());
    return std::move(model).value();
}

} // namespace

void CudaLibrariesTest::initTestCase()
{
#ifdef HALFTONE_SANITIZED
    QSKIP("the threads of a block are contexts (host_gpu.h), which sanitizers do not follow");
#endif
    if (dnn() == nullptr)
        QSKIP("no cuDNN here");
}

void CudaLibrariesTest::blocksAreOneProductEach_data()
{
    QTest::addColumn<QString>("target");
    for (const char *type : {"float32", "float16", "bfloat16"})
        QTest::newRow(type) << type;
}

void CudaLibrariesTest::blocksAreOneProductEach()
{
    QFETCH(QString, target);
    graph::Model model = blocks();
    if (target != "float32") {
        policy::Policy policy;
        policy.target = *tensor::dtypeNamed(target.toStdString());
        const auto converted = mixed::convertModel(model, policy, false);
        QVERIFY2(converted.ok(), converted.ok() ? "" : converted.error().message().c_str());
        model = converted.value().model;
    }
    const auto typed = typedOf(model, {{"x", Shape{2, 3, 6, 6}}});
    QVERIFY2(typed.ok(), typed.ok() ? "" : typed.error().message().c_str());
    const auto gpu = std::make_shared<test::LibraryGpu>(judge);
    const auto reference = backends::reference::referenceBackend({1, false});
    const auto plan = backends::cuda::cudaBackend(gpu, {}, reference)->plan(typed.value(), {});
    QVERIFY2(plan.ok(), plan.ok() ? "" : plan.error().message().c_str());
    QString told;
    for (const kernels::PlanStep &step : plan.value()->steps())
        told += QString::fromStdString(step.kernel + ": " + step.op) + '\n';
    QVERIFY2(gpu->taken == 7 && !told.contains("convolution") && !told.contains("matrix product")
                 && !told.contains("cpu"),
             qPrintable(told));
    // Biases, sums, ReLU and its cut are behind the products; casts at the ends stand alone.
    const auto kernels = told.remove("elementwise: amp_cast");
    QVERIFY2(!kernels.contains("elementwise: "), qPrintable(told));

    const auto values = numbers(2 * 3 * 6 * 6);
    const DType type = plan.value()->inputs()[0].desc.dtype;
    tensor::narrow(values.data(), values.size(), type, plan.value()->input(0).data());
    std::vector<std::byte> bytes(values.size() * tensor::sizeOf(type));
    tensor::narrow(values.data(), values.size(), type, bytes.data());
    const auto done = plan.value()->run();
    QVERIFY2(done.ok(), done.ok() ? "" : done.error().message().c_str());
    auto interpreter = interpret::Interpreter::create(model, {reference});
    QVERIFY(interpreter.ok());
    const auto want = interpreter.value().run({{"x", Tensor::owning(type, {2, 3, 6, 6}, std::move(bytes))}});
    QVERIFY(want.ok());
    std::vector<double> expected(want.value()[0].elementCount());
    tensor::widen(want.value()[0].dtype(), want.value()[0].bytes().data(), expected.size(), expected.data());
    std::vector<double> got(expected.size());
    tensor::widen(plan.value()->outputs()[0].desc.dtype, plan.value()->output(0).data(), got.size(),
                  got.data());
    const double tolerance = target == "float32" ? 1e-5 : target == "float16" ? 4e-3 : 3e-2;
    for (std::size_t k = 0; k < got.size(); ++k)
        QVERIFY2(std::abs(got[k] - expected[k]) <= tolerance,
                 qPrintable(QStringLiteral("%1, expected %2").arg(got[k]).arg(expected[k])));
}

QTEST_GUILESS_MAIN(CudaLibrariesTest)
#include "tst_cuda_libraries.moc"
