#include "core/backends/reference/tabular/scores.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace halftone::backends::reference {
namespace {

using ops::ScoreTransform;

double logistic(double x)
{
    return 1 / (1 + std::exp(-x));
}

/// √2 · erf⁻¹(2x - 1), by Winitzki's approximation with a = 0.147, as ONNX Runtime has it.
double probit(double x)
{
    constexpr double kA = 0.147;
    const double y = 2 * x - 1;
    const double log = std::log((1 - y) * (1 + y));
    const double half = 2 / (std::numbers::pi * kA) + log / 2;
    const double root = std::sqrt(std::sqrt(half * half - log / kA) - half);
    return std::numbers::sqrt2 * (y < 0 ? -root : root);
}

/// Softmax over all scores, or over those that are not zero.
void softmax(std::span<double> scores, bool keepsZeros)
{
    constexpr double kZero = 1e-7;
    const double most = *std::ranges::max_element(scores);
    double sum = 0;
    for (double &score : scores) {
        const bool isZero = keepsZeros && std::abs(score) <= kZero;
        score = isZero ? score * std::exp(-most) : std::exp(score - most);
        sum += isZero ? 0 : score;
    }
    for (double &score : scores)
        score /= sum;
}

} // namespace

void transformScores(ScoreTransform transform, std::span<double> scores)
{
    switch (transform) {
    case ScoreTransform::None:
        return;
    case ScoreTransform::Logistic:
        std::ranges::transform(scores, scores.begin(), logistic);
        return;
    case ScoreTransform::Probit:
        std::ranges::transform(scores, scores.begin(), probit);
        return;
    case ScoreTransform::Softmax:
    case ScoreTransform::SoftmaxZero:
        softmax(scores, transform == ScoreTransform::SoftmaxZero);
        return;
    }
}

std::vector<double> scoresOfPair(ScoreTransform transform, double score, bool areShares)
{
    if (transform == ScoreTransform::Logistic && !areShares)
        return {logistic(-score), logistic(score)};
    return {areShares ? 1 - score : -score, score};
}

} // namespace halftone::backends::reference
