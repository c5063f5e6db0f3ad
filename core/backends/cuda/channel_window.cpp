#include "core/backends/cuda/channel_window.h"

#include "core/backends/cuda/kernel_parts.h"

#include <algorithm>

namespace halftone::backends::cuda {
namespace {

using Kind = ChannelWindow::Kind;
using tensor::DType;

constexpr std::int64_t kMostProducts
    = 32; ///< of a row of the window with the results that share it: all are written out
constexpr std::int64_t kMostTogether = 4; ///< results of a thread

/// Channels of a thread; 0: the views cannot be walked so.
std::int64_t widthOf(const SpatialText &op)
{
    const std::size_t widest = std::max(tensor::sizeOf(op.data.dtype), tensor::sizeOf(op.result.dtype));
    for (std::int64_t width = 16 / static_cast<std::int64_t>(widest); width > 1; width /= 2)
        if (op.result.dims[1] % width == 0 && isInSteps(op.data, 1, width) && isInSteps(op.result, 1, width))
            return width;
    return 0;
}

class WindowText
{
public:
    WindowText(const SpatialText &op, const ChannelWindow &what, const Epilogue &epilogue, std::int64_t width)
        : m_op(op)
        , m_what(what)
        , m_epilogue(epilogue)
        , m_width(width)
        , m_number(numberName(op.result.dtype))
        , m_type(typeName(op.data.dtype))
        , m_vector("vec<" + m_type + ", " + number(width) + ">")
    {
        for (m_together = kMostTogether; m_together > 1
             && (m_together * op.window.kernel[1] > kMostProducts || threads() < what.enoughThreads);
             m_together /= 2) { }
    }

    std::int64_t threads() const
    {
        return m_op.result.dims[0] * m_op.result.dims[2] * tiles() * (m_op.result.dims[1] / m_width);
    }

    std::string text() const
    {
        std::vector<DType> types{m_op.data.dtype};
        if (m_what.kind == Kind::Depthwise)
            types.push_back(m_op.data.dtype);
        const std::size_t firstOperand = types.size();
        for (const View &operand : m_epilogue.operands)
            types.push_back(operand.dtype);
        const std::string type(counter(threads()));
        const std::string start = m_what.kind == Kind::Max ? literal(m_what.lowest, m_number) : "0";
        return head(types, m_op.result.dtype) + "    " + type + " rest = blockIdx.x * (" + type
            + ")blockDim.x + threadIdx.x;\n    if (rest >= " + number(threads())
            + "u)\n        return;\n    const int c = (int)(rest % " + number(m_op.result.dims[1] / m_width)
            + "u) * " + number(m_width) + ";\n    rest /= " + number(m_op.result.dims[1] / m_width)
            + "u;\n    const int from = (int)(rest % " + number(tiles()) + "u) * " + number(m_together)
            + ";\n    rest /= " + number(tiles()) + "u;\n    const int c2 = (int)(rest % "
            + number(m_op.result.dims[2]) + "u);\n    const int c0 = (int)(rest / "
            + number(m_op.result.dims[2]) + "u);\n    " + m_number + " sum[" + number(m_together) + "]["
            + number(m_width) + "];\n#pragma unroll\n    for (int t = 0; t < " + number(m_together)
            + "; ++t)\n#pragma unroll\n        for (int j = 0; j < " + number(m_width)
            + "; ++j)\n            sum[t][j] = " + start + ";\n" + rows() + results(firstOperand) + "}\n";
    }

private:
    std::int64_t tiles() const { return (m_op.result.dims[3] + m_together - 1) / m_together; }

    /// The window's rows, one after the other: what lies under it is read first, then used by each result that it concerns.
    std::string rows() const
    {
        const ops::Window &window = m_op.window;
        const bool isDepthwise = m_what.kind == Kind::Depthwise;
        const std::int64_t reach
            = (m_together - 1) * window.stride[1] + (window.kernel[1] - 1) * window.dilate[1] + 1;
        std::string text = "    const int x0 = from * " + number(window.stride[1]) + " - "
            + number(window.padBegin[1]) + ";\n    int rows = 0;\n    for (int k = 0; k < "
            + number(window.kernel[0]) + "; ++k) {\n        const int y = c2 * " + number(window.stride[0])
            + " - " + number(window.padBegin[0]) + " + k * " + number(window.dilate[0])
            + ";\n        if (y < 0 || y >= " + number(m_op.data.dims[2])
            + ")\n            continue;\n        ++rows;\n        const " + m_type + " *const at = p0 + "
            + number(m_op.data.offset) + " + (long long)c0 * " + number(m_op.data.strides[0])
            + " + (long long)y * " + number(m_op.data.strides[2]) + " + c;\n";
        if (isDepthwise)
            for (std::int64_t tap = 0; tap < window.kernel[1]; ++tap)
                text += weightOf(tap);
        else
            text += "        " + m_vector + " none;\n        for (int j = 0; j < " + number(m_width)
                + "; ++j)\n            none.at[j] = pack<" + m_type + ">::of("
                + (m_what.kind == Kind::Max ? literal(m_what.lowest, m_number) : "0") + ");\n";
        std::string uses;
        for (std::int64_t place = 0; place < reach; ++place) {
            const std::string use = usesOf(place);
            if (use.empty())
                continue;
            text += loadOf(place);
            uses += use;
        }
        return text + uses + "    }\n    (void)rows;\n";
    }

    std::string weightOf(std::int64_t tap) const
    {
        return "        const " + m_vector + " w" + number(tap) + " = *(const " + m_vector + " *)(p1 + (k * "
            + number(m_op.window.kernel[1]) + " + " + number(tap) + ") * " + number(m_op.result.dims[1])
            + " + c);\n";
    }

    /// A vector of data at a place of the row.
    std::string loadOf(std::int64_t place) const
    {
        const std::string name = "v" + number(place);
        const std::string x = "x0 + " + number(place);
        return "        " + m_vector + ' ' + name + (m_what.kind == Kind::Depthwise ? "{}" : " = none")
            + ";\n        if (" + x + " >= 0 && " + x + " < " + number(m_op.data.dims[3]) + ")\n            "
            + name + " = *(const " + m_vector + " *)(at + (long long)(" + x + ") * "
            + number(m_op.data.strides[3]) + ");\n";
    }

    /// What the results make of it; nothing where none sees that place.
    std::string usesOf(std::int64_t place) const
    {
        const ops::Window &window = m_op.window;
        std::string use;
        for (std::int64_t t = 0; t < m_together; ++t) {
            const std::int64_t far = place - t * window.stride[1];
            if (far >= 0 && far % window.dilate[1] == 0 && far / window.dilate[1] < window.kernel[1])
                use += useOf(t, far / window.dilate[1]);
        }
        return use.empty() ? use
                           : "#pragma unroll\n        for (int j = 0; j < " + number(m_width)
                + "; ++j) {\n            const auto x = num(v" + number(place) + ".at[j]);\n" + use
                + "        }\n";
    }

    /// By result t, under whose window it is that tap.
    std::string useOf(std::int64_t t, std::int64_t tap) const
    {
        const std::string sum = "sum[" + number(t) + "][j]";
        if (m_what.kind == Kind::Max)
            return "            " + sum + " = x > " + sum + " || x != x ? x : " + sum + ";\n";
        return "            " + sum
            + (m_what.kind == Kind::Depthwise ? " += x * num(w" + number(tap) + ".at[j]);\n" : " += x;\n");
    }

    /// Places within the data that the window of the result at c3 sees.
    std::string taps() const
    {
        const ops::Window &window = m_op.window;
        return "        int columns = 0;\n        for (int k = 0; k < " + number(window.kernel[1])
            + "; ++k) {\n            const int x = c3 * " + number(window.stride[1]) + " - "
            + number(window.padBegin[1]) + " + k * " + number(window.dilate[1])
            + ";\n            columns += x >= 0 && x < " + number(m_op.data.dims[3])
            + ";\n        }\n        const long long taps = (long long)rows * columns;\n";
    }

    /// An operand of what stands behind, read once for all channels where it can be.
    std::string operandOf(std::size_t k, const std::string &from) const
    {
        const View &operand = m_epilogue.operands[k];
        const bool runs = isInSteps(operand, 1, m_width);
        if (!runs && operand.strides[1] != 0)
            return {};
        std::string type(typeName(operand.dtype));
        if (runs)
            type = "vec<" + type + ", " + number(m_width) + '>';
        return "        const " + type + " o" + std::to_string(k) + " = *(const " + type + " *)(" + from
            + " + " + placeText(operand) + ");\n";
    }

    std::string elementOf(std::size_t k, const std::string &from) const
    {
        const View &operand = m_epilogue.operands[k];
        const std::string of = std::to_string(k);
        const std::string element = isInSteps(operand, 1, m_width) ? "o" + of + ".at[j]"
            : operand.strides[1] == 0
            ? "o" + of
            : from + '[' + placeText(operand) + " + j * " + number(operand.strides[1]) + ']';
        return "            const auto e" + of + " = num(" + element + ");\n";
    }

    std::string results(std::size_t firstOperand) const
    {
        const std::string type(typeName(m_op.result.dtype));
        const std::string vector = "vec<" + type + ", " + number(m_width) + '>';
        std::string text = "#pragma unroll\n    for (int t = 0; t < " + number(m_together)
            + "; ++t) {\n        const int c3 = from + t;\n        if (c3 >= " + number(m_op.result.dims[3])
            + ")\n            break;\n        const int c1 = c;\n";
        std::string loads;
        for (std::size_t k = 0; k < m_epilogue.operands.size(); ++k) {
            const std::string from = "p" + std::to_string(firstOperand + k);
            text += operandOf(k, from);
            loads += elementOf(k, from);
        }
        std::string acc = "sum[t][j]";
        if (m_what.kind == Kind::Average) {
            text += taps() + (m_what.countsPadding ? coveredText(m_op) : "");
            const std::string count = m_what.countsPadding ? "covered" : "taps";
            acc = count + " > 0 ? (" + m_number + ")(" + acc + " / " + count + ") : (" + m_number + ")0";
        }
        return text + "        " + vector + " y;\n#pragma unroll\n        for (int j = 0; j < "
            + number(m_width) + "; ++j) {\n            const " + m_number + " acc = " + acc + ";\n" + loads
            + m_epilogue.statements + "            y.at[j] = pack<" + type + ">::of(" + m_epilogue.expression
            + ");\n        }\n        *(" + vector + " *)(q + " + placeText(m_op.result) + ") = y;\n    }\n";
    }

    const SpatialText &m_op;
    const ChannelWindow &m_what;
    const Epilogue &m_epilogue;
    std::int64_t m_width;
    std::int64_t m_together = 1; ///< results of a thread, along the last axis
    std::string m_number;
    std::string m_type;
    std::string m_vector;
};

} // namespace

std::optional<KernelText> channelWindow(const SpatialText &op, const ChannelWindow &what,
                                        const Epilogue &epilogue, std::string label)
{
    if (op.window.rank() != 2 || op.data.dims.size() != 4 || !tensor::isFloat(op.data.dtype)
        || op.data.dtype != op.result.dtype || op.window.kernel[1] > kMostProducts)
        return std::nullopt;
    const std::int64_t width = widthOf(op);
    if (width == 0)
        return std::nullopt;
    const WindowText text(op, what, epilogue, width);
    KernelText kernel = named(text.text(), std::move(label));
    launchElements(kernel, text.threads());
    return kernel;
}

KernelText padChannels(const View &from, const View &to)
{
    const std::int64_t places = countOf(to.dims) / to.dims[1];
    const std::string type(typeName(to.dtype));
    const std::string vector = "vec<" + type + ", " + number(to.dims[1]) + '>';
    const std::string count(counter(places));
    const std::vector<DType> types{from.dtype};
    std::string text = head(types, to.dtype) + "    const " + count + " i = blockIdx.x * (" + count
        + ")blockDim.x + threadIdx.x;\n    if (i >= " + number(places) + "u)\n        return;\n"
        + coordinates({to.dims[0], to.dims[2], to.dims[3]}, {0, 2, 3}, "i", count) + "    " + vector
        + " y;\n    for (int c1 = 0; c1 < " + number(to.dims[1]) + "; ++c1)\n        y.at[c1] = pack<" + type
        + ">::of(c1 < " + number(from.dims[1]) + " ? num(p0[" + placeText(from) + "]) : 0);\n    *(" + vector
        + " *)(q + (long long)i * " + number(to.dims[1]) + ") = y;\n}\n";
    KernelText kernel = named(std::move(text), "padded channels");
    launchElements(kernel, places);
    return kernel;
}

} // namespace halftone::backends::cuda
