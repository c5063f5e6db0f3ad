#pragma once

#include "core/ops/op_spatial.h"

#include <algorithm>

namespace halftone::backends::reference {

template <class Real>
struct Box
{
    Real left;
    Real top;
    Real right;
    Real bottom;
};

template <class Real>
Box<Real> boxAt(const Real *at, ops::BoxForm form)
{
    if (form == ops::BoxForm::Corner)
        return {at[0], at[1], at[2], at[3]};
    return {at[0] - at[2] / 2, at[1] - at[3] / 2, at[0] + at[2] / 2, at[1] + at[3] / 2};
}

template <class Real>
void putBox(const Box<Real> &box, ops::BoxForm form, Real *at)
{
    if (form == ops::BoxForm::Corner) {
        at[0] = box.left;
        at[1] = box.top;
        at[2] = box.right;
        at[3] = box.bottom;
        return;
    }
    at[0] = (box.left + box.right) / 2;
    at[1] = (box.top + box.bottom) / 2;
    at[2] = box.right - box.left;
    at[3] = box.bottom - box.top;
}

template <class Real>
Real areaOf(const Box<Real> &box)
{
    const Real width = box.right - box.left;
    const Real height = box.bottom - box.top;
    return width < 0 || height < 0 ? Real(0) : width * height;
}

/// Intersection over union; 0 where the union is nothing.
template <class Real>
Real overlap(const Box<Real> &a, const Box<Real> &b)
{
    const Real shared = areaOf(Box<Real>{std::max(a.left, b.left), std::max(a.top, b.top),
                                         std::min(a.right, b.right), std::min(a.bottom, b.bottom)});
    const Real whole = areaOf(a) + areaOf(b) - shared;
    return whole > 0 ? shared / whole : Real(0);
}

} // namespace halftone::backends::reference
