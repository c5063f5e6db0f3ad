#include "core/backends/cuda/element_kernel.h"

#include "core/backends/cuda/kernel_parts.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>

namespace halftone::backends::cuda {

using tensor::DType;

std::string_view typeName(DType type)
{
    switch (type) {
    case DType::F32:
        return "float";
    case DType::F64:
        return "double";
    case DType::F16:
        return "half_t";
    case DType::BF16:
        return "bhalf_t";
    case DType::I8:
        return "signed char";
    case DType::U8:
        return "unsigned char";
    case DType::I16:
        return "short";
    case DType::U16:
        return "unsigned short";
    case DType::I32:
        return "int";
    case DType::U32:
        return "unsigned";
    case DType::I64:
        return "long long";
    case DType::Bool:
        return "bool_t";
    case DType::F8E4M3FN:
        return "e4m3_t";
    case DType::F8E5M2:
        return "e5m2_t";
    default:
        return {};
    }
}

std::string_view numberName(DType type)
{
    return type == DType::F64 ? "double" : tensor::isFloat(type) ? "float" : "long long";
}

std::string literal(double value, std::string_view number)
{
    if (number == "long long")
        return std::to_string(static_cast<long long>(value)) + "LL";
    const std::string cast = '(' + std::string(number) + ')';
    if (std::isnan(value))
        return cast + "NAN";
    if (std::isinf(value))
        return cast + (value < 0 ? "-INFINITY" : "INFINITY");
    std::array<char, 48> text{};
    std::snprintf(text.data(), text.size(), "%.17e", value);
    return '(' + cast + text.data() + ')';
}

namespace {

/// The most elements that one thread can load and store at once: up to 16 bytes of the widest type.
std::int64_t widthOf(const Walk &walk, std::span<const View> views)
{
    if (walk.dims.empty())
        return 1;
    std::size_t widest = 1;
    for (const View &view : views)
        widest = std::max(widest, tensor::sizeOf(view.dtype));
    for (std::int64_t width = static_cast<std::int64_t>(16 / widest); width > 1; width /= 2) {
        bool fits = walk.dims.back() % width == 0 && walk.strides[0].back() == 1;
        for (std::size_t k = 0; k < views.size() && fits; ++k) {
            const Dims &strides = walk.strides[k];
            if (strides.back() == 0)
                continue;
            fits = strides.back() == 1 && walk.offsets[k] % width == 0
                && std::all_of(strides.begin(), strides.end() - 1,
                               [width](std::int64_t stride) { return stride % width == 0; });
        }
        if (fits)
            return width;
    }
    return 1;
}

} // namespace

std::string placeText(const View &view, std::size_t first)
{
    return place(view.strides, view.offset, first);
}

KernelText elementwise(std::span<const View> inputs, const View &output, const std::string &statements,
                       const std::string &expression, std::string label)
{
    std::vector<View> views{output};
    views.insert(views.end(), inputs.begin(), inputs.end());
    Walk walk = walkOver(views);
    const std::int64_t width = widthOf(walk, views);
    const std::int64_t count = countOf(output.dims) / width;
    const std::string v = std::to_string(width);
    const bool isWide = width > 1;
    if (isWide) { // counted in vectors from here on
        walk.dims.back() /= width;
        for (Dims &strides : walk.strides)
            strides.back() *= width;
    }
    std::string text = head(typesOf(inputs), output.dtype);
    text += "    const " + std::string(counter(count)) + " i = blockIdx.x * (" + std::string(counter(count))
        + ")blockDim.x + threadIdx.x;\n" + "    if (i >= " + number(count) + "u)\n        return;\n"
        + coordinates(walk.dims, firstNumbers(walk.dims.size()), "i", counter(count));
    std::string loads;
    for (std::size_t k = 0; k < inputs.size(); ++k) {
        const std::string name = std::to_string(k);
        const std::string at = place(walk.strides[k + 1], walk.offsets[k + 1], 0);
        const bool repeats = !isWide || walk.strides[k + 1].back() == 0;
        const std::string type(typeName(inputs[k].dtype));
        text += repeats ? "    const " + type + " v" + name + " = p" + name + '[' + at + "];\n"
                        : "    const vec<" + type + ", " + v + "> v" + name + " = *(const vec<" + type + ", "
                + v + "> *)(p" + name + " + " + at + ");\n";
        loads += "        const auto x" + name + " = num(v" + name + (repeats ? "" : ".at[k]") + ");\n";
    }
    loads += statements;
    const std::string type(typeName(output.dtype));
    const std::string to = place(walk.strides[0], walk.offsets[0], 0);
    if (isWide)
        text += "    vec<" + type + ", " + v + "> y;\n    for (int k = 0; k < " + v + "; ++k) {\n" + loads
            + "        y.at[k] = pack<" + type + ">::of(" + expression + ");\n    }\n    *(vec<" + type + ", "
            + v + "> *)(q + " + to + ") = y;\n}\n";
    else
        text += "    {\n" + loads + "        q[" + to + "] = pack<" + type + ">::of(" + expression
            + ");\n    }\n}\n";
    KernelText kernel = named(std::move(text), std::move(label));
    launchElements(kernel, count);
    return kernel;
}

KernelText perElement(std::span<const DType> inputs, const View &output, const std::string &body,
                      const Epilogue &epilogue, std::string label)
{
    std::vector<DType> types(inputs.begin(), inputs.end());
    std::string loads;
    for (std::size_t k = 0; k < epilogue.operands.size(); ++k) {
        loads += "    const auto e" + std::to_string(k) + " = num(p" + std::to_string(types.size()) + '['
            + placeText(epilogue.operands[k]) + "]);\n";
        types.push_back(epilogue.operands[k].dtype);
    }
    // Neighbouring threads write neighbouring elements, whatever the layout.
    std::vector<std::size_t> axes = firstNumbers(output.dims.size());
    std::ranges::stable_sort(axes, [&output](std::size_t a, std::size_t b) {
        return std::abs(output.strides[a]) > std::abs(output.strides[b]);
    });
    Dims dims;
    for (const std::size_t axis : axes)
        dims.push_back(output.dims[axis]);
    const std::int64_t count = countOf(output.dims);
    const std::string type(counter(count));
    std::string text = head(types, output.dtype) + "    const " + type + " i = blockIdx.x * (" + type
        + ")blockDim.x + threadIdx.x;\n    if (i >= " + number(count) + "u)\n        return;\n"
        + coordinates(dims, axes, "i", type) + body + loads + epilogue.statements + "    q["
        + placeText(output) + "] = pack<" + std::string(typeName(output.dtype)) + ">::of("
        + epilogue.expression + ");\n}\n";
    KernelText kernel = named(std::move(text), std::move(label));
    launchElements(kernel, count);
    return kernel;
}

std::int64_t productBlocks(const View &c)
{
    const std::size_t leading = c.dims.size() - 2;
    return (c.dims[leading] + 15) / 16 * ((c.dims[leading + 1] + 15) / 16)
        * countOf(std::span(c.dims).first(leading));
}

KernelText matrixProduct(const View &a, const View &b, const View &c, const Epilogue &epilogue,
                         const Sums &sums)
{
    const std::size_t leading = c.dims.size() - 2;
    const std::int64_t rows = c.dims[leading];
    const std::int64_t columns = c.dims[leading + 1];
    const std::int64_t depth = a.dims[leading + 1];
    const Dims batch(c.dims.begin(), c.dims.begin() + static_cast<std::ptrdiff_t>(leading));
    const std::int64_t acrossTiles = (columns + 15) / 16;
    const std::int64_t downTiles = (rows + 15) / 16;
    std::vector<DType> types{a.dtype, b.dtype};
    std::string loads;
    for (std::size_t k = 0; k < epilogue.operands.size(); ++k) {
        loads += "    const auto e" + std::to_string(k) + " = num(p" + std::to_string(k + 2) + '['
            + placeText(epilogue.operands[k]) + "]);\n";
        types.push_back(epilogue.operands[k].dtype);
    }
    const auto base = [&](const View &view) {
        return place(Dims(view.strides.begin(), view.strides.begin() + static_cast<std::ptrdiff_t>(leading)),
                     view.offset, 0);
    };
    const auto step = [](const View &view, std::size_t axis) { return number(view.strides[axis]); };
    const std::string m = "c" + std::to_string(leading);
    const std::string n = "c" + std::to_string(leading + 1);
    const std::string type(sums.type.empty() ? numberName(c.dtype) : sums.type);
    const std::string zero = sums.zero == 0 ? "" : " - (" + number(sums.zero) + ')';
    std::string text = head(types, c.dtype) + "    __shared__ " + type + " left[16][17];\n    __shared__ "
        + type + " right[16][17];\n    const unsigned tile = blockIdx.x % " + number(acrossTiles * downTiles)
        + "u;\n"
        + coordinates(batch, firstNumbers(leading), "blockIdx.x / " + number(acrossTiles * downTiles) + "u",
                      "unsigned")
        + "    const int y = threadIdx.x / 16, x = threadIdx.x % 16;\n    const long long " + m + " = tile / "
        + number(acrossTiles) + "u * 16 + y;\n    const long long " + n + " = tile % " + number(acrossTiles)
        + "u * 16 + x;\n    const auto *const from0 = p0 + " + base(a)
        + ";\n    const auto *const from1 = p1 + " + base(b) + ";\n    " + type
        + " acc = 0;\n    for (long long k = 0; k < " + number(depth)
        + "; k += 16) {\n        left[y][x] = " + m + " < " + number(rows) + " && k + x < " + number(depth)
        + " ? (" + type + ")num(from0[" + m + " * " + step(a, leading) + " + (k + x) * "
        + step(a, leading + 1) + "])" + zero + " : (" + type + ")0;\n        right[y][x] = k + y < "
        + number(depth) + " && " + n + " < " + number(columns) + " ? (" + type + ")num(from1[(k + y) * "
        + step(b, leading) + " + " + n + " * " + step(b, leading + 1) + "]) : (" + type
        + ")0;\n        __syncthreads();\n        for (int t = 0; t < 16; ++t)\n            acc += "
          "left[y][t] * right[t][x];\n"
        + "        __syncthreads();\n    }\n    if (" + m + " >= " + number(rows) + " || " + n + " >= "
        + number(columns) + ")\n        return;\n" + loads + epilogue.statements + "    q[" + placeText(c)
        + "] = pack<" + std::string(typeName(c.dtype)) + ">::of(" + epilogue.expression + ");\n}\n";
    KernelText kernel = named(std::move(text), "matrix product");
    kernel.block = 256;
    kernel.grid = static_cast<unsigned>(std::max<std::int64_t>(acrossTiles * downTiles * countOf(batch), 1));
    kernel.isCooperative = true;
    return kernel;
}

} // namespace halftone::backends::cuda
