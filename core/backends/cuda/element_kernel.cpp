#include "core/backends/cuda/element_kernel.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <numeric>

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

constexpr std::int64_t kThreads = 256;

std::string number(std::int64_t value)
{
    return std::to_string(value);
}

/// The integer that counts `count` elements: 32 bits where they do, since divisions take the time.
std::string_view counter(std::int64_t count)
{
    return count < (std::int64_t{1} << 31) ? "unsigned" : "unsigned long long";
}

/// c0, c1, … of the running number `from`, the last dimension fastest.
std::string coordinates(const Dims &dims, const std::vector<std::size_t> &names, const std::string &from,
                        std::string_view type)
{
    std::string text = "    " + std::string(type) + " rest = " + from + ";\n";
    for (std::size_t k = dims.size(); k-- > 0;) {
        const std::string name = "c" + std::to_string(names[k]);
        const std::string rest = k == 0 ? "rest" : "rest % " + number(dims[k]) + 'u';
        text += "    const long long " + name + " = " + rest + ";\n";
        if (k > 0)
            text += "    rest /= " + number(dims[k]) + "u;\n";
    }
    return text + "    (void)rest;\n";
}

std::string place(const Dims &strides, std::int64_t offset, std::size_t first)
{
    std::string text;
    for (std::size_t k = 0; k < strides.size(); ++k)
        if (strides[k] != 0)
            text += (text.empty() ? "" : " + ") + ("c" + std::to_string(first + k)) + " * "
                + (strides[k] < 0 ? "(" + number(strides[k]) + ")" : number(strides[k]));
    if (text.empty())
        return number(offset);
    return offset == 0 ? text : text + " + (" + number(offset) + ')';
}

std::string parameters(std::span<const DType> inputs, DType output)
{
    std::string text;
    for (std::size_t k = 0; k < inputs.size(); ++k)
        text += "const " + std::string(typeName(inputs[k])) + " *__restrict__ p" + std::to_string(k) + ", ";
    return text + std::string(typeName(output)) + " *__restrict__ q";
}

std::string head(std::span<const DType> inputs, DType output)
{
    return "extern \"C\" __global__ void @(" + parameters(inputs, output) + ")\n{\n";
}

void launchElements(KernelText &kernel, std::int64_t count)
{
    kernel.block = static_cast<unsigned>(kThreads);
    kernel.grid = static_cast<unsigned>((std::max<std::int64_t>(count, 1) + kThreads - 1) / kThreads);
}

std::vector<DType> typesOf(std::span<const View> views)
{
    std::vector<DType> types;
    for (const View &view : views)
        types.push_back(view.dtype);
    return types;
}

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

std::vector<std::size_t> firstNumbers(std::size_t count)
{
    std::vector<std::size_t> names(count);
    std::iota(names.begin(), names.end(), std::size_t{0});
    return names;
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

namespace {

/// The part of a view that one loop walks: a subset of its axes.
View partOf(const View &view, const std::vector<bool> &along, bool wanted)
{
    View part{view.dtype, {}, {}, wanted ? 0 : view.offset};
    for (std::size_t axis = 0; axis < view.dims.size(); ++axis) {
        if (along[axis] != wanted)
            continue;
        part.dims.push_back(view.dims[axis]);
        part.strides.push_back(view.strides[axis]);
    }
    return part;
}

/// A function of the running number: where the element lies.
std::string placeFunction(const std::string &name, const Walk &walk, std::size_t which)
{
    const std::string type(counter(countOf(walk.dims)));
    return "__device__ inline long long @_" + name + '(' + type + " n)\n{\n"
        + coordinates(walk.dims, firstNumbers(walk.dims.size()), "n", type) + "    return "
        + place(walk.strides[which], walk.offsets[which], 0) + ";\n}\n";
}

struct LineText
{
    std::string functions; ///< line0(n), item0(n), … of the inputs, lineq(n), itemq(n)
    std::int64_t lines = 0;
    std::int64_t length = 0;
};

LineText lineText(const Lines &lines)
{
    std::vector<View> outer;
    std::vector<View> inner;
    for (const View &view : lines.inputs) {
        outer.push_back(partOf(view, lines.along, false));
        inner.push_back(partOf(view, lines.along, true));
    }
    View output = lines.output; // a result that has one element a line stays where it is
    for (std::size_t axis = 0; axis < output.dims.size(); ++axis) {
        if (lines.along[axis] && output.dims[axis] != lines.inputs[0].dims[axis]) {
            output.dims[axis] = lines.inputs[0].dims[axis];
            output.strides[axis] = 0;
        }
    }
    outer.push_back(partOf(output, lines.along, false));
    inner.push_back(partOf(output, lines.along, true));
    LineText text{{}, countOf(outer[0].dims), countOf(inner[0].dims)};
    const Walk lineWalk = walkOver(outer);
    const Walk itemWalk = walkOver(inner);
    for (std::size_t k = 0; k < outer.size(); ++k) {
        const std::string name = k + 1 == outer.size() ? "q" : std::to_string(k);
        text.functions
            += placeFunction("line" + name, lineWalk, k) + placeFunction("item" + name, itemWalk, k);
    }
    return text;
}

std::string lineHead(const LineText &text, const Lines &lines)
{
    return text.functions + head(typesOf(lines.inputs), lines.output.dtype)
        + "    const long long from = @_line0(blockIdx.x);\n    const long long to = @_lineq(blockIdx.x);\n  "
          "  const unsigned count = "
        + number(text.length) + "u;\n";
}

KernelText lineKernel(std::string text, const LineText &lines, std::string label)
{
    KernelText kernel = named(std::move(text), std::move(label));
    kernel.grid = static_cast<unsigned>(std::max<std::int64_t>(lines.lines, 1));
    kernel.block = 32;
    while (kernel.block < kThreads && kernel.block < lines.length)
        kernel.block *= 2;
    kernel.isCooperative = true;
    return kernel;
}

constexpr std::string_view kEachItem = "    for (unsigned j = threadIdx.x; j < count; j += blockDim.x)";

} // namespace

KernelText reduction(const Lines &lines, const std::string &expression, std::string_view join,
                     const std::string &start, const std::string &last, std::string label)
{
    const LineText text = lineText(lines);
    const std::string type(numberName(lines.inputs[0].dtype));
    std::string body = lineHead(text, lines) + "    " + type + " all = " + start + ";\n"
        + std::string(kEachItem) + " {\n        const auto x = num(p0[from + @_item0(j)]);\n        all = "
        + std::string(join) + "::of(all, (" + type + ")(" + expression + "));\n    }\n    all = over_block<"
        + std::string(join) + ">(all);\n    if (threadIdx.x == 0)\n        q[to] = pack<"
        + std::string(typeName(lines.output.dtype)) + ">::of(" + last + ");\n}\n";
    return lineKernel(std::move(body), text, std::move(label));
}

KernelText softmax(const Lines &lines, const SoftmaxForm &form)
{
    const LineText text = lineText(lines);
    const std::string type(numberName(lines.inputs[0].dtype));
    const std::string x = std::string("num(p0[from + @_item0(j)])") + (form.isNegated ? " * (-1)" : "");
    const std::string exponent
        = "const " + type + " e = (" + x + " - most) / " + literal(form.temperature, type) + ";\n";
    const std::string power = form.nanIsInfinite ? "(e != e ? (" + type + ")INFINITY : exp(e))" : "exp(e)";
    const std::string result = form.kind == SoftmaxKind::Softmax ? power + " / sum" : "e - logarithm";
    std::string body = lineHead(text, lines) + "    " + type + " most = -INFINITY;\n" + std::string(kEachItem)
        + " {\n        const " + type + " x = " + x
        + ";\n        most = x > most ? x : most;\n    }\n    most = over_block<join_max>(most);\n    " + type
        + " sum = 0;\n" + std::string(kEachItem) + " {\n        " + exponent + "        sum += " + power
        + ";\n    }\n    sum = over_block<join_sum>(sum);\n    const " + type
        + " logarithm = log(sum);\n    (void)logarithm;\n" + std::string(kEachItem) + " {\n        "
        + exponent + "        q[to + @_itemq(j)] = pack<" + std::string(typeName(lines.output.dtype))
        + ">::of(" + result + ");\n    }\n}\n";
    return lineKernel(std::move(body), text, "softmax");
}

KernelText lineNorm(const Lines &lines, const LineNorm &norm, std::string label)
{
    const LineText text = lineText(lines);
    const std::string type(numberName(lines.inputs[0].dtype));
    const auto operand = [](const std::string &k) {
        return "num(p" + k + "[@_line" + k + "(blockIdx.x) + @_item" + k + "(j)])";
    };
    std::string result = "(x - mean) * inverse";
    if (norm.hasGamma)
        result += " * " + operand("1");
    if (norm.hasBeta)
        result += " + " + operand(norm.hasGamma ? "2" : "1");
    std::string body = lineHead(text, lines) + "    " + type + " mean = 0;\n";
    if (norm.centred)
        body += std::string(kEachItem)
            + "\n        mean += num(p0[from + @_item0(j)]);\n    mean = over_block<join_sum>(mean) / "
              "count;\n";
    body += "    " + type + " square = 0;\n" + std::string(kEachItem)
        + " {\n        const auto x = num(p0[from + @_item0(j)]) - mean;\n        square += x * x;\n    }\n"
        + "    square = over_block<join_sum>(square) / count;\n    const " + type
        + " inverse = " + norm.inverse + ";\n" + std::string(kEachItem)
        + " {\n        const auto x = num(p0[from + @_item0(j)]);\n        q[to + @_itemq(j)] = pack<"
        + std::string(typeName(lines.output.dtype)) + ">::of(" + result + ");\n    }\n}\n";
    return lineKernel(std::move(body), text, std::move(label));
}

KernelText matrixProduct(const View &a, const View &b, const View &c, const Epilogue &epilogue)
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
    const std::string type(numberName(c.dtype));
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
        + step(a, leading + 1) + "]) : (" + type + ")0;\n        right[y][x] = k + y < " + number(depth)
        + " && " + n + " < " + number(columns) + " ? (" + type + ")num(from1[(k + y) * " + step(b, leading)
        + " + " + n + " * " + step(b, leading + 1) + "]) : (" + type
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
