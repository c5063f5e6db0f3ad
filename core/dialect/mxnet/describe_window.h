#pragma once

#include "core/dialect/mxnet/operator_fields.h"

namespace halftone::dialect::mxnet {

/// What convolutions and poolings spell alike: `pad` (MXNet has one value an axis, for both ends), `no_bias`,
/// and `layout`, which names every axis: None, NCHW, NHWC, ….
void describePad(OperatorFields &fields, ops::Padding &pad);
void describeBias(OperatorFields &fields, bool &hasBias);
void describeLayout(OperatorFields &fields, ops::Layout &layout, std::size_t spatialRank);

} // namespace halftone::dialect::mxnet
