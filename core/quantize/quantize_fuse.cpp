#include "core/quantize/quantize_fuse.h"

#include "core/dialect/dialect.h"
#include "core/dialect/quantized_forms.h"
#include "core/graph/traverse.h"
#include "core/rewrite/rebuild.h"

#include <algorithm>
#include <numeric>
#include <optional>

namespace halftone::quantize {
namespace {

using dialect::Int8Kind;
using graph::Entry;
using graph::Graph;
using graph::NodeId;

/// A graph without identities.
struct Clean
{
    Graph graph;
    std::vector<NodeId> origin; ///< by NodeId: in the given graph
    std::vector<rewrite::MergedNode> dropped;
};

/// Nodes that one of `asked` reads, directly or through identities.
std::vector<bool> readByAsked(const dialect::QuantizedForms &forms, const Graph &source,
                              const std::vector<NodeId> &order, const std::vector<bool> &asked)
{
    std::vector<bool> read(source.nodeCount());
    for (auto id = order.rbegin(); id != order.rend(); ++id) {
        if (source.isVariable(*id))
            continue;
        if (!asked[*id] && !(read[*id] && forms.isIdentity(source.node(*id))))
            continue;
        for (const Entry &entry : source.inputs(*id))
            read[entry.node] = true;
    }
    return read;
}

Clean withoutIdentities(const dialect::QuantizedForms &forms, const Graph &source, const FuseLimits &limits)
{
    rewrite::Rebuild rebuild(source);
    Clean clean;
    std::vector<bool> isHead(source.nodeCount());
    for (const Entry &head : source.heads())
        isHead[head.node] = true;
    const std::vector<bool> isRead = limits.asked.empty()
        ? std::vector<bool>()
        : readByAsked(forms, source, rebuild.order(), limits.asked);
    for (const NodeId id : rebuild.order()) {
        const auto inputs = source.inputs(id);
        const bool mayGo
            = (isRead.empty() || isRead[id]) && (limits.apart.empty() || !limits.apart[id]) && !isHead[id];
        if (mayGo && forms.isIdentity(source.node(id)) && inputs.size() == 1
            && !source.isVariable(inputs[0].node)) {
            rebuild.replace(id, {rebuild.now(inputs[0])});
            clean.dropped.push_back({id, inputs[0].node});
        } else {
            rebuild.keep(id);
            clean.origin.push_back(id);
        }
    }
    clean.graph = rebuild.finish();
    return clean;
}

/// A chain of nodes that become one.
struct Chain
{
    std::vector<NodeId> nodes; ///< the convolution or fully connected layer first
    dialect::FusedChain form{};
    std::size_t number = 0; ///< among those of its kind
};

class Fusing
{
public:
    Fusing(const dialect::QuantizedForms &forms, const Clean &clean, const FuseLimits &limits)
        : m_forms(forms)
        , m_clean(clean)
        , m_graph(clean.graph)
        , m_limits(limits)
        , m_readers(m_graph.nodeCount())
        , m_isHead(m_graph.nodeCount())
        , m_chainOf(m_graph.nodeCount(), kNone)
        , m_referenced(graph::referencedOutputs(m_graph))
    {
        for (const NodeId id : graph::postOrder(m_graph)) {
            for (const Entry &entry : m_graph.inputs(id)) {
                auto &readers = m_readers[entry.node];
                if (readers.empty() || readers.back() != id)
                    readers.push_back(id);
            }
        }
        for (const Entry &head : m_graph.heads())
            m_isHead[head.node] = true;
    }

    Result<FusedGraph> run()
    {
        const std::vector<NodeId> order = graph::postOrder(m_graph);
        for (const bool isConv : {true, false}) {
            std::size_t number = 0;
            for (const NodeId id : order) {
                HALFTONE_TRY(std::optional<Chain> chain, isConv ? convChain(id) : fullChain(id));
                if (!chain)
                    continue;
                chain->number = number++;
                for (const NodeId member : chain->nodes)
                    m_chainOf[member] = m_chains.size();
                m_chains.push_back(std::move(*chain));
            }
        }
        m_emitted.resize(m_graph.nodeCount());
        m_result.graph = graph::Graph::like(m_graph);
        for (const NodeId id : order)
            emitAll(id);
        std::vector<Entry> heads;
        for (const Entry &head : m_graph.heads())
            heads.push_back(now(head));
        m_result.graph.setHeads(std::move(heads));
        return std::move(m_result);
    }

private:
    static constexpr std::size_t kNone = ~std::size_t{0};

    /// The one node that reads `id`'s first output and nothing else of it.
    std::optional<NodeId> onlyReader(NodeId id) const
    {
        if (m_isHead[id] || m_readers[id].size() != 1 || m_chainOf[m_readers[id][0]] != kNone)
            return std::nullopt;
        const NodeId reader = m_readers[id][0];
        if (isApart(reader))
            return std::nullopt;
        const auto inputs = m_graph.inputs(reader);
        const auto reads = [&](const Entry &entry) { return entry.node == id; };
        const bool isOne
            = std::ranges::count_if(inputs, reads) == 1 && std::ranges::find_if(inputs, reads)->output == 0;
        return isOne ? std::optional(reader) : std::nullopt;
    }

    bool isAsked(NodeId id) const { return m_limits.asked.empty() || m_limits.asked[m_clean.origin[id]]; }
    bool isApart(NodeId id) const { return !m_limits.apart.empty() && m_limits.apart[m_clean.origin[id]]; }

    /// Will the node's value be there as codes, since it is asked for or ends in a chain that is?
    bool givesCodes(NodeId id) const
    {
        constexpr int kLongestChain = 4;
        for (int k = 0; k < kLongestChain && !m_graph.isVariable(id); ++k) {
            if (isAsked(id))
                return true;
            const Int8Kind kind = kindOf(id);
            if (isApart(id)
                || (kind != Int8Kind::BatchNorm && kind != Int8Kind::Activation && kind != Int8Kind::Sum))
                return false;
            id = m_graph.inputs(id)[0].node;
        }
        return false;
    }

    /// An addition of a value that is real would only bring a quantization of that value.
    bool mayAdd(NodeId add, NodeId before) const
    {
        return isAsked(add) || std::ranges::all_of(m_graph.inputs(add), [&](const Entry &entry) {
                   return entry.node == before || givesCodes(entry.node);
               });
    }

    /// What the node by itself would have an int8 form of.
    Int8Kind kindOf(NodeId id) const
    {
        return m_graph.isVariable(id) ? Int8Kind::None : m_forms.kindOf(m_graph.node(id).op);
    }

    /// Can the convolution's weights take this normalization in? It is along their channels, and nobody asks for its statistics.
    Result<bool> mayFold(NodeId norm) const
    {
        HALFTONE_TRY(const ops::Operator op, dialect::of(m_graph).read(m_graph.node(norm)));
        const auto *const batchNorm = op.getIf<ops::BatchNormalization>();
        return batchNorm != nullptr && batchNorm->axis == 1 && m_referenced[norm] <= 1;
    }

    Result<std::optional<Chain>> convChain(NodeId id) const
    {
        if (!isAsked(id) || kindOf(id) != Int8Kind::Convolution)
            return std::optional<Chain>();
        HALFTONE_TRY(const ops::Operator op, dialect::of(m_graph).read(m_graph.node(id)));
        const auto *conv = op.getIf<ops::Conv>();
        if (!conv || (conv->kernel.size() != 2 && conv->kernel.size() != 3))
            return std::optional<Chain>();
        Chain chain{{id}, {Int8Kind::Convolution}};
        std::optional<NodeId> next = onlyReader(id);
        bool isFolded = false;
        if (next && kindOf(*next) == Int8Kind::BatchNorm && m_graph.inputs(*next)[0].node == id) {
            HALFTONE_TRY(isFolded, mayFold(*next));
        }
        if (isFolded) {
            chain.nodes.push_back(*next);
            chain.form.hasBatchNorm = true;
            next = onlyReader(*next);
        }
        const bool takesSum = !m_limits.withoutSum.contains(m_clean.origin[id]);
        if (next && takesSum && kindOf(*next) == Int8Kind::Sum && mayAdd(*next, chain.nodes.back())) {
            chain.nodes.push_back(*next);
            chain.form.hasSum = true;
            next = onlyReader(*next);
        }
        const bool knowsRange = m_limits.isCalibrated && !m_limits.sums.contains(m_clean.origin[id]);
        HALFTONE_CHECK(takeFunction(next, knowsRange, chain));
        return std::optional(std::move(chain));
    }

    Result<std::optional<Chain>> fullChain(NodeId id) const
    {
        if (!isAsked(id) || kindOf(id) != Int8Kind::FullyConnected)
            return std::optional<Chain>();
        Chain chain{{id}, {Int8Kind::FullyConnected}};
        HALFTONE_CHECK(takeFunction(onlyReader(id), m_limits.isCalibrated, chain));
        return std::optional(std::move(chain));
    }

    /// The activation behind a chain, where it may be fused.
    Result<void> takeFunction(const std::optional<NodeId> &function, bool knowsRange, Chain &chain) const
    {
        if (!function)
            return {};
        HALFTONE_TRY(chain.form.hasActivation,
                     m_forms.mayFuse(m_graph.node(*function), chain.form, knowsRange));
        if (chain.form.hasActivation)
            chain.nodes.push_back(*function);
        return {};
    }

    Entry now(const Entry &entry) const
    {
        const std::size_t chain = m_chainOf[entry.node];
        const NodeId id = m_emitted[chain == kNone ? entry.node : m_chains[chain].nodes.back()];
        return {id, chain == kNone ? entry.output : 0, entry.version};
    }

    /// The node, or the chain that ends in it once all that reaches into it is there.
    void emitAll(NodeId id)
    {
        const std::size_t chain = m_chainOf[id];
        if (chain != kNone) {
            if (m_chains[chain].nodes.back() == id)
                emit(m_chains[chain]);
            return;
        }
        std::vector<Entry> inputs;
        std::vector<rewrite::Reader> reads;
        for (const Entry &entry : m_graph.inputs(id)) {
            reads.push_back({m_clean.origin[id], static_cast<std::uint32_t>(inputs.size())});
            inputs.push_back(now(entry));
        }
        m_emitted[id] = m_result.graph.add(m_graph.sharedNode(id), inputs, dependenciesOf(id));
        m_result.sources.push_back(m_graph.node(id).name);
        m_result.members.emplace_back();
        m_result.origins.push_back({m_clean.origin[id]});
        m_result.reads.push_back(std::move(reads));
    }

    std::vector<NodeId> dependenciesOf(NodeId id) const
    {
        std::vector<NodeId> dependencies;
        for (const NodeId dependency : m_graph.controlDependencies(id)) {
            if (m_chainOf[dependency] == kNone) // a fused node may come later
                dependencies.push_back(m_emitted[dependency]);
        }
        return dependencies;
    }

    void emit(const Chain &chain)
    {
        auto body = std::make_shared<Graph>(dialect::of(m_graph));
        std::vector<Entry> inputs;
        std::vector<std::string> members;
        std::unordered_map<std::string, int> names;
        std::vector<rewrite::Reader> reads;
        std::vector<NodeId> origins;
        const auto variable = [&](const Entry &entry, const rewrite::Reader &reader) {
            const Entry outer = now(entry);
            inputs.push_back(outer);
            reads.push_back(reader);
            std::string name = dialect::of(m_graph).entryName(m_result.graph, outer);
            name += std::to_string(names[name]++);
            return Entry{body->add(dialect::of(m_graph).makeVariable(std::move(name)), {}), 0, 0};
        };
        std::optional<NodeId> before;
        Entry value;
        for (const NodeId id : chain.nodes) {
            std::vector<std::uint32_t> places(m_graph.inputs(id).size());
            std::iota(places.begin(), places.end(), 0U);
            // The value that passes through the chain comes first, also in a sum.
            if (before && m_graph.inputs(id)[0].node != *before)
                std::ranges::reverse(places);
            std::vector<Entry> values;
            for (const std::uint32_t place : places) {
                const Entry &entry = m_graph.inputs(id)[place];
                values.push_back(
                    before && entry.node == *before ? value : variable(entry, {m_clean.origin[id], place}));
            }
            value = {body->add(m_graph.sharedNode(id), values), 0, 0};
            members.push_back(m_graph.node(id).name);
            origins.push_back(m_clean.origin[id]);
            before = id;
        }
        body->setHeads({value});
        m_emitted[chain.nodes.back()]
            = m_result.graph.add(m_forms.makeFused(chain.form, chain.number, std::move(body)), inputs);
        m_result.sources.push_back(members.back());
        m_result.members.push_back(std::move(members));
        m_result.origins.push_back(std::move(origins));
        m_result.reads.push_back(std::move(reads));
    }

    const dialect::QuantizedForms &m_forms;
    const Clean &m_clean;
    const Graph &m_graph;
    const FuseLimits &m_limits;
    std::vector<std::vector<NodeId>> m_readers; ///< by NodeId, each once
    std::vector<bool> m_isHead;
    std::vector<std::size_t> m_chainOf; ///< by NodeId
    std::vector<std::uint32_t> m_referenced; ///< by NodeId: outputs
    std::vector<Chain> m_chains;
    std::vector<NodeId> m_emitted; ///< by NodeId; of a chain: by its last node
    FusedGraph m_result;
};

} // namespace

FusedGraph unfused(const Graph &graph)
{
    rewrite::Rebuild rebuild(graph);
    FusedGraph result;
    for (const NodeId id : rebuild.order()) {
        rebuild.keep(id);
        result.sources.push_back(graph.node(id).name);
        result.origins.push_back({id});
        std::vector<rewrite::Reader> reads;
        for (std::uint32_t i = 0; i < graph.inputs(id).size(); ++i)
            reads.push_back({id, i});
        result.reads.push_back(std::move(reads));
    }
    result.members.resize(result.sources.size());
    result.graph = rebuild.finish();
    return result;
}

Result<FusedGraph> fuseForQuantization(const Graph &graph, const FuseLimits &limits)
{
    const dialect::QuantizedForms &forms = *dialect::of(graph).quantizedForms();
    Clean clean = withoutIdentities(forms, graph, limits);
    HALFTONE_TRY(FusedGraph fused, Fusing(forms, clean, limits).run());
    fused.dropped = std::move(clean.dropped);
    return fused;
}

} // namespace halftone::quantize
