#pragma once

#include "core/base/progress.h"
#include "core/base/result.h"
#include "core/graph/model.h"
#include "core/session/calibrate.h"

#include <cstddef>
#include <functional>
#include <string>

namespace halftone::session {

/// Who is shown what a run computes.
struct ExampleViewer
{
    /// Inputs first, then every output that a person may see, in the order of execution.
    std::function<void(const graph::Entry &, const tensor::Tensor &)> see;
    std::function<void()> batchDone{}; ///< may be empty
};

/// Runs the float32 model over its examples once, batch after batch, keeping no values. Gives how many examples there were; 0
/// where the arrays have no axis of examples.
/// fails: what reading the examples refuses, also where there are none; what runtime::Interpreter refuses; Cancelled
Result<std::size_t> walkExamples(const graph::Model &model, const std::string &symbolPath,
                                 const CalibrateOptions &options, const ExampleViewer &viewer,
                                 const Progress &progress);

} // namespace halftone::session
