#pragma once

#include "core/base/result.h"
#include "core/graph/model.h"
#include "core/walks/batches.h"

#include <cstddef>
#include <string>

namespace halftone::walks {

/// How many examples a run of the model takes, where that is one number: more than one that inputs are declared to have, or the
/// one that the shapes of the graph let pass (a Reshape to a written shape). That is tried out: shapes are inferred, nothing is
/// computed. 0: any number, as far as one can tell; also where there are as many examples, or no axis of them.
/// wanted  examples at a time that a person asks for; 0: no wish
/// fails   BadCall (Field::Batch) for a wish that contradicts what inputs are declared to have; what starting a run of all examples at once
///         refuses, where none of the batches that could be meant passes, naming Field::Batch
Result<std::size_t> fixedBatch(const graph::Model &model, const ExampleSource &source,
                               const std::string &backend, std::size_t wanted);

/// Batches::of(), and batches of fixedBatch() where there is one, the last of which is filled up.
Result<Batches> batchesOf(const graph::Model &model, const ExampleSource &source, const std::string &backend,
                          std::size_t wanted);

/// Examples that the first run would take for the shapes of its values: fixedBatch(), or one; 0 where there is no axis of examples.
std::size_t examplesForShapes(const graph::Model &model, const ExampleSource &source);

} // namespace halftone::walks
