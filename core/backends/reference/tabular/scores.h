#pragma once

#include "core/ops/op_tabular.h"

#include <span>
#include <vector>

namespace halftone::backends::reference {

/// Applies `transform` to a row's scores. Needs: two or more, or a regressor's one.
void transformScores(ops::ScoreTransform transform, std::span<double> scores);

/// The two scores of a pair of classes of which only the second has one.
/// areShares    scores are shares of 1, and the first class has the rest; else it has the opposite
std::vector<double> scoresOfPair(ops::ScoreTransform transform, double score, bool areShares);

} // namespace halftone::backends::reference
