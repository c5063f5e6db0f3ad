#pragma once

#include "core/infer/type_map.h"
#include "core/session/snapshot.h"

#include <QString>

namespace halftone::widgets {

/// What the policy asks of a node of the source, and what it computes in after the conversion.
struct AskedAndGot
{
    tensor::DType asked = tensor::DType::Unknown; ///< Unknown: nothing, or only that it follows its inputs
    tensor::DType got = tensor::DType::Unknown;

    bool differ() const { return asked != tensor::DType::Unknown && asked != got; }
};

/// Unknown both where there is no conversion, where the node is gone, and where it only goes with int8 operators next to it.
AskedAndGot askedAndGot(const session::Snapshot &snapshot, graph::NodeId node);

/// Why a node whose types differ did not get what was asked, for people.
/// types  of the source graph
QString whyDifferent(const session::Snapshot &snapshot, const infer::TypeMap &types, graph::NodeId node);

} // namespace halftone::widgets
