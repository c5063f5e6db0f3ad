#include "core/base/atomic_file.h"
#include "core/dialect/registry.h"
#include "core/infer/infer_types.h"
#include "core/mixed/convert_model.h"
#include "core/quantize/quantize.h"
#include "core/rewrite/inline_fused.h"
#include "core/rewrite/rewrite.h"
#include "tests/support/build_graph.h"
#include "tests/support/toy_dialect.h"
#include "tests/support/toy_format.h"

#include <QTemporaryDir>
#include <QTest>

using namespace halftone;
using graph::Entry;
using graph::Graph;
using tensor::DType;

namespace {

/// Toy.Exp(Toy.Add(Toy.Dense(x, w), Toy.Dense(x, w))): the two products are the same.
/// One number a row.
tensor::Array column(const std::string &name, const std::vector<float> &values)
{
    tensor::Array array = test::floatArray(name, values);
    array.shape = tensor::Shape{static_cast<std::int64_t>(values.size()), 1};
    const auto bytes = array.values.bytes();
    array.values = tensor::Tensor::owning(array.values.dtype(), array.shape,
                                          std::vector<std::byte>(bytes.begin(), bytes.end()));
    return array;
}

graph::Model toyModel()
{
    Graph graph(test::toyDialect());
    const auto add = [&graph](const char *op, const char *name, std::vector<Entry> inputs,
                              graph::Attributes attributes = {}) {
        return Entry{
            graph.add(std::make_shared<graph::NodeDef>(graph::NodeDef{op, name, std::move(attributes), {}}),
                      inputs),
            0, 0};
    };
    const Entry x{graph.add(test::toyDialect().makeVariable("x"), {}), 0, 0};
    const Entry w{graph.add(test::toyDialect().makeVariable("w"), {}), 0, 0};
    const Entry one = add("Toy.Dense", "one", {x, w}, {{"units", "4"}});
    const Entry two = add("Toy.Dense", "two", {x, w}, {{"units", "4"}});
    graph.setHeads({add("Toy.Exp", "exp", {add("Toy.Add", "add", {one, two})})});
    return {std::move(graph), {column("p/w", {1, 2, 3, 4})}, true};
}

policy::Policy toyPolicy()
{
    policy::Policy policy;
    policy.listVersion = "toy";
    policy.targetOps = {{"Toy.Dense"}};
    policy.fp32Ops = {{"Toy.Exp"}};
    return policy;
}

mixed::ConvertedModel converted(const policy::Policy &policy)
{
    auto made = mixed::convertModel(toyModel(), policy, false);
    if (!made.ok())
        qFatal("%s", made.error().message().c_str());
    return std::move(made).value();
}

/// A model of the first format there is with what its passes work on.
graph::Model modelOf(const dialect::Dialect &dialect)
{
    if (&dialect == &test::toyDialect())
        return toyModel();
    test::GraphBuilder g;
    const auto x = g.variable("x");
    const auto cast = g.op("amp_cast", "cast", {x}, {{"dtype", "float32"}});
    const auto fc
        = g.op("FullyConnected", "fc", {cast, g.variable("w")}, {{"num_hidden", "4"}, {"no_bias", "True"}});
    graph::Model model = g.model({g.op("exp", "one", {fc}), g.op("exp", "two", {fc})});
    model.parameters = {column("arg:w", {1, 2, 3, 4})};
    model.hasParameters = true;
    return model;
}

} // namespace

/// A format that the core has never heard of (tests/support/toy_dialect.h).
class TestToyDialect : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void everyPassKeepsTheDialect_data()
    {
        QTest::addColumn<bool>("isToy");
        QTest::newRow("toy") << true;
        QTest::newRow("default") << false;
    }

    void everyPassKeepsTheDialect()
    {
        QFETCH(bool, isToy);
        const dialect::Dialect &dialect = isToy ? test::toyDialect() : *dialect::dialectNamed("mxnet");
        const graph::Model model = modelOf(dialect);
        for (const rewrite::RewritePass &pass : rewrite::rewritePasses()) {
            const auto rewritten = pass.run(model, {});
            if (pass.takesNumber) { // a version, which neither counts
                QCOMPARE(rewritten.error().code, Errc::Unsupported);
                continue;
            }
            QVERIFY2(rewritten.ok(), rewritten.ok() ? "" : rewritten.error().message().c_str());
            QVERIFY2(rewritten.value().model.graph.dialect() == &dialect, pass.name.data());
        }
        QCOMPARE(rewrite::inlineFused(model.graph).dialect(), &dialect);
        std::vector<policy::Mode> modes{policy::Mode::Typed};
        if (!isToy)
            modes.push_back(policy::Mode::NodeForNode);
        for (const policy::Mode mode : modes) {
            policy::Policy policy = isToy ? toyPolicy() : policy::Policy();
            policy.mode = mode;
            policy.share = true;
            const auto made = mixed::convertModel(model, policy, false);
            QVERIFY(made.ok());
            QCOMPARE(made.value().model.graph.dialect(), &dialect);
        }
        const auto quantized = quantize::quantize(model, {}, {});
        QCOMPARE(quantized.ok(), !isToy);
        if (!isToy)
            QCOMPARE(quantized.value().model.graph.dialect(), &dialect);
        else
            QCOMPARE(quantized.error().code, Errc::Unsupported);
    }

    void typesFollowFromItsRules()
    {
        const graph::Model model = toyModel();
        const auto types = infer::inferTypes(model.graph, std::vector<DType>{DType::F16});
        QVERIFY(types.ok());
        QCOMPARE(types.value().at(1, 0), DType::F16); // the weight, from the product
        QCOMPARE(types.value().of(model.graph.heads()[0]), DType::F16);
    }

    void castsAreItsOwnAndNamedAsItNamesThem()
    {
        const mixed::ConvertedModel made = converted(toyPolicy());
        QCOMPARE(test::linesOf(made.model.graph),
                 (std::vector<std::string>{"Toy.Input x()", "Toy.Input w()", "Toy.Cast x_0.as.float16(x)",
                                           "Toy.Cast w_0.as.float16(w)",
                                           "Toy.Dense one(x_0.as.float16, w_0.as.float16)",
                                           "Toy.Add add(one, one)", "Toy.Cast add_0.as.float32(add)",
                                           "Toy.Exp exp(add_0.as.float32)", "-> exp"}));
        QCOMPARE(made.conversion.castCounts().casts, std::size_t{3});
        QCOMPARE(made.conversion.merged.size(), std::size_t{1});
    }

    void parametersAreFoundByTheNamesOfItsFiles()
    {
        policy::Policy policy = toyPolicy();
        policy.castParams = true;
        const mixed::ConvertedModel made = converted(policy);
        QCOMPARE(made.parameters.size(), std::size_t{1});
        QCOMPARE(made.parameters[0].name, std::string("p/w"));
        QCOMPARE(made.model.parameters[0].values.dtype(), DType::F16);
    }

    void convertingTwiceChangesNothing()
    {
        const mixed::ConvertedModel once = converted(toyPolicy());
        const auto twice = mixed::convertModel(once.model, toyPolicy(), false);
        QVERIFY(twice.ok());
        QCOMPARE(test::linesOf(twice.value().model.graph), test::linesOf(once.model.graph));
    }

    void itsCastsAreStripped()
    {
        const mixed::ConvertedModel made = converted(toyPolicy());
        const auto stripped = rewrite::findRewritePass("strip-casts")->run(made.model, {});
        QVERIFY(stripped.ok());
        QCOMPARE(test::linesOf(stripped.value().model.graph),
                 (std::vector<std::string>{"Toy.Input x()", "Toy.Input w()", "Toy.Dense one(x, w)",
                                           "Toy.Add add(one, one)", "Toy.Exp exp(add)", "-> exp"}));
    }

    void itsFilesAreReadConvertedAndWritten()
    {
        io::addFormat(test::toyFormat());
        const QTemporaryDir folder;
        const std::string path = folder.filePath("net.toy").toStdString();
        QVERIFY(writeWhole(path,
                           "toy 1\nToy.Input x\nToy.Input w\nToy.Dense one x w units=4\nToy.Exp exp one\n"
                           "out exp\narray p/w float32 4,1 0000803f000000400000404000008040\n")
                    .ok());
        const auto loaded = io::loadModel(path);
        QVERIFY2(loaded.ok(), loaded.ok() ? "" : loaded.error().message().c_str());
        const graph::Model &source = loaded.value().model;
        QCOMPARE(io::formatOf(source.graph), &test::toyFormat());
        QCOMPARE(source.parameters[0].shape, (tensor::Shape{4, 1}));

        policy::Policy policy = toyPolicy();
        policy.castParams = true;
        const auto made = mixed::convertModel(source, policy, false);
        QVERIFY(made.ok());
        const auto written
            = io::saveModel(made.value().model, folder.filePath("out").toStdString(), loaded.value());
        QVERIFY2(written.ok(), written.ok() ? "" : written.error().message().c_str());
        QCOMPARE(written.value(), std::vector{folder.filePath("out.toy").toStdString()});
        const auto again = io::loadModel(written.value()[0]);
        QCOMPARE(test::linesOf(again.value().model.graph), test::linesOf(made.value().model.graph));
        QCOMPARE(again.value().model.parameters[0].values.dtype(), DType::F16);

        QVERIFY(!io::saveModel(source, path, loaded.value()).ok()); // never over the source
        for (const io::ModelFormat *const format : io::formats()) {
            const auto output = io::ModelOutput::claim(folder.filePath("other").toStdString(), *format);
            const auto refused = io::saveModel(source, output.value(), loaded.value());
            QCOMPARE(refused.ok(), format == &test::toyFormat());
            QVERIFY(refused.ok() || refused.error().code == Errc::Unsupported);
        }
    }

    void anUnknownOperatorIsToldInItsWords()
    {
        policy::Policy policy = toyPolicy();
        policy.targetOps = {{"Toy.Dens"}};
        const auto made = mixed::convertModel(toyModel(), policy, false);
        QVERIFY(!made.ok());
        QCOMPARE(made.error().expected, std::string("an operator of Toy"));
        QVERIFY(made.error().found.find("Toy.Dense") != std::string::npos);
    }
};

QTEST_GUILESS_MAIN(TestToyDialect)
#include "tst_toy_dialect.moc"
