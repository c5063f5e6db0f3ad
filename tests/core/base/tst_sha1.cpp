#include "core/base/sha1.h"

#include <QTest>

#include <string>

using namespace halftone;

class TestSha1 : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    // FIPS 180-2, appendix A, and the digest of nothing.
    void theDigestsAreThoseOfTheDefinition()
    {
        const auto digest = [](const std::string &text) { return sha1(std::as_bytes(std::span(text))); };
        QCOMPARE(digest(""), std::string("da39a3ee5e6b4b0d3255bfef95601890afd80709"));
        QCOMPARE(digest("abc"), std::string("a9993e364706816aba3e25717850c26c9cd0d89d"));
        QCOMPARE(digest("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
                 std::string("84983e441c3bd26ebaae4aa1f95129e5e54670f1"));
        QCOMPARE(digest(std::string(1000000, 'a')), std::string("34aa973cd4c4daa4f61eeb2bdbad27316534016f"));
    }
};

QTEST_APPLESS_MAIN(TestSha1)
#include "tst_sha1.moc"
