#include "core/backends/onednn/loops/stretched_binary.h"

#include "core/base/vector_loops.h"
#include "core/tensor/elements.h"
#include "core/tensor/half_loops.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

namespace halftone::backends::onednn {
namespace {

using ops::BinaryKind;
using tensor::DType;

constexpr std::int64_t kRowAtOnce = 2048; // elements, of which some buffers stay in the first cache
constexpr std::int64_t kShortRow = 32; // elements; shorter ones are taken several at a time
constexpr std::int64_t kWorthATeam = 16384; // elements

/// A side of a row: so many elements, or one for all.
struct RowSide
{
    const float *at = nullptr;
    bool isOne = false;
};

template <BinaryKind kKind>
[[gnu::always_inline]] inline float combined(float a, float b)
{
    if constexpr (kKind == BinaryKind::Add)
        return a + b;
    else if constexpr (kKind == BinaryKind::Sub)
        return a - b;
    else if constexpr (kKind == BinaryKind::Mul)
        return a * b;
    else if constexpr (kKind == BinaryKind::Div)
        return a / b;
    else if constexpr (kKind == BinaryKind::Maximum)
        return a > b || a != a ? a : b; // NaN on either side stays
    else
        return a < b || a != a ? a : b;
}

template <BinaryKind kKind>
struct CombineRow
{
    [[gnu::always_inline]] static void run(RowSide a, RowSide b, std::size_t count, float *to)
    {
        if (a.isOne) {
            const float one = *a.at;
#pragma GCC ivdep // in place or elsewhere
            for (std::size_t k = 0; k < count; ++k)
                to[k] = combined<kKind>(one, b.at[k]);
        } else if (b.isOne) {
            const float one = *b.at;
#pragma GCC ivdep
            for (std::size_t k = 0; k < count; ++k)
                to[k] = combined<kKind>(a.at[k], one);
        } else {
#pragma GCC ivdep
            for (std::size_t k = 0; k < count; ++k)
                to[k] = combined<kKind>(a.at[k], b.at[k]);
        }
    }
};

void combineRow(BinaryKind kind, RowSide a, RowSide b, std::size_t count, float *to)
{
    switch (kind) {
    case BinaryKind::Add:
        return runFastest<CombineRow<BinaryKind::Add>>(a, b, count, to);
    case BinaryKind::Sub:
        return runFastest<CombineRow<BinaryKind::Sub>>(a, b, count, to);
    case BinaryKind::Mul:
        return runFastest<CombineRow<BinaryKind::Mul>>(a, b, count, to);
    case BinaryKind::Div:
        return runFastest<CombineRow<BinaryKind::Div>>(a, b, count, to);
    case BinaryKind::Maximum:
        return runFastest<CombineRow<BinaryKind::Maximum>>(a, b, count, to);
    default:
        return runFastest<CombineRow<BinaryKind::Minimum>>(a, b, count, to);
    }
}

/// Axes along which both sides go on as they would within the one behind are one.
std::vector<StretchedAxis> merged(const std::vector<StretchedAxis> &axes)
{
    std::vector<StretchedAxis> result;
    for (auto axis = axes.rbegin(); axis != axes.rend(); ++axis) { // the innermost first
        if (axis->count == 1)
            continue;
        if (!result.empty()) {
            StretchedAxis &inner = result.back();
            if (axis->steps[0] == inner.steps[0] * inner.count
                && axis->steps[1] == inner.steps[1] * inner.count) {
                inner.count *= axis->count;
                continue;
            }
        }
        result.push_back(*axis);
    }
    if (result.empty())
        result.push_back({1, {1, 1}});
    std::ranges::reverse(result);
    return result;
}

class StretchedBinaryKernel final : public kernels::Kernel
{
public:
    explicit StretchedBinaryKernel(StretchedBinary operation)
        : m_operation(std::move(operation))
        , m_outer(merged(m_operation.axes))
    {
        m_inner = m_outer.back();
        m_outer.pop_back();
        if (m_inner.count < kShortRow && !m_outer.empty()) {
            m_middle = m_outer.back();
            m_outer.pop_back();
        }
        m_rows = std::max<std::int64_t>(kRowAtOnce / m_inner.count, 1);
        m_rows = std::min(m_rows, m_middle.count);
        m_blocksOfMiddle = (m_middle.count + m_rows - 1) / m_rows;
        m_columns = std::min(kRowAtOnce, m_inner.count);
        m_blocksOfInner = (m_inner.count + m_columns - 1) / m_columns;
        m_blocks = m_blocksOfMiddle * m_blocksOfInner;
        for (const StretchedAxis &axis : m_outer)
            m_blocks *= axis.count;
    }

    std::string name() const override { return "own loop"; }

    Result<void> run(std::span<const std::byte *const> inputs, std::span<std::byte *const> outputs) override
    {
#pragma omp parallel if (m_blocks * m_rows * m_columns >= kWorthATeam)
        {
            Held held;
#pragma omp for schedule(static)
            for (std::int64_t block = 0; block < m_blocks; ++block)
                runBlock(inputs, outputs[0], block, held);
        }
        return {};
    }

private:
    /// Rows that do not lie as such: of the sides, and of the result.
    struct Held
    {
        alignas(64) std::array<std::array<float, kRowAtOnce>, 3> rows;
        std::array<const std::byte *, 2> from{}; ///< what stands there of a side was spread from here on,
        std::array<std::size_t, 2> counts{}; ///< so many elements; nothing before the first block
    };

    /// Elements that are combined at once: `rows` of the middle axis, `columns` of the inner one.
    struct Block
    {
        std::int64_t rows = 1;
        std::int64_t columns = 1;
        std::int64_t to = 0; ///< first element of the result
        std::array<std::int64_t, 2> from{}; ///< of the sides

        std::size_t count() const { return static_cast<std::size_t>(rows * columns); }
    };

    Block blockOf(std::int64_t number) const
    {
        const std::int64_t column = number % m_blocksOfInner * m_columns;
        number /= m_blocksOfInner;
        const std::int64_t row = number % m_blocksOfMiddle * m_rows;
        number /= m_blocksOfMiddle;
        Block block{
            std::min(m_rows, m_middle.count - row), std::min(m_columns, m_inner.count - column), 0, {}};
        std::int64_t dense = m_inner.count * m_middle.count;
        block.to = row * m_inner.count + column;
        for (std::size_t side = 0; side < 2; ++side)
            block.from[side] = row * m_middle.steps[side] + column * m_inner.steps[side];
        for (std::size_t k = m_outer.size(); k-- > 0;) {
            const std::int64_t at = number % m_outer[k].count;
            number /= m_outer[k].count;
            block.to += at * dense;
            dense *= m_outer[k].count;
            for (std::size_t side = 0; side < 2; ++side)
                block.from[side] += at * m_outer[k].steps[side];
        }
        return block;
    }

    void runBlock(std::span<const std::byte *const> inputs, std::byte *output, std::int64_t number,
                  Held &held) const
    {
        const Block block = blockOf(number);
        const RowSide a = sideOf(0, block, inputs[0], held);
        const RowSide b = sideOf(1, block, inputs[1], held);
        std::byte *const to
            = output + static_cast<std::size_t>(block.to) * tensor::sizeOf(m_operation.result);
        if (m_operation.result == DType::F32)
            return combineAll(a, b, block.count(), reinterpret_cast<float *>(to));
        combineAll(a, b, block.count(), held.rows[2].data());
        tensor::narrowToHalves(held.rows[2].data(), block.count(), m_operation.result, to);
    }

    void combineAll(RowSide a, RowSide b, std::size_t count, float *to) const
    {
        if (!a.isOne || !b.isOne)
            return combineRow(m_operation.kind, a, b, count, to);
        float one = 0; // both are one for the whole block
        combineRow(m_operation.kind, {a.at, false}, b, 1, &one);
        std::fill_n(to, count, one);
    }

    /// `taken` takes what is not there as a row of floats, unless it is there from the block before.
    RowSide sideOf(std::size_t side, const Block &block, const std::byte *from, Held &taken) const
    {
        float *const held = taken.rows[side].data();
        const DType type = m_operation.sides[side];
        const std::size_t size = tensor::sizeOf(type);
        from += static_cast<std::size_t>(block.from[side]) * size;
        const std::int64_t step = m_inner.steps[side];
        const std::int64_t rowStep = m_middle.steps[side];
        const bool isOneRow
            = block.rows == 1 || (step == 1 && rowStep == block.columns && m_columns == m_inner.count);
        if (step == 1 && isOneRow) {
            if (type == DType::F32)
                return {reinterpret_cast<const float *>(from), false};
            taken.from[side] = nullptr;
            tensor::widen(type, from, block.count(), held);
            return {held, false};
        }
        if (step == 0 && (block.rows == 1 || rowStep == 0)) {
            taken.from[side] = nullptr;
            tensor::widen(type, from, 1, held);
            return {held, true};
        }
        if (taken.from[side] == from && taken.counts[side] == block.count())
            return {held, false};
        taken.from[side] = from;
        taken.counts[side] = block.count();
        for (std::int64_t row = 0; row < block.rows; ++row)
            spread(type, from + static_cast<std::size_t>(row * rowStep) * size, step, block.columns,
                   held + row * block.columns);
        return {held, false};
    }

    static void spread(DType type, const std::byte *from, std::int64_t step, std::int64_t count, float *to)
    {
        const auto columns = static_cast<std::size_t>(count);
        if (step == 1)
            return tensor::widen(type, from, columns, to);
        if (step == 0) {
            float one = 0;
            tensor::widen(type, from, 1, &one);
            std::fill_n(to, columns, one);
            return;
        }
        const std::size_t bytes = static_cast<std::size_t>(step) * tensor::sizeOf(type);
        for (std::size_t k = 0; k < columns; ++k)
            tensor::widen(type, from + k * bytes, 1, to + k);
    }

    StretchedBinary m_operation;
    std::vector<StretchedAxis> m_outer;
    StretchedAxis m_middle;
    StretchedAxis m_inner;
    std::int64_t m_rows = 1; ///< of a block, of the middle axis
    std::int64_t m_columns = 1; ///< of a block, of the inner axis
    std::int64_t m_blocksOfMiddle = 1;
    std::int64_t m_blocksOfInner = 1;
    std::int64_t m_blocks = 1;
};

} // namespace

std::unique_ptr<kernels::Kernel> stretchedBinaryKernel(StretchedBinary operation)
{
    return std::make_unique<StretchedBinaryKernel>(std::move(operation));
}

} // namespace halftone::backends::onednn
