#include "core/session/shard_results.h"

#include "core/base/text.h"
#include "core/compare/layer_compare.h"

namespace halftone::session {
namespace {

Error ofAnotherKind(const shards::StatisticsShard &whole, const char *expected)
{
    constexpr const char *kKinds[] = {"a calibration", "a comparison", "a search"};
    return badInput("statistics", kKinds[whole.content.index()], expected);
}

/// fails: for layers that the model calls otherwise
Result<void> checkLayers(const shards::ComparisonShard &shard, const graph::Graph &graph)
{
    for (const shards::LayerName &layer : shard.names) {
        const bool isThere = layer.node < graph.nodeCount();
        if (!isThere || graph.node(layer.node).name != layer.name || graph.node(layer.node).op != layer.op)
            return badInput("node " + std::to_string(layer.node),
                            isThere ? printable(graph.node(layer.node).name) : "not in this model",
                            printable(layer.name) + ": these figures belong to a different model");
    }
    if (shard.outputs.size() != graph.heads().size())
        return badInput("outputs", std::to_string(shard.outputs.size()),
                        std::to_string(graph.heads().size()) + ": these figures belong to a different model");
    return {};
}

} // namespace

Result<walks::CompareOutcome> comparisonFrom(const shards::StatisticsShard &whole, const Snapshot &snapshot)
{
    const auto *const shard = std::get_if<shards::ComparisonShard>(&whole.content);
    if (!shard)
        return ofAnotherKind(whole, "a comparison");
    HALFTONE_CHECK(checkLayers(*shard, snapshot.graph()));
    walks::CompareOutcome outcome = shards::outcomeOf(whole);
    const mixed::ConvertedModel &converted = *snapshot.converted;
    outcome.models = compare::convertedPair(snapshot.source->model, converted.model, converted.conversion);
    outcome.unmatched = compare::unmatchedNodes(outcome.models);
    return outcome;
}

Result<walks::CalibrateOutcome> calibrationFrom(const shards::StatisticsShard &whole,
                                                const Snapshot &snapshot, unsigned threads,
                                                const Progress &progress)
{
    const auto *const shard = std::get_if<shards::CalibrationShard>(&whole.content);
    if (!shard)
        return ofAnotherKind(whole, "a calibration");
    if (whole.origin.modelHash != shards::hashOf(snapshot.source->model))
        return badInput("model", printable(whole.origin.model) + " with other values", "the open model");
    auto statistics = shard->statistics;
    statistics.examples = whole.examples; // the file has them in its head
    statistics.all = whole.origin.all;
    return walks::calibrated(statistics, shard->threshold, threads, progress);
}

} // namespace halftone::session
