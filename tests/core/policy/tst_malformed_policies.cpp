#include "core/policy/policy_json.h"
#include "tests/support/cpu_clock.h"

#include <QFile>
#include <QIODevice>
#include <QTest>

using halftone::policy::readPolicy;

/// The policies of tests/data/malformed (made by tests/support/make_malformed.py, which describes the two
/// files).
class MalformedPoliciesTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void everyOneIsRefusedAtOnceWithTheErrorOfTheManifest_data()
    {
        QTest::addColumn<QByteArray>("json");
        QTest::addColumn<QByteArray>("expected");
        const QString folder = QStringLiteral(HALFTONE_TEST_DATA) + QStringLiteral("/malformed/");
        QFile corpus(folder + QStringLiteral("corpus.bin"));
        QFile manifest(folder + QStringLiteral("manifest.tsv"));
        QVERIFY(corpus.open(QIODevice::ReadOnly) && manifest.open(QIODevice::ReadOnly));
        const QByteArray bytes = corpus.readAll();
        for (const QByteArray &line : manifest.readAll().split('\n')) {
            const QList<QByteArray> fields = line.split('\t');
            if (fields.size() == 5 && fields[1] == "policy")
                QTest::newRow(fields[0].constData())
                    << bytes.mid(fields[2].toLongLong(), fields[3].toLongLong()) << fields[4];
        }
    }

    void everyOneIsRefusedAtOnceWithTheErrorOfTheManifest()
    {
        QFETCH(QByteArray, json);
        QFETCH(QByteArray, expected);
        const halftone::test::CpuClock clock;
        const auto policy = readPolicy({json.constData(), static_cast<std::size_t>(json.size())});
        QVERIFY(clock.elapsed() < halftone::test::instrumented(1000));
        QVERIFY(!policy.ok());
        const std::string message = policy.error().message();
        QVERIFY2(message.find(expected.toStdString()) != std::string::npos, message.c_str());
        QVERIFY2(message.find('\n') == std::string::npos && message.size() < 1000, message.c_str());
    }
};

QTEST_APPLESS_MAIN(MalformedPoliciesTest)
#include "tst_malformed_policies.moc"
