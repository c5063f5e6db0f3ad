#pragma once

#include "core/infer/body_binding.h"
#include "core/interpret/graph_runner.h"

#include <span>
#include <vector>

namespace halftone::interpret {

/// A runner for one body and the node's inputs that it reads.
struct Body
{
    GraphRunner *runner = nullptr;
    const infer::BoundBody *bound = nullptr;

    /// In step number `step` of `steps`. `goesOn`: the condition of the step, where the body asks for it.
    Result<std::vector<tensor::Tensor>> run(std::span<const tensor::Tensor> inputs, std::int64_t step,
                                            std::int64_t steps, const RunOptions &options,
                                            bool goesOn = true) const;
};

/// The value of a condition: one element, true where it is not 0.
Result<bool> isTrue(const std::vector<tensor::Tensor> &condition);

/// The part of a tensor at `place` along `axis`, from the end where negative, without that axis.
Result<tensor::Tensor> sliceOf(const tensor::Tensor &tensor, std::int64_t axis, std::int64_t place);

} // namespace halftone::interpret
