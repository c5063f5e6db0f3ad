#pragma once

#include "core/base/result.h"
#include "core/graph/model.h"
#include "core/walks/batches.h"

#include <cstddef>
#include <string>

namespace halftone::walks {

/// The only batch size that the model accepts: the size that its inputs declare (if more than one), or the one that the shapes of the graph
/// allow (a Reshape to a constant shape). Found by inferring shapes; nothing is computed.
/// returns  0 if the model accepts any number as far as known, if it accepts all examples at once, or without an axis of examples
/// wanted   batch size that the user asks for; 0: none
/// fails    BadCall (Field::Batch) if `wanted` contradicts the declared inputs; the error of starting a run of all examples at once if no
///          batch size works, naming Field::Batch
Result<std::size_t> fixedBatch(const graph::Model &model, const ExampleSource &source,
                               const std::string &backend, std::size_t wanted);

/// Batches::of(), or batches of fixedBatch() if the model needs that; the last one is then padded.
Result<Batches> batchesOf(const graph::Model &model, const ExampleSource &source, const std::string &backend,
                          std::size_t wanted);

/// The number of examples with which to infer shapes: fixedBatch(), otherwise one; 0 without an axis of examples.
std::size_t examplesForShapes(const graph::Model &model, const ExampleSource &source);

} // namespace halftone::walks
