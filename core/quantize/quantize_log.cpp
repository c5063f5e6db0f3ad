#include "core/passes/quantize_asked.h"

#include <algorithm>
#include <utility>

/// tellOfSource() of quantize_asked.h.
namespace halftone::passes {
namespace {

using graph::Entry;
using graph::Graph;
using graph::NodeId;
using Kind = QuantizedOrigin::Kind;

/// Translates the names of nodes from the part's graph to the source's.
class Telling
{
public:
    Telling(const Graph &source, const QuantizedPart &part, Conversion &conversion)
        : m_source(source)
        , m_part(part)
        , m_graph(part.model.graph)
        , m_conversion(conversion)
        , m_readers(m_graph.nodeCount())
    {
        for (NodeId id = 0; id < m_graph.nodeCount(); ++id) {
            const auto inputs = m_graph.inputs(id);
            for (std::uint32_t i = 0; i < inputs.size(); ++i)
                m_readers[inputs[i].node].push_back({id, i});
        }
        for (std::uint32_t k = 0; k < m_graph.heads().size(); ++k)
            m_readers[m_graph.heads()[k].node].push_back({kNoNode, k});
    }

    void run()
    {
        std::vector<InsertedCast> casts = conversions();
        for (InsertedCast &cast : m_conversion.casts) {
            cast.tensor = inSource(cast.tensor);
            cast.readers = inSource(cast.readers);
            casts.push_back(std::move(cast));
        }
        m_conversion.casts = std::move(casts);
        placeCopies();
        tellNodes(m_conversion.foldedCasts);
        tellNodes(m_conversion.markedParameters);
        m_conversion.merged = merged();
        tellMembers(m_conversion.moved, &MovedCasts::past);
        tellMembers(m_conversion.bodies, &ConvertedBody::node);
        tellMembers(m_conversion.parameters, &StoredParameter::variable);
        tellMembers(m_conversion.notes, &NodeNote::node);
    }

private:
    /// kNoNode for what the source does not have.
    NodeId inSource(NodeId id) const
    {
        const QuantizedOrigin &origin = m_part.origins[id];
        return origin.kind == Kind::Copy || origin.kind == Kind::Int8 ? origin.nodes.back() : kNoNode;
    }

    Entry inSource(const Entry &entry) const
    {
        const QuantizedOrigin &origin = m_part.origins[entry.node];
        const bool converts = origin.kind == Kind::Dequantize || origin.kind == Kind::Quantize;
        return {origin.nodes.back(), converts ? origin.output : entry.output, entry.version};
    }

    /// The edges of the source that a read stands for; through a quantization all those that read its codes.
    void addReads(const Reader &reader, std::vector<Reader> &reads) const
    {
        if (reader.node == kNoNode) {
            reads.push_back(reader);
            return;
        }
        const QuantizedOrigin &origin = m_part.origins[reader.node];
        if (origin.kind == Kind::Quantize) {
            for (const Reader &further : m_readers[reader.node])
                addReads(further, reads);
        } else if (reader.input < origin.reads.size()) {
            reads.push_back(origin.reads[reader.input]);
        }
    }

    std::vector<Reader> inSource(const std::vector<Reader> &readers) const
    {
        std::vector<Reader> reads;
        for (const Reader &reader : readers)
            addReads(reader, reads);
        return reads;
    }

    /// Quantizations and what takes them back, as far as they are still there.
    std::vector<InsertedCast> conversions() const
    {
        std::vector<InsertedCast> casts;
        for (NodeId id = 0; id < m_graph.nodeCount(); ++id) {
            const QuantizedOrigin &origin = m_part.origins[id];
            const bool quantizes = origin.kind == Kind::Quantize;
            const NodeId copy = m_conversion.fromSource[id];
            if ((!quantizes && origin.kind != Kind::Dequantize) || copy == kNoNode)
                continue;
            InsertedCast cast{copy, {origin.nodes.back(), origin.output, 0}, tensor::DType::F32, {}};
            cast.kind = quantizes ? CastKind::Quantize : CastKind::Dequantize;
            if (quantizes)
                cast.type = m_conversion.types.at(copy, 0);
            cast.readers = inSource(m_readers[id]);
            if (!cast.readers.empty())
                casts.push_back(std::move(cast));
        }
        return casts;
    }

    void placeCopies()
    {
        std::vector<NodeId> copies(m_source.nodeCount(), kNoNode);
        m_conversion.int8Group.assign(m_source.nodeCount(), kNoNode);
        for (NodeId id = 0; id < m_graph.nodeCount(); ++id) {
            const QuantizedOrigin &origin = m_part.origins[id];
            const NodeId last = origin.nodes.back();
            if (origin.kind == Kind::Copy)
                copies[last] = m_conversion.fromSource[id];
            if (origin.kind == Kind::Int8) {
                for (const NodeId member : origin.nodes)
                    m_conversion.int8Group[member] = last;
            }
            // Sums of products are known once they are codes again.
            if (origin.kind == Kind::Int8 || origin.kind == Kind::Requantize)
                copies[last] = m_conversion.fromSource[id];
        }
        m_conversion.fromSource = std::move(copies);
    }

    void tellNodes(std::vector<NodeId> &nodes) const
    {
        for (NodeId &id : nodes)
            id = inSource(id);
        std::erase(nodes, kNoNode);
    }

    template <class T>
    void tellMembers(std::vector<T> &all, NodeId T::*member) const
    {
        for (T &one : all)
            one.*member = inSource(one.*member);
        std::erase_if(all, [member](const T &one) { return one.*member == kNoNode; });
    }

    std::vector<MergedNode> merged() const
    {
        std::vector<MergedNode> all;
        for (const MergedNode &one : m_conversion.merged) {
            const MergedNode told{inSource(one.node), inSource(one.into)};
            if (told.node != kNoNode && told.into != kNoNode)
                all.push_back(told);
        }
        for (const MergedNode &one : m_part.dropped) {
            const NodeId group = m_conversion.int8Group[one.into];
            all.push_back({one.node, group == kNoNode ? one.into : group});
        }
        return all;
    }

    const Graph &m_source;
    const QuantizedPart &m_part;
    const Graph &m_graph;
    Conversion &m_conversion;
    std::vector<std::vector<Reader>> m_readers; ///< by NodeId of the part's graph
};

} // namespace

void tellOfSource(const Graph &source, const QuantizedPart &part, Conversion &conversion)
{
    Telling(source, part, conversion).run();
}

} // namespace halftone::passes
