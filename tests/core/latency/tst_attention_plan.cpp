#include "core/backends/backend_entry.h"
#include "core/backends/backends.h"
#include "core/backends/reference/reference_backend.h"
#include "core/interpret/interpreter.h"
#include "core/io/model_io.h"
#include "core/kernels/latency_plan.h"
#include "core/latency/typed_model.h"
#include "core/mixed/convert_model.h"

#include <QTest>

#include <cmath>
#include <cstring>

using namespace halftone;
using tensor::DType;
using tensor::Shape;
using tensor::Tensor;

namespace {

constexpr std::int64_t kTokens = 731; ///< of which no number of equal blocks is made
constexpr double kFloat32Tolerance = 1e-5;
constexpr double kBfloat16Tolerance = 4e-2;

/// Small numbers that depend on the place: words, types and a mask of 0 and 1.
Tensor idsOf(const std::string &name)
{
    const std::int64_t many = name == "input_ids" ? 8 : 2;
    std::vector<std::int64_t> ids(kTokens);
    for (std::size_t k = 0; k < ids.size(); ++k)
        ids[k] = static_cast<std::int64_t>(k * 37 % 11) % many;
    std::vector<std::byte> bytes(ids.size() * sizeof(std::int64_t));
    std::memcpy(bytes.data(), ids.data(), bytes.size());
    return Tensor::owning(DType::I64, Shape{1, kTokens}, std::move(bytes));
}

double largest(const std::vector<float> &values)
{
    double most = 0;
    for (const float value : values)
        most = std::max(most, std::abs(double{value}));
    return most;
}

} // namespace

/// Attention over long rows, written out as exporters do (tests/bench/make_bert.py --layers 1 --width 16 --heads 2 --tokens 731
/// --vocabulary 8), which latency plans compute in one step.
class AttentionPlanTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void longRowsAreOneStepThatGivesWhatTheNodesGive_data();
    void longRowsAreOneStepThatGivesWhatTheNodesGive();
};

void AttentionPlanTest::longRowsAreOneStepThatGivesWhatTheNodesGive_data()
{
    QTest::addColumn<DType>("type");
    QTest::newRow("float32") << DType::F32;
    QTest::newRow("bfloat16") << DType::BF16;
}

void AttentionPlanTest::longRowsAreOneStepThatGivesWhatTheNodesGive()
{
    QFETCH(DType, type);
    if (!backends::backendTable().front().makesPlans)
        QSKIP("this build has no oneDNN");
    const auto loaded = io::loadModel(HALFTONE_TEST_DATA "/onnx/long_rows.onnx");
    QVERIFY(loaded.ok());
    interpret::Feed fed;
    std::unordered_map<std::string, Shape> shapes;
    for (const std::string name : {"input_ids", "attention_mask", "token_type_ids"}) {
        fed.emplace(name, idsOf(name));
        shapes.emplace(name, Shape{1, kTokens});
    }
    auto interpreter
        = interpret::Interpreter::create(loaded.value().model, {backends::reference::referenceBackend()});
    QVERIFY(interpreter.ok());
    const auto defined = interpreter.value().run(fed);
    QVERIFY2(defined.ok(), defined.ok() ? "" : defined.error().message().c_str());

    policy::Policy policy;
    graph::Model model = loaded.value().model;
    if (type != DType::F32) {
        policy.target = type;
        auto converted = mixed::convertModel(model, policy, false);
        QVERIFY2(converted.ok(), converted.ok() ? "" : converted.error().message().c_str());
        model = std::move(converted).value().model;
    }
    const auto typed = latency::typedModel(std::move(model), shapes, policy);
    QVERIFY2(typed.ok(), typed.ok() ? "" : typed.error().message().c_str());
    const auto backend = backends::planningBackend(backends::kDefaultBackend, 2);
    QVERIFY(backend.ok());
    const bool isNative = backend.value()->support(type) == kernels::Support::Native;
    auto plan = backend.value()->plan(typed.value(), {});
    QVERIFY2(plan.ok(), plan.ok() ? "" : plan.error().message().c_str());
    for (std::size_t k = 0; k < plan.value()->inputs().size(); ++k) {
        const Tensor ids = idsOf(plan.value()->inputs()[k].name);
        std::memcpy(plan.value()->input(k).data(), ids.bytes().data(), ids.bytes().size());
    }
    QVERIFY(plan.value()->run().ok());
    const auto bytes = plan.value()->output(0);
    std::vector<float> computed(bytes.size() / sizeof(float));
    std::memcpy(computed.data(), bytes.data(), bytes.size());

    const std::vector<float> expected = defined.value()[0].values<float>();
    QCOMPARE(computed.size(), expected.size());
    std::vector<float> distance(expected.size());
    for (std::size_t k = 0; k < expected.size(); ++k)
        distance[k] = computed[k] - expected[k];
    const double tolerance = type == DType::F32 ? kFloat32Tolerance : kBfloat16Tolerance;
    const double ratio = largest(distance) / largest(expected);
    QVERIFY2(ratio < tolerance, qPrintable(QString::number(ratio)));
    std::size_t steps = 0;
    for (const kernels::PlanStep &step : plan.value()->steps()) {
        steps += step.kernel == "own attention" ? 1 : 0;
        // oneDNN's kernels of that name are more than a hundred times slower.
        QVERIFY2(!isNative || !step.kernel.starts_with("ref:"), step.nodes.front().c_str());
    }
    if (isNative)
        QCOMPARE(steps, std::size_t{1});
}

QTEST_GUILESS_MAIN(AttentionPlanTest)
#include "tst_attention_plan.moc"
