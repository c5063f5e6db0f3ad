#include "core/backends/backends.h"
#include "core/kernels/latency_plan.h"
#include "core/runtimes/runtimes.h"

#include <algorithm>
#include <utility>

namespace halftone::runtimes {
namespace {

/// Bytes of a value; 1 where its shape is not known.
std::size_t bytesOf(const infer::TypedModel &model, const graph::Entry &entry)
{
    const auto elements = model.shapes.of(entry).elementCount();
    return elements ? static_cast<std::size_t>(*elements) * tensor::sizeOf(model.types.of(entry)) : 1;
}

/// Places of `wanted` from `first` on whose values fit; at least one.
std::size_t endOfGroup(const infer::TypedModel &model, std::span<const graph::Entry> wanted,
                       std::size_t first, std::size_t memory)
{
    std::size_t held = bytesOf(model, wanted[first]);
    std::size_t end = first + 1;
    while (end < wanted.size() && held + bytesOf(model, wanted[end]) <= memory)
        held += bytesOf(model, wanted[end++]);
    return end;
}

/// The model with these outputs. Those of the source stay first, where the file has their names.
infer::TypedModel marked(const infer::TypedModel &model, std::span<const graph::Entry> wanted)
{
    infer::TypedModel copy = model;
    std::vector<graph::Entry> heads(model.model.graph.heads().begin(), model.model.graph.heads().end());
    for (const graph::Entry &entry : wanted)
        if (std::ranges::find(heads, entry) == heads.end())
            heads.push_back(entry);
    copy.model.graph.setHeads(std::move(heads));
    return copy;
}

void feed(kernels::LatencyPlan &plan, const std::unordered_map<std::string, tensor::Tensor> &inputs)
{
    for (std::size_t k = 0; k < plan.inputs().size(); ++k) {
        const auto given = inputs.find(plan.inputs()[k].name);
        const std::span<std::byte> bytes = plan.input(k);
        if (given != inputs.end() && given->second.bytes().size() == bytes.size())
            std::ranges::copy(given->second.bytes(), bytes.begin());
    }
}

Result<void> handOut(const kernels::LatencyPlan &plan, const infer::TypedModel &model,
                     std::span<const graph::Entry> wanted, std::size_t first, const TakeValue &take)
{
    const auto heads = model.model.graph.heads();
    for (std::size_t k = 0; k < wanted.size(); ++k) {
        const auto at = static_cast<std::size_t>(std::ranges::find(heads, wanted[k]) - heads.begin());
        const kernels::TensorDesc &desc = plan.outputs()[at].desc;
        const auto bytes = plan.output(at);
        HALFTONE_CHECK(
            take(first + k, tensor::Tensor::owning(desc.dtype, desc.shape, {bytes.begin(), bytes.end()})));
    }
    return {};
}

} // namespace

Result<void> layerValues(const RuntimeUse &use, const infer::TypedModel &model,
                         std::span<const graph::Entry> wanted,
                         const std::unordered_map<std::string, tensor::Tensor> &inputs, const TakeValue &take,
                         const Progress &progress)
{
    HALFTONE_TRY(const auto backend, backends::planningBackend(use.backend, use.threads, use.precision));
    for (std::size_t first = 0; first < wanted.size();) {
        const std::size_t end = endOfGroup(model, wanted, first, use.memory);
        const auto group = wanted.subspan(first, end - first);
        progress.tell(static_cast<double>(first) / static_cast<double>(wanted.size()), "running");
        const infer::TypedModel outputs = marked(model, group);
        kernels::PlanOptions options;
        options.feed = [&inputs](kernels::LatencyPlan &plan) -> Result<void> {
            feed(plan, inputs);
            return {};
        };
        HALFTONE_TRY(const std::unique_ptr<kernels::LatencyPlan> plan, backend->plan(outputs, options));
        HALFTONE_CHECK(plan->run(progress));
        HALFTONE_CHECK(handOut(*plan, outputs, group, first, take));
        first = end;
    }
    return {};
}

} // namespace halftone::runtimes
