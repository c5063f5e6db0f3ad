#pragma once

#include "core/walks/compare.h"

#include <cstddef>
#include <string>

/// What compareModels(), compareEach() and LiveComparison share, and calibrations in part.
namespace halftone::walks {

/// Why a float32 run with NaN or infinities in its outputs, first at `unclean`, is not compared.
Error uncleanReference(const graph::Graph &reference, const compare::LayerErrors &unclean);

/// What kernels pack of a model's weights, about: in float32, which an emulated type is computed in.
std::size_t packedBytes(const graph::Model &model);

/// `what` does not fit. needed  bytes that would do, about; 0: not known
Error exceedsMemory(std::size_t memoryLimit, const std::string &what, std::size_t needed = 0);

/// Fills in what is known of the models alone.
void recordModels(CompareOutcome &outcome, compare::ComparedModels models);

} // namespace halftone::walks
