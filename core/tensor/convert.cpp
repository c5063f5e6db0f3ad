#include "core/tensor/convert.h"

#include "core/tensor/elements.h"
#include "core/tensor/half_loops.h"

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <new>
#include <type_traits>

namespace halftone::tensor {
namespace {

/// Elements taken at a time: both sides of a block stay in the first-level cache.
constexpr std::size_t kBlock = 1024;

/// Of numbers that became elements of `to`.
template <class Wide>
void countLosses(const Wide *from, std::size_t size, DType to, const std::byte *elements, CastReport &report)
{
    const auto least = static_cast<float>(to == DType::F64 ? 0 : rangeOf(to).leastNormal);
    std::array<float, kBlock> stored;
    widen(to, elements, size, stored.data());
    for (std::size_t i = 0; i < size; ++i) {
        report.overflowed += !std::isfinite(stored[i]) && std::isfinite(from[i]) ? 1 : 0;
        report.flushed += stored[i] == 0 && from[i] != 0 ? 1 : 0;
        report.subnormal += stored[i] != 0 && std::abs(stored[i]) < least ? 1 : 0;
        report.nan += std::isnan(from[i]) ? 1 : 0;
    }
}

template <class Wide>
void narrowBlock(const Wide *from, std::size_t size, DType to, std::byte *elements, CastReport &report)
{
    if constexpr (std::is_same_v<Wide, float>) {
        if (isHalf(to))
            return narrowToHalves(from, size, to, elements, report);
    }
    narrow(from, size, to, elements);
    if (std::is_same_v<Wide, double> || isForAnalysis(to))
        countLosses(from, size, to, elements, report);
}

/// Bytes of the result, not zeroed first: every one is written. Large results ask for huge pages, since
/// faulting in small ones would cost as much as the conversion.
std::shared_ptr<std::byte> newBytes(std::size_t size)
{
    constexpr std::size_t kHugePage = std::size_t{1} << 21;
    const bool isLarge = size >= 2 * kHugePage;
    const std::align_val_t alignment{isLarge ? kHugePage : 64};
    auto *const bytes = static_cast<std::byte *>(::operator new(size, alignment));
    if (isLarge)
        ::madvise(bytes, size, MADV_HUGEPAGE);
    return {bytes, [alignment](std::byte *start) { ::operator delete(start, alignment); }};
}

/// `Wide` holds what is stored exactly, or rounds it once where the target is no wider.
template <class Wide>
Tensor cast(const Tensor &source, DType to, CastReport &report)
{
    constexpr DType kWide = std::is_same_v<Wide, float> ? DType::F32 : DType::F64;
    const std::size_t count = source.elementCount();
    const std::size_t from = sizeOf(source.dtype());
    const auto result = newBytes(count * sizeOf(to));
    alignas(64) std::array<Wide, kBlock> wide;
    for (std::size_t first = 0; first < count; first += kBlock) {
        const std::size_t size = std::min(kBlock, count - first);
        std::byte *const target = result.get() + first * sizeOf(to);
        Wide *const block = to == kWide ? reinterpret_cast<Wide *>(target) : wide.data();
        widen(source.dtype(), source.bytes().data() + first * from, size, block);
        if (source.dtype() == DType::Bool)
            std::transform(block, block + size, block,
                           [](Wide value) { return static_cast<Wide>(value != 0); });
        if (to != kWide)
            narrowBlock(block, size, to, target, report);
    }
    return {to, source.shape(), std::span<const std::byte>(result.get(), count * sizeOf(to)), result};
}

} // namespace

Result<Tensor> castTo(const Tensor &source, DType to, CastReport *report)
{
    CastReport counted;
    Result<Tensor> result = source;
    if (source.dtype() != to) {
        if (!isFloat(to) || source.dtype() == DType::Unknown) {
            return unsupported(
                {}, "a cast from " + std::string(nameOf(source.dtype())) + " to " + std::string(nameOf(to)),
                "a cast to a float type");
        }
        const DType from = source.dtype();
        const bool isNarrow = from == DType::Bool || fitsFloat32(from);
        result = isNarrow ? cast<float>(source, to, counted) : cast<double>(source, to, counted);
    }
    if (report != nullptr)
        *report = counted;
    return result;
}

Tensor clampedTo(const Tensor &source, DType to)
{
    const double largest = rangeOf(to).largest;
    std::vector<double> values(source.elementCount());
    widen(source.dtype(), source.bytes().data(), values.size(), values.data());
    for (double &value : values)
        value = std::isfinite(value) ? std::clamp(value, -largest, largest) : value;
    std::vector<std::byte> bytes(values.size() * sizeOf(to));
    narrow(values.data(), values.size(), to, bytes.data());
    return Tensor::owning(to, source.shape(), std::move(bytes));
}

} // namespace halftone::tensor
