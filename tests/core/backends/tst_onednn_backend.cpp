#include "core/backends/backends.h"
#include "core/backends/reference/reference_backend.h"
#include "core/kernels/buffer.h"
#include "core/tensor/convert.h"

#include <QTest>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstring>
#include <ctime>
#include <limits>
#include <span>
#include <thread>

using namespace halftone;
using kernels::Operation;
using tensor::DType;
using tensor::Shape;
using tensor::Tensor;

namespace {

/// Small integers: sums of their products are exact in float32 in every order, and up to 256 in bfloat16.
Tensor integers(const Shape &shape, DType type, int low, int high, std::size_t step)
{
    std::vector<float> values(static_cast<std::size_t>(*shape.elementCount()));
    for (std::size_t k = 0; k < values.size(); ++k)
        values[k]
            = static_cast<float>(low + static_cast<int>(k * step % static_cast<std::size_t>(high - low + 1)));
    std::vector<std::byte> bytes(values.size() * sizeof(float));
    std::memcpy(bytes.data(), values.data(), bytes.size());
    return tensor::castTo(Tensor::owning(DType::F32, shape, std::move(bytes)), type).value();
}

Tensor tensorOf(const std::vector<float> &values, DType type)
{
    std::vector<std::byte> bytes(values.size() * sizeof(float));
    std::memcpy(bytes.data(), values.data(), bytes.size());
    const auto count = static_cast<std::int64_t>(values.size());
    const Shape shape = count % 5 == 0 ? Shape{count / 5, 5} : Shape{count};
    return tensor::castTo(Tensor::owning(DType::F32, shape, std::move(bytes)), type).value();
}

struct Outcome
{
    std::vector<float> values;
    std::string kernel;
};

Outcome run(const kernels::Backend &backend, const Operation &operation, const std::vector<Tensor> &inputs)
{
    auto kernel = backend.prepare(operation);
    if (!kernel.ok())
        qFatal("%s", kernel.error().message().c_str());
    // At the oddest place that kernels have to read from, as tensors in a mapped file are.
    std::vector<kernels::Buffer> memory;
    std::vector<const std::byte *> from;
    for (const Tensor &input : inputs) {
        const std::size_t odd = tensor::sizeOf(input.dtype());
        const auto bytes = static_cast<std::int64_t>(input.bytes().size() + odd);
        memory.push_back(kernels::allocate({DType::I8, Shape{bytes}}).value());
        std::memcpy(memory.back().bytes + odd, input.bytes().data(), input.bytes().size());
        from.push_back(memory.back().bytes + odd);
    }
    std::vector<kernels::Buffer> results;
    std::vector<std::byte *> to;
    for (const kernels::TensorDesc &desc : operation.outputs) {
        results.push_back(kernels::allocate(desc).value());
        to.push_back(results.back().bytes);
    }
    const auto done = kernel.value()->run(from, to);
    if (!done.ok())
        qFatal("%s", done.error().message().c_str());
    const Tensor wide = tensor::castTo(results[0].tensor, DType::F32).value();
    return {wide.values<float>(), kernel.value()->name()};
}

Operation operationOf(ops::Operator op, const std::vector<Tensor> &inputs, const Shape &result, DType type)
{
    Operation operation{std::move(op), "tested", {}, {{type, result}}};
    for (const Tensor &input : inputs)
        operation.inputs.push_back({input.dtype(), input.shape()});
    return operation;
}

} // namespace

/// oneDNN's kernels against the definition, computed in double and rounded once to the type.
class OneDnnBackendTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase();
    void sumsOfIntegersAreExact_data();
    void sumsOfIntegersAreExact();
    void poolingCountsWhatTheConventionCounts_data();
    void poolingCountsWhatTheConventionCounts();
    void aNormalisationWhoseStatisticsNobodyReadsIsTaken_data();
    void aNormalisationWhoseStatisticsNobodyReadsIsTaken();
    void rowsThatKeepTheirMeanAreDividedByTheirRoot_data();
    void rowsThatKeepTheirMeanAreDividedByTheirRoot();
    void sumsAndMeansOfRowsAreThoseOfTheDefinition_data();
    void sumsAndMeansOfRowsAreThoseOfTheDefinition();
    void pixelsAreRepeatedWhereTheDefinitionRepeatsThem_data();
    void pixelsAreRepeatedWhereTheDefinitionRepeatsThem();
    void operatorsOfOnnxAreThoseOfTheDefinition_data();
    void operatorsOfOnnxAreThoseOfTheDefinition();
    void aKernelFollowsTheMemoryOfItsValues();
    void packedWeightsAreNotTakenForOthersThatLieWhereTheyDid();
    void whatOneDnnLacksIsRefusedWithAReason();
    void aMaximumOverNaNIsNaN();
    void threadsSleepBetweenKernels();
    void whatIsNotFiniteStaysSo_data();
    void whatIsNotFiniteStaysSo();

private:
    std::shared_ptr<const kernels::Backend> m_backend;
    std::shared_ptr<const kernels::Backend> m_definition;
};

void OneDnnBackendTest::initTestCase()
{
    const auto chain = backends::backendChain("cpu", 2);
    QVERIFY(chain.ok());
    if (chain.value().size() < 2)
        QSKIP("this build has no oneDNN");
    m_backend = chain.value()[0];
    m_definition = backends::reference::referenceBackend({1, true});
}

void OneDnnBackendTest::sumsOfIntegersAreExact_data()
{
    QTest::addColumn<QString>("op");
    QTest::addColumn<int>("groups");
    QTest::addColumn<DType>("type");
    for (const DType type : {DType::F32, DType::BF16, DType::F16}) {
        const auto name = std::string(tensor::nameOf(type));
        for (const int groups : {1, 2, 16})
            QTest::addRow("convolution, %d groups, %s", groups, name.c_str()) << "conv" << groups << type;
        for (const int groups : {1, 2})
            QTest::addRow("transposed convolution, %d groups, %s", groups, name.c_str())
                << "deconv" << groups << type;
        QTest::addRow("fully connected, %s", name.c_str()) << "full" << 1 << type;
        QTest::addRow("matrix product, %s", name.c_str()) << "matmul" << 1 << type;
    }
}

void OneDnnBackendTest::sumsOfIntegersAreExact()
{
    QFETCH(QString, op);
    QFETCH(int, groups);
    QFETCH(DType, type);
    std::vector<Tensor> inputs;
    Operation operation;
    if (op == "conv") {
        ops::Conv conv{.kernel = {3, 3}, .stride = {2, 1}, .dilate = {1, 2}, .pad = {{1, 0}, {1, 0}}};
        conv.outputChannels = 32;
        conv.groups = groups;
        inputs = {integers({2, 16, 9, 11}, type, -2, 2, 7), integers({32, 16 / groups, 3, 3}, type, -1, 1, 5),
                  integers({32}, type, -3, 3, 3)};
        operation = operationOf(conv, inputs, {2, 32, 5, 7}, type);
    } else if (op == "deconv") {
        ops::ConvTranspose deconv{.kernel = {4, 3}, .stride = {2, 2}, .pad = {{1, 0}, {1, 0}}};
        deconv.outputChannels = 8;
        deconv.groups = groups;
        inputs = {integers({1, 8, 5, 6}, type, -2, 2, 7), integers({8, 8 / groups, 4, 3}, type, -1, 1, 5)};
        operation = operationOf(deconv, inputs, {1, 8, 10, 13}, type);
    } else if (op == "full") {
        ops::FullyConnected full{.units = 24};
        inputs = {integers({3, 4, 5, 2}, type, -2, 2, 7), integers({24, 40}, type, -1, 1, 5),
                  integers({24}, type, -3, 3, 3)};
        operation = operationOf(full, inputs, {3, 24}, type);
    } else {
        ops::MatMul product{.form = ops::MatMul::Form::Batched, .transposeB = true};
        inputs = {integers({2, 9, 33}, type, -2, 2, 7), integers({2, 11, 33}, type, -1, 1, 5)};
        operation = operationOf(product, inputs, {2, 9, 11}, type);
    }
    const Outcome got = run(*m_backend, operation, inputs);
    const Outcome wanted = run(*m_definition, operation, inputs);
    QCOMPARE(got.values, wanted.values);
    operation.constants = inputs; // weights and bias are packed ahead
    operation.constants[0] = {};
    QCOMPARE(run(*m_backend, operation, inputs).values, wanted.values);
    QVERIFY2(got.kernel.starts_with("oneDNN"), got.kernel.c_str());
}

void OneDnnBackendTest::poolingCountsWhatTheConventionCounts_data()
{
    QTest::addColumn<bool>("average");
    QTest::addColumn<bool>("full");
    QTest::addColumn<bool>("countPadding");
    QTest::newRow("max") << false << false << true;
    QTest::newRow("max, full") << false << true << true;
    QTest::newRow("average") << true << false << true;
    QTest::newRow("average, padding not counted") << true << false << false;
    QTest::newRow("average, full, padding not counted") << true << true << false;
}

void OneDnnBackendTest::poolingCountsWhatTheConventionCounts()
{
    QFETCH(bool, average);
    QFETCH(bool, full);
    QFETCH(bool, countPadding);
    ops::Pool pool{.kind = average ? ops::Pool::Kind::Average : ops::Pool::Kind::Max,
                   .rounding = full ? ops::Pool::Rounding::Full : ops::Pool::Rounding::Valid,
                   .kernel = {3, 3},
                   .stride = {2, 2},
                   .pad = {{1, 1}, {1, 1}},
                   .countPadding = countPadding};
    const std::vector<Tensor> inputs{integers({1, 16, 8, 8}, DType::F32, -9, 9, 7)};
    const std::int64_t extent = full ? 5 : 4;
    const Operation operation = operationOf(pool, inputs, {1, 16, extent, extent}, DType::F32);
    const Outcome got = run(*m_backend, operation, inputs);
    const Outcome wanted = run(*m_definition, operation, inputs);
    for (std::size_t k = 0; k < wanted.values.size(); ++k) // 10 epsilon, as benchdnn has it for pooling
        QVERIFY(std::abs(got.values[k] - wanted.values[k]) <= 10 * 1.2e-7F * std::abs(wanted.values[k]));
}

void OneDnnBackendTest::aNormalisationWhoseStatisticsNobodyReadsIsTaken_data()
{
    QTest::addColumn<bool>("fixGamma");
    QTest::addColumn<Shape>("shape");
    QTest::addColumn<DType>("type");
    QTest::newRow("with gamma") << false << Shape{2, 5, 3, 7} << DType::F32;
    QTest::newRow("gamma fixed") << true << Shape{2, 5, 3, 7} << DType::F32;
    QTest::newRow("bfloat16") << false << Shape{2, 5, 3, 7} << DType::BF16;
    QTest::newRow("bfloat16, large") << true << Shape{3, 5, 67, 71} << DType::BF16;
    QTest::newRow("few places of a channel") << false << Shape{2, 5, 3} << DType::F32;
}

void OneDnnBackendTest::aNormalisationWhoseStatisticsNobodyReadsIsTaken()
{
    QFETCH(bool, fixGamma);
    QFETCH(Shape, shape);
    QFETCH(DType, type);
    const std::vector<Tensor> inputs{integers(shape, type, -9, 9, 7), integers({5}, DType::F32, 1, 4, 3),
                                     integers({5}, DType::F32, -2, 2, 1), integers({5}, DType::F32, -2, 2, 2),
                                     integers({5}, DType::F32, 1, 9, 2)};
    ops::BatchNormalization norm;
    norm.fixGamma = fixGamma;
    Operation operation = operationOf(norm, inputs, shape, type);
    operation.outputs.push_back({DType::F32, Shape{5}});
    operation.outputs.push_back({DType::F32, Shape{5}});
    QVERIFY(!m_backend->prepare(operation).ok()); // oneDNN does not give them
    operation.readOutputs = 1;
    const Outcome got = run(*m_backend, operation, inputs);
    const Outcome wanted = run(*m_definition, operation, inputs);
    QCOMPARE(got.values.size(), wanted.values.size());
    // Two roundings more than the definition, and another way for those of 16 bits to go.
    const float unit = type == DType::F32 ? 8 * 1.2e-7F : 1.0F / 128;
    const float least = type == DType::F32 ? 9.0F : 0.0F;
    for (std::size_t k = 0; k < wanted.values.size(); ++k)
        QVERIFY(std::abs(got.values[k] - wanted.values[k])
                <= unit * (std::abs(wanted.values[k]) + least) + 1e-6F);
    QCOMPARE(got.kernel.find("reference"), std::string::npos);
}

void OneDnnBackendTest::rowsThatKeepTheirMeanAreDividedByTheirRoot_data()
{
    QTest::addColumn<DType>("type");
    QTest::newRow("float32") << DType::F32;
    QTest::newRow("bfloat16") << DType::BF16;
}

void OneDnnBackendTest::rowsThatKeepTheirMeanAreDividedByTheirRoot()
{
    QFETCH(DType, type);
    const Shape shape{3, 7, 40};
    const std::vector<Tensor> inputs{integers(shape, type, -9, 12, 5), integers(Shape{40}, type, 1, 6, 3)};
    const ops::LayerNormalization norm{.axis = -1, .epsilon = 0.5, .hasBeta = false, .centred = false};
    const Operation operation = operationOf(norm, inputs, shape, type);
    const Outcome own = run(*m_backend, operation, inputs);
    const Outcome defined = run(*m_definition, operation, inputs);
    const float unit = type == DType::F32 ? 1e-6F : 1.0F / 256; // of the last place, at most two of them
    for (std::size_t k = 0; k < own.values.size(); ++k)
        QVERIFY(std::abs(own.values[k] - defined.values[k])
                <= unit * std::max(1.0F, std::abs(defined.values[k])));
    QCOMPARE(own.kernel.find("reference"), std::string::npos);
}

void OneDnnBackendTest::sumsAndMeansOfRowsAreThoseOfTheDefinition_data()
{
    QTest::addColumn<ops::Dims>("axes");
    QTest::addColumn<bool>("exclude");
    QTest::addColumn<Shape>("result");
    QTest::addColumn<bool>("own");
    QTest::newRow("the last axis") << ops::Dims{-1} << false << Shape{3, 1, 4} << true;
    QTest::newRow("the last axis, kept") << ops::Dims{3} << false << Shape{3, 1, 4, 1} << true;
    QTest::newRow("the last two and one of extent one") << ops::Dims{3, 1, 2} << false << Shape{3} << true;
    QTest::newRow("all") << ops::Dims{} << false << Shape{1, 1, 1, 1} << true;
    QTest::newRow("all but the first") << ops::Dims{0} << true << Shape{3} << true;
    QTest::newRow("the first") << ops::Dims{0} << false << Shape{1, 4, 8} << false;
    QTest::newRow("around another") << ops::Dims{0, 3} << false << Shape{1, 4} << false;
}

void OneDnnBackendTest::sumsAndMeansOfRowsAreThoseOfTheDefinition()
{
    QFETCH(ops::Dims, axes);
    QFETCH(bool, exclude);
    QFETCH(Shape, result);
    QFETCH(bool, own);
    for (const DType type : {DType::F32, DType::BF16}) {
        const std::vector<Tensor> inputs{integers({3, 1, 4, 8}, type, -2, 2, 3)};
        for (const auto kind : {ops::Reduce::Kind::Sum, ops::Reduce::Kind::Mean}) {
            const ops::Reduce reduce{
                .kind = kind, .axes = axes, .exclude = exclude, .keepDims = result.rank() == 4};
            const Operation operation = operationOf(reduce, inputs, result, type);
            QCOMPARE(m_backend->prepare(operation).ok(), own);
            if (!own)
                continue;
            const Outcome got = run(*m_backend, operation, inputs);
            const Outcome wanted = run(*m_definition, operation, inputs);
            QCOMPARE(got.values.size(), wanted.values.size());
            const float unit = type == DType::F32 ? 1.2e-7F : 1.0F / 256; // a mean over 96 or 32 is rounded
            for (std::size_t k = 0; k < got.values.size(); ++k)
                QVERIFY(std::abs(got.values[k] - wanted.values[k]) <= unit * std::abs(wanted.values[k]));
        }
    }
    for (const auto kind : {ops::Reduce::Kind::Max, ops::Reduce::Kind::L2}) // by the definition alone
        QVERIFY(
            !m_backend
                 ->prepare(operationOf(ops::Reduce{.kind = kind, .axes = {-1}},
                                       {integers({3, 1, 4, 8}, DType::F32, -2, 2, 3)}, {3, 1, 4}, DType::F32))
                 .ok());
}

void OneDnnBackendTest::pixelsAreRepeatedWhereTheDefinitionRepeatsThem_data()
{
    using Places = ops::Resize::Places;
    using Rounding = ops::Resize::Rounding;
    QTest::addColumn<Places>("places");
    QTest::addColumn<Rounding>("rounding");
    QTest::addColumn<bool>("own"); // where factors are whole
    static constexpr std::array<const char *, 6> kPlaces{
        "half pixel", "symmetric", "half pixel or 0", "half pixel nearest", "align corners", "asymmetric"};
    static constexpr std::array<const char *, 4> kRoundings{"half down", "half up", "down", "up"};
    for (std::size_t place = 0; place < kPlaces.size(); ++place)
        for (std::size_t rounding = 0; rounding < kRoundings.size(); ++rounding)
            QTest::addRow("%s, %s", kPlaces.at(place), kRoundings.at(rounding))
                << static_cast<Places>(place) << static_cast<Rounding>(rounding)
                << ((place < 3 && rounding < 2) || ((place == 3 || place == 5) && rounding == 2));
}

void OneDnnBackendTest::pixelsAreRepeatedWhereTheDefinitionRepeatsThem()
{
    QFETCH(ops::Resize::Places, places);
    QFETCH(ops::Resize::Rounding, rounding);
    QFETCH(bool, own);
    struct Grown
    {
        std::vector<double> scales;
        ops::Dims sizes;
        Shape result;
        bool isWhole;
    };
    const std::vector<Grown> all{
        {{1, 1, 2, 2}, {}, {2, 3, 6, 10}, true},     {{1, 1, 3, 1}, {}, {2, 3, 9, 5}, true},
        {{}, {2, 3, 12, 5}, {2, 3, 12, 5}, true},    {{1, 1, 1, 1}, {}, {2, 3, 3, 5}, true},
        {{1, 1, 1.5, 1.4}, {}, {2, 3, 4, 7}, false}, {{}, {2, 3, 7, 5}, {2, 3, 7, 5}, false},
        {{1, 2, 2, 2}, {}, {2, 6, 6, 10}, false},    {{1, 1, 0.34, 1}, {}, {2, 3, 1, 5}, false},
        {{1, 1, 2.1, 2}, {}, {2, 3, 6, 10}, false},
    };
    for (const DType type : {DType::F32, DType::BF16, DType::F16}) {
        const std::vector<Tensor> inputs{integers({2, 3, 3, 5}, type, -40, 49, 1)};
        for (const Grown &grown : all) {
            ops::Resize resample{.places = places, .rounding = rounding};
            resample.scales = grown.scales;
            resample.sizes = grown.sizes;
            const Operation operation = operationOf(resample, inputs, grown.result, type);
            QCOMPARE(m_backend->prepare(operation).ok(), own && grown.isWhole);
            if (own && grown.isWhole)
                QCOMPARE(run(*m_backend, operation, inputs).values,
                         run(*m_definition, operation, inputs).values);
        }
    }
}

void OneDnnBackendTest::operatorsOfOnnxAreThoseOfTheDefinition_data()
{
    QTest::addColumn<ops::Operator>("op");
    QTest::addColumn<std::vector<Shape>>("inputs");
    QTest::addColumn<Shape>("result");
    const auto row = [](const char *name, ops::Operator op, std::vector<Shape> inputs, Shape result) {
        QTest::newRow(name) << std::move(op) << std::move(inputs) << std::move(result);
    };
    using ops::Join;
    row("sum of three", Join{Join::Kind::Sum, 3, true}, {{2, 5}, {2, 5}, {2, 5}}, {2, 5});
    row("sum of eight", Join{Join::Kind::Sum, 8, true}, std::vector<Shape>(8, Shape{3, 4}), {3, 4});
    row("sum of one", Join{Join::Kind::Sum, 1, true}, {{2, 3, 4, 4}}, {2, 3, 4, 4});
    row("maximum", ops::Binary{ops::BinaryKind::Maximum, true}, {{2, 3, 4}, {3, 1}}, {2, 3, 4});
    row("minimum", ops::Binary{ops::BinaryKind::Minimum, true}, {{4}, {2, 3, 1}}, {2, 3, 4});
    for (const bool transposeA : {false, true})
        for (const bool transposeB : {false, true}) {
            const Shape a = transposeA ? Shape{6, 4} : Shape{4, 6};
            const Shape b = transposeB ? Shape{5, 6} : Shape{6, 5};
            ops::Gemm gemm{.transposeA = transposeA, .transposeB = transposeB};
            row("product", gemm, {a, b}, {4, 5});
            gemm.hasAddend = gemm.addendStretches = true;
            row("product and vector", gemm, {a, b, {5}}, {4, 5});
            row("product and row", gemm, {a, b, {1, 5}}, {4, 5});
        }
    row("divided by the root of the width", ops::Unary{ops::UnaryKind::DivideBySqrtDim}, {{3, 16}}, {3, 16});
}

void OneDnnBackendTest::operatorsOfOnnxAreThoseOfTheDefinition()
{
    QFETCH(ops::Operator, op);
    QFETCH(std::vector<Shape>, inputs);
    QFETCH(Shape, result);
    for (const DType type : {DType::F32, DType::BF16}) {
        std::vector<Tensor> values;
        for (const Shape &shape : inputs)
            values.push_back(integers(shape, type, -3, 4, 5 + 2 * values.size()));
        const Operation operation = operationOf(op, values, result, type);
        const Outcome got = run(*m_backend, operation, values);
        QCOMPARE(got.values, run(*m_definition, operation, values).values);
        QVERIFY2(got.kernel.find("ref") == std::string::npos, got.kernel.c_str());
    }
}

void OneDnnBackendTest::aKernelFollowsTheMemoryOfItsValues()
{
    const std::vector<Tensor> inputs{integers({1, 3, 4, 5}, DType::F32, -9, 9, 7)};
    for (const bool isView : {false, true}) {
        const ops::Operator op
            = isView ? ops::Operator(ops::Flatten{}) : ops::Operator(ops::Activation{ops::UnaryKind::Relu});
        const Operation operation
            = operationOf(op, inputs, isView ? Shape{1, 60} : inputs[0].shape(), DType::F32);
        const auto kernel = m_backend->prepare(operation);
        QVERIFY(kernel.ok());
        for (int k = 0; k < 3; ++k) {
            const Tensor data = integers(inputs[0].shape(), DType::F32, -9 + k, 9, 7 + 2 * k);
            const kernels::Buffer result = kernels::allocate(operation.outputs[0]).value();
            const std::byte *from = data.bytes().data();
            std::byte *to = result.bytes;
            QVERIFY(kernel.value()->run(std::span(&from, 1), std::span(&to, 1)).ok());
            QCOMPARE(result.tensor.values<float>(), run(*m_definition, operation, {data}).values);
        }
    }
}

/// Kernels share packed weights by where these lie; memory that is freed is soon another tensor's.
void OneDnnBackendTest::packedWeightsAreNotTakenForOthersThatLieWhereTheyDid()
{
    ops::Conv conv{.kernel = {3, 3}, .stride = {1, 1}, .dilate = {1, 1}, .pad = {{1, 1}, {1, 1}}};
    conv.outputChannels = 32;
    conv.hasBias = false;
    std::vector<std::unique_ptr<kernels::Kernel>> held;
    for (int k = 0; k < 40; ++k) {
        const std::vector<Tensor> inputs{integers({1, 16, 6, 6}, DType::F32, -2, 2, 7),
                                         integers({32, 16, 3, 3}, DType::F32, -1 - k % 5, 1 + k % 3, 5)};
        Operation operation = operationOf(conv, inputs, {1, 32, 6, 6}, DType::F32);
        const std::vector<float> wanted = run(*m_definition, operation, inputs).values;
        operation.constants = inputs;
        operation.constants[0] = {};
        if (k % 2 == 0) // some live on, and their weights with them
            held.push_back(std::move(m_backend->prepare(operation)).value());
        QCOMPARE(run(*m_backend, operation, inputs).values, wanted);
    }
}

void OneDnnBackendTest::whatOneDnnLacksIsRefusedWithAReason()
{
    const std::vector<Tensor> inputs{integers({4}, DType::F32, -2, 2, 1)};
    const auto kernel
        = m_backend->prepare(operationOf(ops::Unary{ops::UnaryKind::Gamma}, inputs, {4}, DType::F32));
    QVERIFY(!kernel.ok());
    QCOMPARE(kernel.error().code, Errc::Unsupported);
    QVERIFY(!kernel.error().found.empty());
    const std::vector<Tensor> summands(100'000, inputs[0]);
    const ops::Join sum{ops::Join::Kind::Sum, static_cast<std::int64_t>(summands.size()), true};
    QCOMPARE(m_backend->prepare(operationOf(sum, summands, {4}, DType::F32)).error().code, Errc::Unsupported);
}

void OneDnnBackendTest::aMaximumOverNaNIsNaN()
{
    for (const bool isGlobal : {false, true}) {
        ops::Pool pool;
        pool.kernel = {1, 2};
        pool.global = isGlobal;
        for (const float odd : {std::nanf(""), 1.0F}) {
            const std::array<float, 3> values{odd, 2, 3};
            const auto bytes = std::as_bytes(std::span(values));
            const std::vector<Tensor> inputs{
                Tensor::owning(DType::F32, Shape{1, 1, 1, 3}, {bytes.begin(), bytes.end()})};
            const Shape result{1, 1, 1, isGlobal ? 1 : 2};
            const Outcome outcome = run(*m_backend, operationOf(pool, inputs, result, DType::F32), inputs);
            QCOMPARE(std::isnan(outcome.values[0]), std::isnan(odd));
        }
    }
}

/// Whoever waits for the next picture leaves the processors to those who decode it.
void OneDnnBackendTest::threadsSleepBetweenKernels()
{
#ifdef __clang__
    QSKIP("how long LLVM's OpenMP spins is set otherwise than GNU's");
#endif
    constexpr auto kPause = std::chrono::milliseconds(3);
    constexpr int kRuns = 60;
    const std::vector<Tensor> inputs{integers({1, 64, 32, 32}, DType::F32, -9, 9, 7)};
    const auto kernel = m_backend->prepare(
        operationOf(ops::Activation{ops::UnaryKind::Relu}, inputs, {1, 64, 32, 32}, DType::F32));
    QVERIFY(kernel.ok());
    std::vector<std::byte> result(inputs[0].bytes().size());
    const std::byte *from = inputs[0].bytes().data();
    std::byte *to = result.data();
    const std::clock_t before = std::clock(); // of all threads
    for (int k = 0; k < kRuns; ++k) {
        QVERIFY(kernel.value()->run(std::span(&from, 1), std::span(&to, 1)).ok());
        std::this_thread::sleep_for(kPause);
    }
    const double seconds = static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC;
    const double paused = std::chrono::duration<double>(kRuns * kPause).count();
    QVERIFY2(seconds < paused / 2, qPrintable(QString::number(seconds / paused)));
}

void OneDnnBackendTest::whatIsNotFiniteStaysSo_data()
{
    QTest::addColumn<int>("which");
    QTest::addColumn<DType>("type");
    QTest::addColumn<bool>("exact");
    const char *const names[] = {"relu",
                                 "clip",
                                 "maximum with a number",
                                 "minimum with a number",
                                 "maximum",
                                 "minimum",
                                 "hard sigmoid",
                                 "exp",
                                 "power",
                                 "softmax activation",
                                 "activation",
                                 "softmax",
                                 "clip between inputs",
                                 "clip from an input on",
                                 "clip up to an input",
                                 "clip between limits that cross"};
    for (const DType type : {DType::F32, DType::BF16, DType::F16})
        for (int k = 0; k < 16; ++k)
            QTest::addRow("%s, %s", names[k], std::string(tensor::nameOf(type)).c_str())
                << k << type << (k < 6 || k == 10 || k > 11);
}

/// oneDNN makes numbers of NaN here, and NaN of infinities.
void OneDnnBackendTest::whatIsNotFiniteStaysSo()
{
    QFETCH(int, which);
    QFETCH(DType, type);
    QFETCH(bool, exact);
    using ops::BinaryKind;
    const std::array<ops::Operator, 16> all{ops::Unary{ops::UnaryKind::Relu},
                                            ops::Clip{0, 6},
                                            ops::ScalarBinary{BinaryKind::Maximum, false, 0.5},
                                            ops::ScalarBinary{BinaryKind::Minimum, false, 0.5},
                                            ops::Binary{BinaryKind::Maximum},
                                            ops::Binary{BinaryKind::Minimum},
                                            ops::HardSigmoid{0.2, 0.5},
                                            ops::Unary{ops::UnaryKind::Exp},
                                            ops::ScalarBinary{BinaryKind::Power, false, 3},
                                            ops::SoftmaxActivation{},
                                            ops::Activation{ops::UnaryKind::Relu},
                                            ops::Softmax{},
                                            ops::ClipBetween{true, true},
                                            ops::ClipBetween{true, false},
                                            ops::ClipBetween{false, true},
                                            ops::ClipBetween{true, true}};
    const bool isPair = which == 4 || which == 5;
    const float infinity = std::numeric_limits<float>::infinity();
    const float nan = std::numeric_limits<float>::quiet_NaN();
    // Several blocks and a part of one; what is not finite lies in the first row, and nowhere.
    for (const bool isFinite : {false, true}) {
        std::vector<float> values(20485);
        for (std::size_t k = 0; k < values.size(); ++k)
            values[k] = static_cast<float>(static_cast<int>(k * 37 % 256) - 128) / 16;
        std::vector<float> others(values.rbegin(), values.rend());
        if (!isFinite) {
            std::ranges::copy(std::vector<float>{nan, infinity, -infinity, -0.0F, 1}, values.begin());
            std::ranges::copy(std::vector<float>{1, 2, nan, 0.0F, nan}, others.begin());
        }
        std::vector<Tensor> inputs{tensorOf(values, type)};
        if (isPair)
            inputs.push_back(tensorOf(others, type));
        if (const auto *between = all.at(static_cast<std::size_t>(which)).getIf<ops::ClipBetween>()) {
            if (between->hasLow)
                inputs.push_back(tensorOf({which == 15 ? 3.0F : -2.5F}, type));
            if (between->hasHigh)
                inputs.push_back(tensorOf({2.0F}, type));
        }
        const Operation operation
            = operationOf(all.at(static_cast<std::size_t>(which)), inputs, inputs[0].shape(), type);
        const Outcome got = run(*m_backend, operation, inputs);
        const Outcome wanted = run(*m_definition, operation, inputs);
        QVERIFY2(got.kernel.starts_with("own") || got.kernel.starts_with("oneDNN"), got.kernel.c_str());
        const double step = type == DType::F32 ? 1e-5 : type == DType::F16 ? 0x1p-9 : 0x1p-6;
        for (std::size_t k = 0; k < wanted.values.size(); ++k) {
            const float a = got.values[k];
            const float b = wanted.values[k];
            const bool isNear = exact ? a == b : a == b || std::abs(a - b) <= step * std::abs(b) + 1e-7;
            QVERIFY2((std::isnan(a) && std::isnan(b)) || isNear,
                     qPrintable(QString("%1: %2, not %3").arg(k).arg(a).arg(b)));
        }
    }
}

QTEST_GUILESS_MAIN(OneDnnBackendTest)
#include "tst_onednn_backend.moc"
