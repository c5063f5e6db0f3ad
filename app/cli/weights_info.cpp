#include "app/cli/weights_info.h"

#include "core/quantize/stored_weights.h"

namespace halftone::cli {

using quantize::StoredWeights;

void addWeights(const graph::Model &model, Json &json)
{
    const std::vector<StoredWeights> weights = quantize::storedWeights(model);
    Json rows = Json::array();
    for (const StoredWeights &one : weights)
        rows.push_back({{"format", one.format},
                        {"bits", one.bits},
                        {"block", one.block > 0 ? Json(one.block) : Json()},
                        {"elements", one.elements},
                        {"bytes", one.bytes},
                        {"count", one.count}});
    json["weights"] = std::move(rows);
    const std::optional<double> bits = quantize::bitsPerWeight(weights);
    json["bits_per_weight"] = bits ? Json(*bits) : Json();
}

std::vector<std::string> weightLines(const graph::Model &model)
{
    std::vector<std::string> lines;
    for (const StoredWeights &one : quantize::storedWeights(model))
        lines.push_back(one.format + ": " + withThousands(one.elements) + " weights in "
                        + counted(one.count, "matrix", "matrices") + ", "
                        + formatted("%.2f bits each", *quantize::bitsPerWeight({one})));
    return lines;
}

} // namespace halftone::cli
