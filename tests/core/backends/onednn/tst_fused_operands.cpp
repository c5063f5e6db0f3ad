#include "core/backends/backends.h"
#include "core/backends/onednn/plan.h"
#include "core/backends/reference/reference_backend.h"
#include "core/plan/plan_edit.h"
#include "core/plan/simplify.h"
#include "core/tensor/elements.h"

#include <QTest>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <vector>

using namespace halftone;
using kernels::TensorDesc;
using ops::BinaryKind;
using tensor::DType;
using tensor::Shape;
using tensor::Tensor;

namespace {

/// An operator whose result other operators are fused with, with its inputs.
struct Host
{
    const char *name = "";
    ops::Operator op;
    std::vector<Shape> inputs;
    Shape result;
    bool hasWeights = true; ///< all inputs but the first are constants
};

std::vector<Host> hosts()
{
    using Form = ops::MatMul::Form;
    return {
        {"product of heads",
         ops::MatMul{Form::Stretched},
         {{2, 3, 8, 16}, {2, 3, 16, 24}},
         {2, 3, 8, 24},
         false},
        {"product by weights", ops::MatMul{Form::Stretched}, {{2, 5, 16}, {16, 24}}, {2, 5, 24}},
        {"product of matrices", ops::MatMul{Form::Stretched}, {{8, 16}, {16, 24}}, {8, 24}, false},
        {"fully connected", ops::FullyConnected{24, true, true}, {{6, 16}, {24, 16}, {24}}, {6, 24}},
        {"fully connected rows",
         ops::FullyConnected{24, false, true},
         {{2, 5, 16}, {24, 16}, {24}},
         {2, 5, 24}},
        {"convolution",
         ops::Conv{{3, 3}, {}, {}, {{1, 1}, {1, 1}}, 32, 1, true},
         {{2, 16, 6, 10}, {32, 16, 3, 3}, {32}},
         {2, 32, 6, 10}},
        {"convolution, odd channels",
         ops::Conv{{1, 1}, {}, {}, {}, 20, 1, true},
         {{2, 12, 6, 10}, {20, 12, 1, 1}, {20}},
         {2, 20, 6, 10}},
        {"convolution by channel",
         ops::Conv{{3, 3}, {}, {}, {{1, 1}, {1, 1}}, 32, 32, false},
         {{2, 32, 6, 10}, {32, 1, 3, 3}},
         {2, 32, 6, 10}},
        {"convolution of a sequence",
         ops::Conv{{3}, {}, {}, {{1}, {1}}, 32, 1, true},
         {{2, 16, 12}, {32, 16, 3}, {32}},
         {2, 32, 12}},
        {"convolution of a volume",
         ops::Conv{{3, 3, 3}, {}, {}, {{1, 1, 1}, {1, 1, 1}}, 16, 1, true},
         {{1, 16, 4, 4, 6}, {16, 16, 3, 3, 3}, {16}},
         {1, 16, 4, 4, 6}},
        {"transposed convolution",
         ops::ConvTranspose{{2, 2}, {2, 2}, {}, {}, {}, {}, 16, 1, false},
         {{2, 16, 3, 5}, {16, 16, 2, 2}},
         {2, 16, 6, 10}},
    };
}

/// Every way to stretch some axes of a result, also without its leading ones.
std::vector<Shape> operandShapes(const Shape &result)
{
    std::vector<Shape> shapes;
    const std::size_t rank = result.rank();
    for (std::size_t stretched = 0; stretched < (std::size_t{1} << rank); ++stretched) {
        std::vector<std::int64_t> dims;
        for (std::size_t axis = 0; axis < rank; ++axis)
            dims.push_back((stretched >> axis & 1) != 0 ? 1 : result[axis]);
        Shape shape{std::vector<std::int64_t>(dims)};
        if (std::ranges::find(shapes, shape) == shapes.end())
            shapes.push_back(std::move(shape));
        while (dims.size() > 1 && dims.front() == 1) {
            dims.erase(dims.begin());
            Shape shorter{std::vector<std::int64_t>(dims)};
            if (std::ranges::find(shapes, shorter) == shapes.end())
                shapes.push_back(std::move(shorter));
        }
    }
    return shapes;
}

/// Numbers from `least` on, of a range of 1, the same each time.
Tensor drawn(const TensorDesc &desc, double least)
{
    const auto count = static_cast<std::size_t>(*desc.shape.elementCount());
    std::vector<float> values(count);
    for (std::size_t k = 0; k < count; ++k)
        values[k] = static_cast<float>(least + static_cast<double>((k * 2654435761U + count) % 1024) / 1024);
    std::vector<std::byte> bytes(count * tensor::sizeOf(desc.dtype));
    tensor::convert(DType::F32, reinterpret_cast<const std::byte *>(values.data()), count, desc.dtype,
                    bytes.data());
    return Tensor::owning(desc.dtype, desc.shape, std::move(bytes));
}

/// A host and what follows it, each a node of its own.
struct Case
{
    plan::PlanGraph graph;
    std::map<plan::ValueId, Tensor> fed;

    plan::ValueId input(const TensorDesc &desc, double least, bool isConstant)
    {
        const plan::ValueId value = graph.addValue(desc, "value" + std::to_string(graph.values.size()));
        Tensor tensor = drawn(desc, least);
        if (isConstant) {
            graph.values[value].constant = std::move(tensor);
        } else {
            graph.inputs.push_back(value);
            fed[value] = std::move(tensor);
        }
        return value;
    }
    plan::ValueId node(const char *name, ops::Operator op, std::vector<plan::ValueId> inputs,
                       const TensorDesc &desc)
    {
        const plan::ValueId value = graph.addValue(desc, name);
        graph.nodes.push_back({std::move(op), name, {name}, std::move(inputs), {value}, {}});
        return value;
    }
    void end(plan::ValueId value)
    {
        graph.outputs = {value};
        graph.outputNames = {"out"};
    }
};

plan::ValueId addHost(Case &made, const Host &host, DType type)
{
    std::vector<plan::ValueId> inputs;
    for (std::size_t k = 0; k < host.inputs.size(); ++k)
        inputs.push_back(made.input({type, host.inputs[k]}, -0.5, k > 0 && host.hasWeights));
    return made.node("host", host.op, std::move(inputs), {type, host.result});
}

/// By the definitions of the operators, one node after the other.
std::vector<float> defined(const Case &made)
{
    const auto reference = backends::reference::referenceBackend();
    std::map<plan::ValueId, Tensor> values = made.fed;
    for (const plan::PlanNode &node : made.graph.nodes) {
        auto kernel = plan::prepareNode(made.graph, node, *reference);
        if (!kernel.ok())
            qFatal("%s", kernel.error().message().c_str());
        std::vector<const std::byte *> inputs;
        for (const plan::ValueId value : node.inputs)
            inputs.push_back(
                (made.graph.isConstant(value) ? *made.graph.values[value].constant : values.at(value))
                    .bytes()
                    .data());
        const TensorDesc &desc = made.graph.desc(node.outputs[0]);
        std::vector<std::byte> result(static_cast<std::size_t>(*desc.shape.elementCount())
                                      * tensor::sizeOf(desc.dtype));
        std::byte *const output = result.data();
        if (!kernel.value()->run(inputs, std::span(&output, 1)).ok())
            qFatal("the reference does not run");
        values[node.outputs[0]] = Tensor::owning(desc.dtype, desc.shape, std::move(result));
    }
    const Tensor &result = values.at(made.graph.outputs[0]);
    std::vector<float> floats(result.elementCount());
    tensor::widen(result.dtype(), result.bytes().data(), floats.size(), floats.data());
    return floats;
}

/// What is wrong with a plan of it; empty: nothing.
QString problemWith(const Case &made, kernels::PlanLayout layout)
{
    plan::PlanGraph graph = made.graph;
    plan::fusePostOps(graph);
    plan::removeUnused(graph);
    static const auto fallback = backends::reference::referenceBackend();
    kernels::PlanOptions options;
    options.layout = layout;
    const auto plan = backends::onednn::makePlan(std::move(graph), options, 1, fallback.get());
    if (!plan.ok())
        return QString::fromStdString(plan.error().message());
    for (const kernels::PlanStep &step : plan.value()->steps())
        if (step.kernel.starts_with("ref"))
            return QString::fromStdString("step of " + step.nodes.front() + " is " + step.kernel);
    for (std::size_t k = 0; k < plan.value()->inputs().size(); ++k) {
        const Tensor &fed = made.fed.at(made.graph.inputs[k]);
        std::memcpy(plan.value()->input(k).data(), fed.bytes().data(), fed.byteCount());
    }
    if (!plan.value()->run().ok())
        return "it does not run";
    const std::vector<float> expected = defined(made);
    const TensorDesc &desc = plan.value()->outputs()[0].desc;
    std::vector<float> computed(expected.size());
    tensor::widen(desc.dtype, plan.value()->output(0).data(), computed.size(), computed.data());
    double distance = 0;
    double largest = 0;
    for (std::size_t k = 0; k < expected.size(); ++k) {
        distance = std::max(distance, std::abs(double{computed[k]} - double{expected[k]}));
        largest = std::max(largest, std::abs(double{expected[k]}));
        if (std::isnan(computed[k]) != std::isnan(expected[k]))
            return "NaN";
    }
    const double tolerance = desc.dtype == DType::F32 ? 1e-5 : 3e-2;
    return distance <= tolerance * std::max(largest, 1.0)
        ? QString()
        : QString("%1 of %2 apart").arg(distance).arg(largest);
}

constexpr BinaryKind kKinds[]{BinaryKind::Add,     BinaryKind::Mul,     BinaryKind::Sub,
                              BinaryKind::Maximum, BinaryKind::Minimum, BinaryKind::Div};

std::vector<DType> nativeTypes()
{
    std::vector<DType> types;
    const auto info = backends::backendInfo("cpu");
    for (const DType type : {DType::F32, DType::BF16, DType::F16})
        if (info.ok() && info.value().support(type) == kernels::Support::Native)
            types.push_back(type);
    return types;
}

std::vector<ops::Operator> functions()
{
    using ops::Curve;
    using ops::LeakyRelu;
    using ops::UnaryKind;
    std::vector<ops::Operator> all{ops::Activation{UnaryKind::Relu},
                                   ops::Activation{UnaryKind::Sigmoid},
                                   ops::Activation{UnaryKind::Tanh},
                                   ops::Activation{UnaryKind::Softplus},
                                   LeakyRelu{LeakyRelu::Kind::Leaky, 0.1},
                                   LeakyRelu{LeakyRelu::Kind::Elu, 0.3},
                                   LeakyRelu{LeakyRelu::Kind::Gelu},
                                   ops::ScalarBinary{BinaryKind::Mul, false, 0.5},
                                   ops::ScalarBinary{BinaryKind::Add, false, 3},
                                   ops::Clip{-0.5, 0.5},
                                   ops::HardSigmoid{0.2, 0.5},
                                   Curve{Curve::Kind::Swish, 1}};
    for (const UnaryKind kind : {UnaryKind::Abs, UnaryKind::Square, UnaryKind::Exp, UnaryKind::GeluTanh,
                                 UnaryKind::HardSwish, UnaryKind::Mish})
        all.emplace_back(ops::Unary{kind});
    return all;
}

} // namespace

/// Post-operations of latency plans, of every operator that takes some: no step falls to a reference kernel of oneDNN, which is hundreds of
/// times slower, and all give what the operators' definitions give.
class FusedOperandsTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase();
    void operandsOfEveryShapeAreFast_data();
    void operandsOfEveryShapeAreFast();
    void functionsAreFast_data();
    void functionsAreFast();
    void bothSidesMayStretch();
    void whatIsAlikeIsTakenApartAtOnce();
};

void FusedOperandsTest::initTestCase()
{
    if (!backends::backendTable().front().makesPlans)
        QSKIP("this build has no oneDNN");
}

namespace {

void addHostRows()
{
    QTest::addColumn<int>("host");
    QTest::addColumn<DType>("type");
    const std::vector<Host> all = hosts();
    for (std::size_t k = 0; k < all.size(); ++k)
        for (const DType type : nativeTypes())
            QTest::addRow("%s, %s", all[k].name, tensor::nameOf(type).data()) << static_cast<int>(k) << type;
}

} // namespace

void FusedOperandsTest::operandsOfEveryShapeAreFast_data()
{
    addHostRows();
}

void FusedOperandsTest::operandsOfEveryShapeAreFast()
{
    QFETCH(int, host);
    QFETCH(DType, type);
    const Host of = hosts()[static_cast<std::size_t>(host)];
    std::size_t at = 0;
    for (const Shape &shape : operandShapes(of.result)) {
        for (const BinaryKind kind : kKinds) {
            ++at;
            const bool isConstant = at % 2 == 0;
            const auto layout = at % 4 < 2 ? kernels::PlanLayout::Blocked : kernels::PlanLayout::ChannelsLast;
            Case made;
            const TensorDesc result{type, of.result};
            const plan::ValueId product = addHost(made, of, type);
            const plan::ValueId operand = made.input({type, shape}, 1, isConstant);
            const plan::ValueId sum
                = made.node("binary", ops::Binary{kind, true}, {product, operand}, result);
            made.end(made.node("relu", ops::Activation{ops::UnaryKind::Relu}, {sum}, result));
            const QString problem = problemWith(made, layout);
            QVERIFY2(problem.isEmpty(),
                     qPrintable(QString("kind %1, operand %2%3: %4")
                                    .arg(static_cast<int>(kind))
                                    .arg(QString::fromStdString(shape.toString()))
                                    .arg(isConstant ? ", constant" : "")
                                    .arg(problem)));
        }
    }
}

void FusedOperandsTest::functionsAreFast_data()
{
    addHostRows();
}

/// Behind the operator alone, and behind a sum with an operand that stretches.
void FusedOperandsTest::functionsAreFast()
{
    QFETCH(int, host);
    QFETCH(DType, type);
    const Host of = hosts()[static_cast<std::size_t>(host)];
    const TensorDesc result{type, of.result};
    std::vector<std::int64_t> dims(of.result.rank(), 1);
    dims.back() = of.result[dims.size() - 1];
    std::size_t at = 0;
    for (const ops::Operator &function : functions()) {
        for (const bool isBehindSum : {false, true}) {
            Case made;
            plan::ValueId value = addHost(made, of, type);
            if (isBehindSum)
                value = made.node(
                    "sum", ops::Binary{BinaryKind::Add, true},
                    {value, made.input({type, Shape(std::vector<std::int64_t>(dims))}, 0, false)}, result);
            made.end(made.node("function", function, {value}, result));
            const QString problem = problemWith(
                made, at % 2 == 0 ? kernels::PlanLayout::Blocked : kernels::PlanLayout::ChannelsLast);
            QVERIFY2(problem.isEmpty(), qPrintable(QString("function %1: %2").arg(at).arg(problem)));
        }
        ++at;
    }
}

/// Without an operator before them, every pair of shapes of three axes.
void FusedOperandsTest::bothSidesMayStretch()
{
    const Shape whole{3, 40, 7};
    for (const DType type : nativeTypes()) {
        for (const Shape &one : operandShapes(whole)) {
            for (const Shape &other : operandShapes(whole)) {
                std::vector<std::int64_t> dims(std::max(one.rank(), other.rank()), 1);
                for (const Shape *shape : {&one, &other})
                    for (std::size_t k = 0; k < shape->rank(); ++k) {
                        auto &dim = dims[dims.size() - shape->rank() + k];
                        dim = std::max(dim, (*shape)[k]);
                    }
                const BinaryKind kind = kKinds[(one.rank() + 2 * other.rank()) % std::size(kKinds)];
                Case made;
                const plan::ValueId a = made.input({type, one}, 0, false);
                const plan::ValueId b = made.input({type, other}, 1, false);
                made.end(
                    made.node("binary", ops::Binary{kind, true}, {a, b}, {type, Shape(std::move(dims))}));
                const QString problem = problemWith(made, kernels::PlanLayout::Blocked);
                QVERIFY2(problem.isEmpty(),
                         qPrintable(QString("%1 and %2: %3")
                                        .arg(QString::fromStdString(one.toString()),
                                             QString::fromStdString(other.toString()), problem)));
            }
        }
    }
}

/// A plan of many layers that all have a refused operand is made in a time that grows with their number, not with its square.
void FusedOperandsTest::whatIsAlikeIsTakenApartAtOnce()
{
    constexpr std::size_t kLayers = 200;
    Case made;
    const TensorDesc desc{DType::F32, Shape{2, 3, 16, 16}};
    plan::ValueId value = made.input(desc, -0.5, false);
    const plan::ValueId weights = made.input(desc, -0.5, false);
    for (std::size_t k = 0; k < kLayers; ++k) {
        value = made.node("product", ops::MatMul{ops::MatMul::Form::Stretched}, {value, weights}, desc);
        value = made.node("sum", ops::Binary{BinaryKind::Add, true},
                          {value, made.input({DType::F32, Shape{2, 1, 1, 16}}, 0, false)}, desc);
        value = made.node("tanh", ops::Activation{ops::UnaryKind::Tanh}, {value}, desc);
    }
    made.end(value);
    QElapsedTimer timer;
    timer.start();
    const QString problem = problemWith(made, kernels::PlanLayout::Blocked);
    QVERIFY2(problem.isEmpty(), qPrintable(problem));
    QVERIFY2(timer.elapsed() < 30000, qPrintable(QString::number(timer.elapsed())));
}

QTEST_GUILESS_MAIN(FusedOperandsTest)
#include "tst_fused_operands.moc"
