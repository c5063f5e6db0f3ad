#include "core/base/text.h"

#include <QTest>

using namespace halftone;

class TestText : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void nothingThatATerminalObeysIsShown_data()
    {
        QTest::addColumn<std::string>("text");
        QTest::addColumn<std::string>("shown");
        QTest::newRow("escape") << std::string("\x1b[2J") << std::string("\\x1b[2J");
        QTest::newRow("NUL") << std::string("a\0b", 3) << std::string("a\\x00b");
        QTest::newRow("delete") << std::string("\x7f") << std::string("\\x7f");
        QTest::newRow("U+009B begins a command") << std::string("\xC2\x9B"
                                                                "2J")
                                                 << std::string("\\xc2\\x9b2J");
        QTest::newRow("U+0080") << std::string("\xC2\x80") << std::string("\\xc2\\x80");
        QTest::newRow("U+00A0 is text") << std::string("\xC2\xA0") << std::string("\xC2\xA0");
        QTest::newRow("text") << std::string("conv\u00e9 \u2192 \U0001F600")
                              << std::string("conv\u00e9 \u2192 \U0001F600");
        QTest::newRow("U+202E turns what follows") << std::string("a\u202Eb") << std::string("a\\u202eb");
        QTest::newRow("isolates") << std::string("\u2066\u2067\u2068\u2069")
                                  << std::string("\\u2066\\u2067\\u2068\\u2069");
        QTest::newRow("marks") << std::string("\u200E\u200F\u061C") << std::string("\\u200e\\u200f\\u061c");
        QTest::newRow("line and paragraph separators")
            << std::string("a\u2028b\u2029") << std::string("a\\u2028b\\u2029");
        QTest::newRow("Arabic and Hebrew are text")
            << std::string("\u0627\u05D0") << std::string("\u0627\u05D0");
        QTest::newRow("a joiner is text") << std::string("\u200D") << std::string("\u200D");
        QTest::newRow("no UTF-8") << std::string("\xC2") << std::string("\\xc2");
    }

    void nothingThatATerminalObeysIsShown()
    {
        QFETCH(std::string, text);
        QFETCH(std::string, shown);
        QCOMPARE(printable(text), shown);
    }

    void onlyMarksAreTakenOut()
    {
        QCOMPARE(withoutMarks("a\n\tb\u202E\xFF"), std::string("a\n\tb\\u202e\xFF"));
        QVERIFY(isUtf8("m\u00e9"));
        QVERIFY(!isUtf8("m\xFF"));
        QVERIFY(!isUtf8("m\xC3"));
    }

    void thousandsAreGrouped()
    {
        QCOMPARE(grouped(0), std::string("0"));
        QCOMPARE(grouped(450), std::string("450"));
        QCOMPARE(grouped(28800), std::string("28,800"));
        QCOMPARE(grouped(100000), std::string("100,000"));
        QCOMPARE(grouped(1234567890), std::string("1,234,567,890"));
    }

    void whatIsLongIsCut() { QCOMPARE(printable("abcdef", 3), std::string("abc…")); }
};

QTEST_APPLESS_MAIN(TestText)
#include "tst_text.moc"
