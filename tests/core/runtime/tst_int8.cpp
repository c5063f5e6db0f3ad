#include "core/io/model_io.h"
#include "core/io/npz.h"
#include "core/passes/infer_types.h"
#include "core/passes/variables.h"
#include "core/runtime/backends.h"
#include "core/runtime/fused_int8.h"
#include "core/runtime/latency_plan.h"
#include "tests/support/files.h"

#include <QtTest>

#include <algorithm>
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

std::unique_ptr<runtime::LatencyPlan> planOf(const graph::Model &model, const tensor::Shape &data)
{
    const auto shapes = passes::inferShapes(model.graph, {{"data", data}});
    if (!shapes.ok())
        qFatal("%s", shapes.error().message().c_str());
    std::vector<policy::Warning> warnings;
    std::vector<DType> known;
    const auto variables = passes::classifyVariables(model, {}, warnings);
    for (const passes::Variable &variable : variables.value())
        known.push_back(variable.type);
    const auto types = passes::inferTypes(model.graph, known);
    if (!types.ok())
        qFatal("%s", types.error().message().c_str());
    static const auto fallback = runtime::backendChain("reference", 2);
    runtime::PlanOptions options;
    options.threads = 2;
    options.fallback = fallback.value().front().get();
    auto plan = runtime::makeLatencyPlan(model, types.value(), shapes.value(), options);
    if (!plan.ok())
        qFatal("%s", plan.error().message().c_str());
    return std::move(plan).value();
}

bool hasLatencyPlans()
{
    const auto backends = runtime::allBackends();
    const auto cpu = std::ranges::find(backends, "cpu", &runtime::BackendInfo::name);
    return cpu != backends.end() && cpu->why.find("no oneDNN") == std::string::npos;
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
            const auto chain = runtime::backendChain(backend, 2);
            auto interpreter = runtime::Interpreter::create(quantized, chain.value());
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
        for (const char *name : {"residual", "concat", "cbrpf"}) {
            const graph::Model quantized = load(kData + name + "/onednn_auto_naive-symbol.json");
            const auto plan = planOf(quantized, arrayOf(name, "data").shape());
            std::size_t codes = 0;
            for (const runtime::PlanStep &step : plan->steps()) {
                const bool isCode = step.dtype == DType::I8 || step.dtype == DType::U8;
                codes += isCode ? 1 : 0;
                QVERIFY2(step.kind == runtime::StepKind::Compute || !isCode,
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
            = [](const runtime::PlanStep &step) { return step.op.find("elemwise_add") != std::string::npos; };
        QVERIFY(std::ranges::none_of(plan->steps(), isSum));
    }

    void weightsOfACalibratedConvolutionHaveAScaleForEachChannel()
    {
        runtime::FusedInt8 op;
        op.conv = ops::Conv{{1, 1}, {}, {}, {}, 2, 1, true};
        op.range = {0.0, 1.0};
        const std::vector<float> weight{1.0F, -0.5F, 0.25F, 0.125F};
        const std::vector<float> bias{0.1F, -0.2F};
        const std::vector<runtime::TensorDesc> descs{
            {DType::U8, {1, 2, 1, 1}}, {DType::F32, {2, 2, 1, 1}}, {DType::F32, {2}}};
        const std::vector<const std::byte *> bytes{nullptr,
                                                   reinterpret_cast<const std::byte *>(weight.data()),
                                                   reinterpret_cast<const std::byte *>(bias.data())};
        const runtime::CodedWeights weights = runtime::codeWeights(op, descs, bytes, 255.5);
        QCOMPARE(weights.scales, (std::vector<double>{127.5, 510}));
        // 127.5 rounds to the even 128, which int8 lacks.
        QCOMPARE(weights.codes, (std::vector<std::int8_t>{127, -64, 127, 64}));
        QCOMPARE(weights.bias,
                 (std::vector<std::int32_t>{3258, -26061})); // 0.1 · 127.5 · 255.5, -0.2 · 510 · 255.5
    }

    void anEmptyRangeHasMxnetsLargestScale()
    {
        QCOMPARE(runtime::scaleOfRange(DType::I8, 0, 0), 2147483647.0);
        QCOMPARE(runtime::scaleOfRange(DType::I8, -2, 1), 63.75);
        QCOMPARE(runtime::scaleOfRange(DType::U8, 0, 2), 127.75);
    }
};

QTEST_APPLESS_MAIN(TestInt8)
#include "tst_int8.moc"
