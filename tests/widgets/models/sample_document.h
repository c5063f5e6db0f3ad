#pragma once

#include "core/session/document.h"
#include "core/session/figures.h"
#include "tests/support/build_graph.h"

#include <QString>
#include <QTest>

#include <memory>
#include <string>
#include <string_view>

/// The bundled sample, and figures for it, for the tests of what shows them.
namespace halftone::test {

/// For init(): warnings are failures, but for those of the offscreen platform about what windows cannot do there.
void failOnWarnings();

inline const std::string kSampleFolder = HALFTONE_SOURCE_DIR "/resources/sample/";

std::unique_ptr<session::Document> openSample();
std::shared_ptr<const session::Snapshot> snapshotOf(const session::Document &document);

/// The comparison of a few of the sample's digits.
session::Figures comparedFigures(const session::Snapshot &snapshot, std::size_t examples = 8);

/// rewrite::kNoNode where there is none.
graph::NodeId nodeNamed(const graph::Graph &graph, std::string_view name);

} // namespace halftone::test
