#include "core/base/mapped_file.h"
#include "core/io/mxnet/symbol_json.h"
#include "tests/support/build_graph.h"

#include <QDir>
#include <QDirIterator>
#include <QElapsedTimer>
#include <QFile>
#include <QIODevice>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QJsonValue>
#include <QTest>

using namespace halftone;

namespace {

const QString kFormats = QStringLiteral(HALFTONE_TEST_DATA "/formats/symbol-json/");

QJsonObject jsonAt(const QString &path)
{
    QFile file(path);
    return file.open(QIODevice::ReadOnly) ? QJsonDocument::fromJson(file.readAll()).object() : QJsonObject();
}

Result<graph::Graph> read(std::string_view json)
{
    std::vector<std::string> notes;
    return io::readSymbol(json, notes);
}

Result<graph::Graph> readFile(const QString &path, std::vector<std::string> &notes)
{
    HALFTONE_TRY(const auto file, MappedFile::open(path.toStdString()));
    return io::readSymbol(file->text(), notes);
}

QJsonArray entry(const QJsonValue &value)
{
    QJsonArray numbers = value.toArray();
    if (numbers.size() == 2)
        numbers.append(0);
    return numbers;
}

QJsonArray entries(const QJsonValue &value)
{
    QJsonArray out;
    for (const QJsonValue &one : value.toArray())
        out.append(entry(one));
    return out;
}

/// A current symbol as a reader without MXNet sees it: what must come back from load and save.
QJsonObject meaning(const QJsonObject &symbol)
{
    QJsonArray nodes;
    for (const QJsonValue &value : symbol[QStringLiteral("nodes")].toArray()) {
        const QJsonObject node = value.toObject();
        QJsonObject kept{{QStringLiteral("op"), node[QStringLiteral("op")]},
                         {QStringLiteral("name"), node[QStringLiteral("name")]}};
        kept[QStringLiteral("attrs")] = node[QStringLiteral("attrs")].toObject();
        kept[QStringLiteral("inputs")] = entries(node[QStringLiteral("inputs")]);
        QJsonArray bodies;
        for (const QJsonValue &body : node[QStringLiteral("subgraphs")].toArray())
            bodies.append(meaning(body.toObject()));
        kept[QStringLiteral("subgraphs")] = bodies;
        nodes.append(kept);
    }
    return {{QStringLiteral("nodes"), nodes},
            {QStringLiteral("heads"), entries(symbol[QStringLiteral("heads")])},
            {QStringLiteral("arg_nodes"), symbol[QStringLiteral("arg_nodes")]},
            {QStringLiteral("node_row_ptr"), symbol[QStringLiteral("node_row_ptr")]}};
}

std::string variable(const std::string &name)
{
    return R"({"op":"null","name":")" + name + R"(","inputs":[]})";
}

std::string node(const std::string &op, const std::string &inputs, const std::string &rest = {})
{
    return R"({"op":")" + op + R"(","name":"n","inputs":)" + inputs + rest + "}";
}

/// A symbol of these nodes; the version as MXNet counts, none when 0.
std::string symbol(const std::vector<std::string> &nodes, int version = 10901, const std::string &rest = {})
{
    std::string text = R"({"nodes":[)";
    for (const std::string &one : nodes)
        text += (&one == &nodes.front() ? "" : ",") + one;
    text += R"(],"arg_nodes":[],"heads":[[)" + std::to_string(nodes.size() - 1) + ",0,0]]";
    if (version != 0)
        text += R"(,"attrs":{"mxnet_version":["int",)" + std::to_string(version) + "]}";
    return text + rest + "}";
}

std::vector<std::string> described(const graph::Graph &graph)
{
    std::vector<std::string> lines;
    for (graph::NodeId id = 0; id < graph.nodeCount(); ++id) {
        std::string line = graph.node(id).op + " " + graph.node(id).name;
        for (const auto &[key, value] : graph.node(id).attributes)
            line += " " + key + "=" + value;
        for (const graph::Entry &input : graph.inputs(id))
            line += " <" + std::to_string(input.node);
        lines.push_back(line);
    }
    return lines;
}

} // namespace

class TestSymbolJson : public QObject
{
    Q_OBJECT

private:
    /// Reads, writes, and compares by a reader that is not ours. Files whose version asks for an upgrade mean
    /// something else by design.
    void checkRoundTrip(const QString &path)
    {
        std::vector<std::string> notes;
        const auto graph = readFile(path, notes);
        QVERIFY2(graph.ok(),
                 qPrintable(path + QStringLiteral(": ")
                            + (graph.ok() ? QString() : QString::fromStdString(graph.error().message()))));
        const std::string written = io::writeSymbol(graph.value());
        const QJsonObject again = QJsonDocument::fromJson(QByteArray::fromStdString(written)).object();
        const QJsonObject source = jsonAt(path);
        const int version = source[QStringLiteral("attrs")][QStringLiteral("mxnet_version")][1].toInt();
        if (version >= 10901)
            QVERIFY2(meaning(again) == meaning(source), qPrintable(path));
        std::vector<std::string> ignored;
        const auto second = io::readSymbol(written, ignored);
        QVERIFY(second.ok());
        QVERIFY2(io::writeSymbol(second.value()) == written, qPrintable(path));
    }

private Q_SLOTS:
    void fixturesLoadOrAreRefusedAsRecorded_data()
    {
        QTest::addColumn<QJsonObject>("expected");
        const QJsonObject cases
            = jsonAt(kFormats + QStringLiteral("expected.json"))[QStringLiteral("cases")].toObject();
        QVERIFY(!cases.isEmpty());
        for (auto at = cases.begin(); at != cases.end(); ++at)
            QTest::newRow(qPrintable(at.key())) << at.value().toObject();
    }

    void fixturesLoadOrAreRefusedAsRecorded()
    {
        QFETCH(QJsonObject, expected);
        const QString name = QString::fromUtf8(QTest::currentDataTag());
        const QStringList readHereOnly{QStringLiteral("attrs_and_attr"), QStringLiteral("unknown_op")};
        std::vector<std::string> notes;
        const auto graph = readFile(kFormats + name + QStringLiteral(".json"), notes);
        const bool isGood
            = expected[QStringLiteral("result")] == QStringLiteral("ok") || readHereOnly.contains(name);
        QCOMPARE(graph.ok(), isGood);
        if (!graph.ok()) {
            QVERIFY(!graph.error().where.empty());
            return;
        }
        QCOMPARE(readHereOnly.contains(name),
                 !notes.empty() && name != QStringLiteral("newer_version")
                     && name != QStringLiteral("duplicate_names"));
        const QJsonArray nodes = expected[QStringLiteral("seen")][QStringLiteral("nodes")].toArray();
        for (int i = 0; i < nodes.size(); ++i) {
            const graph::NodeDef &def = graph.value().node(static_cast<graph::NodeId>(i));
            QCOMPARE(QString::fromStdString(def.op), nodes[i][0].toString());
            QCOMPARE(QString::fromStdString(def.name), nodes[i][1].toString());
            const QJsonObject attributes = nodes[i][2].toObject();
            QCOMPARE(def.attributes.size(), static_cast<std::size_t>(attributes.size()));
            for (const auto &[key, value] : def.attributes)
                QCOMPARE(QString::fromStdString(value), attributes[QString::fromStdString(key)].toString());
        }
    }

    void loadThenSaveKeepsTheMeaningOfEveryFixture()
    {
        int files = 0;
        QDirIterator at(QStringLiteral(HALFTONE_TEST_DATA), {QStringLiteral("*-symbol.json")}, QDir::Files,
                        QDirIterator::Subdirectories);
        while (at.hasNext()) {
            const QString path = at.next();
            if (path.contains(QStringLiteral("/malformed/")))
                continue;
            checkRoundTrip(path);
            ++files;
        }
        QVERIFY(files > 0);
    }

    void loadThenSaveKeepsTheMeaningOfEverySharedModel()
    {
        const QString shared = qEnvironmentVariable("HALFTONE_SHARED");
        if (shared.isEmpty())
            QSKIP("HALFTONE_SHARED is not set: the larger fixtures are not here");
        QDirIterator at(shared, {QStringLiteral("*-symbol.json")}, QDir::Files, QDirIterator::Subdirectories);
        while (at.hasNext())
            checkRoundTrip(at.next());
    }

    // What MXNet 1.9.1 made of these (each was loaded and written by it).
    void oldFilesAreUpgradedAsMxnetDoes_data()
    {
        using Lines = std::vector<std::string>;
        QTest::addColumn<std::string>("json");
        QTest::addColumn<Lines>("expected");
        const std::string bn3 = node("BatchNorm", "[[0,0],[1,0],[2,0]]", R"(,"param":{"eps":"0.001"})");
        const Lines start{"null data", "null g", "null b"};
        QTest::newRow("0.8 BatchNorm gets its statistics")
            << symbol({variable("data"), variable("g"), variable("b"), bn3}, 0)
            << Lines{"null data",
                     "null g",
                     "null b",
                     R"(null n_moving_mean __init__=["zero", {}] eps=0.001)",
                     R"(null n_moving_var __init__=["one", {}] eps=0.001)",
                     "BatchNorm n eps=0.001 <0 <1 <2 <3 <4"};
        const std::string bn5 = node("BatchNorm", "[[0,0],[1,0],[2,0],[3,0,1],[4,0,1]]");
        const std::vector<std::string> five{variable("data"), variable("g"), variable("b"),
                                            variable("m"),    variable("v"), bn5};
        QTest::newRow("0.9.3 statistics get initial values") << symbol(five, 903)
                                                             << Lines{"null data",
                                                                      "null g",
                                                                      "null b",
                                                                      R"(null m __init__=["zero", {}])",
                                                                      R"(null v __init__=["one", {}])",
                                                                      "BatchNorm n <0 <1 <2 <3 <4"};
        QTest::newRow("0.9.4 statistics stay")
            << symbol(five, 904)
            << Lines{"null data", "null g", "null b", "null m", "null v", "BatchNorm n <0 <1 <2 <3 <4"};
        QTest::newRow("0.8 PReLU")
            << symbol({variable("data"), node("LeakyReLU", "[[0,0]]", R"(,"param":{"act_type":"prelu"})")}, 0)
            << Lines{"null data", R"(null n_gamma __init__=["Constant", {"value": 0.25}] act_type=prelu)",
                     "LeakyReLU n act_type=prelu <0 <1"};
        const std::string argmax = node("argmax", "[[0,0]]", R"(,"param":{"axis":"-1"})");
        QTest::newRow("0.9.4 argmax")
            << symbol({variable("data"), argmax}, 904) << Lines{"null data", "argmax n <0"};
        QTest::newRow("0.9.5 argmax")
            << symbol({variable("data"), argmax}, 905) << Lines{"null data", "argmax n axis=-1 <0"};
        QTest::newRow("0.8 weights and biases")
            << symbol({variable("data"),
                       node("FullyConnected", "[[0,0]]", R"(,"attrs":{"num_hidden":"4","__lr_mult__":"2"})")},
                      800)
            << Lines{"null data", "null n_weight __lr_mult__=2 num_hidden=4",
                     "null n_bias __lr_mult__=2 num_hidden=4",
                     "FullyConnected n __lr_mult__=2 num_hidden=4 <0 <1 <2"};
    }

    void oldFilesAreUpgradedAsMxnetDoes()
    {
        QFETCH(std::string, json);
        QFETCH(std::vector<std::string>, expected);
        const auto graph = read(json);
        QVERIFY2(graph.ok(), graph.ok() ? "" : graph.error().message().c_str());
        QCOMPARE(described(graph.value()), expected);
    }

    void bareKeyOfANamedInputMovesOntoItsVariable()
    {
        const auto graph = read(symbol(
            {variable("data"), variable("w"),
             node("FullyConnected", "[[0,0],[1,0]]",
                  R"(,"attrs":{"num_hidden":"4","no_bias":"True","weight_lr_mult":"2","lr_mult":"9"})")},
            10300));
        QVERIFY(graph.ok());
        QCOMPARE(
            described(graph.value()),
            (std::vector<std::string>{"null data", "null w __lr_mult__=2",
                                      "FullyConnected n __lr_mult__=9 no_bias=True num_hidden=4 <0 <1"}));
    }

    void controlDependenciesSurvive()
    {
        const auto graph = read(symbol({variable("a"), node("relu", "[[0,0,0]]", R"(,"control_deps":[0])")}));
        QVERIFY(graph.ok());
        const auto again = read(io::writeSymbol(graph.value()));
        QCOMPARE(again.value().controlDependencies(1).size(), std::size_t{1});
        QCOMPARE(again.value().controlDependencies(1)[0], 0U);
    }

    void metadataAndVersionOfANewerMxnetSurvive()
    {
        const std::string extra
            = R"({"mxnet_version":["int",20000],"is_np_shape":["int",1],"other":{"a":[1,"x",{"b":null}],"c":true}})";
        const std::string text = symbol({variable("a")}, 0, R"(,"attrs":)" + extra);
        const auto written
            = QJsonDocument::fromJson(QByteArray::fromStdString(io::writeSymbol(read(text).value())))
                  .object();
        QCOMPARE(written[QStringLiteral("attrs")].toObject(),
                 QJsonDocument::fromJson(QByteArray::fromStdString(extra)).object());
    }

    void namesWithQuotesAndControlCharactersSurvive()
    {
        const auto def = test::nodeOf("null", "a\"\\\n\t\x01ü");
        graph::Graph graph = test::emptyGraph();
        graph.add(def, {});
        graph.setHeads({{0, 0, 0}});
        QCOMPARE(read(io::writeSymbol(graph)).value().node(0).name, def->name);
    }

    void unknownOperatorIsKeptWhole()
    {
        std::vector<std::string> notes;
        const std::string text
            = symbol({variable("a"),
                      node("Mystery", "[[0,0,0]]",
                           R"(,"attrs":{"x":"1"},"subgraphs":[)" + symbol({variable("i")}, 0) + "]"),
                      R"({"op":"relu","name":"r","inputs":[[1,3,0]]})"});
        const auto graph = io::readSymbol(text, notes);
        QVERIFY(graph.ok());
        QCOMPARE(notes,
                 std::vector<std::string>{"operators unknown to MXNet 1.9.1, kept unchanged: Mystery (1)"});
        const graph::NodeDef &def = graph.value().node(1);
        QCOMPARE(def.op, std::string("Mystery"));
        QCOMPARE(*def.attributes.find("x"), std::string("1"));
        QCOMPARE(def.subgraphs.size(), std::size_t{1});
        QCOMPARE(graph.value().inputs(2)[0].output, 3U);
    }

    void errorsNameThePlaceAndWhatIsThere_data()
    {
        QTest::addColumn<std::string>("json");
        QTest::addColumn<std::string>("message");
        const std::string a = variable("a");
        const auto row = [](const char *name, const std::string &json, const char *message) {
            QTest::newRow(name) << json << std::string(message);
        };
        row("2^32", symbol({a, node("relu", "[[4294967296,0,0]]")}),
            "nodes[1].inputs[0][0]: 4294967296, expected a whole number from 0 to 4294967295");
        row("2^31", symbol({a, node("relu", "[[2147483648,0,0]]")}),
            "nodes[1].inputs[0]: node 2147483648 of 2, expected the id of an earlier node");
        row("1.5", symbol({a, node("relu", "[[1.5,0,0]]")}),
            "nodes[1].inputs[0][0]: 1.5, expected a whole number from 0 to 4294967295");
        row("1e30", symbol({a, node("relu", "[[1e30,0,0]]")}),
            "nodes[1].inputs[0][0]: 1e30, expected a whole number from 0 to 4294967295");
        row("one number", symbol({a, node("relu", "[[0]]")}),
            "nodes[1].inputs[0]: 1 numbers, expected [node, output] or [node, output, version]");
        row("four numbers", symbol({a, node("relu", "[[0,0,0,0]]")}),
            "nodes[1].inputs[0]: more than 3 numbers, expected [node, output] or [node, output, version]");
        row("name is a number", symbol({R"({"op":"null","name":7,"inputs":[]})"}),
            "nodes[0].name: 7, expected a string");
        row("inputs is an object", symbol({R"({"op":"null","name":"a","inputs":{}})"}),
            "nodes[0].inputs: an object, expected a list");
        row("two names", symbol({R"({"op":"null","name":"a","name":"b","inputs":[]})"}),
            "nodes[0].name: duplicate key");
        row("variable with inputs", symbol({a, node("null", "[[0,0,0]]")}),
            "nodes[1].inputs: inputs of the variable \"n\", expected none");
        row("output of a variable", symbol({a, node("relu", "[[0,1,0]]")}),
            "nodes[1].inputs[0]: output 1 of null \"a\", expected less than its 1 outputs");
        row("too many inputs", symbol({a, node("relu", "[[0,0,0],[0,0,0]]")}),
            "nodes[1].inputs: relu \"n\" with 2 inputs, expected 1");
        row("control_deps", symbol({a, node("relu", "[[0,0,0]]", R"(,"control_deps":[1])")}),
            "nodes[1].control_deps[0]: node 1, which is \"n\" itself, expected the id of an earlier node");
        row("in a subgraph",
            symbol({a, node("M", "[]", R"(,"subgraphs":[)" + symbol({node("relu", "[[0,0,0]]")}, 0) + "]")}),
            "nodes[1].subgraphs[0].nodes[0].inputs[0]: node 0, which is \"n\" itself, expected the id of an "
            "earlier node");
        row("no heads", R"({"nodes":[],"arg_nodes":[],"heads":[]})",
            "heads: no outputs, expected at least one");
        row("bad version", symbol({a}, 0, R"(,"attrs":{"mxnet_version":"1.9"})"),
            "attrs.mxnet_version: \"1.9\", expected [\"int\", number]");
        row("billions of outputs",
            symbol({a, node("SliceChannel", "[[0,0,0]]", R"(,"attrs":{"num_outputs":"2000000000"})")}),
            "nodes[1]: SliceChannel \"n\" with 65536 outputs or more, expected fewer");
        row("unknown output index", symbol({a, node("M", "[[0,0,0]]"), node("relu", "[[1,4294967295,0]]")}),
            "nodes[1]: M \"n\" with 4294967296 outputs, expected at most 1048576 in a graph");
    }

    void errorsNameThePlaceAndWhatIsThere()
    {
        QFETCH(std::string, json);
        QFETCH(std::string, message);
        const auto graph = read(json);
        QVERIFY(!graph.ok());
        QCOMPARE(graph.error().message(), message);
    }
};

QTEST_APPLESS_MAIN(TestSymbolJson)
#include "tst_symbol_json.moc"
