#pragma once

#include "core/base/progress.h"
#include "core/base/result.h"
#include "core/graph/model.h"
#include "core/walks/calibrate.h"

#include <cstddef>
#include <functional>
#include <string>

namespace halftone::walks {

/// Shown what a run computes: inputs and every output that a person may see. One entry's values come one after another,
/// batch by batch, in order, with the last batch's marked as the last; those of different nodes may come at once, each on
/// a thread of its own.
using ExampleViewer = std::function<void(const graph::Entry &, const tensor::Tensor &, bool isLast)>;

/// Runs the float32 model over its examples once, keeping no values. Batches run side by side, each on its share of the
/// threads: there is then no waiting between the parts of an operator, and what a batch computed is still in the caches
/// when it is looked at. Progress is told by the calling thread.
/// Gives how many examples there were; 0 where the arrays have no axis of examples.
/// fails: what reading the examples refuses, also where there are none; what interpret::Interpreter refuses; Cancelled. The
/// first batch in order that fails says why.
Result<std::size_t> walkExamples(const graph::Model &model, const std::string &modelPath,
                                 const CalibrateOptions &options, const ExampleViewer &viewer,
                                 const Progress &progress);

/// What walkEachExample() has shown.
struct WalkedExamples
{
    std::size_t examples = 0; ///< in the shard; 0 where the arrays have no axis of examples
    std::size_t all = 0; ///< there are
    /// False: the arrays were computed as they are, in one piece, since they have no axis of examples or since what the model
    /// makes of one depends on the others.
    bool areApart = true;
};

/// Shown one value of one example; values of other nodes and of other examples may come at once, in any order.
using EachViewer = std::function<void(const graph::Entry &, const tensor::Tensor &)>;

/// Runs the float32 model over a shard of its examples, one by one (where it takes another number only, so many at a time), each with the kernels for one example and one thread: what
/// is shown depends neither on options.batch, nor on the threads, nor on the shard. Arrays for which options.batch is 0 are
/// taken apart where that makes no difference.
/// fails: as walkExamples(); BadCall for a shard of arrays that cannot be taken apart
Result<WalkedExamples> walkEachExample(const graph::Model &model, const std::string &modelPath,
                                       const CalibrateOptions &options, const EachViewer &viewer,
                                       const Progress &progress);

} // namespace halftone::walks
