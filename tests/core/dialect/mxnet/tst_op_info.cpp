#include "core/dialect/mxnet/op_info.h"

#include <QDir>
#include <QDirIterator>
#include <QFile>
#include <QIODevice>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QJsonValue>
#include <QTest>

#include <thread>

using namespace halftone;
using namespace halftone::dialect::mxnet;
using graph::Attributes;

namespace {

QJsonDocument readJson(const char *name)
{
    QFile file(QStringLiteral(HALFTONE_TEST_DATA "/mxnet/") + QString::fromUtf8(name));
    return file.open(QIODevice::ReadOnly) ? QJsonDocument::fromJson(file.readAll()) : QJsonDocument();
}

Attributes attributesIn(const QJsonObject &json)
{
    Attributes attributes;
    for (auto it = json.begin(); it != json.end(); ++it)
        attributes.set(it.key().toStdString(), it.value().toString().toStdString());
    return attributes;
}

/// The attributes of a node in symbol JSON: 1.x, 0.8 or 0.9 say them under one of these keys.
Attributes attributesOf(const QJsonObject &node)
{
    for (const char *key : {"attrs", "param", "attr"}) {
        if (const QJsonValue slot = node[QLatin1String(key)]; slot.isObject())
            return attributesIn(slot.toObject());
    }
    return {};
}

const OpInfo &op(std::string_view name)
{
    const OpInfo *const found = findOp(name);
    if (!found)
        qFatal("no such operator");
    return *found;
}

QString textOf(const std::string &text)
{
    return QString::fromStdString(text);
}

/// Checks the nodes of a symbol file; gives their number.
int checkedNodes(const QString &path)
{
    QFile file(path);
    const QJsonObject symbol
        = file.open(QIODevice::ReadOnly) ? QJsonDocument::fromJson(file.readAll()).object() : QJsonObject();
    const QJsonArray rows = symbol[QStringLiteral("node_row_ptr")].toArray(); // running sum of output counts
    int nodes = 0;
    int id = -1;
    for (const QJsonValue &node : symbol[QStringLiteral("nodes")].toArray()) {
        ++id;
        const OpInfo *const info = findOp(node[QStringLiteral("op")].toString().toStdString());
        if (!info)
            continue;
        const Attributes attributes = attributesOf(node.toObject());
        const auto outcome = checkAttributes(*info, attributes);
        if (!outcome.ok())
            QTest::qFail(qPrintable(path + textOf(": " + info->name + ": " + outcome.error().message())),
                         __FILE__, __LINE__);
        const auto wanted = inputCount(*info, attributes);
        const auto given = static_cast<std::size_t>(node[QStringLiteral("inputs")].toArray().size());
        if (wanted && *wanted != given && !hasMutableInputs(*info)) // 0.8 writes no aux states
            QTest::qFail(qPrintable(path + textOf(": " + info->name + ": inputs")), __FILE__, __LINE__);
        const auto outputs = static_cast<int>(outputCount(*info, attributes));
        if (!rows.isEmpty() && rows[id + 1].toInt() - rows[id].toInt() != outputs)
            QTest::qFail(qPrintable(path + textOf(": " + info->name + ": outputs")), __FILE__, __LINE__);
        ++nodes;
    }
    return nodes;
}

} // namespace

class TestOpInfo : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void firstUseFromManyThreadsGivesOneTable();
    void everyOperatorIsFoundByNameAndAliases();
    void fusedOperatorsOfBothGenerationsAreKnown();
    void attributesDecideSlotsAsInMxnet_data();
    void attributesDecideSlotsAsInMxnet();
    void castSuffixesAreMxnets();
    void mutableInputsAreTheAuxStates();
    void controlFlowCountsInputsWithoutBodies();
    void aHugeOutputCountIsCapped();
    void countsThatCannotBeReadAreUnknown();
    void writtenValuesWinOverDefaults();
    void valuesAreComparedByMeaning();
    void everyProbedInstancePassesTheCheck();
    void everyNodeOfTheSharedModelsPassesTheCheck();
    void aBadAttributeIsRefused_data();
    void aBadAttributeIsRefused();
    void hiddenKeysAreFree();
    void aTypeRuleFollowsItsAttribute();
};

void TestOpInfo::firstUseFromManyThreadsGivesOneTable()
{
    std::vector<const OpInfo *> found(8, nullptr);
    {
        std::vector<std::jthread> threads;
        for (const OpInfo *&place : found)
            threads.emplace_back([&place] { place = findOp("Convolution"); });
    }
    for (const OpInfo *const place : found)
        QVERIFY(place && place == findOp("Convolution"));
}

void TestOpInfo::everyOperatorIsFoundByNameAndAliases()
{
    QVERIFY(allOps().size() >= 391);
    for (const OpInfo &info : allOps()) {
        QCOMPARE(findOp(info.name), &info);
        for (const std::string &alias : info.aliases)
            QVERIFY2(findOp(alias), alias.c_str());
    }
    QCOMPARE(findOp("_sparse_FullyConnected"), findOp("FullyConnected"));
    QCOMPARE(findOp("ElementWiseSum"), findOp("add_n"));
    QVERIFY(!findOp("NoSuchOp"));
    QVERIFY(!findOp(""));
}

void TestOpInfo::fusedOperatorsOfBothGenerationsAreKnown()
{
    for (const char *name :
         {"_sg_mkldnn_conv", "_sg_mkldnn_fully_connected", "_sg_onednn_conv", "_sg_onednn_fully_connected",
          "_sg_onednn_selfatt_qk", "_sg_onednn_selfatt_qk_split", "_sg_onednn_selfatt_valatt"}) {
        QVERIFY2(findOp(name), name);
        QCOMPARE(inputCount(op(name), {}), std::nullopt);
        QCOMPARE(outputCount(op(name), {}), std::size_t{1});
    }
    QCOMPARE(outputCount(op("_sg_mkldnn_conv"), {{"quantized", "true"}}), std::size_t{3});
    QCOMPARE(outputCount(op("_sg_mkldnn_conv"), {{"quantized", "true"}, {"enable_float_output", "True"}}),
             std::size_t{1});
}

void TestOpInfo::attributesDecideSlotsAsInMxnet_data()
{
    QTest::addColumn<QJsonArray>("slot");
    for (const QJsonValue &slot : readJson("slots.json").array()) {
        const QByteArray attributes = QJsonDocument(slot[1].toObject()).toJson(QJsonDocument::Compact);
        QTest::addRow("%s %s", qPrintable(slot[0].toString()), attributes.constData()) << slot.toArray();
    }
}

void TestOpInfo::attributesDecideSlotsAsInMxnet()
{
    QFETCH(const QJsonArray, slot);
    const OpInfo &info = op(slot[0].toString().toStdString());
    const Attributes attributes = attributesIn(slot[1].toObject());
    const QJsonArray inputs = slot[2].toArray();
    const QJsonArray outputs = slot[3].toArray();
    if (!info.inputs.isOpen) {
        QCOMPARE(inputCount(info, attributes), std::optional(static_cast<std::size_t>(inputs.size())));
        for (int i = 0; i < inputs.size(); ++i)
            QCOMPARE(textOf(inputName(info, attributes, static_cast<std::size_t>(i))), inputs[i].toString());
    }
    QCOMPARE(outputCount(info, attributes), static_cast<std::size_t>(outputs.size()));
    QCOMPARE(visibleOutputCount(info, attributes), static_cast<std::size_t>(slot[4].toInt()));
    for (int i = 0; i < outputs.size(); ++i)
        QCOMPARE(textOf(outputName(info, attributes, static_cast<std::size_t>(i))), outputs[i].toString());
}

void TestOpInfo::castSuffixesAreMxnets()
{
    const QJsonObject all = readJson("operators_probed.json").object();
    for (auto it = all.begin(); it != all.end(); ++it) {
        const QJsonObject probed = it.value().toObject();
        const QJsonArray suffixes = probed[QStringLiteral("suffixes")].toArray();
        const Attributes attributes = attributesIn(probed[QStringLiteral("attributes")].toObject());
        for (int i = 0; i < suffixes.size(); ++i)
            QCOMPARE(
                it.key()
                    + textOf(castSuffix(op(it.key().toStdString()), attributes, static_cast<std::size_t>(i))),
                it.key() + suffixes[i].toString());
    }
}

void TestOpInfo::mutableInputsAreTheAuxStates()
{
    const QJsonObject all = readJson("operators_probed.json").object();
    for (auto it = all.begin(); it != all.end(); ++it) {
        const QJsonArray inputs = it.value()[QStringLiteral("inputs")].toArray();
        const QJsonArray states = it.value()[QStringLiteral("aux")].toArray();
        const OpInfo &info = op(it.key().toStdString());
        QVERIFY2(hasMutableInputs(info) == !states.isEmpty(), qPrintable(it.key()));
        for (int i = 0; i < inputs.size(); ++i)
            QVERIFY2(isMutableInput(info, static_cast<std::size_t>(i)) == states.contains(inputs[i]),
                     qPrintable(it.key()));
    }
    // The second repetition is like the first.
    QVERIFY(isMutableInput(op("multi_mp_sgd_update"), 5));
    QVERIFY(!isMutableInput(op("multi_mp_sgd_update"), 4));
}

void TestOpInfo::controlFlowCountsInputsWithoutBodies()
{
    // As in a model that MXNet wrote: num_args counts the body of _foreach, symbol JSON does not.
    QCOMPARE(inputCount(op("_foreach"), {{"num_args", "4"}, {"num_outputs", "2"}}),
             std::optional<std::size_t>(3));
    QCOMPARE(outputCount(op("_foreach"), {{"num_args", "4"}, {"num_outputs", "2"}}), std::size_t{2});
    QCOMPARE(castSuffix(op("_foreach"), {{"num_args", "4"}, {"num_outputs", "2"}}, 1), std::string("_1"));
}

void TestOpInfo::aHugeOutputCountIsCapped()
{
    QCOMPARE(outputCount(op("SliceChannel"), {{"num_outputs", "9223372036854775807"}}), kMaxOutputs);
    QCOMPARE(visibleOutputCount(op("SliceChannel"), {{"num_outputs", "9223372036854775807"}}), kMaxOutputs);
}

void TestOpInfo::countsThatCannotBeReadAreUnknown()
{
    QCOMPARE(inputCount(op("Concat"), {{"num_args", "many"}}), std::nullopt);
    QCOMPARE(inputCount(op("Concat"), {{"num_args", "-3"}}), std::nullopt);
    QCOMPARE(inputCount(op("_contrib_quantized_concat"), {{"num_args", "9223372036854775807"}}),
             std::nullopt);
    QCOMPARE(outputCount(op("SliceChannel"), {}), std::size_t{1});
}

void TestOpInfo::writtenValuesWinOverDefaults()
{
    QCOMPARE(attributeValue(op("Convolution"), {{"no_bias", "True"}}, "no_bias"), std::string_view("True"));
    QCOMPARE(attributeValue(op("Convolution"), {}, "no_bias"), std::string_view("0"));
    QCOMPARE(attributeValue(op("Convolution"), {}, "no_such"), std::string_view());
}

void TestOpInfo::valuesAreComparedByMeaning()
{
    const OpInfo &conv = op("Convolution");
    const OpInfo &norm = op("BatchNorm");
    QVERIFY(sameValue(*conv.attribute("kernel"), "(2,2)", "[2, 2]"));
    QVERIFY(!sameValue(*conv.attribute("kernel"), "(2,2)", "(2,2,1)"));
    QVERIFY(sameValue(*conv.attribute("no_bias"), "True", "1"));
    QVERIFY(!sameValue(*conv.attribute("no_bias"), "True", "false"));
    QVERIFY(sameValue(*norm.attribute("eps"), "1e-5", "0.00001"));
    QVERIFY(sameValue(*norm.attribute("axis"), "2", "2.0"));
    QVERIFY(!sameValue(*norm.attribute("eps"), "1e-5", "1e-6"));
    QVERIFY(sameValue(*conv.attribute("layout"), "NCHW", " NCHW "));
    QVERIFY(!sameValue(*conv.attribute("layout"), "NCHW", "nchw"));
    QVERIFY(sameValue(*conv.attribute("kernel"), "nonsense", "nonsense"));
    QVERIFY(!sameValue(*conv.attribute("kernel"), "nonsense", "()"));
}

void TestOpInfo::everyProbedInstancePassesTheCheck()
{
    for (const QJsonValue &slot : readJson("slots.json").array()) {
        const auto outcome
            = checkAttributes(op(slot[0].toString().toStdString()), attributesIn(slot[1].toObject()));
        QVERIFY2(outcome.ok(),
                 outcome.ok() ? "" : qPrintable(slot[0].toString() + textOf(outcome.error().message())));
    }
}

void TestOpInfo::everyNodeOfTheSharedModelsPassesTheCheck()
{
    const QString shared = qEnvironmentVariable("HALFTONE_SHARED");
    if (shared.isEmpty())
        QSKIP("HALFTONE_SHARED does not name the folder of shared models");
    int nodes = 0;
    for (const char *folder :
         {"/models", "/fixtures/amp", "/fixtures/ops", "/fixtures/int8", "/fixtures/cse"}) {
        QDirIterator files(shared + QString::fromUtf8(folder), {QStringLiteral("*symbol.json")}, QDir::Files,
                           QDirIterator::Subdirectories);
        while (files.hasNext())
            nodes += checkedNodes(files.next());
    }
    QVERIFY(nodes > 1000);
}

void TestOpInfo::aBadAttributeIsRefused_data()
{
    QTest::addColumn<QString>("name");
    QTest::addColumn<QString>("key");
    QTest::addColumn<QString>("value");
    QTest::addColumn<QString>("message");
    QTest::newRow("unknown")
        << "Activation"
        << "act_typ"
        << "relu"
        << "act_typ: unknown attribute of Activation (did you mean act_type?), expected act_type";
    QTest::newRow("missing") << "Activation"
                             << ""
                             << ""
                             << "act_type: required attribute of Activation is missing";
    QTest::newRow("choice") << "Activation"
                            << "act_type"
                            << "gelu"
                            << "act_type: \"gelu\", expected one of relu, sigmoid, softrelu, softsign, tanh";
    QTest::newRow("integer") << "argmax"
                             << "axis"
                             << "2.5"
                             << "axis: \"2.5\", expected an integer";
    QTest::newRow("boolean") << "BatchNorm"
                             << "fix_gamma"
                             << "yes"
                             << "fix_gamma: \"yes\", expected True or False";
    QTest::newRow("number") << "BatchNorm"
                            << "eps"
                            << "small"
                            << "eps: \"small\", expected a number";
    QTest::newRow("tuple") << "Pooling"
                           << "kernel"
                           << "(2,x)"
                           << "kernel: \"(2,x)\", expected integers such as (3, 3)";
    QTest::newRow("None in a tuple") << "Pooling"
                                     << "kernel"
                                     << "(2,None)"
                                     << "kernel: \"(2,None)\", expected integers such as (3, 3)";
}

void TestOpInfo::aBadAttributeIsRefused()
{
    QFETCH(const QString, name);
    QFETCH(const QString, key);
    QFETCH(const QString, value);
    QFETCH(const QString, message);
    Attributes attributes;
    if (!key.isEmpty())
        attributes.set(key.toStdString(), value.toStdString());
    const auto outcome = checkAttributes(op(name.toStdString()), attributes);
    QCOMPARE(outcome.ok() ? QString() : textOf(outcome.error().message()), message);
}

void TestOpInfo::hiddenKeysAreFree()
{
    QVERIFY(checkAttributes(op("Flatten"), {{"__lr_mult__", "2"}, {"__anything__", "\x01"}}).ok());
    // The real MXNet loads this, and a network of GluonCV writes it.
    QVERIFY(checkAttributes(op("zeros_like"), {{"dtype", "float32"}}).ok());
    QVERIFY(checkAttributes(op("Custom"), {{"op_type", "mine"}, {"alpha", "2"}}).ok());
    QVERIFY(checkAttributes(op("slice"), {{"begin", "(0, None)"}, {"end", "(None, 3)"}}).ok());
    QVERIFY(checkAttributes(op("argmax"), {{"axis", "None"}}).ok());
}

void TestOpInfo::aTypeRuleFollowsItsAttribute()
{
    using tensor::DType;
    std::vector<DType> in{DType::I32};
    std::vector<DType> out{DType::Unknown};
    QCOMPARE(typeRule(op("Cast"), {{"dtype", "int8"}}).apply(in, out), ops::TypeOutcome::Complete);
    QCOMPARE(out[0], DType::I8);
    out[0] = DType::Unknown;
    QCOMPARE(typeRule(op("Cast"), {{"dtype", "no type"}}).apply(in, out), ops::TypeOutcome::Incomplete);
    QCOMPARE(out[0], DType::Unknown);
}

QTEST_APPLESS_MAIN(TestOpInfo)
#include "tst_op_info.moc"
