#include "core/backends/onednn/float16_kernels.h"

#include "core/backends/onednn/dnnl_common.h"
#include "core/tensor/elements.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

namespace halftone::backends::onednn {
namespace {

using Arguments = std::unordered_map<int, dnnl::memory>;

/// Values of a type in plain memory, and the numbers that they are.
struct Values
{
    std::vector<std::byte> bytes;
    std::vector<float> numbers;
};

Values valuesIn(tensor::DType type, std::size_t count, unsigned seed)
{
    Values values;
    values.bytes.resize(count * sizeof(std::uint16_t));
    values.numbers.resize(count);
    for (std::size_t k = 0; k < count;
         ++k) { // a few ones among small values, so that small terms meet a large sum
        seed = seed * 1'664'525U + 1'013'904'223U; // Numerical Recipes' generator
        const auto drawn = static_cast<float>(seed >> 16) / 65'536.0F - 0.5F;
        values.numbers[k] = k % 7 == 0 ? 1 + drawn : drawn / 64;
    }
    tensor::narrow(values.numbers.data(), count, type, values.bytes.data());
    tensor::widen(type, values.bytes.data(), count, values.numbers.data());
    return values;
}

/// Are the results the sums, rounded once, to a unit in the last place?
bool areRounded(std::span<const std::byte> results, tensor::DType type, std::span<const double> sums)
{
    std::vector<float> got(sums.size());
    tensor::widen(type, results.data(), got.size(), got.data());
    const double unit = std::ldexp(1.0, type == tensor::DType::F16 ? -10 : -7);
    for (std::size_t k = 0; k < sums.size(); ++k) {
        if (!(std::abs(static_cast<double>(got[k]) - sums[k])
              <= unit * std::max(std::abs(sums[k]), 1.0 / 64)))
            return false;
    }
    return true;
}

dnnl::memory memoryOf(const Desc &desc, std::vector<std::byte> &bytes)
{
    return {desc, cpu(), bytes.data()};
}

/// What a primitive gives, in plain memory; inputs are reordered to what it wants.
template <class Description>
std::vector<std::byte> computed(const Description &description, const Desc &plainSource, Values &source,
                                const Desc &plainWeights, Values &weights, const Desc &plainResult)
{
    dnnl::stream stream(cpu());
    const auto ordered = [&stream](dnnl::memory memory, const Desc &wanted) {
        if (memory.get_desc() == wanted)
            return memory;
        dnnl::memory other(wanted, cpu());
        dnnl::reorder(memory, other).execute(stream, memory, other);
        return other;
    };
    std::vector<std::byte> bytes(plainResult.get_size());
    dnnl::memory result(description.dst_desc(), cpu());
    dnnl::primitive(description)
        .execute(
            stream,
            Arguments{{DNNL_ARG_SRC, ordered(memoryOf(plainSource, source.bytes), description.src_desc())},
                      {DNNL_ARG_WEIGHTS,
                       ordered(memoryOf(plainWeights, weights.bytes), description.weights_desc())},
                      {DNNL_ARG_DST, result}});
    dnnl::memory plain = memoryOf(plainResult, bytes);
    dnnl::reorder(result, plain).execute(stream, result, plain);
    stream.wait();
    return bytes;
}

bool isProductRight(Type type)
{
    constexpr dnnl::memory::dim kRows = 8, kDepth = 256, kColumns = 16;
    Values a = valuesIn(dtypeOf(type), kRows * kDepth, 1), b = valuesIn(dtypeOf(type), kDepth * kColumns, 2);
    const Desc left = plainDesc({kRows, kDepth}, type), right = plainDesc({kDepth, kColumns}, type);
    const Desc result = plainDesc({kRows, kColumns}, type);
    const dnnl::matmul::primitive_desc description(cpu(), left, right, result);
    std::vector<double> sums(kRows * kColumns);
    for (std::size_t row = 0; row < kRows; ++row)
        for (std::size_t k = 0; k < kDepth; ++k)
            for (std::size_t column = 0; column < kColumns; ++column)
                sums[row * kColumns + column] += static_cast<double>(a.numbers[row * kDepth + k])
                    * static_cast<double>(b.numbers[k * kColumns + column]);
    return areRounded(computed(description, left, a, right, b, result), dtypeOf(type), sums);
}

bool isConvolutionRight(Type type)
{
    constexpr std::size_t kChannels = 32, kSide = 6, kKernel = 3, kResult = kSide - kKernel + 1;
    Values x = valuesIn(dtypeOf(type), kChannels * kSide * kSide, 3);
    Values w = valuesIn(dtypeOf(type), kChannels * kChannels * kKernel * kKernel, 4);
    const Desc source = plainDesc({1, kChannels, kSide, kSide}, type);
    const Desc weights = plainDesc({kChannels, kChannels, kKernel, kKernel}, type);
    const Desc result = plainDesc({1, kChannels, kResult, kResult}, type);
    const auto any = [type](const Desc &desc) { return Desc(desc.get_dims(), type, Tag::any); };
    const dnnl::convolution_forward::primitive_desc description(
        cpu(), dnnl::prop_kind::forward_inference, dnnl::algorithm::convolution_direct, any(source),
        any(weights), any(result), Dims{1, 1}, Dims{0, 0}, Dims{0, 0});
    std::vector<double> sums;
    for (std::size_t to = 0; to < kChannels; ++to)
        for (std::size_t place = 0; place < kResult * kResult; ++place) {
            double sum = 0;
            for (std::size_t k = 0; k < kChannels * kKernel * kKernel; ++k) {
                const std::size_t from = k / (kKernel * kKernel);
                const std::size_t row = place / kResult + k / kKernel % kKernel;
                const std::size_t column = place % kResult + k % kKernel;
                sum += static_cast<double>(x.numbers[(from * kSide + row) * kSide + column])
                    * static_cast<double>(w.numbers[to * kChannels * kKernel * kKernel + k]);
            }
            sums.push_back(sum);
        }
    return areRounded(computed(description, source, x, weights, w, result), dtypeOf(type), sums);
}

} // namespace

bool offersFloat16(dnnl::cpu_isa isa)
{
    return includes(isa, dnnl::cpu_isa::avx512_core_fp16);
}

bool matchesEmulation(Type type)
{
    try {
        return isProductRight(type) && isConvolutionRight(type);
    } catch (const dnnl::error &) { // no kernel for it, or no memory
        return false;
    }
}

bool hasNativeFloat16()
{
    static const bool kHas = offersFloat16(dnnl::get_effective_cpu_isa()) && matchesEmulation(Type::f16);
    return kHas;
}

} // namespace halftone::backends::onednn
