#include "core/mixed/hold/position_paths.h"

#include "core/dialect/dialect.h"
#include "core/infer/body_binding.h"
#include "core/infer/type_walk.h"
#include "core/mixed/hold/position_step.h"
#include "core/ops/numerics.h"
#include "core/rewrite/conversion.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

namespace halftone::mixed {
namespace {

using graph::Entry;
using graph::NodeId;
using tensor::DType;

constexpr std::uint32_t kNoEnd = 0xffffffffU;
constexpr int kMostRounds = 4; ///< over a loop, until what it carries is settled

bool isNumber(DType type)
{
    return type != DType::Unknown && type != DType::Bool;
}

/// Of what is one of two values, according to a branch or to the steps of a loop.
Origin either(Origin a, Origin b)
{
    return a == Origin::Other || b == Origin::Other ? Origin::Other : std::max(a, b);
}

/// May it give something else than Other, where all the floats that it reads are that? The same for all nodes of an operator.
bool mayMake(const ops::Operator &op)
{
    const Step step = stepOf(op);
    return step == Step::Makes || step == Step::Constant || step == Step::Truths || op.is<ops::Cast>();
}

std::vector<Origin> originsOfBody(const infer::BoundBody &bound, const std::vector<Origin> &inputs)
{
    std::vector<Origin> origins(bound.graph->nodeCount(), Origin::Other);
    for (const infer::BoundBody::Tie &tie : bound.ties)
        origins[tie.variable] = inputs[tie.input];
    return origins;
}

/// One graph: origins with the flow, then what must be held against it. Bodies of its nodes are searches of their own.
class PositionSearch
{
public:
    PositionSearch(const graph::Graph &graph, Purpose purpose, int depth, infer::TypeMap types)
        : m_graph(graph)
        , m_purpose(purpose)
        , m_depth(depth)
        , m_types(std::move(types))
    {
        std::uint32_t outputs = 0;
        m_firstOutput.reserve(graph.nodeCount());
        for (NodeId id = 0; id < graph.nodeCount(); ++id) {
            m_firstOutput.push_back(outputs);
            outputs += static_cast<std::uint32_t>(m_types.outputs(id).size());
        }
        m_origin.assign(outputs, Origin::Other);
        m_neededBy.assign(outputs, kNoEnd);
        m_heldFor.assign(graph.nodeCount(), kNoEnd);
        m_mayMake.resize(graph.operatorNames().size());
        m_waveOf.assign(outputs, kNoEnd);
        m_turnedBy.assign(outputs, kNoEnd);
    }

    void findOrigins(const std::vector<Origin> &variables)
    {
        for (NodeId id = 0; id < m_graph.nodeCount(); ++id) {
            if (m_graph.isVariable(id))
                setOrigins(id, variables[id]);
            else
                look(id);
        }
    }
    /// Marks what leads to the ends, and to what `need()` has said.
    void hold();

    Origin originOf(const Entry &entry) const
    {
        return isKnown(entry) ? m_origin[outputOf(entry)] : Origin::Other;
    }
    /// The end that needs that value exact; kNoEnd.
    std::uint32_t neededBy(const Entry &entry) const
    {
        return isKnown(entry) ? m_neededBy[outputOf(entry)] : kNoEnd;
    }
    void need(const Entry &entry, std::uint32_t end)
    {
        if (isKnown(entry) && m_neededBy[outputOf(entry)] == kNoEnd)
            m_neededBy[outputOf(entry)] = end;
    }
    void collect(const std::vector<PositionPaths::End> &ends, PositionMap &map) const;
    void shareEnds(std::vector<PositionPaths::End> &ends) { m_ends = &ends; }

private:
    struct Body
    {
        const infer::BoundBody *bound = nullptr;
        std::unique_ptr<PositionSearch> search;
    };
    struct Flow
    {
        infer::BodyBinding binding;
        std::vector<Body> bodies;
    };

    bool isKnown(const Entry &entry) const
    {
        return entry.node < m_firstOutput.size() && entry.output < m_types.outputs(entry.node).size();
    }
    std::uint32_t outputOf(const Entry &entry) const { return m_firstOutput[entry.node] + entry.output; }
    DType typeOf(const Entry &entry) const { return isKnown(entry) ? m_types.of(entry) : DType::Unknown; }
    void setOrigins(NodeId id, Origin origin)
    {
        for (std::uint32_t k = 0; k < m_types.outputs(id).size(); ++k)
            m_origin[m_firstOutput[id] + k] = origin;
    }
    void look(NodeId id);
    bool readsOnlyOther(NodeId id) const;
    Origin originBy(const ops::Operator &op, NodeId id) const;
    Origin ofCast(NodeId id) const;
    Origin joined(NodeId id, bool truthsEnd, bool isFirstOnly) const;
    void findEnds(const ops::Operator &op, NodeId id);
    void followWaves(const ops::Operator &op, NodeId id);
    void lookIntoBodies(NodeId id);
    std::unique_ptr<PositionSearch> searchOf(NodeId id, const infer::BoundBody &bound) const;
    Origin givenBy(const Flow &flow, std::size_t output) const;
    void holdBefore(NodeId id, std::uint32_t end);
    void holdEachBefore(NodeId multicast);
    bool givesPlaces(NodeId id) const;
    void holdBodies(NodeId id, Flow &flow);
    bool mayHold(NodeId id) const;
    std::uint32_t movesFor(NodeId id) const;

    const graph::Graph &m_graph;
    Purpose m_purpose;
    int m_depth;
    infer::TypeMap m_types;
    std::vector<std::uint32_t> m_firstOutput; ///< by NodeId
    std::vector<Origin> m_origin; ///< by output
    std::vector<std::uint32_t> m_neededBy; ///< by output: an end; kNoEnd
    std::vector<std::uint32_t> m_heldFor; ///< by NodeId, likewise
    std::vector<std::optional<bool>> m_mayMake; ///< by OpIndex: mayMake(), as far as known
    std::vector<std::uint32_t> m_waveOf; ///< by output: the end that it is the result of, moved perhaps
    std::vector<std::uint32_t> m_turnedBy; ///< by output: a product with such a result
    /// An input that an operator needs exact.
    struct Wish
    {
        NodeId node = 0;
        std::size_t input = 0;
        bool holdsItself = false;
        std::uint32_t end = kNoEnd;
    };
    std::vector<Wish> m_wishes; ///< by node, ascending
    std::unordered_map<NodeId, Flow> m_flows;
    std::vector<PositionPaths::End> *m_ends = nullptr;
};

void PositionSearch::look(NodeId id)
{
    const graph::NodeDef &node = m_graph.node(id);
    const dialect::NodeRole role = dialect::roleOf(m_graph, id);
    if (role == dialect::NodeRole::ControlFlow) {
        lookIntoBodies(id);
        return;
    }
    if (role == dialect::NodeRole::MultiCast) {
        const auto inputs = m_graph.inputs(id);
        for (std::uint32_t k = 0; k < std::min(inputs.size(), m_types.outputs(id).size()); ++k)
            m_origin[m_firstOutput[id] + k] = originOf(inputs[k]);
        return;
    }
    if (role == dialect::NodeRole::Fused || dialect::changesCodes(role))
        return;
    if (m_graph.inputs(id).empty()) {
        if (const auto held = dialect::of(m_graph).constantOf(node); held.ok() && held.value()) {
            setOrigins(id, Origin::Fixed);
            return;
        }
    }
    if (!m_mayMake[m_graph.opOf(id)].value_or(true) && readsOnlyOther(id))
        return;
    const auto op = dialect::of(m_graph).readKind(node);
    if (!op.ok())
        return;
    m_mayMake[m_graph.opOf(id)] = mayMake(op.value());
    setOrigins(id, originBy(op.value(), id));
    findEnds(op.value(), id);
    if (m_purpose == Purpose::PositionsAndWaves)
        followWaves(op.value(), id);
}

/// Reads floats, and only such that the network computed and no sines or cosines have part in.
bool PositionSearch::readsOnlyOther(NodeId id) const
{
    bool isAny = false;
    for (const Entry &entry : m_graph.inputs(id)) {
        if (!tensor::isFloat(typeOf(entry)))
            continue;
        const std::uint32_t output = outputOf(entry);
        if (m_origin[output] != Origin::Other || m_waveOf[output] != kNoEnd || m_turnedBy[output] != kNoEnd)
            return false;
        isAny = true;
    }
    return isAny;
}

Origin PositionSearch::originBy(const ops::Operator &op, NodeId id) const
{
    if (op.is<ops::Cast>())
        return ofCast(id);
    switch (stepOf(op)) {
    case Step::Makes:
        return Origin::Position;
    case Step::Constant:
        return Origin::Fixed;
    case Step::Truths:
        return Origin::Truth;
    case Step::Carries:
        return joined(id, false, false);
    case Step::Curves: {
        const Origin origin = joined(id, false, false);
        return origin == Origin::Data ? Origin::Other : origin;
    }
    case Step::Multiplies:
        return joined(id, true, false);
    case Step::Looks: {
        const Origin origin = joined(id, false, true);
        const bool isTable = origin == Origin::Fixed || origin == Origin::Truth;
        const auto inputs = m_graph.inputs(id);
        return isTable && inputs.size() > 1 && !m_graph.inputs(inputs[1].node).empty() ? Origin::Other
                                                                                       : origin;
    }
    case Step::Ends:
        break;
    }
    return Origin::Other;
}

/// Integers that come as reals from here on.
Origin PositionSearch::ofCast(NodeId id) const
{
    const Entry &entry = m_graph.inputs(id).front();
    const DType from = typeOf(entry);
    if (from == DType::Bool)
        return Origin::Truth;
    return !isNumber(from) ? Origin::Other : tensor::isFloat(from) ? originOf(entry) : Origin::Position;
}

/// Of the node's floats together. `truthsEnd`: a truth among them makes it Other.
Origin PositionSearch::joined(NodeId id, bool truthsEnd, bool isFirstOnly) const
{
    Origin origin = Origin::Other;
    bool isAny = false;
    for (const Entry &entry : m_graph.inputs(id)) {
        if (tensor::isFloat(typeOf(entry))) {
            const Origin one = originOf(entry);
            if (one == Origin::Other || (truthsEnd && one == Origin::Truth))
                return Origin::Other;
            origin = isAny ? std::max(origin, one) : one;
            isAny = true;
        }
        if (isFirstOnly)
            break;
    }
    return origin;
}

void PositionSearch::findEnds(const ops::Operator &op, NodeId id)
{
    const auto inputs = m_graph.inputs(id);
    const graph::NodeDef &node = m_graph.node(id);
    std::uint32_t end = kNoEnd;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        const Need *const need = needOf(op, node.slotOf(i), m_purpose);
        const Origin origin = originOf(inputs[i]);
        if (need == nullptr || origin == Origin::Other || origin < need->from
            || !rewrite::isCastable(typeOf(inputs[i])))
            continue;
        if (end == kNoEnd) {
            end = static_cast<std::uint32_t>(m_ends->size());
            m_ends->push_back({node.name, node.op});
        }
        m_wishes.push_back({id, i, need->holdsItself, end});
    }
}

/// 8 bits of a cosine near 1 do not tell neighbouring positions apart: what such turn is computed in float32.
void PositionSearch::followWaves(const ops::Operator &op, NodeId id)
{
    const auto inputs = m_graph.inputs(id);
    const auto first = [&](const std::vector<std::uint32_t> &ends) {
        for (const Entry &entry : inputs)
            if (isKnown(entry) && ends[outputOf(entry)] != kNoEnd)
                return ends[outputOf(entry)];
        return kNoEnd;
    };
    const auto all = [&](const std::vector<std::uint32_t> &ends) {
        return std::ranges::all_of(
            inputs, [&](const Entry &entry) { return isKnown(entry) && ends[outputOf(entry)] != kNoEnd; });
    };
    const auto isWaveOrFixed = [this](const Entry &entry) {
        return isKnown(entry)
            && (m_waveOf[outputOf(entry)] != kNoEnd || m_origin[outputOf(entry)] == Origin::Fixed);
    };
    const std::uint32_t result = m_firstOutput[id];
    const auto holdFor = [&](std::uint32_t end) {
        if (end != kNoEnd && m_heldFor[id] == kNoEnd && mayHold(id))
            m_heldFor[id] = end;
    };
    switch (waveStepOf(op)) {
    case WaveStep::Makes:
        if (!m_wishes.empty() && m_wishes.back().node == id)
            m_waveOf[result] = m_wishes.back().end;
        break;
    case WaveStep::Moves:
        for (std::uint32_t k = 0; k < m_types.outputs(id).size(); ++k)
            m_waveOf[result + k] = first(m_waveOf);
        break;
    case WaveStep::Turns:
        if (std::ranges::all_of(inputs, isWaveOrFixed))
            m_waveOf[result] = first(m_waveOf);
        else
            holdFor(m_turnedBy[result] = first(m_waveOf));
        break;
    case WaveStep::Sums:
        if (all(m_turnedBy))
            holdFor(first(m_turnedBy));
        break;
    case WaveStep::TurnsWhole:
        holdFor(first(m_waveOf));
        break;
    case WaveStep::Ends:
        break;
    }
}

std::unique_ptr<PositionSearch> PositionSearch::searchOf(NodeId id, const infer::BoundBody &bound) const
{
    std::vector<DType> handed;
    for (const Entry &entry : m_graph.inputs(id))
        handed.push_back(typeOf(entry));
    const std::vector<DType> types = infer::handedTypes(bound, handed);
    auto known = infer::walkTypes(*bound.graph, {types, {}}, m_depth + 1);
    if (!known.ok())
        return nullptr;
    auto search
        = std::make_unique<PositionSearch>(*bound.graph, m_purpose, m_depth + 1, std::move(known).value());
    search->shareEnds(*m_ends);
    return search;
}

/// Bodies are walked through until what a loop carries is what it was taken for.
void PositionSearch::lookIntoBodies(NodeId id)
{
    const std::size_t outputs = m_types.outputs(id).size();
    auto binding = infer::bindBodies(m_graph, id, outputs);
    if (!binding.ok() || m_depth >= infer::kMaxBodyDepth)
        return;
    Flow flow{std::move(binding).value(), {}};
    std::vector<Origin> inputs;
    for (const Entry &entry : m_graph.inputs(id))
        inputs.push_back(originOf(entry));
    const std::size_t endsBefore = m_ends->size();
    for (int round = 0; round < kMostRounds; ++round) {
        flow.bodies.clear();
        m_ends->resize(endsBefore);
        for (const infer::BoundBody &bound : flow.binding.bodies) {
            auto search = searchOf(id, bound);
            if (search == nullptr)
                return;
            search->findOrigins(originsOfBody(bound, inputs));
            flow.bodies.push_back({&bound, std::move(search)});
        }
        bool isSettled = true;
        for (const infer::BodyBinding::Carried &carried : flow.binding.carried) {
            Origin &assumed = inputs[carried.input];
            const Origin next
                = round + 2 < kMostRounds ? either(assumed, givenBy(flow, carried.output)) : Origin::Other;
            isSettled = isSettled && next == assumed;
            assumed = next;
        }
        if (isSettled || flow.binding.carried.empty())
            break;
    }
    for (std::size_t k = 0; k < outputs; ++k)
        m_origin[m_firstOutput[id] + k] = givenBy(flow, k);
    m_flows.emplace(id, std::move(flow));
}

Origin PositionSearch::givenBy(const Flow &flow, std::size_t output) const
{
    bool isAny = false;
    Origin origin = Origin::Other;
    for (const Body &body : flow.bodies) {
        const infer::BoundBody &bound = *body.bound;
        if (bound.role != infer::BoundBody::Role::Result
            || bound.firstHead + output >= bound.graph->heads().size())
            continue;
        const Origin one = body.search->originOf(bound.graph->heads()[bound.firstHead + output]);
        origin = isAny ? either(origin, one) : one;
        isAny = true;
    }
    return origin;
}

void PositionSearch::hold()
{
    auto wish = m_wishes.rbegin();
    for (NodeId id = static_cast<NodeId>(m_graph.nodeCount()); id-- > 0;) {
        for (; wish != m_wishes.rend() && wish->node == id; ++wish) {
            need(m_graph.inputs(id)[wish->input], wish->end);
            if (wish->holdsItself && m_heldFor[id] == kNoEnd && mayHold(id))
                m_heldFor[id] = wish->end;
        }
        if (const auto flow = m_flows.find(id); flow != m_flows.end()) {
            holdBodies(id, flow->second);
            continue;
        }
        if (dialect::roleOf(m_graph, id) == dialect::NodeRole::MultiCast) {
            holdEachBefore(id);
            continue;
        }
        std::uint32_t end = kNoEnd;
        for (std::uint32_t k = 0; k < m_types.outputs(id).size() && end == kNoEnd; ++k)
            end = m_neededBy[m_firstOutput[id] + k];
        if (end != kNoEnd && !m_graph.isVariable(id))
            holdBefore(id, end);
    }
}

/// A multicast gives each value that it reads by itself.
void PositionSearch::holdEachBefore(NodeId multicast)
{
    const auto inputs = m_graph.inputs(multicast);
    for (std::uint32_t k = 0; k < inputs.size(); ++k)
        if (const std::uint32_t end = neededBy({multicast, k, 0}); end != kNoEnd)
            need(inputs[k], end);
}

/// The node gives something that an end needs exact.
void PositionSearch::holdBefore(NodeId id, std::uint32_t end)
{
    if (m_heldFor[id] == kNoEnd && mayHold(id))
        m_heldFor[id] = end;
    // Where the largest value stands does not hang on how values are rounded, unless they are positions themselves.
    const Origin least = givesPlaces(id) ? Origin::Position : Origin::Fixed;
    for (const Entry &entry : m_graph.inputs(id))
        if (rewrite::isCastable(typeOf(entry)) && originOf(entry) >= least)
            need(entry, end);
}

bool PositionSearch::givesPlaces(NodeId id) const
{
    const auto op = dialect::of(m_graph).readKind(m_graph.node(id));
    return op.ok() && (op.value().is<ops::ArgReduce>() || op.value().is<ops::ArgSort>());
}

void PositionSearch::holdBodies(NodeId id, Flow &flow)
{
    const auto inputs = m_graph.inputs(id);
    for (int round = 0; round < kMostRounds; ++round) {
        bool isChanged = false;
        const std::uint32_t outputs = static_cast<std::uint32_t>(m_types.outputs(id).size());
        for (const Body &body : flow.bodies) {
            const infer::BoundBody &bound = *body.bound;
            for (std::uint32_t k = 0; bound.role == infer::BoundBody::Role::Result && k < outputs
                 && bound.firstHead + k < bound.graph->heads().size();
                 ++k)
                if (const std::uint32_t end = m_neededBy[m_firstOutput[id] + k]; end != kNoEnd)
                    body.search->need(bound.graph->heads()[bound.firstHead + k], end);
            body.search->hold();
            for (const infer::BoundBody::Tie &tie : bound.ties)
                if (const std::uint32_t end = body.search->neededBy({tie.variable, 0, 0}); end != kNoEnd)
                    need(inputs[tie.input], end);
        }
        // What a loop hands on is read in its next step.
        for (const infer::BodyBinding::Carried &carried : flow.binding.carried) {
            const std::uint32_t end = neededBy(inputs[carried.input]);
            if (end == kNoEnd || neededBy({id, static_cast<std::uint32_t>(carried.output), 0}) != kNoEnd)
                continue;
            need({id, static_cast<std::uint32_t>(carried.output), 0}, end);
            isChanged = true;
        }
        if (!isChanged)
            break;
    }
}

/// An operator that computes with floats; casts have no precision of their own.
bool PositionSearch::mayHold(NodeId id) const
{
    const auto isReal = [this](const Entry &entry) { return rewrite::isCastable(typeOf(entry)); };
    if (m_graph.isVariable(id) || dialect::roleOf(m_graph, id) != dialect::NodeRole::Other
        || std::ranges::none_of(m_graph.inputs(id), isReal))
        return false;
    const auto op = dialect::of(m_graph).readKind(m_graph.node(id));
    return op.ok() && !(op.value().is<ops::Cast>() && rewrite::isCastable(m_types.at(id, 0)));
}

/// The end that needs what the node moves; kNoEnd. An index says what is moved, and goes nowhere itself.
std::uint32_t PositionSearch::movesFor(NodeId id) const
{
    const auto inputs = m_graph.inputs(id);
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        const std::uint32_t end = rewrite::isCastable(typeOf(inputs[i])) ? neededBy(inputs[i]) : kNoEnd;
        if (end == kNoEnd)
            continue;
        const graph::NodeDef &node = m_graph.node(id);
        const auto op = dialect::of(m_graph).readKind(node);
        if (op.ok() && needOf(op.value(), node.slotOf(i), m_purpose) != nullptr)
            continue;
        const bool moves = op.ok() && ops::numericalClass(op.value()) == ops::NumericalClass::DataMovement;
        return moves && mayHold(id) ? end : kNoEnd;
    }
    return kNoEnd;
}

void PositionSearch::collect(const std::vector<PositionPaths::End> &ends, PositionMap &map) const
{
    PositionPaths paths;
    std::unordered_map<std::uint32_t, std::uint32_t> place;
    const auto placeOf = [&](std::uint32_t end) {
        const auto [at, fresh] = place.try_emplace(end, static_cast<std::uint32_t>(paths.ends.size()));
        if (fresh)
            paths.ends.push_back(ends[end]);
        return at->second;
    };
    for (NodeId id = 0; id < m_graph.nodeCount(); ++id) {
        if (m_heldFor[id] != kNoEnd)
            paths.held.push_back({id, placeOf(m_heldFor[id])});
        else if (const std::uint32_t end = movesFor(id); end != kNoEnd)
            paths.beside.push_back({id, placeOf(end)});
    }
    if (!paths.ends.empty())
        map.emplace(&m_graph, std::move(paths));
    for (const auto &[id, flow] : m_flows)
        for (const Body &body : flow.bodies)
            body.search->collect(ends, map);
}

/// Nobody looks further where there is no operator that positions could matter to.
bool mayHaveEnds(const graph::Graph &graph, Purpose purpose)
{
    constexpr std::size_t kMostSlots = 4;
    std::vector<bool> isSeen(graph.operatorNames().size(), false);
    for (NodeId id = 0; id < graph.nodeCount(); ++id) {
        const graph::NodeDef &node = graph.node(id);
        const auto hasEnds = [purpose](const auto &body) { return mayHaveEnds(*body, purpose); };
        if (std::ranges::any_of(node.subgraphs, hasEnds))
            return true;
        if (graph.isVariable(id) || isSeen[graph.opOf(id)])
            continue;
        const auto op = dialect::of(graph).readKind(node);
        // A cast says where it leads by an attribute, so that each is looked at.
        isSeen[graph.opOf(id)] = !op.ok() || !op.value().is<ops::Cast>();
        for (std::size_t slot = 0; op.ok() && slot < kMostSlots; ++slot)
            if (needOf(op.value(), slot, purpose) != nullptr)
                return true;
    }
    return false;
}

/// A guessed type of a variable may contradict its readers, who then say what it is.
Result<infer::TypeMap> sourceTypes(const graph::Graph &graph, std::span<const infer::Variable> variables)
{
    std::vector<DType> types(graph.nodeCount(), DType::Unknown);
    for (NodeId id = 0; id < graph.nodeCount(); ++id)
        types[id] = graph.isVariable(id) ? variables[id].type : DType::Unknown;
    auto known = infer::walkTypes(graph, {types, {}}, 0);
    if (known.ok())
        return known;
    for (NodeId id = 0; id < graph.nodeCount(); ++id)
        types[id] = variables[id].isAssumed ? DType::Unknown : types[id];
    return infer::walkTypes(graph, {types, {}}, 0);
}

PositionMap search(const graph::Graph &graph, std::span<const infer::Variable> variables, Purpose purpose)
{
    PositionMap map;
    if (!mayHaveEnds(graph, purpose))
        return map;
    auto types = sourceTypes(graph, variables);
    if (!types.ok())
        return map;
    std::vector<Origin> origins(graph.nodeCount(), Origin::Other);
    for (NodeId id = 0; id < graph.nodeCount(); ++id)
        if (graph.isVariable(id))
            origins[id] = variables[id].isData ? Origin::Data : Origin::Fixed;
    PositionSearch whole(graph, purpose, 0, std::move(types).value());
    std::vector<PositionPaths::End> ends;
    whole.shareEnds(ends);
    whole.findOrigins(origins);
    whole.hold();
    whole.collect(ends, map);
    return map;
}

} // namespace

PositionMap findPositions(const graph::Graph &graph, std::span<const infer::Variable> variables, DType target)
{
    const bool hasEightBits = target == DType::BF16 || target == DType::I8;
    return search(graph, variables, hasEightBits ? Purpose::PositionsAndWaves : Purpose::Positions);
}

PositionMap findComputedScales(const graph::Graph &graph, std::span<const infer::Variable> variables)
{
    return search(graph, variables, Purpose::Scales);
}

} // namespace halftone::mixed
