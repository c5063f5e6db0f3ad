#include "core/kernels/same_operation.h"

#include <algorithm>

namespace halftone::kernels {

using tensor::Tensor;

bool areSame(const Tensor &a, const Tensor &b)
{
    return a.dtype() == b.dtype() && a.shape() == b.shape() && a.bytes().data() == b.bytes().data();
}

bool areSame(const Operation &a, const Operation &b)
{
    return a.op == b.op && a.inputs == b.inputs && a.outputs == b.outputs && a.readOutputs == b.readOutputs
        && a.seed == b.seed && a.accumulator == b.accumulator
        && std::ranges::equal(a.constants, b.constants,
                              [](const Tensor &x, const Tensor &y) { return areSame(x, y); });
}

} // namespace halftone::kernels
