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
    Type weight = Type::s8;
    Type result = Type::undef;
};

/// Of a node whose inputs 0 and 1 are data and weight. fails: Unsupported for a type that oneDNN lacks
Result<WindowShape> windowShape(const Emitter &emitter, const plan::PlanNode &node, const ops::Conv &conv);

/// A convolution of codes, whose bias, if there is one, is float32. May be empty.
dnnl::convolution_forward::primitive_desc describeWindow(const WindowShape &shape, const Desc &from,
                                                         const Desc &to, bool hasBias,
                                                         const dnnl::primitive_attr &attributes);

/// Does float32, which holds whole numbers up to 2^24, hold every sum that codes of data can make with the node's constant weights?
/// lastCounts  channels of the result are the weights' last axis, else the first
bool holdsSums(const Emitter &emitter, const plan::PlanNode &node, std::size_t channels, bool lastCounts);

/// Are the codes read by a convolution, which wants channels last?
bool feedsWindow(const Emitter &emitter, plan::ValueId codes);

/// As `first` lies, where that is a layout of codes.
Desc sumLayout(const Desc &first, const Dims &dims, Type type);

} // namespace halftone::backends::onednn
