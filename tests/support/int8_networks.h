#pragma once

#include "core/graph/model.h"

/// Small networks of a family's building blocks, without parameters, for tests of int8: `data` is a picture of 3 channels,
/// the output ten classes.
namespace halftone::test {

graph::Model residualNetwork(); ///< two bottlenecks, whose sums have a ReLU behind them
graph::Model separableNetwork(); ///< depthwise convolutions, and a sum without ReLU
graph::Model clippedNetwork(); ///< the same with clip(0, 6) instead of ReLU
graph::Model fireNetwork(); ///< concatenations and max pooling
/// int8, bfloat16 and int8 again, with float32 at the end.
graph::Model mixedNetwork();
/// What int8 max pooling gives is read by an int8 convolution and by a bfloat16 one.
graph::Model forkedNetwork();

} // namespace halftone::test
