#include "core/io/arrays/npz.h"
#include "tests/support/call_cli.h"
#include "tests/support/sample_files.h"

#include <QByteArrayList>
#include <QTemporaryDir>
#include <QTest>

#include <algorithm>
#include <map>
#include <optional>

using namespace halftone;
using namespace halftone::test;
using tensor::DType;
using tensor::Shape;
using tensor::Tensor;

namespace {

/// data -> SliceChannel in two -> one `_plus_scalar` a name, which adds 10, 20, … to the first half. All are heads.
QByteArray symbolOf(const QByteArrayList &names)
{
    QByteArray nodes
        = R"({"op":"null","name":"data","inputs":[]},)"
          R"({"op":"SliceChannel","name":"half","attrs":{"num_outputs":"2"},"inputs":[[0,0,0]]})";
    QByteArray heads = "[1,0,0],[1,1,0]";
    for (int k = 0; k < names.size(); ++k) {
        nodes += R"(,{"op":"_plus_scalar","name":")" + names[k] + R"(","attrs":{"scalar":")"
            + QByteArray::number(10 * (k + 1)) + R"("},"inputs":[[1,0,0]]})";
        heads += ",[" + QByteArray::number(k + 2) + ",0,0]";
    }
    return R"({"nodes":[)" + nodes + R"(],"arg_nodes":[0],"heads":[)" + heads
        + R"(],"attrs":{"mxnet_version":["int",10901]}})";
}

} // namespace

/// Names that are odd, and labels that fit no class.
class TestCliNames : public QObject
{
    Q_OBJECT

private:
    std::optional<QTemporaryDir> m_folder;
    QString path(const char *name) const { return m_folder->filePath(name); }

    /// Keys and values of the first example as `run` writes them.
    std::map<std::string, float> valuesOf(const QStringList &more)
    {
        const CliOutcome outcome = callCli(
            QStringList{"run", path("m-symbol.json"), "--inputs", path("in.npz"), "--out", path("out.npz")}
            + more);
        if (outcome.code != 0)
            qFatal("%s", outcome.err.constData());
        std::map<std::string, float> values;
        for (const io::NamedTensor &array : io::readNpz(path("out.npz").toStdString()).value())
            values[array.name] = array.tensor.shape()[0] == 3 ? array.tensor.values<float>()[0] : -1;
        return values;
    }

private Q_SLOTS:
    void init()
    {
        m_folder.emplace();
        const std::vector<float> data{1, 2, 3, 4, 5, 6};
        const auto bytes = std::as_bytes(std::span(data));
        const io::NamedTensor array{
            "data", Tensor::owning(DType::F32, Shape{3, 2}, std::vector(bytes.begin(), bytes.end()))};
        QVERIFY(io::writeNpz(std::span(&array, 1), path("in.npz").toStdString()).ok());
    }

    void everyValueHasAKeyOfItsOwn_data()
    {
        using Values = std::map<std::string, float>;
        QTest::addColumn<QByteArrayList>("names");
        QTest::addColumn<Values>("expected");
        QTest::newRow("equal") << QByteArrayList{"x", "x", "x"}
                               << Values{{"half", 1}, {"half:1", 2}, {"x", 11}, {"x_1", 21}, {"x_2", 31}};
        QTest::newRow("as a further output")
            << QByteArrayList{"half:1", "half"}
            << Values{{"half", 1}, {"half:1", 2}, {"half:1_1", 11}, {"half_1", 21}};
        QTest::newRow("NUL") << QByteArrayList{
            R"(a\u0000b)", R"(a\u0000c)",
            "a"} << Values{{"half", 1}, {"half:1", 2}, {R"(a\x00b)", 11}, {R"(a\x00c)", 21}, {"a", 31}};
        QTest::newRow("as it is shown")
            << QByteArrayList{R"(a\u0000b)", R"(a\\x00b)"}
            << Values{{"half", 1}, {"half:1", 2}, {R"(a\x00b)", 11}, {R"(a\x00b_1)", 21}};
        QTest::newRow("as of bfloat16")
            << QByteArrayList{"a:bf16"} << Values{{"half", 1}, {"half:1", 2}, {"a:bf16_", 11}};
    }

    void everyValueHasAKeyOfItsOwn()
    {
        using Values = std::map<std::string, float>;
        QFETCH(QByteArrayList, names);
        QFETCH(Values, expected);
        writeFile(path("m-symbol.json"), symbolOf(names));
        QCOMPARE(valuesOf({"--outputs", "all"}), expected);
        QCOMPARE(valuesOf({"--outputs", "all", "--batch", "1"}), expected);
        QCOMPARE(valuesOf({}).size(), expected.size()); // the heads
    }

    void namesCannotSpeakToTheTerminal_data()
    {
        QTest::addColumn<QStringList>("arguments");
        const auto row = [](const char *arguments) {
            const QStringList all = QString(arguments).split(' ');
            QTest::newRow(qPrintable(all.front())) << all;
        };
        row("info @m-symbol.json");
        row("info @m-symbol.json --shape data=1,2,3");
        row("run @m-symbol.json --inputs @in.npz");
        row("run @m-symbol.json --inputs @other.npz");
        row("convert @m-symbol.json --out @new --target-op _plus_scalar");
        row("convert @m-symbol.json --out @new --int8-op _plus_scalar");
        row("compare @m-symbol.json --inputs @in.npz --target-op _plus_scalar");
        row("calibrate @m-symbol.json --inputs @in.npz");
        row("profile @m-symbol.json --shape data=3,2 --repeats 1");
        row("layout @m-symbol.json --fold none");
        row("quantize @m-symbol.json --inputs @in.npz --out @new");
        row("rewrite @m-symbol.json --pass share --out @new");
    }

    void namesCannotSpeakToTheTerminal()
    {
        QFETCH(QStringList, arguments);
        writeFile(path("m-symbol.json"),
                  symbolOf({R"(\u001b[2Jclear)",
                            "\xC2\x9B"
                            "2Jclear",
                            R"(bell\u0007)"}));
        const io::NamedTensor other{"\x1b[2Jdata",
                                    Tensor::owning(DType::F32, Shape{1}, std::vector<std::byte>(4))};
        QVERIFY(io::writeNpz(std::span(&other, 1), path("other.npz").toStdString()).ok());
        for (QString &argument : arguments)
            argument.replace('@', m_folder->path() + '/');
        const CliOutcome outcome = callCli(arguments);
        QVERIFY(outcome.code >= 0);
        const QByteArray shown = outcome.out + outcome.err;
        QVERIFY(!shown.isEmpty());
        const bool isClean = std::ranges::all_of(
            shown, [](char c) { return c == '\n' || (static_cast<unsigned char>(c) >= 0x20 && c != 0x7F); });
        QVERIFY2(isClean && !shown.contains("\xC2\x9B"), shown.toPercentEncoding(" \n:,").constData());
    }

    void labelsMayBeginWithAByteOrderMark()
    {
        QByteArray csv = "file,class_index\r\n";
        for (int k = 0; k < 450; ++k)
            csv += "x.png," + QByteArray::number(k % 10) + "\r\n";
        QStringList accuracy;
        for (const QByteArray &start : {QByteArray(), QByteArray("\xEF\xBB\xBF")}) {
            writeFile(path("labels.csv"), start + csv);
            const CliOutcome outcome
                = callCli({"run", kSample, "--inputs", kDigits, "--labels", path("labels.csv"), "--json"});
            QVERIFY2(outcome.code == 0, outcome.err.constData());
            accuracy << QString::fromStdString(outcome.json()["accuracy"].dump());
        }
        QCOMPARE(accuracy[0], accuracy[1]);
    }

    void aLabelThatIsNoClassIsRefused_data()
    {
        QTest::addColumn<QStringList>("command");
        QTest::newRow("run") << QStringList{"run", kSample};
        QTest::newRow("run in batches") << QStringList{"run", kSample, "--batch", "100"};
        QTest::newRow("compare") << QStringList{"compare", kSample};
        QTest::newRow("report") << QStringList{"report", kSample, "--out", "@r.html"};
    }

    void aLabelThatIsNoClassIsRefused()
    {
        QFETCH(QStringList, command);
        QByteArray csv = "file,class_index\n";
        for (int k = 0; k < 450; ++k)
            csv += "x.png," + QByteArray(k == 300 ? "10" : "9") + "\n";
        writeFile(path("labels.csv"), csv);
        command.replaceInStrings("@", m_folder->path() + '/');
        const CliOutcome outcome
            = callCli(command + QStringList{"--inputs", kDigits, "--labels", path("labels.csv")});
        QCOMPARE(outcome.code, 1);
        QCOMPARE(
            outcome.lastLine(),
            "error: " + path("labels.csv").toUtf8()
                + ": labels: class 10 of example 300, expected 0 to 9: the first output has 10 values an "
                  "example");
    }
};

QTEST_GUILESS_MAIN(TestCliNames)
#include "tst_cli_names.moc"
