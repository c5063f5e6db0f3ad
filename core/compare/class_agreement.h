#pragma once

#include "core/tensor/exact_sum.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace halftone::compare {

/// The meaning of a row of an output, for its divergence.
enum class Scores
{
    Logits, ///< converted to probabilities by softmax
    Probabilities
};

/// The logarithms of the probabilities that a row of scores stands for. Needs: at least one score
std::vector<double> logarithms(std::span<const float> scores, Scores kind);

/// How often two models predict the same classes (core/quantize/RULES.md, Q-agreement). Shares are in [0, 1].
struct Agreement
{
    std::size_t examples = 0;
    double top1 = 0; ///< share with the same first class
    double top5 = 0; ///< mean share of common classes among the first five (or all, if fewer)
    double top1InTop5 = 0; ///< share whose first class is among the other model's first five
    double divergence = 0; ///< mean Kullback-Leibler divergence in nats
};

/// The sums behind an Agreement; can be added in any order.
struct AgreementParts
{
    std::uint64_t examples = 0;
    std::uint64_t top1 = 0;
    std::uint64_t top1InTop5 = 0;
    tensor::ExactSum top5; ///< shares of the examples
    tensor::ExactSum divergence;

    void add(const AgreementParts &other);
    std::optional<Agreement> result() const; ///< absent without examples
};

/// Collects the agreement over the rows of one output.
class ClassAgreement
{
public:
    explicit ClassAgreement(Scores scores)
        : m_scores(scores)
    {
    }

    /// Adds one example. Needs: equal numbers of scores.
    void add(std::span<const float> reference, std::span<const float> values);
    std::optional<Agreement> result() const { return m_sums.result(); }
    const AgreementParts &parts() const { return m_sums; }

private:
    Scores m_scores;
    AgreementParts m_sums;
};

} // namespace halftone::compare
