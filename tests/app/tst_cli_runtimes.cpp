#include "core/io/arrays/npz.h"
#include "core/io/model_io.h"
#include "tests/support/call_cli.h"
#include "tests/support/onnx_builder.h"

#include <QTemporaryDir>
#include <QTest>

using namespace halftone;
using test::callCli;
using test::CliOutcome;

namespace {

/// x, Relu, Neg, Sigmoid, Abs in float16; `name`: of the second node, which the toy runtime may know.
QString chain(const QTemporaryDir &folder, const char *name)
{
    test::OnnxBuilder g(17);
    const graph::Entry x = g.input("x", "float16", "[2,3]");
    const graph::Entry first = g.op("Relu", "first", {}, {x});
    const graph::Entry second = g.op("Neg", name, {}, {first});
    const graph::Entry third = g.op("Sigmoid", "third_value", {}, {second});
    const graph::Entry last = g.op("Abs", "last", {}, {third});
    const QString file = folder.filePath(QString::fromLatin1(name) + ".onnx");
    const auto written
        = io::saveModel({g.withHeads({last}), {}, true}, file.toStdString(), io::LoadedModel());
    if (!written.ok())
        qFatal("%s", written.error().message().c_str());
    return file;
}

/// x, MatMul with a parameter, Concat, all in float32.
QString product(const QTemporaryDir &folder, const char *shape)
{
    test::OnnxBuilder g(17);
    const graph::Entry x = g.input("x", "float32", shape);
    const graph::Entry w = g.input("w", "float32", "[3,3]");
    const graph::Entry first = g.op("MatMul", "first", {}, {x, w});
    const graph::Entry last = g.op("Concat", "last", {{"axis", "1"}}, {first, first});
    const QString file = folder.filePath(QStringLiteral("product.onnx"));
    const auto weights = test::OnnxBuilder::floats("w", {3, 3}, {1, 0, 0.5F, 2, -1, 0.25F, 0, 1, -2});
    const auto written
        = io::saveModel({g.withHeads({last}), {weights}, true}, file.toStdString(), io::LoadedModel());
    if (!written.ok())
        qFatal("%s", written.error().message().c_str());
    return file;
}

QString feed(const QTemporaryDir &folder)
{
    const QString file = folder.filePath(QStringLiteral("x.npz"));
    const auto x = test::OnnxBuilder::floats("x", {2, 3}, {1, 2, 3, -1, -2, -3});
    if (!io::writeNpz(std::vector<io::NamedTensor>{{"x", x.values}}, file.toStdString()).ok())
        qFatal("the feed is not written");
    return file;
}

} // namespace

/// The command line with a runtime: the toy of tests/app/toy/toy_runtime.cpp, which runs "first" and "third_value" in float32.
class CliRuntimesTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase()
    {
        qputenv("HALFTONE_ORT", HALFTONE_TOY_RUNTIME);
        qputenv("HALFTONE_OPENVINO", HALFTONE_TEST_DATA);
        qputenv("HALFTONE_RUNTIME", HALFTONE_RUNTIME_PROGRAM);
    }

    void backendsTellTheRuntime()
    {
        const CliOutcome outcome = callCli({"backends", "--json"});
        QCOMPARE(outcome.code, 0);
        bool isThere = false;
        const auto told = outcome.json();
        for (const auto &row : told.at("backends")) {
            if (row.at("name") != "ort")
                continue;
            isThere = row.at("available").get<bool>();
            QCOMPARE(row.at("file").get<std::string>(), std::string(HALFTONE_TOY_RUNTIME));
            QCOMPARE(row.at("providers").at(0).get<std::string>(), std::string("CPUExecutionProvider"));
        }
        QVERIFY(isThere);
        QVERIFY(callCli({"backends"}).out.contains("CPUExecutionProvider"));
    }

    void profileTellsAskedAndRan()
    {
        QTemporaryDir folder;
        const QString model = chain(folder, "second");
        const CliOutcome outcome
            = callCli({"profile", model, "--backend", "ort", "--repeats", "3", "--json"});
        QVERIFY2(outcome.code == 0, outcome.err.constData());
        const auto told = outcome.json();
        QCOMPARE(told.at("runtime").at("name").get<std::string>(), std::string("ONNX Runtime"));
        QCOMPARE(told.at("as_asked").at("operators").get<int>(), 0);
        QVERIFY(told.at("peak_bytes").is_null());
        const auto &first = told.at("layers").at(1);
        QCOMPARE(first.at("asked").get<std::string>(), std::string("float16"));
        QCOMPARE(first.at("dtype").get<std::string>(), std::string("float32"));
        QVERIFY(outcome.err.contains("has no float16 kernel for")); // told before it ran
        const CliOutcome text = callCli({"profile", model, "--backend", "ort", "--repeats", "3"});
        QVERIFY(text.out.contains("ran in"));
        QVERIFY(text.out.contains("ONNX Runtime ran 0 of 4 float16 operators in float16"));
    }

    void verifyListsWhatRanOtherwise()
    {
        QTemporaryDir folder;
        const QString model = chain(folder, "second");
        const CliOutcome outcome = callCli({"verify", model, "--backend", "ort", "--json"});
        QCOMPARE(outcome.code, 1);
        const auto differences = outcome.json().at("differences");
        QCOMPARE(differences.size(), std::size_t{4});
        QCOMPARE(differences.at(0).at("node").get<std::string>(), std::string("first"));
        QCOMPARE(differences.at(0).at("requested").get<std::string>(), std::string("float16"));
        QCOMPARE(differences.at(0).at("computes").get<std::string>(), std::string("float32"));
        QVERIFY(outcome.err.contains("ONNX Runtime"));
        QCOMPARE(callCli({"verify", model}).code, 0);
        QCOMPARE(callCli({"verify", model, "--backend", "cpu"}).code, 2);
    }

    void aRefusalIsUnsupported()
    {
        QTemporaryDir folder;
        const CliOutcome outcome = callCli({"profile", chain(folder, "toy_refuses"), "--backend", "ort"});
        QCOMPARE(outcome.code, 3);
        QVERIFY(outcome.lastLine().contains("toy_refuses"));
        QVERIFY(outcome.lastLine().contains("Could not find an implementation"));
    }

    void whatTheRuntimeRefusesIsLeftOutOfASearch()
    {
        QTemporaryDir folder;
        const QString model = product(folder, "[2,3]");
        const QStringList call{"tune",      model, "--inputs", feed(folder),
                               "--backend", "ort", "--target", "bfloat16",
                               "--points",  "1",   "--out",    folder.filePath("front.json"),
                               "--json"};
        const CliOutcome none = callCli(call);
        QCOMPARE(none.code, 3);
        QVERIFY(none.lastLine().contains("has no bfloat16 kernel for MatMul"));
        const CliOutcome some = callCli(call + QStringList{"--target-op", "Concat"});
        QVERIFY2(some.code == 0, some.err.constData());
        QVERIFY(some.err.contains("1 node in float32: ONNX Runtime CPU"));
        const auto refused = some.json().at("refused");
        QCOMPARE(refused.size(), std::size_t{1});
        QCOMPARE(refused.at(0).at("node").get<std::string>(), std::string("first"));
    }

    void whereNothingSaysHowManyItIsOneExample()
    {
        QTemporaryDir folder;
        const QString model = product(folder, "[N,3]");
        const CliOutcome outcome
            = callCli({"profile", model, "--backend", "ort", "--repeats", "2", "--json"});
        QVERIFY2(outcome.code == 0, outcome.err.constData());
        QVERIFY(outcome.err.contains("one example"));
        QCOMPARE(outcome.json().at("inputs").dump(), std::string(R"({"x":[1,3]})"));
        QCOMPARE(callCli({"profile", model, "--backend", "ort", "--batch", "2", "--json"})
                     .json()
                     .at("inputs")
                     .dump(),
                 std::string(R"({"x":[2,3]})"));
    }

    void nothingFallsBackInSilence()
    {
        QTemporaryDir folder;
        const QString model = chain(folder, "second");
        const CliOutcome absent = callCli({"profile", model, "--backend", "openvino"});
        QCOMPARE(absent.code, 3);
        QVERIFY(absent.err.contains("pip install openvino"));
        QCOMPARE(callCli({"profile", model, "--backend", "ort", "--precision", "f16"}).code, 2);
        QCOMPARE(callCli({"profile", model, "--backend", "cpu", "--precision", "f16"}).code, 2);
    }
};

QTEST_GUILESS_MAIN(CliRuntimesTest)
#include "tst_cli_runtimes.moc"
