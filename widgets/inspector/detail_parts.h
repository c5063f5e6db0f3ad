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

} // namespace halftone::widgets
