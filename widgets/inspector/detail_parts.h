#pragma once

#include "widgets/inspector/details.h"

/// Sections that several kinds of details share.
namespace halftone::widgets {

/// Errors of one node, empty before the first comparison.
DetailSection errorSection(const session::Snapshot &snapshot, const session::Figures &figures,
                           graph::NodeId node);
/// Times of one node, empty before the first measurement.
DetailSection timeSection(const session::Snapshot &snapshot, const session::Figures &figures,
                          graph::NodeId node);

/// What an operator that may choose would have cost in the other type: "in float32: 2 casts more, 1.2 MiB more to cast".
QString otherChoiceText(const rewrite::TypeChoice &choice);

} // namespace halftone::widgets
