#include "core/interpret/random_params.h"

#include "core/base/fnv1a.h"
#include "core/base/share_work.h"
#include "core/dialect/dialect.h"
#include "core/infer/known_shapes.h"
#include "core/kernels/buffer.h"
#include "core/tensor/elements.h"

#include <cmath>
#include <random>
#include <unordered_set>
#include <utility>
#include <vector>

namespace halftone::interpret {
namespace {

using dialect::SlotRole;
using graph::NodeId;
using tensor::DType;
using tensor::Shape;

/// What a variable is to the operator that reads it first.
struct Use
{
    const graph::NodeDef *reader = nullptr; ///< null: none reads it
    SlotRole role = SlotRole::Data;
    bool isMutable = false;
};

std::vector<Use> firstUses(const graph::Graph &graph)
{
    std::vector<Use> uses(graph.nodeCount());
    for (NodeId id = 0; id < graph.nodeCount(); ++id) {
        const graph::NodeDef &node = graph.node(id);
        const dialect::OpInfo *info = graph.isVariable(id) ? nullptr : dialect::of(graph).findOp(node.op);
        const auto inputs = graph.inputs(id);
        for (std::size_t i = 0; i < inputs.size(); ++i) {
            Use &use = uses[inputs[i].node];
            if (use.reader == nullptr)
                use = {&node, info ? info->slotRole(node.attributes, i) : SlotRole::Data,
                       info && info->isMutableInput(i)};
        }
    }
    return uses;
}

/// Numbers that depend on the seed and the variable's name alone, on every platform (std::normal_distribution does
/// not promise that).
class Draw
{
public:
    Draw(std::uint64_t seed, std::string_view name)
    {
        Fnv1a hash;
        hash.add(name);
        m_engine.seed(seed ^ hash.value());
    }

    /// Two independent ones (Box and Muller).
    std::pair<double, double> normals()
    {
        constexpr double kTwoPi = 6.283185307179586476925286766559;
        const double radius = std::sqrt(-2 * std::log(1 - uniform()));
        const double angle = kTwoPi * uniform();
        return {radius * std::cos(angle), radius * std::sin(angle)};
    }

private:
    double uniform() { return static_cast<double>(m_engine() >> 11) * 0x1p-53; }

    std::mt19937_64 m_engine;
};

/// Mean and deviation of a variable's values.
std::pair<double, double> spread(const dialect::Dialect &dialect, const Use &use, const Shape &shape)
{
    if (use.role == SlotRole::Scale || use.role == SlotRole::Variance)
        return {1, 0};
    if (use.role == SlotRole::Bias || use.role == SlotRole::Mean)
        return {0, 0};
    if (shape.rank() < 2)
        return {0, 0.1};
    double fanIn = 1;
    for (std::size_t axis = 1; axis < shape.rank(); ++axis)
        fanIn *= static_cast<double>(std::max<std::int64_t>(shape[axis], 1));
    const auto op = use.reader ? dialect.read(*use.reader) : Result<ops::Operator>(ops::Opaque{});
    if (op.ok() && op.value().is<ops::Embedding>())
        return {0, 1};
    if (op.ok() && op.value().is<ops::ConvTranspose>())
        fanIn *= static_cast<double>(shape[0]) / static_cast<double>(std::max<std::int64_t>(shape[1], 1));
    return {0, std::sqrt(2 / fanIn)};
}

/// An array without values yet.
struct Drawing
{
    kernels::Buffer values;
    std::pair<double, double> spread;
    Draw draw;
};

void draw(Drawing &drawing)
{
    const auto [mean, deviation] = drawing.spread;
    const tensor::Tensor &tensor = drawing.values.tensor;
    std::vector<double> values(tensor.elementCount(), mean);
    for (std::size_t k = 0; deviation != 0 && k < values.size(); k += 2) {
        const auto [first, second] = drawing.draw.normals();
        values[k] += deviation * first;
        if (k + 1 < values.size())
            values[k + 1] += deviation * second;
    }
    tensor::narrow(values.data(), values.size(), tensor.dtype(), drawing.values.bytes);
}

void drawAll(std::vector<Drawing> &drawings)
{
    shareParts(machineThreads(), drawings.size(), [&](std::size_t k, unsigned) {
        draw(drawings[k]);
        return true;
    });
}

} // namespace

Result<graph::Model> withRandomParameters(const graph::Model &model, const infer::KnownShapes &inputs,
                                          std::uint64_t seed)
{
    const dialect::Dialect &dialect = dialect::of(model.graph);
    std::unordered_set<std::string> stored;
    for (const tensor::Array &array : model.parameters)
        stored.emplace(dialect.variableOf(array.name));
    HALFTONE_TRY(const infer::ShapeMap shapes,
                 infer::inferShapes(model.graph, infer::withParameterShapes(inputs, model)));
    const std::vector<Use> uses = firstUses(model.graph);
    graph::Model filled = model;
    filled.hasParameters = true;
    std::vector<Drawing> drawings;
    for (NodeId id = 0; id < model.graph.nodeCount(); ++id) {
        const graph::NodeDef &node = model.graph.node(id);
        if (!node.isVariable() || inputs.contains(node.name) || uses[id].role == SlotRole::Label
            || !stored.insert(node.name).second)
            continue;
        const Shape &shape = shapes.byNode[id][0];
        if (!shape.isComplete())
            return orElse(badInput(node.name, "the shape of this parameter is unknown: " + shape.toString()),
                          Field::Shape, "for every input");
        tensor::Array array;
        array.name = dialect.arrayName(node.name, uses[id].isMutable);
        array.shape = shape;
        const auto declared = dialect.declaredType(node);
        const DType type
            = declared.ok() && declared.value() != DType::Unknown ? declared.value() : DType::F32;
        HALFTONE_TRY(kernels::Buffer buffer, kernels::allocate({type, shape}));
        array.values = buffer.tensor;
        drawings.push_back({std::move(buffer), spread(dialect, uses[id], shape), Draw(seed, node.name)});
        filled.parameters.push_back(std::move(array));
    }
    drawAll(drawings);
    return filled;
}

} // namespace halftone::interpret
