#include "core/base/xxh64.h"

#include <QTest>

#include <string>
#include <string_view>

using halftone::Xxh64;

namespace {

std::uint64_t hashOf(std::string_view text)
{
    Xxh64 hash;
    hash.add(std::as_bytes(std::span(text)));
    return hash.value();
}

} // namespace

class TestXxh64 : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    /// Printed by the reference implementation (xxhsum -H1).
    void knownTextsGiveTheirNumbers()
    {
        QCOMPARE(hashOf(""), 0xEF46DB3751D8E999U);
        QCOMPARE(hashOf("a"), 0xD24EC4F1A98C6E5BU);
        QCOMPARE(hashOf("abc"), 0x44BC2CF5AD770999U);
        QCOMPARE(hashOf("Nobody inspects the spammish repetition"), 0xFBCEA83C8A378BF1U);
    }

    void piecesGiveWhatTheWholeDoes()
    {
        std::string text;
        for (int k = 0; k < 500; ++k)
            text += static_cast<char>(k * 7 + k / 256);
        for (const std::size_t piece : {1U, 3U, 31U, 32U, 33U, 100U}) {
            Xxh64 hash;
            for (std::size_t at = 0; at < text.size(); at += piece)
                hash.add(std::as_bytes(std::span(std::string_view(text).substr(at, piece))));
            QCOMPARE(hash.value(), hashOf(text));
        }
    }
};

QTEST_APPLESS_MAIN(TestXxh64)
#include "tst_xxh64.moc"
