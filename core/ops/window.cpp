#include "core/ops/window.h"

#include <algorithm>

namespace halftone::ops {
namespace {

Result<Dims> filled(std::string_view name, const Dims &values, std::size_t rank, std::int64_t fallback,
                    std::int64_t least)
{
    if (values.empty())
        return Dims(rank, fallback);
    if (values.size() != rank)
        return badAttribute(name, std::to_string(values.size()) + " values",
                            std::to_string(rank) + ", one for each axis of the kernel");
    HALFTONE_CHECK(needAtLeast(name, std::ranges::min(values), least));
    return values;
}

} // namespace

Result<Window> makeWindow(const Dims &kernel, const Dims &stride, const Dims &dilate, const Padding &pad,
                          std::size_t mostAxes)
{
    const std::size_t rank = kernel.size();
    if (rank < 1 || rank > mostAxes)
        return badAttribute("kernel", std::to_string(rank) + " axes", "1 to " + std::to_string(mostAxes));
    Window window;
    HALFTONE_TRY(window.kernel, filled("kernel", kernel, rank, 1, 1));
    HALFTONE_TRY(window.stride, filled("stride", stride, rank, 1, 1));
    HALFTONE_TRY(window.dilate, filled("dilate", dilate, rank, 1, 1));
    HALFTONE_TRY(window.padBegin, filled("pad", pad.begin, rank, 0, 0));
    HALFTONE_TRY(window.padEnd, filled("pad", pad.end, rank, 0, 0));
    window.same = pad.same != Padding::Same::No;
    return window;
}

} // namespace halftone::ops
