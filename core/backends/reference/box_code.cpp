#include "core/backends/reference/kernels.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace halftone::backends::reference {

template <class Real>
Result<void> compute(const ops::BoxDecode &op, const Arrays<Real> &arrays)
{
    if (op.variances.size() != 4)
        return badInput("variances", std::to_string(op.variances.size()) + " values", "4");
    const bool corner = op.anchorForm == ops::BoxForm::Corner;
    const std::size_t anchors = arrays.inCount(1) / 4;
    const auto stretched = [&](Real offset, std::size_t i) {
        const Real scaled = offset * static_cast<Real>(op.variances[i]);
        return std::exp(op.clip > 0 ? std::min(scaled, static_cast<Real>(op.clip)) : scaled);
    };
    for (std::size_t i = 0; i < arrays.outCount(0) / 4; ++i) {
        const Real *anchor = arrays.in[1] + i % anchors * 4;
        const Real *offset = arrays.in[0] + i * 4;
        const Real width = corner ? anchor[2] - anchor[0] : anchor[2];
        const Real height = corner ? anchor[3] - anchor[1] : anchor[3];
        const Real centerX = corner ? anchor[0] + width / 2 : anchor[0];
        const Real centerY = corner ? anchor[1] + height / 2 : anchor[1];
        const Real x = offset[0] * static_cast<Real>(op.variances[0]) * width + centerX;
        const Real y = offset[1] * static_cast<Real>(op.variances[1]) * height + centerY;
        const Real halfWidth = stretched(offset[2], 2) * width / 2;
        const Real halfHeight = stretched(offset[3], 3) * height / 2;
        Real *out = arrays.out[0] + i * 4;
        out[0] = x - halfWidth;
        out[1] = y - halfHeight;
        out[2] = x + halfWidth;
        out[3] = y + halfHeight;
    }
    return {};
}

namespace {

/// Centre and extents of a corner box.
template <class Real>
struct Placed
{
    Real width;
    Real height;
    Real x;
    Real y;

    explicit Placed(const Real *corners)
        : width(corners[2] - corners[0])
        , height(corners[3] - corners[1])
        , x(corners[0] + width / 2)
        , y(corners[1] + height / 2)
    {
    }
};

} // namespace

template <class Real>
Result<void> compute(const ops::BoxEncode &, const Arrays<Real> &arrays)
{
    const auto anchors = static_cast<std::size_t>(arrays.inDims(0)[1]);
    const auto references = static_cast<std::size_t>(arrays.inDims(3)[1]);
    const Real *means = arrays.in[4];
    const Real *deviations = arrays.in[5];
    for (std::size_t i = 0; i < arrays.inCount(0); ++i) {
        const bool isMatched = arrays.in[0][i] > Real(0.5);
        std::array<Real, 4> offsets{};
        if (isMatched) {
            const Real match = arrays.in[1][i];
            if (!(match >= 0 && match < static_cast<Real>(references)))
                return badInput("input 1", "a match that is not the index of a box",
                                "0 to " + std::to_string(references) + " - 1");
            const Placed<Real> box(arrays.in[3]
                                   + (i / anchors * references + static_cast<std::size_t>(match)) * 4);
            const Placed<Real> anchor(arrays.in[2] + i * 4);
            offsets = {(box.x - anchor.x) / anchor.width, (box.y - anchor.y) / anchor.height,
                       std::log(box.width / anchor.width), std::log(box.height / anchor.height)};
        }
        for (std::size_t k = 0; k < 4; ++k) {
            if (arrays.out[0])
                arrays.out[0][i * 4 + k] = isMatched ? (offsets[k] - means[k]) / deviations[k] : Real(0);
            if (arrays.out[1])
                arrays.out[1][i * 4 + k] = isMatched ? Real(1) : Real(0);
        }
    }
    return {};
}

HALFTONE_BOTH(BoxDecode)
HALFTONE_BOTH(BoxEncode)

} // namespace halftone::backends::reference
