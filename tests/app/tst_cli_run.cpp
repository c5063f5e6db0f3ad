#include "core/io/arrays/npz.h"
#include "tests/support/call_cli.h"
#include "tests/support/files.h"
#include "tests/support/sample_files.h"

#include <QFile>
#include <QTemporaryDir>
#include <QTest>

#include <algorithm>
#include <cmath>
#include <cstring>

using namespace halftone;
using namespace halftone::test;
using nlohmann::json;
using tensor::DType;
using tensor::Shape;
using tensor::Tensor;

namespace {

/// The arrays that a run writes.
std::vector<io::NamedTensor> outputsOf(QStringList arguments)
{
    QTemporaryDir folder;
    const QString out = folder.filePath("out.npz");
    const CliOutcome outcome = callCli(arguments << "--out" << out);
    if (outcome.code != 0)
        qFatal("%s", outcome.err.constData());
    return io::readNpz(out.toStdString()).value();
}

/// `run` of the sample on its test pictures.
QStringList runOfTheSample(const QStringList &more = {})
{
    return QStringList{"run", kSample, "--inputs", kDigits} + more;
}

double furthest(const Tensor &a, const Tensor &b)
{
    const std::vector<float> left = a.values<float>();
    const std::vector<float> right = b.values<float>();
    double distance = left.size() == right.size() ? 0 : HUGE_VAL;
    for (std::size_t i = 0; i < left.size() && i < right.size(); ++i)
        distance = std::max(distance, static_cast<double>(std::abs(left[i] - right[i])));
    return distance;
}

std::vector<std::string> namesOf(const std::vector<io::NamedTensor> &arrays)
{
    std::vector<std::string> names;
    for (const io::NamedTensor &array : arrays)
        names.push_back(array.name);
    return names;
}

void writeZeros(const QString &path, const std::string &name, const Shape &shape)
{
    std::vector<std::byte> bytes(static_cast<std::size_t>(*shape.elementCount()) * sizeof(float));
    const io::NamedTensor array{name, Tensor::owning(DType::F32, shape, std::move(bytes))};
    QVERIFY(io::writeNpz(std::span(&array, 1), path.toStdString()).ok());
}

} // namespace

class TestCliRun : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    /// Types are inferred from what is fed: an array of integers would make a network of integers.
    void arraysOfAnotherTypeAreRefused()
    {
        QTemporaryDir folder;
        const QString model = QStringLiteral(HALFTONE_TEST_DATA "/onnx_refused/loop_while.onnx");
        for (const DType type : {DType::F32, DType::I32, DType::F64, DType::F16, DType::BF16}) {
            const Shape shape{2, 3};
            std::vector<std::byte> bytes(6 * tensor::sizeOf(type));
            const io::NamedTensor array{"x", Tensor::owning(type, shape, std::move(bytes))};
            const QString inputs = folder.filePath("in.npz");
            QVERIFY(io::writeNpz(std::span(&array, 1), inputs.toStdString()).ok());
            for (const QStringList &command :
                 {QStringList{"run", model, "--inputs", inputs},
                  QStringList{"compare", model, "--target", "float16", "--inputs", inputs}}) {
                const CliOutcome outcome = callCli(command);
                if (type == DType::F32) {
                    QVERIFY2(outcome.code == 0, outcome.err.constData());
                    continue;
                }
                QCOMPARE(outcome.code, 1);
                const QByteArray wanted
                    = QByteArray("x: an array of ") + std::string(tensor::nameOf(type)).c_str();
                QVERIFY2(outcome.err.contains(wanted)
                             && outcome.err.contains("float32, as declared by the model"),
                         outcome.err.constData());
            }
        }
    }

    /// Shown, written as they are with a note, and not run.
    void attributesThatAnOperatorDoesNotHaveAreRefused()
    {
        QTemporaryDir folder;
        const QString inputs = folder.filePath("in.npz");
        writeZeros(inputs, "x0", Shape{2, 3});
        const QString model = QStringLiteral(HALFTONE_TEST_DATA "/onnx_refused/softmax_axi.onnx");
        const QString half = folder.filePath("half.onnx");
        for (const auto &[command, code] :
             {std::pair(QStringList{"info", model}, 0),
              {QStringList{"run", model, "--inputs", inputs}, 1},
              {QStringList{"convert", model, "--target", "float16", "--out", half}, 0},
              {QStringList{"run", half, "--inputs", inputs}, 1}}) {
            const CliOutcome outcome = callCli(command);
            QVERIFY2(outcome.code == code, outcome.err.constData());
            for (const char *word : {"n: axi", "Softmax", "did you mean axis"})
                QVERIFY2(command[0] == "info" || outcome.err.contains(word), outcome.err.constData());
        }
    }

    /// The bodies of loops are converted, too, and what they are given stays where it stood. The step's number reaches a comparison, so that
    /// no list alone lowers what it passes through.
    void aConvertedLoopGivesNearlyTheSame()
    {
        QTemporaryDir folder;
        const QString data = QStringLiteral(HALFTONE_TEST_DATA "/onnx/");
        const QString made = folder.filePath(QStringLiteral("half.onnx"));
        const CliOutcome converted
            = callCli({"convert", data + "steps.onnx", "--target", "float16", "--mode", "typed",
                       "--target-op", "MatMul", "--cast-params", "--keep-io-types", "--out", made});
        if (converted.code == 3)
            QSKIP("this build was made without ONNX");
        QVERIFY2(converted.code == 0, converted.err.constData());
        QVERIFY2(converted.out.contains("of the casts in control flow bodies"), converted.out.constData());
        const QString wide = folder.filePath(QStringLiteral("wide.onnx"));
        const CliOutcome stripped = callCli({"rewrite", made, "--pass", "strip-casts", "--out", wide});
        QVERIFY2(stripped.code == 0, stripped.err.constData());
        for (const auto &[name, model] : {std::pair("steps-all", made),
                                          {"steps-none", made},
                                          {"steps-all", wide},
                                          {"steps-none", wide}}) {
            const auto got = outputsOf({"run", model, "--inputs", data + name + "-inputs.npz"});
            const auto want = io::readNpz((data + name + "-values.npz").toStdString()).value();
            QCOMPARE(got.size(), want.size());
            for (std::size_t k = 0; k < want.size(); ++k) {
                QCOMPARE(got[k].tensor.shape(), want[k].tensor.shape());
                const auto g = got[k].tensor.values<float>();
                const auto w = want[k].tensor.values<float>();
                for (std::size_t i = 0; i < w.size(); ++i)
                    QVERIFY2(std::abs(g[i] - w[i]) <= 0.01F * (1 + std::abs(w[i])), want[k].name.c_str());
            }
        }
    }

    /// What is told are the casts, the operators and the weights of the file, not those of the main graph.
    void whatIsToldOfBodiesIsTheFiles()
    {
        QTemporaryDir folder;
        const QString data = QStringLiteral(HALFTONE_TEST_DATA "/onnx/");
        const auto told = [](const QStringList &arguments) {
            const CliOutcome outcome = callCli(arguments);
            return outcome.code == 0 ? json::parse(outcome.out.toStdString()) : json();
        };
        const QString made = folder.filePath(QStringLiteral("half.onnx"));
        if (callCli({"info", data + "edges.onnx"}).code == 3)
            QSKIP("this build was made without ONNX");
        const json converted
            = told({"convert", data + "edges.onnx", "--target", "float16", "--json", "--out", made});
        const json info = told({"info", made, "--json"});
        QCOMPARE(converted["casts"].get<int>(), 5);
        QCOMPARE(converted["casts_in_bodies"].get<int>(), 1);
        QCOMPARE(info["ops"]["Cast"].get<int>(), 5);
        const json census = told({"verify", made, "--target", "float16", "--json"});
        QCOMPARE(census["in_bodies"].get<int>(), 13);
        QVERIFY(census["differences"].empty());
        QCOMPARE(census["types"]["float16"]["operators"].get<int>(), 14);
        // An initializer of a branch, and what a node of the other holds.
        const json constants = told({"info", data + "constants.onnx", "--json"});
        QCOMPARE(constants["subgraph_params"]["count"].get<int>(), 2);
        QCOMPARE(constants["subgraph_params"]["elements"].get<int>(), 40);
        const CliOutcome text = callCli({"convert", data + "constants.onnx", "--target", "float16", "--out",
                                         folder.filePath(QStringLiteral("constants.onnx"))});
        QVERIFY2(text.out.contains("4 of 5 stored in a different type"), text.out.constData());
    }

    void theSampleIsAsAccurateAsNumpySays_data();
    void theSampleIsAsAccurateAsNumpySays();
    void theTaskIsJudgedByTheMetricAskedFor();
    void allOutputsAreEveryNodeAndTheHeadsAmongThem();
    void headsKeepTheirNamesThroughAConversion_data();
    void headsKeepTheirNamesThroughAConversion();
    void headsKeepTheirNamesInFilesOfOnnx();
    void batchesGiveWhatTheWholeGives();
    void examplesTakesTheFirstOnes();
    void backendsAgree();
    void randomParametersFollowTheSeed();
    void badInputIsOneLine_data();
    void badInputIsOneLine();
    void anUnknownOperatorEndsWithThreeAndItsName();
    void anAbsentBackendEndsWithThree();
    void backendsTellWhatTheMachineHas();
    void aTypeIsNativeWhereTheProcessorHasIt();
    void aProfileHasTheKeysOfItsContract();
    void aModelIsAsFastAsItself();
};

void TestCliRun::theSampleIsAsAccurateAsNumpySays_data()
{
    // resources/sample/emulate.py, which is NumPy alone: 99.33 %, 9.78 %, 99.33 % of 450.
    QTest::addColumn<QStringList>("policy");
    QTest::addColumn<int>("right");
    QTest::newRow("float32") << QStringList() << 447;
    QTest::newRow("all float16") << QStringList{"--policy", kSampleFolder + "all-float16.policy.json"} << 44;
    QTest::newRow("sum in float32") << QStringList{"--policy",
                                                   kSampleFolder + "all-float16-but-sum.policy.json"}
                                    << 447;
}

void TestCliRun::theSampleIsAsAccurateAsNumpySays()
{
    QFETCH(QStringList, policy);
    QFETCH(int, right);
    QTemporaryDir folder;
    QString model = kSample;
    if (!policy.isEmpty()) {
        QCOMPARE(callCli(QStringList{"convert", kSample, "--mode", "mxnet", "--out", folder.filePath("m")}
                         + policy)
                     .code,
                 0);
        model = folder.filePath("m-symbol.json");
    }
    const CliOutcome outcome = callCli({"run", model, "--inputs", kDigits, "--labels", kDigits, "--json"});
    QVERIFY2(outcome.code == 0, outcome.err.constData());
    const json report = outcome.json();
    QVERIFY(report.at("seconds").get<double>() > 0);
    const json &accuracy = report.at("accuracy");
    QCOMPARE(accuracy.at("examples").get<int>(), 450);
    QCOMPARE(static_cast<int>(std::lround(accuracy.at("top1").get<double>() * 450)), right);
    QVERIFY(accuracy.at("top5").get<double>() >= accuracy.at("top1").get<double>());
}

/// Its own outputs are right by definition; everything in float16 is not.
void TestCliRun::theTaskIsJudgedByTheMetricAskedFor()
{
    QTemporaryDir folder;
    const QString own = folder.filePath("own.npz");
    QCOMPARE(callCli(runOfTheSample({"--out", own})).code, 0);
    const auto taskOf = [&](const QString &metric) {
        const CliOutcome outcome = callCli(runOfTheSample({"--targets", own, "--metric", metric, "--json"}));
        return outcome.code == 0 ? outcome.json().at("task") : json(outcome.err.toStdString());
    };
    const json cosine = taskOf("cosine");
    QVERIFY2(std::abs(cosine.at("fp32").get<double>() - 1) < 1e-6, cosine.dump().c_str());
    QVERIFY(!cosine.at("guessed").get<bool>() && cosine.at("mixed").is_null());
    QCOMPARE(taskOf("psnr").at("fp32").get<std::string>(), std::string("inf"));
    QCOMPARE(callCli(runOfTheSample({"--metric", "f1"})).code, 2);
    QCOMPARE(callCli(runOfTheSample({"--metric", "top1", "--targets", own})).code, 2);
    const CliOutcome wrong = callCli(runOfTheSample({"--targets", folder.filePath("none.npz")}));
    QCOMPARE(wrong.code, 1);

    const QString policy = QString(kSampleFolder) + "/all-float16.policy.json";
    const CliOutcome compared = callCli({"compare", kSample, "--inputs", kDigits, "--policy", policy,
                                         "--metric", "cosine", "--targets", own, "--json"});
    QVERIFY2(compared.code == 0, compared.err.constData());
    const json task = compared.json().at("task");
    QVERIFY(task.at("mixed").get<double>() < 0.9);
    QVERIFY(std::abs(task.at("mixed").get<double>() - task.at("agree").get<double>()) < 1e-6);
}

void TestCliRun::allOutputsAreEveryNodeAndTheHeadsAmongThem()
{
    const auto heads = outputsOf(runOfTheSample());
    const auto all = outputsOf(runOfTheSample({"--outputs", "all", "--examples", "450"}));
    std::vector<std::string> names = namesOf(all);
    for (std::string &name : names)
        name = name.substr(0, name.find(':'));
    const json symbol = test::readJson(kSample.toStdString());
    const json *last = nullptr;
    for (const json &node : symbol.at("nodes")) {
        if (node.at("op") == "null")
            continue;
        QVERIFY2(std::ranges::count(names, node.at("name").get<std::string>()) >= 1, node.dump().c_str());
        last = &node;
    }
    QCOMPARE(heads.size(), std::size_t{1});
    const auto head = std::ranges::find(all, last->at("name").get<std::string>(), &io::NamedTensor::name);
    QVERIFY(head != all.end());
    QVERIFY(furthest(head->tensor, heads[0].tensor) == 0);
}

void TestCliRun::headsKeepTheirNamesThroughAConversion_data()
{
    QTest::addColumn<QString>("mode");
    QTest::addColumn<QString>("target");
    for (const char *mode : {"mxnet", "typed"})
        for (const char *target : {"float16", "bfloat16"})
            QTest::addRow("%s %s", mode, target) << QString(mode) << QString(target);
}

void TestCliRun::headsKeepTheirNamesThroughAConversion()
{
    QFETCH(QString, mode);
    QFETCH(QString, target);
    QTemporaryDir folder;
    // The last product in the target type: a cast stands behind the head, or the head itself is of 16 bit.
    const CliOutcome converted = callCli({"convert", kSample, "--mode", mode, "--target", target,
                                          "--target-op", "softmax", "--out", folder.filePath("m")});
    QVERIFY2(converted.code == 0, converted.err.constData());
    const auto source = namesOf(outputsOf(runOfTheSample()));
    const auto names = namesOf(outputsOf({"run", folder.filePath("m-symbol.json"), "--inputs", kDigits}));
    QCOMPARE(names, source);
}

void TestCliRun::headsKeepTheirNamesInFilesOfOnnx()
{
    QTemporaryDir folder;
    const QString model = QStringLiteral(HALFTONE_TEST_DATA "/ops/conv_basic/model-symbol.json");
    const QString data = QStringLiteral(HALFTONE_TEST_DATA "/ops/conv_basic/inputs.npz");
    const auto source = outputsOf({"run", model, "--inputs", data});
    for (const QStringList &target : {QStringList(), QStringList{"--target", "float16"}}) {
        const QString made = folder.filePath("m.onnx");
        const CliOutcome converted
            = callCli(QStringList{"convert", model, "--inputs", data, "--out", made} + target);
        if (converted.code == 3)
            QSKIP("this build was made without ONNX");
        QVERIFY2(converted.code == 0, converted.err.constData());
        const auto written = outputsOf({"run", made, "--inputs", data});
        QCOMPARE(namesOf(written), namesOf(source));
        QVERIFY(furthest(written[0].tensor, source[0].tensor) < (target.isEmpty() ? 1e-5 : 0.05));
    }
}

void TestCliRun::batchesGiveWhatTheWholeGives()
{
    const auto whole = outputsOf(runOfTheSample());
    const auto batches = outputsOf(runOfTheSample({"--batch", "64"})); // seven, and two over
    QCOMPARE(batches[0].tensor.shape(), whole[0].tensor.shape());
    QVERIFY(furthest(whole[0].tensor, batches[0].tensor) < 1e-5);
    QCOMPARE(callCli(runOfTheSample({"--batch", "64", "--json"})).json().at("batches").get<int>(), 8);
}

void TestCliRun::examplesTakesTheFirstOnes()
{
    const auto whole = outputsOf(runOfTheSample({"--backend", "reference"}));
    const auto few = outputsOf(runOfTheSample({"--backend", "reference", "--examples", "10"}));
    QCOMPARE(few[0].tensor.shape(), (Shape{10, 10}));
    std::vector<float> first = whole[0].tensor.values<float>();
    first.resize(100);
    QCOMPARE(few[0].tensor.values<float>(), first);
}

void TestCliRun::backendsAgree()
{
    const auto cpu = outputsOf(runOfTheSample({"--backend", "cpu"}));
    const auto reference = outputsOf(runOfTheSample({"--backend", "reference"}));
    QVERIFY(furthest(cpu[0].tensor, reference[0].tensor) < 1e-4);
}

void TestCliRun::randomParametersFollowTheSeed()
{
    const auto values = [](const char *seed) {
        return outputsOf(runOfTheSample({"--no-params", "--random-params", seed, "--examples", "4"}))[0]
            .tensor.values<float>();
    };
    const std::vector<float> first = values("7");
    QCOMPARE(values("7"), first);
    QVERIFY(values("8") != first);
    QVERIFY(std::ranges::all_of(first, [](float x) { return std::isfinite(x); }));
}

void TestCliRun::badInputIsOneLine_data()
{
    QTest::addColumn<QString>("inputs");
    QTest::addColumn<QByteArray>("part");
    QTest::newRow("no file") << QStringLiteral("missing.npz") << QByteArray("missing.npz");
    QTest::newRow("no archive") << QStringLiteral("text.npz") << QByteArray("text.npz");
    QTest::newRow("cut") << QStringLiteral("cut.npz") << QByteArray("cut.npz");
    QTest::newRow("wrong shape") << QStringLiteral("shape.npz") << QByteArray("(16, 3, 3, 3)");
    QTest::newRow("wrong rank") << QStringLiteral("rank.npz") << QByteArray("energy");
    QTest::newRow("unknown input") << QStringLiteral("name.npz") << QByteArray("did you mean data");
    QTest::newRow("its inputs") << QStringLiteral("name.npz") << QByteArray("one of its inputs: data");
    QTest::newRow("missing input") << QStringLiteral("labels.npz") << QByteArray("data");
}

void TestCliRun::badInputIsOneLine()
{
    QFETCH(QString, inputs);
    QFETCH(QByteArray, part);
    QTemporaryDir folder;
    writeFile(folder.filePath("text.npz"), "data: 1, 2, 3");
    writeFile(folder.filePath("cut.npz"),
              QByteArray::fromStdString(test::readFile(kDigits.toStdString())).left(3000));
    writeZeros(folder.filePath("shape.npz"), "data", Shape{2, 3, 8, 8});
    writeZeros(folder.filePath("rank.npz"), "data", Shape{2, 8});
    writeZeros(folder.filePath("name.npz"), "dat", Shape{2, 1, 8, 8});
    writeZeros(folder.filePath("labels.npz"), "labels", Shape{2});
    const QString out = folder.filePath("out.npz");
    const CliOutcome outcome
        = callCli({"run", kSample, "--inputs", folder.filePath(inputs), "--out", out, "--json"});
    QVERIFY2(outcome.code == 1, outcome.err.constData());
    QCOMPARE(outcome.out, QByteArray());
    QCOMPARE(outcome.err.count('\n'), 1);
    QVERIFY2(outcome.err.startsWith("error: ") && outcome.err.contains(part), outcome.err.constData());
    QVERIFY(!QFile::exists(out));
}

void TestCliRun::anUnknownOperatorEndsWithThreeAndItsName()
{
    QTemporaryDir folder;
    writeFile(folder.filePath("m-symbol.json"),
              R"({"nodes": [{"op": "null", "name": "data", "inputs": []},
                        {"op": "my_operator", "name": "mine", "inputs": [[0, 0, 0]]}],
              "arg_nodes": [0], "heads": [[1, 0, 0]], "attrs": {"mxnet_version": ["int", 10901]}})");
    writeZeros(folder.filePath("in.npz"), "data", Shape{2, 3});
    const CliOutcome outcome = callCli({"run", folder.filePath("m-symbol.json"), "--no-params", "--inputs",
                                        folder.filePath("in.npz"), "--json"});
    QCOMPARE(outcome.code, 3);
    const QByteArray last = outcome.err.trimmed().split('\n').last();
    QVERIFY2(last.startsWith("error: ") && last.contains("mine") && last.contains("my_operator"),
             outcome.err.constData());
}

void TestCliRun::anAbsentBackendEndsWithThree()
{
    const CliOutcome outcome = callCli(runOfTheSample({"--backend", "cuda"}));
    if (outcome.code == 0)
        QSKIP("this machine has it");
    QCOMPARE(outcome.code, 3);
    QVERIFY2(outcome.err.startsWith("error: ") && outcome.err.contains("cuda"), outcome.err.constData());
}

void TestCliRun::backendsTellWhatTheMachineHas()
{
    const json backends = callCli({"backends", "--json"}).json().at("backends");
    std::vector<std::string> names;
    for (const json &backend : backends) {
        names.push_back(backend.at("name").get<std::string>());
        QVERIFY(backend.contains("device") && backend.contains("why"));
        for (const auto &dtype : backend.at("dtypes").items()) {
            const std::vector<std::string> words{"native", "emulated", "no"};
            QVERIFY2(std::ranges::count(words, dtype.value().get<std::string>()) == 1, dtype.key().c_str());
        }
    }
    for (const char *name : {"cpu", "reference"})
        QVERIFY2(std::ranges::count(names, name) == 1, name);
    QVERIFY(callCli({"backends"}).out.contains("reference"));
}

/// A processor without VNNI adds products of codes in 16 bits, which saturate: they are computed in float32 there.
void TestCliRun::aTypeIsNativeWhereTheProcessorHasIt()
{
    const auto cpu = [] { return callCli({"backends", "--json"}).json().at("backends").at(0); };
    const json here = cpu();
    if (!here.at("why").get<std::string>().starts_with("oneDNN"))
        QSKIP("this build has no oneDNN");
    const std::string device = here.at("device");
    const auto wordOf = [&device](const char *extension) {
        return device.find(extension) == std::string::npos ? "emulated" : "native";
    };
    for (const char *type : {"int8", "uint8"})
        QCOMPARE(here.at("dtypes").at(type).get<std::string>(), std::string(wordOf("VNNI")));
    QCOMPARE(here.at("dtypes").at("bfloat16").get<std::string>(), std::string(wordOf("BF16")));
    if (device.find("FP16")
        == std::string::npos) // what has the instructions may still be found to compute otherwise
        QCOMPARE(here.at("dtypes").at("float16").get<std::string>(), std::string("emulated"));
    qputenv("DNNL_MAX_CPU_ISA", "AVX512_CORE"); // oneDNN's own switch
    const json older = cpu();
    const json profile
        = callCli({"profile", kSample, "--shape", "data=1,1,8,8", "--repeats", "1", "--json"}).json();
    qunsetenv("DNNL_MAX_CPU_ISA");
    for (const char *type : {"int8", "uint8", "bfloat16", "float16"}) {
        QCOMPARE(older.at("dtypes").at(type).get<std::string>(), std::string("emulated"));
        QCOMPARE(profile.at("native").at(type).get<bool>(), false);
    }
    QCOMPARE(profile.at("native").at("float32").get<bool>(), true);
}

void TestCliRun::aProfileHasTheKeysOfItsContract()
{
    const CliOutcome outcome = callCli({"profile", kSample, "--shape", "data=1,1,8,8", "--target", "bfloat16",
                                        "--versus-fp32", "--repeats", "20", "--warmup", "2", "--json"});
    if (outcome.code == 3)
        QSKIP("this build has no backend that measures");
    QVERIFY2(outcome.code == 0, outcome.err.constData());
    const json profile = outcome.json();
    for (const char *key : {"backend", "device", "native", "median_ms", "min_ms", "p95_ms", "layers",
                            "casts_us", "sum_of_layers_ms", "peak_bytes", "versus"})
        QVERIFY2(profile.contains(key), key);
    QVERIFY(profile.at("native").at("float32").is_boolean());
    QVERIFY(profile.at("min_ms").get<double>() > 0);
    QVERIFY(profile.at("min_ms").get<double>() <= profile.at("median_ms").get<double>());
    QVERIFY(profile.at("median_ms").get<double>() <= profile.at("p95_ms").get<double>());
    QVERIFY(profile.at("peak_bytes").get<double>() > 0);
    QVERIFY(!profile.at("layers").empty());
    for (const json &layer : profile.at("layers"))
        for (const char *key : {"names", "op", "dtype", "kernel", "median_us", "min_us"})
            QVERIFY2(layer.contains(key), key);
    const json &versus = profile.at("versus");
    QVERIFY(versus.at("median_ms").get<double>() > 0);
    QVERIFY(versus.at("ci95").at(0).get<double>() <= versus.at("ratio").get<double>());
    QVERIFY(versus.at("ratio").get<double>() <= versus.at("ci95").at(1).get<double>());
}

void TestCliRun::aModelIsAsFastAsItself()
{
    // One interval in twenty misses by its nature; three in a row would be a bias.
    QByteArray seen;
    for (int attempt = 0; attempt < 3; ++attempt) {
        const CliOutcome outcome = callCli({"profile", kSample, "--shape", "data=8,1,8,8", "--versus-fp32",
                                            "--repeats", "200", "--threads", "1", "--json"});
        if (outcome.code == 3)
            QSKIP("this build has no backend that measures");
        QVERIFY2(outcome.code == 0, outcome.err.constData());
        const json interval = outcome.json().at("versus").at("ci95");
        if (interval.at(0).get<double>() <= 1 && interval.at(1).get<double>() >= 1)
            return;
        seen += QByteArray::fromStdString(interval.dump());
    }
    QFAIL(seen.constData());
}

QTEST_GUILESS_MAIN(TestCliRun)
#include "tst_cli_run.moc"
