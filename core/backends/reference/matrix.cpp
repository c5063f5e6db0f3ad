#include "core/backends/reference/matrix.h"

#include "core/tensor/elements.h"

#include <algorithm>
#include <array>
#include <vector>

namespace halftone::backends::reference {
namespace {

constexpr std::size_t kTileRows = 4;

/// 64 bytes of numbers: the compiler makes of it what the target has.
template <class Real>
struct Vector;
template <>
struct Vector<float>
{
    using type __attribute__((vector_size(64))) = float;
};
template <>
struct Vector<double>
{
    using type __attribute__((vector_size(64))) = double;
};

template <class Real>
struct Tile
{
    alignas(64) std::array<std::array<Real, kPanelColumns>, kTileRows> sums;
};

/// Sums of kTileRows rows of `left` (row r at left[r], contiguous) with a panel.
template <class Real>
[[gnu::always_inline]] inline void addUp(const std::array<const Real *, kTileRows> &left, std::size_t depth,
                                         const Real *panel, Tile<Real> &tile)
{
    using V = typename Vector<Real>::type;
    constexpr std::size_t kLanes = 64 / sizeof(Real);
    // The panel in parts of two vectors: with four rows the sums fit the registers.
    for (std::size_t part = 0; part < kPanelColumns; part += 2 * kLanes) {
        V s00{}, s01{}, s10{}, s11{}, s20{}, s21{}, s30{}, s31{};
        const Real *row = panel + part;
        for (std::size_t k = 0; k < depth; ++k, row += kPanelColumns) {
            V a;
            V b;
            __builtin_memcpy(&a, row, sizeof a);
            __builtin_memcpy(&b, row + kLanes, sizeof b);
            s00 += left[0][k] * a;
            s01 += left[0][k] * b;
            s10 += left[1][k] * a;
            s11 += left[1][k] * b;
            s20 += left[2][k] * a;
            s21 += left[2][k] * b;
            s30 += left[3][k] * a;
            s31 += left[3][k] * b;
        }
        const V *const sums[kTileRows][2] = {{&s00, &s01}, {&s10, &s11}, {&s20, &s21}, {&s30, &s31}};
        for (std::size_t r = 0; r < kTileRows; ++r) {
            __builtin_memcpy(&tile.sums[r][part], sums[r][0], sizeof(V));
            __builtin_memcpy(&tile.sums[r][part + kLanes], sums[r][1], sizeof(V));
        }
    }
}

template <class Real>
using AddUp = void (*)(const std::array<const Real *, kTileRows> &, std::size_t, const Real *, Tile<Real> &);

template <class Real>
void addUpAnywhere(const std::array<const Real *, kTileRows> &left, std::size_t depth, const Real *panel,
                   Tile<Real> &tile)
{
    addUp(left, depth, panel, tile);
}

#if defined(__x86_64__)
template <class Real>
[[gnu::target("avx2")]] void addUpAvx2(const std::array<const Real *, kTileRows> &left, std::size_t depth,
                                       const Real *panel, Tile<Real> &tile)
{
    addUp(left, depth, panel, tile);
}

template <class Real>
[[gnu::target("avx512f")]] void addUpAvx512(const std::array<const Real *, kTileRows> &left,
                                            std::size_t depth, const Real *panel, Tile<Real> &tile)
{
    addUp(left, depth, panel, tile);
}
#endif

/// The same sums in the same order everywhere, only faster: no fused multiply-add is used.
template <class Real>
AddUp<Real> fastest()
{
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f"))
        return addUpAvx512<Real>;
    if (__builtin_cpu_supports("avx2"))
        return addUpAvx2<Real>;
#endif
    return addUpAnywhere<Real>;
}

template <class Real>
void roundTo(tensor::DType type, std::array<Real, kPanelColumns> &values)
{
    std::array<std::byte, kPanelColumns * sizeof(std::uint16_t)> narrow;
    tensor::narrow(values.data(), values.size(), type, narrow.data());
    tensor::widen(type, narrow.data(), values.size(), values.data());
}

/// As addUp(), each sum rounded to `type` when a product, itself not rounded, was added.
template <class Real>
void addUpRounded(const std::array<const Real *, kTileRows> &left, std::size_t depth, const Real *panel,
                  tensor::DType type, Tile<Real> &tile)
{
    for (std::size_t r = 0; r < kTileRows; ++r) {
        tile.sums[r].fill(Real(0));
        for (std::size_t k = 0; k < depth; ++k) {
            for (std::size_t j = 0; j < kPanelColumns; ++j)
                tile.sums[r][j] += left[r][k] * panel[k * kPanelColumns + j];
            roundTo(type, tile.sums[r]);
        }
    }
}

/// Rows that `left` has not got contiguous, copied.
template <class Real>
std::vector<Real> contiguousRows(MatrixView<const Real> left, std::size_t rows, std::size_t depth)
{
    std::vector<Real> copy(rows * depth);
    for (std::size_t r = 0; r < rows; ++r) {
        const Real *row = left.at + static_cast<std::ptrdiff_t>(r) * left.rowStride;
        for (std::size_t k = 0; k < depth; ++k)
            copy[r * depth + k] = row[static_cast<std::ptrdiff_t>(k) * left.columnStride];
    }
    return copy;
}

} // namespace

template <class Real>
void multiply(const Summing &summing, std::size_t rows, std::size_t depth, std::size_t columns,
              MatrixView<const Real> left, const PackPanel<Real> &right, const Real *bias,
              MatrixView<Real> out)
{
    static const AddUp<Real> kAddUp = fastest<Real>();
    const kernels::Workers &workers = summing.workers;
    const tensor::DType accumulator = summing.accumulator;
    std::vector<Real> copy;
    if (left.columnStride != 1) {
        copy = contiguousRows(left, rows, depth);
        left = {copy.data(), static_cast<std::ptrdiff_t>(depth), 1};
    }
    const std::size_t panels = (columns + kPanelColumns - 1) / kPanelColumns;
    workers.share(
        panels, rows * depth * kPanelColumns / 16 + depth * kPanelColumns,
        [&](std::size_t begin, std::size_t end) {
            std::vector<Real> panel(std::max<std::size_t>(depth, 1)
                                    * kPanelColumns); // is there without depth too
            Tile<Real> tile;
            for (std::size_t p = begin; p < end && !workers.stopped(); ++p) {
                const std::size_t first = p * kPanelColumns;
                const std::size_t width = std::min(kPanelColumns, columns - first);
                right(first, panel.data());
                for (std::size_t r = 0; r < rows; r += kTileRows) {
                    const std::size_t height = std::min(kTileRows, rows - r);
                    std::array<const Real *, kTileRows> tileRows;
                    for (std::size_t i = 0; i < kTileRows; ++i)
                        tileRows[i] = left.at
                            + static_cast<std::ptrdiff_t>(r + std::min(i, height - 1)) * left.rowStride;
                    if (tensor::isHalf(accumulator))
                        addUpRounded(tileRows, depth, panel.data(), accumulator, tile);
                    else
                        kAddUp(tileRows, depth, panel.data(), tile);
                    for (std::size_t i = 0; i < height; ++i) {
                        Real *to = out.at + static_cast<std::ptrdiff_t>(r + i) * out.rowStride
                            + static_cast<std::ptrdiff_t>(first) * out.columnStride;
                        const Real addend = bias ? bias[r + i] : Real(0);
                        for (std::size_t j = 0; j < width; ++j)
                            to[static_cast<std::ptrdiff_t>(j) * out.columnStride] = tile.sums[i][j] + addend;
                    }
                }
            }
        });
}

template <class Real>
void multiply(const Summing &summing, std::size_t rows, std::size_t depth, std::size_t columns,
              MatrixView<const Real> left, MatrixView<const Real> right, const Real *bias,
              MatrixView<Real> out)
{
    const PackPanel<Real> pack = [&](std::size_t first, Real *panel) {
        const std::size_t width = std::min(kPanelColumns, columns - first);
        for (std::size_t k = 0; k < depth; ++k, panel += kPanelColumns) {
            const Real *row = right.at + static_cast<std::ptrdiff_t>(k) * right.rowStride
                + static_cast<std::ptrdiff_t>(first) * right.columnStride;
            for (std::size_t j = 0; j < width; ++j)
                panel[j] = row[static_cast<std::ptrdiff_t>(j) * right.columnStride];
            std::fill(panel + width, panel + kPanelColumns, Real(0));
        }
    };
    multiply(summing, rows, depth, columns, left, pack, bias, out);
}

#define HALFTONE_INSTANTIATE(Real)                                                                           \
    template void multiply(const Summing &, std::size_t, std::size_t, std::size_t, MatrixView<const Real>,   \
                           const PackPanel<Real> &, const Real *, MatrixView<Real>);                         \
    template void multiply(const Summing &, std::size_t, std::size_t, std::size_t, MatrixView<const Real>,   \
                           MatrixView<const Real>, const Real *, MatrixView<Real>);
HALFTONE_INSTANTIATE(float)
HALFTONE_INSTANTIATE(double)
#undef HALFTONE_INSTANTIATE

} // namespace halftone::backends::reference
