#pragma once

#include "core/tensor/exact_sum.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace halftone::compare {

/// What a row of an output says, so that its divergence can be computed.
enum class Scores
{
    Logits, ///< softmax makes them probabilities
    Probabilities
};

/// How far two models decide alike (core/quantize/RULES.md, Q-agreement). Shares are in [0, 1].
struct Agreement
{
    std::size_t examples = 0;
    double top1 = 0; ///< share with the same first class
    double top5 = 0; ///< mean share of the first five classes (all, if there are fewer) that are common
    double top1InTop5 = 0; ///< share whose first class is among the other's first five
    double divergence = 0; ///< mean Kullback-Leibler divergence in nats
};

/// What an Agreement is made of; parts of the same examples add up, in any order.
struct AgreementParts
{
    std::uint64_t examples = 0;
    std::uint64_t top1 = 0;
    std::uint64_t top1InTop5 = 0;
    tensor::ExactSum top5; ///< of each example's share
    tensor::ExactSum divergence;

    void add(const AgreementParts &other);
    std::optional<Agreement> result() const; ///< nothing without examples
};

/// Collects the agreement over the rows of one output.
class ClassAgreement
{
public:
    explicit ClassAgreement(Scores scores)
        : m_scores(scores)
    {
    }

    /// One example. Needs: as many scores in both.
    void add(std::span<const float> reference, std::span<const float> values);
    std::optional<Agreement> result() const { return m_sums.result(); }
    const AgreementParts &parts() const { return m_sums; }

private:
    Scores m_scores;
    AgreementParts m_sums;
};

} // namespace halftone::compare
