#include "core/dialect/onnx/operator_rows.h"
#include "core/dialect/onnx/tabular_fields.h"
#include "core/tensor/elements.h"

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>

/// Operators of ai.onnx.ml that have their own structs, and TfIdfVectorizer; others of it are functions
/// (resources/onnx/functions.json).
namespace halftone::dialect::onnx {
namespace {

using ops::Operator;
using ops::ScoreTransform;

constexpr std::array<std::string_view, 6> kTransforms{"NONE",         "SOFTMAX", "LOGISTIC",
                                                      "SOFTMAX_ZERO", "PROBIT",  ""};

void checkSizes(NodeReader &in, const ops::SupportVectors &op)
{
    const auto need = [&in](const char *key, std::size_t found, std::size_t least) {
        if (found < least)
            in.fail(key, std::to_string(found) + " numbers", std::to_string(least));
    };
    const std::size_t classes = op.labels.size();
    if (op.isLinear()) {
        need("coefficients", op.coefficients.size(), classes * static_cast<std::size_t>(op.features));
        return need("rho", op.rho.size(), 1);
    }
    const std::size_t vectors
        = op.features > 0 ? op.vectors.size() / static_cast<std::size_t>(op.features) : 0;
    need("vectors_per_class", op.vectorsPerClass.size(), classes);
    need("coefficients", op.coefficients.size(), (classes - 1) * vectors);
    need("rho", op.rho.size(), op.pairs());
    if (!op.probabilityA.empty() || !op.probabilityB.empty()) {
        need("prob_a", op.probabilityA.size(), op.pairs());
        need("prob_b", op.probabilityB.size(), op.pairs());
    }
}

Operator svmClassifier(NodeReader &in)
{
    static constexpr std::array<std::string_view, 5> kKernels{"LINEAR", "POLY", "RBF", "SIGMOID", ""};
    ops::SupportVectors op;
    op.labels = labelsOf(in, "classlabels_ints");
    op.kernel = static_cast<ops::SupportVectors::Kernel>(in.choice("kernel_type", kKernels) % 4);
    op.transform = transformOf(in);
    op.vectorsPerClass = in.integers("vectors_per_class");
    op.vectors = numbersOf(in, "support_vectors");
    op.coefficients = numbersOf(in, "coefficients");
    op.rho = numbersOf(in, "rho");
    op.probabilityA = numbersOf(in, "prob_a");
    op.probabilityB = numbersOf(in, "prob_b");
    std::vector<double> kernel = numbersOf(in, "kernel_params");
    kernel.resize(3);
    op.gamma = kernel[0];
    op.shift = kernel[1];
    op.degree = kernel[2];
    std::int64_t vectors = 0;
    for (const std::int64_t count : op.vectorsPerClass) {
        if (count < 0 || count > static_cast<std::int64_t>(op.vectors.size()))
            in.fail("vectors_per_class", std::to_string(count), "at most the number of vectors");
        vectors += std::clamp<std::int64_t>(count, 0, static_cast<std::int64_t>(op.vectors.size()));
    }
    if (in.error())
        return op;
    if (vectors == 0)
        op.vectorsPerClass.clear();
    const std::size_t numbers = vectors > 0 ? op.vectors.size() : op.coefficients.size();
    op.features = static_cast<std::int64_t>(numbers)
        / (vectors > 0 ? vectors : static_cast<std::int64_t>(op.labels.size()));
    op.vectors.resize(static_cast<std::size_t>(op.features * vectors));
    checkSizes(in, op);
    return op;
}

} // namespace

ScoreTransform transformOf(NodeReader &in)
{
    return static_cast<ScoreTransform>(in.choice("post_transform", kTransforms) % (kTransforms.size() - 1));
}

std::vector<double> numbersOf(NodeReader &in, const std::string &key)
{
    if (const tensor::Tensor *const held = in.tensor(key + "_as_tensor")) {
        std::vector<double> values(held->elementCount());
        tensor::widen(held->dtype(), held->bytes().data(), values.size(), values.data());
        return values;
    }
    std::vector<double> values = in.reals(key);
    for (double &value : values) // the text is the shortest that gives the float
        value = static_cast<double>(static_cast<float>(value));
    return values;
}

ops::Dims labelsOf(NodeReader &in, std::string_view integers)
{
    ops::Dims labels = in.integers(integers);
    if (labels.empty()) {
        labels.resize(in.texts("classlabels_strings").size());
        std::iota(labels.begin(), labels.end(), std::int64_t{0});
    }
    if (labels.empty() || labels.size() > std::numeric_limits<std::uint16_t>::max())
        in.fail(integers, std::to_string(labels.size()) + " labels", "1 to 65535");
    return labels;
}

namespace {

/// The pool holds all grams of one number, then all of two, and so on; the counts say where each length begins.
Operator tfIdfVectorizer(NodeReader &in)
{
    static constexpr std::array<std::string_view, 3> kModes{"TF", "IDF", "TFIDF"};
    static constexpr std::array kOfThem{ops::TfIdfVectorizer::Mode::Counts,
                                        ops::TfIdfVectorizer::Mode::Presence,
                                        ops::TfIdfVectorizer::Mode::Weighted};
    ops::TfIdfVectorizer op;
    op.mode = kOfThem[in.choice("mode", kModes)];
    op.shortest = in.integer("min_gram_length");
    op.longest = in.integer("max_gram_length");
    op.widestGap = in.integer("max_skip_count");
    const ops::Dims pool = in.integers("pool_int64s");
    const ops::Dims begins = in.integers("ngram_counts");
    const ops::Dims columns = in.integers("ngram_indexes");
    const std::vector<double> weights = in.reals("weights");
    if (in.has("pool_strings"))
        in.fail("pool_strings", "texts", "whole numbers");
    if (op.shortest < 1 || op.longest < op.shortest || op.longest > std::ssize(begins) || op.widestGap < 0)
        in.fail("max_gram_length", std::to_string(op.shortest) + " to " + std::to_string(op.longest),
                "lengths from 1 to the number of ngram_counts");
    if (!weights.empty() && weights.size() != columns.size())
        in.fail("weights", std::to_string(weights.size()), std::to_string(columns.size()));
    for (std::size_t k = 0; k < begins.size(); ++k) {
        const auto length = static_cast<std::int64_t>(k) + 1;
        const std::int64_t end = k + 1 < begins.size() ? begins[k + 1] : std::ssize(pool);
        if (begins[k] < 0 || end < begins[k] || end > std::ssize(pool) || (end - begins[k]) % length != 0) {
            in.fail("ngram_counts", std::to_string(begins[k]),
                    "ascending offsets of the grams of each length");
            break;
        }
        for (auto at = pool.begin() + begins[k]; at != pool.begin() + end; at += length) {
            const std::size_t number = op.grams.size();
            if (number >= columns.size() || columns[number] < 0
                || columns[number] >= std::numeric_limits<std::int32_t>::max()) {
                in.fail("ngram_indexes", std::to_string(columns.size()) + " places", "one for each gram");
                return op;
            }
            op.grams.push_back(
                {ops::Dims(at, at + length), columns[number],
                 op.mode == ops::TfIdfVectorizer::Mode::Counts || weights.empty() ? 1 : weights[number]});
            op.columns = std::max(op.columns, columns[number] + 1);
        }
    }
    return op;
}

} // namespace

std::span<const OperatorRow> tabularRows()
{
    // clang-format off
    static constexpr std::array kRows{
        OperatorRow{"ai.onnx.ml.TreeEnsemble", treeEnsemble},
        OperatorRow{"ai.onnx.ml.TreeEnsembleClassifier", treeClassifier},
        OperatorRow{"ai.onnx.ml.TreeEnsembleRegressor", treeRegressor},
        OperatorRow{"ai.onnx.ml.SVMClassifier", svmClassifier},
        OperatorRow{"TfIdfVectorizer", tfIdfVectorizer},
    };
    // clang-format on
    return kRows;
}

} // namespace halftone::dialect::onnx
