#include "core/rewrite/strip_casts.h"

#include "core/dialect/dialect.h"
#include "core/infer/infer_types.h"
#include "core/infer/stored_types.h"
#include "core/rewrite/rebuild.h"
#include "core/tensor/convert.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>

namespace halftone::rewrite {
namespace {

using graph::Entry;
using graph::NodeId;
using tensor::DType;

/// A variable that says it is stored in 16 bit says float32 instead.
graph::NodeDefPtr widened(const dialect::Dialect &dialect, const graph::NodeDefPtr &variable)
{
    const auto type = dialect.declaredType(*variable);
    return type.ok() && tensor::isHalf(type.value()) ? dialect.withDeclaredType(variable, DType::F32)
                                                     : variable;
}

Result<std::size_t> widenParameters(std::vector<tensor::Array> &arrays, const Progress &progress)
{
    std::size_t changed = 0;
    for (tensor::Array &array : arrays) {
        if (!tensor::isHalf(array.values.dtype()))
            continue;
        HALFTONE_CHECK(progress.checkStop());
        HALFTONE_TRY(array.values, tensor::castTo(array.values, DType::F32));
        ++changed;
    }
    return changed;
}

std::unordered_set<NodeId> headsOf(const graph::Graph &graph)
{
    std::unordered_set<NodeId> heads;
    for (const Entry &head : graph.heads())
        heads.insert(head.node);
    return heads;
}

/// The type that a node casts to, whoever wrote it; Unknown for one that casts nothing.
DType castTarget(const graph::Graph &graph, NodeId id)
{
    if (graph.isVariable(id) || graph.inputs(id).size() != 1)
        return DType::Unknown;
    const auto op = dialect::of(graph).read(graph.node(id));
    const auto *const cast = op.ok() ? op.value().getIf<ops::Cast>() : nullptr;
    return cast ? cast->dtype : DType::Unknown;
}

/// A body without the casts of mixed precision in it that it does not give.
std::shared_ptr<const graph::Graph> withoutCasts(const std::shared_ptr<const graph::Graph> &body,
                                                 std::size_t &removed)
{
    const std::unordered_set<NodeId> heads = headsOf(*body);
    Rebuild rebuild(*body);
    const std::size_t before = removed;
    for (const NodeId id : rebuild.order()) {
        if (!dialect::isCast(dialect::roleOf(*body, id)) || heads.contains(id)) {
            rebuild.keep(id);
            continue;
        }
        rebuild.replace(id, rebuild.inputsOf(id));
        ++removed;
    }
    return removed == before ? body : std::make_shared<const graph::Graph>(rebuild.finish());
}

/// Where a format tells every type itself: all that says 16 bit says float32, in bodies too, but for casts that are outputs.
class Widening
{
public:
    /// isOfReals  by NodeId: casts that will go
    Widening(const graph::Graph &source, const std::vector<bool> &isOfReals)
        : m_source(source)
        , m_isOfReals(isOfReals)
    {
        for (const NodeId id : headsOf(source))
            if (castTarget(source, id) != DType::Unknown)
                m_kept.insert(&source.node(id));
    }

    Result<graph::Graph> run()
    {
        graph::Graph graph = graph::Graph::inDialect(
            m_source, dialect::of(m_source),
            [this](const graph::Graph &from, NodeId id) { return nodeOf(from, id); });
        if (m_error)
            return *std::move(m_error);
        return graph;
    }
    std::size_t removed() const { return m_removed; } ///< casts in bodies
    std::size_t changed() const { return m_changed; } ///< nodes that say float32 now

private:
    graph::NodeDefPtr nodeOf(const graph::Graph &graph, NodeId id)
    {
        const graph::NodeDefPtr &node = graph.sharedNode(id);
        if (graph.isVariable(id))
            return widened(dialect::of(graph), node);
        if (!node->subgraphs.empty()) {
            auto def = std::make_shared<graph::NodeDef>(*node);
            const std::size_t before = m_removed;
            for (auto &body : def->subgraphs)
                body = withoutCasts(body, m_removed);
            return m_removed == before ? node : std::move(def);
        }
        const tensor::Tensor *const held = node->attributes.size() == 1 ? node->tensorOf("value") : nullptr;
        if (held != nullptr && tensor::isHalf(held->dtype()))
            return withValues(graph, node, *held);
        if (!tensor::isHalf(castTarget(graph, id)) || m_kept.contains(node.get()))
            return node;
        auto def = std::make_shared<graph::NodeDef>(*node);
        def->attributes = dialect::of(graph).makeCast(node->name, DType::F32)->attributes;
        m_changed += &graph == &m_source && m_isOfReals[id] ? 0 : 1;
        return def;
    }

    graph::NodeDefPtr withValues(const graph::Graph &graph, const graph::NodeDefPtr &node,
                                 const tensor::Tensor &held)
    {
        auto values = tensor::castTo(held, DType::F32);
        if (!values.ok()) {
            m_error = std::move(values).error();
            return node;
        }
        ++m_changed;
        return dialect::of(graph).withConstant(node, std::move(values).value());
    }

    const graph::Graph &m_source;
    const std::vector<bool> &m_isOfReals;
    std::unordered_set<const graph::NodeDef *> m_kept;
    std::size_t m_removed = 0;
    std::size_t m_changed = 0;
    std::optional<Error> m_error;
};

/// The types of the graph as it says them: its float32 originals may have taken the place of parameters in 16 bit already.
Result<infer::TypeMap> saidTypes(const graph::Model &model)
{
    std::unordered_map<std::string_view, DType> stored;
    for (const tensor::Array &array : model.parameters)
        stored.insert_or_assign(dialect::variableOf(model.graph, array.name), array.values.dtype());
    std::vector<DType> types(model.graph.nodeCount(), DType::Unknown);
    for (NodeId id = 0; id < model.graph.nodeCount(); ++id) {
        if (!model.graph.isVariable(id))
            continue;
        HALFTONE_TRY(types[id], dialect::of(model.graph).declaredType(model.graph.node(id)));
        if (const auto held = stored.find(model.graph.node(id).name);
            types[id] == DType::Unknown && held != stored.end())
            types[id] = held->second;
    }
    return infer::inferTypes(model.graph, types);
}

/// By NodeId: a cast, whoever wrote it, that only changes the precision of reals.
Result<std::vector<bool>> castsOfReals(const graph::Model &model)
{
    HALFTONE_TRY(const infer::TypeMap types, saidTypes(model));
    const auto isReal = [](DType type) { return type == DType::F32 || tensor::isHalf(type); };
    std::vector<bool> found(model.graph.nodeCount());
    for (NodeId id = 0; id < model.graph.nodeCount(); ++id)
        found[id] = isReal(castTarget(model.graph, id)) && isReal(types.of(model.graph.inputs(id)[0]));
    return found;
}

/// fails: Unsupported with the first node that gives 16 bit by itself
Result<void> checkWide(const graph::Model &model)
{
    const auto refused = [&](const std::string &node, const std::string &why) {
        return unsupported(node, "cannot be widened to float32: " + why);
    };
    const auto types = infer::storedTypes(model);
    if (!types.ok())
        return refused(types.error().where, types.error().message());
    const std::unordered_set<NodeId> heads = headsOf(model.graph);
    for (NodeId id = 0; id < model.graph.nodeCount(); ++id) {
        const auto outputs = types.value().outputs(id);
        if (std::ranges::any_of(outputs, tensor::isHalf)
            && !(heads.contains(id) && castTarget(model.graph, id) != DType::Unknown))
            return refused(model.graph.node(id).name,
                           model.graph.node(id).op + " has a 16-bit type as an attribute");
    }
    return {};
}

} // namespace

Result<Rewritten> stripCasts(const graph::Model &model, const Progress &progress)
{
    const bool isTyped = !dialect::of(model.graph).infersParameterTypes();
    std::vector<bool> isOfReals(model.graph.nodeCount());
    graph::Graph wide;
    std::size_t changedNodes = 0;
    if (isTyped) {
        HALFTONE_TRY(isOfReals, castsOfReals(model));
        Widening widening(model.graph, isOfReals);
        HALFTONE_TRY(wide, widening.run());
        changedNodes = widening.removed() + widening.changed();
    }
    const graph::Graph &source = isTyped ? wide : model.graph;
    const std::unordered_set<NodeId> heads = headsOf(source);
    Rebuild rebuild(source);
    Rewritten result;
    std::size_t kept = 0;
    // What a cast reads, by source node: for readers of a cast that stays because it is also a head.
    std::vector<std::vector<Entry>> behind(source.nodeCount());
    const auto seenThrough = [&](const Entry &entry) {
        return behind[entry.node].empty() ? rebuild.now(entry) : behind[entry.node][entry.output];
    };
    for (const NodeId id : rebuild.order()) {
        std::vector<Entry> inputs;
        for (const Entry &entry : source.inputs(id))
            inputs.push_back(seenThrough(entry));
        if (!dialect::isCast(dialect::roleOf(source, id)) && !isOfReals[id]) {
            const NodeId copy = rebuild.keep(id, std::move(inputs));
            if (source.isVariable(id))
                rebuild.graph().redefine(copy, widened(dialect::of(source), source.sharedNode(id)));
            continue;
        }
        behind[id] = inputs;
        if (heads.contains(id)) {
            rebuild.keep(id, std::move(inputs));
            ++kept;
        } else {
            rebuild.replace(id, std::move(inputs));
            ++result.changed;
        }
    }
    if (kept > 0)
        result.notes.push_back(std::to_string(kept)
                               + (kept == 1 ? " cast is an output and stays" : " casts are outputs and stay")
                               + ": the outputs keep their types and names");
    result.model = {rebuild.finish(), model.parameters, model.hasParameters};
    HALFTONE_TRY(const std::size_t widened, widenParameters(result.model.parameters, progress));
    if (widened > 0)
        result.notes.push_back(
            std::to_string(widened)
            + " parameters were widened from 16 bit to float32; their values stay rounded");
    result.changed += widened + changedNodes;
    if (isTyped)
        HALFTONE_CHECK(checkWide(result.model));
    return result;
}

} // namespace halftone::rewrite
