#include "core/latency/model_inputs.h"

#include "core/dialect/dialect.h"
#include "core/graph/traverse.h"
#include "core/kernels/buffer.h"
#include "core/latency/latency.h"
#include "core/tensor/elements.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <random>
#include <unordered_set>
#include <vector>

namespace halftone::latency {
namespace {

using graph::NodeId;
using tensor::DType;
using tensor::Shape;
using tensor::Tensor;

/// Both ends are legal.
struct LegalRange
{
    std::int64_t low = std::numeric_limits<std::int64_t>::min();
    std::int64_t high = std::numeric_limits<std::int64_t>::max();

    bool isOpen() const
    {
        return low == std::numeric_limits<std::int64_t>::min()
            && high == std::numeric_limits<std::int64_t>::max();
    }
    void narrow(std::int64_t least, std::int64_t most)
    {
        low = std::max(low, least);
        high = std::min(high, most);
    }
};

std::int64_t extentOf(const Shape &shape, std::int64_t axis)
{
    if (!shape.hasRank())
        return 1;
    const auto rank = static_cast<std::int64_t>(shape.rank());
    const std::int64_t at = axis < 0 ? axis + rank : axis;
    return at >= 0 && at < rank ? shape[static_cast<std::size_t>(at)] : 1;
}

/// The least extent of the axes that tuples of the indices name.
std::int64_t leastExtent(const Shape &data, std::int64_t from, std::int64_t count)
{
    std::int64_t least = std::numeric_limits<std::int64_t>::max();
    for (std::int64_t axis = from; axis < from + count; ++axis)
        least = std::min(least, extentOf(data, axis));
    return least;
}

/// Does the operator give the elements of its first input, in whatever order?
bool passesOn(const ops::Operator &op)
{
    const auto *const unary = op.getIf<ops::Unary>();
    return op.is<ops::Cast>() || op.is<ops::Reshape>() || op.is<ops::Flatten>() || op.is<ops::Unsqueeze>()
        || op.is<ops::Squeeze>() || op.is<ops::Transpose>() || op.is<ops::SwapAxes>() || op.is<ops::Slice>()
        || op.is<ops::Split>() || op.is<ops::Concat>() || op.is<ops::Stack>() || op.is<ops::Tile>()
        || op.is<ops::Repeat>() || op.is<ops::Reverse>() || op.is<ops::Expand>() || op.is<ops::Dropout>()
        || (unary != nullptr && unary->kind == ops::UnaryKind::Identity);
}

class Readers
{
public:
    explicit Readers(const infer::TypedModel &typed)
        : m_typed(typed)
        , m_graph(typed.model.graph)
    {
    }

    LegalRange of(NodeId variable)
    {
        LegalRange range;
        std::unordered_set<NodeId> seen{variable};
        std::vector<NodeId> open{variable};
        while (!open.empty()) {
            const NodeId value = open.back();
            open.pop_back();
            for (NodeId reader = 0; reader < m_graph.nodeCount(); ++reader) {
                const auto inputs = m_graph.inputs(reader);
                for (std::size_t k = 0; k < inputs.size(); ++k) {
                    if (inputs[k].node != value)
                        continue;
                    const auto op = dialect::of(m_graph).readWith(m_graph.node(reader), {});
                    if (!op.ok())
                        continue;
                    narrow(op.value(), reader, k, range);
                    if (passesOn(op.value()) && seen.insert(reader).second)
                        open.push_back(reader);
                }
            }
        }
        return range;
    }

private:
    Shape shapeOf(NodeId reader, std::size_t input) const
    {
        const auto inputs = m_graph.inputs(reader);
        return input < inputs.size() ? m_typed.shapes.of(inputs[input]) : Shape();
    }

    /// By what `reader` wants of its input k.
    void narrow(const ops::Operator &op, NodeId reader, std::size_t k, LegalRange &range) const
    {
        const Shape data = shapeOf(reader, 0);
        const Shape indices = shapeOf(reader, 1);
        if (const auto *take = op.getIf<ops::Gather>(); take && k == 1)
            range.narrow(0, extentOf(data, take->axis) - 1);
        else if (op.is<ops::Embedding>() && k == 0)
            range.narrow(0, extentOf(indices, 0) - 1);
        else if (const auto *gather = op.getIf<ops::GatherElements>(); gather && k == 1)
            range.narrow(0, extentOf(data, gather->axis) - 1);
        else if (const auto *scatter = op.getIf<ops::ScatterElements>(); scatter && k == 1)
            range.narrow(0, extentOf(data, scatter->axis) - 1);
        else if (const auto *tuples = op.getIf<ops::GatherND>(); tuples && k == 1)
            range.narrow(
                0, leastExtent(data, tuples->batchAxes, extentOf(indices, tuples->byRows ? 0 : -1)) - 1);
        else if (op.is<ops::ScatterND>() && k == 1)
            range.narrow(0, leastExtent(data, 0, extentOf(indices, -1)) - 1);
        else if (const auto *pick = op.getIf<ops::Pick>(); pick && k == 1)
            range.narrow(0, extentOf(data, pick->axis) - 1);
        else if (op.is<ops::BatchTake>() && k == 1)
            range.narrow(0, extentOf(data, 1) - 1);
        else
            narrowByCount(op, reader, k, range);
    }

    void narrowByCount(const ops::Operator &op, NodeId reader, std::size_t k, LegalRange &range) const
    {
        if (const auto *hot = op.getIf<ops::OneHot>(); hot && k == 0 && hot->depth > 0)
            range.narrow(0, hot->depth - 1);
        else if (op.is<ops::RotaryEmbedding>() && k == 3)
            range.narrow(0, extentOf(shapeOf(reader, 1), 0) - 1);
        else if (op.is<ops::Sequence>()) // lengths: all steps
            range.narrow(extentOf(shapeOf(reader, 0), 0), extentOf(shapeOf(reader, 0), 0));
        else if (const auto *layer = op.getIf<ops::Recurrence>();
                 layer && layer->hasLengths && k == layer->lengthsInput()) {
            const std::int64_t steps = extentOf(shapeOf(reader, 0), layer->batchFirst ? 1 : 0);
            range.narrow(steps, steps);
        }
    }

    const infer::TypedModel &m_typed;
    const graph::Graph &m_graph;
};

/// Where nobody says what is legal, codes are any, and all else is 1: a mask that masks nothing, a condition that holds.
LegalRange rangeFor(const infer::TypedModel &typed, NodeId variable, DType type)
{
    LegalRange range = Readers(typed).of(variable);
    if (range.isOpen() && type == DType::U8)
        return {0, 255};
    if (range.isOpen() && type == DType::I8)
        return {-127, 127};
    if (range.isOpen() || type == DType::Bool)
        return {1, 1};
    return {range.low, std::max(range.low, range.high)};
}

/// Elements of `from` over and over.
void repeatInto(std::span<const std::byte> from, std::span<std::byte> to)
{
    for (std::size_t at = 0; !from.empty() && at < to.size(); at += from.size())
        std::memcpy(to.data() + at, from.data(), std::min(from.size(), to.size() - at));
}

kernels::TensorDesc descOf(const infer::TypedModel &typed, NodeId variable)
{
    return {typed.types.at(variable, 0), typed.shapes.byNode[variable][0]};
}

} // namespace

Result<void> takeInputs(infer::TypedModel &typed, const GivenInputs &given)
{
    const auto variables = graph::variablesByName(typed.model.graph);
    for (const auto &[name, array] : given) {
        const auto found = variables.find(name);
        if (found == variables.end() || array.elementCount() == 0)
            continue;
        const kernels::TensorDesc desc = descOf(typed, found->second);
        if (desc.dtype == DType::Unknown || !desc.shape.isComplete() || array.dtype() == DType::Unknown)
            continue;
        HALFTONE_TRY(const kernels::Buffer buffer, kernels::allocate(desc));
        Tensor values = array;
        if (array.dtype() != desc.dtype) {
            HALFTONE_TRY(values, kernels::converted(array, desc.dtype));
        }
        repeatInto(values.bytes(), {buffer.bytes, buffer.tensor.byteCount()});
        typed.fed.insert_or_assign(name, buffer.tensor);
    }
    return {};
}

Result<Tensor> guessedInput(const infer::TypedModel &typed, NodeId variable, Guess guess)
{
    const kernels::TensorDesc desc = descOf(typed, variable);
    HALFTONE_TRY(const kernels::Buffer buffer, kernels::allocate(desc));
    std::vector<double> values(buffer.tensor.elementCount(), 0.0);
    if (tensor::isFloat(desc.dtype)) {
        for (std::size_t k = 0; k < values.size(); ++k)
            values[k] = static_cast<double>(k * 40503 % 65536) / 65536;
    } else if (guess == Guess::Legal) {
        const LegalRange range = rangeFor(typed, variable, desc.dtype);
        const auto count = static_cast<std::uint64_t>(range.high - range.low) + 1;
        std::mt19937_64 random(1);
        for (double &value : values)
            value = static_cast<double>(range.low + static_cast<std::int64_t>(random() % count));
    }
    tensor::convert(DType::F64, reinterpret_cast<const std::byte *>(values.data()), values.size(), desc.dtype,
                    buffer.bytes);
    return buffer.tensor;
}

Result<void> feedPlan(kernels::LatencyPlan &plan, const infer::TypedModel &typed)
{
    fillInputs(plan, 1);
    const auto variables = graph::variablesByName(typed.model.graph);
    std::vector<std::size_t> guesses;
    for (std::size_t k = 0; k < plan.inputs().size(); ++k) {
        const kernels::PlanPort &port = plan.inputs()[k];
        if (const auto fed = typed.fed.find(port.name); fed != typed.fed.end()) {
            repeatInto(fed->second.bytes(), plan.input(k));
        } else if (const auto found = variables.find(port.name);
                   found != variables.end() && !tensor::isFloat(port.desc.dtype)) {
            HALFTONE_TRY(const Tensor guess, guessedInput(typed, found->second, Guess::Legal));
            repeatInto(guess.bytes(), plan.input(k));
            guesses.push_back(k);
        }
    }
    if (guesses.empty())
        return {};
    auto ran = plan.run();
    if (ran.ok() || ran.error().code != Errc::BadInput)
        return ran;
    for (const std::size_t k : guesses)
        std::ranges::fill(plan.input(k), std::byte{0});
    return {};
}

} // namespace halftone::latency
