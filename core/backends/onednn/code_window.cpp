#include "core/backends/onednn/code_window.h"

#include "core/backends/onednn/int8_scales.h"
#include "core/ops/window.h"

#include <algorithm>
#include <cstdlib>

namespace halftone::backends::onednn {

using dnnl::algorithm;
using dnnl::prop_kind;
using ops::CodedChain;

Result<WindowShape> windowShape(const Emitter &emitter, const plan::PlanNode &node, const ops::Conv &conv)
{
    WindowShape shape;
    shape.from = dimsOf(emitter.desc(node.inputs[0]).shape);
    shape.to = dimsOf(emitter.desc(node.outputs[0]).shape);
    shape.weights = dimsOf(emitter.desc(node.inputs[1]).shape);
    if (conv.groups > 1) {
        shape.weights[0] /= conv.groups;
        shape.weights.insert(shape.weights.begin(), conv.groups);
    }
    HALFTONE_TRY(const ops::Window window, ops::makeWindow(conv.kernel, conv.stride, conv.dilate, conv.pad));
    shape.stride = window.stride;
    shape.dilate = window.dilate;
    shape.padBegin = window.padBegin;
    shape.padEnd = window.padEnd;
    for (std::size_t k = 0; k < shape.dilate.size(); ++k) {
        --shape.dilate[k];
        const auto reach = (window.kernel[k] - 1) * window.dilate[k] + 1;
        shape.padEnd[k]
            = (shape.to[2 + k] - 1) * shape.stride[k] + reach - shape.from[2 + k] - shape.padBegin[k];
    }
    const auto source = dnnlType(emitter.desc(node.inputs[0]).dtype);
    const auto result = dnnlType(emitter.desc(node.outputs[0]).dtype);
    if (!source || !result)
        return unsupported("plan", "a type that oneDNN lacks");
    shape.source = *source;
    shape.result = *result;
    return shape;
}

dnnl::convolution_forward::primitive_desc describeWindow(const WindowShape &shape, const Desc &from,
                                                         const Desc &to, bool hasBias,
                                                         const dnnl::primitive_attr &attributes)
{
    const Desc bias = hasBias ? Desc(Dims{shape.to[1]}, Type::f32, Tag::a) : Desc();
    return {cpu(),
            prop_kind::forward_inference,
            algorithm::convolution_direct,
            from,
            Desc(shape.weights, shape.weight, Tag::any),
            bias,
            to,
            shape.stride,
            shape.dilate,
            shape.padBegin,
            shape.padEnd,
            attributes,
            true};
}

Desc sumLayout(const Desc &first, const Dims &dims, Type type)
{
    const Format format = formatOf(first);
    const bool isKept
        = first.get_dims() == dims && (format == Format::Plain || format == Format::ChannelsLast);
    return isKept ? *descIn(format, dims, type) : codeLayout(dims, type);
}

bool holdsSums(const Emitter &emitter, const plan::PlanNode &node, std::size_t channels, bool lastCounts)
{
    const std::vector<std::int8_t> codes
        = emitter.graph().values[node.inputs[1]].constant->values<std::int8_t>();
    const std::size_t depth = codes.size() / std::max<std::size_t>(channels, 1);
    std::vector<std::int64_t> sums(channels);
    for (std::size_t k = 0; k < codes.size(); ++k)
        sums[lastCounts ? k % channels : k / depth] += std::abs(std::int64_t{codes[k]});
    constexpr std::int64_t kLargestCode = 255;
    constexpr std::int64_t kExact = std::int64_t{1} << 24;
    return sums.empty() || kLargestCode * *std::ranges::max_element(sums) <= kExact;
}

bool feedsWindow(const Emitter &emitter, plan::ValueId codes)
{
    return std::ranges::any_of(emitter.uses().readers[codes], [&](std::uint32_t reader) {
        const auto *chain = emitter.graph().nodes[reader].op.getIf<CodedChain>();
        const auto *sums = emitter.graph().nodes[reader].op.getIf<ops::CodedSums>();
        return (chain != nullptr && chain->product == CodedChain::Product::Window)
            || (sums != nullptr && sums->product == CodedChain::Product::Window);
    });
}

} // namespace halftone::backends::onednn
