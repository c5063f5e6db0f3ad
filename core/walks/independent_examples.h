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

/// Batches of one example each, of a shard of them (of as many as the model takes where that is another number: fixedBatch()); all in one piece where the arrays have no axis of examples, or where
/// `wanted` is 0 and what the model makes of one example depends on the others (a recurrent network over steps; batches that
/// an operator has the size of). That is tried out: two examples alone and both at once. Where the model takes one but neither two nor all, nothing
/// is to be tried.
/// wanted  as Batches::of()
/// fails   as Batches::of(); BadCall for a shard of what is one piece, and for a shard without examples; Unsupported (Field::Memory) where the
///         limit does not hold the values of what is tried
Result<Batches> separateBatches(const graph::Model &model, const ExampleSource &source,
                                const std::string &backend, std::size_t wanted, const Shard &shard,
                                std::size_t memoryLimit = kAnyMemory);

/// How many shards there can be: as many as separateBatches() makes of all examples. fails: as openExamples() and separateBatches()
Result<std::size_t> maxShards(const graph::Model &model, const std::string &modelPath,
                              const ExampleOptions &options, const std::string &backend, std::size_t wanted,
                              std::size_t memoryLimit = kAnyMemory);

} // namespace halftone::walks
