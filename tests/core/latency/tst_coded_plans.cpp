#include "core/backends/backends.h"
#include "core/io/arrays/npz.h"
#include "core/io/model_io.h"
#include "core/kernels/latency_plan.h"
#include "core/latency/typed_model.h"

#include <QTest>

#include <cmath>
#include <cstring>

using namespace halftone;
using tensor::Tensor;

/// Latency plans of networks whose values pass through codes of 8 bits, or meet weights of 4, against what ONNX Runtime recorded
/// (tests/support/make_coded_plan_goldens.py).
class CodedPlansTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void planGivesOnnxRuntimesValues_data();
    void planGivesOnnxRuntimesValues();
};

namespace {

struct Recorded
{
    Tensor input;
    std::vector<float> output;
    float step = 0; ///< of the output's codes; 0: it is real; -1: it is to be equal
};

Recorded recordedAt(const QString &path)
{
    Recorded recorded;
    const auto arrays = io::readNpz(path.toStdString());
    if (!arrays.ok())
        qFatal("%s", arrays.error().message().c_str());
    for (const io::NamedTensor &array : arrays.value()) {
        if (array.name == "in.x")
            recorded.input = array.tensor;
        else if (array.name == "out.y")
            recorded.output = array.tensor.values<float>();
        else
            recorded.step = array.tensor.values<float>()[0];
    }
    return recorded;
}

Result<std::unique_ptr<kernels::LatencyPlan>> planAt(const QString &path, const Tensor &input)
{
    HALFTONE_TRY(const io::LoadedModel loaded, io::loadModel(path.toStdString()));
    HALFTONE_TRY(const infer::TypedModel typed,
                 latency::typedModel(loaded.model, {{"x", input.shape()}}, policy::Policy()));
    HALFTONE_TRY(const auto backend, backends::planningBackend(backends::kDefaultBackend, 2));
    return backend->plan(typed, {});
}

std::vector<float> outputOf(kernels::LatencyPlan &plan, const Tensor &input)
{
    std::memcpy(plan.input(0).data(), input.bytes().data(), plan.input(0).size());
    const auto done = plan.run();
    if (!done.ok())
        qFatal("%s", done.error().message().c_str());
    const auto bytes = plan.output(0);
    std::vector<float> values(bytes.size() / sizeof(float));
    std::memcpy(values.data(), bytes.data(), bytes.size());
    return values;
}

std::size_t computingSteps(const kernels::LatencyPlan &plan)
{
    std::size_t count = 0;
    for (const kernels::PlanStep &step : plan.steps())
        count += step.kind == kernels::StepKind::Compute ? 1 : 0;
    return count;
}

} // namespace

void CodedPlansTest::planGivesOnnxRuntimesValues_data()
{
    QTest::addColumn<QString>("name");
    QTest::addColumn<int>("steps"); // where the processor adds codes exactly
    // Codes of the picture, three convolutions, the last with the residual sum, pooling, another one, a join, a product.
    QTest::newRow("uint8") << "uint8" << 9;
    QTest::newRow("int8") << "int8" << 9;
    QTest::newRow("products") << "products" << 4;
    QTest::newRow("operators") << "operators" << 3;
    // Codes and product of three convolutions, pooling, codes and product.
    QTest::newRow("dynamic, uint8") << "dynamic_uint8" << 9;
    QTest::newRow("dynamic, int8") << "dynamic_int8" << 9;
    // Codes of the picture, two averages and their product, the gate of an average and a function, its product, a mean.
    QTest::newRow("averages, uint8") << "averages_uint8" << 8;
    QTest::newRow("averages, int8") << "averages_int8" << 8;
    QTest::newRow("averages between two codes") << "ties" << 2;
    QTest::newRow("sums of a convolution") << "sums_conv" << 2;
    QTest::newRow("sums of a product") << "sums_product" << 2;
    QTest::newRow("weights of 4 bits") << "four_bits" << 3; // the products
}

void CodedPlansTest::planGivesOnnxRuntimesValues()
{
    QFETCH(QString, name);
    QFETCH(int, steps);
    const QString path = QStringLiteral(HALFTONE_TEST_DATA "/coded_plans/") + name;
    const Recorded recorded = recordedAt(path + ".npz");
    auto plan = planAt(path + ".onnx", recorded.input);
    QVERIFY2(plan.ok(), plan.ok() ? "" : plan.error().message().c_str());
    const std::vector<float> output = outputOf(*plan.value(), recorded.input);
    QCOMPARE(output.size(), recorded.output.size());
    // A sum that falls between two codes may become either, and what is computed with that differs as much.
    std::size_t others = 0;
    double most = 0;
    for (const float value : recorded.output)
        most = std::max(most, std::abs(double{value}));
    for (std::size_t k = 0; k < output.size(); ++k) {
        const double distance = std::abs(double{output[k]} - double{recorded.output[k]});
        const double allowed = recorded.step > 0 ? 1.01 * double{recorded.step}
            : recorded.step < 0                  ? 0
                                                 : 0.01 * most;
        QVERIFY2(distance <= allowed,
                 qPrintable(QStringLiteral("element %1 is %2, expected %3")
                                .arg(k)
                                .arg(output[k])
                                .arg(recorded.output[k])));
        others += distance > 1e-5 * most ? 1 : 0;
    }
    if (recorded.step > 0)
        QVERIFY2(others * 50 <= output.size(), qPrintable(QString::number(others)));
    QString told;
    for (const kernels::PlanStep &step : plan.value()->steps())
        told += QString::fromStdString(step.op + " by " + step.kernel + "\n");
    if (!told.contains(
            "vnni")) { // products of codes are such of float32, but for sums that stay whole numbers
        QVERIFY2(recorded.step < 0 || !told.contains("avx2") || !told.contains("reference"),
                 qPrintable(told));
        return;
    }
    QVERIFY2(!told.contains("reference"), qPrintable(told));
    QVERIFY2(computingSteps(*plan.value()) <= static_cast<std::size_t>(steps), qPrintable(told));
}

QTEST_GUILESS_MAIN(CodedPlansTest)
#include "tst_coded_plans.moc"
