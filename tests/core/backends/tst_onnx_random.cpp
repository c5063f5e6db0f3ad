#include "core/backends/backends.h"
#include "core/dialect/onnx/onnx_dialect.h"
#include "core/interpret/interpreter.h"
#include "core/tensor/elements.h"

#include <QTest>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <numeric>

using namespace halftone;
using tensor::DType;
using tensor::Shape;
using tensor::Tensor;

/// ONNX's operators that draw random numbers: what their definitions say of ranges, means and frequencies, and that the same node draws the
/// same numbers in every run and every type.
class OnnxRandomTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void uniformNumbersLieBetweenTheirBounds();
    void normalNumbersHaveTheirMeanAndDeviation();
    void likeMeansTheShapeAndTheTypeOfTheInput();
    void aCoinFallsAsOftenAsItsChanceSays();
    void classesAreDrawnByLogarithmsOfChances();
    void aSeedGivesTheNumbersAndElseTheNameOfTheNode();
    void narrowTypesHoldTheSameNumbersRounded();
    void chancesThatAreNoneAreRefused();
};

namespace {

/// One node, called `name`, of the input "x" if it has one.
struct Node
{
    std::string op;
    graph::Attributes attributes{};
    std::string name = "drawn";
};

Result<Tensor> run(const Node &drawn, const Tensor &input = {})
{
    const dialect::Dialect &dialect = dialect::onnx::onnxDialect(15);
    graph::Model model;
    model.graph = graph::Graph(dialect);
    std::vector<graph::Entry> inputs;
    interpret::Feed feed;
    if (input.dtype() != DType::Unknown) {
        inputs.push_back(
            {model.graph.add(dialect.makeVariable("x", {{"type", std::string(nameOf(input.dtype()))}}), {}),
             0, 0});
        feed.emplace("x", input);
    }
    graph::NodeDef def{drawn.op, drawn.name, drawn.attributes, {}};
    def.outputs = {drawn.name};
    const graph::NodeId id = model.graph.add(std::make_shared<const graph::NodeDef>(std::move(def)), inputs);
    model.graph.setHeads({{id, 0, 0}});
    const auto backends = backends::backendChain("cpu", 1);
    if (!backends.ok())
        return backends.error();
    HALFTONE_TRY(auto interpreter, interpret::Interpreter::create(model, backends.value()));
    HALFTONE_TRY(const std::vector<Tensor> outputs, interpreter.run(feed));
    return outputs.at(0);
}

std::vector<double> valuesOf(const Result<Tensor> &made)
{
    if (!made.ok())
        qFatal("%s", made.error().message().c_str());
    const Tensor &tensor = made.value();
    std::vector<double> values(tensor.elementCount());
    tensor::widen(tensor.dtype(), tensor.bytes().data(), values.size(), values.data());
    return values;
}

double meanOf(const std::vector<double> &values)
{
    return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double deviationOf(const std::vector<double> &values)
{
    const double mean = meanOf(values);
    double sum = 0;
    for (const double value : values)
        sum += (value - mean) * (value - mean);
    return std::sqrt(sum / static_cast<double>(values.size()));
}

Tensor tensorOf(DType type, Shape shape, const std::vector<float> &values)
{
    std::vector<std::byte> bytes(values.size() * tensor::sizeOf(type));
    tensor::narrow(values.data(), values.size(), type, bytes.data());
    return Tensor::owning(type, std::move(shape), std::move(bytes));
}

// 20,000 numbers: their mean is off by more than 4 / sqrt(20000) = 0.03 deviations once in 16,000 draws, and these are always the same.
constexpr double kOff = 0.03;

} // namespace

void OnnxRandomTest::uniformNumbersLieBetweenTheirBounds()
{
    const auto made = run({"RandomUniform", {{"shape", "[100,200]"}, {"low", "-1"}, {"high", "3"}}});
    const std::vector<double> values = valuesOf(made);
    QCOMPARE(made.value().dtype(), DType::F32);
    QVERIFY(made.value().shape() == (Shape{100, 200}));
    QVERIFY(*std::ranges::min_element(values) >= -1);
    QVERIFY(*std::ranges::max_element(values) <= 3);
    QVERIFY(std::abs(meanOf(values) - 1) < kOff * 4 / std::sqrt(12.0));
    QVERIFY(std::abs(deviationOf(values) - 4 / std::sqrt(12.0)) < kOff * 4 / std::sqrt(12.0));
}

void OnnxRandomTest::normalNumbersHaveTheirMeanAndDeviation()
{
    const std::vector<double> values
        = valuesOf(run({"RandomNormal", {{"shape", "[20000]"}, {"mean", "2"}, {"scale", "0.5"}}}));
    QVERIFY(std::abs(meanOf(values) - 2) < kOff * 0.5);
    QVERIFY(std::abs(deviationOf(values) - 0.5) < kOff * 0.5);
    // Within one deviation lie 68.27 %.
    const auto near = std::ranges::count_if(values, [](double value) { return std::abs(value - 2) < 0.5; });
    QVERIFY(std::abs(static_cast<double>(near) / 20000 - 0.6827) < 0.015);
}

void OnnxRandomTest::likeMeansTheShapeAndTheTypeOfTheInput()
{
    const Tensor half = tensorOf(DType::F16, {2, 3}, std::vector<float>(6));
    for (const char *op : {"RandomNormalLike", "RandomUniformLike"}) {
        const auto made = run({op}, half);
        QVERIFY2(made.ok(), made.ok() ? "" : made.error().message().c_str());
        QCOMPARE(made.value().dtype(), DType::F16);
        QVERIFY(made.value().shape() == (Shape{2, 3}));
        const auto wide = run({op, {{"dtype", "11"}}}, half);
        QVERIFY(wide.ok());
        QCOMPARE(wide.value().dtype(), DType::F64);
    }
}

void OnnxRandomTest::aCoinFallsAsOftenAsItsChanceSays()
{
    std::vector<float> chances(20000, 0.25F);
    chances[7] = 0;
    chances[8] = 1;
    const auto made = run({"Bernoulli", {{"dtype", "9"}}}, tensorOf(DType::F32, {20000}, chances));
    const std::vector<double> values = valuesOf(made);
    QCOMPARE(made.value().dtype(), DType::Bool);
    QVERIFY(values[7] == 0 && values[8] == 1);
    QVERIFY(std::abs(meanOf(values) - 0.25) < kOff * std::sqrt(0.25 * 0.75));
    const auto like = run({"Bernoulli"}, tensorOf(DType::F32, {2, 1}, {0, 1}));
    QVERIFY(valuesOf(like) == (std::vector<double>{0, 1}));
    QCOMPARE(like.value().dtype(), DType::F32);
}

void OnnxRandomTest::classesAreDrawnByLogarithmsOfChances()
{
    // Up to a constant of the row: chances of 1/8, 5/8 and 2/8, and a class that never comes.
    const std::vector<float> rows{std::log(1.0F), std::log(5.0F),       std::log(2.0F),       -INFINITY,
                                  -INFINITY,      std::log(3.0F) + 900, std::log(1.0F) + 900, -INFINITY};
    const auto made = run({"Multinomial", {{"sample_size", "20000"}}}, tensorOf(DType::F32, {2, 4}, rows));
    const std::vector<double> values = valuesOf(made);
    QCOMPARE(made.value().dtype(), DType::I32);
    QVERIFY(made.value().shape() == (Shape{2, 20000}));
    const std::vector<double> chances{1.0 / 8, 5.0 / 8, 2.0 / 8, 0, 0, 3.0 / 4, 1.0 / 4, 0};
    for (std::ptrdiff_t row = 0; row < 2; ++row)
        for (std::ptrdiff_t k = 0; k < 4; ++k) {
            const auto count = std::count(values.begin() + row * 20000, values.begin() + (row + 1) * 20000,
                                          static_cast<double>(k));
            const double chance = chances[static_cast<std::size_t>(row * 4 + k)];
            QVERIFY(chance == 0 ? count == 0 : std::abs(static_cast<double>(count) / 20000 - chance) < 0.015);
        }
    const auto wide = run({"Multinomial", {{"dtype", "7"}}}, tensorOf(DType::F32, {1, 2}, {0, -INFINITY}));
    QVERIFY(wide.ok());
    QCOMPARE(wide.value().dtype(), DType::I64);
    QVERIFY(wide.value().shape() == (Shape{1, 1}));
}

void OnnxRandomTest::aSeedGivesTheNumbersAndElseTheNameOfTheNode()
{
    const graph::Attributes free{{"shape", "[64]"}};
    const graph::Attributes seeded{{"shape", "[64]"}, {"seed", "1.5"}};
    const graph::Attributes other{{"shape", "[64]"}, {"seed", "2.5"}};
    const auto values = [](const graph::Attributes &attributes, const char *name) {
        return valuesOf(run({"RandomNormal", attributes, name}));
    };
    QVERIFY(values(free, "a") == values(free, "a"));
    QVERIFY(values(free, "a") != values(free, "b"));
    QVERIFY(values(seeded, "a") == values(seeded, "b"));
    QVERIFY(values(seeded, "a") != values(other, "a"));
    QVERIFY(values(seeded, "a") != values(free, "a"));
}

void OnnxRandomTest::narrowTypesHoldTheSameNumbersRounded()
{
    const auto as = [](const char *code) {
        return run({"RandomNormal", {{"shape", "[256]"}, {"dtype", code}}});
    };
    const auto wide = as("1");
    QVERIFY(wide.ok());
    for (const auto &[code, type] :
         {std::pair("10", DType::F16), std::pair("16", DType::BF16), std::pair("11", DType::F64)}) {
        const auto other = as(code);
        QVERIFY(other.ok());
        QCOMPARE(other.value().dtype(), type);
        const Tensor &narrow = tensor::sizeOf(type) < 4 ? other.value() : wide.value();
        const std::vector<double> values = valuesOf(tensor::sizeOf(type) < 4 ? wide : other);
        std::vector<std::byte> rounded(narrow.bytes().size());
        tensor::narrow(values.data(), values.size(), narrow.dtype(), rounded.data());
        QVERIFY(std::ranges::equal(rounded, narrow.bytes()));
    }
}

void OnnxRandomTest::chancesThatAreNoneAreRefused()
{
    const auto coin = run({"Bernoulli"}, tensorOf(DType::F32, {1}, {1.5F}));
    QVERIFY(!coin.ok());
    QCOMPARE(coin.error().code, Errc::BadInput);
    const auto classes = run({"Multinomial"}, tensorOf(DType::F32, {1, 2}, {NAN, 0}));
    QVERIFY(!classes.ok());
    QCOMPARE(classes.error().code, Errc::BadInput);
    QVERIFY(!run({"RandomNormal", {{"shape", "[4]"}, {"scale", "-1"}}}).ok());
}

QTEST_GUILESS_MAIN(OnnxRandomTest)
#include "tst_onnx_random.moc"
