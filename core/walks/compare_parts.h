#pragma once

#include "core/walks/compare.h"

#include <cstddef>
#include <string>

/// Shared by compareModels(), compareEach() and LiveComparison, partly by calibrations.
namespace halftone::walks {

/// The error for NaN or infinities in the float32 outputs. unclean: the first layer that has them
Error uncleanReference(const graph::Graph &reference, const compare::LayerErrors &unclean);

/// Approximate bytes of the weights that kernels pack, in float32 (as for emulated types).
std::size_t packedBytes(const graph::Model &model);

/// The error for `what` beyond the memory limit. needed: approximate bytes that suffice; 0: unknown
Error exceedsMemory(std::size_t memoryLimit, const std::string &what, std::size_t needed = 0);

/// Fills in what depends on the models alone.
void recordModels(CompareOutcome &outcome, compare::ComparedModels models);

} // namespace halftone::walks
