#pragma once

#include "core/base/progress.h"
#include "core/base/result.h"
#include "core/infer/node_types.h"
#include "core/mixed/cast_table.h"
#include "core/mixed/parameter_storage.h"
#include "core/policy/assignment.h"
#include "core/rewrite/conversion.h"

#include <cstdint>
#include <span>
#include <vector>

namespace halftone::mixed {

/// One run over the graph with one belief of which parameters may be stored in the target type.
class NodeForNodeConverter
{
public:
    NodeForNodeConverter(const graph::Graph &source, const policy::Assignment &assignment,
                         ParameterStorage &storage, tensor::DType target)
        : m_source(source)
        , m_assignment(assignment)
        , m_storage(storage)
        , m_target(target)
        , m_rules(source)
        , m_casts(source, m_rules, target, m_result)
    {
        m_result.fromSource.assign(source.nodeCount(), rewrite::kNoNode);
    }

    Result<rewrite::Conversion> run(std::span<const graph::NodeId> order, const Progress &progress);

    /// The type rules were content with every node: no inference over the whole result is needed to know that
    /// it is well typed.
    bool isWellTyped() const { return m_wellTyped; }

private:
    Result<void> visit(graph::NodeId id);
    void visitVariable(graph::NodeId id);
    Result<void> visitTarget(graph::NodeId id);
    Result<void> visitWidest(graph::NodeId id);
    void visitNeutral(graph::NodeId id);

    void readFp32(graph::NodeId id, bool conditional);
    void readWidest(graph::NodeId id);
    void readAll(graph::NodeId id, Side side);
    void readRaw(graph::NodeId id);
    bool readStored(graph::NodeId variable, tensor::DType wanted);
    graph::Entry as(const graph::Entry &entry, Side side, rewrite::Reader reader);
    bool mendNeutral(graph::NodeId id, tensor::DType belief);
    void castParametersToTarget(graph::NodeId id);
    tensor::DType belief(const graph::Entry &entry) const;

    ops::TypeOutcome evaluate(graph::NodeId id);
    bool readsOnlyOpen() const;
    ops::TypeOutcome believe(graph::NodeId id, tensor::DType first);
    void commit(graph::NodeId id) { commit(id, evaluate(id)); }
    void commit(graph::NodeId id, ops::TypeOutcome outcome);
    void placeOutputs(graph::NodeId id, std::span<const tensor::DType> types);
    void placeAll(graph::NodeId id, Side side);
    void addHeads();

    const dialect::OpInfo *opOf(graph::NodeId id) const { return m_rules.op(id); }
    bool isMutable(graph::NodeId id, std::size_t input) const { return m_rules.isMutable(id, input); }
    bool isParameter(const graph::Entry &entry) const
    {
        return m_source.isVariable(entry.node) && m_storage.isParameter(entry.node);
    }
    std::uint32_t outputCount(graph::NodeId id) const { return m_rules.outputCount(id); }

    const graph::Graph &m_source;
    const policy::Assignment &m_assignment;
    ParameterStorage &m_storage;
    tensor::DType m_target;
    rewrite::Conversion m_result;
    infer::NodeTypes m_rules;
    CastTable m_casts;
    bool m_wellTyped = true;
    // Scratch of the node at hand, kept for its capacity.
    std::vector<graph::Entry> m_inputs; ///< in the graph under construction
    std::vector<tensor::DType> m_in, m_out; ///< its types by the last rule that was applied
    std::vector<tensor::DType> m_wanted, m_believedOut;
};

} // namespace halftone::mixed
