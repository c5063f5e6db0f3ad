#include "core/io/mxnet/params_file.h"
#include "core/io/mxnet/symbol_json.h"
#include "core/io/sniff.h"
#include "tests/support/malformed.h"

#include <QTest>

#include <chrono>

using namespace halftone;
using test::MalformedCase;

namespace {

constexpr std::size_t kMostMemory = std::size_t{64} << 20;

Result<void> readSymbol(const MalformedCase &one)
{
    std::vector<std::string> notes;
    HALFTONE_TRY(const graph::Graph graph, io::readSymbol(one.text(), notes));
    HALFTONE_CHECK(io::readSymbol(io::writeSymbol(graph), notes));
    return {};
}

Result<void> readParams(const MalformedCase &one)
{
    HALFTONE_CHECK(io::readParams(*one.bytes, one.bytes));
    return {};
}

Result<void> readModel(const MalformedCase &one)
{
    HALFTONE_CHECK(io::sniff(*one.bytes));
    return io::isParamsFile(*one.bytes) ? readParams(one) : readSymbol(one);
}

double secondsFor(const std::function<void()> &work)
{
    const auto start = std::chrono::steady_clock::now();
    work();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// `a` and then operators that read the one before, or all read `a`.
std::string manyNodes(std::size_t count, bool isChain)
{
    std::string text = R"({"nodes":[{"op":"null","name":"a","inputs":[]})";
    text.reserve(count * 70);
    for (std::size_t i = 1; i < count; ++i) {
        const std::string input = isChain ? std::to_string(i - 1) : "0";
        text += R"(,{"op":"relu","name":"n)" + std::to_string(i) + R"(","inputs":[[)" + input + ",0,0]]}";
    }
    return text + R"(],"arg_nodes":[0],"heads":[[)" + std::to_string(count - 1) + ",0,0]]}";
}

} // namespace

class TestMalformed : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void everyMalformedFileIsAnErrorOfOneLineThatSaysWhatIsWrong()
    {
        const std::size_t before = test::peakMemory();
        QCOMPARE(QString::fromStdString(test::checkMalformed("symbol", readSymbol)), QString());
        QCOMPARE(QString::fromStdString(test::checkMalformed("params", readParams)), QString());
        QCOMPARE(QString::fromStdString(test::checkMalformed("model", readModel)), QString());
        QVERIFY(!test::kIsMemoryOurs || test::peakMemory() - before < kMostMemory);
    }

    void aMillionOpenBracketsAreAnErrorOnASmallStack_data()
    {
        constexpr std::size_t kDepth = 1000000;
        QTest::addColumn<std::string>("json");
        std::string objects;
        for (std::size_t i = 0; i < kDepth; ++i)
            objects += R"({"attrs":)";
        QTest::newRow("lists") << std::string(kDepth, '[');
        QTest::newRow("objects") << objects;
        QTest::newRow("metadata") << R"({"attrs":{"x":)" + std::string(kDepth, '[');
        QTest::newRow("ignored") << R"({"nodes":[{"backward_source_id":)" + std::string(kDepth, '[');
        std::string subgraphs;
        for (std::size_t i = 0; i < kDepth; ++i)
            subgraphs += R"({"nodes":[{"subgraphs":[)";
        QTest::newRow("subgraphs") << subgraphs;
    }

    void aMillionOpenBracketsAreAnErrorOnASmallStack()
    {
        QFETCH(std::string, json);
        std::string message;
        const double seconds = secondsFor([&] {
            test::onSmallStack([&] {
                std::vector<std::string> notes;
                const auto graph = io::readSymbol(json, notes);
                message = graph.ok() ? "" : graph.error().message();
            });
        });
        QVERIFY(!message.empty());
        QVERIFY(seconds < 1);
    }

    void aMillionNodesInAChainLoadAndSaveInLinearTimeOnASmallStack()
    {
#ifdef HALFTONE_SANITIZED // five times slower, with larger frames: as deep for the stack
        constexpr std::size_t kNodes = 200000;
#else
        constexpr std::size_t kNodes = 1000000;
#endif
        const auto roundTrip = [](std::size_t nodes) {
            const std::string json = manyNodes(nodes, true);
            std::size_t read = 0;
            const double seconds = secondsFor([&] {
                test::onSmallStack([&] {
                    std::vector<std::string> notes;
                    const auto graph = io::readSymbol(json, notes);
                    read = graph.ok() && !io::writeSymbol(graph.value()).empty() ? graph.value().nodeCount()
                                                                                 : 0;
                });
            });
            return std::pair(read, seconds);
        };
        const auto [fewRead, few] = roundTrip(kNodes / 10);
        const auto [manyRead, many] = roundTrip(kNodes);
        QCOMPARE(fewRead, kNodes / 10);
        QCOMPARE(manyRead, kNodes);
        // Ten times the nodes may take thrice that in time.
        QVERIFY2(many < 30 * few, qPrintable(QStringLiteral("%1 s and %2 s").arg(few).arg(many)));
    }

    void aHundredThousandReadersOfOneTensorLoad()
    {
        constexpr std::size_t kNodes = 100000;
        std::vector<std::string> notes;
        const auto graph = io::readSymbol(manyNodes(kNodes, false), notes);
        QVERIFY(graph.ok());
        QCOMPARE(graph.value().nodeCount(), kNodes);
    }
};

QTEST_APPLESS_MAIN(TestMalformed)
#include "tst_malformed.moc"
