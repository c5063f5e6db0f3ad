#include "core/tensor/convert.h"

#include "core/tensor/analysis_formats.h"
#include "core/tensor/elements.h"
#include "core/tensor/half_loops.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <memory>
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
    if (std::is_same_v<Wide, double> || isCoded(to))
        countLosses(from, size, to, elements, report);
}

/// Elements from `first` on. `Wide` holds what is stored exactly, or rounds it once where the target is no wider.
/// largest  finite numbers beyond it become it; 0: they stay
/// target   null: nothing is stored, only counted
template <class Wide>
void castElements(const Tensor &source, DType to, double largest, std::size_t first, std::size_t count,
                  std::byte *target, CastReport &report)
{
    constexpr DType kWide = std::is_same_v<Wide, float> ? DType::F32 : DType::F64;
    const std::size_t from = sizeOf(source.dtype());
    const std::byte *const elements = source.bytes().data();
    alignas(64) std::array<Wide, kBlock> wide;
    alignas(64) std::array<std::byte, kBlock * sizeof(double)> unkept;
    for (std::size_t at = 0; at < count; at += kBlock) {
        const std::size_t size = std::min(kBlock, count - at);
        std::byte *const place = target ? target + at * sizeOf(to) : unkept.data();
        Wide *const block = to == kWide ? reinterpret_cast<Wide *>(place) : wide.data();
        widen(source.dtype(), elements + (first + at) * from, size, block);
        if (source.dtype() == DType::Bool)
            std::transform(block, block + size, block,
                           [](Wide value) { return static_cast<Wide>(value != 0); });
        for (std::size_t i = 0; largest > 0 && i < size; ++i)
            if (std::isfinite(block[i]))
                block[i] = static_cast<Wide>(std::clamp<double>(block[i], -largest, largest));
        if (to != kWide)
            narrowBlock(block, size, to, place, report);
    }
}

void castRange(const Tensor &source, DType to, double largest, std::size_t first, std::size_t count,
               std::byte *target, CastReport &report)
{
    const DType from = source.dtype();
    if (from == DType::Bool || fitsFloat32(from))
        castElements<float>(source, to, largest, first, count, target, report);
    else
        castElements<double>(source, to, largest, first, count, target, report);
}

Tensor castNow(const Tensor &source, DType to, double largest, CastReport &report)
{
    const std::size_t count = source.elementCount();
    const auto result = newBytes(count * sizeOf(to));
    castRange(source, to, largest, 0, count, result.get(), report);
    return {to, source.shape(), std::span<const std::byte>(result.get(), count * sizeOf(to)), result};
}

/// What a tensor becomes in another type.
class CastElements final : public DeferredElements
{
public:
    CastElements(Tensor source, DType to, double largest)
        : DeferredElements(source.elementCount() * sizeOf(to))
        , m_source(std::move(source))
        , m_to(to)
        , m_largest(largest)
    {
    }

protected:
    void make(std::size_t first, std::size_t count, std::byte *to) const override
    {
        CastReport untold;
        const std::size_t size = sizeOf(m_to);
        castRange(m_source, m_to, m_largest, first / size, count / size, to, untold);
    }

private:
    Tensor m_source;
    DType m_to;
    double m_largest;
};

/// Of the elements of a matrix with its columns as rows those from `first` on.
void transposeRange(const Tensor &matrix, std::size_t first, std::size_t count, std::byte *to)
{
    const auto rows = static_cast<std::size_t>(matrix.shape()[0]);
    const auto columns = static_cast<std::size_t>(matrix.shape()[1]);
    const std::size_t size = sizeOf(matrix.dtype());
    const std::byte *const from = matrix.bytes().data();
    for (std::size_t k = first; k < first + count; ++k, to += size)
        std::memcpy(to, from + (k % rows * columns + k / rows) * size, size);
}

class TransposedElements final : public DeferredElements
{
public:
    explicit TransposedElements(Tensor matrix)
        : DeferredElements(matrix.bytes().size())
        , m_matrix(std::move(matrix))
    {
    }

protected:
    void make(std::size_t first, std::size_t count, std::byte *to) const override
    {
        const std::size_t size = sizeOf(m_matrix.dtype());
        transposeRange(m_matrix, first / size, count / size, to);
    }

private:
    Tensor m_matrix;
};

/// Smaller results are not worth being made twice.
bool isLarge(const Tensor &source, DType to)
{
    constexpr std::size_t kLarge = std::size_t{1} << 20;
    return source.elementCount() * sizeOf(to) >= kLarge;
}

Tensor later(const Tensor &source, DType to, double largest)
{
    return {to, source.shape(), std::make_shared<const CastElements>(source, to, largest)};
}

Result<void> checkCast(const Tensor &source, DType to)
{
    if (isFloat(to) && source.dtype() != DType::Unknown)
        return {};
    return unsupported(
        {}, "a cast from " + std::string(nameOf(source.dtype())) + " to " + std::string(nameOf(to)),
        "a cast to a float type");
}

} // namespace

Result<Tensor> castTo(const Tensor &source, DType to, CastReport *report)
{
    CastReport counted;
    Tensor result = source;
    if (source.dtype() != to) {
        HALFTONE_CHECK(checkCast(source, to));
        result = castNow(source, to, 0, counted);
    }
    if (report != nullptr)
        *report = counted;
    return result;
}

Result<Tensor> castLater(const Tensor &source, DType to, CastReport *report)
{
    if (source.dtype() == to || !isLarge(source, to))
        return castTo(source, to, report);
    HALFTONE_CHECK(checkCast(source, to));
    CastReport counted;
    castRange(source, to, 0, 0, source.elementCount(), nullptr, counted);
    if (report != nullptr)
        *report = counted;
    return later(source, to, 0);
}

Tensor clampedTo(const Tensor &source, DType to)
{
    CastReport untold;
    const double largest = rangeOf(to).largest;
    return isLarge(source, to) ? later(source, to, largest) : castNow(source, to, largest, untold);
}

Tensor transposed(const Tensor &matrix)
{
    Shape shape{matrix.shape()[1], matrix.shape()[0]};
    if (isLarge(matrix, matrix.dtype()))
        return {matrix.dtype(), std::move(shape), std::make_shared<const TransposedElements>(matrix)};
    std::vector<std::byte> elements(matrix.bytes().size());
    transposeRange(matrix, 0, matrix.elementCount(), elements.data());
    return Tensor::owning(matrix.dtype(), std::move(shape), std::move(elements));
}

} // namespace halftone::tensor
