#pragma once

#include "core/jobs/batches.h"
#include "core/jobs/compare.h"
#include "core/jobs/task_count.h"

#include <memory>

namespace halftone::jobs {

/// compareModels() with each example alone: fills in what the examples tell. Examples are computed side by side, as many as the
/// memory limit lets.
/// batches  of one example each
Result<void> compareEach(const profile::ComparedModels &models, const ExampleSource &source,
                         const Batches &batches, std::shared_ptr<const Task> task,
                         const CompareOptions &options, const Progress &progress, CompareOutcome &outcome);

} // namespace halftone::jobs
