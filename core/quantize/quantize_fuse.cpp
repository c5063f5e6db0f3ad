#include "core/passes/quantize_fuse.h"

#include "core/dialect/mxnet/entry_name.h"
#include "core/dialect/mxnet/op_info.h"
#include "core/dialect/mxnet/read_operator.h"
#include "core/graph/traverse.h"
#include "core/passes/rebuild.h"

#include <algorithm>
#include <numeric>
#include <optional>

namespace halftone::passes {
namespace {

using graph::Entry;
using graph::Graph;
using graph::NodeDef;
using graph::NodeId;
namespace mx = dialect::mxnet;

std::string_view canonical(const NodeDef &node)
{
    const mx::OpInfo *op = mx::findOp(node.op);
    return op ? std::string_view(op->name) : std::string_view(node.op);
}

/// Does inference pass the input on?
bool isIdentity(const NodeDef &node)
{
    const std::string_view op = canonical(node);
    if (op == "_copy")
        return true;
    const mx::OpInfo *info = mx::findOp(node.op);
    return op == "Dropout" && mx::attributeValue(*info, node.attributes, "mode") == "training";
}

/// A graph without identities.
struct Clean
{
    Graph graph;
    std::vector<NodeId> origin; ///< by NodeId: in the given graph
    std::vector<MergedNode> dropped;
};

/// Nodes that one of `asked` reads, directly or through identities.
std::vector<bool> readByAsked(const Graph &source, const std::vector<NodeId> &order,
                              const std::vector<bool> &asked)
{
    std::vector<bool> read(source.nodeCount());
    for (auto id = order.rbegin(); id != order.rend(); ++id) {
        if (source.isVariable(*id))
            continue;
        if (!asked[*id] && !(read[*id] && isIdentity(source.node(*id))))
            continue;
        for (const Entry &entry : source.inputs(*id))
            read[entry.node] = true;
    }
    return read;
}

Clean withoutIdentities(const Graph &source, const FuseLimits &limits)
{
    Rebuild rebuild(source);
    Clean clean;
    std::vector<bool> isHead(source.nodeCount());
    for (const Entry &head : source.heads())
        isHead[head.node] = true;
    const std::vector<bool> isRead
        = limits.asked.empty() ? std::vector<bool>() : readByAsked(source, rebuild.order(), limits.asked);
    for (const NodeId id : rebuild.order()) {
        const auto inputs = source.inputs(id);
        const bool mayGo
            = (isRead.empty() || isRead[id]) && (limits.apart.empty() || !limits.apart[id]) && !isHead[id];
        if (mayGo && isIdentity(source.node(id)) && inputs.size() == 1
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
    std::string name;
    bool isConv = false;
    bool hasBatchNorm = false;
    bool hasSum = false;
    bool hasActivation = false;
};

class Fusing
{
public:
    Fusing(const Clean &clean, const FuseLimits &limits)
        : m_clean(clean)
        , m_graph(clean.graph)
        , m_limits(limits)
        , m_readers(m_graph.nodeCount())
        , m_isHead(m_graph.nodeCount())
        , m_chainOf(m_graph.nodeCount(), kNone)
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
                chain->name += std::to_string(number++);
                for (const NodeId member : chain->nodes)
                    m_chainOf[member] = m_chains.size();
                m_chains.push_back(std::move(*chain));
            }
        }
        m_emitted.resize(m_graph.nodeCount());
        m_result.graph.setMetadata(m_graph.metadata());
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
            const std::string_view op = canonical(m_graph.node(id));
            if (isApart(id) || (op != "BatchNorm" && op != "Activation" && op != "elemwise_add"))
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

    Result<std::optional<Chain>> convChain(NodeId id) const
    {
        const NodeDef &node = m_graph.node(id);
        if (m_graph.isVariable(id) || !isAsked(id) || canonical(node) != "Convolution")
            return std::optional<Chain>();
        HALFTONE_TRY(const ops::Operator op, mx::readOperator(node));
        const auto *conv = op.getIf<ops::Conv>();
        if (!conv || (conv->kernel.size() != 2 && conv->kernel.size() != 3))
            return std::optional<Chain>();
        Chain chain{{id}, "sg_mkldnn_conv_", true};
        std::optional<NodeId> next = onlyReader(id);
        if (next && canonical(m_graph.node(*next)) == "BatchNorm" && m_graph.inputs(*next)[0].node == id) {
            take(chain, *next, "bn_");
            chain.hasBatchNorm = true;
            next = onlyReader(*next);
        }
        if (next && canonical(m_graph.node(*next)) == "elemwise_add" && mayAdd(*next, chain.nodes.back())) {
            take(chain, *next, "add_");
            chain.hasSum = true;
            next = onlyReader(*next);
        }
        if (next) {
            HALFTONE_TRY(const ops::Operator activation, mx::readOperator(m_graph.node(*next)));
            const auto *leaky = activation.getIf<ops::LeakyRelu>();
            const auto *clip = activation.getIf<ops::Clip>();
            const bool isLeaky = leaky
                && (leaky->kind == ops::LeakyRelu::Kind::Leaky || leaky->kind == ops::LeakyRelu::Kind::Gelu);
            if (isRelu(activation) || isLeaky || (clip && clip->low == 0 && !chain.hasSum)) {
                take(chain, *next, "act_");
                chain.hasActivation = true;
            }
        }
        return std::optional(std::move(chain));
    }

    Result<std::optional<Chain>> fullChain(NodeId id) const
    {
        if (m_graph.isVariable(id) || !isAsked(id) || canonical(m_graph.node(id)) != "FullyConnected")
            return std::optional<Chain>();
        Chain chain{{id}, "sg_mkldnn_fully_connected_", false};
        if (const std::optional<NodeId> next = onlyReader(id)) {
            HALFTONE_TRY(const ops::Operator op, mx::readOperator(m_graph.node(*next)));
            const auto *leaky = op.getIf<ops::LeakyRelu>();
            const auto *clip = op.getIf<ops::Clip>();
            const bool isLeaky = leaky
                && (leaky->kind == ops::LeakyRelu::Kind::Leaky || leaky->kind == ops::LeakyRelu::Kind::Elu
                    || leaky->kind == ops::LeakyRelu::Kind::Gelu);
            if (isRelu(op) || isLeaky || (clip && clip->low == 0)
                || canonical(m_graph.node(*next)) == "abs") {
                take(chain, *next, "eltwise_");
                chain.hasActivation = true;
            }
        }
        return std::optional(std::move(chain));
    }

    static bool isRelu(const ops::Operator &op)
    {
        const auto *activation = op.getIf<ops::Activation>();
        return activation && activation->kind == ops::UnaryKind::Relu;
    }

    static void take(Chain &chain, NodeId node, std::string_view word)
    {
        chain.nodes.push_back(node);
        chain.name += word;
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
        std::vector<Reader> reads;
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
        auto body = std::make_shared<Graph>();
        std::vector<Entry> inputs;
        std::vector<std::string> members;
        std::unordered_map<std::string, int> names;
        std::vector<Reader> reads;
        std::vector<NodeId> origins;
        const auto variable = [&](const Entry &entry, const Reader &reader) {
            const Entry outer = now(entry);
            inputs.push_back(outer);
            reads.push_back(reader);
            auto def = std::make_shared<NodeDef>();
            def->op = graph::kVariableOp;
            def->name = mx::entryName(m_result.graph, outer);
            def->name += std::to_string(names[def->name]++);
            return Entry{body->add(std::move(def), {}), 0, 0};
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
        auto def = std::make_shared<NodeDef>();
        def->op = chain.isConv ? "_sg_mkldnn_conv" : "_sg_mkldnn_fully_connected";
        def->name = chain.name;
        setFlags(def->attributes, chain);
        def->subgraphs.push_back(std::move(body));
        m_emitted[chain.nodes.back()] = m_result.graph.add(std::move(def), inputs);
        m_result.sources.push_back(members.back());
        m_result.members.push_back(std::move(members));
        m_result.origins.push_back(std::move(origins));
        m_result.reads.push_back(std::move(reads));
    }

    static void setFlags(graph::Attributes &attributes, const Chain &chain)
    {
        if (chain.hasBatchNorm)
            attributes.set("with_bn", "true");
        if (chain.hasSum)
            attributes.set("with_sum", "true");
        if (chain.hasActivation && chain.isConv)
            attributes.set(chain.hasSum ? "with_postsum_act" : "with_act", "true");
        if (chain.hasActivation && !chain.isConv)
            attributes.set("with_eltwise", "True");
    }

    const Clean &m_clean;
    const Graph &m_graph;
    const FuseLimits &m_limits;
    std::vector<std::vector<NodeId>> m_readers; ///< by NodeId, each once
    std::vector<bool> m_isHead;
    std::vector<std::size_t> m_chainOf; ///< by NodeId
    std::vector<Chain> m_chains;
    std::vector<NodeId> m_emitted; ///< by NodeId; of a chain: by its last node
    FusedGraph m_result;
};

} // namespace

FusedGraph unfused(const Graph &graph)
{
    Rebuild rebuild(graph);
    FusedGraph result;
    for (const NodeId id : rebuild.order()) {
        rebuild.keep(id);
        result.sources.push_back(graph.node(id).name);
        result.origins.push_back({id});
        std::vector<Reader> reads;
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
    Clean clean = withoutIdentities(graph, limits);
    HALFTONE_TRY(FusedGraph fused, Fusing(clean, limits).run());
    fused.dropped = std::move(clean.dropped);
    return fused;
}

} // namespace halftone::passes
