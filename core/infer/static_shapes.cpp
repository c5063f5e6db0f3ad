#include "core/infer/static_shapes.h"

#include "core/dialect/dialect.h"
#include "core/ops/infer_shape.h"
#include "core/tensor/elements.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <unordered_map>
#include <utility>

namespace halftone::infer {
namespace {

using graph::NodeId;
using tensor::DType;
using tensor::Shape;
using tensor::Tensor;

/// Vectors of more elements are no shapes.
constexpr std::int64_t kMostNumbers = 64;

/// float32 has all whole numbers up to here.
constexpr std::int64_t kMostInReals = std::int64_t{1} << 24;

using Number = StaticNumber;
using Numbers = StaticNumbers;

std::optional<Numbers> numbersOf(const Tensor &tensor)
{
    const bool isWhole = tensor.dtype() == DType::I64 || tensor.dtype() == DType::I32;
    if (!isWhole || tensor.shape().rank() > 1
        || tensor.elementCount() > static_cast<std::size_t>(kMostNumbers))
        return std::nullopt;
    const auto bytes = tensor.bytes();
    std::vector<std::byte> aligned(bytes.begin(), bytes.end());
    const auto values = tensor::integers(tensor.dtype(), aligned.data(), tensor.elementCount());
    Numbers numbers{{}, tensor.shape().rank() == 0};
    for (const std::int64_t value : values)
        numbers.values.push_back({value});
    return numbers;
}

template <class Integer>
Tensor tensorFrom(DType type, const Numbers &numbers)
{
    std::vector<std::byte> bytes(numbers.values.size() * sizeof(Integer));
    for (std::size_t k = 0; k < numbers.values.size(); ++k) {
        const auto value = static_cast<Integer>(*numbers.values[k].value);
        std::memcpy(bytes.data() + k * sizeof(Integer), &value, sizeof(Integer));
    }
    const auto count = static_cast<std::int64_t>(numbers.values.size());
    return Tensor::owning(type, numbers.isScalar ? Shape(std::vector<std::int64_t>{}) : Shape{count},
                          std::move(bytes));
}

/// areWhole  division rounds down; else only what is whole again is followed
Number joined(ops::BinaryKind kind, const Number &left, const Number &right, bool areWhole)
{
    if (!left.value || !right.value)
        return {};
    const std::int64_t a = *left.value;
    const std::int64_t b = *right.value;
    std::int64_t result = 0;
    switch (kind) {
    case ops::BinaryKind::Add:
        return __builtin_add_overflow(a, b, &result) ? Number() : Number{result};
    case ops::BinaryKind::Sub:
        return __builtin_sub_overflow(a, b, &result) ? Number() : Number{result};
    case ops::BinaryKind::Mul:
        return __builtin_mul_overflow(a, b, &result) ? Number() : Number{result};
    case ops::BinaryKind::Div: // of extents, which are not negative
        return a >= 0 && b > 0 && (areWhole || a % b == 0) ? Number{a / b} : Number();
    case ops::BinaryKind::Maximum:
        return {std::max(a, b)};
    case ops::BinaryKind::Minimum:
        return {std::min(a, b)};
    default:
        return {};
    }
}

class ShapeArithmetic
{
public:
    /// given  by NodeId: what variables hold
    ShapeArithmetic(const graph::Graph &graph, std::span<const Tensor> given, ShapeMap shapes)
        : m_graph(graph)
        , m_dialect(dialect::of(graph))
        , m_shapes(std::move(shapes))
        , m_numbers(graph.nodeCount())
        , m_constants(graph.nodeCount())
        , m_given(given)
    {
    }

    Result<StaticValues> run()
    {
        for (NodeId id = 0; id < m_graph.nodeCount(); ++id) {
            const graph::NodeDef &node = m_graph.node(id);
            if (node.isVariable()) {
                if (id < m_given.size() && m_given[id].dtype() != DType::Unknown)
                    hold(id, m_given[id]);
            } else if (node.subgraphs.empty()) {
                HALFTONE_CHECK(visit(id, node));
            }
        }
        return StaticValues{std::move(m_shapes), std::move(m_numbers)};
    }

private:
    using Inputs = std::vector<const Numbers *>; ///< null: not followed

    void hold(NodeId id, const Tensor &constant)
    {
        m_constants[id] = constant;
        m_numbers[id] = numbersOf(constant);
    }

    /// What readers of the entry may know; of unknown type where that is nothing.
    Tensor valueOf(const graph::Entry &entry) const
    {
        if (entry.output != 0 || m_constants[entry.node].dtype() != DType::Unknown)
            return entry.output == 0 ? m_constants[entry.node] : Tensor();
        const auto &numbers = m_numbers[entry.node];
        return numbers && numbers->isWhole ? numbers->tensorOf(DType::I64).value_or(Tensor()) : Tensor();
    }

    Result<void> visit(NodeId id, const graph::NodeDef &node)
    {
        if (const auto constant = m_dialect.constantOf(node); constant.ok() && constant.value())
            hold(id, *constant.value());
        Inputs inputs;
        std::vector<Tensor> known;
        for (const graph::Entry &entry : m_graph.inputs(id)) {
            const auto &numbers = m_numbers[entry.node];
            inputs.push_back(entry.output == 0 && numbers ? &*numbers : nullptr);
            known.push_back(valueOf(entry));
            if (const Shape &shape = m_shapes.of(entry);
                known.back().dtype() == DType::Unknown && shape.elementCount())
                known.back() = Tensor(DType::Unknown, shape, {}, nullptr);
        }
        const auto op = m_dialect.readWith(node, known);
        if (!op.ok()) // inferShapes() has told of it, or it is read when it runs
            return {};
        HALFTONE_CHECK(complete(id, node, op.value()));
        resolveTarget(id, node, inputs);
        if (!m_numbers[id])
            m_numbers[id] = follow(op.value(), id, inputs);
        return {};
    }

    Result<void> complete(NodeId id, const graph::NodeDef &node, const ops::Operator &op)
    {
        std::vector<Shape> inputs;
        for (const graph::Entry &entry : m_graph.inputs(id))
            inputs.push_back(m_shapes.of(entry));
        auto outcome = ops::inferShapes(op, inputs, m_shapes.byNode[id]);
        if (outcome.ok())
            return {};
        Error error = std::move(outcome).error();
        error.where = node.name;
        return error;
    }

    /// A reshape whose target is known in part.
    void resolveTarget(NodeId id, const graph::NodeDef &node, const Inputs &inputs)
    {
        const auto kind = m_dialect.readKind(node);
        Shape &result = m_shapes.byNode[id].front();
        if (!kind.ok() || !kind.value().is<ops::Reshape>() || inputs.size() < 2 || inputs[1] == nullptr
            || inputs[1]->isKnown() || result.hasRank())
            return;
        const Shape &data = m_shapes.of(m_graph.inputs(id)[0]);
        std::vector<std::int64_t> dims;
        for (std::size_t axis = 0; axis < inputs[1]->values.size(); ++axis) {
            const std::optional<std::int64_t> wanted = inputs[1]->values[axis].value;
            const bool isKept = wanted == 0 && data.hasRank() && axis < data.rank();
            dims.push_back(isKept ? data[axis] : wanted.value_or(0) > 0 ? *wanted : Shape::kUnknown);
        }
        result = Shape(std::move(dims));
    }

    std::optional<Numbers> follow(const ops::Operator &op, NodeId id, const Inputs &inputs) const
    {
        if (const auto *shape = op.getIf<ops::ShapeOf>())
            return shapeNumbers(*shape, m_graph.inputs(id)[0]);
        if (inputs.empty()
            || !std::ranges::all_of(inputs, [](const Numbers *input) { return input != nullptr; }))
            return op.is<ops::Slice>() && !inputs.empty() && inputs[0] != nullptr
                ? sliced(op.as<ops::Slice>(), *inputs[0])
                : std::nullopt;
        if (const auto *take = op.getIf<ops::Gather>())
            return taken(*take, *inputs[0], *inputs[1]);
        if (op.is<ops::Concat>())
            return joinedEnds(inputs);
        if (const auto *binary = op.getIf<ops::Binary>())
            return combined(binary->kind, *inputs[0], *inputs[1]);
        if (const auto *slice = op.getIf<ops::Slice>())
            return sliced(*slice, *inputs[0]);
        const bool isView = op.is<ops::Unsqueeze>() || op.is<ops::Squeeze>() || op.is<ops::Reshape>();
        const Shape &result = m_shapes.byNode[id].front();
        if (isView && result.hasRank() && result.rank() <= 1)
            return Numbers{inputs[0]->values, result.rank() == 0, inputs[0]->isWhole};
        if (const auto *cast = op.getIf<ops::Cast>())
            return castTo(cast->dtype, *inputs[0]);
        const auto *unary = op.getIf<ops::Unary>();
        const bool isKept = unary != nullptr && unary->kind == ops::UnaryKind::Identity;
        return isKept ? std::optional(*inputs[0]) : std::nullopt;
    }

    std::optional<Numbers> shapeNumbers(const ops::ShapeOf &op, const graph::Entry &tensor) const
    {
        const Shape &shape = m_shapes.of(tensor);
        if (op.count) {
            const auto count = shape.elementCount();
            return Numbers{{count ? Number{static_cast<std::int64_t>(*count)} : Number()}, op.isScalar};
        }
        if (!shape.hasRank())
            return std::nullopt;
        Numbers numbers;
        const auto [first, end] = op.axes(shape.rank());
        for (std::size_t axis = first; axis < end; ++axis)
            numbers.values.push_back(shape[axis] == Shape::kUnknown ? Number{{}, tensor, axis}
                                                                    : Number{shape[axis]});
        return numbers;
    }

    static std::optional<Numbers> castTo(DType type, Numbers numbers)
    {
        numbers.isWhole = type == DType::I64 || type == DType::I32;
        const std::int64_t most = type == DType::I64 ? std::numeric_limits<std::int64_t>::max()
            : type == DType::I32                     ? std::numeric_limits<std::int32_t>::max()
                                                     : kMostInReals;
        if (!numbers.isWhole && type != DType::F32 && type != DType::F64)
            return std::nullopt;
        for (Number &number : numbers.values)
            if (number.value && (*number.value > most || *number.value < -most))
                number = {};
        return numbers;
    }

    static std::optional<Numbers> taken(const ops::Gather &op, const Numbers &data, const Numbers &places)
    {
        const auto count = static_cast<std::int64_t>(data.values.size());
        if (data.isScalar || !places.isKnown() || (op.axis != 0 && op.axis != -1))
            return std::nullopt;
        Numbers numbers{{}, places.isScalar, data.isWhole};
        for (const Number &place : places.values) {
            const std::int64_t at = *place.value < 0 ? *place.value + count : *place.value;
            if (at < 0 || at >= count)
                return std::nullopt;
            numbers.values.push_back(data.values[static_cast<std::size_t>(at)]);
        }
        return numbers;
    }

    static std::optional<Numbers> joinedEnds(const Inputs &inputs)
    {
        Numbers numbers;
        numbers.isWhole = inputs.front()->isWhole;
        for (const Numbers *part : inputs)
            numbers.values.insert(numbers.values.end(), part->values.begin(), part->values.end());
        return numbers.values.size() <= static_cast<std::size_t>(kMostNumbers) ? std::optional(numbers)
                                                                               : std::nullopt;
    }

    static std::optional<Numbers> combined(ops::BinaryKind kind, const Numbers &a, const Numbers &b)
    {
        const std::size_t count = std::max(a.values.size(), b.values.size());
        const auto fits
            = [count](const Numbers &side) { return side.values.size() == count || side.values.size() == 1; };
        if (!fits(a) || !fits(b))
            return std::nullopt;
        Numbers numbers{{}, a.isScalar && b.isScalar, a.isWhole && b.isWhole};
        for (std::size_t k = 0; k < count; ++k)
            numbers.values.push_back(joined(kind, a.values[a.values.size() == 1 ? 0 : k],
                                            b.values[b.values.size() == 1 ? 0 : k], numbers.isWhole));
        return numbers;
    }

    static std::optional<Numbers> sliced(const ops::Slice &op, const Numbers &data)
    {
        if (op.begin.size() != 1 || op.end.size() != 1 || data.isScalar
            || (!op.step.empty() && op.step[0].value_or(1) != 1))
            return std::nullopt;
        const auto count = static_cast<std::int64_t>(data.values.size());
        const auto place = [count](std::int64_t at) {
            return std::clamp<std::int64_t>(at < 0 ? at + count : at, 0, count);
        };
        const std::int64_t begin = place(op.begin[0].value_or(0));
        const std::int64_t end = std::max(begin, place(op.end[0].value_or(count)));
        return Numbers{{data.values.begin() + begin, data.values.begin() + end}, false, data.isWhole};
    }

    const graph::Graph &m_graph;
    const dialect::Dialect &m_dialect;
    ShapeMap m_shapes;
    std::vector<std::optional<Numbers>> m_numbers; ///< by NodeId: what output 0 holds
    std::vector<Tensor> m_constants; ///< by NodeId; of unknown type where there is none
    std::span<const Tensor> m_given; ///< by NodeId
};

/// By NodeId, of the main graph.
std::vector<Tensor> parametersOf(const graph::Model &model)
{
    std::unordered_map<std::string_view, const Tensor *> arrays;
    for (const tensor::Array &array : model.parameters)
        arrays.emplace(dialect::variableOf(model.graph, array.name), &array.values);
    std::vector<Tensor> constants(model.graph.nodeCount());
    for (NodeId id = 0; id < constants.size(); ++id) {
        const auto array = model.graph.isVariable(id) ? arrays.find(model.graph.node(id).name) : arrays.end();
        if (array != arrays.end())
            constants[id] = *array->second;
    }
    return constants;
}

bool isComplete(const ShapeMap &shapes)
{
    return std::ranges::all_of(shapes.byNode, [](const std::vector<Shape> &outputs) {
        return std::ranges::all_of(outputs, &Shape::isComplete);
    });
}

} // namespace

bool StaticNumbers::isKnown() const
{
    return std::ranges::all_of(values, [](const StaticNumber &number) { return number.value.has_value(); });
}

std::optional<Tensor> StaticNumbers::tensorOf(DType type) const
{
    if (!isKnown())
        return std::nullopt;
    if (type == DType::I64)
        return tensorFrom<std::int64_t>(type, *this);
    const bool fits = std::ranges::all_of(
        values, [](const StaticNumber &number) { return std::in_range<std::int32_t>(*number.value); });
    return type == DType::I32 && fits ? std::optional(tensorFrom<std::int32_t>(type, *this)) : std::nullopt;
}

Result<StaticValues> staticValues(const graph::Model &model, ShapeMap shapes)
{
    const std::vector<Tensor> constants = parametersOf(model);
    return ShapeArithmetic(model.graph, constants, std::move(shapes)).run();
}

Result<ShapeMap> staticShapes(const graph::Model &model, ShapeMap shapes)
{
    if (isComplete(shapes))
        return shapes;
    return staticShapes(model.graph, parametersOf(model), std::move(shapes));
}

Result<ShapeMap> staticShapes(const graph::Graph &graph, std::span<const Tensor> constants, ShapeMap shapes)
{
    if (isComplete(shapes))
        return shapes;
    HALFTONE_TRY(StaticValues values, ShapeArithmetic(graph, constants, std::move(shapes)).run());
    return std::move(values.shapes);
}

} // namespace halftone::infer
