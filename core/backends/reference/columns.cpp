#include "core/backends/reference/axis_walk.h"
#include "core/backends/reference/kernels.h"
#include "core/ops/window.h"

#include <algorithm>

/// Images as columns of windows, and back.
namespace halftone::backends::reference {
namespace {

/// Where the elements of the columns (N, C · taps, places) lie in images (N, C, spatial…).
class ColumnElements
{
public:
    ColumnElements(const ops::Window &window, DimSpan image)
        : m_window(window)
        , m_size(image.begin() + 2, image.end())
        , m_places(m_size)
        , m_pixelStrides(denseStrides(m_size))
        , m_tapStrides(denseStrides(window.kernel))
    {
        for (std::size_t axis = 0; axis < m_size.size(); ++axis) {
            const std::int64_t reach = window.dilate[axis] * (window.kernel[axis] - 1) + 1;
            m_places[axis]
                = (m_size[axis] + window.padBegin[axis] + window.padEnd[axis] - reach) / window.stride[axis]
                + 1;
        }
        m_placeStrides = denseStrides(m_places);
    }

    std::size_t pixels() const { return count(m_size); } ///< of a channel
    std::size_t elements() const { return count(m_window.kernel) * count(m_places); } ///< of a channel

    /// Calls use(pixel, element) for each element of a channel that lies inside the image, in the order of the elements.
    template <class Use>
    void forEach(const Use &use) const
    {
        const std::size_t places = count(m_places);
        for (std::size_t element = 0; element < elements(); ++element) {
            const auto tap = static_cast<std::int64_t>(element / places);
            const auto place = static_cast<std::int64_t>(element % places);
            if (const std::int64_t pixel = pixelOf(tap, place); pixel >= 0)
                use(static_cast<std::size_t>(pixel), element);
        }
    }

private:
    /// -1 outside the image.
    std::int64_t pixelOf(std::int64_t tap, std::int64_t place) const
    {
        std::int64_t pixel = 0;
        for (std::size_t axis = 0; axis < m_size.size(); ++axis) {
            const std::int64_t x = place / m_placeStrides[axis] % m_places[axis] * m_window.stride[axis]
                - m_window.padBegin[axis]
                + tap / m_tapStrides[axis] % m_window.kernel[axis] * m_window.dilate[axis];
            if (x < 0 || x >= m_size[axis])
                return -1;
            pixel += x * m_pixelStrides[axis];
        }
        return pixel;
    }

    const ops::Window &m_window;
    ops::Dims m_size;
    ops::Dims m_places;
    ops::Dims m_pixelStrides;
    ops::Dims m_tapStrides;
    ops::Dims m_placeStrides;
};

/// Calls use(pixel, element) as ColumnElements::forEach() does, for all channels, which the threads share.
template <class Real, class Use>
void forEachColumnElement(const Arrays<Real> &arrays, const ops::Window &window, DimSpan image,
                          const Use &use)
{
    const ColumnElements elements(window, image);
    arrays.workers.share(
        extent(image, 0, 2), 8 * elements.elements(), [&](std::size_t begin, std::size_t end) {
            for (std::size_t channel = begin; channel < end; ++channel)
                elements.forEach([&](std::size_t pixel, std::size_t element) {
                    use(channel * elements.pixels() + pixel, channel * elements.elements() + element);
                });
        });
}

Result<ops::Window> columnWindow(const ops::Unfold &op)
{
    return ops::makeWindow(op.kernel, op.stride, op.dilate, op.pad, op.kernel.size());
}

} // namespace

template <class Real>
Result<void> compute(const ops::Unfold &op, const Arrays<Real> &arrays)
{
    HALFTONE_TRY(const ops::Window window, columnWindow(op));
    std::fill_n(arrays.out[0], arrays.outCount(0), Real(0));
    if (arrays.outCount(0) > 0)
        forEachColumnElement(arrays, window, arrays.inDims(0), [&](std::size_t pixel, std::size_t element) {
            arrays.out[0][element] = arrays.in[0][pixel];
        });
    return {};
}

template <class Real>
Result<void> compute(const ops::Col2Im &op, const Arrays<Real> &arrays)
{
    HALFTONE_TRY(const ops::Window window, columnWindow(op.window));
    std::fill_n(arrays.out[0], arrays.outCount(0), Real(0));
    if (arrays.inCount(0) > 0)
        forEachColumnElement(arrays, window, arrays.outDims(0), [&](std::size_t pixel, std::size_t element) {
            arrays.out[0][pixel] += arrays.in[0][element];
        });
    return {};
}

HALFTONE_BOTH(Unfold)
HALFTONE_BOTH(Col2Im)

} // namespace halftone::backends::reference
