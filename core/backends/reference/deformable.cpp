#include "core/backends/reference/kernels.h"
#include "core/backends/reference/matrix.h"
#include "core/backends/reference/sample.h"
#include "core/backends/reference/spatial.h"

#include <algorithm>
#include <vector>

namespace halftone::backends::reference {
namespace {

/// MXNet's unmodulated form: nothing outside the picture counts, and places behind the last row or column are that row
/// or column.
template <class Real>
Real withinEdges(const Real *image, std::int64_t height, std::int64_t width, Real y, Real x)
{
    if (!(y >= 0 && x >= 0 && y < static_cast<Real>(height) && x < static_cast<Real>(width)))
        return 0;
    return bilinear(image, height, width, std::min(y, static_cast<Real>(height - 1)),
                    std::min(x, static_cast<Real>(width - 1)));
}

/// The columns of one picture's convolution: (channels · taps, places).
template <class Real>
class Columns
{
public:
    Columns(const ops::DeformConv &op, const ops::Window &window, DimSpan in, DimSpan out)
        : m_op(op)
        , m_in(in)
        , m_out(out)
        , m_window(window)
        , m_taps(m_window.taps())
    {
    }

    std::int64_t places() const { return m_out[2] * m_out[3]; }
    std::int64_t taps() const { return m_taps; }
    std::int64_t rows() const { return m_in[1] * m_taps; }

    void gather(const Real *picture, const Real *offsets, const Real *modulation, Real *columns) const
    {
        const std::int64_t perGroup = m_in[1] / m_op.offsetGroups;
        for (std::int64_t row = 0; row < rows(); ++row) {
            const std::int64_t channel = row / m_taps;
            const std::int64_t tap = row % m_taps;
            const std::int64_t moved = channel / perGroup * m_taps + tap;
            const Real *down = offsets + 2 * moved * places();
            const Real *weight = modulation ? modulation + moved * places() : nullptr;
            for (std::int64_t i = 0; i < places(); ++i) {
                const Real value
                    = valueAt(picture + channel * m_in[2] * m_in[3], tap, i, down[i], down[places() + i]);
                *columns++ = weight ? value * weight[i] : value;
            }
        }
    }

private:
    Real valueAt(const Real *image, std::int64_t tap, std::int64_t place, Real down, Real right) const
    {
        const auto at = m_window.tap(tap);
        const auto begin = [&](std::size_t axis, std::int64_t step) {
            return static_cast<Real>(step * m_window.stride[axis] - m_window.padBegin[axis]
                                     + at[axis] * m_window.dilate[axis]);
        };
        const Real y = begin(1, place / m_out[3]) + down;
        const Real x = begin(2, place % m_out[3]) + right;
        return m_op.modulated || m_op.weightSecond ? bilinear(image, m_in[2], m_in[3], y, x)
                                                   : withinEdges(image, m_in[2], m_in[3], y, x);
    }

    const ops::DeformConv &m_op;
    DimSpan m_in;
    DimSpan m_out;
    Window3 m_window;
    std::int64_t m_taps;
};

template <class Real>
Result<void> check(const ops::DeformConv &op, const Arrays<Real> &arrays)
{
    if (op.conv.kernel.size() != 2 || op.conv.layout != ops::Layout::ChannelsFirst)
        return unsupported({}, "a deformable convolution other than of (N, C, H, W)");
    const std::int64_t channels = arrays.inDims(0)[1];
    if (channels % op.offsetGroups != 0)
        return badInput("num_deformable_group", std::to_string(op.offsetGroups),
                        "a divisor of the " + std::to_string(channels) + " channels");
    return {};
}

} // namespace

template <class Real>
Result<void> compute(const ops::DeformConv &op, const Arrays<Real> &arrays)
{
    HALFTONE_CHECK(check(op, arrays));
    const DimSpan in = arrays.inDims(0);
    const DimSpan out = arrays.outDims(0);
    HALFTONE_TRY(const ops::Window window,
                 ops::makeWindow(op.conv.kernel, op.conv.stride, op.conv.dilate, op.conv.pad));
    const Columns<Real> columns(op, window, in, out);
    const auto groups = static_cast<std::size_t>(op.conv.groups);
    const auto places = static_cast<std::size_t>(columns.places());
    const auto outputs = static_cast<std::size_t>(out[1]) / groups;
    const auto depth = static_cast<std::size_t>(columns.rows()) / groups;
    std::vector<Real> gathered(static_cast<std::size_t>(columns.rows()) * places);
    for (std::size_t n = 0; n < static_cast<std::size_t>(in[0]) && !arrays.workers.stopped(); ++n) {
        columns.gather(arrays.in[0] + n * extent(in, 1, 4),
                       arrays.in[op.offsets()] + n * extent(arrays.inDims(op.offsets()), 1, 4),
                       op.modulated
                           ? arrays.in[op.modulation()] + n * extent(arrays.inDims(op.modulation()), 1, 4)
                           : nullptr,
                       gathered.data());
        for (std::size_t g = 0; g < groups; ++g) {
            const auto step = static_cast<std::ptrdiff_t>(places);
            multiply<Real>(arrays.summing(), outputs, depth, places,
                           MatrixView<const Real>{arrays.in[op.weight()] + g * outputs * depth,
                                                  static_cast<std::ptrdiff_t>(depth), 1},
                           MatrixView<const Real>{gathered.data() + g * depth * places, step, 1},
                           op.conv.hasBias ? arrays.in[op.bias()] + g * outputs : nullptr,
                           MatrixView<Real>{arrays.out[0] + (n * groups + g) * outputs * places, step, 1});
        }
    }
    return {};
}

HALFTONE_BOTH(DeformConv)

} // namespace halftone::backends::reference
