#include "core/backends/cuda/element_kernel.h"
#include "core/backends/cuda/kernel_parts.h"

#include <algorithm>

namespace halftone::backends::cuda {
namespace {

using tensor::DType;

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

std::string lineHead(const LineText &text, const Lines &lines, std::optional<DType> also = std::nullopt)
{
    return text.functions + head(typesOf(lines.inputs), lines.output.dtype, also)
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
    const std::string given = form.hasMask
        ? "(num(p0[from + @_item0(j)]) + num(p1[@_line1(blockIdx.x) + @_item1(j)]))"
        : "num(p0[from + @_item0(j)])";
    const std::string x = given + (form.isNegated ? " * (-1)" : "");
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
    std::string body = lineHead(text, lines, norm.also) + "    " + type + " mean = 0;\n";
    if (norm.centred)
        body += std::string(kEachItem)
            + "\n        mean += num(p0[from + @_item0(j)]);\n    mean = over_block<join_sum>(mean) / "
              "count;\n";
    body += "    " + type + " square = 0;\n" + std::string(kEachItem)
        + " {\n        const auto x = num(p0[from + @_item0(j)]) - mean;\n        square += x * x;\n    }\n"
        + "    square = over_block<join_sum>(square) / count;\n    const " + type
        + " inverse = " + norm.inverse + ";\n" + std::string(kEachItem)
        + " {\n        const auto x = num(p0[from + @_item0(j)]);\n        const auto y = pack<"
        + std::string(typeName(lines.output.dtype)) + ">::of(" + result
        + ");\n        q[to + @_itemq(j)] = y;\n"
        + (norm.also
               ? "        r[to + @_itemq(j)] = pack<" + std::string(typeName(*norm.also)) + ">::of(num(y));\n"
               : "")
        + "    }\n}\n";
    return lineKernel(std::move(body), text, std::move(label));
}

KernelText indexCheck(const View &indices, std::int64_t extent, std::int64_t slot)
{
    const Walk walk = walkOver(std::vector<View>{indices});
    const std::string count = number(countOf(indices.dims));
    const std::string limit = number(extent);
    const std::string place = number(2 * slot);
    const std::vector<DType> types{indices.dtype};
    std::string body = placeFunction("at", walk, 0) + head(types, DType::I64)
        + "    long long first = " + count + ";\n    for (unsigned long long i = threadIdx.x; i < " + count
        + "ull; i += blockDim.x) {\n        const long long index = (long long)num(p0[@_at(i)]);\n        if "
          "((index < -"
        + limit + " || index >= " + limit
        + ") && (long long)i < first)\n            first = i;\n    }\n    first = "
          "over_block<join_min>(first);\n    if (threadIdx.x == 0) {\n        q["
        + place + "] = first < " + count + " ? first : -1;\n        q[" + place + " + 1] = first < " + count
        + " ? (long long)num(p0[@_at(first)]) : 0;\n    }\n}\n";
    KernelText kernel = named(std::move(body), "check of indices");
    kernel.grid = 1;
    kernel.block = kThreads;
    kernel.isCooperative = true;
    return kernel;
}

} // namespace halftone::backends::cuda
