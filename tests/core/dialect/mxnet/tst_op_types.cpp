#include "core/dialect/mxnet/op_info.h"

#include <QFile>
#include <QIODevice>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QJsonValue>
#include <QLatin1Char>
#include <QTest>

using namespace halftone;
using dialect::mxnet::findOp;
using dialect::mxnet::OpInfo;
using ops::TypeOutcome;
using tensor::DType;

namespace {

QJsonDocument readJson(const char *name)
{
    QFile file(QStringLiteral(HALFTONE_TEST_DATA "/mxnet/") + QString::fromUtf8(name));
    return file.open(QIODevice::ReadOnly) ? QJsonDocument::fromJson(file.readAll()) : QJsonDocument();
}

graph::Attributes attributesOf(const QJsonObject &json)
{
    graph::Attributes attributes;
    for (auto it = json.begin(); it != json.end(); ++it)
        attributes.set(it.key().toStdString(), it.value().toString().toStdString());
    return attributes;
}

/// What one application of a rule made of its positions.
struct Applied
{
    TypeOutcome outcome = TypeOutcome::Complete;
    std::vector<DType> inputs;
    std::vector<DType> outputs;
};

Applied apply(const QString &op, const graph::Attributes &attributes, std::vector<DType> inputs,
              std::vector<DType> outputs)
{
    Applied result{TypeOutcome::Complete, std::move(inputs), std::move(outputs)};
    result.outcome = typeRule(*findOp(op.toStdString()), attributes).apply(result.inputs, result.outputs);
    return result;
}

/// The words of the probe for an output, given the type that input 0 had.
QString wordFor(const Applied &applied, std::size_t output)
{
    if (applied.outcome == TypeOutcome::Refused)
        return QStringLiteral("error");
    if (applied.outcome == TypeOutcome::Incomplete)
        return QStringLiteral("unknown");
    const DType type = applied.outputs[output];
    return type == DType::F16    ? QStringLiteral("target")
        : type == DType::F32     ? QStringLiteral("fp32")
        : type == DType::Unknown ? QStringLiteral("unknown")
                                 : QStringLiteral("other");
}

constexpr std::pair<char, DType> kLetters[] = {
    {'.', DType::Unknown}, {'f', DType::F32}, {'d', DType::F64}, {'h', DType::F16}, {'b', DType::BF16},
    {'u', DType::U8},      {'i', DType::I32}, {'c', DType::I8},  {'l', DType::I64}, {'o', DType::Bool},
};

std::vector<DType> typesFrom(const QString &letters)
{
    std::vector<DType> types;
    for (const QChar letter : letters)
        types.push_back(
            std::ranges::find(kLetters, letter.toLatin1(), &std::pair<char, DType>::first)->second);
    return types;
}

QString lettersOf(const std::vector<DType> &types)
{
    QString letters;
    for (const DType type : types) {
        const auto *const at = std::ranges::find(kLetters, type, &std::pair<char, DType>::second);
        letters += QLatin1Char(at == std::end(kLetters) ? '?' : at->first);
    }
    return letters;
}

/// The probe's answers for these contradict MXNet's own inference (types_inferred.json), which the second
/// test holds them to.
const QStringList kProbedWrongly{QStringLiteral("amp_cast"), QStringLiteral("broadcast_add"),
                                 QStringLiteral("cosh")};

/// Where MXNet leaves a contradiction or something that it could tell open, without an error; ours says what
/// it knows.
const QStringList kKnowsMore{QStringLiteral("where"), QStringLiteral("_scatter_set_nd"),
                             QStringLiteral("multi_mp_sgd_update"),
                             QStringLiteral("multi_mp_sgd_mom_update")};

bool knowsMore(const QString &op)
{
    return kKnowsMore.contains(op) || op.startsWith(QLatin1String("_sample_"));
}

/// Equal, or equal where MXNet says something.
bool matches(const QString &ours, const QString &theirs, bool mayKnowMore)
{
    if (ours.size() != theirs.size())
        return false;
    for (qsizetype i = 0; i < ours.size(); ++i) {
        if (ours[i] != theirs[i] && !(mayKnowMore && theirs[i] == QLatin1Char('.')))
            return false;
    }
    return true;
}

/// A row "given inputs>given outputs inferred inputs>inferred outputs", or "… refused", or "… open" (MXNet
/// throws since a type is open).
bool agrees(const QString &op, const graph::Attributes &attributes, const QString &row, QString &ours)
{
    const QStringList parts = row.split(QLatin1Char(' '));
    const QStringList given = parts[0].split(QLatin1Char('>'));
    const Applied applied = apply(op, attributes, typesFrom(given[0]), typesFrom(given[1]));
    const bool isRefused = applied.outcome == TypeOutcome::Refused;
    ours = isRefused ? QStringLiteral("refused")
                     : lettersOf(applied.inputs) + QLatin1Char('>') + lettersOf(applied.outputs);
    if (parts[1] == QLatin1String("open"))
        return applied.outcome != TypeOutcome::Complete;
    if (isRefused)
        return parts[1] == ours || (knowsMore(op) && parts[1].contains(QLatin1Char('.')));
    return matches(ours, parts[1], knowsMore(op));
}

} // namespace

class TestOpTypes : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void everyOperatorSpreadsTheTargetTypeAsMxnetDoes_data();
    void everyOperatorSpreadsTheTargetTypeAsMxnetDoes();
    void everyOperatorInfersTypesAsMxnetDoes_data();
    void everyOperatorInfersTypesAsMxnetDoes();
};

void TestOpTypes::everyOperatorSpreadsTheTargetTypeAsMxnetDoes_data()
{
    QTest::addColumn<QJsonObject>("probed");
    const QJsonObject all = readJson("operators_probed.json").object();
    int count = 0;
    for (auto it = all.begin(); it != all.end(); ++it) {
        if (!it.value().toObject().contains(QStringLiteral("as_target")))
            continue;
        QTest::newRow(it.key().toUtf8().constData()) << it.value().toObject();
        ++count;
    }
    QCOMPARE(count, 340);
}

void TestOpTypes::everyOperatorSpreadsTheTargetTypeAsMxnetDoes()
{
    QFETCH(const QJsonObject, probed);
    const QString op = QString::fromUtf8(QTest::currentDataTag());
    if (kProbedWrongly.contains(op))
        return;
    const graph::Attributes attributes = attributesOf(probed[QStringLiteral("attributes")].toObject());
    const auto inputCount = static_cast<std::size_t>(probed[QStringLiteral("inputs")].toArray().size());
    const auto outputCount = static_cast<std::size_t>(probed[QStringLiteral("outputs")].toInt());
    const auto applyWith = [&](DType first) {
        std::vector<DType> inputs(inputCount, DType::Unknown);
        inputs[0] = first;
        const std::vector<DType> outputs(outputCount, DType::Unknown);
        if (typeRule(*findOp(op.toStdString()), attributes)
                .isFallback()) // asked by itself, the operator tells nothing
            return Applied{TypeOutcome::Complete, inputs, outputs};
        return apply(op, attributes, inputs, outputs);
    };

    const Applied target = applyWith(DType::F16);
    const QJsonValue asTarget = probed[QStringLiteral("as_target")];
    QCOMPARE(target.outcome != TypeOutcome::Complete, asTarget.isString());
    if (asTarget.isObject()) {
        const QJsonArray cast = asTarget[QStringLiteral("cast")].toArray();
        // The pass casts what is to be the target type, and also what the rule left open.
        for (std::size_t i = 0; i < inputCount; ++i)
            QCOMPARE(target.inputs[i] == DType::F16 || target.inputs[i] == DType::Unknown,
                     cast[static_cast<int>(i)].toBool());
        const QJsonArray outputs = asTarget[QStringLiteral("outputs")].toArray();
        for (std::size_t i = 0; i < outputCount; ++i)
            QCOMPARE(wordFor(target, i).replace(QStringLiteral("other"), QStringLiteral("unknown")),
                     outputs[static_cast<int>(i)].toString());
    }
    const Applied fp32 = applyWith(DType::F32);
    for (std::size_t i = 0; i < outputCount; ++i) {
        QCOMPARE(wordFor(target, i),
                 probed[QStringLiteral("neutral_target")][static_cast<int>(i)].toString());
        QCOMPARE(wordFor(fp32, i), probed[QStringLiteral("neutral_fp32")][static_cast<int>(i)].toString());
    }
}

void TestOpTypes::everyOperatorInfersTypesAsMxnetDoes_data()
{
    QTest::addColumn<QString>("op");
    QTest::addColumn<QJsonObject>("attributes");
    QTest::addColumn<QJsonArray>("rows");
    for (const QJsonValue &group : readJson("types_inferred.json").array()) {
        for (const QJsonValue &op : group[QStringLiteral("ops")].toArray()) {
            const QByteArray attributes = QJsonDocument(op[1].toObject()).toJson(QJsonDocument::Compact);
            QTest::addRow("%s %s", qPrintable(op[0].toString()), attributes.constData())
                << op[0].toString() << op[1].toObject() << group[QStringLiteral("rows")].toArray();
        }
    }
}

void TestOpTypes::everyOperatorInfersTypesAsMxnetDoes()
{
    QFETCH(const QString, op);
    QFETCH(const QJsonObject, attributes);
    QFETCH(const QJsonArray, rows);
    QVERIFY2(findOp(op.toStdString()), "operator is missing");
    QStringList wrong;
    for (const QJsonValue &row : rows) {
        QString ours;
        if (!agrees(op, attributesOf(attributes), row.toString(), ours))
            wrong += row.toString() + QStringLiteral(" but ours ") + ours;
    }
    QVERIFY2(wrong.isEmpty(), qPrintable(wrong.join(QStringLiteral(" | "))));
}

QTEST_APPLESS_MAIN(TestOpTypes)
#include "tst_op_types.moc"
