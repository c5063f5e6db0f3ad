#include "core/backends/backends.h"
#include "core/backends/onednn/backend.h"
#include "core/backends/onednn/loops/recurrent_codes.h"
#include "core/backends/onednn/loops/recurrent_loops.h"
#include "core/backends/reference/reference_backend.h"
#include "core/infer/infer_shapes.h"
#include "core/infer/infer_types.h"
#include "core/infer/typed_model.h"
#include "core/infer/variables.h"
#include "core/interpret/interpreter.h"
#include "core/io/arrays/npz.h"
#include "core/io/model_io.h"
#include "core/kernels/latency_plan.h"
#include "tests/support/tensors.h"

#include <QDir>
#include <QTest>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <stop_token>
#include <thread>
#include <vector>

using namespace halftone;
using kernels::Operation;
using ops::Recurrence;
using tensor::DType;
using tensor::Shape;
using tensor::Tensor;

namespace {

using Bytes = std::vector<std::byte>;
using Function = Recurrence::Function;
using Kind = Function::Kind;

std::size_t countOf(const kernels::TensorDesc &desc)
{
    return static_cast<std::size_t>(*desc.shape.elementCount());
}

/// depth  of the products that it goes into: errors of a step must not grow from step to step, as large weights let them
Tensor randomTensor(std::mt19937 &random, DType type, const Shape &shape, std::int64_t depth = 1)
{
    const float end = 1 / std::sqrt(static_cast<float>(std::max<std::int64_t>(depth, 1)));
    std::uniform_real_distribution<float> values(-end, end);
    std::vector<float> reals(static_cast<std::size_t>(*shape.elementCount()));
    std::ranges::generate(reals, [&] { return values(random); });
    Bytes bytes(reals.size() * tensor::sizeOf(type));
    tensor::narrow(reals.data(), reals.size(), type, bytes.data());
    return Tensor::owning(type, shape, std::move(bytes));
}

Tensor randomCodes(std::mt19937 &random, DType type, const Shape &shape)
{
    std::uniform_int_distribution<int> codes(0, 255);
    Bytes bytes(static_cast<std::size_t>(*shape.elementCount()));
    std::ranges::generate(bytes, [&] { return static_cast<std::byte>(codes(random)); });
    return Tensor::owning(type, shape, std::move(bytes));
}

/// So large that weights are below 1 / root of the depth, which keeps errors of a step from growing.
Tensor randomScales(std::mt19937 &random, const Shape &shape, std::int64_t depth)
{
    const Tensor reals
        = randomTensor(random, DType::F32, shape, std::max<std::int64_t>(depth, 1) * 255 * 255);
    Bytes bytes(reals.bytes().begin(), reals.bytes().end());
    for (std::size_t i = 0; i < bytes.size(); i += sizeof(float)) {
        float scale = 0;
        std::memcpy(&scale, bytes.data() + i, sizeof scale);
        scale = std::abs(scale) + 1e-5F;
        std::memcpy(bytes.data() + i, &scale, sizeof scale);
    }
    return Tensor::owning(DType::F32, shape, std::move(bytes));
}

Tensor lengthsOf(const std::vector<std::int32_t> &lengths)
{
    Bytes bytes(lengths.size() * sizeof(std::int32_t));
    std::memcpy(bytes.data(), lengths.data(), bytes.size());
    return Tensor::owning(DType::I32, Shape{static_cast<std::int64_t>(lengths.size())}, std::move(bytes));
}

/// An operation with values for all inputs.
struct RecurrentCase
{
    Operation operation;
    std::vector<Tensor> inputs;

    void add(Tensor tensor)
    {
        operation.inputs.push_back({tensor.dtype(), tensor.shape()});
        inputs.push_back(std::move(tensor));
    }
    void give(DType type, const Shape &shape) { operation.outputs.push_back({type, shape}); }
    /// Are weights known before the operation runs? They are inputs 1 and 2.
    void know(std::size_t first, std::size_t last)
    {
        operation.constants.resize(inputs.size());
        for (std::size_t k = first; k <= last; ++k)
            operation.constants[k] = inputs[k];
    }
};

struct Sizes
{
    std::int64_t steps = 5;
    std::int64_t batch = 3;
    std::int64_t features = 4;
    std::int64_t hidden = 7;
};

std::vector<Function> defaultFunctions(Recurrence::Cell cell)
{
    if (cell == Recurrence::Cell::Plain)
        return {{Kind::Tanh}};
    return cell == Recurrence::Cell::Gru ? std::vector<Function>{{Kind::Sigmoid}, {Kind::Tanh}}
                                         : std::vector<Function>{{Kind::Sigmoid}, {Kind::Tanh}, {Kind::Tanh}};
}

/// Of weights that are codes: their type, and whether each column has a scale.
struct Codes
{
    DType type = DType::I8;
    bool byColumn = false;
};

RecurrentCase caseOf(Recurrence op, const Sizes &sizes, DType type, bool areConstants = true,
                     const Codes &codes = {})
{
    std::mt19937 random(5);
    if (op.functions.empty())
        for (std::int64_t k = 0; k < op.directions(); ++k)
            for (const Function &function : defaultFunctions(op.cell))
                op.functions.push_back(function);
    op.hiddenSize = sizes.hidden;
    const std::int64_t rows = op.gates() * sizes.hidden;
    const std::int64_t d = op.directions();
    const Shape state
        = op.batchFirst ? Shape{sizes.batch, d, sizes.hidden} : Shape{d, sizes.batch, sizes.hidden};
    RecurrentCase made;
    const auto add = [&](const Shape &shape) { made.add(randomTensor(random, type, shape)); };
    add(op.batchFirst ? Shape{sizes.batch, sizes.steps, sizes.features}
                      : Shape{sizes.steps, sizes.batch, sizes.features});
    for (const std::int64_t depth : {sizes.features, sizes.hidden})
        made.add(op.hasCodes ? randomCodes(random, codes.type, {d, depth, rows})
                             : randomTensor(random, type, {d, rows, depth}, depth));
    if (op.hasBias)
        add(Shape{d, 2 * rows});
    if (op.hasLengths) { // one of no step, one that is longer than there are steps
        std::vector<std::int32_t> lengths;
        for (std::int64_t n = 0; n < sizes.batch; ++n)
            lengths.push_back(static_cast<std::int32_t>(n * 7 % (sizes.steps + 2)));
        made.add(lengthsOf(lengths));
    }
    if (op.hasHidden)
        add(state);
    if (op.hasCell)
        add(state);
    if (op.hasPeepholes)
        add(Shape{d, 3 * sizes.hidden});
    for (const std::int64_t depth : {sizes.features, sizes.hidden}) {
        if (!op.hasCodes)
            break;
        const Shape each = codes.byColumn ? Shape{d, rows} : Shape{d};
        made.add(randomScales(random, each, depth));
        made.add(randomCodes(random, codes.type, each));
    }
    made.give(type,
              op.batchFirst ? Shape{sizes.batch, sizes.steps, d, sizes.hidden}
                            : Shape{sizes.steps, d, sizes.batch, sizes.hidden});
    made.give(type, state);
    if (op.cell == Recurrence::Cell::Lstm)
        made.give(type, state);
    made.operation.op = op;
    made.operation.opName = "recurrence";
    if (areConstants)
        made.know(1, 2);
    return made;
}

/// A stack of layers of 7 units.
Recurrence stackOf(Recurrence::Cell cell, bool isBidirectional = false)
{
    Recurrence op;
    op.cell = cell;
    op.direction = isBidirectional ? Recurrence::Direction::Both : Recurrence::Direction::Forward;
    for (std::int64_t k = 0; k < op.directions(); ++k)
        for (const Function &function : defaultFunctions(op.cell))
            op.functions.push_back(function);
    op.hiddenSize = 7;
    op.linearBeforeReset = cell == Recurrence::Cell::Gru;
    op.hasHidden = true;
    op.hasCell = cell == Recurrence::Cell::Lstm;
    op.stack = Recurrence::Stack{}; // Clang 14 refuses emplace() for a nested class
    return op;
}

RecurrentCase stackCaseOf(const Recurrence &op, const Sizes &sizes, DType type)
{
    std::mt19937 random(9);
    const std::int64_t d = op.directions();
    const std::int64_t rows = sizes.hidden * op.gates();
    std::int64_t parameters = 0;
    for (std::int64_t layer = 0; layer < op.layers(); ++layer)
        parameters += d * rows * ((layer == 0 ? sizes.features : d * sizes.hidden) + sizes.hidden + 2);
    RecurrentCase made;
    const auto add = [&](const Shape &shape) { made.add(randomTensor(random, type, shape)); };
    add(Shape{sizes.steps, sizes.batch, sizes.features});
    made.add(randomTensor(random, type, {parameters}, sizes.hidden));
    const Shape state{op.layers() * d, sizes.batch, sizes.hidden};
    add(state);
    if (op.hasCell)
        add(state);
    if (op.hasLengths)
        made.add(test::converted(lengthsOf({3, 0, 5}), type));
    made.give(type, Shape{sizes.steps, sizes.batch, d * sizes.hidden});
    if (op.stack->givesStates) {
        made.give(type, state);
        if (op.hasCell)
            made.give(type, state);
    }
    made.operation.op = op;
    made.operation.opName = "RNN";
    made.know(1, 1);
    return made;
}

std::vector<std::vector<float>> run(kernels::Kernel &kernel, const RecurrentCase &one)
{
    std::vector<const std::byte *> from;
    for (const Tensor &input : one.inputs)
        from.push_back(input.bytes().data());
    std::vector<Bytes> memory;
    std::vector<std::byte *> to;
    for (const kernels::TensorDesc &desc : one.operation.outputs) {
        memory.emplace_back(countOf(desc) * tensor::sizeOf(desc.dtype) + 64, std::byte{0xA5});
        void *at = memory.back().data();
        std::size_t room = memory.back().size();
        to.push_back(static_cast<std::byte *>(std::align(64, room - 63, at, room)));
    }
    if (const auto done = kernel.run(from, to); !done.ok())
        qFatal("%s", done.error().message().c_str());
    std::vector<std::vector<float>> outputs;
    for (std::size_t k = 0; k < to.size(); ++k) {
        const kernels::TensorDesc &desc = one.operation.outputs[k];
        outputs.emplace_back(countOf(desc));
        tensor::widen(desc.dtype, to[k], outputs.back().size(), outputs.back().data());
    }
    return outputs;
}

/// The kernel of backend cpu alone, which has nobody to leave the operation to.
std::unique_ptr<kernels::Kernel> kernelOf(const RecurrentCase &one, int threads = 1)
{
    auto kernel
        = backends::onednn::onednnBackend(threads, backends::onednn::Waits::Quiet)->prepare(one.operation);
    if (!kernel.ok())
        qFatal("%s", kernel.error().message().c_str());
    return std::move(kernel).value();
}

/// What is further from the definition, in double, than its type and sums in float32 explain; nothing.
QString difference(const RecurrentCase &one, const std::vector<std::vector<float>> &got)
{
    const auto definition = backends::reference::referenceBackend({1, true});
    auto kernel = definition->prepare(one.operation);
    if (!kernel.ok())
        return QString::fromStdString(kernel.error().message());
    const auto want = run(*kernel.value(), one);
    const DType type = one.operation.outputs[0].dtype;
    const double tolerance = type == DType::F32 ? 4e-6 : type == DType::F16 ? 1.0 / 1024 : 1.0 / 128;
    for (std::size_t k = 0; k < want.size(); ++k)
        for (std::size_t i = 0; i < want[k].size(); ++i) {
            const double w = want[k][i];
            const double g = got[k][i];
            if (std::isnan(w) != std::isnan(g) || std::abs(g - w) > tolerance * (1 + std::abs(w)))
                return QStringLiteral("output %1, element %2 is %3, expected %4").arg(k).arg(i).arg(g).arg(w);
        }
    return {};
}

void check(const RecurrentCase &one)
{
    const auto kernel = kernelOf(one);
    QVERIFY2(QByteArray::fromStdString(kernel->name()).contains("own "), kernel->name().c_str());
    const QString wrong = difference(one, run(*kernel, one));
    QVERIFY2(wrong.isEmpty(), qPrintable(wrong));
    const QString again
        = difference(one, run(*kernel, one)); // which finds the memory as the first run left it
    QVERIFY2(again.isEmpty(), qPrintable(again));
}

/// Variants of an operator: each names itself and changes one thing.
struct Variant
{
    const char *name;
    void (*change)(Recurrence &);
};

const std::vector<Variant> kVariants{
    {"plain", [](Recurrence &) {}},
    {"bias", [](Recurrence &op) { op.hasBias = true; }},
    {"lengths", [](Recurrence &op) { op.hasBias = op.hasLengths = true; }},
    {"first states",
     [](Recurrence &op) {
         op.hasHidden = true;
         op.hasCell = op.cell == Recurrence::Cell::Lstm;
     }},
    {"all inputs",
     [](Recurrence &op) {
         op.hasBias = op.hasLengths = op.hasHidden = true;
         op.hasCell = op.hasPeepholes = op.cell == Recurrence::Cell::Lstm;
     }},
    {"clip", [](Recurrence &op) { op.clip = 0.3; }},
    {"late reset", [](Recurrence &op) { op.hasBias = op.linearBeforeReset = true; }},
    {"coupled", [](Recurrence &op) { op.hasBias = op.couplesForget = true; }},
    {"batch first",
     [](Recurrence &op) {
         op.hasBias = op.hasLengths = op.hasHidden = op.batchFirst = true;
         op.hasCell = op.cell == Recurrence::Cell::Lstm;
     }},
};

const std::vector<std::pair<Recurrence::Cell, const char *>> kCells{
    {Recurrence::Cell::Plain, "plain"}, {Recurrence::Cell::Gru, "gru"}, {Recurrence::Cell::Lstm, "lstm"}};
const std::vector<std::pair<Recurrence::Direction, const char *>> kDirections{
    {Recurrence::Direction::Forward, "forward"},
    {Recurrence::Direction::Reverse, "reverse"},
    {Recurrence::Direction::Both, "both"}};

Result<infer::TypedModel> typedOf(const graph::Model &model)
{
    infer::TypedModel typed{model, {}, {}};
    HALFTONE_TRY(typed.shapes, infer::inferShapes(model.graph, {}));
    std::vector<policy::Warning> warnings;
    HALFTONE_TRY(const auto variables, infer::classifyVariables(model, {}, warnings));
    std::vector<DType> types;
    for (const infer::Variable &variable : variables)
        types.push_back(variable.type);
    HALFTONE_TRY(typed.types, infer::inferTypes(model.graph, types));
    return typed;
}

} // namespace

/// The kernels of recurrent layers against their definition and against what ONNX and ONNX Runtime recorded
/// (tests/support/make_recurrent_goldens.py).
class RecurrenceTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void everyVariantIsAsDefined_data();
    void everyVariantIsAsDefined();
    void everySizeIsAsDefined_data();
    void everySizeIsAsDefined();
    void everyFunctionIsAsDefined_data();
    void everyFunctionIsAsDefined();
    void functionsAreExact_data();
    void functionsAreExact();
    void weightsMayBeComputed();
    void whatIsNoNumberStays();
    void valuesDependOnNoNeighbour();
    void layersOnCodesAreAsDefined_data();
    void layersOnCodesAreAsDefined();
    void layersOnCodesOfEverySize();
    void productsOfCodesAreExact();
    void codesOfValuesAreThoseOfTheDefinition();
    void decodedWeightsCostNoStep_data();
    void decodedWeightsCostNoStep();
    void fusedLayersAreAsDefined_data();
    void fusedLayersAreAsDefined();
    void whatIsNotComputedHereIsRefused();
    void aLongRunCanBeStopped();
    void recordedValues_data();
    void recordedValues();
    void plansLeaveNoneToTheReference_data();
    void plansLeaveNoneToTheReference();
};

void RecurrenceTest::everyVariantIsAsDefined_data()
{
    QTest::addColumn<int>("cell");
    QTest::addColumn<int>("direction");
    QTest::addColumn<int>("variant");
    QTest::addColumn<int>("type");
    for (const auto &[cell, cellName] : kCells)
        for (const auto &[direction, directionName] : kDirections)
            for (std::size_t k = 0; k < kVariants.size(); ++k)
                for (const DType type : {DType::F32, DType::BF16, DType::F16})
                    QTest::addRow("%s %s %s %s", cellName, directionName, kVariants[k].name,
                                  std::string(tensor::nameOf(type)).c_str())
                        << static_cast<int>(cell) << static_cast<int>(direction) << static_cast<int>(k)
                        << static_cast<int>(type);
}

void RecurrenceTest::everyVariantIsAsDefined()
{
    QFETCH(const int, cell);
    QFETCH(const int, direction);
    QFETCH(const int, variant);
    QFETCH(const int, type);
    Recurrence op;
    op.cell = static_cast<Recurrence::Cell>(cell);
    op.direction = static_cast<Recurrence::Direction>(direction);
    kVariants[static_cast<std::size_t>(variant)].change(op);
    check(caseOf(op, {}, static_cast<DType>(type)));
}

void RecurrenceTest::everySizeIsAsDefined_data()
{
    QTest::addColumn<int>("cell");
    QTest::addColumn<std::int64_t>("steps");
    QTest::addColumn<std::int64_t>("batch");
    QTest::addColumn<std::int64_t>("features");
    QTest::addColumn<std::int64_t>("hidden");
    const Sizes sizes[] = {{1, 1, 1, 1},   {0, 2, 3, 5},  {3, 0, 3, 5},    {2, 3, 0, 5},    {40, 1, 8, 16},
                           {33, 2, 5, 17}, {9, 7, 16, 4}, {4, 13, 40, 33}, {130, 1, 3, 64}, {2, 5, 129, 96}};
    for (const auto &[cell, name] : kCells)
        for (const Sizes &size : sizes)
            QTest::addRow("%s %d steps, %d sequences, %d to %d", name, static_cast<int>(size.steps),
                          static_cast<int>(size.batch), static_cast<int>(size.features),
                          static_cast<int>(size.hidden))
                << static_cast<int>(cell) << size.steps << size.batch << size.features << size.hidden;
}

void RecurrenceTest::everySizeIsAsDefined()
{
    QFETCH(const int, cell);
    QFETCH(const std::int64_t, steps);
    QFETCH(const std::int64_t, batch);
    QFETCH(const std::int64_t, features);
    QFETCH(const std::int64_t, hidden);
    Recurrence op;
    op.cell = static_cast<Recurrence::Cell>(cell);
    op.direction = Recurrence::Direction::Both;
    op.hasBias = op.hasHidden = true;
    for (const DType type : {DType::F32, DType::BF16})
        check(caseOf(op, {steps, batch, features, hidden}, type));
}

void RecurrenceTest::everyFunctionIsAsDefined_data()
{
    QTest::addColumn<int>("kind");
    QTest::addColumn<double>("alpha");
    QTest::addColumn<double>("beta");
    const auto row = [](const char *name, Kind kind, double alpha = 0, double beta = 0) {
        QTest::newRow(name) << static_cast<int>(kind) << alpha << beta;
    };
    row("tanh", Kind::Tanh);
    row("relu", Kind::Relu);
    row("sigmoid", Kind::Sigmoid);
    row("affine", Kind::Affine, 0.7, -0.2);
    row("leaky relu", Kind::LeakyRelu, 0.2);
    row("thresholded relu", Kind::ThresholdedRelu, 0.1);
    row("scaled tanh", Kind::ScaledTanh, 0.8, 1.3);
    row("hard sigmoid", Kind::HardSigmoid, 0.3, 0.6);
    row("elu", Kind::Elu, 0.9);
    row("softsign", Kind::Softsign);
    row("softplus", Kind::Softplus);
}

void RecurrenceTest::everyFunctionIsAsDefined()
{
    QFETCH(const int, kind);
    QFETCH(const double, alpha);
    QFETCH(const double, beta);
    for (const auto &[cell, name] : kCells) {
        const std::size_t count = defaultFunctions(cell).size();
        for (std::size_t place = 0; place < count; ++place) {
            Recurrence op;
            op.cell = cell;
            op.functions = defaultFunctions(cell);
            op.functions[place] = {static_cast<Kind>(kind), alpha, beta};
            op.hasBias = true;
            check(caseOf(op, {3, 2, 4, 7}, DType::F32));
        }
    }
}

void RecurrenceTest::functionsAreExact_data()
{
    everyFunctionIsAsDefined_data();
}

/// To a few units in the last place, over all magnitudes.
void RecurrenceTest::functionsAreExact()
{
    QFETCH(const int, kind);
    QFETCH(const double, alpha);
    QFETCH(const double, beta);
    const double inf = std::numeric_limits<double>::infinity();
    std::vector<float> values{0.0F, -0.0F, std::numeric_limits<float>::infinity(),
                              -std::numeric_limits<float>::infinity()};
    for (float x = 1e-30F; x < 1e30F; x *= 1.07F) {
        values.push_back(x);
        values.push_back(-x);
    }
    for (float x = -100; x < 100; x += 0.0371F)
        values.push_back(x);
    values.resize(values.size() / 16 * 16);
    std::vector<float> results = values;
    backends::onednn::applyFunction({static_cast<Kind>(kind), alpha, beta}, static_cast<float>(inf),
                                    results.data(), results.size());
    const auto a = static_cast<double>(static_cast<float>(alpha));
    const auto b = static_cast<double>(static_cast<float>(beta));
    for (std::size_t i = 0; i < values.size(); ++i) {
        const double x = values[i];
        double want = 0;
        switch (static_cast<Kind>(kind)) {
        case Kind::Tanh:
            want = std::tanh(x);
            break;
        case Kind::Relu:
            want = x < 0 ? 0 : x;
            break;
        case Kind::Sigmoid:
            want = 1 / (1 + std::exp(-x));
            break;
        case Kind::Affine:
            want = a * x + b;
            break;
        case Kind::LeakyRelu:
            want = x >= 0 ? x : a * x;
            break;
        case Kind::ThresholdedRelu:
            want = x > a ? x : 0;
            break;
        case Kind::ScaledTanh:
            want = a * std::tanh(b * x);
            break;
        case Kind::HardSigmoid:
            want = std::clamp(a * x + b, 0.0, 1.0);
            break;
        case Kind::Elu:
            want = x >= 0 ? x : a * std::expm1(x);
            break;
        case Kind::Softsign:
            want = std::isinf(x) ? std::nan("") : x / (1 + std::abs(x));
            break;
        case Kind::Softplus:
            want = x > 20 ? x : std::log1p(std::exp(x));
            break;
        }
        const double got = results[i];
        // Sums of two products of which one takes away the other: the larger one's last place.
        const double size
            = static_cast<Kind>(kind) == Kind::Affine || static_cast<Kind>(kind) == Kind::HardSigmoid
            ? std::abs(want) + 1
            : std::abs(want);
        const double tolerance = 5e-7 * size + 1e-37;
        QVERIFY2(std::isnan(want) ? std::isnan(got)
                     : std::isinf(want) || std::abs(want) > std::numeric_limits<float>::max()
                     ? std::isinf(got)
                     : std::abs(got - want) <= tolerance,
                 qPrintable(QStringLiteral("%1 gives %2, expected %3")
                                .arg(x, 0, 'g', 9)
                                .arg(got, 0, 'g', 9)
                                .arg(want, 0, 'g', 9)));
    }
}

void RecurrenceTest::weightsMayBeComputed()
{
    for (const auto &[cell, name] : kCells)
        for (const DType type : {DType::F32, DType::BF16}) {
            Recurrence op;
            op.cell = cell;
            op.direction = Recurrence::Direction::Both;
            op.hasBias = true;
            RecurrentCase one = caseOf(op, {4, 2, 5, 18}, type, false);
            check(one);
            // One kernel, other weights.
            const auto kernel = kernelOf(one);
            (void)run(*kernel, one);
            std::mt19937 random(77);
            one.inputs[1] = randomTensor(random, type, one.inputs[1].shape());
            one.inputs[2] = randomTensor(random, type, one.inputs[2].shape());
            const QString wrong = difference(one, run(*kernel, one));
            QVERIFY2(wrong.isEmpty(), qPrintable(wrong));
        }
}

void RecurrenceTest::whatIsNoNumberStays()
{
    const float bad[] = {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(),
                         -std::numeric_limits<float>::infinity()};
    for (const auto &[cell, name] : kCells)
        for (const float value : bad) {
            Recurrence op;
            op.cell = cell;
            op.hasBias = true;
            RecurrentCase one = caseOf(op, {4, 2, 3, 5}, DType::F32);
            Bytes bytes(one.inputs[0].bytes().begin(), one.inputs[0].bytes().end());
            std::memcpy(bytes.data() + 7 * sizeof(float), &value,
                        sizeof value); // of the first sequence's second step
            one.inputs[0] = Tensor::owning(DType::F32, one.inputs[0].shape(), std::move(bytes));
            check(one);
        }
}

/// The same bits alone and in a batch, with one thread and with three.
void RecurrenceTest::valuesDependOnNoNeighbour()
{
    for (const auto &[cell, name] : kCells) {
        Recurrence op;
        op.cell = cell;
        op.direction = Recurrence::Direction::Both;
        op.hasBias = true;
        op.batchFirst = true;
        const RecurrentCase all = caseOf(op, {6, 9, 20, 24}, DType::F32);
        const auto together = run(*kernelOf(all, 1), all);
        QVERIFY(together == run(*kernelOf(all, 3), all));
        QVERIFY(together == run(*kernelOf(all, 4), all));
        RecurrentCase alone = caseOf(op, {6, 1, 20, 24}, DType::F32);
        for (std::size_t k = 1; k < all.inputs.size(); ++k)
            alone.inputs[k] = all.inputs[k];
        alone.know(1, 2);
        const std::size_t row = 6 * 20 * sizeof(float);
        for (std::size_t n = 0; n < 9; ++n) {
            const auto bytes = all.inputs[0].bytes().subspan(n * row, row);
            alone.inputs[0] = Tensor::owning(DType::F32, Shape{1, 6, 20}, {bytes.begin(), bytes.end()});
            const auto got = run(*kernelOf(alone, 1), alone);
            for (std::size_t k = 0; k < got.size(); ++k)
                QVERIFY(std::equal(got[k].begin(), got[k].end(),
                                   together[k].begin() + static_cast<std::ptrdiff_t>(n * got[k].size())));
        }
    }
}

void RecurrenceTest::layersOnCodesAreAsDefined_data()
{
    QTest::addColumn<int>("direction");
    QTest::addColumn<int>("variant");
    QTest::addColumn<int>("type");
    QTest::addColumn<bool>("byColumn");
    QTest::addColumn<bool>("areConstants");
    for (const auto &[direction, directionName] : kDirections)
        for (std::size_t k = 0; k < kVariants.size(); ++k)
            for (const DType type : {DType::I8, DType::U8})
                for (const bool byColumn : {false, true})
                    for (const bool areConstants : {false, true})
                        QTest::addRow("%s %s %s%s%s", directionName, kVariants[k].name,
                                      std::string(tensor::nameOf(type)).c_str(), byColumn ? " columns" : "",
                                      areConstants ? "" : " computed")
                            << static_cast<int>(direction) << static_cast<int>(k) << static_cast<int>(type)
                            << byColumn << areConstants;
}

void RecurrenceTest::layersOnCodesAreAsDefined()
{
    QFETCH(const int, direction);
    QFETCH(const int, variant);
    QFETCH(const int, type);
    QFETCH(const bool, byColumn);
    QFETCH(const bool, areConstants);
    Recurrence op;
    op.cell = Recurrence::Cell::Lstm;
    op.direction = static_cast<Recurrence::Direction>(direction);
    kVariants[static_cast<std::size_t>(variant)].change(op);
    op.hasCodes = true;
    op.batchFirst = op.linearBeforeReset = false; // which there is not
    const RecurrentCase one = caseOf(op, {}, DType::F32, areConstants, {static_cast<DType>(type), byColumn});
    QVERIFY2(kernelOf(one)->name().ends_with("own lstm on codes"), kernelOf(one)->name().c_str());
    check(one);
}

void RecurrenceTest::layersOnCodesOfEverySize()
{
    const Sizes sizes[] = {{1, 1, 1, 1},   {0, 2, 3, 5},  {3, 0, 3, 5},    {2, 3, 0, 5},    {40, 1, 8, 16},
                           {33, 2, 5, 17}, {9, 7, 16, 4}, {4, 13, 40, 33}, {130, 1, 3, 64}, {2, 5, 129, 96}};
    Recurrence op;
    op.cell = Recurrence::Cell::Lstm;
    op.direction = Recurrence::Direction::Both;
    op.hasBias = op.hasHidden = op.hasCodes = true;
    for (const Sizes &size : sizes)
        check(caseOf(op, size, DType::F32, true, {DType::U8, true}));
}

/// The largest sums that codes give, zeros beyond the depth, any number of rows.
void RecurrenceTest::productsOfCodesAreExact()
{
    namespace onednn = backends::onednn;
    std::mt19937 random(3);
    for (const std::size_t depth : {1U, 3U, 4U, 63U, 1000U, 33000U})
        for (const std::size_t rows : {1U, 2U, 5U, 6U, 7U, 13U}) {
            if (depth > 1000 && rows > 2)
                continue;
            constexpr std::size_t kSize = 20; // of a gate: a vector and a part of one
            const std::array<std::size_t, 3> gates{2, 0, 1};
            constexpr std::size_t kColumns = 3 * 32;
            Bytes codes(depth * 3 * kSize);
            std::uniform_int_distribution<int> any(0, 255);
            std::ranges::generate(codes, [&] { return static_cast<std::byte>(any(random)); });
            for (std::size_t k = 0; k < depth; ++k) // one column of the least code alone
                codes[k * 3 * kSize] = std::byte{0x80};
            const onednn::GateColumns columns{codes.data(), true, 3 * kSize, kSize, depth, gates.data(), 3};
            Bytes packed(onednn::packedCodeBytes(columns));
            onednn::packCodes(columns, packed.data());
            const std::size_t stride = (depth + 15) / 16 * 16;
            std::vector<std::uint8_t> data(rows * stride);
            std::vector<std::int32_t> rowSums(rows);
            for (std::size_t r = 0; r < rows; ++r)
                for (std::size_t k = 0; k < depth; ++k) {
                    data[r * stride + k] = static_cast<std::uint8_t>(r == 0 ? 255 : any(random));
                    rowSums[r] += data[r * stride + k];
                }
            std::vector<float> scales(kColumns, 0.5F);
            std::vector<std::int32_t> zeros(kColumns);
            std::ranges::generate(zeros, [&] { return any(random) - 128; });
            zeros[32] = 127; // of that column, which is the second gate's first
            const auto valueOf = [&](std::size_t r, std::size_t c) { // scales are 2 and a half
                std::int64_t exact = 0;
                for (std::size_t k = 0; k < depth; ++k) {
                    const auto code
                        = static_cast<std::int8_t>(codes[(k * 3 + gates[c / 32]) * kSize + c % 32]);
                    exact += (std::int64_t{data[r * stride + k]} - 7) * (code - zeros[c]);
                }
                return static_cast<float>(exact) + 3;
            };
            for (const auto unit :
                 {onednn::CodeUnit::Words, onednn::CodeUnit::Pairs, onednn::CodeUnit::Plain}) {
                std::vector<std::vector<float>> results(rows, std::vector<float>(kColumns, 3));
                std::vector<float *> sums;
                for (auto &row : results)
                    sums.push_back(row.data());
                onednn::multiplyCodes(
                    {packed.data(), depth, kColumns, scales.data(), zeros.data()},
                    {data.data(), stride, rowSums.data(), sums.data(), rows, {2, 7}, nullptr}, unit);
                for (std::size_t r = 0; r < rows; ++r)
                    for (std::size_t c = 0; c < kColumns; ++c)
                        QVERIFY2(c % 32 >= kSize
                                     || std::abs(results[r][c] - valueOf(r, c))
                                         <= std::abs(results[r][c]) * 1e-7F,
                                 qPrintable(QStringLiteral("unit %1, depth %2, row %3, column %4")
                                                .arg(static_cast<int>(unit))
                                                .arg(depth)
                                                .arg(r)
                                                .arg(c)));
            }
        }
}

/// Source: ONNX operator DynamicQuantizeLinear.
void RecurrenceTest::codesOfValuesAreThoseOfTheDefinition()
{
    namespace onednn = backends::onednn;
    std::mt19937 random(8);
    for (const std::size_t count : {1U, 5U, 16U, 31U, 200U})
        for (const float size : {1e-20F, 1.0F, 3e30F})
            for (const float shift : {-2.0F, 0.0F, 0.3F, 2.0F}) {
                std::uniform_real_distribution<float> any(size * (shift - 1), size * (shift + 1));
                std::vector<float> values(count);
                std::ranges::generate(values, [&] { return any(random); });
                float low = 0;
                float high = 0;
                onednn::widenRange(values.data(), count, low, high);
                QCOMPARE(low, std::min(0.0F, std::ranges::min(values)));
                QCOMPARE(high, std::max(0.0F, std::ranges::max(values)));
                const onednn::DynamicCode code = onednn::dynamicCode(low, high);
                QCOMPARE(code.scale, (high - low) / 255);
                QCOMPARE(code.zero,
                         static_cast<int>(std::nearbyint(std::clamp(-low / code.scale, 0.0F, 255.0F))));
                const std::size_t room = (count + 15) / 16 * 16;
                std::vector<std::uint8_t> codes(room, 77);
                const std::int32_t sum = onednn::codeValues(values.data(), count, code, codes.data());
                std::int32_t want = 0;
                for (std::size_t i = 0; i < room; ++i) {
                    const float each = i < count
                        ? std::clamp(std::nearbyint(values[i] / code.scale) + static_cast<float>(code.zero),
                                     0.0F, 255.0F)
                        : 0.0F;
                    QCOMPARE(static_cast<float>(codes[i]), each);
                    want += codes[i];
                }
                QCOMPARE(sum, want);
            }
}

void RecurrenceTest::decodedWeightsCostNoStep_data()
{
    QTest::addColumn<QString>("path");
    for (const char *name : {"decoded_rnn", "decoded_gru", "decoded_lstm"})
        QTest::newRow(name) << QStringLiteral(HALFTONE_TEST_DATA "/onnx_recurrent/") + name;
}

/// Weights that a file holds as codes behind DequantizeLinear become what the kernel reads once, when the plan is made.
void RecurrenceTest::decodedWeightsCostNoStep()
{
    QFETCH(QString, path);
    const auto loaded = io::loadModel((path + ".onnx").toStdString());
    QVERIFY2(loaded.ok(), loaded.ok() ? "" : loaded.error().message().c_str());
    const auto typed = typedOf(loaded.value().model);
    QVERIFY2(typed.ok(), typed.ok() ? "" : typed.error().message().c_str());
    const auto backend = backends::planningBackend("cpu", 1);
    QVERIFY(backend.ok());
    const auto made = backend.value()->plan(typed.value(), {});
    QVERIFY2(made.ok(), made.ok() ? "" : made.error().message().c_str());
    QCOMPARE(made.value()->steps().size(), std::size_t{1});
    QVERIFY(made.value()->steps()[0].kernel.starts_with("own "));
}

void RecurrenceTest::fusedLayersAreAsDefined_data()
{
    QTest::addColumn<int>("cell");
    QTest::addColumn<int>("layers");
    QTest::addColumn<bool>("bidirectional");
    QTest::addColumn<bool>("hasLengths");
    QTest::addColumn<bool>("stateOutputs");
    const char *const names[] = {"relu", "tanh", "lstm", "gru"};
    for (int cell = 0; cell < 4; ++cell)
        for (const int layers : {1, 2, 4})
            for (const bool bidirectional : {false, true})
                for (const bool hasLengths : {false, true})
                    QTest::addRow("%s, %d layers%s%s", names[cell], layers,
                                  bidirectional ? ", both ways" : "", hasLengths ? ", lengths" : "")
                        << cell << layers << bidirectional << hasLengths << (layers != 2);
}

void RecurrenceTest::fusedLayersAreAsDefined()
{
    QFETCH(const int, cell);
    QFETCH(const int, layers);
    QFETCH(const bool, bidirectional);
    QFETCH(const bool, hasLengths);
    QFETCH(const bool, stateOutputs);
    Recurrence op = stackOf(cell == 2       ? Recurrence::Cell::Lstm
                                : cell == 3 ? Recurrence::Cell::Gru
                                            : Recurrence::Cell::Plain,
                            bidirectional);
    if (cell == 0)
        std::ranges::fill(op.functions, Function{Kind::ThresholdedRelu});
    op.stack->layers = layers;
    op.stack->givesStates = stateOutputs;
    op.hasLengths = hasLengths;
    for (const DType type : {DType::F32, DType::BF16, DType::F16})
        check(stackCaseOf(op, {}, type));
}

void RecurrenceTest::whatIsNotComputedHereIsRefused()
{
    const auto cpu = backends::onednn::onednnBackend(1);
    Recurrence op = stackOf(Recurrence::Cell::Lstm);
    op.stack->givesStates = true;
    const Operation whole = stackCaseOf(op, {}, DType::F32).operation;
    QVERIFY(cpu->prepare(whole).ok());
    for (const auto &change : std::initializer_list<void (*)(Recurrence::Stack &)>{
             [](Recurrence::Stack &stack) { stack.projectionSize = 3; },
             [](Recurrence::Stack &stack) { stack.cellMin = -1; }}) {
        Recurrence changed = op;
        change(*changed.stack);
        Operation operation = whole;
        operation.op = changed;
        const auto refused = cpu->prepare(operation);
        QVERIFY(!refused.ok());
        QCOMPARE(refused.error().code, Errc::Unsupported);
    }
    Recurrence deep; // whose sums could pass 32 bits
    deep.cell = Recurrence::Cell::Lstm;
    deep.hasCodes = true;
    QVERIFY(!cpu->prepare(caseOf(deep, {1, 1, 33001, 1}, DType::F32).operation).ok());
    const auto refused = cpu->prepare(caseOf(Recurrence(), {}, DType::F64).operation);
    QVERIFY(!refused.ok());
    QCOMPARE(refused.error().code, Errc::Unsupported);
}

/// So many steps take seconds.
void RecurrenceTest::aLongRunCanBeStopped()
{
    Recurrence op;
    op.cell = Recurrence::Cell::Lstm;
    const RecurrentCase one = caseOf(op, {4000, 1, 1, 1024}, DType::F32);
    const auto kernel = kernelOf(one);
    std::stop_source source;
    kernel->setStop(source.get_token());
    std::vector<const std::byte *> from;
    for (const Tensor &input : one.inputs)
        from.push_back(input.bytes().data());
    constexpr float kUntouched = 7;
    std::vector<std::vector<float>> memory;
    std::vector<std::byte *> to;
    for (const kernels::TensorDesc &desc : one.operation.outputs) {
        memory.emplace_back(countOf(desc), kUntouched);
        to.push_back(reinterpret_cast<std::byte *>(memory.back().data()));
    }
    const std::jthread stopper([&source] {
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
        source.request_stop();
    });
    const auto done = kernel->run(from, to);
    QVERIFY(done.ok() || done.error().code == Errc::Cancelled);
    QCOMPARE(memory[0].back(), kUntouched);
}

void RecurrenceTest::recordedValues_data()
{
    QTest::addColumn<QString>("path");
    const QDir folder(QStringLiteral(HALFTONE_TEST_DATA "/onnx_recurrent"));
    const QStringList names = folder.entryList({"*.onnx"});
    QVERIFY(names.size() > 60);
    for (const QString &name : names)
        QTest::newRow(qPrintable(name.chopped(5))) << folder.filePath(name.chopped(5));
}

void RecurrenceTest::recordedValues()
{
    QFETCH(QString, path);
    const auto loaded = io::loadModel((path + ".onnx").toStdString());
    QVERIFY2(loaded.ok(), loaded.ok() ? "" : loaded.error().message().c_str());
    const auto arrays = io::readNpz((path + ".npz").toStdString());
    QVERIFY(arrays.ok());
    interpret::Feed feed;
    std::vector<Tensor> expected;
    for (const io::NamedTensor &array : arrays.value()) {
        if (array.name.starts_with("in."))
            feed.emplace(array.name.substr(3), array.tensor);
        else
            expected.push_back(array.tensor);
    }
    const auto own = backends::onednn::onednnBackend(2, backends::onednn::Waits::Quiet);
    for (const kernels::BackendChain &chain :
         {kernels::BackendChain{own}, {backends::reference::referenceBackend()}}) {
        auto interpreter = interpret::Interpreter::create(loaded.value().model, chain);
        QVERIFY2(interpreter.ok(), interpreter.ok() ? "" : interpreter.error().message().c_str());
        const auto outputs = interpreter.value().run(feed);
        QVERIFY2(outputs.ok(), outputs.ok() ? "" : outputs.error().message().c_str());
        QCOMPARE(outputs.value().size(), expected.size());
        for (std::size_t k = 0; k < expected.size(); ++k) {
            QVERIFY(outputs.value()[k].shape() == expected[k].shape());
            const auto got = test::valuesOf(outputs.value()[k]);
            const auto want = test::valuesOf(expected[k]);
            for (std::size_t i = 0; i < want.size(); ++i)
                QVERIFY2(
                    std::abs(got[i] - want[i]) <= 1e-5 * (1 + std::abs(want[i])),
                    qPrintable(
                        QStringLiteral("%1 %2: %3, expected %4").arg(k).arg(i).arg(got[i]).arg(want[i])));
        }
    }
}

void RecurrenceTest::plansLeaveNoneToTheReference_data()
{
    recordedValues_data();
}

void RecurrenceTest::plansLeaveNoneToTheReference()
{
    QFETCH(QString, path);
    const auto loaded = io::loadModel((path + ".onnx").toStdString());
    QVERIFY2(loaded.ok(), loaded.ok() ? "" : loaded.error().message().c_str());
    const auto typed = typedOf(loaded.value().model);
    QVERIFY2(typed.ok(), typed.ok() ? "" : typed.error().message().c_str());
    const auto backend = backends::planningBackend("cpu", 1);
    QVERIFY(backend.ok());
    auto made = backend.value()->plan(typed.value(), {});
    QVERIFY2(made.ok(), made.ok() ? "" : made.error().message().c_str());
    kernels::LatencyPlan &plan = *made.value();
    int own = 0;
    for (const kernels::PlanStep &step : plan.steps()) {
        QVERIFY2(!step.kernel.starts_with("ref"), step.kernel.c_str());
        own += step.kernel.starts_with("own ") ? 1 : 0;
        if (path.contains("/codes_"))
            QVERIFY(step.dtype == DType::I8 || step.dtype == DType::U8);
    }
    QCOMPARE(own, 1);
    const auto arrays = io::readNpz((path + ".npz").toStdString());
    QVERIFY(arrays.ok());
    std::vector<Tensor> expected;
    for (const io::NamedTensor &array : arrays.value()) {
        if (!array.name.starts_with("in.")) {
            expected.push_back(array.tensor);
            continue;
        }
        const auto port = std::ranges::find(plan.inputs(), array.name.substr(3), &kernels::PlanPort::name);
        QVERIFY(port != plan.inputs().end());
        std::ranges::copy(array.tensor.bytes(),
                          plan.input(static_cast<std::size_t>(port - plan.inputs().begin())).begin());
    }
    const auto done = plan.run();
    QVERIFY2(done.ok(), done.ok() ? "" : done.error().message().c_str());
    QCOMPARE(plan.outputs().size(), expected.size());
    for (std::size_t k = 0; k < expected.size(); ++k) {
        const auto want = expected[k].values<float>();
        std::vector<float> got(want.size());
        QCOMPARE(plan.output(k).size(), want.size() * sizeof(float));
        std::memcpy(got.data(), plan.output(k).data(), plan.output(k).size());
        for (std::size_t i = 0; i < want.size(); ++i)
            QVERIFY(std::abs(got[i] - want[i]) <= 1e-5F * (1 + std::abs(want[i])));
    }
}

QTEST_APPLESS_MAIN(RecurrenceTest)
#include "tst_recurrence.moc"
