#pragma once

#include "core/tasks/task_count.h"
#include "core/walks/batches.h"
#include "core/walks/compare.h"

#include <memory>

namespace halftone::walks {

/// compareModels() with each example alone: fills in what the examples tell. Examples are computed side by side, as many as the
/// memory limit lets; where it does not hold the weights that kernels pack beside the values, each is packed when it is used.
/// batches  of one example each, or of as many as the model takes
/// interim  is given what the examples so far tell, from time to time
Result<void> compareEach(const compare::ComparedModels &models, const ExampleSource &source,
                         const Batches &batches, const std::shared_ptr<const tasks::Task> &task,
                         const CompareOptions &options, const Progress &progress, CompareOutcome &outcome,
                         const InterimOutcome &interim = {});

} // namespace halftone::walks
