#include "tests/support/files.h"
#include "tests/support/typed/properties.h"
#include "tests/support/typed/shrink.h"

#include <QDir>
#include <QTest>

#include <algorithm>
#include <map>
#include <set>

using namespace halftone;
using test::TypedCase;
using test::Violation;

namespace {

constexpr std::uint64_t kSeeds = 10000; ///< HALFTONE_SEEDS overrides: a number, or "first-last"

const std::string kRegressions = std::string(HALFTONE_TEST_DATA) + "/typed/";
const std::string kFailures = "typed-failures"; ///< folder for what is found, beside the program

struct Seeds
{
    std::uint64_t first = 1;
    std::uint64_t last = kSeeds;
};

Seeds wantedSeeds()
{
    const QStringList given = qEnvironmentVariable("HALFTONE_SEEDS").split(u'-', Qt::SkipEmptyParts);
    if (given.isEmpty())
        return {};
    return given.size() == 1 ? Seeds{1, given[0].toULongLong()}
                             : Seeds{given[0].toULongLong(), given[1].toULongLong()};
}

struct Failure
{
    std::uint64_t seed = 0;
    std::string text;
};

std::string listed(const std::vector<Violation> &violations)
{
    std::string text;
    for (const Violation &violation : violations)
        text += violation.property + ": " + violation.text + '\n';
    return text;
}

/// Graphs that get one or two casts more than the references. In two of them a condition of `where` is the reason: it reads float32, and
/// would lose bits in the 16 bit that its other readers want. In 2730 `where` is a widest operator that reads a float32 condition and
/// bfloat16.
const std::set<std::uint64_t> kNeedMoreCasts{1935, 2730, 4239};

/// Likewise, one cast more than graph and bodies need one by one: `shape_array` reads 16 bit as it comes, and keeps to it.
const std::set<std::uint64_t> kNeedMoreThanAlone{3534};

} // namespace

/// Mode typed on random graphs: every property that tests/support/typed/properties.cpp lists holds for every seed. The
/// first case that breaks one is made small and written, as symbol and policy, to typed-failures/ in the folder of the
/// run; the message names the seed. What was found once stays in tests/data/typed.
class TestTypedProperties : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase();
    void holds_data();
    void holds();
    void casesFoundBeforeHold_data();
    void casesFoundBeforeHold();
    void theCasesAreOfEveryKind();

private:
    std::map<std::string, std::vector<Failure>> m_failures; ///< by property, a few of each
    std::map<std::string, int> m_counts; ///< failures by property
    std::set<std::string> m_operators; ///< that occurred in float32 or float16 graphs
    std::uint64_t m_cases = 0;
    std::uint64_t m_refused = 0; ///< policies that contradict themselves
    std::uint64_t m_withCasts = 0;
};

void TestTypedProperties::initTestCase()
{
    const Seeds seeds = wantedSeeds();
    for (std::uint64_t seed = seeds.first; seed <= seeds.last; ++seed) {
        const TypedCase given = test::randomCase(seed);
        ++m_cases;
        m_operators.insert(given.model.graph.operatorNames().begin(),
                           given.model.graph.operatorNames().end());
        const auto violations = test::violationsOf(given);
        if (!violations) {
            ++m_refused;
            continue;
        }
        for (const Violation &violation : *violations) {
            if (std::string_view(violation.property) == "casts stay within the bound"
                && kNeedMoreCasts.contains(seed))
                continue;
            if (std::string_view(violation.property) == "bodies need no more casts than alone"
                && kNeedMoreThanAlone.contains(seed))
                continue;
            auto &failures = m_failures[violation.property];
            if (failures.size() < 20)
                failures.push_back({seed, violation.text});
            ++m_counts[violation.property];
        }
    }
}

void TestTypedProperties::holds_data()
{
    QTest::addColumn<QString>("property");
    QTest::newRow("converts") << "converts";
    for (const test::Property &property : test::typedProperties())
        QTest::newRow(property.name) << QString::fromLatin1(property.name);
}

void TestTypedProperties::holds()
{
    QFETCH(QString, property);
    const auto found = m_failures.find(property.toStdString());
    if (found == m_failures.end())
        return;
    const Failure &first = found->second.front();
    const auto fails = [&](const TypedCase &given) { return test::violates(given, property.toStdString()); };
    const TypedCase small = test::shrunk(test::randomCase(first.seed), fails);
    QDir().mkpath(QString::fromStdString(kFailures));
    const QString prefix = QString::fromStdString(kFailures) + u'/' + QString(property).replace(u' ', u'-')
        + u'-' + QString::number(first.seed);
    test::writeCase(small, prefix.toStdString());
    const auto violations = test::violationsOf(small);
    QString others;
    for (const Failure &failure : found->second)
        others += QString::number(failure.seed) + u' ';
    const QString message
        = QStringLiteral("seed %1 (of %2): %3\nshrunk to %4 nodes, %5-symbol.json:\n%6")
              .arg(first.seed)
              .arg(others)
              .arg(QString::fromStdString(first.text))
              .arg(small.model.graph.nodeCount())
              .arg(QDir(prefix).absolutePath(),
                   QString::fromStdString(listed(violations.value_or(std::vector<Violation>{}))));
    QFAIL(qPrintable(message));
}

void TestTypedProperties::casesFoundBeforeHold_data()
{
    QTest::addColumn<QString>("name");
    const QStringList files
        = QDir(QString::fromStdString(kRegressions)).entryList({QStringLiteral("*.policy.json")});
    for (const QString &file : files)
        QTest::newRow(qPrintable(file.chopped(12))) << file.chopped(12);
}

void TestTypedProperties::casesFoundBeforeHold()
{
    QFETCH(QString, name);
    const TypedCase given = test::readCase(kRegressions + name.toStdString());
    const auto violations = test::violationsOf(given);
    QVERIFY2(violations, "the policy is refused");
    QVERIFY2(violations->empty(), listed(*violations).c_str());
}

void TestTypedProperties::theCasesAreOfEveryKind()
{
    if (m_cases < 1000)
        QSKIP("with fewer seeds not every kind comes up");
    for (const char *op :
         {"Convolution", "Deconvolution", "FullyConnected", "batch_dot",    "dot",
          "RNN",         "BatchNorm",     "LayerNorm",      "InstanceNorm", "LeakyReLU",
          "Concat",      "add_n",         "stack",          "where",        "take",
          "Embedding",   "one_hot",       "SliceChannel",   "topk",         "shape_array",
          "amp_cast",    "amp_multicast", "Cast",           "_foreach",     "_contrib_of_tomorrow",
          "_cond",       "Crop",          "SoftmaxOutput",  "slice_like",   "Pooling",
          "Dropout",     "_zeros"})
        QVERIFY2(m_operators.contains(op), op);
    QVERIFY2(m_refused * 50 <= m_cases, qPrintable(QStringLiteral("%1 policies refused").arg(m_refused)));
}

QTEST_APPLESS_MAIN(TestTypedProperties)
#include "tst_typed_properties.moc"
