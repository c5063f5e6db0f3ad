#include "core/ops/shape_rules.h"

#include <algorithm>

namespace halftone::ops {

using tensor::Shape;

Result<void> infer(const Random &op, ShapeSlots &slots)
{
    if (op.like)
        return slots.unify(0, 0);
    if (!op.shape)
        return {};
    std::vector<Dim> dims;
    for (const std::int64_t dim : *op.shape)
        dims.push_back(Dim::of(dim));
    return slots.setOutput(0, dims);
}

Result<void> infer(const RandomSample &op, ShapeSlots &slots)
{
    for (std::size_t i = 1; i < slots.inputCount(); ++i) {
        HALFTONE_CHECK(slots.setInput(i, slots.input(0)));
        HALFTONE_CHECK(slots.setInput(0, slots.input(i)));
    }
    if (!slots.input(0).hasRank())
        return {};
    std::vector<Dim> dims = dimsOf(slots.input(0));
    dims.insert(dims.end(), op.shape.begin(), op.shape.end());
    return slots.setOutput(0, dims);
}

Result<void> infer(const Multinomial &op, ShapeSlots &slots)
{
    if (!slots.input(0).hasRank())
        return {};
    std::vector<Dim> dims = dimsOf(slots.input(0));
    if (dims.empty())
        return slots.wrongInput(0, "rank 1 or more");
    dims.pop_back();
    dims.insert(dims.end(), op.shape.begin(), op.shape.end());
    if (dims.empty())
        dims.emplace_back(1);
    for (const std::size_t o : {0, 1})
        HALFTONE_CHECK(slots.setOutput(o, dims));
    return {};
}

Result<void> infer(const Density &op, ShapeSlots &slots)
{
    if (!slots.input(0).hasRank())
        return {};
    std::vector<Dim> samples = dimsOf(slots.input(0));
    const bool vectors = op.distribution == Distribution::Dirichlet;
    Dim concentrations = Dim::unknown();
    if (vectors) {
        if (samples.empty())
            return slots.wrongInput(0, "rank 1 or more");
        concentrations = samples.back();
        samples.pop_back();
    }
    for (std::size_t i = 1; i < slots.inputCount(); ++i) {
        const Shape &parameters = slots.input(i);
        if (!parameters.hasRank())
            continue;
        const std::size_t shared
            = parameters.rank() - std::min<std::size_t>(parameters.rank(), vectors ? 1 : 0);
        if (shared > samples.size())
            return slots.wrongInput(i, "at most the rank of the samples");
        std::vector<Dim> dims(samples.begin(), samples.begin() + static_cast<std::ptrdiff_t>(shared));
        if (vectors)
            dims.push_back(concentrations);
        HALFTONE_CHECK(slots.setInput(i, dims));
    }
    if (samples.empty())
        samples.emplace_back(1);
    return slots.setOutput(0, samples);
}

Result<void> infer(const Shuffle &, ShapeSlots &slots)
{
    return slots.unify(0, 0);
}

} // namespace halftone::ops
