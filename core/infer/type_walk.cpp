#include "core/infer/type_walk.h"

#include "core/infer/node_types.h"

#include <algorithm>

namespace halftone::infer {
namespace {

using graph::Entry;
using graph::NodeId;
using tensor::DType;

class Inference
{
public:
    Inference(const graph::Graph &graph, int depth)
        : m_graph(graph)
        , m_depth(depth)
        , m_rules(graph, depth)
    {
    }

    Result<void> seed(const KnownTypes &known)
    {
        m_types.reserve(m_graph.nodeCount());
        m_isSettled.assign(m_graph.nodeCount(), false);
        std::vector<DType> open;
        for (NodeId id = 0; id < m_graph.nodeCount(); ++id) {
            open.assign(m_rules.outputCount(id), DType::Unknown);
            if (m_graph.isVariable(id) && id < known.variables.size())
                open[0] = known.variables[id];
            m_types.append(open);
        }
        for (std::size_t i = 0; i < std::min(known.heads.size(), m_graph.heads().size()); ++i)
            HALFTONE_CHECK(seedHead(m_graph.heads()[i], known.heads[i]));
        return {};
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
            if (m_isSettled[id] || apply(id, &where) != ops::TypeOutcome::Refused)
                continue;
            if (where == NodeTypes::kInBody)
                return bodyContradiction(id);
            // An open type may only be too little to go by: the variables may never get one.
            if (known(where))
                return contradiction(id, where);
        }
        return {};
    }

    TypeMap take() { return std::move(m_types); }

private:
    Result<void> seedHead(const Entry &entry, DType type)
    {
        DType &known = m_types.outputs(entry.node)[entry.output];
        if (known != DType::Unknown && type != DType::Unknown && known != type)
            return badInput(
                m_graph.node(entry.node).name, "a head of type " + std::string(tensor::nameOf(known)),
                std::string(tensor::nameOf(type)) + ", the type that the enclosing node declares");
        known = known == DType::Unknown ? type : known;
        return {};
    }

    /// Applies the node's rule to copies of its types.
    ops::TypeOutcome apply(NodeId id, std::size_t *where = nullptr)
    {
        collect(id);
        return m_rules.apply(id, m_in, m_out, where);
    }

    void collect(NodeId id)
    {
        m_in.clear();
        for (const Entry &entry : m_graph.inputs(id))
            m_in.push_back(m_types.of(entry));
        const auto outputs = std::as_const(m_types).outputs(id);
        m_out.assign(outputs.begin(), outputs.end());
    }

    /// Fills in what the node's rule makes of its types; true when that was anything new.
    bool visit(NodeId id)
    {
        if (m_isSettled[id])
            return false;
        const ops::TypeOutcome outcome = apply(id);
        if (outcome == ops::TypeOutcome::Refused)
            return false;
        bool changed = false;
        // One tensor read twice may be told two types: then the node is asked again.
        bool isSettled = outcome == ops::TypeOutcome::Complete;
        const auto fill = [&](DType &known, DType found) {
            if (known == DType::Unknown && found != DType::Unknown) {
                known = found;
                changed = true;
            }
            isSettled = isSettled && known == found;
        };
        const auto inputs = m_graph.inputs(id);
        for (std::size_t i = 0; i < inputs.size(); ++i)
            fill(m_types.outputs(inputs[i].node)[inputs[i].output], m_in[i]);
        const auto outputs = m_types.outputs(id);
        for (std::size_t k = 0; k < outputs.size(); ++k)
            fill(outputs[k], m_out[k]);
        m_isSettled[id] = isSettled && std::ranges::find(m_in, DType::Unknown) == m_in.end()
            && std::ranges::find(m_out, DType::Unknown) == m_out.end();
        return changed;
    }

    bool known(std::size_t position) const
    {
        return (position < m_in.size() ? m_in[position] : m_out[position - m_in.size()]) != DType::Unknown;
    }

    Error bodyContradiction(NodeId id)
    {
        const graph::NodeDef &node = m_graph.node(id);
        collect(id);
        const auto outcome = inferBodyTypes(m_graph, id, m_in, m_out, m_depth + 1);
        Error error = outcome.ok() ? badInput({}, "incompatible types") : outcome.error();
        error.found
            = node.op + ": in its body: " + (error.where.empty() ? "" : error.where + ": ") + error.found;
        error.where = node.name;
        return error;
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
                        node.op + " gets types (" + types + "), of which " + place + " does not match",
                        "compatible types");
    }

    const graph::Graph &m_graph;
    int m_depth;
    NodeTypes m_rules;
    TypeMap m_types;
    std::vector<bool> m_isSettled; ///< by NodeId: all its types are known and go together
    std::vector<DType> m_in, m_out; ///< scratch, kept for its capacity
};

} // namespace

Result<TypeMap> walkTypes(const graph::Graph &graph, const KnownTypes &known, int depth)
{
    // Types travel whole chains within a sweep, so few are needed; the bound keeps a hostile zigzag from
    // being quadratic, and nested bodies from multiplying.
    const int mostSweeps = depth == 0 ? 64 : 4;
    Inference inference(graph, depth);
    HALFTONE_CHECK(inference.seed(known));
    for (int k = 0; k < mostSweeps && inference.sweep(k % 2 == 0); ++k) { }
    HALFTONE_CHECK(inference.check());
    return inference.take();
}

} // namespace halftone::infer
