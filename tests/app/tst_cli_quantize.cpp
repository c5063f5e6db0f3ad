#include "core/dialect/dialect.h"
#include "core/io/arrays/npz.h"
#include "core/io/model_io.h"
#include "tests/support/call_cli.h"
#include "tests/support/files.h"
#include "tests/support/sample_files.h"

#include <QTemporaryDir>
#include <QTest>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

using namespace halftone::test;
using nlohmann::json;

namespace {

double top1(const QString &symbol)
{
    QTemporaryDir folder;
    const CliOutcome run
        = callCli({"run", symbol, "--inputs", kDigits, "--out", folder.filePath("o.npz"), "--json"});
    if (run.code != 0)
        qFatal("%s", run.err.constData());
    return run.json()["accuracy"]["top1"];
}

const QString kPairs = QStringLiteral(HALFTONE_TEST_DATA "/qdq/");

/// Operator, attributes and inputs of what gives a value, by the value's name.
std::map<std::string, std::tuple<std::string, std::string, std::vector<std::string>>>
rowsOf(const halftone::graph::Graph &graph)
{
    std::map<std::string, std::tuple<std::string, std::string, std::vector<std::string>>> rows;
    const halftone::dialect::Dialect &dialect = halftone::dialect::of(graph);
    for (halftone::graph::NodeId id = 0; id < graph.nodeCount(); ++id) {
        const halftone::graph::NodeDef &node = graph.node(id);
        std::vector<std::string> inputs;
        for (const auto &entry : graph.inputs(id))
            inputs.push_back(dialect.entryName(graph, entry));
        rows[dialect.entryName(graph, {id, 0, 0})]
            = {node.op, node.isVariable() ? std::string() : dialect.attributeKey(node), inputs};
    }
    return rows;
}

halftone::graph::Model modelIn(const QString &path)
{
    auto loaded = halftone::io::loadModel(path.toStdString(), {{}, true});
    if (!loaded.ok())
        qFatal("%s", loaded.error().message().c_str());
    return std::move(loaded).value().model;
}

} // namespace

class TestCliQuantize : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void theSampleKeepsItsAccuracyInInt8_data()
    {
        QTest::addColumn<QString>("form");
        QTest::addColumn<QString>("method");
        for (const char *form : {"onednn", "plain"}) {
            for (const char *method : {"naive", "entropy", "percentile", "mse"})
                QTest::addRow("%s %s", form, method) << form << method;
        }
    }

    void theSampleKeepsItsAccuracyInInt8()
    {
        QFETCH(QString, form);
        QFETCH(QString, method);
        QTemporaryDir folder;
        const QString prefix = folder.filePath("int8");
        // The energy of a picture reaches 10^6: whoever divides by it stays in float32 by itself.
        const CliOutcome made = callCli({"quantize", kSample, "--inputs", kDigits, "--examples", "64",
                                         "--form", form, "--calib", method, "--out", prefix, "--json"});
        QVERIFY2(made.code == 0, made.err.constData());
        const json report = made.json();
        QCOMPARE(report["examples"], 64);
        QVERIFY(report["quantized"].size() > 4);
        for (const json &node : report["skipped"])
            QVERIFY(!node["why"].get<std::string>().empty());
        for (const json &threshold : report["thresholds"]) {
            QVERIFY(threshold.contains("sqnr_db"));
            QVERIFY(threshold.contains("sqnr_db_minmax"));
        }
        QVERIFY(top1(prefix + "-symbol.json") > top1(kSample) - 0.03);
    }

    void aTableGivesWhatTheSameCalibrationGives()
    {
        QTemporaryDir folder;
        const QString table = folder.filePath("t.json");
        QCOMPARE(callCli({"calibrate", kSample, "--inputs", kDigits, "--method", "entropy", "--dtype", "auto",
                          "--grid", "first-batch", "--out", table})
                     .code,
                 0);
        const auto quantized = [&](const QStringList &how) {
            const QString prefix = folder.filePath("q");
            const CliOutcome made = callCli(QStringList{"quantize", kSample, "--out", prefix} + how);
            if (made.code != 0)
                qFatal("%s", made.err.constData());
            return halftone::test::readFile((prefix + "-symbol.json").toStdString());
        };
        QCOMPARE(quantized({"--table", table}), quantized({"--inputs", kDigits, "--calib", "entropy"}));
    }

    void badCallsSayWhatIsWrong()
    {
        const std::pair<QStringList, const char *> calls[] = {
            {{"--calib", "entropy"}, "--inputs"},
            {{"--table", "t.json", "--calib", "mse"}, "--table"},
            {{"--exclude", "no_such_node"}, "no_such_node"},
            {{"--exclude-op", "Convolutoin"}, "Convolution"},
            {{"--percentile", "0", "--inputs", kDigits}, "--percentile"},
        };
        QTemporaryDir folder;
        for (const auto &[options, word] : calls) {
            const CliOutcome outcome
                = callCli(QStringList{"quantize", kSample, "--out", folder.filePath("q")} + options);
            QCOMPARE(outcome.code, 2);
            QVERIFY2(outcome.err.contains(word), outcome.err.constData());
            QCOMPARE(outcome.err.count('\n'), 1);
        }
        const CliOutcome broken
            = callCli({"quantize", kSample, "--out", folder.filePath("q"), "--table", kSample});
        QCOMPARE(broken.code, 1);
    }

    void int8ModelsAreComparedLayerByLayer()
    {
        QTemporaryDir folder;
        const QString prefix = folder.filePath("int8");
        QCOMPARE(callCli({"quantize", kSample, "--inputs", kDigits, "--out", prefix}).code, 0);
        const CliOutcome compared = callCli(
            {"compare", kSample, "--against", prefix + "-symbol.json", "--inputs", kDigits, "--json"});
        QVERIFY2(compared.code == 0, compared.err.constData());
        std::size_t codes = 0;
        const json report = compared.json();
        for (const json &layer : report["layers"]) {
            if (layer["dtype"] != "int8" && layer["dtype"] != "uint8")
                continue;
            ++codes;
            QVERIFY2(layer["sqnr_db"].is_number() && layer["sqnr_db"].get<double>() > 15,
                     layer["name"].get<std::string>().c_str());
        }
        QVERIFY(codes >= 4);
    }

    void pairsAreThoseOfTheDefinition()
    {
        QTemporaryDir folder;
        const QString made = folder.filePath("q.onnx");
        const CliOutcome outcome = callCli(
            {"quantize", kPairs + "net.onnx", "--table", kPairs + "table.json", "--out", made, "--json"});
        if (outcome.code == 3)
            QSKIP("this build was made without ONNX");
        QVERIFY2(outcome.code == 0, outcome.err.constData());
        const json report = outcome.json();
        QCOMPARE(report["form"], "qdq");
        QCOMPARE(report["quantized"].size(), 11);
        QCOMPARE(report["skipped"].size(), 1);
        const auto got = modelIn(made);
        const auto want = modelIn(kPairs + "qdq.onnx");
        QCOMPARE(got.graph.dialect()->version(), want.graph.dialect()->version());
        const auto gotRows = rowsOf(got.graph);
        for (const auto &[name, row] : rowsOf(want.graph))
            QVERIFY2(gotRows.contains(name) && gotRows.at(name) == row, name.c_str());
        QCOMPARE(gotRows.size(), rowsOf(want.graph).size());
        std::map<std::string, halftone::tensor::Tensor> values;
        for (const auto &array : got.parameters)
            values[array.name] = array.values;
        QCOMPARE(values.size(), want.parameters.size());
        for (const auto &array : want.parameters) {
            QVERIFY2(values.contains(array.name), array.name.c_str());
            const auto &own = values.at(array.name);
            QVERIFY2(own.dtype() == array.values.dtype() && own.shape() == array.values.shape()
                         && std::ranges::equal(own.bytes(), array.values.bytes()),
                     array.name.c_str());
        }
    }

    void aModelInFloat16IsFirstWidened()
    {
        QTemporaryDir folder;
        const QString half = folder.filePath("half.onnx");
        const CliOutcome converted = callCli(
            {"convert", kPairs + "net.onnx", "--target", "float16", "--no-keep-io-types", "--out", half});
        if (converted.code == 3)
            QSKIP("this build was made without ONNX");
        QVERIFY2(converted.code == 0, converted.err.constData());
        const QString made = folder.filePath("q.onnx");
        const CliOutcome outcome
            = callCli({"quantize", half, "--table", kPairs + "table.json", "--out", made, "--json"});
        QVERIFY2(outcome.code == 0, outcome.err.constData());
        QCOMPARE(outcome.json()["quantized"].size(), 11); // as in float32
        for (const auto &array : modelIn(made).parameters)
            QVERIFY2(!halftone::tensor::isHalf(array.values.dtype()), array.name.c_str());
    }

    void pairsGiveWhatOnnxRuntimeGives_data()
    {
        QTest::addColumn<QString>("form");
        QTest::addRow("pairs") << "qdq";
        QTest::addRow("operators on codes") << "qoperator";
    }

    void pairsGiveWhatOnnxRuntimeGives()
    {
        QFETCH(QString, form);
        QTemporaryDir folder;
        const QString made = folder.filePath("q.onnx");
        const CliOutcome outcome = callCli({"quantize", kPairs + "net.onnx", "--table", kPairs + "table.json",
                                            "--form", form, "--out", made, "--json"});
        if (outcome.code == 3)
            QSKIP("this build was made without ONNX");
        QVERIFY2(outcome.code == 0, outcome.err.constData());
        std::size_t operators = 0;
        for (const auto &[name, row] : rowsOf(modelIn(made).graph))
            operators += std::get<0>(row) == "QLinearConv" ? 1 : 0;
        QCOMPARE(operators, form == "qdq" ? 0U : 2U);
        const CliOutcome run
            = callCli({"run", made, "--inputs", kPairs + "in.npz", "--out", folder.filePath("o.npz")});
        QVERIFY2(run.code == 0, run.err.constData());
        const auto got = halftone::io::readNpz(folder.filePath("o.npz").toStdString());
        const auto want = halftone::io::readNpz((kPairs + "out.npz").toStdString());
        QVERIFY(got.ok() && want.ok());
        QCOMPARE(got.value().size(), want.value().size());
        for (std::size_t k = 0; k < got.value().size(); ++k) {
            const auto own = got.value()[k].tensor.values<float>();
            const auto known = want.value()[k].tensor.values<float>();
            QCOMPARE(own.size(), known.size());
            for (std::size_t i = 0; i < own.size(); ++i) // a code of four that tips over at a tie
                QVERIFY2(std::abs(own[i] - known[i]) < 0.012F, got.value()[k].name.c_str());
        }
    }

    void operatorsOnCodesHaveTypesThatOnnxRuntimeHasKernelsFor()
    {
        // By its CPU's kernels of QLinearConv (data, weights, result), tried one by one.
        const std::set<std::string> known{"int8_int8_int8_y_codes", "uint8_int8_uint8_y_codes",
                                          "uint8_uint8_uint8_y_codes"};
        const QString source = QStringLiteral(HALFTONE_TEST_DATA "/onnx/mixed_signs");
        QTemporaryDir folder;
        const QString made = folder.filePath("q.onnx");
        const CliOutcome outcome = callCli({"quantize", source + ".onnx", "--inputs", source + "-inputs.npz",
                                            "--form", "qoperator", "--out", made, "--json"});
        if (outcome.code == 3)
            QSKIP("this build was made without ONNX");
        QVERIFY2(outcome.code == 0, outcome.err.constData());
        std::set<std::string> operators;
        for (const auto &[name, row] : rowsOf(modelIn(made).graph))
            if (std::get<0>(row) == "QLinearConv")
                operators.insert(name);
        QCOMPARE(operators, known);
    }

    void aModelOfMxnetBecomesPairsInOnnx()
    {
        QTemporaryDir folder;
        const QString made = folder.filePath("q.onnx");
        const CliOutcome outcome = callCli(
            {"quantize", kSample, "--inputs", kDigits, "--examples", "64", "--out", made, "--json"});
        if (outcome.code == 3)
            QSKIP("this build was made without ONNX");
        QVERIFY2(outcome.code == 0, outcome.err.constData());
        QCOMPARE(outcome.json()["form"], "qdq");
        QVERIFY(std::abs(top1(made) - top1(kSample)) < 0.01);
        QCOMPARE(callCli({"quantize", kSample, "--form", "plain", "--inputs", kDigits, "--out", made}).code,
                 2);
    }

    void aSecondTimeChangesNothing()
    {
        QTemporaryDir folder;
        const QString once = folder.filePath("1.onnx");
        const QString twice = folder.filePath("2.onnx");
        const QString table = kPairs + "table.json";
        const CliOutcome first = callCli({"quantize", kPairs + "net.onnx", "--table", table, "--out", once});
        if (first.code == 3)
            QSKIP("this build was made without ONNX");
        QCOMPARE(callCli({"quantize", once, "--table", table, "--out", twice}).code, 0);
        QVERIFY(!contentOf(once).isEmpty());
        QCOMPARE(contentOf(once), contentOf(twice));
    }

    void pairsHaveOptionsOfTheirOwn()
    {
        QTemporaryDir folder;
        const QStringList base{"quantize", kPairs + "net.onnx", "--out", folder.filePath("q.onnx")};
        const CliOutcome bare = callCli(base);
        if (bare.code == 3)
            QSKIP("this build was made without ONNX");
        QCOMPARE(bare.code, 2); // nothing says the ranges
        const QStringList known = base + QStringList{"--table", kPairs + "table.json", "--json"};
        QCOMPARE(callCli(known + QStringList{"--form", "onednn"}).code, 2);
        QCOMPARE(callCli(known + QStringList{"--levels", "neutral"}).code, 2);
        const CliOutcome fewer = callCli(
            known + QStringList{"--exclude", "conv2", "--granularity", "tensor", "--dtype", "int8"});
        QVERIFY2(fewer.code == 0, fewer.err.constData());
        const json report = fewer.json();
        const auto &quantized = report["quantized"];
        QVERIFY(std::ranges::find(quantized, json("conv1")) != quantized.end());
        QVERIFY(std::ranges::find(quantized, json("conv2")) == quantized.end());
        for (const auto &array : modelIn(folder.filePath("q.onnx")).parameters) {
            QVERIFY(!array.name.ends_with("_scale") || array.shape.rank() == 0);
            QVERIFY(!array.name.ends_with("_zero_point")
                    || (array.values.dtype() == halftone::tensor::DType::I8
                        && array.values.values<std::int8_t>() == std::vector<std::int8_t>{0}));
        }
    }

    void pairsStandBesideSixteenBits()
    {
        QTemporaryDir folder;
        const QString made = folder.filePath("m.onnx");
        const CliOutcome outcome
            = callCli({"convert", kPairs + "net.onnx", "--target", "bfloat16", "--int8-op", "Conv", "--table",
                       kPairs + "table.json", "--out", made, "--json"});
        if (outcome.code == 3)
            QSKIP("this build was made without ONNX");
        QVERIFY2(outcome.code == 0, outcome.err.constData());
        const json report = outcome.json();
        // The input, what conv1 gives, the same behind the pool, and what conv2 gives.
        QCOMPARE(report["quantizes"], 4);
        QCOMPARE(report["dequantizes"], 4 + 4); // and two weights with their biases
        std::map<std::string, std::string> assigned;
        for (const json &node : report["nodes"])
            assigned[node["name"]] = node["assigned"];
        for (const char *name : {"conv1", "norm1", "relu1", "pool", "conv2"})
            QCOMPARE(assigned[name], "int8");
        QCOMPARE(assigned["full"], "bfloat16");
        // What is compared in memory is what is written: steps of 0.0098 over values of a deviation around 1 are some 50 dB.
        const CliOutcome compared
            = callCli({"compare", kPairs + "net.onnx", "--target", "bfloat16", "--int8-op", "Conv", "--table",
                       kPairs + "table.json", "--inputs", kPairs + "in.npz", "--json"});
        QVERIFY2(compared.code == 0, compared.err.constData());
        const json layers = compared.json()["layers"];
        const auto norm
            = std::ranges::find_if(layers, [](const json &row) { return row["name"] == "norm1"; });
        QVERIFY(norm != layers.end() && (*norm)["sqnr_db"].get<double>() > 35);
        const auto want = modelIn(kPairs + "qdq.onnx");
        for (const auto &array : modelIn(made).parameters) {
            const auto same = std::ranges::find(want.parameters, array.name, &halftone::tensor::Array::name);
            if (array.name.ends_with("_quantized"))
                QVERIFY(same != want.parameters.end()
                        && std::ranges::equal(same->values.bytes(), array.values.bytes()));
        }
    }

    void whatIsInPairsStaysInInt8()
    {
        QTemporaryDir folder;
        const QString made = folder.filePath("m.onnx");
        const CliOutcome outcome
            = callCli({"convert", kPairs + "qdq.onnx", "--target", "float16", "--out", made, "--json"});
        if (outcome.code == 3)
            QSKIP("this build was made without ONNX");
        QVERIFY2(outcome.code == 0, outcome.err.constData());
        const json report = outcome.json();
        QCOMPARE(report["casts"], 0);
        for (const json &node : report["nodes"])
            if (node["op"] != "Input" && node["op"] != "Sub")
                QCOMPARE(node["assigned"], "int8");
        const auto rows = rowsOf(modelIn(made).graph);
        QVERIFY(rows == rowsOf(modelIn(kPairs + "qdq.onnx").graph));
    }

    void whatLeavesInt8LosesItsPairs()
    {
        QTemporaryDir folder;
        const QString made = folder.filePath("m.onnx");
        const CliOutcome outcome
            = callCli({"convert", kPairs + "qdq.onnx", "--target", "float16", "--fp32-op", "Conv",
                       "--fp32-op", "Gemm", "--out", made, "--json"});
        if (outcome.code == 3)
            QSKIP("this build was made without ONNX");
        QVERIFY2(outcome.code == 0, outcome.err.constData());
        for (const auto &[name, row] : rowsOf(modelIn(made).graph))
            QVERIFY2(!QByteArray(std::get<0>(row).c_str()).contains("QuantizeLinear"), name.c_str());
        const QString values = folder.filePath("o.npz");
        QCOMPARE(callCli({"run", made, "--inputs", kPairs + "in.npz", "--out", values}).code, 0);
        const auto got = halftone::io::readNpz(values.toStdString());
        const auto want = halftone::io::readNpz((kPairs + "real.npz").toStdString());
        QVERIFY(got.ok() && want.ok());
        QCOMPARE(got.value().size(), want.value().size());
        for (std::size_t k = 0; k < got.value().size(); ++k) {
            const auto own = got.value()[k].tensor.values<float>();
            const auto known = want.value()[k].tensor.values<float>();
            QCOMPARE(own.size(), known.size());
            // What moves values, or adds them, is in float16 by the lists, where steps are 2^-10 of values up to 3.
            for (std::size_t i = 0; i < own.size(); ++i)
                QVERIFY2(std::abs(own[i] - known[i]) < 4e-3F, got.value()[k].name.c_str());
        }
    }

    void oneThatLeavesTakesItsOwnPairsAlong()
    {
        QTemporaryDir folder;
        const QString made = folder.filePath("m.onnx");
        const CliOutcome outcome = callCli({"convert", kPairs + "qdq.onnx", "--target", "float16",
                                            "--override", "n1=float32", "--out", made, "--json"});
        if (outcome.code == 3)
            QSKIP("this build was made without ONNX");
        QVERIFY2(outcome.code == 0, outcome.err.constData());
        const auto rows = rowsOf(modelIn(made).graph);
        QCOMPARE(std::get<2>(rows.at("n1"))[0], std::string("x"));
        QVERIFY(!rows.contains("x_DequantizeLinear_Output"));
        QVERIFY(!rows.contains("w1_DequantizeLinear_Output"));
        QVERIFY(rows.at("c2") == rowsOf(modelIn(kPairs + "qdq.onnx").graph).at("c2"));
    }

    void correctedBiasesOfPairsKeepTheMeans()
    {
        QTemporaryDir folder;
        const QString made = folder.filePath("q.onnx");
        const QString values = folder.filePath("o.npz");
        const auto meansOf = [&](const QString &model) {
            std::vector<double> means;
            if (callCli({"run", model, "--inputs", kPairs + "in.npz", "--out", values}).code != 0)
                return means;
            const auto outputs = halftone::io::readNpz(values.toStdString());
            for (const auto &output : outputs.value()) {
                const auto numbers = output.tensor.values<float>();
                for (std::size_t k = 0; k < 5; ++k)
                    means.push_back((double{numbers[k]} + double{numbers[k + 5]}) / 2);
            }
            return means;
        };
        const auto real = meansOf(kPairs + "net.onnx");
        if (real.empty())
            QSKIP("this build was made without ONNX");
        const auto errorOf = [&](const QStringList &more) {
            const CliOutcome outcome = callCli(QStringList{"quantize", kPairs + "net.onnx", "--inputs",
                                                           kPairs + "in.npz", "--out", made, "--json"}
                                               + more);
            if (outcome.code != 0 || outcome.json()["corrected_biases"] != (more.isEmpty() ? 0 : 3))
                return 1e9;
            const auto got = meansOf(made);
            double sum = 0;
            for (std::size_t k = 0; k < 5; ++k) // of the product that has a bias
                sum += std::abs(got[k] - real[k]);
            return sum;
        };
        const double before = errorOf({});
        QVERIFY(before < 1);
        QVERIFY(errorOf({"--correct-biases"}) < before);
    }

    void latencyIsMeasuredInInt8()
    {
        const CliOutcome outcome = callCli(
            {"profile", kSample, "--shape", "data=1,1,8,8", "--quantized", "--repeats", "3", "--json"});
        if (outcome.code == 3)
            QSKIP("this build has no latency plans");
        QVERIFY2(outcome.code == 0, outcome.err.constData());
        std::size_t codes = 0;
        const json report = outcome.json();
        for (const json &layer : report["layers"])
            codes += layer["dtype"] == "uint8" || layer["dtype"] == "int8" ? 1 : 0;
        QVERIFY(codes >= 4);
    }

    /// Nothing says what to convert to: people take the file for a converted one.
    void aConversionToNothingSaysThatItCopied()
    {
        QTemporaryDir folder;
        const QString out = folder.filePath("copy.onnx");
        const CliOutcome copied = callCli({"convert", kPairs + "net.onnx", "--out", out});
        QVERIFY2(copied.code == 0, copied.err);
        QVERIFY2(copied.out.contains("copied unchanged"), copied.out);
        QVERIFY2(copied.out.contains("--target"), copied.out);
        const CliOutcome raised = callCli({"convert", kPairs + "net.onnx", "--out", out, "--opset", "21"});
        QVERIFY2(raised.code == 0 && raised.out.contains("raised to ONNX opset 21"), raised.out);
        const CliOutcome told = callCli({"convert", kPairs + "net.onnx", "--out", out, "--json"});
        QVERIFY(told.json()["copied"].get<bool>() && told.json()["target"].is_null());
        const CliOutcome converted
            = callCli({"convert", kPairs + "net.onnx", "--target", "float16", "--out", out});
        QVERIFY2(converted.code == 0 && !converted.out.contains("copied"), converted.out);
        const CliOutcome help = callCli({"convert", "--help"});
        QVERIFY2(help.out.simplified().contains("is copied unchanged"), help.out);
    }
};

QTEST_GUILESS_MAIN(TestCliQuantize)
#include "tst_cli_quantize.moc"
