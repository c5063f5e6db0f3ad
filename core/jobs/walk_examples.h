#pragma once

#include "core/base/progress.h"
#include "core/base/result.h"
#include "core/graph/model.h"
#include "core/jobs/calibrate.h"

#include <cstddef>
#include <functional>
#include <string>

namespace halftone::jobs {

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

} // namespace halftone::jobs
