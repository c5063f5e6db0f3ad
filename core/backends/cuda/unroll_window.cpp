#include "core/backends/cuda/unroll_window.h"

#include "core/backends/cuda/kernel_parts.h"

#include <algorithm>

namespace halftone::backends::cuda {
namespace {

/// Defines y and x, and whether they are within the data, of the tap that stands in `tap`.
std::string tapText(const SpatialText &op)
{
    const ops::Window &window = op.window;
    const auto at = [&](const char *axis, const char *place, std::size_t k, const std::string &tap) {
        return std::string("const int ") + axis + " = " + place + " * " + number(window.stride[k]) + " - "
            + number(window.padBegin[k]) + " + (" + tap + ") * " + number(window.dilate[k]) + ";\n";
    };
    return at("y", "c2", 0, "tap / " + number(window.kernel[1]))
        + at("x", "c3", 1, "tap % " + number(window.kernel[1])) + "const bool isInside = y >= 0 && y < "
        + number(op.data.dims[2]) + " && x >= 0 && x < " + number(op.data.dims[3]) + ";\n";
}

} // namespace

KernelText unrolledWindow(const SpatialText &op, const View &to)
{
    const std::int64_t channels = op.data.dims[1];
    const std::int64_t taps = countOf(op.window.kernel);
    const View &data = op.data;
    std::int64_t width = static_cast<std::int64_t>(16 / tensor::sizeOf(to.dtype));
    while (to.dims[1] % width != 0)
        width /= 2;
    const auto inSteps = [&](std::int64_t stride) { return stride % width == 0; };
    const bool isWhole = data.dtype == to.dtype && data.strides[1] == 1 && inSteps(channels)
        && inSteps(data.offset) && inSteps(data.strides[0]) && inSteps(data.strides[2])
        && inSteps(data.strides[3]);
    const std::int64_t count = countOf(to.dims) / width;
    const std::string type(typeName(to.dtype));
    const std::string vector = "vec<" + type + ", " + number(width) + '>';
    const std::string counts(counter(count));
    const std::vector<tensor::DType> types{data.dtype};
    const auto place = [&data](const std::string &c) {
        return number(data.offset) + " + (long long)c0 * " + number(data.strides[0]) + " + (long long)(" + c
            + ") * " + number(data.strides[1]) + " + (long long)y * " + number(data.strides[2])
            + " + (long long)x * " + number(data.strides[3]);
    };
    std::string text = head(types, to.dtype) + "    const " + counts + " i = blockIdx.x * (" + counts
        + ")blockDim.x + threadIdx.x;\n    if (i >= " + number(count)
        + "u)\n        return;\n    const int from = (int)(i % " + number(to.dims[1] / width) + "u) * "
        + number(width) + ";\n    " + counts + " row = i / " + number(to.dims[1] / width)
        + "u;\n    const int c3 = (int)(row % " + number(op.result.dims[3])
        + "u);\n    row /= " + number(op.result.dims[3]) + "u;\n    const int c2 = (int)(row % "
        + number(op.result.dims[2]) + "u);\n    const int c0 = (int)(row / " + number(op.result.dims[2])
        + "u);\n    " + vector + " values;\n";
    const std::string zeros = "#pragma unroll\n    for (int j = 0; j < " + number(width)
        + "; ++j)\n        values.at[j] = pack<" + type + ">::of(0);\n";
    if (isWhole)
        text += zeros + "    const int tap = from / " + number(channels) + ";\n    " + tapText(op)
            + "    if (isInside && tap < " + number(taps) + ")\n        values = *(const " + vector
            + " *)(p0 + " + place("from % " + number(channels)) + ");\n";
    else
        text += "#pragma unroll\n    for (int j = 0; j < " + number(width)
            + "; ++j) {\n        const int tap = (from + j) / " + number(channels) + ";\n        "
            + tapText(op) + "        values.at[j] = pack<" + type + ">::of(isInside && tap < " + number(taps)
            + " ? num(p0[" + place("(from + j) % " + number(channels)) + "]) : 0);\n    }\n";
    text += "    *(" + vector + " *)(q + (long long)i * " + number(width) + ") = values;\n}\n";
    KernelText kernel = named(std::move(text), "unrolled window");
    launchElements(kernel, count);
    return kernel;
}

} // namespace halftone::backends::cuda
