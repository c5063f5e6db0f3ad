#include "core/plan/plan_graph.h"

#include "core/dialect/dialect.h"
#include "core/dialect/stored_arrays.h"
#include "core/graph/traverse.h"
#include "core/kernels/buffer.h"
#include "core/ops/settle.h"

#include <algorithm>
#include <string_view>

namespace halftone::plan {
namespace {

std::vector<tensor::Shape> shapesOf(const PlanGraph &graph, std::span<const ValueId> values)
{
    std::vector<tensor::Shape> shapes;
    for (const ValueId value : values)
        shapes.push_back(graph.desc(value).shape);
    return shapes;
}

/// Reads only what the node's operator computes with: CastLike's second input gave its type.
void settle(const PlanGraph &graph, PlanNode &node)
{
    if (node.op.is<ops::Cast>() && node.inputs.size() > 1)
        node.inputs.resize(1);
    node.op = ops::settled(node.op, shapesOf(graph, node.inputs));
}

class Builder
{
public:
    Builder(const infer::TypedModel &typed, const kernels::BodyKernels &bodies)
        : m_bodies(bodies)
        , m_graph(typed.model.graph)
        , m_types(typed.types)
        , m_shapes(typed.shapes)
        , m_traced(typed.traced)
        , m_referenced(graph::referencedOutputs(m_graph))
        , m_first(m_graph.nodeCount(), kNoValue)
    {
        m_arrays = dialect::storedArrays(typed.model);
    }

    Result<PlanGraph> build()
    {
        const std::vector<graph::NodeId> order = graph::postOrder(m_graph);
        for (const graph::NodeId id : order)
            HALFTONE_CHECK(m_graph.isVariable(id) ? addVariable(id) : addNode(id));
        for (const graph::Entry &head : m_graph.heads()) {
            m_plan.outputs.push_back(m_first[head.node] + head.output);
            m_plan.outputNames.push_back(dialect::of(m_graph).entryName(m_graph, head));
        }
        return std::move(m_plan);
    }

private:
    Result<kernels::TensorDesc> descOf(graph::NodeId id, std::uint32_t output) const
    {
        const std::string &name = m_graph.node(id).name;
        kernels::TensorDesc desc{m_types.at(id, output), m_shapes.byNode[id][output]};
        if (desc.dtype == tensor::DType::Unknown)
            return badInput(name, "its type cannot be inferred from the inputs");
        if (!desc.shape.isComplete())
            return orElse(badInput(name, "its shape is unknown: " + desc.shape.toString()), Field::Shape,
                          "for every input");
        if (auto bytes = kernels::checkedBytes(desc); !bytes.ok()) {
            Error error = std::move(bytes).error();
            error.where = name;
            return error;
        }
        return desc;
    }

    Result<void> addVariable(graph::NodeId id)
    {
        const std::string &name = m_graph.node(id).name;
        HALFTONE_TRY(kernels::TensorDesc desc, descOf(id, 0));
        const auto array = m_arrays.find(name);
        m_first[id] = m_plan.addValue(std::move(desc), name);
        if (array == m_arrays.end()) {
            m_plan.inputs.push_back(m_first[id]);
            return {};
        }
        PlanValue &value = m_plan.values[m_first[id]];
        if (array->second->storage != tensor::Storage::Dense)
            return badInput(name, "sparse parameters are not supported", "a dense parameter");
        const tensor::Tensor &stored = array->second->values;
        if (stored.dtype() != value.desc.dtype || stored.shape() != value.desc.shape)
            return badInput(name,
                            "a parameter of " + std::string(tensor::nameOf(stored.dtype())) + ' '
                                + stored.shape().toString(),
                            std::string(tensor::nameOf(value.desc.dtype)) + ' '
                                + value.desc.shape.toString());
        value.constant = stored;
        return {};
    }

    /// What does not hang on what is fed is there before the first run.
    void addConstants(graph::NodeId id, const std::vector<tensor::Tensor> &constants)
    {
        m_first[id] = static_cast<ValueId>(m_plan.values.size());
        for (const tensor::Tensor &constant : constants)
            m_plan.values[m_plan.addValue(kernels::descOf(constant), m_graph.node(id).name)].constant
                = constant;
    }

    Result<ops::Operator> operatorOf(graph::NodeId id) const
    {
        if (!m_traced.empty() && m_traced[id].op)
            return *m_traced[id].op;
        return dialect::of(m_graph).readFused(m_graph.node(id));
    }

    /// Codes of weights are what products on codes want to see.
    bool decodes(graph::NodeId id) const
    {
        return m_traced[id].op && m_traced[id].op->is<ops::DequantizeLinear>();
    }

    Result<void> addNode(graph::NodeId id)
    {
        if (!m_traced.empty() && !m_traced[id].constants.empty() && !decodes(id)) {
            addConstants(id, m_traced[id].constants);
            return {};
        }
        const graph::NodeDef &def = m_graph.node(id);
        HALFTONE_TRY(const std::optional<tensor::Tensor> held, dialect::of(m_graph).constantOf(def));
        if (held) {
            HALFTONE_TRY(tensor::Tensor constant, kernels::readable(*held));
            addConstants(id, {std::move(constant)});
            return {};
        }
        HALFTONE_TRY(ops::Operator op, operatorOf(id));
        if (const auto *product = op.getIf<ops::FusedProduct>();
            product && product->inputCount() != m_graph.inputs(id).size())
            return badInput(def.name, std::to_string(m_graph.inputs(id).size()) + " inputs",
                            std::to_string(product->inputCount()));
        const bool runsBodies = op.is<ops::ControlFlow>();
        if (op.is<ops::Opaque>() || (runsBodies && !m_bodies))
            return unsupported(def.name, "operator " + def.op + " cannot be timed");
        PlanNode node{std::move(op), def.op, {def.name}, {}, {}, {}};
        if (runsBodies)
            node.makeKernel = [bodies = m_bodies, id] { return bodies(id); };
        for (const graph::Entry &input : m_graph.inputs(id))
            node.inputs.push_back(m_first[input.node] + input.output);
        m_first[id] = static_cast<ValueId>(m_plan.values.size());
        const std::size_t outputs = std::min(m_shapes.byNode[id].size(), m_types.outputs(id).size());
        for (std::uint32_t k = 0; k < outputs; ++k) {
            auto desc = descOf(id, k);
            if (!desc.ok() && k < m_referenced[id]) // what nobody reads may stay open
                return desc.error();
            node.outputs.push_back(
                m_plan.addValue(desc.ok() ? desc.value() : kernels::TensorDesc(), def.name));
        }
        settle(m_plan, node);
        m_plan.nodes.push_back(std::move(node));
        return {};
    }

    const kernels::BodyKernels &m_bodies;
    const graph::Graph &m_graph;
    const infer::TypeMap &m_types;
    const infer::ShapeMap &m_shapes;
    const std::vector<infer::TracedNode> &m_traced;
    dialect::StoredArrays m_arrays;
    std::vector<std::uint32_t> m_referenced; ///< by NodeId: how many of its outputs somebody reads
    std::vector<ValueId> m_first; ///< by NodeId: the value of its output 0; the others follow
    PlanGraph m_plan;
};

} // namespace

Result<std::unique_ptr<kernels::Kernel>> prepareNode(const PlanGraph &graph, const PlanNode &node,
                                                     const kernels::Backend &backend)
{
    if (node.makeKernel)
        return node.makeKernel();
    kernels::Operation operation{node.op, node.opName, {}, {}};
    operation.seed = kernels::seedOf(node.members.empty() ? node.opName : node.members.front());
    for (const ValueId value : node.inputs)
        operation.inputs.push_back(graph.desc(value));
    for (const ValueId value : node.outputs)
        operation.outputs.push_back(graph.desc(value));
    return backend.prepare(operation);
}

PlanGraph singleNode(const kernels::Operation &operation)
{
    PlanGraph graph;
    PlanNode node{operation.op, operation.opName, {operation.opName}, {}, {}, {}};
    for (std::size_t k = 0; k < operation.inputs.size(); ++k) {
        node.inputs.push_back(graph.addValue(operation.inputs[k], operation.opName));
        if (operation.isConstant(k))
            graph.values.back().constant = operation.constants[k];
        else
            graph.inputs.push_back(node.inputs.back());
    }
    for (std::size_t k = 0; k < operation.outputs.size(); ++k) {
        node.outputs.push_back(graph.addValue(operation.outputs[k], operation.opName));
        if (operation.isRead(k))
            graph.outputs.push_back(node.outputs.back());
    }
    settle(graph, node);
    graph.nodes.push_back(std::move(node));
    return graph;
}

Result<PlanGraph> buildPlanGraph(const infer::TypedModel &model, const kernels::BodyKernels &bodies)
{
    return Builder(model, bodies).build();
}

} // namespace halftone::plan
