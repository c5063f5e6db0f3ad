#pragma once

#include "core/base/result.h"
#include "core/graph/model.h"
#include "core/walks/batches.h"
#include "core/walks/shard.h"

#include <cstddef>
#include <limits>
#include <string>

namespace halftone::walks {

constexpr std::size_t kAnyMemory = std::numeric_limits<std::size_t>::max();

/// Batches of one example each, of a shard of the examples; of fixedBatch() examples if the model needs that. Everything is one batch if the
/// arrays have no axis of examples, or if `wanted` is 0 and the result of one example depends on the others (a recurrent network over steps; an
/// operator with a fixed batch size). That is found by running two examples alone and together; not for a model that accepts one example,
/// but neither two nor all.
/// wanted  as Batches::of()
/// fails   as Batches::of(); BadCall for a shard of a single batch, and for a shard without examples; Unsupported (Field::Memory) if that trial
///         exceeds the limit
Result<Batches> separateBatches(const graph::Model &model, const ExampleSource &source,
                                const std::string &backend, std::size_t wanted, const Shard &shard,
                                std::size_t memoryLimit = kAnyMemory);

/// The largest possible number of shards: the number of batches that separateBatches() makes of all examples.
/// fails: as openExamples() and separateBatches()
Result<std::size_t> maxShards(const graph::Model &model, const std::string &modelPath,
                              const ExampleOptions &options, const std::string &backend, std::size_t wanted,
                              std::size_t memoryLimit = kAnyMemory);

} // namespace halftone::walks
