#include "core/quantize/quantize_asked.h"

#include <algorithm>
#include <utility>

/// translateLogToSource() of quantize_asked.h.
namespace halftone::quantize {
namespace {

using graph::Entry;
using graph::Graph;
using graph::NodeId;
using Kind = QuantizedOrigin::Kind;

/// Translates the names of nodes from the part's graph to the source's.
class LogTranslation
{
public:
    LogTranslation(const Graph &source, const QuantizedPart &part, rewrite::Conversion &conversion)
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
            m_readers[m_graph.heads()[k].node].push_back({rewrite::kNoNode, k});
    }

    void run()
    {
        std::vector<rewrite::InsertedCast> casts = conversions();
        for (rewrite::InsertedCast &cast : m_conversion.casts) {
            cast.tensor = inSource(cast.tensor);
            cast.readers = inSource(cast.readers);
            casts.push_back(std::move(cast));
        }
        m_conversion.casts = std::move(casts);
        placeCopies();
        tellNodes(m_conversion.foldedCasts);
        tellNodes(m_conversion.markedParameters);
        m_conversion.merged = merged();
        tellMembers(m_conversion.moved, &rewrite::MovedCasts::past);
        tellMembers(m_conversion.choices, &rewrite::TypeChoice::node);
        tellMembers(m_conversion.bodies, &rewrite::ConvertedBody::node);
        tellMembers(m_conversion.parameters, &rewrite::StoredParameter::variable);
        tellMembers(m_conversion.notes, &rewrite::NodeNote::node);
    }

private:
    /// kNoNode for what the source does not have.
    NodeId inSource(NodeId id) const
    {
        const QuantizedOrigin &origin = m_part.origins[id];
        return origin.kind == Kind::Copy || origin.kind == Kind::Int8 ? origin.nodes.back()
                                                                      : rewrite::kNoNode;
    }

    Entry inSource(const Entry &entry) const
    {
        const QuantizedOrigin &origin = m_part.origins[entry.node];
        const bool converts = origin.kind == Kind::Dequantize || origin.kind == Kind::Quantize;
        return {origin.nodes.back(), converts ? origin.output : entry.output, entry.version};
    }

    /// The edges of the source that a read stands for; through a quantization all those that read its codes, or what these stand for.
    void addReads(const rewrite::Reader &reader, std::vector<rewrite::Reader> &reads) const
    {
        if (reader.node == rewrite::kNoNode) {
            reads.push_back(reader);
            return;
        }
        const QuantizedOrigin &origin = m_part.origins[reader.node];
        if (origin.kind == Kind::Quantize || origin.kind == Kind::Dequantize) {
            for (const rewrite::Reader &further : m_readers[reader.node])
                addReads(further, reads);
        } else if (reader.input < origin.reads.size()) {
            reads.push_back(origin.reads[reader.input]);
        }
    }

    std::vector<rewrite::Reader> inSource(const std::vector<rewrite::Reader> &readers) const
    {
        std::vector<rewrite::Reader> reads;
        for (const rewrite::Reader &reader : readers)
            addReads(reader, reads);
        return reads;
    }

    /// Quantizations and what takes them back, as far as they are still there.
    std::vector<rewrite::InsertedCast> conversions() const
    {
        std::vector<rewrite::InsertedCast> casts;
        for (NodeId id = 0; id < m_graph.nodeCount(); ++id) {
            const QuantizedOrigin &origin = m_part.origins[id];
            const bool quantizes = origin.kind == Kind::Quantize;
            const NodeId copy = m_conversion.fromSource[id];
            if ((!quantizes && origin.kind != Kind::Dequantize) || copy == rewrite::kNoNode)
                continue;
            rewrite::InsertedCast cast{copy, {origin.nodes.back(), origin.output, 0}, tensor::DType::F32, {}};
            cast.kind = quantizes ? rewrite::CastKind::Quantize : rewrite::CastKind::Dequantize;
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
        std::vector<NodeId> copies(m_source.nodeCount(), rewrite::kNoNode);
        m_conversion.int8Group.assign(m_source.nodeCount(), rewrite::kNoNode);
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
        std::erase(nodes, rewrite::kNoNode);
    }

    template <class T>
    void tellMembers(std::vector<T> &all, NodeId T::*member) const
    {
        for (T &one : all)
            one.*member = inSource(one.*member);
        std::erase_if(all, [member](const T &one) { return one.*member == rewrite::kNoNode; });
    }

    std::vector<rewrite::MergedNode> merged() const
    {
        std::vector<rewrite::MergedNode> all;
        for (const rewrite::MergedNode &one : m_conversion.merged) {
            const rewrite::MergedNode told{inSource(one.node), inSource(one.into)};
            if (told.node != rewrite::kNoNode && told.into != rewrite::kNoNode)
                all.push_back(told);
        }
        for (const rewrite::MergedNode &one : m_part.dropped) {
            const NodeId group = m_conversion.int8Group[one.into];
            all.push_back({one.node, group == rewrite::kNoNode ? one.into : group});
        }
        return all;
    }

    const Graph &m_source;
    const QuantizedPart &m_part;
    const Graph &m_graph;
    rewrite::Conversion &m_conversion;
    std::vector<std::vector<rewrite::Reader>> m_readers; ///< by NodeId of the part's graph
};

} // namespace

void translateLogToSource(const Graph &source, const QuantizedPart &part, rewrite::Conversion &conversion)
{
    LogTranslation(source, part, conversion).run();
}

} // namespace halftone::quantize
