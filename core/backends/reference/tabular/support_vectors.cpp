#include "core/backends/reference/kernels.h"
#include "core/backends/reference/tabular/scores.h"

#include <algorithm>
#include <cmath>

namespace halftone::backends::reference {
namespace {

using ops::SupportVectors;

template <class Real>
double dot(const Real *x, const double *y, std::size_t count)
{
    double sum = 0;
    for (std::size_t k = 0; k < count; ++k)
        sum += static_cast<double>(x[k]) * y[k];
    return sum;
}

template <class Real>
double kernelOf(const SupportVectors &op, const Real *row, const double *vector)
{
    const auto count = static_cast<std::size_t>(op.features);
    switch (op.kernel) {
    case SupportVectors::Kernel::Radial: {
        double distance = 0;
        for (std::size_t k = 0; k < count; ++k) {
            const double step = static_cast<double>(row[k]) - vector[k];
            distance += step * step;
        }
        return std::exp(-op.gamma * distance);
    }
    case SupportVectors::Kernel::Polynomial:
        return std::pow(op.gamma * dot(row, vector, count) + op.shift, op.degree);
    case SupportVectors::Kernel::Sigmoid:
        return std::tanh(op.gamma * dot(row, vector, count) + op.shift);
    case SupportVectors::Kernel::Linear:
        break;
    }
    return dot(row, vector, count);
}

/// Scores of the pairs of classes, (0, 1), (0, 2), … (1, 2), …: above 0 the first one is more likely.
template <class Real>
std::vector<double> scoresOfPairs(const SupportVectors &op, const Real *row)
{
    const auto width = static_cast<std::size_t>(op.features);
    std::vector<double> kernels;
    for (std::size_t k = 0; k * width < op.vectors.size(); ++k)
        kernels.push_back(kernelOf(op, row, op.vectors.data() + k * width));
    std::vector<std::size_t> begins{0};
    for (const std::int64_t count : op.vectorsPerClass)
        begins.push_back(begins.back() + static_cast<std::size_t>(count));
    std::vector<double> scores;
    const auto part = [&](std::size_t of, std::size_t against) {
        const double *const coefficients = op.coefficients.data() + against * kernels.size();
        return dot(kernels.data() + begins[of], coefficients + begins[of], begins[of + 1] - begins[of]);
    };
    for (std::size_t i = 0; i + 1 < op.labels.size(); ++i)
        for (std::size_t j = i + 1; j < op.labels.size(); ++j)
            scores.push_back(part(i, j - 1) + part(j, i) + op.rho[scores.size()]);
    return scores;
}

/// Probabilities of classes from those of pairs, r[i][j] that of i where it is i or j: the second method of Wu, Lin and Weng,
/// "Probability estimates for multi-class classification by pairwise coupling" (2004), with libsvm's limits.
class PairCoupling
{
public:
    PairCoupling(std::size_t classes, const std::vector<double> &pairs)
        : m_count(classes)
        , m_q(classes * classes)
        , m_p(classes, 1 / static_cast<double>(classes))
    {
        std::vector<double> r(classes * classes);
        std::size_t pair = 0;
        for (std::size_t i = 0; i < classes; ++i)
            for (std::size_t j = i + 1; j < classes; ++j, ++pair) {
                r[i * classes + j] = pairs[pair];
                r[j * classes + i] = 1 - pairs[pair];
            }
        for (std::size_t i = 0; i < classes; ++i)
            for (std::size_t j = 0; j < classes; ++j) {
                if (i == j)
                    continue;
                q(i, i) += r[j * classes + i] * r[j * classes + i];
                q(i, j) = -r[j * classes + i] * r[i * classes + j];
            }
    }

    std::vector<double> solve()
    {
        constexpr int kMostSteps = 100;
        const double limit = 0.005 / static_cast<double>(m_count);
        for (int step = 0; step < kMostSteps && !isGoodTo(limit); ++step)
            for (std::size_t i = 0; i < m_count; ++i)
                improve(i);
        return m_p;
    }

private:
    double &q(std::size_t i, std::size_t j) { return m_q[i * m_count + j]; }

    bool isGoodTo(double limit)
    {
        m_qp.assign(m_count, 0);
        m_pqp = 0;
        for (std::size_t i = 0; i < m_count; ++i) {
            for (std::size_t j = 0; j < m_count; ++j)
                m_qp[i] += q(i, j) * m_p[j];
            m_pqp += m_p[i] * m_qp[i];
        }
        return std::ranges::all_of(m_qp, [&](double value) { return std::abs(value - m_pqp) < limit; });
    }

    void improve(std::size_t i)
    {
        const double step = (m_pqp - m_qp[i]) / q(i, i);
        m_p[i] += step;
        m_pqp = (m_pqp + step * (step * q(i, i) + 2 * m_qp[i])) / (1 + step) / (1 + step);
        for (std::size_t j = 0; j < m_count; ++j) {
            m_qp[j] = (m_qp[j] + step * q(i, j)) / (1 + step);
            m_p[j] /= 1 + step;
        }
    }

    std::size_t m_count;
    std::vector<double> m_q;
    std::vector<double> m_p;
    std::vector<double> m_qp;
    double m_pqp = 0;
};

struct Verdict
{
    std::size_t label = 0;
    std::vector<double> scores;
};

std::size_t mostVotes(const SupportVectors &op, const std::vector<double> &pairs)
{
    std::vector<int> votes(op.labels.size());
    std::size_t pair = 0;
    for (std::size_t i = 0; i < votes.size(); ++i)
        for (std::size_t j = i + 1; j < votes.size(); ++j)
            ++votes[pairs[pair++] > 0 ? i : j];
    return static_cast<std::size_t>(std::ranges::max_element(votes) - votes.begin());
}

/// With Platt's scaling.
std::vector<double> probabilities(const SupportVectors &op, std::vector<double> pairs)
{
    constexpr double kLeast = 1e-7;
    for (std::size_t k = 0; k < pairs.size(); ++k) {
        const double x = pairs[k] * op.probabilityA[k] + op.probabilityB[k];
        pairs[k] = std::clamp(1 / (1 + std::exp(x)), kLeast, 1 - kLeast);
    }
    return PairCoupling(op.labels.size(), pairs).solve();
}

template <class Real>
Verdict verdictOf(const SupportVectors &op, const Real *row)
{
    Verdict verdict;
    if (op.isLinear()) {
        const auto width = static_cast<std::size_t>(op.features);
        for (std::size_t k = 0; k < op.labels.size(); ++k)
            verdict.scores.push_back(dot(row, op.coefficients.data() + k * width, width) + op.rho[0]);
        const auto most = std::ranges::max_element(verdict.scores);
        verdict.label = static_cast<std::size_t>(most - verdict.scores.begin());
        if (op.labels.size() == 2 && op.probabilityA.empty()) {
            const bool areShares = std::ranges::all_of(op.coefficients, [](double c) { return c >= 0; });
            if (areShares ? *most >= 0.5 : *most > 0)
                verdict.label = 1;
        }
        transformScores(op.transform, verdict.scores);
        return verdict;
    }
    verdict.scores = scoresOfPairs(op, row);
    verdict.label = mostVotes(op, verdict.scores);
    if (!op.probabilityA.empty())
        verdict.scores = probabilities(op, std::move(verdict.scores));
    if (verdict.scores.size() == 1)
        verdict.scores = scoresOfPair(op.transform, verdict.scores[0],
                                      op.transform != ops::ScoreTransform::None
                                          && op.transform != ops::ScoreTransform::Logistic);
    else
        transformScores(op.transform, verdict.scores);
    return verdict;
}

} // namespace

template <class Real>
Result<void> compute(const SupportVectors &op, const Arrays<Real> &arrays)
{
    const DimSpan dims = arrays.inDims(0);
    const std::size_t rows = dims.size() == 1 ? 1 : static_cast<std::size_t>(dims[0]);
    const auto width = static_cast<std::size_t>(dims.back());
    arrays.workers.share(
        rows, op.vectors.size() + op.coefficients.size(), [&](std::size_t begin, std::size_t end) {
            for (std::size_t row = begin; row < end; ++row) {
                const Verdict verdict = verdictOf(op, arrays.in[0] + row * width);
                if (arrays.out[0])
                    arrays.out[0][row] = static_cast<Real>(op.labels[verdict.label]);
                for (std::size_t k = 0; arrays.out[1] && k < verdict.scores.size(); ++k)
                    arrays.out[1][row * verdict.scores.size() + k] = static_cast<Real>(verdict.scores[k]);
            }
        });
    return {};
}

HALFTONE_BOTH(SupportVectors)

} // namespace halftone::backends::reference
