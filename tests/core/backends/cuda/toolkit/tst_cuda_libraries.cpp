#include "core/backends/cuda/backend.h"
#include "core/backends/cuda/toolkit/blas.h"
#include "core/backends/cuda/toolkit/choose_way.h"
#include "core/backends/cuda/toolkit/dnn.h"
#include "core/backends/reference/reference_backend.h"
#include "core/dialect/registry.h"
#include "core/infer/infer_types.h"
#include "core/infer/typed_model.h"
#include "core/infer/variables.h"
#include "core/interpret/interpreter.h"
#include "core/interpret/random_params.h"
#include "core/io/model_io.h"
#include "core/kernels/latency_plan.h"
#include "core/latency/typed_model.h"
#include "core/mixed/convert_model.h"
#include "core/quantize/quantize.h"
#include "core/tensor/elements.h"
#include "core/translate/to_onnx.h"
#include "tests/core/backends/cuda/chips.h"
#include "tests/core/backends/cuda/host_library.h"
#include "tests/support/build_graph.h"

#include <QProcess>
#include <QTemporaryDir>
#include <QTest>

#include <cmath>
#include <map>

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
    void layersOfATransformer_data();
    void layersOfATransformer();
    void networksOfTheBenchmark_data();
    void networksOfTheBenchmark();
};

namespace {

std::shared_ptr<backends::cuda::ProductMaker> dnn()
{
    static const auto maker = backends::cuda::loadDnn(test::describedChip(test::kChips[4]));
    return maker.ok() ? maker.value() : nullptr;
}

/// Networks repeat their layers, and cuDNN takes seconds for some.
Result<void> judge(const backends::cuda::ProductDesc &desc)
{
    if (backends::cuda::blasProduct(desc).ok())
        return {};
    static std::map<std::string, Result<void>> known;
    const std::string key = backends::cuda::keyOf(desc);
    if (!known.contains(key)) {
        const auto plan = dnn()->prepare(desc, nullptr);
        known.emplace(key, plan.ok() ? Result<void>() : Result<void>(plan.error()));
    }
    return known.at(key);
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

graph::Model inType(const graph::Model &model, const QString &target)
{
    if (target == "float32")
        return model;
    policy::Policy policy;
    policy.target = *tensor::dtypeNamed(target.toStdString());
    policy.castParams = true;
    const auto converted = mixed::convertModel(model, policy, false);
    if (!converted.ok())
        qFatal("%s", converted.error().message().c_str());
    return converted.value().model;
}

/// In int8 with some ranges, as pairs of QuantizeLinear and DequantizeLinear: what a ReLU gives begins at 0.
graph::Model inInt8(const graph::Model &mxnet, const Shapes &inputs)
{
    auto onnx = translate::toOnnx(mxnet, {inputs, {}});
    if (!onnx.ok())
        qFatal("%s", onnx.error().message().c_str());
    const graph::Model model = std::move(onnx).value();
    const auto planned = quantize::planQuantization(model, {});
    if (!planned.ok())
        qFatal("%s", planned.error().message().c_str());
    quantize::QuantizedRanges ranges;
    for (const quantize::ObservedTensor &tensor : planned.value().observed) {
        const bool isPositive = tensor.source.starts_with("activation") || tensor.source.starts_with("clip");
        ranges[tensor.source] = {isPositive ? 0.0F : -3.0F, 3.0F};
    }
    auto quantized = quantize::quantize(model, {}, ranges);
    if (!quantized.ok())
        qFatal("%s", quantized.error().message().c_str());
    return std::move(quantized).value().model;
}

/// As tests/gpu/bench.py has it converted: attention in bfloat16 is computed in it, as PyTorch's is.
graph::Model asBenchmarked(const graph::Model &model, const QString &target, const Shapes &inputs)
{
    if (target == "int8")
        return inInt8(model, inputs);
    if (target != "bfloat16")
        return inType(model, target);
    policy::Policy policy;
    policy.target = DType::BF16;
    policy.castParams = true;
    for (const char *op : {"batch_dot", "softmax", "_mul_scalar", "reshape", "transpose"})
        policy.moves.push_back({op, policy::Policy::Move::To::Target});
    const auto converted = mixed::convertModel(model, policy, false);
    if (!converted.ok())
        qFatal("%s", converted.error().message().c_str());
    return converted.value().model;
}

/// A model's plan with libraries, run once.
struct Ran
{
    std::shared_ptr<test::LibraryGpu> gpu = std::make_shared<test::LibraryGpu>(judge);
    QStringList steps; ///< "kernel: operator"
    double distance = 0; ///< of the results from the reference's, against the largest of these
    QString failure;
};

Ran ran(const graph::Model &model, const Shape &shape)
{
    Ran result;
    const auto typed = typedOf(model, {{"x", shape}});
    const auto reference = backends::reference::referenceBackend({1, false});
    if (!typed.ok())
        return result.failure = QString::fromStdString(typed.error().message()), result;
    const auto plan = backends::cuda::cudaBackend(result.gpu, {}, reference)->plan(typed.value(), {});
    if (!plan.ok())
        return result.failure = QString::fromStdString(plan.error().message()), result;
    for (const kernels::PlanStep &step : plan.value()->steps())
        if (!step.kernel.starts_with("copy"))
            result.steps.append(QString::fromStdString(step.kernel + ": " + step.op));
    const auto values = numbers(static_cast<std::size_t>(*shape.elementCount()));
    const DType type = plan.value()->inputs()[0].desc.dtype;
    tensor::narrow(values.data(), values.size(), type, plan.value()->input(0).data());
    std::vector<std::byte> bytes(values.size() * tensor::sizeOf(type));
    tensor::narrow(values.data(), values.size(), type, bytes.data());
    if (const auto done = plan.value()->run(); !done.ok())
        return result.failure = QString::fromStdString(done.error().message()), result;
    auto interpreter = interpret::Interpreter::create(model, {reference});
    const auto want = interpreter.value().run({{"x", Tensor::owning(type, shape, std::move(bytes))}});
    if (!want.ok())
        return result.failure = QString::fromStdString(want.error().message()), result;
    std::vector<double> expected(want.value()[0].elementCount());
    tensor::widen(want.value()[0].dtype(), want.value()[0].bytes().data(), expected.size(), expected.data());
    std::vector<double> got(expected.size());
    tensor::widen(plan.value()->outputs()[0].desc.dtype, plan.value()->output(0).data(), got.size(),
                  got.data());
    double largest = 0;
    for (std::size_t k = 0; k < got.size(); ++k) {
        result.distance = std::max(result.distance, std::abs(got[k] - expected[k]));
        if (std::isnan(got[k]) != std::isnan(expected[k]))
            result.distance = INFINITY;
        largest = std::max(largest, std::abs(expected[k]));
    }
    result.distance /= largest;
    return result;
}

/// A layer of an encoder as MXNet's BERT has it: heads joined with the batch, so that products and softmax have three axes.
graph::Model transformer(const Shape &data)
{
    test::GraphBuilder g;
    const auto full = [&g](const std::string &name, Entry from, const char *units) {
        return g.op("FullyConnected", name, {from, g.variable(name + "_weight"), g.variable(name + "_bias")},
                    {{"num_hidden", units}, {"flatten", "False"}});
    };
    const auto norm = [&g](const std::string &name, Entry from) {
        return g.op("LayerNorm", name, {from, g.variable(name + "_gamma"), g.variable(name + "_beta")},
                    {{"axis", "-1"}});
    };
    const auto split = [&](const std::string &name, Entry from) {
        const Entry four
            = g.op("reshape", name + "4", {full(name, from, "128")}, {{"shape", "(0, 0, 2, 64)"}});
        const Entry turned = g.op("transpose", name + "t", {four}, {{"axes", "(0, 2, 1, 3)"}});
        return g.op("reshape", name + "3", {turned}, {{"shape", "(-3, 0, 0)"}});
    };
    const Entry x = norm("n0", g.variable("x"));
    const Entry q = split("q", x);
    const Entry k = split("k", x);
    const Entry v = split("v", x);
    const Entry scores
        = g.op("_mul_scalar", "scaled", {g.op("batch_dot", "scores", {q, k}, {{"transpose_b", "True"}})},
               {{"scalar", "0.125"}});
    const Entry mixed
        = g.op("batch_dot", "mixed", {g.op("softmax", "weights", {scores}, {{"axis", "-1"}}), v});
    const Entry apart = g.op("reshape", "apart", {mixed}, {{"shape", "(-4, -1, 2, 0, 0)"}});
    const Entry back = g.op("transpose", "back", {apart}, {{"axes", "(0, 2, 1, 3)"}});
    const Entry rows = g.op("reshape", "rows", {back}, {{"shape", "(0, 0, -3)"}});
    const Entry first = norm("n1", g.op("elemwise_add", "s1", {x, full("o", rows, "128")}));
    const Entry up = g.op("LeakyReLU", "gelu", {full("up", first, "256")}, {{"act_type", "gelu"}});
    const Entry second = norm("n2", g.op("elemwise_add", "s2", {first, full("down", up, "128")}));
    auto model = interpret::withRandomParameters(g.model({second}), {{"x", data}}, 3);
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
    const Ran result = ran(inType(blocks(), target), Shape{2, 3, 6, 6});
    QVERIFY2(result.failure.isEmpty(), qPrintable(result.failure));
    const QString told = result.steps.join('\n');
    QVERIFY2(result.gpu->taken == 6 && !told.contains("matrix product") && !told.contains("cpu"),
             qPrintable(told));
    // The one that takes each channel by itself is a kernel of our own.
    QVERIFY2(told.count("depthwise convolution") == 1 && told.count("own nvrtc convolution") == 0,
             qPrintable(told));
    // Biases, sums, ReLU and its cut are behind the products; casts at the ends stand alone.
    QVERIFY2(!QString(told).remove("elementwise: amp_cast").contains("elementwise: "), qPrintable(told));
    const double tolerance = target == "float32" ? 1e-5 : target == "float16" ? 4e-3 : 3e-2;
    QVERIFY2(result.distance <= tolerance, qPrintable(QString::number(result.distance)));
}

void CudaLibrariesTest::layersOfATransformer_data()
{
    QTest::addColumn<QString>("target");
    QTest::addColumn<int>("batch");
    for (const char *type : {"float32", "float16", "bfloat16"})
        for (const int batch : {1, 2})
            QTest::addRow("%s, batch %d", type, batch) << type << batch;
}

/// Queries, keys and values are one product; attention is one step in 16 bits, else a product, a softmax and a product;
/// biases and sums stand behind products, casts in the normalisations before.
void CudaLibrariesTest::layersOfATransformer()
{
    QFETCH(QString, target);
    QFETCH(int, batch);
    const Shape data{batch, 6, 128};
    const Ran result = ran(inType(transformer(data), target), data);
    QVERIFY2(result.failure.isEmpty(), qPrintable(result.failure));
    QString told = result.steps.join('\n');
    for (const backends::cuda::ProductDesc &desc : result.gpu->asked)
        told += QStringLiteral("\n%1 x %2 to %3, bias %4, residual %5")
                    .arg(QString::fromStdString(std::string(tensor::nameOf(desc.a.dtype))),
                         QString::fromStdString(std::string(tensor::nameOf(desc.b.dtype))),
                         QString::fromStdString(std::string(tensor::nameOf(desc.c.dtype))))
                    .arg(desc.hasBias)
                    .arg(desc.residual.has_value());
    QVERIFY2(!told.contains("matrix product") && !told.contains("cpu"), qPrintable(told));
    if (target != "bfloat16") { // whose list keeps these products in float32
        const bool isFused = target == "float16";
        QVERIFY2(told.count("own nvrtc attention") == (isFused ? 1 : 0), qPrintable(told));
        QVERIFY2(result.gpu->taken == (isFused ? 4U : 6U), qPrintable(told));
        QVERIFY2(QString(told).remove("elementwise: amp_cast").count("elementwise: ") == 0, qPrintable(told));
        // GELU by erf.
        QVERIFY2(told.count("normalisation") == 3 && told.count("behind sums") == 1, qPrintable(told));
    }
    const double tolerance = target == "float32" ? 1e-5 : target == "float16" ? 4e-3 : 4e-2;
    QVERIFY2(result.distance <= tolerance, qPrintable(QString::number(result.distance) + '\n' + told));
}

void CudaLibrariesTest::networksOfTheBenchmark_data()
{
    QTest::addColumn<QString>("network");
    QTest::addColumn<QString>("target");
    QTest::addColumn<int>("kernels");
    struct Count
    {
        const char *target;
        int resnet50, mobilenetv2, bert;
    };
    for (const Count &count : {Count{"float32", 57, 55, 121},
                               {"float16", 58, 56, 97},
                               {"bfloat16", 58, 56, 97},
                               {"int8", 166, 162, 0}}) {
        QTest::addRow("resnet50 %s", count.target) << "resnet50" << count.target << count.resnet50;
        QTest::addRow("mobilenetv2 %s", count.target) << "mobilenetv2" << count.target << count.mobilenetv2;
        if (count.bert > 0) // codes of 85 million weights take a minute
            QTest::addRow("bert %s", count.target) << "bert" << count.target << count.bert;
    }
}

/// Kernels that a run launches at batch 1, and the time that an H100 cannot do without (1979 Top/s of int8, 989 Tflop/s of 16 bits, 67
/// of float32, 3.35 TB/s): printed, and held from above.
void CudaLibrariesTest::networksOfTheBenchmark()
{
    QFETCH(QString, network);
    QFETCH(QString, target);
    QFETCH(int, kernels);
    const Shapes shapes{{"data", network == "bert" ? Shape{1, 128, 768} : Shape{1, 3, 224, 224}}};
    static std::map<QString, graph::Model> drawn; // 85 million weights take seconds
    if (!drawn.contains(network)) {
        const QTemporaryDir folder;
        QProcess python;
        python.start("python3", {HALFTONE_SOURCE_DIR "/tests/gpu/networks.py", folder.filePath("networks")});
        if (!python.waitForFinished() || python.exitCode() != 0)
            QSKIP("no Python to write the networks with");
        const auto loaded = io::loadModel(
            folder.filePath("networks/" + network + "-symbol.json").toStdString(), {{}, true});
        QVERIFY2(loaded.ok(), loaded.ok() ? "" : loaded.error().message().c_str());
        auto random = interpret::withRandomParameters(loaded.value().model, shapes, 1);
        QVERIFY2(random.ok(), random.ok() ? "" : random.error().message().c_str());
        drawn.emplace(network, std::move(random).value());
    }
    const graph::Model model = asBenchmarked(drawn.at(network), target, shapes);
    const auto typed = latency::typedModel(model, shapes, policy::Policy());
    QVERIFY2(typed.ok(), typed.ok() ? "" : typed.error().message().c_str());
    const auto gpu = std::make_shared<test::LibraryGpu>(judge);
    const auto plan = backends::cuda::cudaBackend(gpu, {}, backends::reference::referenceBackend({1, false}))
                          ->plan(typed.value(), {});
    QVERIFY2(plan.ok(), plan.ok() ? "" : plan.error().message().c_str());
    std::map<std::string, int> kinds;
    double limit = 0;
    for (const kernels::PlanStep &step : plan.value()->steps()) {
        if (step.kernel.starts_with("copy"))
            continue;
        ++kinds[step.kernel];
        const double rate = step.dtype == DType::F32 ? 67e12 : tensor::isHalf(step.dtype) ? 989e12 : 1979e12;
        limit += 1e6 * std::max(step.flops / rate, step.bytes / 3.35e12);
        QVERIFY2(!step.kernel.starts_with("on the cpu"), step.op.c_str());
    }
    QString told;
    for (const auto &[kernel, count] : kinds)
        told += QStringLiteral("; %1 %2").arg(count).arg(QString::fromStdString(kernel));
    const auto planned = static_cast<int>(plan.value()->launches()->planned);
    qInfo("%s, %s, batch 1: %d kernels, roofline %.1f us%s", qPrintable(network), qPrintable(target), planned,
          limit, qPrintable(told));
    QVERIFY2(planned <= kernels, qPrintable(told));
}

QTEST_GUILESS_MAIN(CudaLibrariesTest)
#include "tst_cuda_libraries.moc"
