#include "core/backends/backends.h"
#include "core/backends/reference/reference_backend.h"
#include "core/infer/infer_types.h"
#include "core/infer/typed_model.h"
#include "core/infer/variables.h"
#include "core/interpret/interpreter.h"
#include "core/io/arrays/npz.h"
#include "core/io/model_io.h"
#include "core/kernels/coded_weights.h"
#include "core/kernels/latency_plan.h"
#include "core/tensor/bfloat16.h"
#include "tests/support/build_graph.h"
#include "tests/support/files.h"

#include <QTest>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

using namespace halftone;
using tensor::DType;

namespace {

const std::string kData = std::string(HALFTONE_TEST_DATA) + "/int8/";

graph::Model load(const std::string &path)
{
    auto loaded = io::loadModel(path, {});
    if (!loaded.ok())
        qFatal("%s", loaded.error().message().c_str());
    return std::move(loaded).value().model;
}

tensor::Tensor arrayOf(const std::string &model, const std::string &name)
{
    auto arrays = io::readNpz(kData + model + "/runs.npz");
    if (!arrays.ok())
        qFatal("%s", arrays.error().message().c_str());
    const auto found = std::ranges::find(arrays.value(), name, &io::NamedTensor::name);
    if (found == arrays.value().end())
        qFatal("no array %s", name.c_str());
    return found->tensor;
}

/// The largest difference as a share of the largest wanted value.
double difference(const tensor::Tensor &got, const tensor::Tensor &want)
{
    const std::vector<float> a = got.values<float>();
    const std::vector<float> b = want.values<float>();
    double most = 0;
    double peak = 0;
    for (std::size_t i = 0; i < b.size(); ++i) {
        most = std::max(most, std::abs(double{a[i]} - double{b[i]}));
        peak = std::max(peak, std::abs(double{b[i]}));
    }
    return a.size() == b.size() ? most / peak : 1;
}

std::unique_ptr<kernels::LatencyPlan> planOf(const graph::Model &model, const tensor::Shape &data)
{
    const auto shapes = infer::inferShapes(model.graph, {{"data", data}});
    if (!shapes.ok())
        qFatal("%s", shapes.error().message().c_str());
    std::vector<policy::Warning> warnings;
    std::vector<DType> known;
    const auto variables = infer::classifyVariables(model, {}, warnings);
    for (const infer::Variable &variable : variables.value())
        known.push_back(variable.type);
    const auto types = infer::inferTypes(model.graph, known);
    if (!types.ok())
        qFatal("%s", types.error().message().c_str());
    const auto backend = backends::planningBackend(backends::kDefaultBackend, 2).value();
    auto plan = backend->plan({model, types.value(), shapes.value()}, {});
    if (!plan.ok())
        qFatal("%s", plan.error().message().c_str());
    return std::move(plan).value();
}

bool hasLatencyPlans()
{
    return backends::backendInfo(backends::kDefaultBackend).value().makesPlans;
}

void addRuns()
{
    QTest::addColumn<QString>("model");
    QTest::addColumn<QString>("variant");
    for (const nlohmann::json &record : test::readJson(kData + "cases.json")) {
        if (!record["runs"])
            continue;
        const std::string model = record["model"];
        const std::string variant = record["variant"];
        QTest::newRow((model + '/' + variant).c_str())
            << QString::fromStdString(model) << QString::fromStdString(variant);
    }
}

using kernels::TensorDesc;

tensor::Tensor constantOf(DType type, const tensor::Shape &shape, std::vector<std::byte> bytes)
{
    return tensor::Tensor::owning(type, shape, std::move(bytes));
}

tensor::Tensor numberOf(float value)
{
    const auto bytes = std::as_bytes(std::span(&value, 1));
    return constantOf(DType::F32, {1}, {bytes.begin(), bytes.end()});
}

std::vector<std::byte> codesOf(std::size_t count)
{
    std::vector<std::byte> codes(count);
    for (std::size_t i = 0; i < count; ++i)
        codes[i] = static_cast<std::byte>(i * 37 + 11);
    return codes;
}

/// A plain int8 operator whose data's range is open.
kernels::Operation int8Operation(int which)
{
    const TensorDesc end{DType::F32, {1}};
    const TensorDesc picture{DType::U8, {1, 16, 5, 5}};
    kernels::Operation operation;
    if (which == 0) {
        operation.op = ops::Quantized<ops::Conv>{
            ops::Conv{.kernel = {3, 3}, .pad = {{1, 1}, {1, 1}}, .outputChannels = 24}};
        operation.inputs
            = {picture, {DType::I8, {24, 16, 3, 3}}, {DType::I8, {24}}, end, end, end, end, end, end};
        operation.outputs = {{DType::I32, {1, 24, 5, 5}}, end, end};
        operation.constants.resize(9);
        operation.constants[1] = constantOf(DType::I8, {24, 16, 3, 3}, codesOf(24 * 16 * 9));
        operation.constants[2] = constantOf(DType::I8, {24}, codesOf(24));
        for (std::size_t k = 5; k < 9; ++k)
            operation.constants[k] = numberOf((k % 2 == 0 ? 1.0F : -1.0F) * static_cast<float>(k));
    } else if (which == 1) {
        operation.op = ops::Requantize{ops::QuantizedType::Int8, {-1.0, 2.0}};
        operation.inputs = {{DType::I32, {1, 16, 5, 5}}, end, end};
        operation.outputs = {{DType::I8, {1, 16, 5, 5}}, end, end};
    } else if (which == 2) {
        operation.op = ops::Dequantize{};
        operation.inputs = {picture, end, end};
        operation.outputs = {{DType::F32, {1, 16, 5, 5}}};
    } else { // of different types; the first one becomes int8 before
        operation.op = ops::Quantized<ops::Binary>{ops::Binary{ops::BinaryKind::Add}, {-1.0, 1.0}};
        operation.inputs = {picture, {DType::I8, {1, 16, 5, 5}}, end, end, end, end};
        operation.outputs = {{DType::I8, {1, 16, 5, 5}}, end, end};
    }
    operation.opName = "int8";
    return operation;
}

/// What a kernel gives for codes of all kinds, and sums up to the ends of 32 bits.
std::vector<std::vector<std::byte>> resultsOf(kernels::Kernel &kernel, const kernels::Operation &operation,
                                              float low, float high)
{
    std::vector<std::vector<std::byte>> inputs;
    bool isHigh = false;
    for (std::size_t k = 0; k < operation.inputs.size(); ++k) {
        const TensorDesc &desc = operation.inputs[k];
        const auto count = static_cast<std::size_t>(*desc.shape.elementCount());
        if (operation.isConstant(k)) {
            const auto bytes = operation.constants[k].bytes();
            inputs.emplace_back(bytes.begin(), bytes.end());
        } else if (desc.dtype == DType::F32) {
            const auto bytes = std::as_bytes(std::span(isHigh ? &high : &low, 1));
            inputs.emplace_back(bytes.begin(), bytes.end());
            isHigh = !isHigh;
        } else {
            inputs.push_back(codesOf(count * tensor::sizeOf(desc.dtype)));
        }
    }
    if (operation.inputs[0].dtype == DType::I32) {
        const std::array<std::int32_t, 4> ends{2147483647, -2147483647, 0, 1 << 30};
        std::memcpy(inputs[0].data(), ends.data(), sizeof ends);
    }
    std::vector<std::vector<std::byte>> outputs;
    std::vector<const std::byte *> from;
    std::vector<std::byte *> to;
    for (const auto &input : inputs)
        from.push_back(input.data());
    for (const TensorDesc &desc : operation.outputs)
        outputs.emplace_back(static_cast<std::size_t>(*desc.shape.elementCount())
                             * tensor::sizeOf(desc.dtype));
    for (auto &output : outputs)
        to.push_back(output.data());
    const auto done = kernel.run(from, to);
    if (!done.ok())
        qFatal("%s", done.error().message().c_str());
    return outputs;
}

std::vector<float> valuesIn(const std::vector<std::byte> &bytes)
{
    std::vector<float> values(bytes.size() / sizeof(float));
    std::memcpy(values.data(), bytes.data(), bytes.size());
    return values;
}

/// Reals that differ by float32's rounding alone.
bool isCloseTo(const std::vector<std::byte> &a, const std::vector<std::byte> &b)
{
    return std::ranges::equal(valuesIn(a), valuesIn(b),
                              [](float x, float y) { return std::abs(x - y) <= 1e-6F * std::abs(y); });
}

} // namespace

class TestInt8 : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void bothBackendsGiveWhatMxnetGave_data() { addRuns(); }
    void bothBackendsGiveWhatMxnetGave()
    {
        QFETCH(QString, model);
        QFETCH(QString, variant);
        const graph::Model quantized
            = load(kData + model.toStdString() + '/' + variant.toStdString() + "-symbol.json");
        const tensor::Tensor data = arrayOf(model.toStdString(), "data");
        const tensor::Tensor want = arrayOf(model.toStdString(), variant.toStdString() + ":int8_out0");
        for (const char *backend : {"reference", "cpu"}) {
            const auto chain = backends::backendChain(backend, 2);
            auto interpreter = interpret::Interpreter::create(quantized, chain.value());
            QVERIFY2(interpreter.ok(), interpreter.ok() ? "" : interpreter.error().message().c_str());
            const auto heads = interpreter.value().run({{"data", data}});
            QVERIFY2(heads.ok(), heads.ok() ? "" : heads.error().message().c_str());
            const double error = difference(heads.value()[0], want);
            QVERIFY2(error <= 0.02, (std::string(backend) + ' ' + std::to_string(error)).c_str());
        }
    }

    void thePlanGivesWhatMxnetGave_data() { addRuns(); }
    void thePlanGivesWhatMxnetGave()
    {
        QFETCH(QString, model);
        QFETCH(QString, variant);
        if (!hasLatencyPlans())
            QSKIP("this build has no oneDNN");
        const graph::Model quantized
            = load(kData + model.toStdString() + '/' + variant.toStdString() + "-symbol.json");
        const tensor::Tensor data = arrayOf(model.toStdString(), "data");
        const auto plan = planOf(quantized, data.shape());
        std::memcpy(plan->input(0).data(), data.bytes().data(), data.bytes().size());
        QVERIFY(plan->run().ok());
        const auto output = plan->output(0);
        const tensor::Tensor got = tensor::Tensor::owning(DType::F32, plan->outputs()[0].desc.shape,
                                                          {output.begin(), output.end()});
        const double error
            = difference(got, arrayOf(model.toStdString(), variant.toStdString() + ":int8_out0"));
        QVERIFY2(error <= 0.02, std::to_string(error).c_str());
    }

    void noReorderStandsBetweenTwoInt8Neighbours()
    {
        if (!hasLatencyPlans())
            QSKIP("this build has no oneDNN");
        const auto cpu = backends::backendInfo(backends::kDefaultBackend).value();
        if (cpu.support(DType::I8) != kernels::Support::Native)
            QSKIP("without VNNI products of codes are computed in float32");
        for (const char *name : {"residual", "concat", "cbrpf"}) {
            const graph::Model quantized = load(kData + name + "/onednn_auto_naive-symbol.json");
            const auto plan = planOf(quantized, arrayOf(name, "data").shape());
            std::size_t codes = 0;
            for (const kernels::PlanStep &step : plan->steps()) {
                const bool isCode = step.dtype == DType::I8 || step.dtype == DType::U8;
                codes += isCode ? 1 : 0;
                QVERIFY2(step.kind == kernels::StepKind::Compute || !isCode,
                         (name + (' ' + step.kernel)).c_str());
                if (isCode)
                    QVERIFY2(step.kernel != "reference", (name + (' ' + step.op)).c_str());
            }
            QVERIFY(codes >= 3);
        }
    }

    void aResidualSumOverwritesItsAddend()
    {
        if (!hasLatencyPlans())
            QSKIP("this build has no oneDNN");
        const graph::Model quantized = load(kData + "residual/onednn_auto_naive-symbol.json");
        const auto plan = planOf(quantized, arrayOf("residual", "data").shape());
        const auto isSum
            = [](const kernels::PlanStep &step) { return step.op.find("elemwise_add") != std::string::npos; };
        QVERIFY(std::ranges::none_of(plan->steps(), isSum));
    }

    void weightsOfACalibratedConvolutionHaveAScaleForEachChannel()
    {
        ops::FusedProduct op;
        op.conv = ops::Conv{{1, 1}, {}, {}, {}, 2, 1, true};
        op.range = {0.0, 1.0};
        const std::vector<float> weight{1.0F, -0.5F, 0.25F, 0.125F};
        const std::vector<float> bias{0.1F, -0.2F};
        const std::vector<kernels::TensorDesc> descs{
            {DType::U8, {1, 2, 1, 1}}, {DType::F32, {2, 2, 1, 1}}, {DType::F32, {2}}};
        const std::vector<const std::byte *> bytes{nullptr,
                                                   reinterpret_cast<const std::byte *>(weight.data()),
                                                   reinterpret_cast<const std::byte *>(bias.data())};
        const kernels::CodedWeights weights = kernels::codeWeights(op, descs, bytes, 255.5);
        QCOMPARE(weights.scales, (std::vector<double>{127.5, 510}));
        // 127.5 rounds to the even 128, which int8 lacks.
        QCOMPARE(weights.codes, (std::vector<std::int8_t>{127, -64, 127, 64}));
        QCOMPARE(weights.bias,
                 (std::vector<std::int32_t>{3258, -26061})); // 0.1 · 127.5 · 255.5, -0.2 · 510 · 255.5
    }

    /// It would be read beyond its end.
    void aSumWithAnotherShapeIsRefused()
    {
        ops::FusedProduct op;
        op.conv = ops::Conv{{1, 1}, {}, {}, {}, 2, 1, false};
        op.hasSum = true;
        op.range = {0.0, 1.0};
        const TensorDesc end{DType::F32, {1}};
        const TensorDesc picture{DType::U8, {1, 2, 3, 3}};
        const TensorDesc weight{DType::F32, {2, 2, 1, 1}};
        const TensorDesc pixel{DType::U8, {1, 2, 1, 1}};
        const auto prepared = [&](const TensorDesc &addend) {
            const kernels::Operation operation{
                op, "fused", {picture, weight, addend, end, end, end, end}, {picture, end, end}};
            return backends::reference::referenceBackend()->prepare(operation);
        };
        QVERIFY(prepared(picture).ok());
        const auto refused = prepared(pixel);
        QVERIFY(!refused.ok());
        QCOMPARE(refused.error().code, Errc::BadInput);
        QCOMPARE(refused.error().where, std::string("input 2"));
    }

    void kernelsFollowRangesFromRunToRun_data()
    {
        QTest::addColumn<int>("op");
        QTest::newRow("conv") << 0;
        QTest::newRow("requantize") << 1;
        QTest::newRow("dequantize") << 2;
        QTest::newRow("add") << 3;
    }
    /// The processor's kernels are made for the ranges of one run; each run is compared with the reference kernels.
    void kernelsFollowRangesFromRunToRun()
    {
        QFETCH(int, op);
        const auto chain = backends::backendChain("cpu", 2).value();
        if (chain.size() < 2)
            QSKIP("this build has no oneDNN");
        const kernels::Operation operation = int8Operation(op);
        const auto fast = chain[0]->prepare(operation);
        const auto reference = chain[1]->prepare(operation);
        if (!fast.ok() && fast.error().found.find("may saturate") != std::string::npos)
            QSKIP("this processor has no VNNI, so the reference kernels add products of codes");
        QVERIFY2(fast.ok(), fast.ok() ? "" : fast.error().message().c_str());
        QVERIFY(reference.ok());
        // The third makes codes of uint8 count from below zero, which only the reference kernel can.
        for (const auto &[low, high] :
             {std::pair(0.0F, 3.0F), std::pair(0.0F, 0.75F), std::pair(-1.0F, 3.0F)}) {
            const auto wanted = resultsOf(*reference.value(), operation, low, high);
            const auto got = resultsOf(*fast.value(), operation, low, high);
            for (std::size_t k = 0; k < wanted.size(); ++k) {
                if (operation.outputs[k].dtype != DType::F32)
                    QCOMPARE(got[k], wanted[k]);
                else
                    QVERIFY(isCloseTo(got[k], wanted[k]));
            }
        }
    }

    void codesBecomeTheBfloat16OfTheirFloat32()
    {
        if (!hasLatencyPlans())
            QSKIP("this build has no oneDNN");
        for (const float most : {1.0F, 3.7F, 0.0123F, 5e4F}) {
            test::GraphBuilder g;
            const std::string end = std::to_string(most);
            const graph::Entry codes
                = g.op("_contrib_quantize_v2", "codes", {g.variable("data")},
                       {{"out_type", "int8"}, {"min_calib_range", '-' + end}, {"max_calib_range", end}});
            const graph::Entry reals
                = g.op("_contrib_dequantize", "reals", {codes, {codes.node, 1}, {codes.node, 2}});
            const graph::Model model
                = g.model({g.op("amp_cast", "narrow", {reals}, {{"dtype", "bfloat16"}})});
            const auto plan = planOf(model, {1, 256, 1, 1});
            const double step = std::stod(end) / 127.5;
            for (int code = -128; code < 128; ++code) {
                const auto value = static_cast<float>(code * step);
                std::memcpy(plan->input(0).data() + static_cast<std::size_t>(code + 128) * sizeof value,
                            &value, sizeof value);
            }
            QVERIFY(plan->run().ok());
            QCOMPARE(plan->steps().size(), std::size_t{2});
            for (int code = -128; code < 128; ++code) {
                const float real = static_cast<float>(code) * static_cast<float>(step);
                std::uint16_t bits = 0;
                std::memcpy(&bits,
                            plan->output(0).data() + static_cast<std::size_t>(code + 128) * sizeof bits,
                            sizeof bits);
                QCOMPARE(bits, tensor::bfloat16FromFloat(real));
            }
        }
    }

    void anEmptyRangeHasMxnetsLargestScale()
    {
        QCOMPARE(ops::scaleOfRange(DType::I8, 0, 0), 2147483647.0);
        QCOMPARE(ops::scaleOfRange(DType::I8, -2, 1), 63.75);
        QCOMPARE(ops::scaleOfRange(DType::U8, 0, 2), 127.75);
    }
};

QTEST_APPLESS_MAIN(TestInt8)
#include "tst_int8.moc"
