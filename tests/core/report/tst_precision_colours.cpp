#include "core/report/precision_colours.h"

#include <QTest>

using namespace halftone;
using tensor::DType;

class TestPrecisionColours : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void precisionsDifferInBadgeAndPattern();
    void codesShareAColour();
    void aTintLiesBetweenWhiteAndItsColour();
    void otherTypesHaveNone();
};

void TestPrecisionColours::precisionsDifferInBadgeAndPattern()
{
    for (const report::PrecisionColours &a : report::precisionColours())
        for (const report::PrecisionColours &b : report::precisionColours())
            if (a.type != b.type) {
                QVERIFY(std::string(a.badge) != b.badge);
                QVERIFY(a.pattern != b.pattern || std::string(a.onLight) == b.onLight); // int8 and uint8
            }
}

void TestPrecisionColours::codesShareAColour()
{
    QCOMPARE(report::precisionColours(DType::I8)->onLight, report::precisionColours(DType::U8)->onLight);
    QCOMPARE(report::precisionColours(DType::F16)->onLight, "#D55E00"); // Okabe and Ito's vermilion
}

void TestPrecisionColours::aTintLiesBetweenWhiteAndItsColour()
{
    QCOMPARE(QString::fromStdString(report::tintOnLight("#ffffff")), "#ffffff");
    QCOMPARE(QString::fromStdString(report::tintOnLight("#000000")), "#dbdbdb"); // 255 - 0.14 * 255 = 219.3
}

void TestPrecisionColours::otherTypesHaveNone()
{
    QVERIFY(!report::precisionColours(DType::I64));
    QVERIFY(!report::precisionColours(DType::Unknown));
}

QTEST_APPLESS_MAIN(TestPrecisionColours)
#include "tst_precision_colours.moc"
