#include "widgets/graphview/looks.h"

#include "widgets/models/asked_types.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>
#include <unordered_map>

namespace halftone::widgets {
namespace {

using graph::NodeId;
using tensor::DType;

/// A node's figure and whether it is bad news by itself.
struct NodeFigure
{
    double value = std::numeric_limits<double>::quiet_NaN();
    bool isKnown = false;
    bool warns = false;
};

DType sourcePrecision(const graph::Graph &graph, const infer::TypeMap &types, NodeId node)
{
    for (const DType type : types.outputs(node)) {
        if (tensor::isFloat(type))
            return type;
    }
    for (const graph::Entry &input : graph.inputs(node)) {
        if (tensor::isFloat(types.of(input)))
            return types.of(input);
    }
    return types.outputs(node).empty() ? DType::Unknown : types.outputs(node).front();
}

/// Figures by NodeId for one way of colouring.
class NodeFigureTable
{
public:
    NodeFigureTable(const Scene &scene, const session::Snapshot &snapshot, const session::Figures &figures,
                    ColourBy colourBy, bool converted)
        : m_snapshot(snapshot)
        , m_figures(figures)
        , m_colourBy(colourBy)
        , m_converted(converted)
    {
        if (colourBy == ColourBy::Overflow && figures.calibration)
            takeRanges(scene, *figures.calibration);
    }

    NodeFigure of(NodeId node) const
    {
        NodeFigure figure;
        const session::NodeFigures *known = node < m_figures.nodes.size() ? &m_figures.nodes[node] : nullptr;
        if (m_converted && known && known->cumulative)
            figure.warns = known->cumulative->overflow > 0 || known->cumulative->nan > 0;
        if (m_colourBy == ColourBy::Error && m_converted && known && known->cumulative) {
            figure.value = known->cumulative->sqnrDb;
            figure.isKnown = true;
        } else if (m_colourBy == ColourBy::Latency && known && (m_converted ? known->mixed : known->fp32)) {
            const session::NodeLatency &latency = m_converted ? *known->mixed : *known->fp32;
            figure.value = latency.microseconds / (1 + latency.fusedWith);
            figure.isKnown = true;
        } else if (m_colourBy == ColourBy::Overflow && node < m_absMax.size() && m_absMax[node] >= 0) {
            figure.value = m_absMax[node];
            figure.isKnown = true;
        } else if (m_colourBy == ColourBy::Asked && m_converted) {
            const AskedAndGot types = askedAndGot(m_snapshot, node);
            figure.isKnown = types.asked != DType::Unknown;
            figure.value = types.differ() ? 1 : 0;
        }
        return figure;
    }

private:
    void takeRanges(const Scene &scene, const walks::CalibrateOutcome &calibration)
    {
        std::unordered_map<std::string_view, double> byNode;
        for (const calibration::CalibratedTensor &tensor : calibration.tensors) {
            if (!tensor.isParameter) {
                double &most = byNode.emplace(tensor.node, 0).first->second;
                most = std::max(most, tensor.statistics.absMax);
            }
        }
        m_absMax.assign(scene.graph().nodeCount(), -1);
        for (NodeId id = 0; id < m_absMax.size(); ++id) {
            const auto place = byNode.find(scene.graph().node(id).name);
            if (place != byNode.end())
                m_absMax[id] = place->second;
        }
    }

    const session::Snapshot &m_snapshot;
    const session::Figures &m_figures;
    ColourBy m_colourBy;
    bool m_converted;
    std::vector<double> m_absMax; ///< by NodeId; negative: not known
};

/// The bad end of several figures: the lowest SQNR, the largest range; times add up.
double joined(ColourBy colourBy, double a, double b)
{
    switch (colourBy) {
    case ColourBy::Error:
        return std::isnan(a) || std::isnan(b) ? std::numeric_limits<double>::quiet_NaN() : std::min(a, b);
    case ColourBy::Latency:
    case ColourBy::Asked:
        return a + b;
    default:
        return std::max(a, b);
    }
}

/// Where a figure stands on a scale of its kind: SQNR from 80 dB (harmless) to 0; ranges from 1 to the target type's largest
/// number, both as a person reads them, by logarithm; times against the slowest item shown.
/// high  the slowest, or that number
double shareOf(ColourBy colourBy, double value, double high)
{
    switch (colourBy) {
    case ColourBy::Error:
        return std::isnan(value) ? 1 : std::clamp(1 - value / 80, 0.0, 1.0);
    case ColourBy::Latency:
        return high > 0 ? std::clamp(value / high, 0.0, 1.0) : 0;
    case ColourBy::Overflow:
        return value <= 1 ? 0 : std::clamp(std::log(value) / std::log(high), 0.0, 1.0);
    case ColourBy::Asked:
        return value > 0 ? 1 : 0;
    case ColourBy::Precision:
    case ColourBy::RanIn:
        break;
    }
    return -1;
}

void markCasts(const Scene &scene, const session::Snapshot &snapshot, Looks &looks)
{
    const rewrite::Conversion &conversion = snapshot.converted->conversion;
    for (const rewrite::InsertedCast &cast : conversion.casts) {
        bool isFirst = true;
        for (const rewrite::Reader &reader : cast.readers) {
            if (reader.node == rewrite::kNoNode) {
                const ItemIndex item = scene.itemOf(cast.tensor.node);
                if (item != kNoItem)
                    ++looks.items[item].castsAtHeads;
            } else if (const std::uint32_t edge = scene.edgeOf(reader.node, reader.input); edge != kNoItem) {
                CastMark &mark = looks.casts[edge];
                if (mark.count++ == 0) {
                    mark.type = snapshot.asAsked(cast.type);
                    mark.isShared = !isFirst;
                }
            } else if (const ItemIndex item = scene.itemOf(reader.node); item != kNoItem && isFirst) {
                ++looks.items[item].castsInside;
            }
            isFirst = false;
        }
    }
    for (const rewrite::StoredParameter &stored : conversion.parameters) {
        const ItemIndex item = scene.itemOf(stored.variable);
        if (item != kNoItem && stored.to != stored.from)
            looks.items[item].isStoredNarrow = true;
    }
}

/// The type in which an int8 node gets a tensor of the source; Unknown for one that lies within it.
DType typeInInt8(const rewrite::Conversion &conversion, const layout::Wire &wire)
{
    const NodeId whole = conversion.int8Group[wire.reader];
    const bool isCodes = conversion.isInt8(wire.from.node);
    const NodeId giver = isCodes ? conversion.int8Group[wire.from.node] : wire.from.node;
    const NodeId reader = conversion.fromSource[whole];
    const NodeId source = conversion.fromSource[giver];
    if (giver == whole || reader == rewrite::kNoNode || source == rewrite::kNoNode)
        return DType::Unknown;
    const graph::Graph &graph = conversion.graph;
    const auto isCode = [](DType type) { return type == DType::I8 || type == DType::U8; };
    constexpr int kMostBetween = 4; // a product of the same operator, a cast, dequantize and quantize
    for (graph::Entry at : graph.inputs(reader)) {
        DType codes = DType::Unknown;
        for (int step = 0; step <= kMostBetween; ++step) {
            if (isCode(conversion.types.of(at)))
                codes = conversion.types.of(at); // the last ones met lie nearest to the source
            if (at.node == source)
                return codes;
            if (graph.inputs(at.node).empty())
                break;
            at = graph.inputs(at.node)[0];
        }
    }
    return DType::Unknown;
}

} // namespace

std::size_t mixIndex(DType type)
{
    const DType kind = type == DType::U8 ? DType::I8 : type;
    const auto place = std::ranges::find(kMixTypes, kind);
    return place == kMixTypes.end() ? kMixTypes.size() - 1
                                    : static_cast<std::size_t>(place - kMixTypes.begin());
}

Looks looksOf(const Scene &scene, const session::Snapshot &snapshot, const session::Figures &figures,
              ColourBy colourBy, bool converted)
{
    const infer::TypeMap &types = *snapshot.sourceTypes;
    Looks looks;
    looks.items.resize(scene.items().size());
    looks.casts.resize(scene.edges().size());
    const bool hasConversion = converted && snapshot.converted;
    const NodeFigureTable table(scene, snapshot, figures, colourBy, converted);
    const bool isStale = colourBy == ColourBy::Latency || colourBy == ColourBy::RanIn
        ? figures.latencyRevision != snapshot.revision
        : colourBy == ColourBy::Overflow || colourBy == ColourBy::Asked
        ? false
        : figures.comparisonRevision != snapshot.revision;
    std::vector<DType> precision(scene.graph().nodeCount(),
                                 DType::Unknown); // a node is in all frames around it
    for (NodeId node = 0; node < precision.size(); ++node)
        precision[node]
            = hasConversion ? snapshot.precisionOf(node) : sourcePrecision(scene.graph(), types, node);
    const auto timeOf = [&](NodeId node) -> const session::NodeLatency * {
        if (node >= figures.nodes.size())
            return nullptr;
        const auto &time = converted ? figures.nodes[node].mixed : figures.nodes[node].fp32;
        return time ? &*time : nullptr;
    };
    for (NodeId node = 0; node < precision.size() && colourBy == ColourBy::RanIn; ++node) {
        const session::NodeLatency *const time = timeOf(node);
        precision[node] = time != nullptr ? time->ranIn : DType::Unknown;
        looks.hasFigures = looks.hasFigures || precision[node] != DType::Unknown;
    }
    double slowest = 0;
    for (ItemIndex k = 0; k < looks.items.size(); ++k) {
        ItemLook &look = looks.items[k];
        look.isStale = isStale;
        bool isKnown = false;
        for (const NodeId node : scene.nodesOf(k)) {
            const DType type = precision[node];
            if (!scene.graph().isVariable(node))
                ++look.mix[mixIndex(type)];
            look.type = type;
            look.follows = hasConversion && type == DType::Unknown
                && snapshot.converted->assignment.requested(node) == policy::Request::Follow;
            if (const session::NodeLatency *const time = timeOf(node)) {
                look.asked = time->asked;
                look.ranIn = time->ranIn;
            }
            const NodeFigure figure = table.of(node);
            look.warns = look.warns || figure.warns;
            if (figure.isKnown) {
                look.value = isKnown ? joined(colourBy, look.value, figure.value) : figure.value;
                isKnown = true;
            }
        }
        look.share = isKnown ? 0 : -1;
        looks.hasFigures = looks.hasFigures || isKnown;
        if (isKnown && !scene.items()[k].isFrame)
            slowest = std::max(slowest, look.value);
    }
    looks.target = snapshot.target();
    looks.low = colourBy == ColourBy::Error ? 80 : colourBy == ColourBy::Overflow ? 1 : 0;
    looks.high = colourBy == ColourBy::Error ? 0
        : colourBy == ColourBy::Overflow     ? tensor::rangeOf(looks.target).largest
        : colourBy == ColourBy::Asked        ? 1
                                             : slowest;
    for (ItemLook &look : looks.items) {
        if (look.share >= 0)
            look.share = static_cast<float>(shareOf(colourBy, look.value, looks.high));
    }
    if (hasConversion)
        markCasts(scene, snapshot, looks);
    return looks;
}

DType typeOnWire(const session::Snapshot &snapshot, const layout::Wire &wire, bool converted)
{
    if (!converted || !snapshot.converted)
        return snapshot.sourceTypes->of(wire.from);
    const rewrite::Conversion &conversion = snapshot.converted->conversion;
    if (conversion.isInt8(wire.reader))
        return typeInInt8(conversion, wire);
    const NodeId reader = conversion.fromSource[wire.reader];
    if (reader == rewrite::kNoNode || wire.input >= conversion.graph.inputs(reader).size())
        return DType::Unknown;
    return snapshot.asAsked(conversion.types.of(conversion.graph.inputs(reader)[wire.input]));
}

} // namespace halftone::widgets
