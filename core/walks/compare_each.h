#pragma once

#include "core/tasks/task_count.h"
#include "core/walks/batches.h"
#include "core/walks/compare.h"

#include <memory>

namespace halftone::walks {

/// compareModels() with each example computed separately; fills in the results of the examples. As many examples run in parallel as the memory
/// limit allows. If packed weights do not fit beside the values, they are packed on use.
/// batches  of one example each, or of as many as the model needs
/// interim  receives the results so far from time to time
Result<void> compareEach(const compare::ComparedModels &models, const ExampleSource &source,
                         const Batches &batches, const std::shared_ptr<const tasks::Task> &task,
                         const CompareOptions &options, const Progress &progress, CompareOutcome &outcome,
                         const InterimOutcome &interim = {});

} // namespace halftone::walks
