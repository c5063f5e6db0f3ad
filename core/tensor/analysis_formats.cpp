#include "core/tensor/analysis_formats.h"

#include "core/tensor/float16.h"
#include "core/tensor/posit16.h"

#include <array>
#include <cassert>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

namespace halftone::tensor {
namespace {

/// How a format's elements are held, and what they mean.
struct Float8E4M3FNElement
{
    using Stored = std::uint8_t;
    static float widen(Stored code) { return static_cast<float>(widenCode<Float8E4M3FN>(code)); }
    static Stored narrow(double value) { return narrowDouble<Float8E4M3FN>(value); }
};

struct Float8E5M2Element
{
    using Stored = std::uint8_t;
    static float widen(Stored code) { return static_cast<float>(widenCode<Float8E5M2>(code)); }
    static Stored narrow(double value) { return narrowDouble<Float8E5M2>(value); }
};

struct TensorFloat32Element
{
    using Stored = std::uint32_t;
    static constexpr int kUnused = 32 - TensorFloat32::kBits;
    static float widen(Stored bits) { return std::bit_cast<float>(bits); }
    static Stored narrow(double value) { return narrowDouble<TensorFloat32>(value) << kUnused; }
};

struct Posit16Element
{
    using Stored = std::uint16_t;
    static float widen(Stored code) { return static_cast<float>(doubleFromPosit16(code)); }
    static Stored narrow(double value) { return posit16FromDouble(value); }
};

/// Of OCP's MX formats, 1.0: neither NaN, which becomes -0, nor infinities.
struct Float4E2M1Element
{
    using Stored = std::uint8_t;
    static constexpr std::array<float, 8> kMagnitudes{0, 0.5F, 1, 1.5F, 2, 3, 4, 6};
    static constexpr Stored kSign = 8;

    static float widen(Stored code)
    {
        const float magnitude = kMagnitudes[code % kSign];
        return (code & kSign) != 0 ? -magnitude : magnitude;
    }
    /// The even one of two neighbours is that whose last bit is 0.
    static Stored narrow(double value)
    {
        if (std::isnan(value))
            return kSign;
        const double magnitude = std::abs(value);
        Stored code = 0;
        for (; code + 1U < kMagnitudes.size(); ++code) {
            const double middle = (double{kMagnitudes[code]} + double{kMagnitudes[code + 1U]}) / 2;
            if (magnitude < middle || (magnitude == middle && code % 2 == 0))
                break;
        }
        return static_cast<Stored>(code | (std::signbit(value) ? kSign : 0));
    }
};

/// Of OCP's MX formats, 1.0: 2^(code - 127), code 255 is NaN.
struct Float8E8M0Element
{
    using Stored = std::uint8_t;
    static constexpr int kBias = 127;
    static constexpr Stored kNaN = 255;

    static float widen(Stored code)
    {
        return code == kNaN ? std::numeric_limits<float>::quiet_NaN()
                            : static_cast<float>(std::ldexp(1.0, code - kBias));
    }
    static Stored narrow(double value)
    {
        if (std::isnan(value) || value < 0)
            return kNaN;
        if (value < std::ldexp(1.0, -kBias))
            return 0;
        if (value >= std::ldexp(1.0, kBias))
            return kNaN - 1;
        const int below = std::ilogb(value);
        const double middle = std::ldexp(1.5, below);
        const bool isUp = value > middle || (value == middle && (below + kBias) % 2 != 0);
        return static_cast<Stored>(below + kBias + (isUp ? 1 : 0));
    }
};

template <class Use>
void withElement(DType type, const Use &use)
{
    assert(isCoded(type));
    switch (type) {
    case DType::F8E4M3FN:
        return use(Float8E4M3FNElement());
    case DType::F8E5M2:
        return use(Float8E5M2Element());
    case DType::TF32:
        return use(TensorFloat32Element());
    case DType::F4E2M1:
        return use(Float4E2M1Element());
    case DType::F8E8M0:
        return use(Float8E8M0Element());
    default:
        return use(Posit16Element());
    }
}

} // namespace

template <class Real>
void widenAnalysed(DType type, const std::byte *elements, std::size_t count, Real *out)
{
    withElement(type, [&](auto element) {
        typename decltype(element)::Stored stored{};
        for (std::size_t i = 0; i < count; ++i) {
            std::memcpy(&stored, elements + i * sizeof stored, sizeof stored);
            out[i] = static_cast<Real>(element.widen(stored));
        }
    });
}

template <class Real>
void narrowAnalysed(const Real *values, std::size_t count, DType type, std::byte *elements)
{
    withElement(type, [&](auto element) {
        for (std::size_t i = 0; i < count; ++i) {
            const auto stored = element.narrow(static_cast<double>(values[i]));
            std::memcpy(elements + i * sizeof stored, &stored, sizeof stored);
        }
    });
}

template void widenAnalysed(DType, const std::byte *, std::size_t, float *);
template void widenAnalysed(DType, const std::byte *, std::size_t, double *);
template void narrowAnalysed(const float *, std::size_t, DType, std::byte *);
template void narrowAnalysed(const double *, std::size_t, DType, std::byte *);

} // namespace halftone::tensor
