#include "tests/widgets/graphview/graph_fixture.h"
#include "widgets/graphview/find_query.h"

#include <limits>

using namespace halftone;
using widgets::FindQuery;

/// Over the sample, whose nodes are listed in resources/sample.
class TestFindQuery : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase();
    void termsSelectByNameOperatorTypeShapeAndPattern_data();
    void termsSelectByNameOperatorTypeShapeAndPattern();
    void figuresAreComparedInTheirUnits_data();
    void figuresAreComparedInTheirUnits();
    void aNodeWithoutAFigureNeverMatchesOne();
    void operatorsComeBeforeTheirWeights();
    void whatIsWrongIsSaidAndMatchesNothing_data();
    void whatIsWrongIsSaidAndMatchesNothing();

private:
    QStringList found(const QString &text) const
    {
        QStringList names;
        for (const graph::NodeId node : FindQuery::parse(text).run(*m_snapshot, m_figures))
            names << QString::fromStdString(m_snapshot->graph().node(node).name);
        return names;
    }

    std::shared_ptr<const session::Snapshot> m_snapshot;
    session::Figures m_figures;
};

void TestFindQuery::initTestCase()
{
    auto document = session::Document::open(HALFTONE_SOURCE_DIR "/resources/sample/digits-symbol.json");
    QVERIFY(document.ok());
    m_snapshot = session::Document::derive(document.value()->request(), nullptr).value();
    m_figures.nodes.resize(m_snapshot->graph().nodeCount());
    for (graph::NodeId id = 0; id < m_figures.nodes.size(); ++id) {
        const std::string &name = m_snapshot->graph().node(id).name;
        session::NodeFigures &figures = m_figures.nodes[id];
        if (name == "energy") {
            figures.cumulative = tensor::ErrorFigures{};
            figures.cumulative->sqnrDb = std::numeric_limits<double>::quiet_NaN();
            figures.cumulative->overflow = 450;
            figures.cumulative->relativeL2 = std::numeric_limits<double>::infinity();
        } else if (name == "fc") {
            figures.cumulative = tensor::ErrorFigures{};
            figures.cumulative->sqnrDb = 61;
            figures.cumulative->relativeL2 = 0.001;
            figures.mixed = session::NodeLatency{250, 0, 0};
        } else if (name == "pool") {
            figures.mixed = session::NodeLatency{20, 0, 0};
        }
    }
}

void TestFindQuery::termsSelectByNameOperatorTypeShapeAndPattern_data()
{
    QTest::addColumn<QString>("text");
    QTest::addColumn<QStringList>("names");
    QTest::newRow("nothing") << "" << QStringList();
    QTest::newRow("word in name") << "energy"
                                  << QStringList({"energy", "mean_energy", "mean_energy_plus_one"});
    QTest::newRow("operator by a word") << "pooling" << QStringList({"pool"});
    QTest::newRow("operator") << "op:POOL" << QStringList({"pool"});
    QTest::newRow("name") << "name:fc_w" << QStringList({"fc_weight"});
    QTest::newRow("two terms") << "op:conv stage2"
                               << QStringList({"stage2_a_conv", "stage2_b_conv", "stage2_shortcut_conv"});
    QTest::newRow("pattern") << "/stage[12]_add/" << QStringList({"stage1_add", "stage2_add"});
    QTest::newRow("pattern over operators") << "/^soft/" << QStringList({"prob"});
    QTest::newRow("precision") << "type:f32 op:scalar"
                               << QStringList({"mean_energy", "mean_energy_plus_one"});
    QTest::newRow("the whole operator") << "op = sum" << QStringList({"energy"});
    QTest::newRow("the whole name") << "name=ENERGY" << QStringList({"energy"});
    QTest::newRow("the whole precision, as the layers' filter has it")
        << "type = f32 op:scalar" << QStringList({"mean_energy", "mean_energy_plus_one"});
}

void TestFindQuery::termsSelectByNameOperatorTypeShapeAndPattern()
{
    QFETCH(QString, text);
    QFETCH(QStringList, names);
    QCOMPARE(found(text), names);
}

void TestFindQuery::figuresAreComparedInTheirUnits_data()
{
    QTest::addColumn<QString>("text");
    QTest::addColumn<QStringList>("names");
    QTest::newRow("error") << "error > 0.01" << QStringList({"energy"});
    QTest::newRow("small error") << "error<=0.001" << QStringList({"fc"});
    QTest::newRow("a failed layer is the worst") << "sqnr < 30 dB" << QStringList({"energy"});
    QTest::newRow("overflow") << "overflow > 0" << QStringList({"energy"});
    QTest::newRow("microseconds") << "time > 100 us" << QStringList({"fc"});
    QTest::newRow("no unit is microseconds") << "time >= 20" << QStringList({"pool", "fc"});
    QTest::newRow("milliseconds") << "time < 0.1 ms" << QStringList({"pool"});
    QTest::newRow("with a word") << "time > 1 us op:Fully" << QStringList({"fc"});
}

void TestFindQuery::figuresAreComparedInTheirUnits()
{
    QFETCH(QString, text);
    QFETCH(QStringList, names);
    QCOMPARE(found(text), names);
}

void TestFindQuery::operatorsComeBeforeTheirWeights()
{
    const QStringList names = found("fc");
    QCOMPARE(names.first(), QStringLiteral("fc")); // in the file its weights stand before it
    QVERIFY(names.size() > 2 && names.contains("fc_weight"));
    QCOMPARE(found("stem_conv").first(), QStringLiteral("stem_conv"));
}

void TestFindQuery::aNodeWithoutAFigureNeverMatchesOne()
{
    QVERIFY(!found("error >= 0").contains("pool"));
    QVERIFY(!found("time < 1 s").contains("energy"));
    // With no figure at all, it is said how to get them.
    QVERIFY(FindQuery::parse("error > 0").missing({}).contains("errors"));
    QVERIFY(FindQuery::parse("time > 0").missing({}).contains("times"));
    QVERIFY(FindQuery::parse("error > 0 time > 0").missing(m_figures).isEmpty());
    QVERIFY(FindQuery::parse("conv").missing({}).isEmpty());
}

void TestFindQuery::whatIsWrongIsSaidAndMatchesNothing_data()
{
    QTest::addColumn<QString>("text");
    QTest::addColumn<QString>("said");
    QTest::newRow("unknown figure") << "speed > 3"
                                    << "speed";
    QTest::newRow("no number") << "error > 1e"
                               << "1e";
    QTest::newRow("broken pattern") << "/a(b/"
                                    << "character";
    QTest::newRow("decibels of time") << "time > 3 dB"
                                      << "dB";
}

void TestFindQuery::whatIsWrongIsSaidAndMatchesNothing()
{
    QFETCH(QString, text);
    QFETCH(QString, said);
    const FindQuery query = FindQuery::parse(text);
    QVERIFY2(query.error().contains(said), qPrintable(query.error()));
    QVERIFY(query.run(*m_snapshot, m_figures).empty());
}

QTEST_MAIN(TestFindQuery)
#include "tst_find_query.moc"
