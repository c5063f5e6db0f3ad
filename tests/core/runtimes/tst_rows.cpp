#include "core/runtimes/ask_python.h"
#include "core/runtimes/find_library.h"
#include "core/runtimes/node_names.h"
#include "core/runtimes/record.h"
#include "core/runtimes/refusal.h"
#include "tests/support/onnx_builder.h"

#include <QDir>
#include <QFile>
#include <QTemporaryDir>
#include <QTest>

using namespace halftone;
using tensor::DType;

namespace {

graph::Graph twoNodes()
{
    test::OnnxBuilder g(17);
    const graph::Entry x = g.input("x", "float32", "[2]");
    const graph::Entry a = g.op("Conv", "block/conv", {}, {x});
    return g.withHeads({g.op("Relu", "block/act", {}, {a})});
}

/// The name of the node that is found; "freed NAME" for that of its cast.
std::string foundFor(const char *name)
{
    const graph::Graph graph = twoNodes();
    const auto found = runtimes::NodeNames(graph).find(name);
    return !found ? std::string() : (found->isFreed ? "freed " : "") + graph.node(found->node).name;
}

void touch(const QString &path)
{
    QDir().mkpath(QFileInfo(path).path());
    QFile file(path);
    if (!file.open(QIODevice::WriteOnly))
        qFatal("cannot write %s", qPrintable(path));
}

} // namespace

/// What a runtime tells, read.
class RowsTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void namesAreFound_data();
    void namesAreFound();
    void eventsAreReadByRun();
    void codesCountForOperatorsOnCodes();
    void bodiesAreNoRowsOfTheirOwn();
    void executedNodesAreRead();
    void badRecordsAreErrors();
    void aLibraryIsFoundInAnEnvironment();
    void aScriptIsAskedForItsPackages();
    void aVariableIsFinal();
    void aRefusalIsOneLine();
};

void RowsTest::namesAreFound_data()
{
    QTest::addColumn<QByteArray>("name");
    QTest::addColumn<QByteArray>("node");
    const auto row = [](const char *name, const char *node) {
        QTest::newRow(name) << QByteArray(name) << QByteArray(node);
    };
    row("block/conv", "block/conv");
    row("block/conv_token_12", "block/conv");
    row("block/conv/WithoutBiases", "block/conv");
    row("block/act_nchwc", "block/act");
    row("InsertedPrecisionFreeCast_block/conv", "freed block/conv");
    row("InsertedPrecisionFreeCast_x", "freed x");
    row("InsertedPrecisionFreeCast_block/act_nchwc", "freed block/act");
    row("block/conv/ConvActivationFusion", "block/conv");
    row("block/conv_token_", "");
    row("elsewhere", "");
}

void RowsTest::namesAreFound()
{
    QFETCH(QByteArray, name);
    QFETCH(QByteArray, node);
    QCOMPARE(foundFor(name.constData()), node.toStdString());
}

void RowsTest::eventsAreReadByRun()
{
    const char *const text = R"([
{"cat":"Node","name":"a_kernel_time","ts":1,"dur":500,"args":{"op_name":"Conv","input_type_shape":[{"float16":[1]},{"float":[1]}]}},
{"cat":"Session","name":"model_run","ts":0,"dur":600},
{"cat":"Node","name":"a_fence_before","ts":700,"dur":1,"args":{"op_name":"Conv"}},
{"cat":"Node","name":"a_kernel_time","ts":701,"dur":7,"args":{"op_name":"Conv","input_type_shape":[{"float16":[1]},{"float":[1]}]}},
{"cat":"Node","name":"a_kernel_time","ts":709,"dur":2,"args":{"op_name":"Conv","input_type_shape":[]}},
{"cat":"Session","name":"model_run","ts":700,"dur":20}])";
    const auto record = runtimes::readEvents(text);
    QVERIFY(record.ok());
    QCOMPARE(record.value().rows.size(), std::size_t{2});
    QCOMPARE(record.value().rows[0].name, std::string("a"));
    QCOMPARE(record.value().rows[0].type, DType::F16);
    QCOMPARE(record.value().rows[0].told, std::string("float16, float"));
    QCOMPARE(record.value().rows[1].type, DType::Unknown);
    QCOMPARE(record.value().microseconds, (std::vector<std::vector<double>>{{7, 2}}));
}

void RowsTest::codesCountForOperatorsOnCodes()
{
    const char *const text = R"([{"name":"model_run"},
{"name":"a_kernel_time","ts":1,"dur":5,"args":{"op_name":"QLinearConcat","input_type_shape":[{"float":[]},{"uint8":[]}]}},
{"name":"b_kernel_time","ts":7,"dur":5,"args":{"op_name":"QuantizeLinear","input_type_shape":[{"float":[]},{"uint8":[]}]}},
{"name":"model_run"}])";
    const auto record = runtimes::readEvents(text);
    QVERIFY(record.ok());
    QCOMPARE(record.value().rows[0].type, DType::U8);
    QCOMPARE(record.value().rows[1].type, DType::F32);
}

void RowsTest::bodiesAreNoRowsOfTheirOwn()
{
    const char *const text = R"([{"name":"model_run"},
{"name":"before_kernel_time","ts":1,"dur":5,"args":{"op_name":"Relu"}},
{"name":"inner_kernel_time","ts":11,"dur":5,"args":{"op_name":"Relu"}},
{"name":"inner_kernel_time","ts":17,"dur":5,"args":{"op_name":"Relu"}},
{"name":"loop_kernel_time","ts":10,"dur":20,"args":{"op_name":"Loop"}},
{"name":"model_run"}])";
    const auto record = runtimes::readEvents(text);
    QVERIFY(record.ok());
    QCOMPARE(record.value().microseconds, (std::vector<std::vector<double>>{{5, 20}}));
}

void RowsTest::executedNodesAreRead()
{
    const char *const text = R"([[{"name":"a","type":"Convolution","execution":"brgconv_avx512_bf16","us":7},
{"name":"b","type":"MaxPool","execution":"jit_avx512_I8","us":1},
{"name":"c","type":"Softmax","execution":"ref_any_FP32","us":3}],
[{"name":"b","type":"MaxPool","execution":"jit_avx512_I8","us":2},
{"name":"a","type":"Convolution","execution":"brgconv_avx512_bf16","us":8}]])";
    const auto record = runtimes::readExecuted(text);
    QVERIFY(record.ok());
    QCOMPARE(record.value().rows.size(), std::size_t{3});
    QCOMPARE(record.value().rows[0].type, DType::BF16);
    QCOMPARE(record.value().rows[1].type, DType::I8);
    QCOMPARE(record.value().rows[2].type, DType::F32);
    QCOMPARE(record.value().microseconds, (std::vector<std::vector<double>>{{7, 1, 3}, {8, 2, 0}}));
}

void RowsTest::badRecordsAreErrors()
{
    for (const char *text :
         {"", "{}", "[", "[]", "[[]]", R"([{"name":"model_run"},{"name":"model_run"}])", "[1]"})
        for (const char *kind : {"ort", "openvino"})
            QVERIFY(!runtimes::readRecord(kind, text).ok());
}

void RowsTest::aLibraryIsFoundInAnEnvironment()
{
    const QTemporaryDir folder;
    touch(folder.path() + "/lib/python3.11/site-packages/onnxruntime/capi/libonnxruntime.so.1.22.0");
    touch(folder.path() + "/lib/python3.11/site-packages/openvino/libs/libopenvino_c.so.2641");
    qunsetenv("HALFTONE_ORT");
    qunsetenv("HALFTONE_OPENVINO");
    qputenv("VIRTUAL_ENV", folder.path().toUtf8());
    const auto ort = runtimes::findLibrary(runtimes::kinds()[0]);
    const auto openvino = runtimes::findLibrary(runtimes::kinds()[1]);
    qunsetenv("VIRTUAL_ENV");
    QCOMPARE(ort.version, std::string("1.22.0"));
    QCOMPARE(openvino.version, std::string("2026.4.1"));
}

/// As those of pyenv, which choose a Python somewhere else.
void RowsTest::aScriptIsAskedForItsPackages()
{
    const QTemporaryDir chosen;
    touch(chosen.path() + "/lib/python3.11/site-packages/onnxruntime/capi/libonnxruntime.so.1.99.0");
    const QTemporaryDir shims;
    const QString script = shims.filePath("python3");
    const auto write = [&](const QString &line) {
        QFile file(script);
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write(("#!/bin/sh\n" + line + "\n").toUtf8());
        file.close();
        QVERIFY(file.setPermissions(QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner));
    };
    write("test \"$1\" = -c && echo '" + chosen.path() + "'");
    qunsetenv("HALFTONE_ORT");
    const QByteArray path = qgetenv("PATH");
    const QByteArray home = qgetenv("HOME");
    qputenv("PATH", shims.path().toUtf8());
    qputenv("HOME", shims.path().toUtf8());
    const auto found = runtimes::findLibrary(runtimes::kinds()[0]);
    const auto asked = runtimes::askForLibrary(runtimes::kinds()[0], found);
    qputenv("PATH", path);
    qputenv("HOME", home);
    if (!found.file.empty())
        QSKIP("ONNX Runtime is installed for the loader");
    QVERIFY(found.mayBeAsked);
    QCOMPARE(asked.version, std::string("1.99.0"));
    write("exec sleep 60");
    QVERIFY(!runtimes::askedPrefix(script.toStdString(), std::chrono::milliseconds(50)));
}

void RowsTest::aVariableIsFinal()
{
    const QTemporaryDir folder;
    touch(folder.path() + "/lib/python3.11/site-packages/onnxruntime/capi/libonnxruntime.so.1.22.0");
    const QTemporaryDir empty;
    qputenv("VIRTUAL_ENV", folder.path().toUtf8());
    qputenv("HALFTONE_ORT", empty.path().toUtf8());
    const auto found = runtimes::findLibrary(runtimes::kinds()[0]);
    qunsetenv("VIRTUAL_ENV");
    qunsetenv("HALFTONE_ORT");
    QVERIFY(found.file.empty());
    QCOMPARE(found.tried, std::vector{empty.path().toStdString()});
}

void RowsTest::aRefusalIsOneLine()
{
    const Error error = runtimes::refusal(Errc::Unsupported, twoNodes(), "ONNX Runtime 1.22.0",
                                          "no kernel for\n  Conv(22) node 'block/conv'\n");
    QCOMPARE(error.where, std::string("block/conv"));
    QCOMPARE(error.found, std::string("ONNX Runtime 1.22.0: no kernel for Conv(22) node 'block/conv'"));
    const Error other = runtimes::refusal(Errc::Unsupported, twoNodes(), "OpenVINO", "block/convoy");
    QCOMPARE(other.where, std::string("OpenVINO"));
}

QTEST_GUILESS_MAIN(RowsTest)
#include "tst_rows.moc"
