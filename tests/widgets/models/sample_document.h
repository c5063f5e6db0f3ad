#pragma once

#include "core/jobs/compare.h"
#include "core/session/document.h"
#include "core/session/figures.h"
#include "tests/support/build_graph.h"

#include <QRegularExpression>
#include <QString>
#include <QtTest>

#include <memory>
#include <string>

/// The bundled sample, and figures for it, for the tests of what shows them.
namespace halftone::test {

/// For init(): warnings are failures, but for those of the offscreen platform about what windows cannot do there.
inline void failOnWarnings()
{
    QTest::failOnWarning(QRegularExpression(QStringLiteral("^(?!This plugin does not support )")));
}

inline const std::string kSampleFolder = HALFTONE_SOURCE_DIR "/resources/sample/";

inline std::unique_ptr<session::Document> openSample()
{
    auto opened = session::Document::open(kSampleFolder + "digits-symbol.json");
    return opened.ok() ? std::move(opened).value() : nullptr;
}

inline std::shared_ptr<const session::Snapshot> snapshotOf(const session::Document &document)
{
    return session::Document::derive(document.request(), nullptr).value();
}

/// The comparison of a few of the sample's digits.
inline session::Figures comparedFigures(const session::Snapshot &snapshot, std::size_t examples = 8)
{
    jobs::CompareOptions options;
    options.backend = "reference";
    options.settings.isolated = true;
    options.examples.inputs = kSampleFolder + "digits-test.npz";
    options.examples.examples = examples;
    auto compared
        = jobs::compareModels(profile::convertedPair(snapshot.source->model, snapshot.converted->model,
                                                     snapshot.converted->conversion),
                              snapshot.source->modelPath, options, {});
    session::Figures figures;
    if (!compared.ok())
        return figures;
    figures.comparison = std::make_shared<const jobs::CompareOutcome>(std::move(compared).value());
    figures.comparisonRevision = figures.isolatedRevision = snapshot.revision;
    session::gatherByNode(figures, snapshot.graph());
    return figures;
}

inline graph::NodeId nodeNamed(const graph::Graph &graph, std::string_view name)
{
    for (graph::NodeId id = 0; id < graph.nodeCount(); ++id) {
        if (graph.node(id).name == name)
            return id;
    }
    return rewrite::kNoNode;
}

} // namespace halftone::test
