#include "core/backends/onednn/int8_scales.h"
#include "core/backends/onednn/loops/code_average.h"

#include <algorithm>

/// Averages and products of codes, which stay codes.
namespace halftone::backends::onednn {
namespace {

/// Extents of the axes behind the channels at the end of three; what is in front is 1.
std::array<std::int64_t, 3> spatial(const Dims &dims, std::int64_t missing)
{
    std::array<std::int64_t, 3> found{missing, missing, missing};
    std::ranges::copy(dims, found.end() - static_cast<std::ptrdiff_t>(dims.size()));
    return found;
}

Dims behindChannels(const Dims &dims)
{
    return {dims.begin() + 2, dims.end()};
}

/// Where a result of that shape goes, in the order of channels last.
Place placeOf(Emitter &emitter, plan::ValueId value, Type type)
{
    const Dims dims = dimsOf(emitter.desc(value).shape);
    const Place result = emitter.write(value, codeLayout(dims, type));
    if (const Place pixel = normalised(result); pixel.desc != result.desc)
        emitter.replace(value, pixel);
    return result;
}

Result<AverageWindows> windowsOf(const Emitter &emitter, const plan::PlanNode &node, const ops::Pool &pool)
{
    const Dims from = dimsOf(emitter.desc(node.inputs[0]).shape);
    Dims to = dimsOf(emitter.desc(node.outputs[0]).shape);
    if (from.size() < 3 || from.size() > 5)
        return unsupported("plan", "pooling over other than 1 to 3 axes");
    if (pool.global)
        to.assign(from.size(), 1);
    HALFTONE_TRY(const PoolWindow window, poolWindow(pool, from, to));
    if (pool.countPadding && window.reachesBeyond)
        return unsupported("pooling_convention", "an average whose window reaches beyond the padding");
    return AverageWindows{from[0],
                          from[1],
                          spatial(behindChannels(from), 1),
                          spatial(behindChannels(to), 1),
                          spatial(window.kernel, 1),
                          spatial(window.stride, 1),
                          spatial(window.padBegin, 0),
                          pool.countPadding && !pool.global};
}

} // namespace

Result<void> lowerCodedAverage(Emitter &emitter, const plan::PlanNode &node, const ops::CodedAverage &average)
{
    HALFTONE_TRY(const AverageWindows windows, windowsOf(emitter, node, average.pool));
    const Dims from = dimsOf(emitter.desc(node.inputs[0]).shape);
    HALFTONE_TRY(const Place source,
                 emitter.readAs(node.inputs[0], codeLayout(from, *dnnlType(average.data.type))));
    const Place result = placeOf(emitter, node.outputs[0], *dnnlType(average.result.type));
    emitter.addKernel(codeAverageKernel(windows, average.data, average.result), {source.buffer},
                      {result.buffer});
    return {};
}

Result<void> lowerCodedMultiply(Emitter &emitter, const plan::PlanNode &node,
                                const ops::CodedMultiply &scales)
{
    const Dims first = dimsOf(emitter.desc(node.inputs[0]).shape);
    const Dims second = dimsOf(emitter.desc(node.inputs[1]).shape);
    const bool isSame = first == second;
    const bool isByChannel = first.size() > 2 && second.size() == first.size()
        && std::equal(second.begin(), second.begin() + 2, first.begin())
        && std::all_of(second.begin() + 2, second.end(), [](std::int64_t dim) { return dim == 1; });
    if (!isSame && !isByChannel)
        return unsupported("plan", "a product of codes that stretches otherwise than by channel");
    HALFTONE_TRY(const Place a,
                 emitter.readAs(node.inputs[0], codeLayout(first, *dnnlType(scales.first.type))));
    HALFTONE_TRY(const Place b,
                 emitter.readAs(node.inputs[1], codeLayout(second, *dnnlType(scales.second.type))));
    const Place result = placeOf(emitter, node.outputs[0], *dnnlType(scales.result.type));
    const std::int64_t channels = first.size() > 1 ? first[1] : first[0];
    const std::int64_t rows = *emitter.desc(node.inputs[0]).shape.elementCount() / channels;
    emitter.addKernel(codeMultiplyKernel(rows, channels, isSame ? 1 : rows / first[0], scales),
                      {a.buffer, b.buffer}, {result.buffer});
    return {};
}

} // namespace halftone::backends::onednn
