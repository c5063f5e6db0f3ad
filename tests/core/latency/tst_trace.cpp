#include "core/backends/backends.h"
#include "core/io/arrays/npz.h"
#include "core/io/model_io.h"
#include "core/latency/plan_maker.h"
#include "core/latency/trace.h"
#include "core/latency/typed_model.h"
#include "core/tensor/elements.h"

#include <QDir>
#include <QTest>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>

using namespace halftone;
using tensor::Tensor;

namespace {

std::vector<double> valuesOf(tensor::DType type, std::span<const std::byte> bytes)
{
    std::vector<double> values(bytes.size() / tensor::sizeOf(type));
    tensor::widen(type, bytes.data(), values.size(), values.data());
    return values;
}

/// What is wrong with an output of a plan, or nothing. Products around 1 are summed in another order.
QString difference(const kernels::TensorDesc &desc, std::span<const std::byte> bytes, const Tensor &want)
{
    if (desc.dtype != want.dtype() || desc.shape != want.shape())
        return QString::fromStdString(std::string(tensor::nameOf(desc.dtype)) + desc.shape.toString()
                                      + ", expected " + std::string(tensor::nameOf(want.dtype()))
                                      + want.shape().toString());
    const auto g = valuesOf(desc.dtype, bytes);
    const auto w = valuesOf(want.dtype(), want.bytes());
    const double tolerance = tensor::isFloat(want.dtype()) ? 1e-5 : 0;
    for (std::size_t i = 0; i < g.size(); ++i)
        if (std::isnan(g[i]) != std::isnan(w[i]) || std::abs(g[i] - w[i]) > tolerance * (1 + std::abs(w[i])))
            return QStringLiteral("element %1 is %2, expected %3").arg(i).arg(g[i]).arg(w[i]);
    return {};
}

/// The arrays of a recorded case: the first of floats is fed, as data are, and all others are parameters, as weights and what
/// exporters write beside operators (shapes, axes) are.
struct Case
{
    graph::Model model;
    std::map<std::string, Tensor> fed;
    std::vector<Tensor> expected;
};

Result<Case> caseOf(const std::string &path)
{
    HALFTONE_TRY(const auto arrays, io::readNpz(path + ".npz"));
    HALFTONE_TRY(io::LoadedModel loaded, io::loadModel(path + ".onnx"));
    Case made{std::move(loaded.model), {}, {}};
    for (const io::NamedTensor &array : arrays) {
        if (!array.name.starts_with("in.")) {
            made.expected.push_back(array.tensor);
        } else if (made.fed.empty() && tensor::isFloat(array.tensor.dtype())) {
            made.fed.emplace(array.name.substr(3), array.tensor);
        } else {
            tensor::Array parameter;
            parameter.name = array.name.substr(3);
            parameter.shape = array.tensor.shape();
            parameter.values = array.tensor;
            made.model.parameters.push_back(std::move(parameter));
            made.model.hasParameters = true;
        }
    }
    return made;
}

} // namespace

/// Plans of models whose operators are what values say, against values of ONNX's own evaluator
/// (tests/support/make_onnx_op_goldens.py).
class TestTrace : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void plansGiveWhatOnnxDoes_data();
    void plansGiveWhatOnnxDoes();
    void aTransformerRunsFused();
};

void TestTrace::plansGiveWhatOnnxDoes_data()
{
    QTest::addColumn<QString>("path");
    for (const char *part : {"/onnx_ops", "/onnx_calls"}) {
        const QDir folder(QStringLiteral(HALFTONE_TEST_DATA) + QLatin1String(part));
        const QStringList names = folder.entryList({"*.onnx"});
        for (const QString &name : names)
            if (!name.contains("branch") && !name.contains("with_loops") && !name.startsWith("scan_")
                && !name.startsWith("sequence_map")) // control flow has no place in a plan
                QTest::newRow(qPrintable(name.chopped(5))) << folder.filePath(name.chopped(5));
    }
}

void TestTrace::plansGiveWhatOnnxDoes()
{
    QFETCH(QString, path);
    auto made = caseOf(path.toStdString());
    if (!made.ok() && made.error().code == Errc::Unsupported)
        QSKIP("this build was made without ONNX");
    QVERIFY2(made.ok(), made.ok() ? "" : made.error().message().c_str());
    Case &run = made.value();
    std::unordered_map<std::string, tensor::Shape> known;
    policy::Policy policy;
    for (const auto &[name, values] : run.fed) {
        known.emplace(name, values.shape());
        policy.inputDtypes.emplace(name, values.dtype());
    }
    for (const tensor::Array &array : run.model.parameters)
        known.emplace(array.name, array.shape);
    const auto typed = latency::typedModel(run.model, known, policy);
    QVERIFY2(typed.ok(), typed.ok() ? "" : typed.error().message().c_str());
    const auto maker = latency::PlanMaker::create(backends::kDefaultBackend, 1);
    if (!maker.ok())
        QSKIP("this build makes no plans");
    const auto plan = maker.value().plan(typed.value());
    QVERIFY2(plan.ok(), plan.ok() ? "" : plan.error().message().c_str());
    for (std::size_t k = 0; k < plan.value()->inputs().size(); ++k) {
        const Tensor &values = run.fed.at(plan.value()->inputs()[k].name);
        std::ranges::copy(values.bytes(), plan.value()->input(k).begin());
    }
    const auto ran = plan.value()->run();
    // Other values, other sizes.
    const QStringList byValues{"/non_zero", "/non_max_suppression", "/unique", "/unique_rows"};
    if (std::ranges::any_of(byValues, [&](const QString &name) { return path.endsWith(name); })) {
        QVERIFY(typed.value().isForFedValues);
        QVERIFY(!ran.ok());
        QCOMPARE(ran.error().code, Errc::BadInput);
        return;
    }
    QVERIFY2(ran.ok(), ran.ok() ? "" : ran.error().message().c_str());
    QCOMPARE(plan.value()->outputs().size(), run.expected.size());
    for (std::size_t k = 0; k < run.expected.size(); ++k) {
        const QString wrong
            = difference(plan.value()->outputs()[k].desc, plan.value()->output(k), run.expected[k]);
        QVERIFY2(wrong.isEmpty(), qPrintable(QString::number(k) + ": " + wrong));
    }
}

/// As exporters write it, every LayerNorm and GELU in single operators; ONNX Runtime's values (tests/support/make_onnx_fixtures.py).
void TestTrace::aTransformerRunsFused()
{
    const std::string path = HALFTONE_TEST_DATA "/onnx/transformer";
    const auto loaded = io::loadModel(path + ".onnx");
    if (!loaded.ok() && loaded.error().code == Errc::Unsupported)
        QSKIP("this build was made without ONNX");
    QVERIFY2(loaded.ok(), loaded.ok() ? "" : loaded.error().message().c_str());
    const auto inputs = io::readNpz(path + "-inputs.npz");
    const auto values = io::readNpz(path + "-values.npz");
    QVERIFY(inputs.ok() && values.ok());
    std::unordered_map<std::string, tensor::Shape> known;
    for (const io::NamedTensor &array : inputs.value())
        known.emplace(array.name, array.tensor.shape());
    for (const tensor::Array &array : loaded.value().model.parameters)
        known.emplace(array.name, array.shape);
    const auto typed = latency::typedModel(loaded.value().model, known, {});
    QVERIFY2(typed.ok(), typed.ok() ? "" : typed.error().message().c_str());
    const auto maker = latency::PlanMaker::create(backends::kDefaultBackend, 1);
    if (!maker.ok())
        QSKIP("this build makes no plans");
    const auto plan = maker.value().plan(typed.value());
    QVERIFY2(plan.ok(), plan.ok() ? "" : plan.error().message().c_str());
    for (std::size_t k = 0; k < plan.value()->inputs().size(); ++k)
        for (const io::NamedTensor &array : inputs.value())
            if (array.name == plan.value()->inputs()[k].name)
                std::ranges::copy(array.tensor.bytes(), plan.value()->input(k).begin());
    const auto ran = plan.value()->run();
    QVERIFY2(ran.ok(), ran.ok() ? "" : ran.error().message().c_str());
    const QString wrong
        = difference(plan.value()->outputs()[0].desc, plan.value()->output(0), values.value()[0].tensor);
    QVERIFY2(wrong.isEmpty(), qPrintable(wrong));
    // A layer: q, k, v, scores with scale and mask, softmax, context, two products, one with GELU, one more, two norms. No
    // transposition is a step.
    std::map<std::string, int> steps;
    for (const kernels::PlanStep &step : plan.value()->steps())
        ++steps[step.op];
    QCOMPARE(steps["LayerNorm"], 5);
    QCOMPARE(steps["MatMul"], 2 * 8);
    QCOMPARE(steps["Softmax"], 2);
    QCOMPARE(steps["Transpose"] + steps["Reshape"] + steps["Erf"], 0);
    QVERIFY(plan.value()->steps().size() <= 2 * 11 + 9);
}

QTEST_GUILESS_MAIN(TestTrace)
#include "tst_trace.moc"
