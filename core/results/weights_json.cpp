#include "core/results/weights_json.h"

#include "core/quantize/stored_weights.h"

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

} // namespace halftone::results
