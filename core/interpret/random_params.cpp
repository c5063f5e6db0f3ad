#include "core/runtime/random_params.h"

#include "core/base/fnv1a.h"
#include "core/base/text.h"
#include "core/dialect/mxnet/dtype_code.h"
#include "core/dialect/mxnet/op_info.h"
#include "core/passes/infer_shapes.h"
#include "core/runtime/buffer.h"
#include "core/runtime/reference/elements.h"

#include <cmath>
#include <random>
#include <unordered_set>

namespace halftone::runtime {
namespace {

using graph::NodeId;
using tensor::DType;
using tensor::Shape;
namespace mx = dialect::mxnet;

/// What a variable is to the operator that reads it first.
struct Use
{
    std::string slot; ///< "weight", "gamma", …; empty: read by none
    std::string op;
    bool isMutable = false;
};

std::vector<Use> firstUses(const graph::Graph &graph)
{
    std::vector<Use> uses(graph.nodeCount());
    for (NodeId id = 0; id < graph.nodeCount(); ++id) {
        const graph::NodeDef &node = graph.node(id);
        const mx::OpInfo *info = node.isVariable() ? nullptr : mx::findOp(node.op);
        const auto inputs = graph.inputs(id);
        for (std::size_t i = 0; i < inputs.size(); ++i) {
            Use &use = uses[inputs[i].node];
            if (use.op.empty())
                use = {info ? mx::inputName(*info, node.attributes, i) : std::string(), node.op,
                       info && mx::isMutableInput(*info, i)};
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

    double uniform() { return static_cast<double>(m_engine() >> 11) * 0x1p-53; }
    double normal() // Box and Muller
    {
        constexpr double kTwoPi = 6.283185307179586476925286766559;
        const double radius = std::sqrt(-2 * std::log(1 - uniform()));
        return radius * std::cos(kTwoPi * uniform());
    }

private:
    std::mt19937_64 m_engine;
};

/// Mean and deviation of a variable's values.
std::pair<double, double> spread(const Use &use, const Shape &shape)
{
    const std::string_view slot = use.slot;
    if (slot == "gamma" || slot.ends_with("var"))
        return {1, 0};
    if (slot == "beta" || slot.ends_with("bias") || slot.ends_with("mean"))
        return {0, 0};
    if (shape.rank() < 2)
        return {0, 0.1};
    double fanIn = 1;
    for (std::size_t axis = 1; axis < shape.rank(); ++axis)
        fanIn *= static_cast<double>(std::max<std::int64_t>(shape[axis], 1));
    if (use.op == "Embedding")
        return {0, 1};
    if (use.op == "Deconvolution")
        fanIn *= static_cast<double>(shape[0]) / static_cast<double>(std::max<std::int64_t>(shape[1], 1));
    return {0, std::sqrt(2 / fanIn)};
}

DType declaredType(const graph::NodeDef &variable)
{
    const std::string *text = variable.attributes.find("__dtype__");
    const auto code = text ? parseInteger(*text) : std::nullopt;
    return code ? mx::dtypeOfCode(*code).value_or(DType::F32) : DType::F32;
}

Result<tensor::Tensor> drawn(const TensorDesc &desc, const Use &use, Draw draw)
{
    HALFTONE_TRY(const Buffer buffer, allocate(desc));
    const auto [mean, deviation] = spread(use, desc.shape);
    std::vector<double> values(buffer.tensor.elementCount());
    for (double &value : values)
        value = deviation == 0 ? mean : mean + deviation * draw.normal();
    reference::narrow(values.data(), values.size(), desc.dtype, buffer.bytes);
    return buffer.tensor;
}

bool isLabel(const Use &use)
{
    return use.slot == "label";
}

} // namespace

Result<graph::Model> withRandomParameters(const graph::Model &model,
                                          const std::unordered_map<std::string, Shape> &inputs,
                                          std::uint64_t seed)
{
    std::unordered_map<std::string, Shape> known = inputs;
    std::unordered_set<std::string> stored;
    for (const tensor::Array &array : model.parameters) {
        stored.emplace(graph::variableOf(array.name));
        known.try_emplace(std::string(graph::variableOf(array.name)), array.shape);
    }
    HALFTONE_TRY(const passes::ShapeMap shapes, passes::inferShapes(model.graph, known));
    const std::vector<Use> uses = firstUses(model.graph);
    graph::Model filled = model;
    filled.hasParameters = true;
    for (NodeId id = 0; id < model.graph.nodeCount(); ++id) {
        const graph::NodeDef &node = model.graph.node(id);
        if (!node.isVariable() || inputs.contains(node.name) || isLabel(uses[id])
            || !stored.insert(node.name).second)
            continue;
        const Shape &shape = shapes.byNode[id][0];
        if (!shape.isComplete())
            return badInput(node.name, "a parameter of shape " + shape.toString(),
                            "a known shape: give those of the inputs with --shape");
        tensor::Array array;
        array.name = (uses[id].isMutable ? "aux:" : "arg:") + node.name;
        array.shape = shape;
        HALFTONE_TRY(array.values, drawn({declaredType(node), shape}, uses[id], Draw(seed, node.name)));
        filled.parameters.push_back(std::move(array));
    }
    return filled;
}

} // namespace halftone::runtime
