#include "core/rewrite/hold_values.h"

#include "core/dialect/dialect.h"
#include "core/rewrite/rebuild.h"
#include "core/rewrite/unique_names.h"

#include <memory>
#include <set>
#include <string>
#include <unordered_set>
#include <vector>

namespace halftone::rewrite {

using graph::Entry;
using graph::NodeId;
using tensor::Tensor;

class HeldValues::Builder
{
public:
    Builder(const HeldValues &values, bool isBody)
        : m_values(values)
        , m_source(values.m_source)
        , m_dialect(dialect::of(m_source))
        , m_isBody(isBody)
        , m_rebuild(m_source)
    {
        for (const Entry &head : m_source.heads())
            m_heads.insert({head.node, head.output});
        for (NodeId id = 0; id < m_source.nodeCount(); ++id) {
            m_names.reserve(m_source.node(id).name);
            for (const std::string &output : m_source.node(id).outputs)
                m_names.reserve(output);
        }
    }

    graph::Graph run()
    {
        const std::vector<bool> isNeeded = needed();
        for (const NodeId id : m_rebuild.order()) {
            if (!isNeeded[id])
                continue;
            std::vector<Entry> inputs;
            for (std::size_t k = 0; k < m_source.inputs(id).size(); ++k)
                inputs.push_back(read(id, k));
            const NodeId kept = m_rebuild.keep(id, std::move(inputs));
            if (const auto other = m_values.m_redefined.find(id); other != m_values.m_redefined.end())
                m_rebuild.graph().redefine(kept, other->second);
            ++m_kept;
        }
        std::vector<Entry> heads;
        for (const Entry &head : m_source.heads())
            heads.push_back(now(head));
        m_rebuild.graph().setHeads(std::move(heads));
        return std::move(m_rebuild.graph());
    }

    std::vector<tensor::Array> takeArrays() { return std::move(m_arrays); }
    const std::vector<NodeId> &order() const { return m_rebuild.order(); }
    std::size_t kept() const { return m_kept; } ///< nodes of the source

private:
    std::vector<bool> needed() const
    {
        std::vector<bool> found(m_source.nodeCount());
        std::vector<NodeId> open;
        const auto need = [&](NodeId id) {
            if (found[id])
                return;
            found[id] = true;
            open.push_back(id);
        };
        for (const Entry &head : m_source.heads())
            if (m_values.of(head) == nullptr)
                need(head.node);
        while (!open.empty()) {
            const NodeId id = open.back();
            open.pop_back();
            const auto inputs = m_source.inputs(id);
            for (std::size_t k = 0; k < inputs.size(); ++k)
                if (!m_values.m_fed.contains({id, k}) && m_values.of(inputs[k]) == nullptr)
                    need(inputs[k].node);
            for (const NodeId dependency : m_source.controlDependencies(id))
                need(dependency);
        }
        return found;
    }

    Entry read(NodeId id, std::size_t input)
    {
        const auto fed = m_values.m_fed.find({id, input});
        if (fed == m_values.m_fed.end())
            return now(m_source.inputs(id)[input]);
        const dialect::OpInfo *const info = m_dialect.findOp(m_source.node(id).op);
        const std::string slot = info ? info->inputName(m_source.node(id).attributes, input) : "input";
        return place(m_names.take(m_source.node(id).name + '_' + slot), {}, fed->second, m_isBody);
    }

    Entry now(const Entry &entry)
    {
        const Tensor *const values = m_values.of(entry);
        if (values == nullptr)
            return m_rebuild.now(entry);
        const Output output{entry.node, entry.output};
        const auto [at, isNew] = m_placed.try_emplace(output);
        if (isNew) {
            const std::string number = entry.output == 0 ? "" : '_' + std::to_string(entry.output);
            at->second = place(m_dialect.entryName(m_source, entry), m_source.node(entry.node).name + number,
                               *values, m_isBody || m_heads.contains(output));
        }
        return at->second;
    }

    /// node  what a node that holds the values is called; empty: as they are
    Entry place(const std::string &name, const std::string &node, const Tensor &values, bool isNode)
    {
        graph::NodeDefPtr def = isNode ? m_dialect.makeConstant(name, values) : nullptr;
        if (def != nullptr && !node.empty()) {
            auto named = std::make_shared<graph::NodeDef>(*def);
            named->name = node;
            def = std::move(named);
        }
        if (def == nullptr) {
            def = m_dialect.withDeclaredType(m_dialect.makeVariable(name), values.dtype());
            tensor::Array array;
            array.name = m_dialect.arrayName(name, false);
            array.shape = values.shape();
            array.values = values;
            m_arrays.push_back(std::move(array));
        }
        return {m_rebuild.graph().add(std::move(def), {}), 0, 0};
    }

    const HeldValues &m_values;
    const graph::Graph &m_source;
    const dialect::Dialect &m_dialect;
    bool m_isBody;
    Rebuild m_rebuild;
    std::map<Output, Entry> m_placed;
    std::set<Output> m_heads;
    std::vector<tensor::Array> m_arrays;
    UniqueNames m_names;
    std::size_t m_kept = 0;
};

void HeldValues::hold(const Entry &entry, Tensor values)
{
    m_held.insert_or_assign({entry.node, entry.output}, std::move(values));
}

const Tensor *HeldValues::of(const Entry &entry) const
{
    const auto held = m_held.find({entry.node, entry.output});
    return held == m_held.end() ? nullptr : &held->second;
}

void HeldValues::feed(NodeId reader, std::size_t input, Tensor values)
{
    m_fed.insert_or_assign({reader, input}, std::move(values));
}

void HeldValues::redefine(NodeId id, graph::NodeDefPtr def)
{
    m_redefined.insert_or_assign(id, std::move(def));
}

Rewritten HeldValues::build(const graph::Model &model) const
{
    if (isEmpty())
        return {model, 0, {}};
    Builder builder(*this, false);
    Rewritten built{{builder.run(), {}, model.hasParameters}, 0, {}};
    std::unordered_set<std::string_view> before;
    for (const NodeId id : builder.order()) {
        if (m_source.isVariable(id))
            before.insert(m_source.node(id).name);
    }
    std::unordered_set<std::string_view> now;
    for (NodeId id = 0; id < built.model.graph.nodeCount(); ++id)
        if (built.model.graph.isVariable(id))
            now.insert(built.model.graph.node(id).name);
    built.changed = builder.order().size() - builder.kept() + m_redefined.size() + m_fed.size();
    for (const tensor::Array &array : model.parameters) {
        const std::string_view name = dialect::variableOf(model.graph, array.name);
        if (now.contains(name) || !before.contains(name))
            built.model.parameters.push_back(array);
    }
    for (tensor::Array &array : builder.takeArrays())
        built.model.parameters.push_back(std::move(array));
    return built;
}

graph::Graph HeldValues::buildBody() const
{
    return Builder(*this, true).run();
}

} // namespace halftone::rewrite
