#include "core/backends/cuda/kernel_parts.h"

#include <algorithm>
#include <numeric>

namespace halftone::backends::cuda {

using tensor::DType;

std::string number(std::int64_t value)
{
    return std::to_string(value);
}

std::string_view counter(std::int64_t count)
{
    return count < (std::int64_t{1} << 31) ? "unsigned" : "unsigned long long";
}

namespace {

/// One of coordinates(): what is left of the number is told by those that run faster.
std::string coordinate(const std::string &name, std::int64_t extent, bool isSlowest)
{
    const std::string size = number(extent);
    return "    const long long " + name
        + (isSlowest ? " = rest;\n" : " = rest % " + size + "u;\n    rest /= " + size + "u;\n");
}

} // namespace

std::string coordinates(const Dims &dims, const std::vector<std::size_t> &names, const std::string &from,
                        std::string_view type)
{
    std::string text = "    " + std::string(type) + " rest = " + from + ";\n";
    for (std::size_t k = dims.size(); k-- > 0;)
        text += coordinate("c" + std::to_string(names[k]), dims[k], k == 0);
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

namespace {

std::string parameters(std::span<const DType> inputs, DType output, std::optional<DType> also)
{
    std::string text;
    for (std::size_t k = 0; k < inputs.size(); ++k)
        text += "const " + std::string(typeName(inputs[k])) + " *__restrict__ p" + std::to_string(k) + ", ";
    text += std::string(typeName(output)) + " *__restrict__ q";
    return also ? text + ", " + std::string(typeName(*also)) + " *__restrict__ r" : text;
}

} // namespace

std::string head(std::span<const DType> inputs, DType output, std::optional<DType> also)
{
    return "extern \"C\" __global__ void @(" + parameters(inputs, output, also) + ")\n{\n";
}

void launchElements(KernelText &kernel, std::int64_t count)
{
    constexpr std::int64_t kFewest = 64;
    constexpr std::int64_t kEnoughBlocks = 256; // that all multiprocessors of a large chip have some
    count = std::max<std::int64_t>(count, 1);
    std::int64_t threads = kThreads;
    while (threads > kFewest && count < kEnoughBlocks * threads)
        threads /= 2;
    kernel.block = static_cast<unsigned>(threads);
    kernel.grid = static_cast<unsigned>((count + threads - 1) / threads);
}

std::vector<DType> typesOf(std::span<const View> views)
{
    std::vector<DType> types;
    for (const View &view : views)
        types.push_back(view.dtype);
    return types;
}

std::vector<std::size_t> firstNumbers(std::size_t count)
{
    std::vector<std::size_t> names(count);
    std::iota(names.begin(), names.end(), std::size_t{0});
    return names;
}

} // namespace halftone::backends::cuda
