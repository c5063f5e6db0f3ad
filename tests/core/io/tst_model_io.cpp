#include "core/io/model_io.h"

#include <sys/stat.h>

#include <QTemporaryDir>
#include <QTest>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>

using namespace halftone;
namespace fs = std::filesystem;

namespace {

const std::string kModel = HALFTONE_TEST_DATA "/formats/symbol-json/plain.json"; // data, w -> fc
const std::string kParams = HALFTONE_TEST_DATA "/formats/params/v2_dense.params"; // arg:w

std::string bytesOf(const std::string &path)
{
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

/// The model of `loaded` with `value` in its weights and in an attribute.
graph::Model numbered(const io::LoadedModel &loaded, std::uint8_t value)
{
    graph::Model model = loaded.model;
    tensor::Array &array = model.parameters.at(0);
    std::vector<std::byte> bytes(array.values.bytes().size(), std::byte{value});
    array.values = tensor::Tensor::owning(array.values.dtype(), array.values.shape(), std::move(bytes));
    graph::NodeDef def = model.graph.node(0);
    def.attributes.set("__number__", std::to_string(value));
    model.graph.redefine(0, std::make_shared<const graph::NodeDef>(std::move(def)));
    return model;
}

/// Do symbol and parameters bear the same number?
bool isWhole(const graph::Model &model)
{
    const std::string *const number = model.graph.node(0).attributes.find("__number__");
    const auto bytes = model.parameters.at(0).values.bytes();
    return number != nullptr && *number == std::to_string(std::to_integer<int>(bytes.front()));
}

} // namespace

class TestModelIo : public QObject
{
    Q_OBJECT

private:
    std::unique_ptr<QTemporaryDir> m_folder;
    std::string path(const char *name) const
    {
        return m_folder->filePath(QString::fromUtf8(name)).toStdString();
    }

private Q_SLOTS:
    void init()
    {
        m_folder = std::make_unique<QTemporaryDir>();
        fs::copy_file(kModel, path("net-symbol.json"));
    }

    void theHighestEpochBesideTheSymbolIsTaken()
    {
        for (const char *name : {"net-0000.params", "net-0010.params", "net-0009.params", "other-0099.params",
                                 "net-x.params", "net-.params"})
            fs::copy_file(kParams, path(name));
        const auto loaded = io::loadModel(path("net-symbol.json"));
        QVERIFY(loaded.ok());
        QCOMPARE(loaded.value().paramsPath, path("net-0010.params"));
        QCOMPARE(loaded.value().modelPath, path("net-symbol.json"));
        QCOMPARE(loaded.value().model.parameters.size(), std::size_t{1});
        QVERIFY(loaded.value().model.hasParameters);
        QCOMPARE(loaded.value().notes, std::vector<std::string>());
    }

    void parametersCanBeNamedOrLeftOut()
    {
        fs::copy_file(kParams, path("net-0000.params"));
        fs::copy_file(kParams, path("elsewhere"));
        io::LoadOptions options;
        options.params = path("elsewhere");
        QCOMPARE(io::loadModel(path("net-symbol.json"), options).value().paramsPath, path("elsewhere"));
        options.params = "none";
        QVERIFY(!io::loadModel(path("net-symbol.json"), options).value().model.hasParameters);
        options = {};
        options.noParams = true;
        QVERIFY(!io::loadModel(path("net-symbol.json"), options).value().model.hasParameters);
        options = {};
        options.params = path("missing");
        const auto missing = io::loadModel(path("net-symbol.json"), options);
        QVERIFY(!missing.ok());
        QCOMPARE(missing.error().message(), path("missing") + ": cannot open: No such file or directory");
    }

    void aMissingParameterFileIsOnlyNoted()
    {
        const auto loaded = io::loadModel(path("net-symbol.json"));
        QCOMPARE(loaded.value().notes,
                 std::vector<std::string>{"no parameter file next to the symbol: loaded without parameters"});
    }

    void aBareParameterFileLoadsWhateverItsName()
    {
        fs::copy_file(kParams, path("weights.bin"));
        io::LoadOptions options;
        options.takesParametersAlone = true;
        const auto loaded = io::loadModel(path("weights.bin"), options);
        QCOMPARE(loaded.value().model.graph.nodeCount(), std::size_t{0});
        QCOMPARE(loaded.value().modelPath, std::string());
        QCOMPARE(loaded.value().paramsPath, path("weights.bin"));
        QCOMPARE(loaded.value().model.parameters[0].name, std::string("arg:w"));
    }

    void aBareParameterFileIsNoModel()
    {
        const auto loaded = io::loadModel(kParams);
        QVERIFY(!loaded.ok());
        QCOMPARE(loaded.error().message(),
                 kParams
                     + ": parameters without a graph, expected a model: "
                       "MODEL.onnx, NAME-symbol.json, MODEL.tflite");
    }

    void mismatchesAreNotedInBothDirections()
    {
        fs::copy_file(HALFTONE_TEST_DATA "/formats/params/mixed_versions.params", path("net-0000.params"));
        const auto loaded = io::loadModel(path("net-symbol.json"));
        QVERIFY(loaded.ok());
        QCOMPARE(loaded.value().notes.size(), std::size_t{2});
        QVERIFY(loaded.value().notes[0].starts_with("unused parameters: a, b"));
        QCOMPARE(loaded.value().notes[1],
                 std::string("variables without parameters, treated as inputs: data, w"));
    }

    void whatIsNoModelIsRefusedWithItsPath()
    {
        std::ofstream(path("page.json")) << "<!DOCTYPE html><html></html>";
        std::ofstream(path("net.onnx")) << std::string("\x08\x07\x12\x07pytorch");
        QCOMPARE(::mkfifo(path("pipe").c_str(), 0600), 0);
        const auto page = io::loadModel(path("page.json"));
        QVERIFY(page.error().message().starts_with(path("page.json") + ": byte 0: a web page"));
        QVERIFY(io::loadModel(path("net.onnx"))
                    .error()
                    .message()
                    .starts_with(path("net.onnx") + ": ")); // no graph
        QVERIFY(io::loadModel(path("pipe")).error().message().ends_with("a pipe, expected a regular file"));
        QVERIFY(io::loadModel(m_folder->path().toStdString())
                    .error()
                    .message()
                    .ends_with("a folder, expected a regular file"));
    }

    void brokenParametersNameTheirFile()
    {
        std::ofstream(path("net-0000.params")) << "garbage, not parameters";
        const auto loaded = io::loadModel(path("net-symbol.json"));
        QVERIFY(!loaded.ok());
        QCOMPARE(loaded.error().file, path("net-0000.params"));
    }

    void savingWritesBothFilesAndLoadingThemGivesTheModelAgain()
    {
        fs::copy_file(kParams, path("net-0000.params"));
        const auto loaded = io::loadModel(path("net-symbol.json"));
        const auto written = io::saveModel(loaded.value().model, path("out"), loaded.value());
        QVERIFY(written.ok());
        QCOMPARE(written.value(), (std::vector{path("out-symbol.json"), path("out-0000.params")}));
        QVERIFY(bytesOf(path("out-0000.params")) == bytesOf(kParams));
        const auto again = io::loadModel(path("out-symbol.json"));
        QCOMPARE(again.value().model.graph.nodeCount(), loaded.value().model.graph.nodeCount());
    }

    void withoutParametersOnlyTheSymbolIsWritten()
    {
        const auto loaded = io::loadModel(path("net-symbol.json"));
        const auto written = io::saveModel(loaded.value().model, path("out"), loaded.value());
        QCOMPARE(written.value(), std::vector{path("out-symbol.json")});
        QVERIFY(!fs::exists(path("out-0000.params")));
    }

    void theSourceIsNeverWrittenOverWhateverItIsCalled()
    {
        fs::copy_file(kParams, path("net-0000.params"));
        const auto loaded = io::loadModel(path("net-symbol.json"));
        fs::create_symlink(path("net-symbol.json"), path("soft-symbol.json"));
        fs::create_hard_link(path("net-0000.params"), path("hard-0000.params"));
        for (const char *prefix : {"net", "soft", "hard"}) {
            const auto written = io::saveModel(loaded.value().model, path(prefix), loaded.value());
            QVERIFY2(!written.ok(), prefix);
            QVERIFY(written.error().code == Errc::BadCall);
        }
        QVERIFY(bytesOf(path("net-symbol.json")) == bytesOf(kModel));
        QVERIFY(!fs::exists(path("hard-symbol.json")));
    }

    void aPairOfTwoRunsIsRefused_data()
    {
        QTest::addColumn<QString>("symbol");
        QTest::addColumn<QString>("params");
        QTest::addColumn<bool>("fits");
        QTest::newRow("first run") << "one"
                                   << "one" << true;
        QTest::newRow("second run") << "two"
                                    << "two" << true;
        QTest::newRow("new symbol, old parameters") << "two"
                                                    << "one" << false;
        QTest::newRow("old symbol, new parameters") << "one"
                                                    << "two" << false;
        QTest::newRow("new symbol, parameters of others") << "two"
                                                          << "net" << false;
        QTest::newRow("symbol of others") << "net"
                                          << "two" << true; // no mark: as ever
    }

    void aPairOfTwoRunsIsRefused()
    {
        QFETCH(QString, symbol);
        QFETCH(QString, params);
        QFETCH(bool, fits);
        fs::copy_file(kParams, path("net-0000.params"));
        const io::LoadedModel source = io::loadModel(path("net-symbol.json")).value();
        QVERIFY(io::saveModel(numbered(source, 1), path("one"), source).ok());
        QVERIFY(io::saveModel(numbered(source, 2), path("two"), source).ok());
        fs::copy_file(path(qPrintable(symbol + "-symbol.json")), path("pair-symbol.json"));
        fs::copy_file(path(qPrintable(params + "-0000.params")), path("pair-0000.params"));
        const auto loaded = io::loadModel(path("pair-symbol.json"));
        QCOMPARE(loaded.ok(), fits);
        if (fits) {
            QCOMPARE(loaded.value().notes, std::vector<std::string>());
            QCOMPARE(loaded.value().model.graph.metadata().find("halftone_params"), nullptr);
            return;
        }
        QCOMPARE(loaded.error().code, Errc::BadInput);
        QCOMPARE(loaded.error().file, path("pair-0000.params"));
        io::LoadOptions named;
        named.params = path("pair-0000.params"); // somebody means it
        QCOMPARE(io::loadModel(path("pair-symbol.json"), named).value().notes,
                 std::vector<std::string>{"the symbol was exported with a different parameter file"});
    }

    void theMarkHoldsForOneFileAndGoesWithIt()
    {
        fs::copy_file(kParams, path("net-0000.params"));
        const io::LoadedModel source = io::loadModel(path("net-symbol.json")).value();
        QVERIFY(io::saveModel(source.model, path("out"), source).ok());
        // XXH64 of the file's bytes, as xxhsum prints it.
        QVERIFY(bytesOf(path("out-symbol.json"))
                    .find("\"halftone_params\": [\"str\", \"xxh64:595bf77589251f9a\"]")
                != std::string::npos);
        io::LoadedModel again = io::loadModel(path("out-symbol.json")).value();
        again.model.hasParameters = false;
        QVERIFY(io::saveModel(again.model, path("bare"), again).ok());
        QVERIFY(bytesOf(path("bare-symbol.json")).find("halftone") == std::string::npos);
    }

    void aSymbolWrittenAloneTakesNoParametersThatLieThere()
    {
        fs::copy_file(kParams, path("net-0000.params"));
        io::LoadedModel source = io::loadModel(path("net-symbol.json")).value();
        QVERIFY(io::saveModel(numbered(source, 1), path("out"), source).ok());
        source.model.hasParameters = false;
        QVERIFY(io::saveModel(source.model, path("out"), source).ok());
        const auto mixed = io::loadModel(path("out-symbol.json"));
        QVERIFY(!mixed.ok());
        QCOMPARE(mixed.error().file, path("out-0000.params"));
        fs::remove(path("out-0000.params"));
        QVERIFY(io::loadModel(path("out-symbol.json")).ok());
    }

    void aSecondWriterIsToldAndNothingIsMixed()
    {
        fs::copy_file(kParams, path("net-0000.params"));
        const io::LoadedModel source = io::loadModel(path("net-symbol.json")).value();
        const auto claimed = io::ModelOutput::claim(path("out"), *io::formatNamed("mxnet"));
        QVERIFY(claimed.ok());
        const auto refused = io::saveModel(source.model, path("out"), source);
        QVERIFY(!refused.ok());
        QVERIFY2(refused.error().message().find("is writing this file") != std::string::npos,
                 refused.error().message().c_str());
        QVERIFY(!fs::exists(path("out-symbol.json")));
        QVERIFY(io::saveModel(source.model, claimed.value(), source).ok());
    }

    void aPrefixNeedsAName()
    {
        for (const std::string &prefix :
             {std::string(), std::string("/"), path("x") + "/../", path("."), path("..")}) {
            const auto claimed = io::ModelOutput::claim(prefix, *io::formatNamed("mxnet"));
            QVERIFY2(!claimed.ok(), prefix.c_str());
            QCOMPARE(claimed.error().code, Errc::BadCall);
        }
    }

    void readersNeverGetAPairOfTwoRuns()
    {
        fs::copy_file(kParams, path("net-0000.params"));
        const io::LoadedModel source = io::loadModel(path("net-symbol.json")).value();
        QVERIFY(io::saveModel(numbered(source, 0), path("out"), source).ok());
        std::atomic<bool> stop = false;
        std::atomic<int> written = 0;
        const auto writeOn = [&](std::uint8_t number) {
            for (; !stop; number = static_cast<std::uint8_t>(number + 2))
                written += io::saveModel(numbered(source, number), path("out"), source).ok() ? 1 : 0;
        };
        std::jthread odd(writeOn, std::uint8_t{1});
        std::jthread even(writeOn, std::uint8_t{2});
        int whole = 0;
        int mixed = 0;
        for (int k = 0; k < 2000 && (k < 200 || written < 20); ++k) {
            const auto loaded = io::loadModel(path("out-symbol.json"));
            whole += loaded.ok() && isWhole(loaded.value().model) ? 1 : 0;
            mixed += loaded.ok() && !isWhole(loaded.value().model) ? 1 : 0;
        }
        stop = true;
        QCOMPARE(mixed, 0);
        QVERIFY(whole > 100);
        QVERIFY(written > 0);
    }

    void whenOneOutputIsImpossibleNoneIsWritten()
    {
        fs::copy_file(kParams, path("net-0000.params"));
        const auto loaded = io::loadModel(path("net-symbol.json"));
        fs::create_directory(path("out-0000.params"));
        QVERIFY(!io::saveModel(loaded.value().model, path("out"), loaded.value()).ok());
        QVERIFY(!fs::exists(path("out-symbol.json")));
        QVERIFY(!io::saveModel(loaded.value().model, path("missing/out"), loaded.value()).ok());
    }
};

QTEST_APPLESS_MAIN(TestModelIo)
#include "tst_model_io.moc"
