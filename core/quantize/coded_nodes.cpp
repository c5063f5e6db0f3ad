#include "core/quantize/coded_nodes.h"

#include "core/dialect/coded_pairs.h"
#include "core/dialect/dialect.h"
#include "core/rewrite/conversion.h"

#include <algorithm>
#include <unordered_map>

namespace halftone::quantize {
namespace {

using dialect::CodedSupport;
using graph::Entry;
using graph::Graph;
using graph::NodeId;
using rewrite::kNoNode;

class CodedFinder
{
public:
    explicit CodedFinder(const graph::Model &model)
        : m_graph(model.graph)
        , m_forms(*dialect::codedPairsOf(dialect::of(model.graph)))
        , m_readers(model.graph.nodeCount())
        , m_coded(model.graph.nodeCount(), kNoNode)
    {
        for (const tensor::Array &array : model.parameters)
            m_types.emplace(dialect::variableOf(m_graph, array.name), array.values.dtype());
        for (NodeId id = 0; id < m_graph.nodeCount(); ++id)
            for (const Entry &entry : m_graph.inputs(id))
                m_readers[entry.node].push_back(id);
        for (const Entry &head : m_graph.heads())
            m_readers[head.node].push_back(kNoNode);
    }

    std::vector<NodeId> run()
    {
        for (NodeId id = 0; id < m_graph.nodeCount(); ++id)
            if (!m_graph.isVariable(id) && (m_forms.computesCodes(m_graph.node(id)) || isProduct(id)))
                take(id);
        for (NodeId id = 0; id < m_graph.nodeCount(); ++id)
            if (isSupport(id))
                take(id);
        for (NodeId id = 0; id < m_graph.nodeCount(); ++id)
            takePair(id);
        return std::ranges::all_of(m_coded, [](NodeId id) { return id == kNoNode; }) ? std::vector<NodeId>()
                                                                                     : std::move(m_coded);
    }

private:
    bool isPair(NodeId id) const
    {
        return id != kNoNode && !m_graph.isVariable(id) && m_forms.isPairNode(m_graph.node(id));
    }

    /// The reals of codes, in float32.
    bool isDecoded(const Entry &entry) const
    {
        if (m_graph.isVariable(entry.node) || !m_forms.isDecode(m_graph.node(entry.node)))
            return false;
        const auto inputs = m_graph.inputs(entry.node);
        const auto type = inputs.size() > 1 ? m_types.find(m_graph.node(inputs[1].node).name) : m_types.end();
        return type == m_types.end() || type->second == tensor::DType::F32;
    }

    bool isProduct(NodeId id) const
    {
        const auto form = m_forms.productOf(m_graph.node(id));
        const auto inputs = m_graph.inputs(id);
        return form && inputs.size() > 1 && isDecoded(inputs[0]) && isDecoded(inputs[1]);
    }

    /// The last node that is computed within this one.
    NodeId lastWithin(NodeId id) const
    {
        while (m_readers[id].size() == 1 && m_readers[id].front() != kNoNode
               && m_forms.isFused(m_graph.node(m_readers[id].front())))
            id = m_readers[id].front();
        return id;
    }

    bool givesCodes(NodeId id) const
    {
        const auto &readers = m_readers[lastWithin(id)];
        return !readers.empty()
            && std::ranges::all_of(readers, [this](NodeId reader) { return isPair(reader); });
    }

    bool isSupport(NodeId id) const
    {
        if (m_graph.isVariable(id))
            return false;
        const CodedSupport kind = m_forms.supportOf(m_graph.node(id));
        const auto inputs = m_graph.inputs(id);
        const std::size_t read = kind == CodedSupport::Moves ? 1 : inputs.size();
        return kind != CodedSupport::None && inputs.size() >= read && givesCodes(id)
            && std::ranges::all_of(inputs.first(read),
                                   [this](const Entry &entry) { return isDecoded(entry); });
    }

    void take(NodeId id)
    {
        m_coded[id] = id;
        if (!givesCodes(id))
            return;
        for (NodeId within = lastWithin(id); within != id; within = m_graph.inputs(within)[0].node)
            m_coded[within] = id;
    }

    /// Of pairs that stand at what computes with codes.
    void takePair(NodeId id)
    {
        if (!isPair(id))
            return;
        const auto isCoded = [this](NodeId other) { return other != kNoNode && m_coded[other] != kNoNode; };
        const bool isAfter = std::ranges::any_of(m_graph.inputs(id),
                                                 [&](const Entry &entry) { return isCoded(entry.node); });
        const bool isBefore = std::ranges::any_of(m_readers[id], [&](NodeId reader) {
            return isCoded(reader) || (isPair(reader) && std::ranges::any_of(m_readers[reader], isCoded));
        });
        if (isAfter || isBefore)
            m_coded[id] = id;
    }

    const Graph &m_graph;
    const dialect::CodedPairs &m_forms;
    std::unordered_map<std::string_view, tensor::DType> m_types;
    std::vector<std::vector<NodeId>> m_readers; ///< by NodeId; kNoNode: a head
    std::vector<NodeId> m_coded;
};

/// Most models hold none, and are told so before anything is looked up.
bool mayHoldCodes(const Graph &graph, const dialect::CodedPairs &forms)
{
    std::vector<bool> isKnown(graph.operatorNames().size());
    for (NodeId id = 0; id < graph.nodeCount(); ++id) {
        if (isKnown[graph.opOf(id)])
            continue;
        isKnown[graph.opOf(id)] = true;
        const graph::NodeDef &node = graph.node(id);
        if (!graph.isVariable(id) && (forms.isPairNode(node) || forms.computesCodes(node)))
            return true;
    }
    return false;
}

/// What gives the value that went into a pair; the node itself where it is none.
NodeId behindPair(const Graph &graph, const dialect::CodedPairs &forms, NodeId id)
{
    while (!graph.isVariable(id) && forms.isPairNode(graph.node(id)))
        id = graph.inputs(id)[0].node;
    return id;
}

} // namespace

std::vector<NodeId> codedNodes(const graph::Model &model)
{
    const dialect::CodedPairs *const forms
        = model.graph.dialect() == nullptr ? nullptr : dialect::codedPairsOf(dialect::of(model.graph));
    if (forms == nullptr || !mayHoldCodes(model.graph, *forms))
        return {};
    return CodedFinder(model).run();
}

std::vector<bool> releasedWith(const Graph &graph, const std::vector<NodeId> &coded,
                               const std::vector<bool> &released)
{
    const dialect::CodedPairs &forms = *dialect::codedPairsOf(dialect::of(graph));
    std::vector<bool> all(released);
    for (NodeId id = 0; id < graph.nodeCount(); ++id)
        all[id] = all[id] || (coded[id] != kNoNode && released[coded[id]]);
    // What still has a way to a product, through values in pairs.
    std::vector<bool> isHeld(graph.nodeCount());
    for (NodeId id = 0; id < graph.nodeCount(); ++id)
        isHeld[id] = coded[id] == id && !all[id]
            && (forms.productOf(graph.node(id)) || forms.computesCodes(graph.node(id)));
    for (bool changed = true; changed;) {
        changed = false;
        for (NodeId id = 0; id < graph.nodeCount(); ++id) {
            for (const Entry &entry : graph.inputs(id)) {
                const NodeId from = behindPair(graph, forms, entry.node);
                if (coded[from] == kNoNode || coded[id] == kNoNode || all[coded[from]] || all[coded[id]]
                    || isHeld[coded[from]] == isHeld[coded[id]])
                    continue;
                isHeld[coded[from]] = isHeld[coded[id]] = changed = true;
            }
        }
    }
    for (NodeId id = 0; id < graph.nodeCount(); ++id)
        all[id]
            = all[id] || (coded[id] != kNoNode && !forms.isPairNode(graph.node(id)) && !isHeld[coded[id]]);
    return all;
}

} // namespace halftone::quantize
