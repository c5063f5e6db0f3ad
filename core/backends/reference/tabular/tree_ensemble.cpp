#include "core/backends/reference/kernels.h"
#include "core/backends/reference/tabular/scores.h"

#include <algorithm>
#include <cmath>
#include <optional>

namespace halftone::backends::reference {
namespace {

using ops::TreeEnsemble;
using Node = TreeEnsemble::Node;
using Scores = std::vector<std::optional<double>>; ///< by column; nothing where no leaf says any

bool holds(const TreeEnsemble &op, const Node &node, double x)
{
    using Test = TreeEnsemble::Test;
    if (std::isnan(x) && node.missingIsTrue)
        return true;
    switch (node.test) {
    case Test::LessEqual:
        return x <= node.value;
    case Test::Less:
        return x < node.value;
    case Test::GreaterEqual:
        return x >= node.value;
    case Test::Greater:
        return x > node.value;
    case Test::Equal:
        return x == node.value;
    case Test::NotEqual:
        return x != node.value;
    case Test::Member:
        return std::find(op.members.begin() + node.first, op.members.begin() + node.last, x)
            != op.members.begin() + node.last;
    case Test::Leaf:
        break;
    }
    return false;
}

template <class Real>
const Node &leafOf(const TreeEnsemble &op, std::uint32_t root, const Real *row)
{
    const Node *node = &op.nodes[root];
    while (node->test != TreeEnsemble::Test::Leaf)
        node = &op.nodes[holds(op, *node, static_cast<double>(row[node->feature])) ? node->whenTrue
                                                                                   : node->whenFalse];
    return *node;
}

double joined(TreeEnsemble::Aggregate aggregate, double a, double b)
{
    switch (aggregate) {
    case TreeEnsemble::Aggregate::Minimum:
        return std::min(a, b);
    case TreeEnsemble::Aggregate::Maximum:
        return std::max(a, b);
    case TreeEnsemble::Aggregate::Sum:
    case TreeEnsemble::Aggregate::Average:
        break;
    }
    return a + b;
}

template <class Real>
Scores scoresOf(const TreeEnsemble &op, const Real *row)
{
    Scores scores(static_cast<std::size_t>(op.columns));
    for (const std::uint32_t root : op.roots) {
        const Node &leaf = leafOf(op, root, row);
        for (std::uint32_t k = leaf.first; k < leaf.last; ++k) {
            auto &score = scores[op.weights[k].column];
            score = score ? joined(op.aggregate, *score, op.weights[k].value) : op.weights[k].value;
        }
    }
    return scores;
}

double baseOf(const TreeEnsemble &op, std::size_t column)
{
    if (op.base.size() == static_cast<std::size_t>(op.columns))
        return op.base[column];
    return op.columns == 1 && op.base.size() == 1 ? op.base[0] : 0;
}

std::vector<double> valuesOf(const TreeEnsemble &op, const Scores &scores)
{
    const double share
        = op.aggregate == TreeEnsemble::Aggregate::Average ? 1 / static_cast<double>(op.roots.size()) : 1;
    std::vector<double> values;
    for (std::size_t column = 0; column < scores.size(); ++column)
        values.push_back(scores[column] ? *scores[column] * share + baseOf(op, column) : 0);
    // One value alone knows no other transform.
    if (values.size() > 1 || op.transform == ops::ScoreTransform::Probit)
        transformScores(op.transform, values);
    return values;
}

struct Chosen
{
    std::size_t column = 0;
    std::vector<double> scores{};
};

Chosen chosenOfMany(const TreeEnsemble &op, const Scores &scores)
{
    Chosen chosen;
    std::optional<double> most;
    for (std::size_t column = 0; column < scores.size(); ++column) {
        const bool isThere = scores[column] || !op.base.empty();
        const double score = scores[column].value_or(0) + baseOf(op, column);
        chosen.scores.push_back(score);
        if (isThere && (!most || score > *most)) {
            most = score;
            chosen.column = column;
        }
    }
    transformScores(op.transform, chosen.scores);
    return chosen;
}

/// Facts of all weights that two classes are chosen by.
struct PairRule
{
    bool isOneSided = false; ///< all are of one class
    bool areShares = false; ///< none is below 0

    explicit PairRule(const TreeEnsemble &op)
        : isOneSided(std::ranges::all_of(
            op.weights, [&](const auto &weight) { return weight.column == op.weights.front().column; }))
        , areShares(std::ranges::all_of(op.weights, [](const auto &weight) { return weight.value >= 0; }))
    {
    }
};

/// ONNX Runtime's: where only the first column has a score, it is that of the second class; where the second has one, it decides alone.
/// Base values are added to scores that are there.
Chosen chosenOfTwo(const TreeEnsemble &op, const PairRule &rule, const Scores &scores)
{
    const bool areShares = rule.isOneSided && rule.areShares;
    const bool hasSecond = scores[1].has_value();
    std::vector<double> both{scores[0].value_or(0), scores[1].value_or(0)};
    if (op.base.size() == 2 && hasSecond) {
        both[1] = op.base[1] + both[0];
        both[0] = scores[0] ? -both[1] : 0;
    } else if (scores[0] && !op.base.empty() && op.base.size() <= 2) {
        both[0] += op.base[0];
    }
    const bool isSecond = both[hasSecond ? 1 : 0] > (areShares ? 0.5 : 0);
    if (hasSecond || op.base.size() == 2)
        transformScores(op.transform, both);
    else if (op.transform == ops::ScoreTransform::Probit)
        transformScores(op.transform, std::span(both).first(1));
    else
        both = scoresOfPair(op.transform, both[0], areShares);
    return {isSecond ? 1U : 0U, std::move(both)};
}

template <class Real>
void classify(const TreeEnsemble &op, const Arrays<Real> &arrays, std::size_t rows, std::size_t width)
{
    const PairRule rule(op);
    arrays.workers.share(rows, op.roots.size() * 16, [&](std::size_t begin, std::size_t end) {
        for (std::size_t row = begin; row < end; ++row) {
            const Scores scores = scoresOf(op, arrays.in[0] + row * width);
            const Chosen chosen = op.columns == 2 ? chosenOfTwo(op, rule, scores) : chosenOfMany(op, scores);
            if (arrays.out[0])
                arrays.out[0][row] = static_cast<Real>(op.labels[chosen.column]);
            for (std::size_t k = 0; arrays.out[1] && k < chosen.scores.size(); ++k)
                arrays.out[1][row * chosen.scores.size() + k] = static_cast<Real>(chosen.scores[k]);
        }
    });
}

} // namespace

template <class Real>
Result<void> compute(const TreeEnsemble &op, const Arrays<Real> &arrays)
{
    const DimSpan dims = arrays.inDims(0);
    const std::size_t rows = dims.size() == 1 ? 1 : static_cast<std::size_t>(dims[0]);
    const auto width = static_cast<std::size_t>(dims.back());
    if (op.isClassifier()) {
        classify(op, arrays, rows, width);
        return {};
    }
    const auto columns = static_cast<std::size_t>(op.columns);
    arrays.workers.share(rows, op.roots.size() * 16, [&](std::size_t begin, std::size_t end) {
        for (std::size_t row = begin; row < end; ++row) {
            const std::vector<double> values = valuesOf(op, scoresOf(op, arrays.in[0] + row * width));
            for (std::size_t k = 0; k < columns; ++k)
                arrays.out[0][row * columns + k] = static_cast<Real>(values[k]);
        }
    });
    return {};
}

HALFTONE_BOTH(TreeEnsemble)

} // namespace halftone::backends::reference
