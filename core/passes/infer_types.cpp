#include "core/passes/infer_types.h"

#include "core/passes/node_types.h"

#include <algorithm>

namespace halftone::passes {
namespace {

using graph::Entry;
using graph::NodeId;
using tensor::DType;

class Inference
{
public:
    explicit Inference(const graph::Graph &graph)
        : m_graph(graph)
        , m_rules(graph)
    {
    }

    void seed(std::span<const DType> variables)
    {
        m_types.reserve(m_graph.nodeCount());
        std::vector<DType> open;
        for (NodeId id = 0; id < m_graph.nodeCount(); ++id) {
            open.assign(m_rules.outputCount(id), DType::Unknown);
            if (m_graph.isVariable(id) && id < variables.size())
                open[0] = variables[id];
            m_types.append(open);
        }
    }

    /// One sweep in either direction; true when it filled something in.
    bool sweep(bool forward)
    {
        bool changed = false;
        const auto count = static_cast<NodeId>(m_graph.nodeCount());
        for (NodeId k = 0; k < count; ++k)
            changed |= visit(forward ? k : count - 1 - k);
        return changed;
    }

    Result<void> check()
    {
        for (NodeId id = 0; id < m_graph.nodeCount(); ++id) {
            std::size_t where = 0;
            if (!apply(id, &where) && std::ranges::find(m_in, DType::Unknown) == m_in.end())
                return contradiction(id, where);
        }
        return {};
    }

    TypeMap take() { return std::move(m_types); }

private:
    /// Applies the node's rule to copies of its types; false when it refuses. Nodes without a rule accept
    /// all.
    bool apply(NodeId id, std::size_t *where = nullptr)
    {
        m_in.clear();
        for (const Entry &entry : m_graph.inputs(id))
            m_in.push_back(m_types.of(entry));
        const auto outputs = std::as_const(m_types).outputs(id);
        m_out.assign(outputs.begin(), outputs.end());
        return m_rules.apply(id, m_in, m_out, where) != ops::TypeOutcome::Refused;
    }

    bool visit(NodeId id)
    {
        if (!apply(id))
            return false;
        bool changed = false;
        const auto fill = [&changed](DType &known, DType found) {
            if (known == DType::Unknown && found != DType::Unknown) {
                known = found;
                changed = true;
            }
        };
        const auto inputs = m_graph.inputs(id);
        for (std::size_t i = 0; i < inputs.size(); ++i)
            fill(m_types.outputs(inputs[i].node)[inputs[i].output], m_in[i]);
        const auto outputs = m_types.outputs(id);
        for (std::size_t k = 0; k < outputs.size(); ++k)
            fill(outputs[k], m_out[k]);
        return changed;
    }

    Error contradiction(NodeId id, std::size_t where) const
    {
        std::string types;
        for (const DType type : m_in)
            types += (types.empty() ? "" : ", ") + std::string(tensor::nameOf(type));
        const graph::NodeDef &node = m_graph.node(id);
        const std::string place = where < m_in.size() ? "input " + std::to_string(where) + " ("
                + m_graph.node(m_graph.inputs(id)[where].node).name + ")"
                                                      : "output " + std::to_string(where - m_in.size());
        return badInput(node.name,
                        node.op + " gets types (" + types + "), of which " + place + " does not fit",
                        "types that go together");
    }

    const graph::Graph &m_graph;
    NodeTypes m_rules;
    TypeMap m_types;
    std::vector<DType> m_in, m_out; ///< scratch, kept for its capacity
};

} // namespace

Result<TypeMap> inferTypes(const graph::Graph &graph, std::span<const DType> variables)
{
    // Types travel whole chains within a sweep, so few are needed; the bound keeps a hostile zigzag from
    // being quadratic.
    constexpr int kMostSweeps = 64;
    Inference inference(graph);
    inference.seed(variables);
    for (int k = 0; k < kMostSweeps && inference.sweep(k % 2 == 0); ++k) { }
    HALFTONE_CHECK(inference.check());
    return inference.take();
}

} // namespace halftone::passes
