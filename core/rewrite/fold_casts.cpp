#include "core/rewrite/fold_casts.h"

#include "core/dialect/dialect.h"
#include "core/infer/stored_types.h"
#include "core/rewrite/prune.h"
#include "core/rewrite/rebuild.h"

#include <algorithm>
#include <unordered_set>

namespace halftone::rewrite {
namespace {

using graph::Entry;
using graph::NodeId;
using tensor::DType;

class Folding
{
public:
    Folding(const graph::Graph &source, const infer::TypeMap &types)
        : m_source(source)
        , m_types(types)
    {
    }

    /// What a reader of `entry` can read instead without seeing another value: through casts that change
    /// nothing.
    Entry seenThrough(Entry entry, DType wanted) const
    {
        // Each step goes to an earlier node of a chain of casts, whose own reading is settled already.
        const DType type = m_types.of(entry);
        if (!isCast(entry.node) || type == DType::Unknown)
            return entry;
        const Entry input = m_reads[entry.node];
        const DType inputType = m_types.of(input);
        const bool widens = type == DType::F32 && tensor::isHalf(inputType);
        if (inputType == type || (widens && wanted != DType::Unknown))
            return input;
        return entry;
    }

    graph::Graph run(std::size_t &folded)
    {
        std::unordered_set<NodeId> heads;
        for (const Entry &head : m_source.heads())
            heads.insert(head.node);
        Rebuild rebuild(m_source);
        m_reads.resize(m_source.nodeCount());
        for (const NodeId id : rebuild.order()) {
            std::vector<Entry> inputs;
            for (const Entry &entry : m_source.inputs(id))
                inputs.push_back(rebuild.now(entry));
            if (isCast(id) && !m_source.inputs(id).empty()) {
                m_reads[id] = seenThrough(m_source.inputs(id)[0], m_types.at(id, 0));
                inputs[0] = rebuild.now(m_reads[id]);
                if (!heads.contains(id) && m_types.of(m_reads[id]) == m_types.at(id, 0)
                    && m_types.at(id, 0) != DType::Unknown) {
                    rebuild.replace(id, {inputs[0]});
                    ++folded;
                    continue;
                }
            }
            rebuild.keep(id, std::move(inputs));
        }
        return rebuild.finish();
    }

private:
    bool isCast(NodeId id) const { return dialect::roleOf(m_source, id) == dialect::NodeRole::Cast; }

    const graph::Graph &m_source;
    const infer::TypeMap &m_types;
    std::vector<Entry> m_reads; ///< by source NodeId of a cast: what it reads, in the source
};

} // namespace

Result<Rewritten> foldCasts(const graph::Model &model, const Progress &progress)
{
    HALFTONE_TRY(const infer::TypeMap types, infer::storedTypes(model));
    Rewritten result{{{}, model.parameters, model.hasParameters}, 0, {}};
    result.model.graph = Folding(model.graph, types).run(result.changed);
    if (result.changed == 0)
        return result;
    // A widening whose only reader was folded is needed by none now.
    const std::size_t folded = result.changed;
    HALFTONE_TRY(result, prune({std::move(result.model.graph), {}, false}, progress));
    result.changed += folded;
    result.model.parameters = model.parameters;
    result.model.hasParameters = model.hasParameters;
    return result;
}

} // namespace halftone::rewrite
