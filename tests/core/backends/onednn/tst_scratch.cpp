#include "core/backends/onednn/scratch.h"
#include "core/base/share_work.h"

#include <QTest>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

using namespace halftone;
using backends::onednn::allocateTogether;

namespace {

struct Piece
{
    std::shared_ptr<std::byte> memory;
    std::size_t bytes = 0;
    std::byte mark{};
};

bool isAsWritten(const Piece &piece)
{
    return std::all_of(piece.memory.get(), piece.memory.get() + piece.bytes,
                       [&](std::byte value) { return value == piece.mark; });
}

} // namespace

/// Memory of plans' weights, many of which share a huge page.
class ScratchTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void piecesDoNotOverlap();
    void aPieceOutlivesItsNeighbours();
    void piecesAreAligned();
};

void ScratchTest::piecesDoNotOverlap()
{
    constexpr unsigned kThreads = 4;
    std::vector<std::vector<Piece>> ofThread(kThreads);
    shareWork(kThreads, [&](unsigned thread) {
        std::size_t bytes = 1 + thread;
        for (int k = 0; k < 200; ++k) {
            bytes = (bytes * 7919 + 13) % 300000;
            const auto mark = static_cast<std::byte>(1 + (k + 61 * static_cast<int>(thread)) % 251);
            Piece piece{allocateTogether(bytes), bytes, mark};
            std::memset(piece.memory.get(), static_cast<int>(mark), bytes);
            ofThread[thread].push_back(std::move(piece));
        }
    });
    for (const std::vector<Piece> &pieces : ofThread)
        for (const Piece &piece : pieces)
            QVERIFY(isAsWritten(piece));
}

void ScratchTest::aPieceOutlivesItsNeighbours()
{
    std::vector<Piece> pieces;
    for (int k = 0; k < 64; ++k) {
        const auto mark = static_cast<std::byte>(k + 1);
        pieces.push_back({allocateTogether(100000), 100000, mark});
        std::memset(pieces.back().memory.get(), static_cast<int>(mark), 100000);
    }
    const Piece last = pieces[40];
    pieces.clear();
    for (int k = 0; k < 64; ++k) // over what is free again
        std::memset(allocateTogether(100000).get(), 255, 100000);
    QVERIFY(isAsWritten(last));
}

void ScratchTest::piecesAreAligned()
{
    for (const std::size_t bytes : {0, 1, 64, 65, 4095, 4096, 5000, (2 << 20) - 1, 2 << 20, 3 << 20}) {
        const std::shared_ptr<std::byte> memory = allocateTogether(bytes);
        QVERIFY(memory != nullptr);
        const std::uintptr_t unit = bytes >= (2U << 20) ? 2U << 20 : bytes >= 4096 ? 4096 : 64;
        QCOMPARE(reinterpret_cast<std::uintptr_t>(memory.get()) % unit, std::uintptr_t(0));
    }
}

QTEST_APPLESS_MAIN(ScratchTest)
#include "tst_scratch.moc"
