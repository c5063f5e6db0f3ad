#include "widgets/models/asked_types.h"

#include "core/policy/assignment.h"
#include "widgets/common/formatters.h"

#include <algorithm>

namespace halftone::widgets {
namespace {

using policy::Rule;
using tensor::DType;

DType typeAsked(policy::Request request, DType target)
{
    switch (request) {
    case policy::Request::Fp32:
        return DType::F32;
    case policy::Request::Target:
        return target;
    case policy::Request::Int8:
        return DType::I8;
    default:
        return DType::Unknown;
    }
}

bool readsReals(const graph::Graph &graph, const infer::TypeMap &types, graph::NodeId node)
{
    const auto isReal = [&](const graph::Entry &entry) {
        return types.of(entry) == DType::Unknown || tensor::isFloat(types.of(entry));
    };
    return std::ranges::any_of(graph.inputs(node), isReal);
}

bool isByChip(Rule rule)
{
    return rule == Rule::Hardware || rule == Rule::HardwareStorage;
}

/// Would the lists lower the node, and the chip does not?
bool isTakenAway(const session::Snapshot &snapshot, graph::NodeId node)
{
    const auto &places = snapshot.rules->places;
    const auto place = places.find(snapshot.graph().node(node).op);
    return isByChip(snapshot.converted->assignment.rule(node)) && place != places.end()
        && place->second.list == policy::List::Target;
}

} // namespace

AskedAndGot askedAndGot(const session::Snapshot &snapshot, graph::NodeId node)
{
    if (!snapshot.converted || snapshot.graph().isVariable(node))
        return {};
    const rewrite::Conversion &conversion = snapshot.converted->conversion;
    const bool isInt8 = conversion.isInt8(node);
    const policy::Request request = snapshot.converted->assignment.requested(node);
    const bool isGone = conversion.fromSource[node] == rewrite::kNoNode && !isInt8;
    if (isGone || (isInt8 && request != policy::Request::Int8))
        return {};
    const DType asked = typeAsked(request, snapshot.target());
    return {isTakenAway(snapshot, node) ? snapshot.target() : asked, snapshot.precisionOf(node)};
}

QString whyDifferent(const session::Snapshot &snapshot, const infer::TypeMap &types, graph::NodeId node)
{
    for (const rewrite::NodeNote &note : snapshot.converted->conversion.notes) {
        if (note.node == node)
            return plain(note.text);
    }
    if (isTakenAway(snapshot, node))
        return plain(snapshot.converted->assignment.entry(node));
    if (askedAndGot(snapshot, node).asked == DType::I8)
        return QStringLiteral("no int8 form with these inputs and attributes");
    if (!readsReals(snapshot.graph(), types, node))
        return QStringLiteral("no input is floating-point");
    return QStringLiteral("its operator does not support this type here");
}

} // namespace halftone::widgets
