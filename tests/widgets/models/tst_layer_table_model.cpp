#include "core/session/node_query.h"
#include "tests/widgets/models/sample_document.h"
#include "widgets/models/layer_filter_proxy.h"

#include <QAbstractItemModel>
#include <QAbstractItemModelTester>
#include <QModelIndex>
#include <QSignalSpy>
#include <QTest>

#include <cmath>
#include <limits>

using namespace halftone;
using namespace halftone::widgets;
using Model = LayerTableModel;

class TestLayerTableModel : public QObject
{
    Q_OBJECT

private:
    std::unique_ptr<session::Document> m_document;
    std::shared_ptr<const session::Snapshot> m_snapshot;

    graph::NodeId node(const char *name) const { return test::nodeNamed(m_snapshot->graph(), name); }
    static QString text(const Model &model, int row, int column)
    {
        return model.index(row, column).data().toString();
    }
    static tensor::ErrorFigures error(double sqnrDb, double relative, std::uint64_t overflow = 0)
    {
        tensor::ErrorFigures figures;
        figures.count = 10;
        figures.sqnrDb = sqnrDb;
        figures.relativeL2 = relative;
        figures.overflow = overflow;
        return figures;
    }
    /// Figures by hand, so that what is shown can be told beforehand.
    session::Figures figures() const
    {
        session::Figures figures;
        figures.nodes.resize(m_snapshot->graph().nodeCount());
        figures.comparisonRevision = figures.isolatedRevision = figures.latencyRevision
            = m_snapshot->revision;
        figures.nodes[node("stem_conv")].cumulative = error(41.04, 0.00886);
        figures.nodes[node("stem_conv")].isolated = error(44.7, 0.0058);
        figures.nodes[node("stem_conv")].fp32 = session::NodeLatency{210, 0, 0};
        figures.nodes[node("stem_conv")].mixed = session::NodeLatency{118, 0, 2};
        figures.nodes[node("fc")].cumulative = error(std::numeric_limits<double>::infinity(), 0);
        figures.nodes[node("pool")].cumulative = error(std::nan(""), std::nan(""), 3);
        figures.nodes[node("prob")].cumulative = error(9.5, 0.33);
        return figures;
    }

private Q_SLOTS:
    void init()
    {
        m_document = test::openSample();
        QVERIFY(m_document);
        m_snapshot = test::snapshotOf(*m_document);
    }

    void beforeAConversionThereAreTheSourcesTypesAlone()
    {
        Model model;
        model.setSnapshot(session::Document::unconverted(m_document->request(), nullptr, std::nullopt));
        const int row = model.rowOf(node("stem_conv"));
        QCOMPARE(text(model, row, Model::Precision), QStringLiteral("f32"));
        QCOMPARE(text(model, row, Model::Casts), QString());
        model.setSnapshot(m_snapshot);
        QCOMPARE(text(model, row, Model::Precision), QStringLiteral("f32 \u2192 f16"));
        QVERIFY(text(model, row, Model::Casts).toInt() > 0); // of its data, which are float32
    }

    void everyOperatorHasARowAndNoVariableHas()
    {
        Model model;
        const QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
        QCOMPARE(model.rowCount(), 0);
        model.setSnapshot(m_snapshot);
        QCOMPARE(model.rowCount(), 29);
        QCOMPARE(text(model, 0, Model::Name), QStringLiteral("pixel_square"));
        QCOMPARE(text(model, 28, Model::Name), QStringLiteral("prob"));
        QCOMPARE(model.rowOf(node("stem_conv_weight")), -1);
        QCOMPARE(model.nodeAt(model.rowOf(node("fc"))), node("fc"));
        model.setSnapshot(nullptr);
        QCOMPARE(model.rowCount(), 0);
    }

    void figuresAreShownAsAPersonReadsThem()
    {
        Model model;
        const QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
        model.setSnapshot(m_snapshot);
        model.setFigures(figures());
        const int conv = model.rowOf(node("stem_conv"));
        QCOMPARE(text(model, conv, Model::Precision), QStringLiteral("f32 \u2192 f16"));
        QCOMPARE(text(model, conv, Model::Sqnr), QStringLiteral("41.0"));
        QCOMPARE(text(model, conv, Model::IsolatedSqnr), QStringLiteral("44.7"));
        QCOMPARE(text(model, conv, Model::RelativeL2), QStringLiteral("0.00886"));
        QCOMPARE(text(model, conv, Model::Fp32Us), QStringLiteral("210"));
        QCOMPARE(text(model, conv, Model::MixedUs), QStringLiteral("118"));
        QCOMPARE(text(model, conv, Model::Overflow), QStringLiteral("0"));
        QCOMPARE(text(model, model.rowOf(node("prob")), Model::Precision), QStringLiteral("f32"));
        QCOMPARE(text(model, model.rowOf(node("fc")), Model::Sqnr), QStringLiteral("\u221e"));
        QCOMPARE(text(model, model.rowOf(node("pool")), Model::Sqnr), QStringLiteral("failed"));
        QVERIFY(model.index(model.rowOf(node("pool")), Model::Overflow).data(Model::WarningRole).toBool());
        // No figure, no text, nothing to sort by.
        QCOMPARE(text(model, 0, Model::Sqnr), QString());
        QVERIFY(!model.index(0, Model::Sqnr).data(Model::SortRole).isValid());
    }

    void castsAreThoseThatTheNodeReads()
    {
        Model model;
        model.setSnapshot(m_snapshot);
        std::vector<std::size_t> expected(m_snapshot->graph().nodeCount());
        for (graph::NodeId id = 0; id < expected.size(); ++id) {
            for (const rewrite::InsertedCast &cast : m_snapshot->converted->conversion.casts) {
                bool reads = false;
                for (const rewrite::Reader &reader : cast.readers)
                    reads = reads || reader.node == id;
                expected[id] += reads ? 1U : 0U;
            }
        }
        for (int row = 0; row < model.rowCount(); ++row)
            QCOMPARE(text(model, row, Model::Casts), QString::number(expected[model.nodeAt(row)]));
    }

    void figuresOfAnEarlierStateAreStaleAndStay()
    {
        Model model;
        model.setSnapshot(m_snapshot);
        model.setFigures(figures());
        const QModelIndex sqnr = model.index(model.rowOf(node("stem_conv")), Model::Sqnr);
        QVERIFY(!sqnr.data(Model::StaleRole).toBool());
        QSignalSpy resets(&model, &QAbstractItemModel::modelReset);
        QVERIFY(m_document->apply(policy::MoveOperators{{"Convolution"}, policy::List::Fp32}).ok());
        model.setSnapshot(test::snapshotOf(*m_document));
        QCOMPARE(resets.count(), 0);
        QVERIFY(sqnr.data(Model::StaleRole).toBool());
        QCOMPARE(sqnr.data().toString(), QStringLiteral("41.0"));
        QVERIFY(!sqnr.siblingAtColumn(Model::Precision).data(Model::StaleRole).toBool());
        QCOMPARE(sqnr.siblingAtColumn(Model::Precision).data().toString(), QStringLiteral("f32"));
    }

    void aPinnedBaselineGivesDifferences()
    {
        Model model;
        const QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
        model.setSnapshot(m_snapshot);
        model.setFigures(figures());
        const int conv = model.rowOf(node("stem_conv"));
        QCOMPARE(text(model, conv, Model::SqnrChange), QString());
        model.pinBaseline();
        QVERIFY(m_document->apply(policy::MoveOperators{{"Convolution"}, policy::List::Fp32}).ok());
        m_snapshot = test::snapshotOf(*m_document);
        model.setSnapshot(m_snapshot);
        session::Figures later = figures();
        later.nodes[node("stem_conv")].cumulative = error(43.34, 0.006);
        later.nodes[node("stem_conv")].mixed = session::NodeLatency{150, 0, 0};
        model.setFigures(later);
        QCOMPARE(text(model, conv, Model::BaselinePrecision), QStringLiteral("f16"));
        QCOMPARE(text(model, conv, Model::BaselineSqnr), QStringLiteral("41.0"));
        QCOMPARE(text(model, conv, Model::SqnrChange), QStringLiteral("+2.3"));
        QCOMPARE(text(model, conv, Model::UsChange), QStringLiteral("+32.0"));
        // Both without error: nothing has changed, though infinity less infinity is no number.
        QCOMPARE(text(model, model.rowOf(node("fc")), Model::SqnrChange), QStringLiteral("0.0"));
        model.clearBaseline();
        QCOMPARE(text(model, conv, Model::BaselineSqnr), QString());
    }

    void sortingPutsLayersWithoutFiguresLastBothWays()
    {
        Model model;
        model.setSnapshot(m_snapshot);
        model.setFigures(figures());
        LayerFilterProxy proxy;
        const QAbstractItemModelTester tester(&proxy, QAbstractItemModelTester::FailureReportingMode::QtTest);
        proxy.setSourceModel(&model);
        const auto firstFour = [&] {
            QStringList names;
            for (int row = 0; row < 4; ++row)
                names << proxy.index(row, Model::Name).data().toString();
            return names;
        };
        proxy.sort(Model::Sqnr, Qt::AscendingOrder);
        QCOMPARE(firstFour(), QStringList({"pool", "prob", "stem_conv", "fc"}));
        proxy.sort(Model::Sqnr, Qt::DescendingOrder);
        QCOMPARE(firstFour(), QStringList({"fc", "stem_conv", "prob", "pool"}));
        QVERIFY(!proxy.index(28, Model::Sqnr).data(Model::SortRole).isValid());
        proxy.sort(Model::RelativeL2, Qt::DescendingOrder);
        QCOMPARE(firstFour(), QStringList({"pool", "prob", "stem_conv", "fc"}));
    }

    void queriesFindWhatTheyAskFor_data()
    {
        QTest::addColumn<QString>("query");
        QTest::addColumn<QStringList>("names");
        QTest::newRow("error") << "error > 0.01" << QStringList({"pool", "prob"});
        QTest::newRow("no blanks") << "error>=0.33" << QStringList({"pool", "prob"});
        QTest::newRow("percent") << "error > 20 %" << QStringList({"pool", "prob"});
        QTest::newRow("decibels, a failed layer is the worst")
            << "sqnr < 42 dB" << QStringList({"stem_conv", "pool", "prob"});
        QTest::newRow("isolated, as its column") << "isolated > 44 dB" << QStringList({"stem_conv"});
        QTest::newRow("time") << "time > 100 us" << QStringList({"stem_conv"});
        QTest::newRow("milliseconds") << "time < 0.2ms" << QStringList({"stem_conv"});
        QTest::newRow("overflow") << "overflow > 0" << QStringList({"pool"});
        QTest::newRow("word") << "shortcut" << QStringList({"stage2_shortcut_conv", "stage2_shortcut_bn"});
        QTest::newRow("case and operator") << "softMAX" << QStringList({"prob"});
        QTest::newRow("two words") << "stage2 add" << QStringList({"stage2_add"});
        QTest::newRow("regular expression")
            << "/^stage\\d_add$/" << QStringList({"stage1_add", "stage2_add"});
        QTest::newRow("op") << "op = pooling" << QStringList({"pool"});
        QTest::newRow("type and word")
            << "type=f16 stem" << QStringList({"stem_conv", "stem_bn", "stem_relu"});
        QTest::newRow("all must hold") << "sqnr < 42 stem" << QStringList({"stem_conv"});
    }

    void queriesFindWhatTheyAskFor()
    {
        QFETCH(const QString, query);
        QFETCH(const QStringList, names);
        Model model;
        model.setSnapshot(m_snapshot);
        model.setFigures(figures());
        LayerFilterProxy proxy;
        proxy.setSourceModel(&model);
        auto parsed = session::Query::parse(query.toStdString(), session::nodeFields());
        QVERIFY(parsed.ok());
        proxy.setQuery(std::move(parsed).value());
        QVERIFY(proxy.notes().empty());
        QStringList found;
        for (int row = 0; row < proxy.rowCount(); ++row)
            found << proxy.index(row, Model::Name).data().toString();
        QCOMPARE(found, names);
    }

    void theFilterFollowsFiguresAndEdits()
    {
        Model model;
        LayerFilterProxy proxy;
        proxy.setSourceModel(&model);
        proxy.setQuery(session::Query::parse("type = f16 sqnr < 42", session::nodeFields()).value());
        model.setSnapshot(m_snapshot);
        QCOMPARE(proxy.rowCount(), 0);
        QCOMPARE(proxy.notes().size(), std::size_t{1}); // nothing is measured yet
        model.setFigures(figures());
        QCOMPARE(proxy.index(0, Model::Name).data().toString(), QStringLiteral("stem_conv"));
        QVERIFY(proxy.notes().empty());
        const int before = proxy.rowCount();
        QVERIFY(m_document->apply(policy::MoveOperators{{"Convolution"}, policy::List::Fp32}).ok());
        model.setSnapshot(test::snapshotOf(*m_document));
        QCOMPARE(proxy.rowCount(), before - 1);
        proxy.setQuery({});
        QCOMPARE(proxy.rowCount(), 29);
    }
};

QTEST_GUILESS_MAIN(TestLayerTableModel)
#include "tst_layer_table_model.moc"
