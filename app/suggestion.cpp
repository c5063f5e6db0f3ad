#include "app/suggestion.h"

#include "core/base/text.h"
#include "core/session/tensor_risk.h"

namespace halftone::app {
namespace {

/// "450 of 28,800 values become"
std::string shareOf(std::uint64_t part, std::uint64_t all)
{
    return grouped(part) + " of " + grouped(all) + (all == 1 ? " value" : " values")
        + (part == 1 ? " becomes" : " become");
}

std::optional<Suggestion> fromComparison(const session::Snapshot &snapshot, const session::Figures &figures)
{
    const graph::Graph &graph = snapshot.graph();
    for (const compare::LayerErrors &layer : figures.comparison->comparison.layers) {
        if (!layer.cumulative || (layer.cumulative->overflow == 0 && layer.cumulative->nan == 0))
            continue;
        const tensor::DType type = snapshot.precisionOf(layer.node);
        if (type != snapshot.target())
            return std::nullopt; // nothing that a list could mend
        const graph::NodeDef &node = graph.node(layer.node);
        Suggestion suggestion;
        suggestion.node = layer.node;
        const std::string name(tensor::nameOf(type));
        suggestion.text = node.name + " (" + node.op + ") overflows in " + name + ": "
            + (layer.cumulative->overflow > 0
                   ? shareOf(layer.cumulative->overflow, layer.cumulative->count) + " infinite"
                   : shareOf(layer.cumulative->nan, layer.cumulative->count) + " NaN");
        suggestion.action = "Keep " + node.op + " in fp32";
        suggestion.edit = policy::MoveOperators{{node.op}, policy::List::Fp32};
        return suggestion;
    }
    return std::nullopt;
}

std::optional<Suggestion> fromStatistics(const session::Snapshot &snapshot,
                                         const walks::CalibrateOutcome &calibration)
{
    std::vector<session::TensorAdvice> advice = session::adviceFor(snapshot, calibration);
    if (advice.empty() || !advice.front().isHard)
        return std::nullopt;
    session::TensorAdvice &first = advice.front();
    return Suggestion{first.nodes.front(), std::move(first.text), std::move(first.action),
                      std::move(first.edit)};
}

} // namespace

std::optional<Suggestion> suggestionFor(const session::Snapshot &snapshot, const session::Figures &figures)
{
    if (!snapshot.converted)
        return std::nullopt;
    if (figures.comparison) {
        if (figures.comparisonRevision != snapshot.revision)
            return std::nullopt; // the newer one is on its way
        if (auto suggestion = fromComparison(snapshot, figures))
            return suggestion;
    }
    return figures.calibration ? fromStatistics(snapshot, *figures.calibration) : std::nullopt;
}

} // namespace halftone::app
