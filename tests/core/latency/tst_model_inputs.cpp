#include "core/backends/backend_entry.h"
#include "core/backends/backends.h"
#include "core/io/arrays/npz.h"
#include "core/io/model_io.h"
#include "core/latency/body_kernel.h"
#include "core/latency/latency.h"
#include "core/latency/model_inputs.h"
#include "core/latency/plan_maker.h"
#include "core/latency/typed_model.h"

#include <QTest>

#include <algorithm>
#include <cmath>
#include <cstring>

using namespace halftone;
using tensor::DType;
using tensor::Tensor;

namespace {

std::string fileOf(const std::string &name)
{
    return std::string(HALFTONE_TEST_DATA "/onnx/") + name;
}

graph::Model modelIn(const std::string &name)
{
    auto loaded = io::loadModel(fileOf(name + ".onnx"));
    if (!loaded.ok())
        qFatal("%s", loaded.error().message().c_str());
    return std::move(loaded).value().model;
}

latency::GivenInputs arraysIn(const std::string &name)
{
    auto arrays = io::readNpz(fileOf(name + ".npz"));
    if (!arrays.ok())
        qFatal("%s", arrays.error().message().c_str());
    latency::GivenInputs named;
    for (io::NamedTensor &array : arrays.value())
        named.emplace(array.name, array.tensor);
    return named;
}

infer::KnownShapes shapesOf(const latency::GivenInputs &inputs)
{
    infer::KnownShapes shapes;
    for (const auto &[name, array] : inputs)
        shapes.emplace(name, array.shape());
    return shapes;
}

Result<infer::TypedModel> typedWith(const std::string &name, const latency::GivenInputs &shapes,
                                    const latency::GivenInputs &given)
{
    policy::Policy policy;
    for (const auto &[input, array] : shapes)
        policy.inputDtypes.emplace(input, array.dtype());
    return latency::typedModel(modelIn(name), shapesOf(shapes), policy, {}, given);
}

std::vector<double> numbersOf(DType type, std::span<const std::byte> bytes)
{
    std::vector<double> numbers(bytes.size() / tensor::sizeOf(type));
    for (std::size_t k = 0; k < numbers.size(); ++k) {
        const std::byte *const at = bytes.data() + k * tensor::sizeOf(type);
        if (type == DType::F32) {
            float value = 0;
            std::memcpy(&value, at, sizeof value);
            numbers[k] = static_cast<double>(value);
        } else if (type == DType::I64) {
            std::int64_t value = 0;
            std::memcpy(&value, at, sizeof value);
            numbers[k] = static_cast<double>(value);
        } else if (type == DType::Bool) {
            numbers[k] = static_cast<double>(std::to_integer<int>(*at));
        }
    }
    return numbers;
}

std::vector<double> inputOf(kernels::LatencyPlan &plan, std::string_view name)
{
    for (std::size_t k = 0; k < plan.inputs().size(); ++k)
        if (plan.inputs()[k].name == name)
            return numbersOf(plan.inputs()[k].desc.dtype, plan.input(k));
    return {};
}

/// Outputs against what ONNX Runtime gave; empty: they agree.
QString differenceFrom(const kernels::LatencyPlan &plan, const latency::GivenInputs &values)
{
    if (plan.outputs().size() != values.size())
        return "another number of outputs";
    for (std::size_t k = 0; k < plan.outputs().size(); ++k) {
        const auto found = values.find(plan.outputs()[k].name);
        if (found == values.end())
            return QString::fromStdString("no value for " + plan.outputs()[k].name);
        const Tensor &expected = found->second;
        if (plan.outputs()[k].desc.shape != expected.shape())
            return QString::fromStdString(plan.outputs()[k].desc.shape.toString() + ", expected "
                                          + expected.shape().toString());
        const std::vector<double> wanted = numbersOf(expected.dtype(), expected.bytes());
        const std::vector<double> given = numbersOf(plan.outputs()[k].desc.dtype, plan.output(k));
        for (std::size_t i = 0; i < wanted.size(); ++i)
            if (!(std::abs(given[i] - wanted[i]) <= 1e-5 * (1 + std::abs(wanted[i]))))
                return QString("output %1, element %2: %3, expected %4")
                    .arg(k)
                    .arg(i)
                    .arg(given[i])
                    .arg(wanted[i]);
    }
    return {};
}

} // namespace

/// What models are fed to be timed, and that control flow has a place in plans.
class ModelInputsTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase();
    void integersAreLegalForTheirReaders();
    void lengthsAreAllSteps_data();
    void lengthsAreAllSteps();
    void plansAreTimedOnWhatTheyAreFed();
    void anExampleDecides();
    void largerInputsRepeatAnExample();
    void bodiesAreComputedByTheInterpreter_data();
    void bodiesAreComputedByTheInterpreter();
};

void ModelInputsTest::initTestCase()
{
    if (!backends::backendTable().front().makesPlans)
        QSKIP("this build has no oneDNN");
}

/// Rows of a table of 30, kept values of at least one, a condition that holds.
void ModelInputsTest::integersAreLegalForTheirReaders()
{
    const latency::GivenInputs example = arraysIn("integers-inputs");
    const auto typed = typedWith("integers", example, {});
    QVERIFY2(typed.ok(), typed.ok() ? "" : typed.error().message().c_str());
    const auto maker = latency::PlanMaker::create("cpu", 1);
    QVERIFY(maker.ok());
    const auto plan = maker.value().plan(typed.value());
    QVERIFY2(plan.ok(), plan.ok() ? "" : plan.error().message().c_str());
    const std::vector<double> ids = inputOf(*plan.value(), "ids");
    QCOMPARE(ids.size(), std::size_t{24});
    const auto [least, most] = std::ranges::minmax(ids);
    QVERIFY(least >= 0 && most < 30 && least != most);
    const std::vector<double> kept = inputOf(*plan.value(), "kept");
    QVERIFY(kept.empty() || kept[0] >= 1); // a plan whose K is settled does not read it
    QVERIFY(plan.value()->outputs()[1].desc.shape[2] >= 1);
    const auto latency = latency::measureLatency(*plan.value(), {1, 3});
    QVERIFY2(latency.ok(), latency.ok() ? "" : latency.error().message().c_str());
}

void ModelInputsTest::lengthsAreAllSteps_data()
{
    QTest::addColumn<QString>("name");
    QTest::addColumn<int>("steps");
    QTest::newRow("steps first") << "lstm_forward" << 5;
    QTest::newRow("codes, which are any") << "codes_forward_int8_tensor" << 6;
}

void ModelInputsTest::lengthsAreAllSteps()
{
    QFETCH(QString, name);
    QFETCH(int, steps);
    const std::string file = "../onnx_recurrent/" + name.toStdString();
    const auto typed = typedWith(file, {}, {});
    QVERIFY2(typed.ok(), typed.ok() ? "" : typed.error().message().c_str());
    const auto maker = latency::PlanMaker::create("cpu", 1);
    QVERIFY(maker.ok());
    const auto plan = maker.value().plan(typed.value());
    QVERIFY2(plan.ok(), plan.ok() ? "" : plan.error().message().c_str());
    for (std::size_t k = 0; k < plan.value()->inputs().size(); ++k) {
        const auto bytes = plan.value()->input(k);
        const kernels::PlanPort &port = plan.value()->inputs()[k];
        if (port.desc.dtype == DType::I32)
            for (std::size_t at = 0; at < bytes.size(); at += sizeof(std::int32_t)) {
                std::int32_t length = 0;
                std::memcpy(&length, bytes.data() + at, sizeof length);
                QCOMPARE(length, steps);
            }
        if (port.desc.dtype == DType::I8 && bytes.size() > 100)
            QVERIFY(std::ranges::any_of(bytes, [&](std::byte byte) { return byte != bytes[0]; }));
    }
}

/// Both layouts, before the faster is chosen: what lies in their inputs is read then.
void ModelInputsTest::plansAreTimedOnWhatTheyAreFed()
{
    const latency::GivenInputs example = arraysIn("integers-inputs");
    const auto typed = typedWith("integers", example, example);
    QVERIFY2(typed.ok(), typed.ok() ? "" : typed.error().message().c_str());
    const auto backend = backends::planningBackend("cpu", 1);
    QVERIFY(backend.ok());
    std::size_t fed = 0;
    const auto chain = backends::backendChain("cpu", 1);
    kernels::PlanOptions options;
    options.feed = [&](kernels::LatencyPlan &plan) -> Result<void> {
        ++fed;
        for (std::size_t k = 0; k < plan.inputs().size(); ++k) // zeros until somebody writes them
            if (std::ranges::any_of(plan.input(k), [](std::byte byte) { return byte != std::byte{0}; }))
                return badInput("input", "what lay there before", "zeros");
        return latency::feedPlan(plan, typed.value());
    };
    options.bodies
        = [&](graph::NodeId node) { return latency::bodyKernel(typed.value(), node, chain.value()); };
    const auto plan = backend.value()->plan(typed.value(), options);
    QVERIFY2(plan.ok(), plan.ok() ? "" : plan.error().message().c_str());
    QCOMPARE(fed, std::size_t{2});
}

/// How many values TopK keeps, and the branch of an If.
void ModelInputsTest::anExampleDecides()
{
    const latency::GivenInputs example = arraysIn("integers-inputs");
    const auto typed = typedWith("integers", example, example);
    QVERIFY2(typed.ok(), typed.ok() ? "" : typed.error().message().c_str());
    const auto maker = latency::PlanMaker::create("cpu", 1);
    QVERIFY(maker.ok());
    const auto plan = maker.value().plan(typed.value());
    QVERIFY2(plan.ok(), plan.ok() ? "" : plan.error().message().c_str());
    QVERIFY(plan.value()->run().ok());
    const QString difference = differenceFrom(*plan.value(), arraysIn("integers-values"));
    QVERIFY2(difference.isEmpty(), qPrintable(difference));
}

/// Of five places twelve are made, in the type that the model wants.
void ModelInputsTest::largerInputsRepeatAnExample()
{
    latency::GivenInputs given = arraysIn("integers-inputs");
    auto made = typedWith("integers", given, {});
    QVERIFY(made.ok());
    given.at("places") = Tensor::owning(DType::I32, {5}, [] {
        std::vector<std::byte> bytes(5 * sizeof(std::int32_t));
        for (std::int32_t k = 0; k < 5; ++k)
            std::memcpy(bytes.data() + static_cast<std::size_t>(k) * sizeof k, &k, sizeof k);
        return bytes;
    }());
    QVERIFY(latency::takeInputs(made.value(), given).ok());
    const Tensor &places = made.value().fed.at("places");
    QCOMPARE(places.dtype(), DType::I64);
    QCOMPARE(places.values<std::int64_t>(), (std::vector<std::int64_t>{0, 1, 2, 3, 4, 0, 1, 2, 3, 4, 0, 1}));
}

void ModelInputsTest::bodiesAreComputedByTheInterpreter_data()
{
    QTest::addColumn<QString>("model");
    QTest::addColumn<QString>("inputs");
    QTest::newRow("If") << "choice"
                        << "choice-true";
    QTest::newRow("If, the other branch") << "choice"
                                          << "choice-false";
    QTest::newRow("Loop") << "steps"
                          << "steps-all";
    QTest::newRow("Loop that ends early") << "steps"
                                          << "steps-early";
    QTest::newRow("Scan") << "walk"
                          << "walk";
    QTest::newRow("nested") << "integers"
                            << "integers";
}

/// A row of the plan each, which takes its time and gives what ONNX Runtime gives.
void ModelInputsTest::bodiesAreComputedByTheInterpreter()
{
    QFETCH(QString, model);
    QFETCH(QString, inputs);
    const latency::GivenInputs example = arraysIn(inputs.toStdString() + "-inputs");
    const auto typed = typedWith(model.toStdString(), example, example);
    QVERIFY2(typed.ok(), typed.ok() ? "" : typed.error().message().c_str());
    const auto maker = latency::PlanMaker::create("cpu", 1);
    QVERIFY(maker.ok());
    const auto plan = maker.value().plan(typed.value());
    QVERIFY2(plan.ok(), plan.ok() ? "" : plan.error().message().c_str());
    const auto latency = latency::measureLatency(*plan.value(), {1, 3});
    QVERIFY2(latency.ok(), latency.ok() ? "" : latency.error().message().c_str());
    const auto rows = std::ranges::count_if(latency.value().layers, [](const latency::LayerLatency &layer) {
        return layer.step.kernel == latency::kBodyKernelName && layer.medianUs > 0;
    });
    QVERIFY(rows > 0);
    const QString difference = differenceFrom(*plan.value(), arraysIn(inputs.toStdString() + "-values"));
    QVERIFY2(difference.isEmpty(), qPrintable(difference));
}

QTEST_GUILESS_MAIN(ModelInputsTest)
#include "tst_model_inputs.moc"
