#include "core/api/prepared_run.h"
#include "core/backends/backends.h"
#include "core/latency/plan_maker.h"
#include "tests/support/onnx_builder.h"

#include <QTest>

namespace api = halftone::api;
namespace graph = halftone::graph;
namespace interpret = halftone::interpret;
namespace tensor = halftone::tensor;
using halftone::test::OnnxBuilder;

namespace {

interpret::Feed feedOf(std::int64_t rows)
{
    const std::vector<float> values(static_cast<std::size_t>(3 * rows), 2.0F);
    return {{"x", OnnxBuilder::floats("x", tensor::Shape({rows, 3}), values).values}};
}

/// Relu and Dropout, whose mask nothing reads.
graph::Graph withUnreadMask()
{
    graph::Graph made(halftone::dialect::onnx::onnxDialect(7));
    const auto add = [&made](graph::NodeDef def, const std::vector<graph::Entry> &inputs) {
        return graph::Entry{made.add(std::make_shared<const graph::NodeDef>(std::move(def)), inputs)};
    };
    const graph::Entry x = add({std::string(halftone::dialect::onnx::kVariableOp),
                                "x",
                                {{"type", "float32"}, {"shape", "[?,3]"}},
                                {},
                                true},
                               {});
    graph::NodeDef relu{"Relu", "relu", {}};
    relu.outputs = {"relu"};
    graph::NodeDef dropout{"Dropout", "dropout", {}};
    dropout.outputs = {"dropout", "mask"};
    made.setHeads({add(std::move(dropout), {add(std::move(relu), {x})})});
    return made;
}

/// The places of what is not 0: as many as the values say.
graph::Graph withSizesOfValues()
{
    OnnxBuilder builder(13);
    const graph::Entry x = builder.input("x", "float32", "[?,3]");
    return builder.withHeads({builder.op("NonZero", "places", {}, {x})});
}

std::unique_ptr<api::PreparedRun> preparedFor(const graph::Graph &graph, const interpret::Feed &feed)
{
    api::PreparedSettings settings;
    settings.backend = halftone::backends::kDefaultBackend;
    settings.threads = 1;
    auto prepared = api::prepareRun({graph, {}, true}, feed, settings, {});
    if (!prepared.ok())
        qFatal("%s", prepared.error().message().c_str());
    return std::move(prepared).value();
}

} // namespace

class TestPreparedRun : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase()
    {
        if (!halftone::latency::PlanMaker::create(halftone::backends::kDefaultBackend, 1).ok())
            QSKIP("this build makes no plans");
    }

    /// A plan fits only the shapes that it was made for.
    void anUnreadOutputKeepsNoModelOffItsPlan()
    {
        const auto run = preparedFor(withUnreadMask(), feedOf(2));
        QVERIFY(run->fits(feedOf(2)));
        QVERIFY(!run->fits(feedOf(4)));
        const auto values = run->run(feedOf(2), {});
        QVERIFY(values.ok());
        QCOMPARE(values.value().size(), std::size_t{1});
        QCOMPARE(values.value()[0].tensor.values<float>(), std::vector<float>(6, 2.0F));
    }

    void whatValuesDecideIsInterpreted()
    {
        const auto run = preparedFor(withSizesOfValues(), feedOf(2));
        QVERIFY(run->fits(feedOf(4)));
        const auto values = run->run(feedOf(4), {});
        QVERIFY(values.ok());
        QCOMPARE(values.value()[0].tensor.shape(), tensor::Shape({2, 12}));
    }
};

QTEST_GUILESS_MAIN(TestPreparedRun)
#include "tst_prepared_run.moc"
