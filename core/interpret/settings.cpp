#include "core/interpret/settings.h"

#include "core/dialect/dialect.h"
#include "core/infer/node_types.h"
#include "core/infer/static_shapes.h"
#include "core/kernels/buffer.h"
#include "core/kernels/same_operation.h"

#include <algorithm>

namespace halftone::interpret {
namespace {

using graph::Entry;
using graph::NodeId;
using tensor::DType;
using tensor::Shape;
using tensor::Tensor;

/// Is `shape` one of those that `pattern`, with its open axes, stands for?
bool holds(const Shape &pattern, const Shape &shape)
{
    if (pattern.rank() != shape.rank())
        return false;
    for (std::size_t axis = 0; axis < shape.rank(); ++axis)
        if (pattern[axis] >= 0 && pattern[axis] != shape[axis])
            return false;
    return true;
}

} // namespace

bool isSet(const Tensor &tensor)
{
    return tensor.dtype() != DType::Unknown;
}

std::vector<kernels::TensorDesc> describe(std::span<const Shape> shapes, std::span<const DType> types)
{
    std::vector<kernels::TensorDesc> descs;
    for (std::size_t i = 0; i < types.size(); ++i) {
        if (i >= shapes.size() || !shapes[i].isComplete())
            return {};
        descs.push_back({types[i], shapes[i]});
    }
    return descs;
}

std::vector<kernels::TensorDesc> Setting::outputsOf(NodeId id) const
{
    std::vector<kernels::TensorDesc> descs;
    const auto dtypes = types.outputs(id);
    const std::vector<Shape> &all = shapes.byNode[id];
    for (std::size_t k = 0; k < dtypes.size(); ++k)
        descs.push_back({dtypes[k], k < all.size() ? all[k] : Shape()});
    return descs;
}

std::size_t Setting::outputBytes(NodeId id) const
{
    std::size_t bytes = 0;
    for (const kernels::TensorDesc &desc : outputsOf(id))
        if (desc.shape.isComplete())
            bytes += static_cast<std::size_t>(desc.shape.elementCount().value_or(0))
                * tensor::sizeOf(desc.dtype);
    return bytes;
}

Settings::Settings(const graph::Graph &graph, std::span<const NodeId> order, int depth, DType float16As)
    : m_graph(graph)
    , m_order(order)
    , m_depth(depth)
    , m_float16As(float16As)
{
}

Result<infer::TypeMap> Settings::typesOf(std::span<const Tensor> variables) const
{
    std::vector<DType> given(m_graph.nodeCount(), DType::Unknown);
    for (const NodeId id : m_order) {
        if (m_graph.isVariable(id))
            given[id] = variables[id].dtype() == m_float16As ? DType::F16 : variables[id].dtype();
    }
    auto inferred = infer::inferTypes(m_graph, given);
    if (!inferred.ok()
        && !m_convertible.empty()) { // data of another type than the graph's is converted to it
        for (const NodeId id : m_convertible) {
            HALFTONE_TRY(given[id], dialect::of(m_graph).declaredType(m_graph.node(id)));
        }
        inferred = infer::inferTypes(m_graph, given);
    }
    HALFTONE_TRY(infer::TypeMap types, std::move(inferred));
    // What nothing decides is float32 for variables, and what the first input is for the rest.
    const infer::NodeTypes rules(m_graph, m_depth);
    std::vector<DType> inputs;
    for (const NodeId id : m_order) {
        const std::span<DType> outputs = types.outputs(id);
        if (std::ranges::find(outputs, DType::Unknown) == outputs.end())
            continue;
        inputs.clear();
        for (const Entry &entry : m_graph.inputs(id))
            inputs.push_back(types.of(entry));
        if (!m_graph.isVariable(id))
            rules.apply(id, inputs, outputs);
        std::ranges::replace(outputs, DType::Unknown, inputs.empty() ? DType::F32 : inputs.front());
    }
    for (const NodeId id : m_order)
        std::ranges::replace(types.outputs(id), DType::F16, m_float16As);
    return types;
}

Error Settings::namesInput(Error error, infer::KnownShapes known) const
{
    // Rules meet a contradiction wherever they come by first, often at a parameter.
    for (const NodeId id : m_convertible) {
        const std::string &name = m_graph.node(id).name;
        auto fed = known.extract(name);
        if (fed.empty())
            continue;
        const auto rest = infer::inferShapes(m_graph, known);
        if (rest.ok()) {
            // A pattern that holds the shape says nothing of what is wrong with it.
            const Shape &wanted = rest.value().byNode[id][0];
            return badInput(name, "an array of shape " + fed.mapped().toString(),
                            wanted.hasRank() && !holds(wanted, fed.mapped())
                                ? "one of shape " + wanted.toString()
                                : "a shape that " + error.where + " accepts (" + error.message() + ')');
        }
        known.insert(std::move(fed));
    }
    return error;
}

infer::ShapeMap Settings::withStaticShapes(infer::ShapeMap shapes, std::span<const Tensor> constants,
                                           const std::vector<bool> &holds) const
{
    const bool isWhole = std::ranges::all_of(
        m_order, [&](NodeId id) { return std::ranges::all_of(shapes.byNode[id], &Shape::isComplete); });
    if (isWhole || constants.empty())
        return shapes;
    std::vector<Tensor> known(constants.begin(), constants.end());
    for (std::size_t id = 0; id < known.size(); ++id)
        if (!holds[id])
            known[id] = {};
    auto more = infer::staticShapes(m_graph, known, shapes);
    return more.ok() ? std::move(more).value() : shapes; // the node that contradicts says why when it runs
}

Result<const Setting *> Settings::of(std::span<const Tensor> variables, std::span<const Tensor> constants)
{
    std::vector<kernels::TensorDesc> key;
    for (const Tensor &variable : variables)
        key.push_back(kernels::descOf(variable));
    // What is fed in a parameter's place may hold other values, and shapes may follow from those.
    std::vector<bool> holds(constants.size());
    for (std::size_t id = 0; id < holds.size(); ++id)
        holds[id] = isSet(constants[id]) && kernels::areSame(constants[id], variables[id]);
    if (key == m_key && holds == m_holds)
        return &m_last;
    infer::KnownShapes known;
    for (const NodeId id : m_order) {
        if (m_graph.isVariable(id) && isSet(variables[id]))
            known.insert_or_assign(m_graph.node(id).name, variables[id].shape());
    }
    m_key.clear();
    HALFTONE_TRY(m_last.types, typesOf(variables));
    auto shapes = infer::inferShapes(m_graph, known);
    if (!shapes.ok())
        return namesInput(std::move(shapes).error(), std::move(known));
    m_last.shapes = withStaticShapes(std::move(shapes).value(), constants, holds);
    m_key = std::move(key);
    m_holds = std::move(holds);
    return &m_last;
}

} // namespace halftone::interpret
