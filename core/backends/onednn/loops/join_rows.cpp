#include "core/backends/onednn/loops/join_rows.h"

#include <cstdint>
#include <cstring>
#include <numeric>
#include <utility>

namespace halftone::backends::onednn {
namespace {

class JoinRows final : public kernels::Kernel
{
public:
    JoinRows(std::size_t rows, std::vector<std::size_t> widths)
        : m_rows(static_cast<std::int64_t>(rows))
        , m_widths(std::move(widths))
        , m_width(std::accumulate(m_widths.begin(), m_widths.end(), std::size_t{0}))
    {
    }

    std::string name() const override { return "own copy"; }

    Result<void> run(std::span<const std::byte *const> inputs, std::span<std::byte *const> outputs) override
    {
        std::byte *const whole = outputs[0];
#pragma omp parallel for schedule(static)
        for (std::int64_t r = 0; r < m_rows; ++r) {
            const auto row = static_cast<std::size_t>(r);
            std::byte *to = whole + row * m_width;
            for (std::size_t k = 0; k < m_widths.size(); ++k) {
                std::memcpy(to, inputs[k] + row * m_widths[k], m_widths[k]);
                to += m_widths[k];
            }
        }
        return {};
    }

private:
    std::int64_t m_rows;
    std::vector<std::size_t> m_widths;
    std::size_t m_width;
};

} // namespace

std::unique_ptr<kernels::Kernel> joinRowsKernel(std::size_t rows, std::vector<std::size_t> widths)
{
    return std::make_unique<JoinRows>(rows, std::move(widths));
}

} // namespace halftone::backends::onednn
