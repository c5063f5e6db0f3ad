#include "core/runtimes/added_casts.h"

#include "core/dialect/dialect.h"
#include "core/dialect/overridable.h"
#include "core/graph/traverse.h"
#include "core/ops/operator.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <utility>

namespace halftone::runtimes {
namespace {

using graph::Entry;
using graph::NodeId;
using tensor::DType;

enum class Stored : std::uint8_t
{
    No,
    Fixed,
    Fed ///< in whose place others may be fed
};

class Around
{
public:
    Around(const std::vector<MissingKernel> &missing, const infer::TypedModel &model)
        : m_model(model)
        , m_graph(model.model.graph)
        , m_isIdentity(m_graph.nodeCount())
        , m_isWide(m_graph.nodeCount())
        , m_stored(m_graph.nodeCount(), Stored::No)
    {
        for (const MissingKernel &one : missing)
            m_isWide[one.node] = one.answer.type == DType::F32;
        findIdentities();
        findStored();
        findReaders();
    }

    /// A node between such as are computed in float32 is, too.
    void widenLoneNodes()
    {
        std::vector<NodeId> lone;
        for (NodeId id = 0; id < m_graph.nodeCount(); ++id)
            if (isLone(id))
                lone.push_back(id);
        for (const NodeId id : lone)
            m_isWide[id] = true;
    }

    AddedCasts count() const
    {
        std::set<std::pair<Key, bool>> perRun; // a value, and to which side it is cast
        std::set<Key> onLoad;
        for (const auto &[value, readers] : m_readers) {
            const NodeId from = value.first;
            for (const NodeId reader : readers) {
                if (m_isWide[from] == m_isWide[reader] || isCastBack(from, reader))
                    continue;
                if (m_stored[from] == Stored::Fixed)
                    onLoad.insert(value);
                else
                    perRun.emplace(value, m_isWide[reader]);
            }
        }
        for (const Key &value : m_heads)
            if (m_isWide[value.first] && tensor::isHalf(m_model.types.at(value.first, value.second)))
                perRun.emplace(value, false);
        return {perRun.size(), onLoad.size()};
    }

private:
    using Key = std::pair<NodeId, std::uint32_t>; ///< node and output

    bool isOperator(NodeId id) const
    {
        return !m_graph.isVariable(id) && !m_isIdentity[id] && m_stored[id] == Stored::No;
    }

    void findIdentities()
    {
        for (NodeId id = 0; id < m_graph.nodeCount(); ++id) {
            const auto op = dialect::of(m_graph).readKind(m_graph.node(id));
            if (m_graph.isVariable(id) || m_graph.inputs(id).empty() || !op.ok())
                continue;
            const auto *const unary = op.value().getIf<ops::Unary>();
            const auto *const dropout = op.value().getIf<ops::Dropout>();
            m_isIdentity[id] = (unary != nullptr && unary->kind == ops::UnaryKind::Identity)
                || (dropout != nullptr && !dropout->always);
        }
    }

    /// Parameters and constants.
    void findStored()
    {
        const graph::NodesByName variables = graph::variablesByName(m_graph);
        for (const tensor::Array &array : m_model.model.parameters) {
            const auto found = variables.find(dialect::variableOf(m_graph, array.name));
            if (found == variables.end())
                continue;
            const bool mayBeFed
                = dialect::defaultValueOf(m_graph, found->second) != dialect::DefaultValue::None;
            m_stored[found->second] = mayBeFed ? Stored::Fed : Stored::Fixed;
        }
        for (NodeId id = 0; id < m_graph.nodeCount(); ++id) {
            const auto constant = dialect::of(m_graph).constantOf(m_graph.node(id));
            if (constant.ok() && constant.value())
                m_stored[id] = Stored::Fixed;
        }
    }

    /// The value without the nodes that have no effect.
    Entry behind(Entry value) const
    {
        while (m_isIdentity[value.node])
            value = m_graph.inputs(value.node)[0];
        return value;
    }

    void findReaders()
    {
        for (NodeId id = 0; id < m_graph.nodeCount(); ++id) {
            if (!isOperator(id))
                continue;
            for (const Entry &input : m_graph.inputs(id)) {
                const Entry value = behind(input);
                if (tensor::isHalf(m_model.types.of(value)))
                    m_readers[{value.node, value.output}].push_back(id);
            }
        }
        for (const Entry &head : m_graph.heads()) {
            const Entry value = behind(head);
            m_heads.emplace(value.node, value.output);
        }
    }

    bool isLone(NodeId id) const
    {
        const dialect::NodeRole role = dialect::roleOf(m_graph, id);
        if (!isOperator(id) || m_isWide[id] || dialect::isCast(role)
            || role == dialect::NodeRole::ControlFlow)
            return false;
        return readsWideOnly(id) && isReadByWideOnly(id);
    }

    /// Stored values do not count.
    bool readsWideOnly(NodeId id) const
    {
        bool isAny = false;
        for (const Entry &input : m_graph.inputs(id)) {
            const Entry value = behind(input);
            if (!tensor::isHalf(m_model.types.of(value)) || m_stored[value.node] != Stored::No)
                continue;
            if (!m_isWide[value.node])
                return false;
            isAny = true;
        }
        return isAny;
    }

    bool isReadByWideOnly(NodeId id) const
    {
        bool isAny = false;
        for (auto at = m_readers.lower_bound({id, 0}); at != m_readers.end() && at->first.first == id; ++at) {
            isAny = true;
            if (!std::ranges::all_of(at->second, [this](NodeId reader) { return m_isWide[reader]; }))
                return false;
        }
        const auto head = m_heads.lower_bound({id, 0});
        return isAny && (head == m_heads.end() || head->first != id);
    }

    /// From float32 into the narrow type and straight back.
    bool isCastBack(NodeId from, NodeId reader) const
    {
        const auto isCast = [this](NodeId id) { return dialect::isCast(dialect::roleOf(m_graph, id)); };
        if (m_isWide[reader])
            return isCast(from) && m_model.types.of(m_graph.inputs(from)[0]) == DType::F32;
        return isCast(reader) && m_model.types.at(reader, 0) == DType::F32;
    }

    const infer::TypedModel &m_model;
    const graph::Graph &m_graph;
    std::vector<bool> m_isIdentity; ///< by NodeId, as the next two
    std::vector<bool> m_isWide; ///< computed in float32
    std::vector<Stored> m_stored;
    std::map<Key, std::vector<NodeId>> m_readers; ///< of values in 16 bits
    std::set<Key> m_heads;
};

} // namespace

AddedCasts addedCasts(const KernelTable &table, const std::vector<MissingKernel> &missing,
                      const infer::TypedModel &model)
{
    Around around(missing, model);
    if (table.widensLone)
        around.widenLoneNodes();
    return around.count();
}

} // namespace halftone::runtimes
