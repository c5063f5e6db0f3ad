#include "core/backends/onednn/loops/mean_square_kernel.h"

#include "core/tensor/half_loops.h"

#include <cmath>
#include <cstring>
#include <vector>

namespace halftone::backends::onednn {
namespace {

class MeanSquareKernel final : public kernels::Kernel
{
public:
    explicit MeanSquareKernel(const MeanSquareRows &rows)
        : m_rows(rows)
    {
    }

    std::string name() const override { return "own loop"; }

    Result<void> run(std::span<const std::byte *const> inputs, std::span<std::byte *const> outputs) override
    {
        const auto *const gamma = reinterpret_cast<const float *>(inputs[1]);
        const auto width = static_cast<std::size_t>(m_rows.width);
        const std::size_t fromBytes = width * tensor::sizeOf(m_rows.from);
        const std::size_t toBytes = width * tensor::sizeOf(m_rows.to);
#pragma omp parallel
        {
            std::vector<float> wide(width);
#pragma omp for schedule(static)
            for (std::int64_t row = 0; row < m_rows.rows; ++row)
                normalise(inputs[0] + static_cast<std::size_t>(row) * fromBytes, gamma,
                          outputs[0] + static_cast<std::size_t>(row) * toBytes, wide);
        }
        return {};
    }

private:
    void normalise(const std::byte *from, const float *gamma, std::byte *to, std::vector<float> &wide) const
    {
        if (m_rows.from == tensor::DType::F32)
            std::memcpy(wide.data(), from, wide.size() * sizeof(float));
        else
            tensor::widenHalves(m_rows.from, from, wide.size(), wide.data());
        scale(wide.data(), gamma);
        if (m_rows.to == tensor::DType::F32)
            std::memcpy(to, wide.data(), wide.size() * sizeof(float));
        else
            tensor::narrowToHalves(wide.data(), wide.size(), m_rows.to, to);
    }

    void scale(float *row, const float *gamma) const
    {
        float sum = 0;
#pragma omp simd reduction(+ : sum)
        for (std::int64_t k = 0; k < m_rows.width; ++k)
            sum += row[k] * row[k];
        const float factor = 1 / std::sqrt(sum / static_cast<float>(m_rows.width) + m_rows.epsilon);
#pragma omp simd
        for (std::int64_t k = 0; k < m_rows.width; ++k)
            row[k] = row[k] * factor * gamma[k];
    }

    MeanSquareRows m_rows;
};

} // namespace

std::unique_ptr<kernels::Kernel> meanSquareKernel(const MeanSquareRows &rows)
{
    return std::make_unique<MeanSquareKernel>(rows);
}

} // namespace halftone::backends::onednn
