#include "core/backends/reference/kernels.h"
#include "core/backends/reference/spatial.h"

#include <algorithm>

namespace halftone::backends::reference {
namespace {

/// Calls use(pixel, element) for each element of the columns (N, C · taps, places) that lies inside the picture
/// (N, C, spatial…), with both places in elements; elements come in order.
template <class Use>
void eachElement(const ops::Window &window, DimSpan picture, const Use &use)
{
    const Picture input(picture, Layout::ChannelsFirst);
    const Window3 window3(window);
    std::array<std::int64_t, 3> places{};
    for (std::size_t axis = 0; axis < 3; ++axis) {
        const std::int64_t reach = window3.dilate[axis] * (window3.kernel[axis] - 1) + 1;
        places[axis] = (input.size[axis] + window3.padBegin[axis] + window3.padEnd[axis] - reach)
                / window3.stride[axis]
            + 1;
    }
    const std::int64_t placeCount = places[0] * places[1] * places[2];
    std::size_t element = 0;
    for (std::int64_t plane = 0; plane < picture[0] * input.channels; ++plane) {
        for (std::int64_t tap = 0; tap < window3.taps(); ++tap) {
            const auto moved = window3.tap(tap);
            for (std::int64_t place = 0; place < placeCount; ++place, ++element) {
                const std::array<std::int64_t, 3> at{place / (places[1] * places[2]),
                                                     place / places[2] % places[1], place % places[2]};
                std::int64_t pixel = plane * input.positions();
                bool inside = true;
                for (std::size_t axis = 0; axis < 3; ++axis) {
                    const std::int64_t x = at[axis] * window3.stride[axis] - window3.padBegin[axis]
                        + moved[axis] * window3.dilate[axis];
                    inside = inside && x >= 0 && x < input.size[axis];
                    pixel += x * input.strides[axis];
                }
                if (inside)
                    use(static_cast<std::size_t>(pixel), element);
            }
        }
    }
}

Result<ops::Window> windowOf(const ops::Unfold &op)
{
    return ops::makeWindow(op.kernel, op.stride, op.dilate, op.pad);
}

} // namespace

template <class Real>
Result<void> compute(const ops::Unfold &op, const Arrays<Real> &arrays)
{
    HALFTONE_TRY(const ops::Window window, windowOf(op));
    std::fill_n(arrays.out[0], arrays.outCount(0), Real(0));
    if (arrays.outCount(0) > 0)
        eachElement(window, arrays.inDims(0), [&](std::size_t pixel, std::size_t element) {
            arrays.out[0][element] = arrays.in[0][pixel];
        });
    return {};
}

template <class Real>
Result<void> compute(const ops::Fold &op, const Arrays<Real> &arrays)
{
    HALFTONE_TRY(const ops::Window window, windowOf(op.window));
    std::fill_n(arrays.out[0], arrays.outCount(0), Real(0));
    if (arrays.inCount(0) > 0)
        eachElement(window, arrays.outDims(0), [&](std::size_t pixel, std::size_t element) {
            arrays.out[0][pixel] += arrays.in[0][element];
        });
    return {};
}

HALFTONE_BOTH(Unfold)
HALFTONE_BOTH(Fold)

} // namespace halftone::backends::reference
