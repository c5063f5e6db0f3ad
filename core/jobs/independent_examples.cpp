#include "core/jobs/independent_examples.h"

#include "core/backends/backends.h"
#include "core/base/frugal_memory.h"
#include "core/interpret/interpreter.h"
#include "core/tensor/elements.h"
#include "core/tensor/error_metrics.h"

#include <algorithm>
#include <vector>

namespace halftone::jobs {
namespace {

using tensor::Tensor;

/// Kernels for more examples add up in another order; dependence shows in far more.
constexpr double kAlike = 1e-3;

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

/// With little memory, whatever the limit: kernels would be prepared for two examples, which nobody needs afterwards.
/// What cannot be run so is not independent either; running it whole says why.
bool areIndependent(const graph::Model &model, const ExampleSource &source, const std::string &backend)
{
    const FrugalMemory frugal;
    const auto chain = backends::backendChain(backend, 1);
    if (!chain.ok())
        return false;
    auto interpreter = interpret::Interpreter::create(model, chain.value());
    if (!interpreter.ok())
        return false;
    const auto one = headsOf(interpreter.value(), source, 0, 1);
    const auto other = headsOf(interpreter.value(), source, 1, 1);
    const auto both = headsOf(interpreter.value(), source, 0, 2);
    if (!one.ok() || !other.ok() || !both.ok())
        return false;
    for (std::size_t k = 0; k < both.value().size(); ++k) {
        if (!areJoined(both.value()[k], one.value()[k], other.value()[k]))
            return false;
    }
    return true;
}

} // namespace

Result<Batches> batchesApart(const graph::Model &model, const ExampleSource &source,
                             const std::string &backend, std::size_t wanted, const Part &part)
{
    HALFTONE_TRY(const Batches batches, Batches::of(source, wanted));
    const std::size_t all = source.count().value_or(0);
    const bool isAsked = wanted > 0 || source.usualBatch() > 0;
    const bool areApart = all > 0 && (isAsked || all == 1 || areIndependent(model, source, backend));
    if (!areApart) {
        if (!part.isWhole())
            return badCall("shard",
                           "the inputs are one piece: they have no axis of examples, or what the "
                           "model makes of one example depends on the others",
                           "no shards");
        return Batches{all, 0, 1};
    }
    const Batches apart = batches.apart(part);
    if (apart.examples == 0)
        return badCall("shard", "no example: there are " + std::to_string(all),
                       "at most as many shards as examples");
    return apart;
}

Result<std::size_t> mostParts(const graph::Model &model, const std::string &modelPath,
                              const ExampleOptions &options, const std::string &backend, std::size_t wanted)
{
    HALFTONE_TRY(const auto source, openExamples(options, model, modelPath));
    HALFTONE_TRY(const Batches batches, batchesApart(model, *source, backend, wanted, {}));
    return batches.size == 0 ? 1 : batches.examples;
}

} // namespace halftone::jobs
