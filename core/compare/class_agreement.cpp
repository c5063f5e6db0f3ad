#include "core/compare/class_agreement.h"

#include "core/tensor/top_classes.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace halftone::compare {

std::vector<double> logarithms(std::span<const float> scores, Scores kind)
{
    std::vector<double> logs(scores.begin(), scores.end());
    if (kind == Scores::Probabilities) {
        for (double &value : logs)
            value = std::log(value);
        return logs;
    }
    const double most = *std::ranges::max_element(logs);
    double sum = 0;
    for (const double value : logs)
        sum += std::exp(value - most);
    for (double &value : logs)
        value -= most + std::log(sum);
    return logs;
}

namespace {

double divergenceOf(std::span<const float> reference, std::span<const float> values, Scores kind)
{
    const std::vector<double> r = logarithms(reference, kind);
    const std::vector<double> x = logarithms(values, kind);
    double sum = 0;
    for (std::size_t i = 0; i < r.size(); ++i) {
        const double probability = std::exp(r[i]);
        sum += probability == 0 ? 0 : probability * (r[i] - x[i]);
    }
    return sum;
}

} // namespace

void ClassAgreement::add(std::span<const float> reference, std::span<const float> values)
{
    if (reference.empty())
        return;
    const auto r = tensor::topClasses(reference, 5);
    const auto x = tensor::topClasses(values, 5);
    const auto common
        = std::ranges::count_if(r, [&](std::size_t place) { return std::ranges::find(x, place) != x.end(); });
    ++m_sums.examples;
    m_sums.top1 += r[0] == x[0] ? 1 : 0;
    m_sums.top5.add(static_cast<double>(common) / static_cast<double>(r.size()));
    m_sums.top1InTop5 += std::ranges::find(x, r[0]) != x.end() ? 1 : 0;
    m_sums.divergence.add(divergenceOf(reference, values, m_scores));
}

void AgreementParts::add(const AgreementParts &other)
{
    examples += other.examples;
    top1 += other.top1;
    top1InTop5 += other.top1InTop5;
    top5.add(other.top5);
    divergence.add(other.divergence);
}

std::optional<Agreement> AgreementParts::result() const
{
    if (examples == 0)
        return std::nullopt;
    const auto all = static_cast<double>(examples);
    return Agreement{static_cast<std::size_t>(examples), static_cast<double>(top1) / all, top5.value() / all,
                     static_cast<double>(top1InTop5) / all, divergence.value() / all};
}

} // namespace halftone::compare
