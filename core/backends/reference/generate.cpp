#include "core/backends/reference/kernels.h"
#include "core/tensor/elements.h"

namespace halftone::backends::reference {
namespace {

/// Element i is f(i).
template <class F>
Result<void> generate(const RawArrays &arrays, const F &f)
{
    std::vector<double> values(arrays.outCount(0));
    for (std::size_t i = 0; i < values.size(); ++i)
        values[i] = f(i);
    tensor::narrow(values.data(), values.size(), arrays.operation.outputs[0].dtype, arrays.out[0]);
    return {};
}

} // namespace

Result<void> move(const ops::ShapeOf &op, const RawArrays &arrays)
{
    const DimSpan dims = arrays.inDims(0);
    const std::size_t first = op.axes(dims.size()).first;
    return generate(arrays, [&](std::size_t i) {
        return static_cast<double>(op.count ? static_cast<std::int64_t>(count(dims)) : dims[first + i]);
    });
}

Result<void> move(const ops::Fill &op, const RawArrays &arrays)
{
    using Kind = ops::Fill::Kind;
    const double value = op.kind == Kind::Zeros ? 0 : op.kind == Kind::Ones ? 1 : op.value;
    return generate(arrays, [value](std::size_t) { return value; });
}

Result<void> move(const ops::Range &op, const RawArrays &arrays)
{
    const double start = op.stop || op.inferLength ? op.start : 0;
    return generate(arrays, [&](std::size_t i) {
        return start + static_cast<double>(i / static_cast<std::size_t>(op.repeat)) * op.step;
    });
}

Result<void> move(const ops::RangeLike &op, const RawArrays &arrays)
{
    return generate(arrays, [&](std::size_t i) {
        return op.start + static_cast<double>(i / static_cast<std::size_t>(op.repeat)) * op.step;
    });
}

} // namespace halftone::backends::reference
