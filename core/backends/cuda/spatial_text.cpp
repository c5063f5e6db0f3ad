#include "core/backends/cuda/spatial_text.h"

#include "core/backends/cuda/element_text.h"

namespace halftone::backends::cuda {
namespace {

std::string digits(std::int64_t value)
{
    return std::to_string(value);
}

/// Place in a view, whose axes stand at the given names.
std::string placeOf(const View &view, const std::vector<std::string> &names)
{
    std::string text = digits(view.offset);
    for (std::size_t k = 0; k < names.size(); ++k)
        if (view.strides[k] != 0)
            text += " + " + names[k] + " * " + digits(view.strides[k]);
    return text;
}

std::vector<std::string> withSpatial(std::vector<std::string> names, const std::string &prefix,
                                     std::size_t rank)
{
    for (std::size_t k = 0; k < rank; ++k)
        names.push_back(prefix + digits(static_cast<std::int64_t>(k)));
    return names;
}

std::string axisName(const std::string &prefix, std::size_t axis)
{
    return prefix + digits(static_cast<std::int64_t>(axis));
}

/// The head of a loop over the taps along an axis, which leaves out those beside the data.
std::string tapLoop(const SpatialText &op, std::size_t k)
{
    const std::string tap = axisName("k", k);
    const std::string at = axisName("i", k);
    return "    for (int " + tap + " = 0; " + tap + " < " + digits(op.window.kernel[k]) + "; ++" + tap
        + ") {\n    const long long " + at + " = c" + digits(static_cast<std::int64_t>(k) + 2) + " * "
        + digits(op.window.stride[k]) + " - " + digits(op.window.padBegin[k]) + " + " + tap + " * "
        + digits(op.window.dilate[k]) + ";\n    if (" + at + " < 0 || " + at
        + " >= " + digits(op.data.dims[k + 2]) + ")\n        continue;\n";
}

/// The same of a transposed convolution: places between those that the taps reach are left out, too.
std::string transposedLoop(const SpatialText &op, std::size_t k)
{
    const std::string tap = axisName("k", k);
    const std::string far = axisName("s", k);
    const std::string at = axisName("i", k);
    const std::string stride = digits(op.window.stride[k]);
    return "    for (int " + tap + " = 0; " + tap + " < " + digits(op.window.kernel[k]) + "; ++" + tap
        + ") {\n    const long long " + far + " = c" + digits(static_cast<std::int64_t>(k) + 2) + " + "
        + digits(op.window.padBegin[k]) + " - " + tap + " * " + digits(op.window.dilate[k]) + ";\n    if ("
        + far + " < 0 || " + far + " % " + stride + " != 0)\n        continue;\n    const long long " + at
        + " = " + far + " / " + stride + ";\n    if (" + at + " >= " + digits(op.data.dims[k + 2])
        + ")\n        continue;\n";
}

/// Loops over the taps; `inside` sees the data's places i0, ….
std::string tapLoops(const SpatialText &op, const std::string &inside)
{
    std::string text;
    std::string close;
    for (std::size_t k = 0; k < op.window.rank(); ++k) {
        text += tapLoop(op, k);
        close += "    }\n";
    }
    return text + inside + close;
}

/// How long the window is along an axis, as a factor of `covered`.
std::string coveredAxis(const SpatialText &op, std::size_t k)
{
    const std::string first = "(c" + digits(static_cast<std::int64_t>(k) + 2) + " * "
        + digits(op.window.stride[k]) + " - " + digits(op.window.padBegin[k]) + ")";
    const std::int64_t reach = (op.window.kernel[k] - 1) * op.window.dilate[k] + 1;
    const std::string limit = digits(op.data.dims[k + 2] + op.window.padEnd[k]);
    return "    {\n        const long long end = " + first + " + " + digits(reach) + " < " + limit + " ? "
        + first + " + " + digits(reach) + " : " + limit + ";\n        const long long length = (end - "
        + first + " + " + digits(op.window.dilate[k] - 1) + ") / " + digits(op.window.dilate[k])
        + ";\n        covered *= length > 0 ? length : 0;\n    }\n";
}

std::string numberOf(const SpatialText &op)
{
    return std::string(op.sums.type.empty() ? numberName(op.result.dtype) : op.sums.type);
}

} // namespace

View channelsFirst(const View &view, ops::Layout layout)
{
    if (layout == ops::Layout::ChannelsFirst || view.dims.size() < 3)
        return view;
    std::vector<std::size_t> axes{0, view.dims.size() - 1};
    for (std::size_t axis = 1; axis + 1 < view.dims.size(); ++axis)
        axes.push_back(axis);
    return permuted(view, axes);
}

std::string convolutionText(const SpatialText &op, const View &weight)
{
    const std::int64_t inputs = weight.dims[1];
    const std::string data = placeOf(
        op.data, withSpatial({"c0", "(group * " + digits(inputs) + " + c)"}, "i", op.window.rank()));
    const std::string taps = placeOf(weight, withSpatial({"c1", "c"}, "k", op.window.rank()));
    return "    " + numberOf(op) + " acc = 0;\n    const long long group = c1 / "
        + digits(op.result.dims[1] / op.groups) + ";\n    (void)group;\n"
        + tapLoops(op,
                   "    for (int c = 0; c < " + digits(inputs) + "; ++c)\n        acc += (num(p0[" + data
                       + "])" + (op.sums.zero == 0 ? "" : " - (" + digits(op.sums.zero) + ')') + ") * num(p1["
                       + taps + "]);\n");
}

std::string transposedText(const SpatialText &op, const View &weight)
{
    const std::int64_t outputs = weight.dims[1]; // of one group
    const std::int64_t inputs = op.data.dims[1] / op.groups;
    std::string text = "    " + numberOf(op) + " acc = 0;\n    const long long group = c1 / "
        + digits(outputs) + ", o = c1 % " + digits(outputs) + ";\n";
    std::string close;
    for (std::size_t k = 0; k < op.window.rank(); ++k) {
        text += transposedLoop(op, k);
        close += "    }\n";
    }
    const std::string channel = "(group * " + digits(inputs) + " + c)";
    const std::string data = placeOf(op.data, withSpatial({"c0", channel}, "i", op.window.rank()));
    const std::string taps = placeOf(weight, withSpatial({channel, "o"}, "k", op.window.rank()));
    return text + "    for (int c = 0; c < " + digits(inputs) + "; ++c)\n        acc += num(p0[" + data
        + "]) * num(p1[" + taps + "]);\n" + close;
}

std::string coveredText(const SpatialText &op)
{
    std::string text = "    long long covered = 1;\n    (void)taps;\n";
    for (std::size_t k = 0; k < op.window.rank(); ++k)
        text += coveredAxis(op, k);
    return text;
}

std::string poolText(const SpatialText &op, const PoolText &pool)
{
    using Kind = PoolText::Kind;
    const std::string type = numberOf(op);
    const std::string x
        = "num(p0[" + placeOf(op.data, withSpatial({"c0", "c1"}, "i", op.window.rank())) + "])";
    if (pool.kind == Kind::Max)
        return "    " + type + " acc = " + literal(pool.lowest, type) + ";\n"
            + tapLoops(op, "    const " + type + " x = " + x + ";\n    acc = x > acc || x != x ? x : acc;\n");
    // What codes stand for is rounded to float32, one by one, and their sum once.
    const std::string item = pool.codes ? "(double)" + realText(*pool.codes, x) : x;
    std::string text = "    " + type + " total = 0;\n    long long taps = 0;\n"
        + tapLoops(op, "    total += " + item + ";\n    ++taps;\n");
    if (pool.kind == Kind::Sum)
        return text + "    (void)taps;\n    const " + type + " acc = total;\n";
    std::string count = "taps";
    if (pool.countsPadding) {
        text += coveredText(op);
        count = "covered";
    }
    const std::string result(pool.codes ? "float" : type);
    return text + "    const " + result + " acc = " + count + " > 0 ? (" + result + ")(total / " + count
        + ") : (" + result + ")0;\n";
}

} // namespace halftone::backends::cuda
