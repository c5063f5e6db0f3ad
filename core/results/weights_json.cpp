#include "core/results/weights_json.h"

#include "core/policy/weight_choice.h"
#include "core/quantize/stored_weights.h"
#include "core/report/json_values.h"

namespace halftone::results {

void addWeights(const graph::Model &model, OrderedJson &json)
{
    const std::vector<quantize::StoredWeights> weights = quantize::storedWeights(model);
    OrderedJson rows = OrderedJson::array();
    for (const quantize::StoredWeights &one : weights)
        rows.push_back({{"format", one.format},
                        {"bits", one.bits},
                        {"block", one.block > 0 ? OrderedJson(one.block) : OrderedJson()},
                        {"elements", one.elements},
                        {"bytes", one.bytes},
                        {"count", one.count}});
    json["weights"] = std::move(rows);
    const std::optional<double> bits = quantize::bitsPerWeight(weights);
    json["bits_per_weight"] = bits ? OrderedJson(*bits) : OrderedJson();
}

void addLowered(const weights::LoweredModel &lowered, OrderedJson &json)
{
    OrderedJson rows = OrderedJson::array();
    for (const weights::LoweredWeights &one : lowered.weights)
        rows.push_back({{"node", one.node},
                        {"format", tensor::nameOf(one.format)},
                        {"form", policy::nameOf(one.form)},
                        {"method", policy::nameOf(one.method)},
                        {"elements", one.matrix->matrix().values.elementCount()},
                        {"bytes", one.matrix->storedBytes()},
                        {"sqnr_db", report::numberOrNull(one.matrix->sqnrDb())}});
    OrderedJson skipped = OrderedJson::array();
    for (const quantize::SkippedNode &node : lowered.skipped)
        skipped.push_back({{"name", node.name}, {"op", node.op}, {"why", node.why}});
    json["weights"] = std::move(rows);
    json["bits_per_weight"] = weights::bitsPerWeight(lowered.weights);
    json["skipped"] = std::move(skipped);
}

std::string withLowered(const std::string &report, const weights::LoweredModel &lowered)
{
    OrderedJson json = parseOrdered(report);
    addLowered(lowered, json);
    return jsonText(json, 2);
}

OrderedJson loweredJson(const weights::LoweredModel &lowered, const std::vector<std::string> &written,
                        double seconds)
{
    OrderedJson json = OrderedJson::object();
    addLowered(lowered, json);
    json["model_bytes"] = graph::parameterBytes(lowered.model);
    json["notes"] = lowered.notes;
    json["written"] = written;
    json["seconds"] = seconds;
    return json;
}

} // namespace halftone::results
