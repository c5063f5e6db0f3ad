#include "core/session/open_model.h"
#include "tests/support/build_graph.h"

#include <QTemporaryDir>
#include <QTest>

using namespace halftone;
using test::GraphBuilder;

namespace {

const graph::Attributes kDense{{"num_hidden", "1"}, {"no_bias", "True"}};

/// Written with a weight of one float32 number, and opened again.
Result<io::LoadedModel> reopened(GraphBuilder &builder, std::vector<graph::Entry> heads)
{
    const QTemporaryDir folder;
    graph::Model model = builder.model(std::move(heads));
    model.parameters.push_back(test::floatArray("arg:w", {1}));
    model.hasParameters = true;
    const std::string prefix = folder.path().toStdString() + "/net";
    if (!io::saveModel(model, prefix, {}).ok())
        qFatal("cannot write the model");
    return session::openModel(prefix + "-symbol.json");
}

} // namespace

class TestOpenModel : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    /// MXNet infers float64 for data from a softmax that gives it, unless something else is known of them.
    void dataMayBeOfAnotherTypeThanAReaderGives()
    {
        GraphBuilder g;
        const auto x = g.op("exp", "e", {g.variable("x")});
        const auto wide = g.op("softmax", "s", {x}, {{"dtype", "float64"}});
        const auto opened = reopened(g, {g.op("FullyConnected", "fc", {x, g.variable("w")}, kDense), wide});
        QVERIFY2(opened.ok(), opened.ok() ? "" : opened.error().message().c_str());
    }

    void theSameBesideAnotherInputWhoseTypeIsOpen()
    {
        GraphBuilder g;
        const auto x = g.variable("x");
        const auto wide = g.op("log_softmax", "s", {x}, {{"dtype", "float64"}});
        const auto some = g.op("take", "some", {x, g.variable("places")});
        const auto opened
            = reopened(g, {wide, g.op("FullyConnected", "fc", {some, g.variable("w")}, kDense)});
        QVERIFY2(opened.ok(), opened.ok() ? "" : opened.error().message().c_str());
    }

    void whatFollowsOfOneInputIsNotTriedForIt()
    {
        GraphBuilder g;
        const auto marks
            = g.op("one_hot", "marks", {g.variable("places")}, {{"depth", "2"}, {"dtype", "float16"}});
        const auto half = g.op("broadcast_mul", "half", {marks, g.variable("shares")});
        const auto opened
            = reopened(g, {half, g.op("FullyConnected", "fc", {g.variable("x"), g.variable("w")}, kDense)});
        QVERIFY2(opened.ok(), opened.ok() ? "" : opened.error().message().c_str());
    }

    void parametersOfAnotherTypeThanTheGraphWantsAreRefused()
    {
        GraphBuilder g;
        const auto x = g.op("amp_cast", "cast", {g.variable("x")}, {{"dtype", "bfloat16"}});
        const auto opened = reopened(g, {g.op("FullyConnected", "fc", {x, g.variable("w")}, kDense)});
        QVERIFY(!opened.ok());
        QVERIFY(opened.error().found.find("FullyConnected") != std::string::npos);
    }
};

QTEST_GUILESS_MAIN(TestOpenModel)
#include "tst_open_model.moc"
