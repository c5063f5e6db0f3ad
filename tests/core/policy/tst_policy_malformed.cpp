#include "core/policy/policy_json.h"
#include "tests/support/malformed.h"

#include <QTest>

using namespace halftone;

class TestPolicyMalformed : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void everyMalformedPolicyIsAnErrorOfOneLineThatSaysWhatIsWrong()
    {
        const auto read = [](const test::MalformedCase &one) -> Result<void> {
            HALFTONE_CHECK(policy::readPolicy(one.text()));
            return {};
        };
        QCOMPARE(QString::fromStdString(test::checkMalformed("policy", read)), QString());
    }
};

QTEST_APPLESS_MAIN(TestPolicyMalformed)
#include "tst_policy_malformed.moc"
