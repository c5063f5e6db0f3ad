#include "core/walks/independent_examples.h"

#include "core/backends/backends.h"
#include "core/base/frugal_memory.h"
#include "core/base/text.h"
#include "core/interpret/interpreter.h"
#include "core/tensor/elements.h"
#include "core/tensor/error_metrics.h"
#include "core/walks/compare_parts.h"
#include "core/walks/fixed_batch.h"

#include <algorithm>
#include <vector>

namespace halftone::walks {
namespace {

using tensor::Tensor;

/// Kernels for more examples add up in another order; dependence shows in far more.
constexpr double kAlike = 1e-3;

constexpr std::size_t kAll = 0; ///< for ExampleSource::batch()

std::vector<float> valuesOf(const Tensor &tensor)
{
    std::vector<float> values(tensor.elementCount());
    tensor::widen(tensor.dtype(), tensor.bytes().data(), values.size(), values.data());
    return values;
}

/// Are the values of `both` those of one behind those of the other?
bool areJoined(const Tensor &both, const Tensor &one, const Tensor &other)
{
    std::vector<float> apart = valuesOf(one);
    const std::vector<float> more = valuesOf(other);
    apart.insert(apart.end(), more.begin(), more.end());
    const std::vector<float> joined = valuesOf(both);
    if (joined.size() != apart.size())
        return false;
    tensor::ErrorMetrics metrics;
    metrics.add(apart, joined);
    const tensor::ErrorFigures figures = metrics.figures();
    return figures.count == 0 || figures.maxAbs == 0 || figures.relativeL2.value_or(1) < kAlike;
}

using Heads = std::vector<Tensor>;

Result<Heads> headsOf(interpret::Interpreter &interpreter, const ExampleSource &source, std::size_t first,
                      std::size_t number)
{
    HALFTONE_TRY(const interpret::Feed feed, source.batch(first, number));
    HALFTONE_TRY(interpret::Execution run, interpreter.start(feed, interpret::Prepare::Once));
    while (!run.isDone())
        HALFTONE_CHECK(run.step());
    return run.heads();
}

/// What the values of so many examples take at a time. fails: what starting a run of them refuses
Result<std::size_t> valueBytes(interpret::Interpreter &interpreter, const ExampleSource &source,
                               std::size_t number)
{
    HALFTONE_TRY(const interpret::Feed feed, source.batch(0, number));
    HALFTONE_TRY(const interpret::Execution run, interpreter.start(feed, interpret::Prepare::WhenComputed));
    return run.peakBytes() + interpret::feedBytes(feed);
}

/// With little memory: kernels would be prepared for two examples, which nobody needs afterwards.
/// What cannot be run so is not independent either; running it whole says why.
/// fails: Unsupported where the limit does not hold what is tried
Result<bool> areIndependent(const graph::Model &model, const ExampleSource &source,
                            const std::string &backend, std::size_t memoryLimit)
{
    const FrugalMemory frugal;
    const auto chain = backends::backendChain(backend, 1);
    if (!chain.ok())
        return false;
    auto made = interpret::Interpreter::create(model, chain.value());
    if (!made.ok())
        return false;
    interpret::Interpreter interpreter = std::move(made).value();
    const auto ofOne = valueBytes(interpreter, source, 1);
    if (!ofOne.ok())
        return false;
    const auto ofBoth = valueBytes(interpreter, source, 2);
    if (!ofBoth.ok())
        return !valueBytes(interpreter, source, kAll).ok(); // a first axis of three may be one of colours
    if (ofOne.value() > memoryLimit)
        return exceedsMemory(memoryLimit, "one example", ofOne.value());
    if (ofBoth.value() > memoryLimit)
        return unsupported(
            Field::Memory,
            "a limit of " + humanBytes(memoryLimit)
                + " is too small to run two examples at once, which is needed to check whether they "
                  "depend on each other",
            "about " + humanBytes(ofBoth.value()) + ", or a batch of 1 if they do not");
    const auto one = headsOf(interpreter, source, 0, 1);
    const auto other = headsOf(interpreter, source, 1, 1);
    const auto both = headsOf(interpreter, source, 0, 2);
    if (!one.ok() || !other.ok() || !both.ok())
        return false;
    for (std::size_t k = 0; k < both.value().size(); ++k) {
        if (!areJoined(both.value()[k], one.value()[k], other.value()[k]))
            return false;
    }
    return true;
}

} // namespace

Result<Batches> separateBatches(const graph::Model &model, const ExampleSource &source,
                                const std::string &backend, std::size_t wanted, const Shard &shard,
                                std::size_t memoryLimit)
{
    HALFTONE_TRY(const Batches batches, batchesOf(model, source, backend, wanted));
    const std::size_t all = source.count().value_or(0);
    const bool isAsked = wanted > 0 || source.usualBatch() > 0;
    bool areApart = all > 0 && (isAsked || all == 1 || batches.isFilled);
    if (all > 0 && !areApart) {
        HALFTONE_TRY(areApart, areIndependent(model, source, backend, memoryLimit));
    }
    if (!areApart) {
        if (!shard.isWhole())
            return badCall("shard",
                           "the inputs cannot be split: they have no batch axis, or the result of one "
                           "example depends on the others",
                           "; run without shards");
        return Batches{all, 0, 1};
    }
    const Batches apart = batches.apart(shard);
    if (apart.examples == 0)
        return badCall("shard", "no examples are left for this shard: there are " + std::to_string(all),
                       batches.isFilled ? "at most as many shards as batches"
                                        : "at most as many shards as examples");
    return apart;
}

Result<std::size_t> maxShards(const graph::Model &model, const std::string &modelPath,
                              const ExampleOptions &options, const std::string &backend, std::size_t wanted,
                              std::size_t memoryLimit)
{
    HALFTONE_TRY(const auto source, openExamples(options, model, modelPath));
    HALFTONE_TRY(const Batches batches, separateBatches(model, *source, backend, wanted, {}, memoryLimit));
    return batches.size == 0 ? 1 : batches.count;
}

} // namespace halftone::walks
