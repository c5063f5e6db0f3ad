#include "core/ops/einsum.h"

#include "core/backends/reference/axis_walk.h"
#include "core/backends/reference/kernels.h"
#include "core/backends/reference/typed.h"

#include <algorithm>
#include <map>

namespace halftone::backends::reference {
namespace {

/// Distances that one step of every label means in a tensor; a label that stands twice walks its diagonal.
std::vector<std::int64_t> stridesOf(const std::vector<int> &own, DimSpan dims, const std::vector<int> &labels)
{
    const std::vector<std::int64_t> dense = denseStrides(dims);
    std::vector<std::int64_t> strides(labels.size(), 0);
    for (std::size_t axis = 0; axis < own.size(); ++axis) {
        const auto at = static_cast<std::size_t>(std::ranges::find(labels, own[axis]) - labels.begin());
        strides[at] += dims[axis] == 1 ? 0 : dense[axis];
    }
    return strides;
}

} // namespace

Result<void> move(const ops::Einsum &op, const RawArrays &arrays)
{
    std::vector<std::size_t> ranks;
    for (std::size_t i = 0; i < arrays.in.size(); ++i)
        ranks.push_back(arrays.inDims(i).size());
    HALFTONE_TRY(const ops::EinsumLabels labels, ops::readEinsum(op.equation, ranks));
    // The result's labels first, then those that are summed over.
    std::vector<int> all = labels.output;
    std::map<int, std::int64_t> extents;
    for (std::size_t i = 0; i < ranks.size(); ++i) {
        for (std::size_t axis = 0; axis < ranks[i]; ++axis) {
            const int label = labels.inputs[i][axis];
            if (std::ranges::find(all, label) == all.end())
                all.push_back(label);
            std::int64_t &extent = extents.try_emplace(label, 1).first->second;
            extent = extent == 1 ? arrays.inDims(i)[axis] : extent;
        }
    }
    std::vector<std::int64_t> dims;
    for (const int label : all)
        dims.push_back(extents.at(label));
    std::vector<std::vector<std::int64_t>> strides;
    for (std::size_t i = 0; i < ranks.size(); ++i)
        strides.push_back(stridesOf(labels.inputs[i], arrays.inDims(i), all));
    strides.push_back(stridesOf(labels.output, arrays.outDims(0), all));
    const tensor::DType type = arrays.operation.outputs[0].dtype;
    withNumbers(type, [&](auto number) {
        using Number = decltype(number);
        // Sums of reals are kept in double: no order of adding then matters.
        using Sum = std::conditional_t<std::is_floating_point_v<Number>, double, Number>;
        std::vector<std::vector<Number>> inputs;
        for (std::size_t i = 0; i < ranks.size(); ++i)
            inputs.push_back(loadedInput<Number>(arrays, i));
        std::vector<Sum> sums(arrays.outCount(0), Sum(0));
        RowWalk walk(dims, strides);
        const std::size_t output = ranks.size();
        for (std::size_t row = 0; row < (count(dims) == 0 ? 0 : walk.rowCount()); ++row, walk.next()) {
            for (std::size_t k = 0; k < walk.rowLength(); ++k) {
                const auto at = [&](std::size_t i) {
                    return static_cast<std::size_t>(walk.offset(i)
                                                    + static_cast<std::int64_t>(k) * walk.step(i));
                };
                Sum product = 1;
                for (std::size_t i = 0; i < output; ++i)
                    product *= static_cast<Sum>(inputs[i][at(i)]);
                sums[at(output)] += product;
            }
        }
        store(std::vector<Number>(sums.begin(), sums.end()), type, arrays.out[0]);
    });
    return {};
}

} // namespace halftone::backends::reference
