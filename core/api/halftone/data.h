#pragma once

#include "halftone/array.h"
#include "halftone/result.h"

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace halftone::api {

/// Examples in memory, made by examplesOf(). Immutable, cheap to copy.
class Examples
{
public:
    std::size_t arrayCount() const;

private:
    friend struct Inside;
    friend Result<Examples> examplesOf(const std::function<std::vector<Array>()> &next);
    struct Content;
    explicit Examples(std::shared_ptr<const Content> content);

    std::shared_ptr<const Content> m_content;
};

/// Takes batches until `next` gives an empty one. Arrays have the names of the inputs and an axis of examples first, along which batches are
/// joined; one batch alone is taken as it is, and shares its elements. `labels` holds the correct classes, `targets` the expected first output
/// for each example, unless the model has an input of that name.
/// fails: BadInput for arrays whose bytes do not match their shape, or that differ in type, shape or name from those of the first batch
Result<Examples> examplesOf(const std::function<std::vector<Array>()> &next);
/// The same for one batch.
Result<Examples> examplesOf(std::vector<Array> arrays);

/// Examples for a model.
struct Data
{
    std::string inputs; ///< an .npz file with one array per input, or a folder of pictures
    std::string preprocessing; ///< preprocessing of pictures; empty: preprocess.json beside the model
    std::string labels; ///< correct classes; empty: the array `labels` of the inputs, if any
    std::size_t examples = 0; ///< use only the first N; 0: all
    std::string targets
        = {}; ///< expected values of the first output: an .npz file or a folder of pictures; empty: unknown
    std::string metric
        = {}; ///< "top1", "top5", "miou", "psnr", "cosine" or "perplexity"; empty: guessed from outputs, labels and targets
    std::optional<Examples> inMemory = {}; ///< in place of `inputs`
    std::string nextToken
        = {}; ///< the input of a language model whose next token is right; empty: for "perplexity" without labels guessed

    bool isGiven() const { return inMemory || !inputs.empty(); }
};

/// Where and how to compute.
struct Compute
{
    std::string backend = "cpu"; ///< one that backendsReport() lists
    unsigned threads = 0; ///< 0: one per core
    std::size_t batch = 0; ///< examples per batch; 0: automatic
    std::optional<Type> precision
        = {}; ///< that a runtime which chooses one computes in: Float32, Float16 or BFloat16; absent: its own choice
};

/// The share of the examples whose correct class scores highest, or is among the five highest.
struct Accuracy
{
    double top1 = 0;
    double top5 = 0;
    std::size_t examples = 0;
};

/// How the first output was judged.
struct TaskScore
{
    std::string metric; ///< as Data::metric
    bool isGuessed = false;
    std::optional<double> reference; ///< of the model, or of the first of two
    std::optional<double> other; ///< of the second
    std::optional<double> agreement; ///< of both with each other
    std::size_t examples = 0;
};

} // namespace halftone::api
