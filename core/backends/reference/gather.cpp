#include "core/backends/reference/gather.h"

#include <algorithm>
#include <cstring>

namespace halftone::backends::reference {
namespace {

/// One row of the result; `base` is kOutside where the whole row is.
void gatherRow(const std::vector<std::int64_t> &table, bool isRun, std::int64_t base, std::size_t size,
               const std::byte *source, const std::byte *fill, std::byte *out)
{
    const auto at = [&](std::int64_t offset) { return source + offset * static_cast<std::int64_t>(size); };
    if (isRun && base != kOutside) {
        std::memcpy(out, at(base + table.front()), table.size() * size);
        return;
    }
    for (const std::int64_t offset : table) {
        std::memcpy(out, base == kOutside || offset == kOutside ? fill : at(base + offset), size);
        out += size;
    }
}

} // namespace

void gather(const AxisTables &tables, std::size_t elementSize, const std::byte *source, const std::byte *fill,
            std::byte *out)
{
    if (std::ranges::any_of(tables, [](const auto &table) { return table.empty(); }))
        return;
    static const std::vector<std::int64_t> kOne{0};
    const std::vector<std::int64_t> &row = tables.empty() ? kOne : tables.back();
    const std::size_t outerAxes = tables.empty() ? 0 : tables.size() - 1;
    const bool isRun = row.front() != kOutside
        && std::ranges::adjacent_find(row, [](std::int64_t a, std::int64_t b) { return b != a + 1; })
            == row.end();
    std::vector<std::size_t> position(outerAxes, 0);
    while (true) {
        std::int64_t base = 0;
        for (std::size_t axis = 0; axis < outerAxes && base != kOutside; ++axis) {
            const std::int64_t offset = tables[axis][position[axis]];
            base = offset == kOutside ? kOutside : base + offset;
        }
        gatherRow(row, isRun, base, elementSize, source, fill, out);
        out += row.size() * elementSize;
        std::size_t axis = outerAxes;
        while (axis > 0 && ++position[axis - 1] == tables[axis - 1].size())
            position[--axis] = 0;
        if (axis == 0)
            return;
    }
}

std::vector<std::int64_t> evenTable(std::int64_t length, std::int64_t stride, std::int64_t first)
{
    std::vector<std::int64_t> table(static_cast<std::size_t>(length));
    for (std::int64_t i = 0; i < length; ++i)
        table[static_cast<std::size_t>(i)] = (first + i) * stride;
    return table;
}

AxisTables identityTables(DimSpan dims)
{
    AxisTables tables(dims.size());
    std::int64_t stride = 1;
    for (std::size_t axis = dims.size(); axis-- > 0; stride *= dims[axis])
        tables[axis] = evenTable(dims[axis], stride);
    return tables;
}

} // namespace halftone::backends::reference
