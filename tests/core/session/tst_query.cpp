#include "core/session/query.h"

#include <QTest>

#include <cmath>

using namespace halftone;
using session::Query;
using session::QueryField;

namespace {

using Kind = QueryField::Kind;

struct ToyRow
{
    std::string name;
    std::string op;
    std::string shape;
    std::optional<double> error, time, sqnr;
};

/// Five rows, of which the last one has no figures.
class ToyTable : public session::QueryTable
{
public:
    static const std::vector<QueryField> &all()
    {
        static const std::vector<QueryField> kAll{
            {{"name"}, Kind::Text, true},
            {{"op", "operator"}, Kind::Text, true, true},
            {{"shape"}, Kind::Text, true},
            {{"error", "l_2"}, Kind::Ratio, false, false, "No errors yet."},
            {{"time"}, Kind::Time},
            {{"sqnr"}, Kind::Decibels},
            {{"speed"}, Kind::Count, false, false, "No speeds yet."},
        };
        return kAll;
    }

    std::span<const QueryField> fields() const override { return all(); }
    std::size_t rowCount() const override { return m_rows.size(); }
    std::vector<std::string> texts(std::size_t row, std::size_t field) const override
    {
        const ToyRow &one = m_rows[row];
        if (field == 1 && one.op.empty())
            return {};
        if (field == 2)
            return {one.shape, QString::fromStdString(one.shape).replace('x', ',').toStdString()};
        return {field == 0 ? one.name : one.op};
    }
    std::optional<double> number(std::size_t row, std::size_t field) const override
    {
        const ToyRow &one = m_rows[row];
        return field == 3 ? one.error : field == 4 ? one.time : field == 5 ? one.sqnr : std::nullopt;
    }

private:
    std::vector<ToyRow> m_rows{
        {"stem_conv", "Convolution", "8x16x3x3", 0.001, 50, 60},
        {"/stage1/Add", "Add", "8x16", 0.02, 1500, 20},
        {"energy", "sum", "64", std::numeric_limits<double>::infinity(), 20, std::nan("")},
        {"two words", "ReduceSum", "64x32", std::nan(""), 2e6, 41},
        {"or", "", "1", {}, {}, {}},
    };
};

Query::Answer answerTo(const QString &text)
{
    const auto query = Query::parse(text.toStdString(), ToyTable::all());
    if (!query.ok())
        qFatal("%s", query.error().message().c_str());
    return query.value().ask(ToyTable());
}

} // namespace

class TestQuery : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void rowsAreThoseThatHold_data();
    void rowsAreThoseThatHold();
    void whatIsWrongIsSaidWithItsPlace_data();
    void whatIsWrongIsSaidWithItsPlace();
    void whatNoRowHasIsNoted_data();
    void whatNoRowHasIsNoted();
    void hugeQueriesEndSoon();
};

void TestQuery::rowsAreThoseThatHold_data()
{
    QTest::addColumn<QString>("text");
    QTest::addColumn<QString>("rows");
    const auto row = [](const char *text, const char *rows) {
        QTest::addRow("%s", text) << QString::fromUtf8(text) << QString(rows);
    };
    row("", "");
    row("CONV", "0");
    row("sum", "23");
    row("64", "23");
    row("64x32", "3");
    row("64,32", "3");
    row("\"two words\"", "3");
    row("two words", "3");
    row("\"two \\\"words\"", "");
    row("\"or\"", "34");
    row("/stage1/Add", "1");
    row("/^s/", "02");
    row("/(?i)^S/", "02");
    row("/a(b|c)/", "");
    row("name = ENERGY", "2");
    row("name = e", "");
    row("name:e", "012");
    row("name : \"o w\"", "3");
    row("name = /^e|d$/", "12");
    row("op = conv", "0");
    row("op == Sum", "2");
    row("op=sum", "2");
    row("op:sum", "23");
    row("Operator != add", "023");
    row("shape = 64,32", "3");
    row("shape:16", "01");
    row("error > 0.01", "123");
    row("L2 > 1 %", "123");
    row("error>1%", "123");
    row("error <= 1e-3", "0");
    row("error != 0.02", "023");
    row("sqnr < 30dB", "12");
    row("sqnr < 30 db", "12");
    row("sqnr >= 41", "03");
    row("time > 100us", "13");
    row("time > 100 \u00b5s", "13");
    row("time >= 1.5ms", "13");
    row("time >= 2 s", "3");
    row("time < 30000 ns", "2");
    row("sum time > 1ms", "3");
    row("conv or add", "01");
    row("conv || add", "01");
    row("sum and error > 1", "23");
    row("sum && not name = energy", "3");
    row("conv or sum and time > 1s", "03");
    row("(conv or sum) and time > 1s", "3");
    row("(conv or sum) (time < 60us)", "02");
    row("not time > 100us", "02");
    row("NOT (conv OR add OR sum)", "4");
    row("not not conv", "0");
    row("not op = conv", "123");
}

void TestQuery::rowsAreThoseThatHold()
{
    QFETCH(const QString, text);
    QString rows;
    for (const std::size_t row : answerTo(text).rows)
        rows += QString::number(row);
    QTEST(rows, "rows");
}

void TestQuery::whatIsWrongIsSaidWithItsPlace_data()
{
    QTest::addColumn<QString>("text");
    QTest::addColumn<QString>("said");
    const auto row = [](const char *text, const char *said) {
        QTest::addRow("%s", text) << QString::fromUtf8(text) << QString::fromUtf8(said);
    };
    row("eror > 3",
        "character 1: unknown field \"eror\" (did you mean error?), expected one of name, op, shape, error, "
        "time, sqnr, speed");
    row("conv 0.1 < error", "character 6: unknown field \"0.1\", expected one of");
    row("error > much", "character 9: \"much\" is not a number, expected a number such as 0.01 or 1%");
    row("error > 1e", "character 9: \"1e\" is not a number");
    row("error > 0,01", "character 9: \"0,01\" is not a number");
    row("error >", "character 8: nothing after \">\", expected a number such as 0.01 or 1%");
    row("(error >)", "character 9: \")\" after \">\", expected a number");
    row("time > 3 dB", "character 10: time is not measured in dB, expected a time such as 100us, 2ms or 1s");
    row("sqnr > 3ms", "character 8: sqnr is not measured in ms, expected a number such as 30 or 30dB");
    row("speed > 3 %", "character 11: speed is not measured in %, expected a number such as 1");
    row("time > 3min", "character 8: \"3min\" is not a number, expected a time such as");
    row("time:3", "character 5: \":\" after a numeric field, expected <, <=, >, >=, = or !=");
    row("op > conv", "character 4: \">\" after a text field, expected op = …, op != … or op:…");
    row("op =", "character 5: nothing after \"=\", expected a text");
    row("error => 3", "character 7: unknown comparison \"=>\", expected <, <=, >, >=, = or !=");
    row("> 3", "character 1: \">\" without a field in front of it, expected for example name > …");
    row("error > 1 < 2", "character 11: \"<\" without a field in front of it");
    row("conv, add", "character 5: a comma, expected \"and\" or \"or\" between conditions");
    row("error > 0.01, conv", "character 13: a comma, expected");
    row("conv; add", "character 5: a semicolon, expected");
    row("conv or", "character 8: nothing after \"or\", expected a condition");
    row("(conv or) add", "character 9: \")\" after \"or\", expected a condition");
    row("conv and", "character 9: nothing after \"and\", expected a condition");
    row("not", "character 4: nothing after \"not\", expected a condition (write \"and\" in quotation marks");
    row("or conv", "character 1: \"or\" without a condition in front of it");
    row("conv and or add", "character 10: \"or\" without a condition in front of it");
    row("(conv", "character 1: unmatched \"(\"");
    row("()", "character 2: \")\" after \"(\", expected a condition");
    row(")", "character 1: \")\", expected a condition");
    row("conv)", "character 5: unmatched \")\"");
    row("name = \"a", "character 8: an unclosed quotation mark");
    row("\u00e9\u00e9 /a(b/", "character 6: unmatched '('; write '\\(' to match the character itself");
    row("name = /a**/", "character 10: two repetitions in a row");
}

void TestQuery::whatIsWrongIsSaidWithItsPlace()
{
    QFETCH(const QString, text);
    QFETCH(const QString, said);
    const auto query = Query::parse(text.toStdString(), ToyTable::all());
    QVERIFY(!query.ok());
    const QString message = QString::fromStdString(query.error().message());
    QVERIFY2(message.startsWith(said), qPrintable(message));
}

void TestQuery::whatNoRowHasIsNoted_data()
{
    QTest::addColumn<QString>("text");
    QTest::addColumn<QString>("notes");
    QTest::newRow("nothing missing") << "conv error > 1"
                                     << "";
    QTest::newRow("not measured") << "speed > 1 or conv"
                                  << "No speeds yet.";
    QTest::newRow("once") << "speed > 1 and speed < 3"
                          << "No speeds yet.";
    QTest::newRow("no such value")
        << "op = summ"
        << "Nothing has op \"summ\" (did you mean sum?). Existing values: Add, Convolution, ReduceSum, sum.";
    QTest::newRow("a part of one") << "op = conv"
                                   << "";
    QTest::newRow("an open text") << "name = nobody"
                                  << "";
}

void TestQuery::whatNoRowHasIsNoted()
{
    QFETCH(const QString, text);
    QStringList notes;
    for (const std::string &note : answerTo(text).notes)
        notes << QString::fromStdString(note);
    QTEST(notes.join('|'), "notes");
}

void TestQuery::hugeQueriesEndSoon()
{
    for (const char *part : {"(", "not ", "conv and ", "\"", "/(", "<", "((("}) {
        std::string text;
        while (text.size() < 100'000)
            text += part;
        QVERIFY(!Query::parse(text + '"', ToyTable::all()).ok());
    }
    const auto query = Query::parse(std::string(100'000, 'x'), ToyTable::all());
    QVERIFY(query.ok() && query.value().ask(ToyTable()).rows.empty());
}

QTEST_APPLESS_MAIN(TestQuery)
#include "tst_query.moc"
