#pragma once

#include "core/backends/onednn/lower.h"

namespace halftone::backends::onednn {

/// A convolution's dimensions as oneDNN has them.
struct WindowShape
{
    Dims from;
    Dims to;
    Dims weights;
    Dims stride;
    Dims dilate;
    Dims padBegin;
    Dims padEnd;
    Type source = Type::undef;
    Type result = Type::undef;
};

/// Of a node whose inputs 0 and 1 are data and weight. fails: Unsupported for a type that oneDNN lacks
Result<WindowShape> windowShape(const Emitter &emitter, const plan::PlanNode &node, const ops::Conv &conv);

/// A convolution of codes with int8 weights, whose bias, if there is one, is float32. May be empty.
dnnl::convolution_forward::primitive_desc describeWindow(const WindowShape &shape, const Desc &from,
                                                         const Desc &to, bool hasBias,
                                                         const dnnl::primitive_attr &attributes);

/// Are the codes read by a convolution, which wants channels last?
bool feedsWindow(const Emitter &emitter, plan::ValueId codes);

/// As `first` lies, where that is a layout of codes.
Desc sumLayout(const Desc &first, const Dims &dims, Type type);

} // namespace halftone::backends::onednn
