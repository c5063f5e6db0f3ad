#include "core/layout/name_cut.h"

#include <QTest>

using namespace halftone;

/// How names that are too long are cut.
class TestNameCut : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void numbersStayWholeWhereTheyCan_data()
    {
        QTest::addColumn<QString>("name");
        QTest::addColumn<int>("most");
        QTest::addColumn<QString>("cut"); // worked out by hand
        QTest::newRow("fits") << "layers.17" << 9 << "layers.17";
        QTest::newRow("no number: a third before") << "abcdefghijkl" << 7 << QString::fromUtf8("ab…ijkl");
        QTest::newRow("behind the number")
            << "layers.17.self_attn.q_proj" << 16 << QString::fromUtf8("layers.17…q_proj");
        QTest::newRow("before the number") << "backbone_features_17" << 8 << QString::fromUtf8("ba…es_17");
        QTest::newRow("no half of a number") << "ab1234cdefghij" << 10 << QString::fromUtf8("ab1234…hij");
        QTest::newRow("room for none") << "123456789" << 4 << QString::fromUtf8("1…89");
        QTest::newRow("letters of several bytes")
            << QString::fromUtf8("äöü1äöüäöü") << 6 << QString::fromUtf8("äöü1…ü");
        QTest::newRow("nothing") << "" << 3 << "";
    }

    void numbersStayWholeWhereTheyCan()
    {
        QFETCH(const QString, name);
        QFETCH(const int, most);
        QFETCH(const QString, cut);
        QCOMPARE(QString::fromStdString(layout::cutName(name.toStdString(), static_cast<std::size_t>(most))),
                 cut);
    }

    void indicesOfALongNameStay()
    {
        const std::string name = "model.decoder.layers.17.self_attn.query_key_value.weight";
        for (std::size_t most = 24; most < name.size(); ++most) {
            const std::string cut = layout::cutName(name, most);
            QVERIFY2(cut.find("17") != std::string::npos, cut.c_str());
        }
    }
};

QTEST_GUILESS_MAIN(TestNameCut)
#include "tst_name_cut.moc"
