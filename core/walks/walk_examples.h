#pragma once

#include "core/base/progress.h"
#include "core/base/result.h"
#include "core/graph/model.h"
#include "core/walks/calibrate.h"

#include <cstddef>
#include <functional>
#include <string>

namespace halftone::walks {

/// Receives the values of inputs and of every visible output. Values of one entry arrive batch by batch, in order, and `isLast` marks the last
/// batch. Values of different nodes may arrive at the same time on different threads.
using ExampleViewer = std::function<void(const graph::Entry &, const tensor::Tensor &, bool isLast)>;

/// Runs the float32 model over its examples once without keeping values. Batches run in parallel (BatchWalk). Progress is reported on the
/// calling thread.
/// returns  the number of examples; 0 if the arrays have no axis of examples
/// fails    errors of reading the examples, also if there are none; errors of interpret::Interpreter; Cancelled. The first batch that failed,
///          in order, determines the error.
Result<std::size_t> walkExamples(const graph::Model &model, const std::string &modelPath,
                                 const CalibrateOptions &options, const ExampleViewer &viewer,
                                 const Progress &progress);

/// The result of walkEachExample().
struct WalkedExamples
{
    std::size_t examples = 0; ///< in the shard; 0 where the arrays have no axis of examples
    std::size_t all = 0; ///< number of examples in all shards
    /// False: the arrays were computed in one piece, because they have no axis of examples or because the result of one example depends on
    /// the others.
    bool areApart = true;
};

/// Receives one value of one example. Values of other nodes and examples may arrive at the same time, in any order.
using EachViewer = std::function<void(const graph::Entry &, const tensor::Tensor &)>;

/// Runs the float32 model over a shard of its examples, one at a time (or as many as the model requires), with kernels for one example and one
/// thread. The values depend neither on options.batch, nor on the threads, nor on the shard. If options.batch is 0, arrays are split if that
/// does not change the results.
/// fails: as walkExamples(); BadCall for a shard of arrays that cannot be split
Result<WalkedExamples> walkEachExample(const graph::Model &model, const std::string &modelPath,
                                       const CalibrateOptions &options, const EachViewer &viewer,
                                       const Progress &progress);

} // namespace halftone::walks
