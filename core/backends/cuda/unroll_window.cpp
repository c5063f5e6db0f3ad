#include "core/backends/cuda/unroll_window.h"

#include "core/backends/cuda/kernel_parts.h"

#include <algorithm>

namespace halftone::backends::cuda {
namespace {

/// Defines y and x, and whether they are within the data, of the tap at ky, kx.
std::string tapText(const SpatialText &op)
{
    const ops::Window &window = op.window;
    const auto at = [&](const char *axis, const char *place, std::size_t k) {
        return std::string("        const int ") + axis + " = " + place + " * " + number(window.stride[k])
            + " - " + number(window.padBegin[k]) + " + k" + axis + " * " + number(window.dilate[k]) + ";\n";
    };
    return at("y", "c2", 0) + at("x", "c3", 1) + "        const bool isInside = ky < "
        + number(window.kernel[0]) + " && y >= 0 && y < " + number(op.data.dims[2]) + " && x >= 0 && x < "
        + number(op.data.dims[3]) + ";\n";
}

/// Elements from the first to the last one that a view sees.
std::int64_t elementsSpanned(const View &view)
{
    std::int64_t span = 1;
    for (std::size_t axis = 0; axis < view.dims.size(); ++axis)
        span += (view.dims[axis] - 1) * view.strides[axis];
    return span;
}

} // namespace

KernelText unrolledWindow(const SpatialText &op, const View &to)
{
    const std::int64_t channels = op.data.dims[1];
    const View &data = op.data;
    auto width = static_cast<std::int64_t>(16 / tensor::sizeOf(to.dtype));
    while (to.dims[1] % width != 0)
        width /= 2;
    const bool isWhole = data.dtype == to.dtype && channels % width == 0 && isInSteps(data, 1, width);
    const std::int64_t count = countOf(to.dims) / width;
    const std::string type(typeName(to.dtype));
    const std::string vector = "vec<" + type + ", " + number(width) + '>';
    const std::string counts(counter(count));
    const std::vector<tensor::DType> types{data.dtype};
    const std::string index(elementsSpanned(data) < (std::int64_t{1} << 31)
                                ? "int"
                                : "long long"); // the kernel is all arithmetic on places
    const std::string place = "p0[" + number(data.offset) + " + (" + index + ")c0 * "
        + number(data.strides[0]) + " + (" + index + ")c * " + number(data.strides[1]) + " + (" + index
        + ")y * " + number(data.strides[2]) + " + (" + index + ")x * " + number(data.strides[3]) + ']';
    std::string text = head(types, to.dtype) + "    const " + counts + " i = blockIdx.x * (" + counts
        + ")blockDim.x + threadIdx.x;\n    if (i >= " + number(count)
        + "u)\n        return;\n    const int from = (int)(i % " + number(to.dims[1] / width) + "u) * "
        + number(width) + ";\n    " + counts + " row = i / " + number(to.dims[1] / width)
        + "u;\n    const int c3 = (int)(row % " + number(op.result.dims[3])
        + "u);\n    row /= " + number(op.result.dims[3]) + "u;\n    const int c2 = (int)(row % "
        + number(op.result.dims[2]) + "u);\n    const int c0 = (int)(row / " + number(op.result.dims[2])
        + "u);\n    " + vector + " values;\n";
    text += "    const int tap = from / " + number(channels) + ";\n    int c = from % " + number(channels)
        + ", ky = tap / " + number(op.window.kernel[1]) + ", kx = tap % " + number(op.window.kernel[1])
        + ";\n";
    const std::string none = "pack<" + type + ">::of(0)";
    if (isWhole)
        text += "    {\n" + tapText(op) + "#pragma unroll\n        for (int j = 0; j < " + number(width)
            + "; ++j)\n            values.at[j] = " + none
            + ";\n        if (isInside)\n            values = *(const " + vector + " *)&" + place
            + ";\n    }\n";
    else
        text += "#pragma unroll\n    for (int j = 0; j < " + number(width) + "; ++j) {\n" + tapText(op)
            + "        values.at[j] = isInside ? pack<" + type + ">::of(num(" + place + ")) : " + none
            + ";\n        if (++c == " + number(channels)
            + ") {\n            c = 0;\n            if (++kx == " + number(op.window.kernel[1])
            + ") {\n                kx = 0;\n                ++ky;\n            }\n        }\n    }\n";
    text += "    *(" + vector + " *)(q + (long long)i * " + number(width) + ") = values;\n}\n";
    KernelText kernel = named(std::move(text), "unrolled window");
    launchElements(kernel, count);
    return kernel;
}

} // namespace halftone::backends::cuda
