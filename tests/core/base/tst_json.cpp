// JSON as text and back: what is not UTF-8 or not JSON at all.
#include "core/base/json.h"

#include <QTest>

using namespace halftone;

class TestJson : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void writesJson()
    {
        const OrderedJson json{{"b", 1}, {"a", "\xff"}};
        QCOMPARE(jsonText(json), std::string("{\"b\":1,\"a\":\"\xef\xbf\xbd\"}"));
        QCOMPARE(jsonText(json, 1, '\t'), std::string("{\n\t\"b\": 1,\n\t\"a\": \"\xef\xbf\xbd\"\n}"));
    }

    void readsJson()
    {
        QVERIFY(parseOrdered("{\"b\":1,").is_discarded());
        QVERIFY(parseSorted("").is_discarded());
        QCOMPARE(parseOrdered("{\"b\":1,\"a\":2}").begin().key(), std::string("b"));
        QCOMPARE(parseSorted("{\"b\":1,\"a\":2}").begin().key(), std::string("a"));
    }
};

QTEST_GUILESS_MAIN(TestJson)
#include "tst_json.moc"
