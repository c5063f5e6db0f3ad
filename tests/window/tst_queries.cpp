#include "core/session/node_query.h"
#include "tests/window/window_fixture.h"
#include "widgets/graphview/find_panel.h"
#include "widgets/tables/layers_table.h"

#include <QLabel>
#include <QLineEdit>
#include <QTableView>

using namespace halftone;

/// One language in the find panel and in the filter above the layers.
class TestQueries : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase();
    void aWrongQueryIsToldAlikeInBoth_data();
    void aWrongQueryIsToldAlikeInBoth();
    void whatIsNotMeasuredIsToldInBoth();
    void rightQueriesFindTheSameOperators_data();
    void rightQueriesFindTheSameOperators();
    void theExamplesInTheFieldsWork();

private:
    QLineEdit *finder() { return panel().findChild<QLineEdit *>(); }
    QLineEdit *filter() { return table().findChild<QLineEdit *>(); }
    widgets::FindPanel &panel() { return *m_window->findChild<widgets::FindPanel *>(); }
    widgets::LayersTable &table() { return *m_window->findChild<widgets::LayersTable *>(); }
    QString saidWhileFinding() { return panel().findChild<QLabel *>()->text(); }
    QString saidWhileFiltering()
    {
        for (const QLabel *label : table().findChildren<QLabel *>()) {
            if (label->accessibleName() == u"Filter message" && !label->isHidden())
                return label->text();
        }
        return {};
    }
    void type(const QString &text)
    {
        for (QLineEdit *field : {finder(), filter()}) {
            field->clear();
            QTest::keyClicks(field, text);
        }
    }

    std::unique_ptr<app::MainWindow> m_window;
};

void TestQueries::initTestCase()
{
    m_window = std::make_unique<app::MainWindow>();
    m_window->show();
    test::openQuickly(*m_window);
    m_window->graphView().showFind();
}

void TestQueries::aWrongQueryIsToldAlikeInBoth_data()
{
    QTest::addColumn<QString>("text");
    QTest::addColumn<QString>("said");
    QTest::newRow("unknown field") << "eror > 0.01"
                                   << "character 1: unknown field \"eror\" (did you mean error?)";
    QTest::newRow("no number") << "error > much"
                               << "character 9: \"much\" is not a number";
    QTest::newRow("wrong unit") << "isolated > 3%"
                                << "character 12: isolated is not measured in %";
    QTest::newRow("comma") << "conv, add"
                           << "character 5: a comma, expected \"and\" or \"or\" between conditions";
    QTest::newRow("pattern") << "/stage(/"
                             << "character 7: unmatched '('";
    QTest::newRow("text by size") << "type > f16"
                                  << "character 6: \">\" after a text field";
}

void TestQueries::aWrongQueryIsToldAlikeInBoth()
{
    QFETCH(const QString, text);
    QFETCH(const QString, said);
    type(text);
    QVERIFY2(saidWhileFinding().contains(said), qPrintable(saidWhileFinding()));
    QCOMPARE(saidWhileFiltering(), saidWhileFinding());
    QVERIFY(panel().found().empty());
    QCOMPARE(table().view()->model()->rowCount(), 29); // a filter that is wrong hides nothing
    type(QString());
    QCOMPARE(saidWhileFiltering(), QString());
}

void TestQueries::whatIsNotMeasuredIsToldInBoth()
{
    type(QStringLiteral("time > 100us"));
    QVERIFY2(saidWhileFinding().startsWith("No times have been measured yet"),
             qPrintable(saidWhileFinding()));
    QCOMPARE(saidWhileFiltering(), saidWhileFinding());
    QCOMPARE(table().view()->model()->rowCount(), 0);
}

void TestQueries::rightQueriesFindTheSameOperators_data()
{
    QTest::addColumn<QString>("text");
    QTest::addColumn<int>("operators");
    QTest::newRow("an operator by a part of its name") << "op = conv" << 6;
    QTest::newRow("an operator by its whole name") << "op = Convolution" << 6;
    QTest::newRow("pattern") << "name = /^stage1/ and op:conv" << 2;
    QTest::newRow("either") << "op = conv or op = pooling" << 7;
    QTest::newRow("not") << "op:conv not stage2" << 3;
}

void TestQueries::rightQueriesFindTheSameOperators()
{
    QFETCH(const QString, text);
    type(text);
    QTEST(static_cast<int>(panel().found().size()), "operators");
    QTEST(table().view()->model()->rowCount(), "operators");
    QCOMPARE(saidWhileFiltering(), QString());
}

void TestQueries::theExamplesInTheFieldsWork()
{
    for (const QLineEdit *field : {finder(), filter()}) {
        const QStringList examples
            = field->placeholderText().section(QStringLiteral(": "), 1).split(QStringLiteral(" \u00b7 "));
        QVERIFY(examples.size() > 2);
        for (const QString &example : examples)
            QVERIFY2(session::Query::parse(example.toStdString(), session::nodeFields()).ok(),
                     qPrintable(example));
    }
}

HALFTONE_WINDOW_TEST(TestQueries)
#include "tst_queries.moc"
