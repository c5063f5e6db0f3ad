#pragma once

#include "core/base/json.h"
#include "core/graph/model.h"
#include "core/weights/lower_weights.h"

#include <string>
#include <vector>

namespace halftone::results {

/// Adds `weights` [format, bits, block, elements, bytes, count] and `bits_per_weight`: what the model stores as codes of weights.
void addWeights(const graph::Model &model, OrderedJson &json);

/// Adds `weights` [node, format, form, method, elements, bytes, sqnr_db], `bits_per_weight` and `skipped` [name, op, why]: what became of the
/// weights that rules name.
void addLowered(const weights::LoweredModel &lowered, OrderedJson &json);

/// The report of a conversion with addLowered().
std::string withLowered(const std::string &report, const weights::LoweredModel &lowered);

/// `quantize --json` of weights alone. written  paths; empty: not written
OrderedJson loweredJson(const weights::LoweredModel &lowered, const std::vector<std::string> &written,
                        double seconds);

} // namespace halftone::results
