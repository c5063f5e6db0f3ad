#pragma once

#include "core/session/compare.h"

/// What compareModels() and LiveComparison share.
namespace halftone::session {

/// Examples at a time that a comparison starts with; 0: all there is, untouched.
std::size_t batchOf(const CompareOptions &options, const ExampleSource &source);

/// Why a float32 run with NaN or infinities, first at `unclean`, is not compared.
Error uncleanReference(const graph::Graph &reference, const profile::LayerErrors &unclean);

/// Fills in what is known of the models alone.
void tellModels(CompareOutcome &outcome, profile::ComparedModels models);

} // namespace halftone::session
