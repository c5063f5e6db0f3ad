#include "core/io/arrays/npz.h"
#include "tests/support/call_cli.h"
#include "tests/support/sample_files.h"

#include <QTemporaryDir>
#include <QTest>

#include <cstring>

using namespace halftone;
using namespace halftone::test;
using nlohmann::json;

namespace {

/// ReLU, which the toy computes, and a sum, which it does not.
constexpr char kGraph[] = R"({"nodes": [
    {"op": "null", "name": "data", "inputs": []},
    {"op": "Activation", "name": "relu", "attrs": {"act_type": "relu"}, "inputs": [[0, 0, 0]]},
    {"op": "_plus_scalar", "name": "more", "attrs": {"scalar": "0.25"}, "inputs": [[1, 0, 0]]}],
    "arg_nodes": [0], "heads": [[2, 0, 0]]})";

std::vector<float> resultsOn(const QString &backend)
{
    const QTemporaryDir folder;
    const QString model = folder.filePath("toy-symbol.json");
    writeFile(model, kGraph);
    const std::vector<float> values{-1.6F, 0.375F, 2.625F};
    std::vector<std::byte> bytes(values.size() * sizeof(float));
    std::memcpy(bytes.data(), values.data(), bytes.size());
    const io::NamedTensor data{"data", tensor::Tensor::owning(tensor::DType::F32, {1, 3}, std::move(bytes))};
    const QString in = folder.filePath("in.npz");
    const QString out = folder.filePath("out.npz");
    if (!io::writeNpz(std::span(&data, 1), in.toStdString()).ok())
        qFatal("no data");
    const CliOutcome outcome
        = callCli({"run", model, "--no-params", "--inputs", in, "--out", out, "--backend", backend});
    if (outcome.code != 0)
        qFatal("%s", outcome.err.constData());
    return io::readNpz(out.toStdString()).value().at(0).tensor.values<float>();
}

} // namespace

/// HALFTONE_CLI is halftone-cli's very objects and toy_backend.cpp: whatever works here was brought by that one file.
class TestToyBackend : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void itIsListed()
    {
        bool isListed = false;
        const json told = callCli({"backends", "--json"}).json().at("backends");
        for (const json &backend : told) {
            if (backend.at("name") != "toy")
                continue;
            isListed = true;
            QCOMPARE(backend.at("device").get<std::string>(), std::string("a box of bricks"));
            QCOMPARE(backend.at("available").get<bool>(), true);
            QCOMPARE(backend.at("dtypes").at("float32").get<std::string>(), std::string("native"));
            QCOMPARE(backend.at("dtypes").at("bfloat16").get<std::string>(), std::string("no"));
        }
        QVERIFY(isListed);
    }

    void helpNamesIt_data()
    {
        QTest::addColumn<QString>("command");
        for (const char *command : {"run", "compare", "calibrate", "profile"})
            QTest::newRow(command) << command;
    }
    void helpNamesIt()
    {
        QFETCH(QString, command);
        QVERIFY(callCli({command, "--help"}).out.contains(", toy, "));
    }

    void aWrongNameIsToldOfIt()
    {
        const CliOutcome outcome = callCli({"profile", kSample, "--backend", "tpu"});
        QCOMPARE(outcome.code, 2);
        QVERIFY2(outcome.err.contains(", toy, "), outcome.err.constData());
    }

    void aRunComputesOnItAndBehindIt()
    {
        QCOMPARE(resultsOn("toy"), (std::vector<float>{0.25F, 0.25F, 3.25F}));
        QCOMPARE(resultsOn("reference"), (std::vector<float>{0.25F, 0.625F, 2.875F}));
    }

    void latencyIsMeasuredOnIt()
    {
        const CliOutcome outcome = callCli({"profile", kSample, "--shape", "data=1,1,8,8", "--backend", "toy",
                                            "--repeats", "3", "--versus-fp32", "--json"});
        QVERIFY2(outcome.code == 0, outcome.err.constData());
        const json profile = outcome.json();
        QCOMPARE(profile.at("backend").get<std::string>(), std::string("toy"));
        QCOMPARE(profile.at("device").get<std::string>(), std::string("a box of bricks"));
        QCOMPARE(profile.at("native").at("float32").get<bool>(), true);
        QCOMPARE(profile.at("native").at("bfloat16").get<bool>(), false);
        QVERIFY(profile.at("versus").at("ratio").get<double>() > 0);
        std::map<std::string, int> kernels;
        for (const json &layer : profile.at("layers"))
            ++kernels[layer.at("kernel").get<std::string>()];
        QVERIFY(kernels["toy"] > 0 && kernels["reference"] > 0);
    }
};

QTEST_GUILESS_MAIN(TestToyBackend)
#include "tst_toy_backend.moc"
