#include "core/compare/head_kind.h"

#include "core/dialect/dialect.h"

namespace halftone::compare {
namespace {

bool givesProbabilities(const ops::Operator &op)
{
    const auto *const softmax = op.getIf<ops::Softmax>();
    return op.is<ops::SoftmaxOutput>() || op.is<ops::SoftmaxActivation>()
        || (softmax && softmax->kind == ops::Softmax::Kind::Softmax);
}

bool normalises(const ops::Operator &op)
{
    return op.is<ops::BatchNormalization>() || op.is<ops::LpNormalization>();
}

} // namespace

HeadKind headKindOf(const graph::Graph &graph, graph::Entry head)
{
    while (dialect::roleOf(graph, head.node) == dialect::NodeRole::Cast && !graph.inputs(head.node).empty())
        head = graph.inputs(head.node)[0];
    const auto op = dialect::of(graph).read(graph.node(head.node));
    if (!op.ok())
        return HeadKind::Unknown;
    if (givesProbabilities(op.value()))
        return HeadKind::Probabilities;
    return normalises(op.value()) ? HeadKind::Embedding : HeadKind::Unknown;
}

} // namespace halftone::compare
