#include "core/base/text.h"
#include "core/dialect/onnx/op_info.h"
#include "core/tensor/dtype.h"

#include <QFile>
#include <QTest>

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <vector>

using namespace halftone;
using dialect::onnx::OpInfo;
using tensor::DType;

namespace {

/// "float32, int64"
std::vector<DType> typesIn(const QString &text)
{
    std::vector<DType> types;
    for (const QString &name : text.split(QLatin1String(", "), Qt::SkipEmptyParts))
        types.push_back(tensor::dtypeNamed(name.trimmed().toStdString()).value_or(DType::Unknown));
    return types;
}

/// "axis=1 to=10"
graph::Attributes attributesIn(const QStringList &words)
{
    graph::Attributes attributes;
    for (const QString &word : words)
        attributes.set(word.section(QLatin1Char('='), 0, 0).toStdString(),
                       word.section(QLatin1Char('='), 1).toStdString());
    return attributes;
}

std::string textOf(const std::vector<DType> &types)
{
    std::string text;
    for (const DType type : types)
        text.append(text.empty() ? "" : ", ").append(tensor::nameOf(type));
    return text;
}

/// What the types of outputs do not come from: bodies say them, or they are texts, which have no type here.
constexpr std::array<std::string_view, 8> kNotByRule{
    "If", "Loop", "Scan", "SequenceMap", "StringConcat", "StringNormalizer", "StringSplit", "RegexFullMatch"};

bool isByRule(std::string_view op)
{
    return std::ranges::find(kNotByRule, op) == kNotByRule.end();
}

/// Types that a rule accepts together: float32, or codes or indices where it refuses that.
std::vector<DType> acceptedInputs(const ops::TypeRule &rule, std::size_t inputCount, std::size_t outputCount)
{
    std::vector<DType> accepted(inputCount, DType::Unknown);
    for (DType &input : accepted) {
        for (const DType type : {DType::F32, DType::I8, DType::I32}) {
            input = type;
            std::vector<DType> inputs = accepted;
            std::vector<DType> outputs(outputCount, DType::Unknown);
            if (rule.apply(inputs, outputs) != ops::TypeOutcome::Refused)
                break;
        }
    }
    return accepted;
}

} // namespace

class TestOnnxTypes : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void initTestCase();
    void rulesGiveWhatTheSchemasInfer();
    void everySchemaIsAsked();
    void everyOutputOfOtherDomainsHasAType();
    void conversionsChooseFromAllowedTypes();

private:
    struct Case
    {
        QString line;
        const OpInfo *info = nullptr;
        graph::Attributes attributes;
        std::vector<DType> inputs;
        std::vector<DType> outputs;
    };
    std::vector<Case> m_cases;
};

void TestOnnxTypes::initTestCase()
{
    QFile file(QStringLiteral(HALFTONE_TEST_DATA "/onnx_types.txt"));
    QVERIFY(file.open(QIODevice::ReadOnly));
    while (!file.atEnd()) {
        const QString line = QString::fromUtf8(file.readLine()).trimmed();
        const QStringList words = line.section(QLatin1Char(':'), 0, 0).split(QLatin1Char(' '));
        const QString types = line.section(QLatin1Char(':'), 1);
        const auto &known = dialect::onnx::operatorsOf(words[1].toInt());
        const auto found = known.find(words[0].toStdString());
        QVERIFY2(found != known.end(), qPrintable(line));
        m_cases.push_back({line, found->second, attributesIn(words.mid(2)),
                           typesIn(types.section(QLatin1String("->"), 0, 0)),
                           typesIn(types.section(QLatin1String("->"), 1))});
    }
    QVERIFY(m_cases.size() > 3000);
}

void TestOnnxTypes::rulesGiveWhatTheSchemasInfer()
{
    QStringList wrong;
    for (const Case &asked : m_cases) {
        std::vector<DType> inputs = asked.inputs;
        std::vector<DType> outputs(asked.outputs.size(), DType::Unknown);
        const ops::TypeOutcome outcome = asked.info->typeRule(asked.attributes).apply(inputs, outputs);
        if (outcome != ops::TypeOutcome::Complete || outputs != asked.outputs)
            wrong << asked.line + QStringLiteral("; found ") + QString::fromStdString(textOf(outputs));
    }
    for (const QString &line : wrong.mid(0, 40))
        qInfo("%s", qPrintable(line));
    QVERIFY2(wrong.isEmpty(), qPrintable(QStringLiteral("%1 nodes").arg(wrong.size())));
}

void TestOnnxTypes::everySchemaIsAsked()
{
    std::set<const OpInfo *> asked;
    for (const Case &one : m_cases)
        asked.insert(one.info);
    for (int opset = dialect::onnx::kOldestOpset; opset <= dialect::onnx::kNewestOpset; ++opset) {
        for (const auto &[name, info] : dialect::onnx::operatorsOf(opset)) {
            if (name.find('.') != std::string_view::npos || info->isDeprecated || !isByRule(name))
                continue;
            QVERIFY2(asked.contains(info),
                     qPrintable(QStringLiteral("%1 of opset %2")
                                    .arg(QString::fromUtf8(name.data(), static_cast<int>(name.size())),
                                         QString::number(info->since))));
        }
    }
}

void TestOnnxTypes::everyOutputOfOtherDomainsHasAType()
{
    int found = 0;
    for (const auto &[name, info] : dialect::onnx::operatorsOf(dialect::onnx::kNewestOpset)) {
        if (name.find('.') == std::string_view::npos)
            continue;
        ++found;
        const ops::TypeRule rule = info->typeRule({});
        std::vector<DType> inputs = acceptedInputs(rule, info->inputs.size(), info->outputs.size());
        std::vector<DType> outputs(info->outputs.size(), DType::Unknown);
        QCOMPARE(rule.apply(inputs, outputs), ops::TypeOutcome::Complete);
        QVERIFY2(std::ranges::find(outputs, DType::Unknown) == outputs.end(), info->name.c_str());
    }
    QVERIFY(found >= 4);
}

/// A narrower rule for conversions takes nothing that the type rule refuses, and gives what that gives.
void TestOnnxTypes::conversionsChooseFromAllowedTypes()
{
    std::set<std::string> narrowed;
    for (const Case &asked : m_cases) {
        const ops::TypeRule *const rule = asked.info->convertedTypes();
        if (rule == nullptr)
            continue;
        std::vector<DType> inputs = asked.inputs;
        std::vector<DType> outputs(asked.outputs.size(), DType::Unknown);
        if (rule->apply(inputs, outputs) == ops::TypeOutcome::Refused) {
            narrowed.insert(asked.info->name);
            continue;
        }
        for (std::size_t k = 0; k < outputs.size(); ++k) // but for what an attribute says
            QVERIFY2(outputs[k] == asked.outputs[k] || outputs[k] == DType::Unknown, qPrintable(asked.line));
    }
    QCOMPARE(
        narrowed,
        (std::set<std::string>{"Attention", "BitCast", "MeanVarianceNormalization", "RMSNormalization"}));
}

QTEST_APPLESS_MAIN(TestOnnxTypes)
#include "tst_onnx_types.moc"
