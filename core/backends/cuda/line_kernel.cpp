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
    Walk lineWalk; ///< of the inputs and the result
    Walk itemWalk;
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
    LineText text{{}, countOf(outer[0].dims), countOf(inner[0].dims), walkOver(outer), walkOver(inner)};
    for (std::size_t k = 0; k < outer.size(); ++k) {
        const std::string name = k + 1 == outer.size() ? "q" : std::to_string(k);
        text.functions += placeFunction("line" + name, text.lineWalk, k)
            + placeFunction("item" + name, text.itemWalk, k);
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

namespace {

/// Elements of a line that a thread loads at once, where each warp can hold a line in registers; 0: it cannot.
std::int64_t heldWidth(const LineText &text, const Lines &lines)
{
    constexpr std::int64_t kMostHeld = 32; // by a thread
    const auto runs = [&text](std::size_t k, std::int64_t width) {
        const Dims &strides = text.lineWalk.strides[k];
        return text.itemWalk.offsets[k] == 0 && text.itemWalk.strides[k][0] == 1
            && text.lineWalk.offsets[k] % width == 0
            && std::ranges::all_of(strides, [width](std::int64_t stride) { return stride % width == 0; });
    };
    if (text.itemWalk.dims.size() != 1 || text.length > 32 * kMostHeld)
        return 0;
    for (auto width = static_cast<std::int64_t>(16 / tensor::sizeOf(lines.inputs[0].dtype)); width > 1;
         width /= 2) {
        bool fits = text.length % width == 0;
        for (std::size_t k = 0; k < text.itemWalk.strides.size() && fits; ++k)
            fits = runs(k, width);
        if (fits)
            return width;
    }
    return 0;
}

/// A warp for each line, which stays in registers from the mean to the result.
KernelText heldNorm(const Lines &lines, const LineNorm &norm, const LineText &text, std::int64_t width,
                    std::string label)
{
    constexpr std::int64_t kEnoughLines = 1024; // that blocks of several still reach all multiprocessors
    const std::int64_t warps = text.lines >= kEnoughLines ? 4 : 1;
    const std::string type(numberName(lines.inputs[0].dtype));
    const std::string chunks = number((text.length / width + 31) / 32);
    const std::string v = number(width);
    const auto vectorOf = [&v](DType of) { return "vec<" + std::string(typeName(of)) + ", " + v + ">"; };
    const std::string eachChunk = "#pragma unroll\n    for (unsigned k = 0; k < " + chunks
        + "; ++k) {\n        const unsigned j = (k * 32 + lane) * " + v + ";\n        if (j < count) {\n";
    const std::string eachItem = "#pragma unroll\n            for (int i = 0; i < " + v + "; ++i) {\n";
    const std::string ends = "            }\n        }\n    }\n";
    std::string result = "(x[k][i] - mean) * inverse";
    std::string loads;
    const auto operand = [&](const char *name, const std::string &k) {
        loads += "            const auto " + std::string(name) + " = *(const "
            + vectorOf(lines.inputs[k == "1" ? 1 : 2].dtype) + " *)(p" + k + " + @_line" + k
            + "(line) + j);\n";
    };
    if (norm.hasGamma) {
        operand("gamma", "1");
        result += " * num(gamma.at[i])";
    }
    if (norm.hasBeta) {
        operand("beta", norm.hasGamma ? "2" : "1");
        result += " + num(beta.at[i])";
    }
    const std::string output = vectorOf(lines.output.dtype);
    std::string body = text.functions + head(typesOf(lines.inputs), lines.output.dtype, norm.also)
        + "    const unsigned lane = threadIdx.x % 32;\n    const unsigned own = blockIdx.x * "
        + number(warps) + "u + threadIdx.x / 32;\n    const unsigned line = own < " + number(text.lines)
        + "u ? own : " + number(text.lines - 1)
        + "u; // all take part in what warps do together\n    const unsigned count = " + number(text.length)
        + "u;\n    const auto *const from = p0 + @_line0(line);\n    " + type + " x[" + chunks + "][" + v
        + "];\n    " + type + " mean = 0;\n" + eachChunk + "            const auto held = *(const "
        + vectorOf(lines.inputs[0].dtype) + " *)(from + j);\n" + eachItem
        + "                x[k][i] = num(held.at[i]);\n                mean += x[k][i];\n" + ends;
    body += norm.centred ? "    mean = over_warp<join_sum>(mean) / count;\n" : "    mean = 0;\n";
    body += "    " + type + " square = 0;\n" + eachChunk + eachItem + "                const " + type
        + " d = x[k][i] - mean;\n                square += d * d;\n" + ends
        + "    square = over_warp<join_sum>(square) / count;\n    if (own != line)\n        return;\n    "
          "const "
        + type + " inverse = " + norm.inverse + ";\n    const long long to = @_lineq(line);\n" + eachChunk
        + loads + "            " + output + " y;\n"
        + (norm.also ? "            " + vectorOf(*norm.also) + " z;\n" : "") + eachItem
        + "                y.at[i] = pack<" + std::string(typeName(lines.output.dtype)) + ">::of(" + result
        + ");\n"
        + (norm.also ? "                z.at[i] = pack<" + std::string(typeName(*norm.also))
                   + ">::of(num(y.at[i]));\n"
                     : "")
        + "            }\n            *(" + output + " *)(q + to + j) = y;\n"
        + (norm.also ? "            *(" + vectorOf(*norm.also) + " *)(r + to + j) = z;\n" : "")
        + "        }\n    }\n}\n";
    KernelText kernel = named(std::move(body), std::move(label));
    kernel.block = static_cast<unsigned>(32 * warps);
    kernel.grid = static_cast<unsigned>((text.lines + warps - 1) / warps);
    kernel.isCooperative = true;
    return kernel;
}

} // namespace

KernelText lineNorm(const Lines &lines, const LineNorm &norm, std::string label)
{
    const LineText text = lineText(lines);
    if (const std::int64_t width = heldWidth(text, lines); width > 0)
        return heldNorm(lines, norm, text, width, std::move(label));
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
