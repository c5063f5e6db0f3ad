#include "core/quantize/quantize_choice.h"

#include "core/base/text.h"
#include "core/dialect/quantized_forms.h"
#include "core/graph/traverse.h"

#include <queue>

#include <algorithm>
#include <unordered_set>

namespace halftone::quantize {
namespace {

using graph::Graph;
using graph::NodeDef;
using graph::NodeId;

std::string_view canonical(const dialect::Dialect &dialect, std::string_view op)
{
    const dialect::OpInfo *info = dialect.findOp(op);
    return info ? std::string_view(info->name) : op;
}

/// The node that a fused one begins with; another node itself.
const NodeDef &mainNode(const dialect::Dialect &dialect, const NodeDef &node)
{
    if (node.subgraphs.size() != 1 || dialect.role(node) != dialect::NodeRole::Fused)
        return node;
    const Graph &body = *node.subgraphs[0];
    for (NodeId id = 0; id < body.nodeCount(); ++id) {
        if (!body.isVariable(id))
            return body.node(id);
    }
    return node;
}

/// May a node become int8, and must it where it may?
struct Ability
{
    enum class Kind
    {
        None,
        Support, ///< it gains nothing by itself
        Must
    } kind
        = Kind::None;
    std::string why; ///< None
};

Ability cannot(std::string why)
{
    return {Ability::Kind::None, std::move(why)};
}

Ability abilityOf(const ops::Operator &op, const QuantizeOptions &options)
{
    using Kind = Ability::Kind;
    if (const auto *conv = op.getIf<ops::Conv>()) {
        if (conv->layout != ops::Layout::ChannelsFirst)
            return cannot("int8 convolutions need channels first");
        if (conv->kernel.size() != 2 && conv->kernel.size() != 3)
            return cannot("int8 convolutions have two or three spatial axes");
        return {Kind::Must, {}};
    }
    if (op.is<ops::FullyConnected>())
        return {Kind::Must, {}};
    if (const auto *pool = op.getIf<ops::Pool>()) {
        if (pool->layout != ops::Layout::ChannelsFirst)
            return cannot("int8 pooling needs channels first");
        const bool isKnown = pool->kind == ops::Pool::Kind::Max || pool->kind == ops::Pool::Kind::Average;
        if (pool->kind == ops::Pool::Kind::Average && pool->countPadding && !pool->global
            && pool->rounding == ops::Pool::Rounding::Full)
            return cannot("this int8 average pooling counts values beyond the padding");
        return isKnown ? Ability{Kind::Support, {}}
                       : cannot("int8 pooling supports only maximum and average");
    }
    if (const auto *activation = op.getIf<ops::Activation>())
        return activation->kind == ops::UnaryKind::Relu
            ? Ability{Kind::Support, {}}
            : cannot("ReLU is the only activation with an int8 form");
    if (const auto *concat = op.getIf<ops::Concat>())
        return concat->axis > 0 && !concat->rnnParameters
            ? Ability{Kind::Support, {}}
            : cannot("int8 concatenation needs axis 1 or higher");
    if (const auto *norm = op.getIf<ops::BatchNormalization>()) {
        if (!options.isCalibrated)
            return cannot("int8 BatchNorm needs calibrated ranges");
        return norm->axis == 1 ? Ability{Kind::Support, {}} : cannot("int8 BatchNorm needs channels first");
    }
    if (const auto *embedding = op.getIf<ops::Embedding>())
        return embedding->dtype == tensor::DType::F32 ? Ability{Kind::Support, {}}
                                                      : cannot("the table is not float32");
    return {Kind::Support, {}};
}

class NodeChooser
{
public:
    NodeChooser(const FusedGraph &fused, const QuantizeOptions &options, const Deviations &deviations)
        : m_fused(fused)
        , m_graph(fused.graph)
        , m_dialect(dialect::of(fused.graph))
        , m_options(options)
        , m_deviations(deviations)
        , m_abilities(fused.graph.nodeCount())
        , m_order(graph::postOrder(fused.graph))
        , m_referenced(graph::referencedOutputs(fused.graph))
    {
    }

    Result<QuantizedChoice> run()
    {
        for (const NodeId id : m_order) {
            if (m_graph.isVariable(id))
                continue;
            HALFTONE_TRY(m_abilities[id], abilityAt(id));
        }
        if (!m_options.isFull)
            keepBetween();
        QuantizedChoice choice;
        choice.isQuantized.resize(m_graph.nodeCount());
        for (const NodeId id : m_order) {
            choice.isQuantized[id] = m_abilities[id].kind != Ability::Kind::None;
            if (!m_graph.isVariable(id) && !choice.isQuantized[id])
                choice.skipped.push_back({m_graph.node(id).name,
                                          std::string(mainOperator(m_dialect, m_graph.node(id))),
                                          m_abilities[id].why, m_fused.origins[id].front()});
        }
        return choice;
    }

private:
    Result<Ability> abilityAt(NodeId id) const
    {
        const NodeDef &node = m_graph.node(id);
        if (!m_options.asked.empty() && !m_options.asked[m_fused.origins[id].front()])
            return cannot("not requested");
        if (!m_options.refusals.empty() && !m_options.refusals[m_fused.origins[id].front()].empty())
            return cannot(m_options.refusals[m_fused.origins[id].front()]);
        if (const auto found = m_deviations.real.find(m_fused.origins[id].back());
            found != m_deviations.real.end() && m_fused.members[id].empty())
            return cannot(found->second);
        const auto &names = m_options.excludedNames;
        const auto isNamed
            = [&](const std::string &name) { return std::ranges::find(names, name) != names.end(); };
        if (isNamed(node.name))
            return cannot("excluded by name");
        for (const std::string &member : m_fused.members[id]) {
            if (isNamed(member))
                return cannot("contains " + member + ", which is excluded by name");
        }
        const auto holds = [&](const std::vector<std::string> &list) {
            return std::ranges::any_of(list, [&](const std::string &op) {
                const std::string_view name = canonical(m_dialect, op);
                return name == canonical(m_dialect, node.op) || name == mainOperator(m_dialect, node);
            });
        };
        if (holds(m_options.excludedOps))
            return cannot("excluded operator");
        const NodeDef &inner = m_fused.members[id].empty() ? node : mainNode(m_dialect, node);
        HALFTONE_TRY(const ops::Operator op, m_dialect.read(inner));
        if (op.is<ops::BatchNormalization>() && m_referenced[id] > 1) // ends of a range stand in their place
            return cannot("its mean and variance are read");
        const bool hasForm = m_dialect.quantizedForms()->kindOf(inner.op) != dialect::Int8Kind::None;
        Ability ability = hasForm ? abilityOf(op, m_options) : cannot("no int8 form");
        if (ability.kind != Ability::Kind::None && !m_options.quantizedOps.empty()
            && !holds(m_options.quantizedOps))
            return cannot("not in the list of int8 operators");
        return ability;
    }

    /// Of those that gain nothing by themselves only those stay that a path of int8 nodes joins to one that gains, both
    /// up and down.
    void keepBetween()
    {
        std::vector<std::vector<NodeId>> readers(m_graph.nodeCount());
        for (const NodeId id : m_order) {
            for (const graph::Entry &entry : m_graph.inputs(id))
                readers[entry.node].push_back(id);
        }
        const auto spread = [&](auto &&neighbours) {
            std::vector<bool> reached(m_graph.nodeCount());
            std::queue<NodeId> open;
            for (const NodeId id : m_order) {
                if (m_abilities[id].kind == Ability::Kind::Must)
                    open.push(id);
            }
            while (!open.empty()) {
                const NodeId id = open.front();
                open.pop();
                for (const NodeId next : neighbours(id)) {
                    if (m_abilities[next].kind == Ability::Kind::Support && !reached[next]) {
                        reached[next] = true;
                        open.push(next);
                    }
                }
            }
            return reached;
        };
        const std::vector<bool> before = spread([&](NodeId id) {
            std::vector<NodeId> inputs;
            for (const graph::Entry &entry : m_graph.inputs(id))
                inputs.push_back(entry.node);
            return inputs;
        });
        const std::vector<bool> after = spread([&](NodeId id) { return readers[id]; });
        for (const NodeId id : m_order) {
            if (m_abilities[id].kind == Ability::Kind::Support && !(before[id] && after[id]))
                m_abilities[id] = cannot("not between two int8 convolutions or fully connected layers");
        }
    }

    const FusedGraph &m_fused;
    const Graph &m_graph;
    const dialect::Dialect &m_dialect;
    const QuantizeOptions &m_options;
    const Deviations &m_deviations;
    std::vector<Ability> m_abilities; ///< by NodeId
    std::vector<NodeId> m_order;
    std::vector<std::uint32_t> m_referenced; ///< by NodeId: outputs
};

} // namespace

std::string_view mainOperator(const dialect::Dialect &dialect, const NodeDef &node)
{
    return canonical(dialect, mainNode(dialect, node).op);
}

Result<void> checkNames(const Graph &fused, const Graph &original, const QuantizeOptions &options)
{
    std::unordered_set<std::string_view> known;
    for (const Graph *graph : {&original, &fused}) {
        for (NodeId id = 0; id < graph->nodeCount(); ++id) {
            if (!graph->isVariable(id))
                known.insert(graph->node(id).name);
        }
    }
    const std::vector<std::string_view> names(known.begin(), known.end());
    for (const std::string &name : options.excludedNames) {
        if (!known.contains(name))
            return badCall(Field::Exclude,
                           "no node is named \"" + name + '"' + didYouMean(nearestNames(name, names)));
    }
    std::vector<std::string_view> ops;
    const dialect::Dialect &dialect = dialect::of(original);
    for (const dialect::OpInfo *const op : dialect.operators())
        ops.push_back(op->name);
    for (const auto &[field, list] : {std::pair(Field::ExcludeOp, &options.excludedOps),
                                      std::pair(Field::Int8Op, &options.quantizedOps)}) {
        for (const std::string &op : *list) {
            if (!dialect.findOp(op))
                return badCall(field, '"' + op + "\" is not an operator" + didYouMean(nearestNames(op, ops)));
        }
    }
    return {};
}

Result<QuantizedChoice> chooseQuantized(const FusedGraph &fused, const Graph &original,
                                        const QuantizeOptions &options, const Deviations &deviations)
{
    HALFTONE_CHECK(checkNames(fused.graph, original, options));
    return NodeChooser(fused, options, deviations).run();
}

} // namespace halftone::quantize
