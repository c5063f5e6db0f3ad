#include "core/interpret/body.h"

#include "core/dialect/dialect.h"
#include "core/kernels/buffer.h"
#include "core/ops/shape_slots.h"
#include "core/tensor/elements.h"

#include <cstring>
#include <memory>
#include <utility>

namespace halftone::interpret {

using infer::BoundBody;
using tensor::DType;
using tensor::Shape;
using tensor::Tensor;

namespace {

/// The number of the step or its condition; of one axis where the body declares it so.
Result<Tensor> givenValue(const graph::Graph &body, const BoundBody::Given &given, std::int64_t step,
                          bool goesOn)
{
    const Shape declared = dialect::of(body).declaredShape(body, body.node(given.variable));
    Shape shape = declared.hasRank() && declared.rank() == 1 ? Shape{1} : Shape(std::vector<std::int64_t>());
    HALFTONE_TRY(const kernels::Buffer buffer,
                 kernels::allocate({given.isStep ? DType::I64 : DType::Bool, std::move(shape)}));
    if (given.isStep)
        std::memcpy(buffer.bytes, &step, sizeof step);
    else
        buffer.bytes[0] = std::byte(goesOn);
    return buffer.tensor;
}

} // namespace

Result<Tensor> sliceOf(const Tensor &tensor, std::int64_t axis, std::int64_t place)
{
    const auto dims = tensor.shape().dims();
    HALFTONE_TRY(const std::size_t at, ops::resolveAxis(axis, dims.size()));
    std::vector<std::int64_t> rest(dims.begin(), dims.end());
    rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(at));
    std::size_t outer = 1;
    for (std::size_t k = 0; k < at; ++k)
        outer *= static_cast<std::size_t>(dims[k]);
    const auto extent = static_cast<std::size_t>(dims[at]);
    const std::size_t rows = outer * extent;
    const std::size_t size = rows == 0 ? 0 : tensor.bytes().size() / rows;
    const std::size_t from = static_cast<std::size_t>(place) * size;
    if (outer == 1) {
        const auto owner = std::make_shared<const Tensor>(tensor);
        return Tensor(tensor.dtype(), Shape(std::move(rest)), tensor.bytes().subspan(from, size), owner);
    }
    HALFTONE_TRY(const kernels::Buffer buffer, kernels::allocate({tensor.dtype(), Shape(std::move(rest))}));
    for (std::size_t k = 0; k < outer && size > 0; ++k)
        std::memcpy(buffer.bytes + k * size, tensor.bytes().data() + k * extent * size + from, size);
    return buffer.tensor;
}

Result<std::vector<Tensor>> Body::run(std::span<const Tensor> inputs, std::int64_t step, std::int64_t steps,
                                      const RunOptions &options, bool goesOn) const
{
    std::vector<Tensor> variables(runner->graph().nodeCount());
    for (const BoundBody::Tie &tie : bound->ties) {
        variables[tie.variable] = inputs[tie.input];
        if (tie.sliced) {
            HALFTONE_TRY(variables[tie.variable],
                         sliceOf(inputs[tie.input], tie.axis, tie.isBackward ? steps - 1 - step : step));
        }
    }
    for (const BoundBody::Given &given : bound->given) {
        HALFTONE_TRY(variables[given.variable], givenValue(runner->graph(), given, step, goesOn));
    }
    return runner->run(std::move(variables), options);
}

Result<bool> isTrue(const std::vector<Tensor> &condition)
{
    if (condition.size() != 1 || condition[0].elementCount() != 1)
        return badInput("condition", std::to_string(condition.size()) + " outputs", "one number");
    double value = 0;
    tensor::widen(condition[0].dtype(), condition[0].bytes().data(), 1, &value);
    return value != 0;
}

} // namespace halftone::interpret
