#include "core/dialect/mxnet/attribute_text.h"

#include <QTest>

#include <cmath>
#include <limits>

using namespace halftone;
using namespace halftone::dialect::mxnet;

namespace {

template <class T>
QString messageOf(const Result<T> &result)
{
    return result.ok() ? QString() : QString::fromStdString(result.error().message());
}

} // namespace

class TestAttributeText : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void integersAreReadWhole_data();
    void integersAreReadWhole();
    void whatIsNoIntegerIsRefused_data();
    void whatIsNoIntegerIsRefused();
    void realsIncludeInfinityAndNan();
    void booleansAreWordsOrDigits();
    void tuplesHaveEveryFormThatMxnetWrites_data();
    void tuplesHaveEveryFormThatMxnetWrites();
    void brokenTuplesAreRefused_data();
    void brokenTuplesAreRefused();
    void elementsMayBeNoneOnlyWhereAllowed();
    void realTuplesKeepFractions();
    void typeNamesAreExact();
    void errorsQuoteWhatWasFound();
};

void TestAttributeText::integersAreReadWhole_data()
{
    QTest::addColumn<QString>("text");
    QTest::addColumn<qlonglong>("value");
    QTest::newRow("plain") << "3" << 3LL;
    QTest::newRow("negative") << "-1" << -1LL;
    QTest::newRow("plus") << "+7" << 7LL;
    QTest::newRow("blanks") << " 12 " << 12LL;
    QTest::newRow("python 2 long") << "224L" << 224LL;
    QTest::newRow("largest") << "9223372036854775807" << std::numeric_limits<qlonglong>::max();
    QTest::newRow("smallest") << "-9223372036854775808" << std::numeric_limits<qlonglong>::min();
}

void TestAttributeText::integersAreReadWhole()
{
    QFETCH(const QString, text);
    QFETCH(const qlonglong, value);
    const auto read = readInteger(text.toStdString());
    QVERIFY(read.ok());
    QCOMPARE(static_cast<qlonglong>(read.value()), value);
}

void TestAttributeText::whatIsNoIntegerIsRefused_data()
{
    QTest::addColumn<QString>("text");
    for (const char *text :
         {"", "2.0", "1e3", "9223372036854775808", "3 4", "True", "None", "(3)", "0x10", "L", "--1", "3LL"})
        QTest::newRow(text) << QString::fromLatin1(text);
}

void TestAttributeText::whatIsNoIntegerIsRefused()
{
    QFETCH(const QString, text);
    QVERIFY(!readInteger(text.toStdString()).ok());
}

void TestAttributeText::realsIncludeInfinityAndNan()
{
    QCOMPARE(readReal("1e-5").value(), 1e-5);
    QCOMPARE(readReal("2").value(), 2.0);
    QCOMPARE(readReal(" -0.25 ").value(), -0.25);
    QCOMPARE(readReal("inf").value(), std::numeric_limits<double>::infinity());
    QCOMPARE(readReal("-inf").value(), -std::numeric_limits<double>::infinity());
    QVERIFY(std::isnan(readReal("nan").value()));
    for (const char *text : {"", "one", "1,5", "1e", "(1.0)", "None", "1.0 2.0"})
        QVERIFY2(!readReal(text).ok(), text);
}

void TestAttributeText::booleansAreWordsOrDigits()
{
    for (const char *text : {"True", "true", "1", " TRUE "})
        QVERIFY2(readBoolean(text).value(), text);
    for (const char *text : {"False", "false", "0"})
        QVERIFY2(!readBoolean(text).value(), text);
    for (const char *text : {"", "yes", "2", "-1", "None", "T"})
        QVERIFY2(!readBoolean(text).ok(), text);
}

void TestAttributeText::tuplesHaveEveryFormThatMxnetWrites_data()
{
    QTest::addColumn<QString>("text");
    QTest::addColumn<QList<qlonglong>>("values");
    QTest::newRow("python") << "(3, 3)" << QList<qlonglong>{3, 3};
    QTest::newRow("brackets") << "[3,3]" << QList<qlonglong>{3, 3};
    QTest::newRow("one") << "(3,)" << QList<qlonglong>{3};
    QTest::newRow("one without comma") << "(3)" << QList<qlonglong>{3};
    QTest::newRow("scalar") << "3" << QList<qlonglong>{3};
    QTest::newRow("negative scalar") << "-1" << QList<qlonglong>{-1};
    QTest::newRow("empty") << "()" << QList<qlonglong>{};
    QTest::newRow("empty brackets") << "[ ]" << QList<qlonglong>{};
    QTest::newRow("blanks") << " ( 1 ,-2 , 3 ) " << QList<qlonglong>{1, -2, 3};
    QTest::newRow("trailing comma") << "(1, 2, )" << QList<qlonglong>{1, 2};
    QTest::newRow("python 2") << "(3L, 4L)" << QList<qlonglong>{3, 4};
}

void TestAttributeText::tuplesHaveEveryFormThatMxnetWrites()
{
    QFETCH(const QString, text);
    QFETCH(const QList<qlonglong>, values);
    const auto read = readTuple(text.toStdString());
    QVERIFY2(read.ok(), qPrintable(messageOf(read)));
    QCOMPARE(QList<qlonglong>(read.value().begin(), read.value().end()), values);
}

void TestAttributeText::brokenTuplesAreRefused_data()
{
    QTest::addColumn<QString>("text");
    for (const char *text :
         {"", "(", ")", "(3", "3)", "(3]", "[3)", "(,)", "(3,,3)", "3,3", "(3, x)", "(3.5, 1)", "((3, 3))",
          "(None, 1)", "None", "(3 3)", "(99999999999999999999, 1)"})
        QTest::newRow(text) << QString::fromLatin1(text);
}

void TestAttributeText::brokenTuplesAreRefused()
{
    QFETCH(const QString, text);
    QVERIFY(!readTuple(text.toStdString()).ok());
}

void TestAttributeText::elementsMayBeNoneOnlyWhereAllowed()
{
    const auto read = readOptionalTuple("(0, None, -1)");
    QVERIFY(read.ok());
    QVERIFY((read.value() == std::vector<OptionalInteger>{0, std::nullopt, -1}));
    QVERIFY(readOptionalTuple("None").value() == std::vector<OptionalInteger>{std::nullopt});
    QVERIFY(!readOptionalTuple("(none, 1)").ok());
    QVERIFY(isNone(" None "));
    QVERIFY(!isNone("none"));
}

void TestAttributeText::realTuplesKeepFractions()
{
    QVERIFY((readRealTuple("(0.1, 1e-2, 3)").value() == std::vector<double>{0.1, 1e-2, 3}));
    QVERIFY((readRealTuple("0.5").value() == std::vector<double>{0.5}));
    QVERIFY(!readRealTuple("(0.1; 2)").ok());
}

void TestAttributeText::typeNamesAreExact()
{
    QCOMPARE(readDType("float16").value(), tensor::DType::F16);
    QCOMPARE(readDType(" bfloat16").value(), tensor::DType::BF16);
    QCOMPARE(readDType("bool").value(), tensor::DType::Bool);
    for (const char *text : {"", "fp16", "half", "unknown", "None", "Float32", "2"})
        QVERIFY2(!readDType(text).ok(), text);
}

void TestAttributeText::errorsQuoteWhatWasFound()
{
    QCOMPARE(messageOf(readInteger("two")), QStringLiteral("\"two\", expected an integer"));
    QCOMPARE(messageOf(readTuple("(2, x)")), QStringLiteral("\"(2, x)\", expected integers such as (3, 3)"));
    QCOMPARE(messageOf(readBoolean("a\nb")), QStringLiteral("\"a\\x0ab\", expected True or False"));
    QVERIFY(messageOf(readReal(std::string(100000, '9') + "x")).size() < 200);
}

QTEST_APPLESS_MAIN(TestAttributeText)
#include "tst_attribute_text.moc"
