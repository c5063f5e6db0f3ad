#include "core/backends/onednn/loops/recurrent_loops.h"

#include "core/base/vector_loops.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace halftone::backends::onednn {
namespace {

/// 64 bytes: the compiler makes of them what the target has. They are passed by reference only, since how they are passed by value
/// depends on the target.
using FloatVector __attribute__((vector_size(64))) = float;
using WordVector __attribute__((vector_size(64))) = std::int32_t;
using HalfVector __attribute__((vector_size(32))) = std::uint16_t;
using BitVector __attribute__((vector_size(64))) = std::uint32_t;

static_assert(sizeof(FloatVector) == kRecurrentLanes * sizeof(float));

constexpr std::size_t kPanelVectors = 4;

[[gnu::always_inline]] inline void loadFloats(const float *from, FloatVector &to)
{
    __builtin_memcpy(&to, from, sizeof to);
}

[[gnu::always_inline]] inline void storeFloats(const FloatVector &from, float *to)
{
    __builtin_memcpy(to, &from, sizeof from);
}

template <WeightType kType>
constexpr std::size_t kWeightBytes = kType == WeightType::F32 ? 4 : 2;

/// bfloat16 of two vectors lie together, element by element, the first one's in the lower half of a word: each is one operation away
/// from its float32. One that has no other beside it lies alone.
[[gnu::always_inline]] inline void loadPair(const std::byte *from, FloatVector &first, FloatVector &second)
{
    BitVector words;
    __builtin_memcpy(&words, from, sizeof words);
    const BitVector low = words << 16;
    const BitVector high = words & 0xFFFF0000U;
    __builtin_memcpy(&first, &low, sizeof first);
    __builtin_memcpy(&second, &high, sizeof second);
}

[[gnu::always_inline]] inline void loadSingle(const std::byte *from, FloatVector &to)
{
    HalfVector narrow;
    __builtin_memcpy(&narrow, from, sizeof narrow);
    const BitVector wide = __builtin_convertvector(narrow, BitVector) << 16;
    __builtin_memcpy(&to, &wide, sizeof to);
}

/// kVectors of a panel's, from one with an even number on.
template <WeightType kType, std::size_t kVectors>
[[gnu::always_inline]] inline void loadWeights(const std::byte *from, FloatVector (&to)[kVectors])
{
    constexpr std::size_t kBytes = kRecurrentLanes * kWeightBytes<kType>;
    if constexpr (kType == WeightType::F32) {
#pragma GCC unroll 4
        for (std::size_t v = 0; v < kVectors; ++v)
            __builtin_memcpy(&to[v], from + v * kBytes, sizeof to[v]);
    } else if constexpr (kVectors == 1) {
        loadSingle(from, to[0]);
    } else {
#pragma GCC unroll 2
        for (std::size_t v = 0; v < kVectors; v += 2)
            loadPair(from + v * kBytes, to[v], to[v + 1]);
    }
}

/// kRows of the products with kVectors of the `width` vectors of a panel.
template <WeightType kType, std::size_t kRows, std::size_t kVectors>
[[gnu::always_inline]] inline void multiplyTile(const RowProducts &products, std::size_t row,
                                                std::size_t column, const std::byte *weights,
                                                std::size_t width)
{
    FloatVector sums[kRows][kVectors];
#pragma GCC unroll 6
    for (std::size_t r = 0; r < kRows; ++r)
#pragma GCC unroll 4
        for (std::size_t v = 0; v < kVectors; ++v)
            loadFloats((products.start == nullptr ? products.sums[row + r] : products.start) + column
                           + v * kRecurrentLanes,
                       sums[r][v]);
    const float *data[kRows];
#pragma GCC unroll 6
    for (std::size_t r = 0; r < kRows; ++r)
        data[r] = products.rows[row + r];
    for (std::size_t k = 0; k < products.depth; ++k) {
        FloatVector vectors[kVectors];
        loadWeights<kType, kVectors>(weights, vectors);
        weights += width * kRecurrentLanes * kWeightBytes<kType>;
#pragma GCC unroll 6
        for (std::size_t r = 0; r < kRows; ++r) {
            const float factor = data[r][k];
#pragma GCC unroll 4
            for (std::size_t v = 0; v < kVectors; ++v)
                sums[r][v] += vectors[v] * factor;
        }
    }
#pragma GCC unroll 6
    for (std::size_t r = 0; r < kRows; ++r)
#pragma GCC unroll 4
        for (std::size_t v = 0; v < kVectors; ++v)
            storeFloats(sums[r][v], products.sums[row + r] + column + v * kRecurrentLanes);
}

/// All rows of the products with a part of a panel.
template <WeightType kType, std::size_t kVectors>
[[gnu::always_inline]] inline void multiplyPart(const RowProducts &products, std::size_t column,
                                                const std::byte *weights, std::size_t width)
{
    std::size_t row = 0;
    for (; row + 6 <= products.count; row += 6)
        multiplyTile<kType, 6, kVectors>(products, row, column, weights, width);
    for (; row + 3 <= products.count; row += 3)
        multiplyTile<kType, 3, kVectors>(products, row, column, weights, width);
    for (; row < products.count; ++row)
        multiplyTile<kType, 1, kVectors>(products, row, column, weights, width);
}

/// `kIsWide`: registers hold 24 sums of 64 bytes; elsewhere a single row alone takes four vectors at once.
template <WeightType kType, bool kIsWide>
struct MultiplyRows
{
    [[gnu::always_inline]] static void run(const RowProducts *products)
    {
        const std::byte *weights = products->matrix;
        for (std::size_t column = 0; column < products->columns; column += kPanelVectors * kRecurrentLanes) {
            const std::size_t width = std::min(kPanelVectors, (products->columns - column) / kRecurrentLanes);
            multiplyPanel(*products, column, weights, width);
            weights += width * products->depth * kRecurrentLanes * kWeightBytes<kType>;
        }
    }

private:
    [[gnu::always_inline]] static void multiplyPanel(const RowProducts &products, std::size_t column,
                                                     const std::byte *weights, std::size_t width)
    {
        constexpr std::size_t kVector = kRecurrentLanes * kWeightBytes<kType>;
        if (width == kPanelVectors && (kIsWide || products.count == 1))
            return multiplyPart<kType, kPanelVectors>(products, column, weights, width);
        std::size_t done = 0;
        if constexpr (kIsWide || kType == WeightType::Bf16)
            for (; done + 2 <= width; done += 2)
                multiplyPart<kType, 2>(products, column + done * kRecurrentLanes, weights + done * kVector,
                                       width);
        for (; done < width; ++done)
            multiplyPart<kType, 1>(products, column + done * kRecurrentLanes, weights + done * kVector,
                                   width);
    }
};

template <WeightType kType>
void multiplyRowsOf(const RowProducts &products)
{
#ifdef __x86_64__
    if (hasAvx512())
        return runAvx512<MultiplyRows<kType, true>>(&products);
#endif
    runFastest<MultiplyRows<kType, false>>(&products);
}

/// x = n ln 2 + rest: x becomes e^rest - 1, and power 2^n. Needs: |x| below 88; a NaN stays one in x. The rest, at most half of ln 2,
/// goes through its Taylor series, whose first term left out is below 1e-8 of the sum.
[[gnu::always_inline]] inline void splitExponential(FloatVector &x, FloatVector &power)
{
    constexpr float kWhole = 12582912.0F; // 1.5 · 2^23: what is added to it is rounded to a whole number
    const FloatVector shifted = x * 1.44269504F + kWhole;
    const FloatVector whole = shifted - kWhole;
    WordVector bits;
    __builtin_memcpy(&bits, &shifted, sizeof bits);
    bits = (bits - 0x4B400000 + 127) << 23; // less the bits of kWhole
    __builtin_memcpy(&power, &bits, sizeof power);
    // ln 2 in two parts, of which the first has so few bits that its product is exact.
    const FloatVector rest = x - whole * 0.693359375F + whole * 2.12194440e-4F;
    FloatVector series = rest * (1.0F / 5040) + 1.0F / 720;
    series = series * rest + 1.0F / 120;
    series = series * rest + 1.0F / 24;
    series = series * rest + 1.0F / 6;
    series = series * rest + 0.5F;
    x = series * (rest * rest) + rest;
}

[[gnu::always_inline]] inline void sigmoidOf(FloatVector &x)
{
    FloatVector t = -x;
    const FloatVector low = FloatVector{} - 87.0F;
    const FloatVector high = FloatVector{} + 88.0F;
    const FloatVector infinite = FloatVector{} + std::numeric_limits<float>::infinity();
    const auto isLarge = t > high;
    t = t < low ? low : t;
    t = isLarge ? high : t;
    FloatVector power;
    splitExponential(t, power);
    t = t * power + power;
    t = isLarge ? infinite : t;
    x = 1.0F / (1.0F + t);
}

/// By (e^2x - 1) / (e^2x + 1), whose numerator is as exact for small x as for large.
[[gnu::always_inline]] inline void tanhOf(FloatVector &x)
{
    WordVector bits;
    __builtin_memcpy(&bits, &x, sizeof bits);
    const WordVector sign = bits & std::numeric_limits<std::int32_t>::min();
    bits &= std::numeric_limits<std::int32_t>::max();
    FloatVector t;
    __builtin_memcpy(&t, &bits, sizeof t);
    const FloatVector high = FloatVector{} + 10.0F; // where it is 1 in float32
    t = t > high ? high : t;
    t = t + t;
    FloatVector power;
    splitExponential(t, power);
    t = t * power + (power - 1.0F);
    t = t / (t + 2.0F);
    __builtin_memcpy(&bits, &t, sizeof bits);
    bits |= sign;
    __builtin_memcpy(&x, &bits, sizeof x);
}

[[gnu::always_inline]] inline void eluOf(FloatVector &x, float alpha)
{
    const FloatVector low = FloatVector{} - 87.0F;
    const FloatVector zero{};
    FloatVector t = x < low ? low : x;
    t = t > zero ? zero : t;
    FloatVector power;
    splitExponential(t, power);
    t = (t * power + (power - 1.0F)) * alpha;
    x = x >= zero ? x : t;
}

/// One number, by the C library.
float softplusOf(float x)
{
    return x > 20 ? x : std::log1p(std::exp(x));
}

struct ApplyFunction
{
    using Kind = ops::Recurrence::Function::Kind;

    [[gnu::always_inline]] static void run(const ops::Recurrence::Function *function, float limit,
                                           float *values, std::size_t count)
    {
        const auto alpha = static_cast<float>(function->alpha);
        const auto beta = static_cast<float>(function->beta);
        const FloatVector zero{};
        const auto each = [&](auto &&apply) __attribute__((always_inline))
        {
            eachVector(limit, values, count, apply);
        };
        // clang-format off
        switch (function->kind) {
        case Kind::Tanh: return each([](FloatVector &x) __attribute__((always_inline)) { tanhOf(x); });
        case Kind::Sigmoid: return each([](FloatVector &x) __attribute__((always_inline)) { sigmoidOf(x); });
        case Kind::Relu: return each([&](FloatVector &x) __attribute__((always_inline)) { x = x < zero ? zero : x; });
        case Kind::Affine: return each([&](FloatVector &x) __attribute__((always_inline)) { x = x * alpha + beta; });
        case Kind::LeakyRelu: return each([&](FloatVector &x) __attribute__((always_inline)) { x = x >= zero ? x : x * alpha; });
        case Kind::ThresholdedRelu: return each([&](FloatVector &x) __attribute__((always_inline)) { x = x > zero + alpha ? x : zero; });
        case Kind::ScaledTanh: return each([&](FloatVector &x) __attribute__((always_inline)) { x = x * beta; tanhOf(x); x = x * alpha; });
        case Kind::HardSigmoid: return each([&](FloatVector &x) __attribute__((always_inline)) { x = x * alpha + beta; x = x < zero ? zero : x; x = x > zero + 1.0F ? zero + 1.0F : x; });
        case Kind::Elu: return each([&](FloatVector &x) __attribute__((always_inline)) { eluOf(x, alpha); });
        case Kind::Softsign: return each([&](FloatVector &x) __attribute__((always_inline)) { const FloatVector size = x < zero ? -x : x; x = x / (size + 1.0F); });
        case Kind::Softplus: return each([&](FloatVector &x) __attribute__((always_inline)) { for (std::size_t i = 0; i < kRecurrentLanes; ++i) x[i] = softplusOf(x[i]); });
        }
        // clang-format on
    }

private:
    template <class Apply>
    [[gnu::always_inline]] static void eachVector(float limit, float *values, std::size_t count,
                                                  const Apply &apply)
    {
        const FloatVector high = FloatVector{} + limit;
        const FloatVector low = -high;
        for (std::size_t i = 0; i < count; i += kRecurrentLanes) {
            FloatVector x;
            loadFloats(values + i, x);
            x = x > high ? high : x; // a NaN stays
            x = x < low ? low : x;
            apply(x);
            storeFloats(x, values + i);
        }
    }
};

struct AddProducts
{
    [[gnu::always_inline]] static void run(const float *a, const float *b, float *sums, std::size_t count)
    {
        for (std::size_t i = 0; i < count; i += kRecurrentLanes) {
            FloatVector x;
            FloatVector y;
            FloatVector sum;
            loadFloats(a + i, x);
            loadFloats(b + i, y);
            loadFloats(sums + i, sum);
            sum += x * y;
            storeFloats(sum, sums + i);
        }
    }
};

struct MultiplyEach
{
    [[gnu::always_inline]] static void run(const float *a, const float *b, float *results, std::size_t count)
    {
        for (std::size_t i = 0; i < count; i += kRecurrentLanes) {
            FloatVector x;
            FloatVector y;
            loadFloats(a + i, x);
            loadFloats(b + i, y);
            x *= y;
            storeFloats(x, results + i);
        }
    }
};

struct RenewCell
{
    [[gnu::always_inline]] static void run(const float *input, const float *forget, const float *fresh,
                                           float *cell, std::size_t count)
    {
        for (std::size_t i = 0; i < count; i += kRecurrentLanes) {
            FloatVector in;
            FloatVector kept;
            FloatVector added;
            FloatVector now;
            loadFloats(input + i, in);
            loadFloats(fresh + i, added);
            loadFloats(cell + i, now);
            kept = 1.0F - in;
            if (forget != nullptr)
                loadFloats(forget + i, kept);
            now = kept * now + in * added;
            storeFloats(now, cell + i);
        }
    }
};

struct RenewHidden
{
    [[gnu::always_inline]] static void run(const float *update, const float *fresh, float *hidden,
                                           std::size_t count)
    {
        for (std::size_t i = 0; i < count; i += kRecurrentLanes) {
            FloatVector kept;
            FloatVector added;
            FloatVector now;
            loadFloats(update + i, kept);
            loadFloats(fresh + i, added);
            loadFloats(hidden + i, now);
            now = (1.0F - kept) * added + kept * now;
            storeFloats(now, hidden + i);
        }
    }
};

/// Vectors of a gate's columns.
std::size_t vectorsOf(std::size_t size)
{
    return (size + kRecurrentLanes - 1) / kRecurrentLanes;
}

/// One column of a packed matrix: to[k] of it, which lie a row of its panel apart.
template <class Element>
void packColumn(const Element *row, std::size_t depth, std::size_t stride, Element *to)
{
    for (std::size_t k = 0; k < depth; ++k)
        __builtin_memcpy(to + k * stride, row + k, sizeof(Element));
}

/// Where an element of a vector lies in a row of a panel: see loadPair().
template <class Element>
std::size_t placeInPanel(std::size_t vector, std::size_t width, std::size_t lane)
{
    if (sizeof(Element) == sizeof(float) || (vector | 1) >= width)
        return vector * kRecurrentLanes + lane;
    return vector / 2 * 2 * kRecurrentLanes + 2 * lane + vector % 2;
}

template <class Element>
void packGates(const GateRows &rows, std::byte *bytes)
{
    const std::size_t each = vectorsOf(rows.size);
    const std::size_t vectors = rows.count * each;
    const auto *const from = reinterpret_cast<const Element *>(rows.elements);
    auto *const to = reinterpret_cast<Element *>(bytes);
    std::fill_n(to, packedCount(rows), Element{});
    for (std::size_t gate = 0; gate < rows.count; ++gate)
        for (std::size_t i = 0; i < rows.size; ++i) {
            const std::size_t vector = gate * each + i / kRecurrentLanes;
            const std::size_t panel = vector / kPanelVectors * kPanelVectors; // its first vector
            const std::size_t width = std::min(kPanelVectors, vectors - panel);
            packColumn(from + (rows.gates[gate] * rows.size + i) * rows.depth, rows.depth,
                       width * kRecurrentLanes,
                       to + panel * rows.depth * kRecurrentLanes
                           + placeInPanel<Element>(vector - panel, width, i % kRecurrentLanes));
        }
}

} // namespace

void multiplyRows(const RowProducts &products)
{
    if (products.type == WeightType::F32)
        multiplyRowsOf<WeightType::F32>(products);
    else
        multiplyRowsOf<WeightType::Bf16>(products);
}

std::size_t packedCount(const GateRows &rows)
{
    return rows.count * vectorsOf(rows.size) * kRecurrentLanes * rows.depth;
}

void packRecurrent(const GateRows &rows, WeightType type, std::byte *to)
{
    if (type == WeightType::F32)
        packGates<float>(rows, to);
    else
        packGates<std::uint16_t>(rows, to);
}

void applyFunction(const ops::Recurrence::Function &function, float limit, float *values, std::size_t count)
{
    runFastest<ApplyFunction>(&function, limit, values, count);
}

void addProducts(const float *a, const float *b, float *sums, std::size_t count)
{
    runFastest<AddProducts>(a, b, sums, count);
}

void multiplyEach(const float *a, const float *b, float *results, std::size_t count)
{
    runFastest<MultiplyEach>(a, b, results, count);
}

void renewCell(const float *input, const float *forget, const float *fresh, float *cell, std::size_t count)
{
    runFastest<RenewCell>(input, forget, fresh, cell, count);
}

void renewHidden(const float *update, const float *fresh, float *hidden, std::size_t count)
{
    runFastest<RenewHidden>(update, fresh, hidden, count);
}

} // namespace halftone::backends::onednn
