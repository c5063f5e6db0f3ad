#include "core/session/document.h"
#include "core/session/node_query.h"

#include <QTest>

#include <limits>

using namespace halftone;

/// Over the sample, whose nodes are listed in resources/sample.
class TestNodeQuery : public QObject
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
    void castsAreThoseThatANodeReads();
    void everyFieldCanBeAsked();
    void examplesWork();

private:
    session::FoundNodes answerTo(const QString &text, const session::Figures &figures) const
    {
        const auto query = session::Query::parse(text.toStdString(), session::nodeFields());
        if (!query.ok())
            qFatal("%s", query.error().message().c_str());
        return session::findNodes(query.value(), *m_snapshot, figures);
    }
    QStringList found(const QString &text) const
    {
        QStringList names;
        for (const graph::NodeId node : answerTo(text, m_figures).nodes)
            names << QString::fromStdString(m_snapshot->graph().node(node).name);
        return names;
    }

    std::shared_ptr<const session::Snapshot> m_snapshot;
    session::Figures m_figures;
};

void TestNodeQuery::initTestCase()
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
            figures.isolated = tensor::ErrorFigures{};
            figures.isolated->sqnrDb = 25;
            figures.isolated->relativeL2 = 0.05;
        } else if (name == "pool") {
            figures.mixed = session::NodeLatency{20, 1, 0};
        }
    }
}

void TestNodeQuery::termsSelectByNameOperatorTypeShapeAndPattern_data()
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
    QTest::newRow("other names of a type")
        << "type = float32 type = fp32 op:scalar" << QStringList({"mean_energy", "mean_energy_plus_one"});
    QTest::newRow("a part, where no operator has the whole") << "op = pool" << QStringList({"pool"});
    QTest::newRow("not of variables") << "not op:o and fc" << QStringList();
    QTest::newRow("shape") << "shape = 10,32" << QStringList({"fc_weight"});
}

void TestNodeQuery::termsSelectByNameOperatorTypeShapeAndPattern()
{
    QFETCH(QString, text);
    QFETCH(QStringList, names);
    QCOMPARE(found(text), names);
}

void TestNodeQuery::figuresAreComparedInTheirUnits_data()
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
    QTest::newRow("the isolated SQNR, as its column has it") << "isolated < 30" << QStringList({"fc"});
    QTest::newRow("the isolated error") << "isolated_error > 1 %" << QStringList({"fc"});
    QTest::newRow("share of the time") << "share > 90 %" << QStringList({"fc"});
    QTest::newRow("with a word") << "time > 1 us op:Fully" << QStringList({"fc"});
}

void TestNodeQuery::figuresAreComparedInTheirUnits()
{
    QFETCH(QString, text);
    QFETCH(QStringList, names);
    QCOMPARE(found(text), names);
}

void TestNodeQuery::operatorsComeBeforeTheirWeights()
{
    const QStringList names = found("fc");
    QCOMPARE(names.first(), QStringLiteral("fc")); // in the file its weights stand before it
    QVERIFY(names.size() > 2 && names.contains("fc_weight"));
    QCOMPARE(found("stem_conv").first(), QStringLiteral("stem_conv"));
}

void TestNodeQuery::aNodeWithoutAFigureNeverMatchesOne()
{
    QVERIFY(!found("error >= 0").contains("pool"));
    QVERIFY(!found("not error >= 0").contains("pool"));
    QVERIFY(!found("time < 1 s").contains("energy"));
    // With no figure at all, it is said how to get them.
    const auto notes = [this](const QString &text) {
        const std::vector<std::string> all = answerTo(text, {}).notes;
        return all.empty() ? std::string() : all.front();
    };
    QVERIFY(notes("error > 0").starts_with("No errors have been computed yet"));
    QVERIFY(notes("isolated < 3").starts_with("No isolated errors have been computed yet"));
    QVERIFY(notes("time > 0 or conv").starts_with("No times have been measured yet"));
    QVERIFY(notes("backend_max > 0").starts_with("No backends have been compared yet"));
    QVERIFY(notes("conv casts > 0").empty());
    QVERIFY(answerTo("error > 0 time > 0", m_figures).notes.empty());
}

void TestNodeQuery::castsAreThoseThatANodeReads()
{
    const std::vector<std::uint32_t> casts = session::castsByReader(*m_snapshot);
    const QStringList names = found("casts > 0");
    QVERIFY(!names.isEmpty());
    for (graph::NodeId id = 0; id < casts.size(); ++id)
        QCOMPARE(names.contains(QString::fromStdString(m_snapshot->graph().node(id).name)), casts[id] > 0);
}

void TestNodeQuery::everyFieldCanBeAsked()
{
    for (const session::QueryField &field : session::nodeFields()) {
        const bool isText = field.kind == session::QueryField::Kind::Text;
        for (const std::string_view name : field.names) {
            const std::string text = std::string(name) + (isText ? ":a" : " > 0");
            QVERIFY2(session::Query::parse(text, session::nodeFields()).ok(), text.c_str());
        }
    }
}

void TestNodeQuery::examplesWork()
{
    for (const std::string_view example : session::nodeQueryExamples()) {
        const QString text = QString::fromStdString(std::string(example));
        QVERIFY2(!found(text).isEmpty(), qPrintable(text));
    }
}

QTEST_APPLESS_MAIN(TestNodeQuery)
#include "tst_node_query.moc"
