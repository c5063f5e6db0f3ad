#include "core/backends/onednn/loops/row_norm_kernel.h"

#include "core/base/vector_loops.h"
#include "core/tensor/half_loops.h"

#include <cmath>
#include <cstddef>
#include <vector>

namespace halftone::backends::onednn {
namespace {

constexpr std::int64_t kWorthNormThreads = 16384; ///< elements

struct CentredRow
{
    float mean = 0; ///< about
    float rest = 0; ///< what it lacks
    float inverse = 1; ///< 1 / deviation
};

struct RowSum
{
    [[gnu::always_inline]] static float run(const float *row, std::int64_t width)
    {
        float sum = 0;
#pragma omp simd reduction(+ : sum)
        for (std::int64_t k = 0; k < width; ++k)
            sum += row[k];
        return sum;
    }
};

struct RowSpread
{
    [[gnu::always_inline]] static CentredRow run(const float *row, std::int64_t width, float mean,
                                                 float epsilon)
    {
        float rest = 0;
        float squares = 0;
#pragma omp simd reduction(+ : rest, squares)
        for (std::int64_t k = 0; k < width; ++k) {
            const float distance = row[k] - mean;
            rest += distance;
            squares += distance * distance;
        }
        const float count = static_cast<float>(width);
        rest /= count;
        return {mean, rest, 1 / std::sqrt(squares / count - rest * rest + epsilon)};
    }
};

struct RowScale
{
    [[gnu::always_inline]] static void run(const float *row, std::int64_t width, CentredRow at,
                                           const float *gamma, const float *beta, float *to)
    {
#pragma GCC ivdep // in place or elsewhere
        for (std::int64_t k = 0; k < width; ++k)
            to[k] = (row[k] - at.mean - at.rest) * at.inverse * gamma[k] + beta[k];
    }
};

class RowNormKernel final : public kernels::Kernel
{
public:
    explicit RowNormKernel(const CentredRows &rows)
        : m_rows(rows)
        , m_zeros(rows.hasShift ? 0 : static_cast<std::size_t>(rows.width), 0.0F)
    {
    }

    std::string name() const override { return "own loop"; }

    Result<void> run(std::span<const std::byte *const> inputs, std::span<std::byte *const> outputs) override
    {
        const auto *const gamma = reinterpret_cast<const float *>(inputs[1]);
        const float *const beta
            = m_rows.hasShift ? reinterpret_cast<const float *>(inputs[2]) : m_zeros.data();
        const auto width = static_cast<std::size_t>(m_rows.width);
        const std::size_t fromBytes = width * tensor::sizeOf(m_rows.from);
        const std::size_t toBytes = width * tensor::sizeOf(m_rows.to);
        const bool isNarrow = m_rows.from != tensor::DType::F32 || m_rows.to != tensor::DType::F32;
#pragma omp parallel if (m_rows.rows * m_rows.width >= kWorthNormThreads)
        {
            std::vector<float> wide(isNarrow ? width : 0);
#pragma omp for schedule(static)
            for (std::int64_t row = 0; row < m_rows.rows; ++row)
                normalise(inputs[0] + static_cast<std::size_t>(row) * fromBytes, gamma, beta,
                          outputs[0] + static_cast<std::size_t>(row) * toBytes, wide.data());
        }
        return {};
    }

private:
    void normalise(const std::byte *from, const float *gamma, const float *beta, std::byte *to,
                   float *wide) const
    {
        const auto width = static_cast<std::size_t>(m_rows.width);
        const float *row = wide;
        if (m_rows.from == tensor::DType::F32)
            row = reinterpret_cast<const float *>(from);
        else
            tensor::widenHalves(m_rows.from, from, width, wide);
        float *const result = m_rows.to == tensor::DType::F32 ? reinterpret_cast<float *>(to) : wide;
        const float mean = runFastest<RowSum>(row, m_rows.width) / static_cast<float>(m_rows.width);
        const CentredRow centred = runFastest<RowSpread>(row, m_rows.width, mean, m_rows.epsilon);
        runFastest<RowScale>(row, m_rows.width, centred, gamma, beta, result);
        if (m_rows.to != tensor::DType::F32)
            tensor::narrowToHalves(wide, width, m_rows.to, to);
    }

    CentredRows m_rows;
    std::vector<float> m_zeros; ///< in place of beta
};

} // namespace

std::unique_ptr<kernels::Kernel> rowNormKernel(const CentredRows &rows)
{
    return std::make_unique<RowNormKernel>(rows);
}

} // namespace halftone::backends::onednn
