#include "core/backends/onednn/loops/join_rows.h"

#include <cstdint>
#include <cstring>
#include <utility>

namespace halftone::backends::onednn {
namespace {

class JoinRows final : public kernels::Kernel
{
public:
    JoinRows(std::size_t rows, std::vector<JoinedPart> parts, std::size_t width)
        : m_rows(static_cast<std::int64_t>(rows))
        , m_parts(std::move(parts))
        , m_width(width)
    {
    }

    std::string name() const override { return "own copy"; }

    Result<void> run(std::span<const std::byte *const> inputs, std::span<std::byte *const> outputs) override
    {
        std::byte *const whole = outputs[0];
#pragma omp parallel for schedule(static)
        for (std::int64_t r = 0; r < m_rows; ++r) {
            const auto row = static_cast<std::size_t>(r);
            for (std::size_t k = 0; k < m_parts.size(); ++k)
                std::memcpy(whole + row * m_width + m_parts[k].offset, inputs[k] + row * m_parts[k].width,
                            m_parts[k].width);
        }
        return {};
    }

private:
    std::int64_t m_rows;
    std::vector<JoinedPart> m_parts;
    std::size_t m_width;
};

} // namespace

std::unique_ptr<kernels::Kernel> joinRowsKernel(std::size_t rows, std::vector<JoinedPart> parts,
                                                std::size_t width)
{
    return std::make_unique<JoinRows>(rows, std::move(parts), width);
}

} // namespace halftone::backends::onednn
