#include "core/backends/onednn/loops/table_kernel.h"

namespace halftone::backends::onednn {
namespace {

class TableKernel final : public kernels::Kernel
{
public:
    TableKernel(std::size_t count, const std::array<std::uint8_t, 256> &table)
        : m_count(static_cast<std::int64_t>(count))
        , m_table(table)
    {
    }

    std::string name() const override { return "own table"; }

    Result<void> run(std::span<const std::byte *const> inputs, std::span<std::byte *const> outputs) override
    {
        const auto *const from = reinterpret_cast<const std::uint8_t *>(inputs[0]);
        auto *const to = reinterpret_cast<std::uint8_t *>(outputs[0]);
#pragma omp parallel for schedule(static)
        for (std::int64_t k = 0; k < m_count; ++k)
            to[k] = m_table[from[k]];
        return {};
    }

private:
    std::int64_t m_count;
    std::array<std::uint8_t, 256> m_table;
};

} // namespace

std::unique_ptr<kernels::Kernel> tableKernel(std::size_t count, const std::array<std::uint8_t, 256> &table)
{
    return std::make_unique<TableKernel>(count, table);
}

} // namespace halftone::backends::onednn
