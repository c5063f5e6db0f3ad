#pragma once

#include "core/session/figures.h"
#include "core/walks/compare.h"

#include <string>

namespace halftone::session {

/// What figures come from beside the model and the policy, as a line of text: figures with equal ones may stand for each other, today and in a
/// session that was saved. Files are told by name, size and time of change, and the machine by what its backend says of it. A file that is not
/// there is told as such; nothing fails.

/// Of compareModels() and LiveComparison: data, labels, preprocessing, how many examples; backend, device, threads.
std::string comparisonBasis(const walks::CompareOptions &options, const std::string &modelPath);
/// Of LatencyMeter: device, threads, runs.
std::string latencyBasis(const LatencyOptions &options);

} // namespace halftone::session
