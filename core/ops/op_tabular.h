#pragma once

#include "core/ops/op_types.h"

#include <cstdint>
#include <vector>

/// Classifiers and regressors of tables, a row an example. What they compute is ai.onnx.ml's; where its text leaves room (two classes
/// of which only one has a score), it is what ONNX Runtime computes.
namespace halftone::ops {

/// What becomes of a row's scores in the end.
enum class ScoreTransform : std::uint8_t
{
    None,
    Softmax,
    Logistic,
    SoftmaxZero, ///< softmax in which zeros stay zero
    Probit
};

/// Sums (or another aggregate) of what the leaves of trees say that a row comes to.
/// Inputs: data (N, features). Outputs: values (N, columns); of a classifier labels (N), scores (N, columns).
struct TreeEnsemble
{
    enum class Test : std::uint8_t
    {
        LessEqual,
        Less,
        GreaterEqual,
        Greater,
        Equal,
        NotEqual,
        Member, ///< of members[first] to members[last - 1]
        Leaf
    };
    enum class Aggregate : std::uint8_t
    {
        Average,
        Sum,
        Minimum,
        Maximum
    };
    struct Node
    {
        Test test = Test::Leaf;
        bool missingIsTrue = false; ///< where a NaN goes
        std::uint32_t feature = 0;
        double value = 0;
        std::uint32_t whenTrue = 0; ///< positions in `nodes`
        std::uint32_t whenFalse = 0;
        std::uint32_t first = 0; ///< of a leaf's weights, or of a test's members
        std::uint32_t last = 0;

        bool operator==(const Node &) const = default;
    };
    struct Weight
    {
        std::uint32_t column = 0;
        double value = 0;

        bool operator==(const Weight &) const = default;
    };

    std::vector<Node> nodes{}; ///< from every root each is met once at most
    std::vector<std::uint32_t> roots{};
    std::vector<Weight> weights{};
    std::vector<double> members{};
    std::vector<double> base{}; ///< by column; one alone is for all
    std::int64_t columns = 1;
    std::int64_t features = 0; ///< that a row must have at least
    Aggregate aggregate = Aggregate::Sum;
    ScoreTransform transform = ScoreTransform::None;
    Dims labels{}; ///< of a classifier, by column; empty: it is none

    bool isClassifier() const { return !labels.empty(); }
    bool operator==(const TreeEnsemble &) const = default;
};

/// Support vectors that tell classes apart pair by pair, or (without any) a score a class that is linear in the row.
/// Inputs: data (N, features). Outputs: labels (N), scores (N, columns()).
struct SupportVectors
{
    enum class Kernel : std::uint8_t
    {
        Linear,
        Polynomial,
        Radial,
        Sigmoid
    } kernel
        = Kernel::Linear;
    double gamma = 0;
    double shift = 0;
    double degree = 0;
    std::int64_t features = 0;
    Dims vectorsPerClass{}; ///< none: linear scores
    std::vector<double> vectors{}; ///< (all vectors, features)
    std::vector<double> coefficients{}; ///< (classes - 1, all vectors); linear: (classes, features)
    std::vector<double> rho{}; ///< by pair of classes
    std::vector<double> probabilityA{}; ///< by pair, of Platt's scaling; none: scores are those of pairs
    std::vector<double> probabilityB{};
    ScoreTransform transform = ScoreTransform::None;
    Dims labels{};

    std::size_t pairs() const { return labels.size() * (labels.size() - 1) / 2; }
    bool isLinear() const { return vectorsPerClass.empty(); }
    std::int64_t columns() const
    {
        const bool arePairs = !isLinear() && probabilityA.empty() && labels.size() > 2;
        return static_cast<std::int64_t>(arePairs ? pairs() : labels.size());
    }
    bool operator==(const SupportVectors &) const = default;
};

/// How often each of a list of sequences of numbers ("grams") stands in a row, with gaps of equal width too. Input: whole numbers (C)
/// or (N, C). Output: (columns) or (N, columns) of float32. A gram of one number is looked for without gaps alone.
struct TfIdfVectorizer
{
    enum class Mode : std::uint8_t
    {
        Counts, ///< how often
        Presence, ///< 1 where it is there
        Weighted ///< how often, times its weight
    } mode
        = Mode::Counts;
    struct Gram
    {
        Dims numbers{};
        std::int64_t column = 0;
        double weight = 1;

        bool operator==(const Gram &) const = default;
    };
    std::vector<Gram> grams{};
    std::int64_t shortest = 1;
    std::int64_t longest = 1;
    std::int64_t widestGap = 0; ///< numbers that are left out between two of a gram
    std::int64_t columns = 0;

    bool operator==(const TfIdfVectorizer &) const = default;
};

} // namespace halftone::ops
