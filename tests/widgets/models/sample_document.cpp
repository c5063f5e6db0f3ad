#include "tests/widgets/models/sample_document.h"

#include "core/walks/compare.h"

#include <QRegularExpression>

namespace halftone::test {

void failOnWarnings()
{
    QTest::failOnWarning(QRegularExpression(QStringLiteral("^(?!This plugin does not support )")));
}

std::unique_ptr<session::Document> openSample()
{
    auto opened = session::Document::open(kSampleFolder + "digits-symbol.json");
    return opened.ok() ? std::move(opened).value() : nullptr;
}

std::shared_ptr<const session::Snapshot> snapshotOf(const session::Document &document)
{
    return session::Document::derive(document.request(), nullptr).value();
}

session::Figures comparedFigures(const session::Snapshot &snapshot, std::size_t examples)
{
    walks::CompareOptions options;
    options.backend = "reference";
    options.settings.isolated = true;
    options.examples.inputs = kSampleFolder + "digits-test.npz";
    options.examples.examples = examples;
    auto compared
        = walks::compareModels(compare::convertedPair(snapshot.source->model, snapshot.converted->model,
                                                      snapshot.converted->conversion),
                               snapshot.source->modelPath, options, {});
    session::Figures figures;
    if (!compared.ok())
        return figures;
    figures.comparison = std::make_shared<const walks::CompareOutcome>(std::move(compared).value());
    figures.comparisonRevision = figures.isolatedRevision = snapshot.revision;
    session::gatherByNode(figures, snapshot.graph());
    return figures;
}

graph::NodeId nodeNamed(const graph::Graph &graph, std::string_view name)
{
    for (graph::NodeId id = 0; id < graph.nodeCount(); ++id) {
        if (graph.node(id).name == name)
            return id;
    }
    return rewrite::kNoNode;
}

} // namespace halftone::test
