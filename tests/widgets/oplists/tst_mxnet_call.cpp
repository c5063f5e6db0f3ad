#include "tests/widgets/models/sample_document.h"
#include "widgets/oplists/mxnet_call.h"
#include "widgets/oplists/onnx_call.h"

#include <QFileInfo>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QJsonValue>
#include <QProcess>
#include <QProcessEnvironment>
#include <QTemporaryDir>
#include <QTest>

#include <algorithm>

using namespace halftone;
using namespace halftone::widgets;

class TestMxnetCall : public QObject
{
    Q_OBJECT

private:
    static QString callAfter(const std::vector<policy::Edit> &edits)
    {
        const auto document = test::openSample();
        for (const policy::Edit &edit : edits) {
            if (!document->apply(edit).ok())
                qFatal("the edit was refused");
        }
        return mxnetCall(*test::snapshotOf(*document));
    }

    static QString onnxCallAfter(const std::vector<policy::Edit> &edits)
    {
        auto opened = session::Document::open(HALFTONE_SOURCE_DIR "/tests/data/onnx/network.onnx");
        if (!opened.ok())
            qFatal("the network does not open");
        for (const policy::Edit &edit : edits) {
            if (!opened.value()->apply(edit).ok())
                qFatal("the edit was refused");
        }
        return onnxCall(*test::snapshotOf(*opened.value()));
    }

    /// The keyword arguments of the call, as Python itself reads them; of sums and products the last term.
    static QJsonObject argumentsIn(const QString &program)
    {
        static const char *const kReader
            = "import ast, json, sys\n"
              "tree = ast.parse(sys.stdin.read())\n"
              "call = [n for n in ast.walk(tree) if isinstance(n, ast.Call) and isinstance(n.func, "
              "ast.Attribute)\n"
              "        and n.func.attr in ('convert_model', 'convert_float_to_float16', 'run')][0]\n"
              "value = lambda v: ast.literal_eval(v.right if isinstance(v, ast.BinOp) else v)\n"
              "print(json.dumps({k.arg: value(k.value) for k in call.keywords}))\n";
        QProcess python;
        python.start(QStringLiteral("python3"), {QStringLiteral("-c"), QLatin1String(kReader)});
        python.write(program.toUtf8());
        python.closeWriteChannel();
        if (!python.waitForFinished(20000) || python.exitCode() != 0)
            qFatal("Python refuses the program: %s", python.readAllStandardError().constData());
        return QJsonDocument::fromJson(python.readAllStandardOutput()).object();
    }

    static QStringList strings(const QJsonValue &list)
    {
        QStringList texts;
        for (const QJsonValue &one : list.toArray())
            texts << one.toString();
        return texts;
    }

private Q_SLOTS:
    void initTestCase()
    {
        QProcess python;
        python.start(QStringLiteral("python3"), {QStringLiteral("--version")});
        if (!python.waitForFinished(20000))
            QSKIP("needs python3 to read the program");
    }

    void untouchedListsAreLeftToMxnet()
    {
        const QJsonObject arguments = argumentsIn(callAfter({}));
        QCOMPARE(arguments.keys(), QStringList({"target_dtype"}));
        QCOMPARE(arguments["target_dtype"].toString(), QStringLiteral("float16"));
    }

    void theTargetTypeIsSaid()
    {
        QCOMPARE(argumentsIn(callAfter({policy::SetTarget{tensor::DType::BF16}}))["target_dtype"].toString(),
                 QStringLiteral("bfloat16"));
    }

    // MXNet 1.9.1's float16 target list is Convolution, Deconvolution, FullyConnected, RNN (resources/oplists).
    void aMovedOperatorLeavesOneListAndJoinsTheOther()
    {
        const QJsonObject arguments
            = argumentsIn(callAfter({policy::MoveOperators{{"Convolution"}, policy::List::Fp32}}));
        QCOMPARE(strings(arguments["target_dtype_ops"]),
                 QStringList({"Deconvolution", "FullyConnected", "RNN"}));
        const QStringList fp32 = strings(arguments["fp32_ops"]);
        QCOMPARE(fp32.count(QStringLiteral("Convolution")), 1);
        QVERIFY(fp32.contains(QStringLiteral("softmax")));
        QVERIFY(!arguments.contains(QStringLiteral("conditional_fp32_ops")));
    }

    void aNeutralOperatorIsInNoList()
    {
        const QJsonObject arguments
            = argumentsIn(callAfter({policy::MoveOperators{{"Convolution"}, policy::List::Neutral}}));
        QVERIFY(!strings(arguments["target_dtype_ops"]).contains(QStringLiteral("Convolution")));
        QVERIFY(!arguments.contains(QStringLiteral("fp32_ops")));
    }

    void conditionsAreTriples()
    {
        const QJsonObject arguments = argumentsIn(
            callAfter({policy::SetConditions{"Activation", {{"Activation", "act_type", {"relu", "tanh"}}}}}));
        bool isFound = false;
        for (const QJsonValue &rule : arguments["conditional_fp32_ops"].toArray()) {
            const QJsonArray triple = rule.toArray();
            if (triple.at(0).toString() != QStringLiteral("Activation"))
                continue;
            isFound = true;
            QCOMPARE(triple.at(1).toString(), QStringLiteral("act_type"));
            QCOMPARE(strings(triple.at(2)), QStringList({"relu", "tanh"}));
        }
        QVERIFY(isFound);
    }

    void patternsAndOverridesBecomeNames()
    {
        const QString call = callAfter({policy::ExcludeNames{{"/^stage1_.*conv$/"}},
                                        policy::OverrideNodes{{"fc"}, tensor::DType::F32},
                                        policy::OverrideNodes{{"prob"}, tensor::DType::F16}});
        QCOMPARE(strings(argumentsIn(call)["excluded_sym_names"]),
                 QStringList({"fc", "stage1_a_conv", "stage1_b_conv"}));
        QVERIFY(call.contains(QStringLiteral("# MXNet cannot set the single node prob to float16.")));
    }

    void whatMxnetCannotMoveIsExcludedOrSaid()
    {
        // elemwise_add stands in the widest list, which MXNet keeps to itself.
        const QString toFp32 = callAfter({policy::MoveOperators{{"elemwise_add"}, policy::List::Fp32}});
        QCOMPARE(strings(argumentsIn(toFp32)["excluded_sym_names"]),
                 QStringList({"stage1_add", "stage2_add"}));
        QVERIFY(!strings(argumentsIn(toFp32)["fp32_ops"]).contains(QStringLiteral("elemwise_add")));
        const QString toTarget = callAfter({policy::MoveOperators{{"elemwise_add"}, policy::List::Target}});
        QVERIFY(toTarget.contains(QStringLiteral("# MXNet cannot move elemwise_add to float16.")));
        QVERIFY(!argumentsIn(toTarget).contains(QStringLiteral("target_dtype_ops")));
        const QString toWidest = callAfter({policy::MoveOperators{{"softmax"}, policy::List::Widest}});
        QVERIFY(toWidest.contains(QStringLiteral("softmax cannot be added to it")));
        argumentsIn(toWidest);
    }

    void theCallGivesInMxnetWhatTheConversionGivesHere_data()
    {
        using Edits = std::vector<policy::Edit>;
        QTest::addColumn<Edits>("edits");
        const policy::SetConditions condition{"Activation", {{"Activation", "act_type", {"relu", "tanh"}}}};
        const policy::SetConditions noCondition{"Activation", {}};
        const policy::SetConditions twoConditions{
            "Pooling", {{"Pooling", "pool_type", {"avg", "sum"}}, {"Pooling", "kernel", {"(8, 8)"}}}};
        const policy::ExcludeNames excluded{{"/^stage1_.*conv$/", "prob"}};
        const policy::MoveOperators toFp32{{"Convolution", "elemwise_add"}, policy::List::Fp32};
        const policy::MoveOperators toTarget{{"sum", "softmax", "Pooling"}, policy::List::Target};
        const policy::MoveOperators toNeutral{{"softmax"}, policy::List::Neutral};
        const policy::SetCastParams stored{true};
        for (const tensor::DType type : {tensor::DType::F16, tensor::DType::BF16}) {
            const policy::SetTarget target{type};
            const QByteArray name(tensor::nameOf(type).data());
            QTest::newRow(name + ": built-in lists") << Edits{target};
            QTest::newRow(name + ": conditions") << Edits{target, condition};
            QTest::newRow(name + ": conditions taken back") << Edits{target, condition, noCondition};
            QTest::newRow(name + ": two conditions of one operator") << Edits{target, twoConditions};
            QTest::newRow(name + ": excluded") << Edits{target, excluded};
            QTest::newRow(name + ": moved") << Edits{target, toFp32, toTarget};
            QTest::newRow(name + ": neutral") << Edits{target, toNeutral};
            QTest::newRow(name + ": all") << Edits{target, condition, excluded, toFp32, toTarget, stored};
        }
    }

    void theCallGivesInMxnetWhatTheConversionGivesHere()
    {
        const QString python = qEnvironmentVariable(
            "HALFTONE_MXNET_PYTHON", QStringLiteral(HALFTONE_SOURCE_DIR "/build/mxnet/bin/python"));
        if (!QFileInfo::exists(python))
            QSKIP("MXNet is not installed (tests/run.sh does that), and HALFTONE_MXNET_PYTHON names none");
        QFETCH(std::vector<policy::Edit>, edits);
        const auto document = test::openSample();
        QVERIFY(document->apply(policy::SetMode{policy::Mode::NodeForNode}).ok());
        for (const policy::Edit &edit : edits)
            QVERIFY(document->apply(edit).ok());
        const auto snapshot = test::snapshotOf(*document);
        QVERIFY(snapshot->converted != nullptr);

        QStringList here;
        const graph::Graph &graph = snapshot->converted->model.graph;
        for (graph::NodeId id = 0; id < graph.nodeCount(); ++id) {
            if (!graph.isVariable(id))
                here << QString::fromStdString(graph.node(id).op + ' ' + graph.node(id).name);
        }
        here.sort(); // parallel branches may come in another order
        QProcess program;
        QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
        environment.insert(QStringLiteral("MXNET_SUBGRAPH_BACKEND"), QStringLiteral("NONE"));
        program.setProcessEnvironment(environment);
        program.start(python, {QStringLiteral("-")});
        program.write(
            (mxnetCall(*snapshot)
             + QStringLiteral(
                 "\nimport json\nprint('nodes:' + json.dumps([n['op'] + ' ' + n['name'] for "
                 "n in json.loads(sym.tojson(remove_amp_cast=False))['nodes'] if n['op'] != 'null']))\n"))
                .toUtf8());
        program.closeWriteChannel();
        QVERIFY(program.waitForFinished(120000));
        QVERIFY2(program.exitCode() == 0, program.readAllStandardError().constData());
        const QByteArray said = program.readAllStandardOutput();
        QStringList there = strings(QJsonDocument::fromJson(said.mid(said.indexOf("nodes:") + 6)).array());
        there.sort();
        QCOMPARE(there, here);
    }

    // ONNX's float32 list holds Softmax, its target list Conv and Gemm (resources/oplists).
    void ofOnnxTheConverterIsToldWhatStaysInFloat32()
    {
        const QString call = onnxCallAfter({policy::ExcludeNames{{"c1"}}}); // called after what it gives
        QVERIFY(call.contains(QStringLiteral("onnxconverter_common")));
        const QJsonObject arguments = argumentsIn(call);
        QVERIFY(strings(arguments["op_block_list"]).contains(QStringLiteral("Softmax")));
        QVERIFY(!strings(arguments["op_block_list"]).contains(QStringLiteral("Conv")));
        QVERIFY(strings(arguments["node_block_list"]).contains(QStringLiteral("c1")));
        QVERIFY(!strings(arguments["node_block_list"]).contains(QStringLiteral("conv0")));
        QVERIFY(call.contains(QStringLiteral("node.name = node.name or")));
        QCOMPARE(arguments["keep_io_types"].toBool(), true);
        QCOMPARE(arguments["max_finite_val"].toDouble(), 65504.0);
    }

    void ofOnnxWhatTheConverterCannotSayIsACallOfOurs_data()
    {
        QTest::addColumn<policy::Edit>("edit");
        QTest::newRow("bfloat16") << policy::Edit(policy::SetTarget{tensor::DType::BF16});
        QTest::newRow("parameters as they were") << policy::Edit(policy::SetCastParams{false});
    }

    void ofOnnxWhatTheConverterCannotSayIsACallOfOurs()
    {
        QFETCH(policy::Edit, edit);
        const QString call = onnxCallAfter({edit});
        QVERIFY(!call.contains(QStringLiteral("onnxconverter_common")));
        QVERIFY(call.contains(QStringLiteral("halftone-cli")));
        QCOMPARE(argumentsIn(call)["check"].toBool(), true);
    }

    void theCallGivesInTheConverterWhatComputesInFloat32Here()
    {
        const QString python = qEnvironmentVariable("HALFTONE_ONNX_PYTHON");
        if (!QFileInfo::exists(python))
            QSKIP("HALFTONE_ONNX_PYTHON names no Python with onnx and onnxconverter-common");
        const QTemporaryDir folder;
        const QString model = folder.filePath(QStringLiteral("network.onnx"));
        QVERIFY(QFile::copy(QStringLiteral(HALFTONE_SOURCE_DIR "/tests/data/onnx/network.onnx"), model));
        auto opened = session::Document::open(model.toStdString());
        QVERIFY(opened.ok() && opened.value()->apply(policy::ExcludeNames{{"c1"}}).ok());
        QProcess program;
        program.start(python, {QStringLiteral("-")});
        program.write((onnxCall(*test::snapshotOf(*opened.value()))
                       + QStringLiteral("\nfor node in model.graph.node:\n"
                                        "    if node.op_type == 'Cast':\n        print(node.input[0])\n"))
                          .toUtf8());
        program.closeWriteChannel();
        QVERIFY(program.waitForFinished(120000));
        QVERIFY2(program.exitCode() == 0, program.readAllStandardError().constData());
        const QByteArray casts = program.readAllStandardOutput();
        QVERIFY2(casts.contains("r0"), casts.constData()); // in front of the node that stays in float32
        QVERIFY(QFileInfo::exists(folder.filePath(QStringLiteral("network-float16.onnx"))));
    }

    void namesAreQuotedForPython()
    {
        const QString odd = QStringLiteral("a'b\\c\n\u00e9");
        test::GraphBuilder builder;
        const graph::Entry input = builder.variable("x");
        auto model = std::make_shared<io::LoadedModel>();
        model->model = builder.model({builder.op("exp", odd.toStdString(), {input})});
        model->modelPath = "it's.json";
        const auto policy = std::make_shared<policy::Policy>();
        policy->excludedNames = {odd.toStdString()};
        const auto snapshot
            = session::Document::derive({1, model, nullptr, nullptr, policy, nullptr}, nullptr);
        QVERIFY(snapshot.ok());
        QCOMPARE(strings(argumentsIn(mxnetCall(*snapshot.value()))["excluded_sym_names"]),
                 QStringList({odd}));
    }
};

QTEST_GUILESS_MAIN(TestMxnetCall)
#include "tst_mxnet_call.moc"
