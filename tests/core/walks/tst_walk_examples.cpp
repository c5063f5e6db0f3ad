#include "core/io/arrays/npz.h"
#include "core/walks/run.h"
#include "core/walks/walk_examples.h"
#include "tests/support/build_graph.h"

#include <QTemporaryDir>
#include <QTest>

#include <atomic>
#include <map>
#include <mutex>
#include <new>

using namespace halftone;
using tensor::DType;
using tensor::Tensor;
using walks::CalibrateOptions;

namespace {

/// Shows what it is given: the first output is 2·data + 1, the second takes rows of a table of 3 by the indices in `at`.
graph::Model network()
{
    test::GraphBuilder g;
    const graph::Entry data = g.variable("data");
    const graph::Entry twice = g.op("_mul_scalar", "twice", {data}, {{"scalar", "2"}});
    const graph::Entry one = g.op("_plus_scalar", "one", {twice}, {{"scalar", "1"}});
    const graph::Entry picked
        = g.op("take", "picked", {one, g.variable("at")}, {{"axis", "1"}, {"mode", "raise"}});
    return g.model({one, picked});
}

constexpr std::size_t kExamples = 23;
constexpr std::size_t kWidth = 3;

Tensor tensorOf(tensor::Shape shape, const std::vector<float> &values)
{
    return Tensor::owning(DType::F32, std::move(shape),
                          {reinterpret_cast<const std::byte *>(values.data()),
                           reinterpret_cast<const std::byte *>(values.data() + values.size())});
}

} // namespace

class TstWalkExamples : public QObject
{
    Q_OBJECT

    QTemporaryDir m_folder;

    /// Examples 0, 1, 2, …, each of one number three times; all take the column 1 but for one.
    std::string examples(std::size_t wrong = kExamples, float column = 1)
    {
        std::vector<float> data;
        std::vector<float> at;
        for (std::size_t k = 0; k < kExamples; ++k) {
            data.insert(data.end(), kWidth, static_cast<float>(k));
            at.push_back(k == wrong ? column : 1);
        }
        const std::string path = m_folder.filePath(QString::number(wrong) + ".npz").toStdString();
        const io::NamedTensor arrays[]
            = {{"data", tensorOf({std::int64_t{kExamples}, std::int64_t{kWidth}}, data)},
               {"at", tensorOf({std::int64_t{kExamples}}, at)}};
        if (!io::writeNpz(arrays, path).ok())
            qFatal("cannot write %s", path.c_str());
        return path;
    }

    static graph::Model doubled()
    {
        test::GraphBuilder g;
        return g.model({g.op("_mul_scalar", "twice", {g.variable("data")}, {{"scalar", "2"}})});
    }

    std::string dataAlone(std::size_t examples = kExamples)
    {
        std::vector<float> data;
        for (std::size_t k = 0; k < examples * kWidth; ++k)
            data.push_back(static_cast<float>(k % 7) - 2);
        const std::string path = m_folder.filePath(QString("alone%1.npz").arg(examples)).toStdString();
        const io::NamedTensor arrays[]
            = {{"data", tensorOf({static_cast<std::int64_t>(examples), std::int64_t{kWidth}}, data)}};
        if (!io::writeNpz(arrays, path).ok())
            qFatal("cannot write %s", path.c_str());
        return path;
    }

    static CalibrateOptions optionsOf(const std::string &inputs, std::size_t batch, unsigned threads)
    {
        CalibrateOptions options;
        options.examples.inputs = inputs;
        options.backend = "reference";
        options.batch = batch;
        options.threads = threads;
        return options;
    }

private Q_SLOTS:
    void aGraphWithoutOutputsIsNotRun()
    {
        test::GraphBuilder g;
        g.op("exp", "grown", {g.variable("data")});
        walks::RunSettings settings;
        settings.examples.inputs = examples();
        const auto outcome = walks::runModel(g.model({}), {}, settings, {});
        QVERIFY(!outcome.ok());
        QVERIFY2(outcome.error().found.find("has no outputs") != std::string::npos,
                 outcome.error().message().c_str());
    }

    void everyEntryIsShownBatchByBatchWhateverTheThreads()
    {
        const graph::Model model = network();
        const std::string inputs = examples();
        for (const auto &[batch, threads] : std::vector<std::pair<std::size_t, unsigned>>{
                 {4, 1}, {4, 2}, {3, 4}, {1, 16}, {0, 3}, {23, 3}}) {
            std::mutex mutex;
            std::map<std::string, std::vector<float>> seen;
            std::map<std::string, int> inside;
            bool overlaps = false;
            const auto count
                = walks::walkExamples(model, {}, optionsOf(inputs, batch, threads),
                                      [&](const graph::Entry &entry, const Tensor &value, bool) {
                                          const std::string &name = model.graph.node(entry.node).name;
                                          {
                                              const std::lock_guard lock(mutex);
                                              overlaps |= ++inside[name] > 1;
                                          }
                                          const std::vector<float> values = value.values<float>();
                                          const std::lock_guard lock(mutex);
                                          seen[name].insert(seen[name].end(), values.begin(), values.end());
                                          --inside[name];
                                      },
                                      {});
            QVERIFY2(count.ok(), count.ok() ? "" : count.error().message().c_str());
            QCOMPARE(count.value(), kExamples);
            QVERIFY(!overlaps);
            QCOMPARE(seen.size(), std::size_t{5}); // data, at, twice, one, picked
            for (std::size_t k = 0; k < kExamples; ++k) {
                QCOMPARE(seen["data"].at(k * kWidth), static_cast<float>(k));
                QCOMPARE(seen["one"].at(k * kWidth + 1), 2 * static_cast<float>(k) + 1);
            }
            QCOMPARE(seen["one"].size(), kExamples * kWidth);
        }
    }

    void aBatchThatFailsEndsTheWalkAndSaysWhy()
    {
        const graph::Model model = network();
        const std::string inputs = examples(13, 7);
        for (const unsigned threads : {1U, 2U, 8U}) {
            const auto count = walks::walkExamples(model, {}, optionsOf(inputs, 2, threads),
                                                   [](const graph::Entry &, const Tensor &, bool) {}, {});
            QVERIFY(!count.ok());
            QCOMPARE(count.error().code, Errc::BadInput);
            QCOMPARE(count.error().where, std::string("picked"));
        }
    }

    void aViewerThatFindsNoMemoryEndsTheWalkForAll()
    {
        const graph::Model model = network();
        const std::string inputs = examples();
        for (const unsigned threads : {1U, 2U, 8U}) { // alone, side by side, and with threads that only look
            for (const std::size_t batch : {std::size_t{2}, std::size_t{20}}) {
                std::atomic<int> shown = 0;
                const auto count = walks::walkExamples(model, {}, optionsOf(inputs, batch, threads),
                                                       [&](const graph::Entry &, const Tensor &, bool) {
                                                           if (++shown == 4)
                                                               throw std::bad_alloc();
                                                       },
                                                       {});
                QVERIFY(!count.ok());
                QCOMPARE(count.error().code, Errc::NoMemory);
            }
        }
    }

    void aStopEndsAllBatches()
    {
        const graph::Model model = network();
        const std::string inputs = examples();
        for (const unsigned threads : {1U, 2U, 8U}) {
            std::stop_source source;
            std::atomic<int> shown = 0;
            const auto count = walks::walkExamples(model, {}, optionsOf(inputs, 2, threads),
                                                   [&](const graph::Entry &, const Tensor &, bool) {
                                                       if (++shown == 7)
                                                           source.request_stop();
                                                   },
                                                   {source.get_token(), {}});
            QVERIFY(!count.ok());
            QCOMPARE(count.error().code, Errc::Cancelled);
        }
    }

    /// Each example less the mean of all: alone it is zero, so the arrays are computed in one piece.
    void examplesThatDependOnEachOtherStayTogether()
    {
        test::GraphBuilder g;
        const graph::Entry data = g.variable("data");
        const graph::Entry mean = g.op("mean", "mean", {data}, {{"axis", "0"}, {"keepdims", "True"}});
        const graph::Model joined = g.model({g.op("broadcast_sub", "less", {data, mean})});
        for (const bool areApart : {false, true}) {
            const graph::Model model = areApart ? doubled() : joined;
            std::mutex mutex;
            std::vector<std::int64_t> rows;
            const auto walked = walks::walkEachExample(model, {}, optionsOf(dataAlone(), 0, 2),
                                                       [&](const graph::Entry &entry, const Tensor &value) {
                                                           const std::lock_guard lock(mutex);
                                                           if (model.graph.isVariable(entry.node))
                                                               rows.push_back(value.shape()[0]);
                                                       },
                                                       {});
            QVERIFY2(walked.ok(), walked.ok() ? "" : walked.error().message().c_str());
            QCOMPARE(walked.value().areApart, areApart);
            QCOMPARE(walked.value().examples, kExamples);
            QCOMPARE(rows,
                     areApart ? std::vector<std::int64_t>(kExamples, 1)
                              : std::vector<std::int64_t>{std::int64_t{kExamples}});
        }
    }

    /// A model that is made for one example takes the others one by one; but a first axis that the whole array has to have is
    /// none of examples, even where one row of it would do.
    void whatTheModelTakesTellsWhereTwoAreRefused()
    {
        constexpr std::size_t kRows = 3;
        test::GraphBuilder ofOne;
        const graph::Model one
            = ofOne.model({ofOne.op("Reshape", "row", {ofOne.variable("data")}, {{"shape", "(1, 3)"}})});
        test::GraphBuilder ofColours;
        graph::Model colours = ofColours.model({ofColours.op(
            "broadcast_add", "shifted", {ofColours.variable("data"), ofColours.variable("means")})});
        colours.hasParameters = true;
        colours.parameters.push_back({"arg:means",
                                      tensor::Storage::Dense,
                                      tensor::Shape{kRows, 1},
                                      tensorOf({kRows, 1}, {1, 2, 3}),
                                      {}});
        for (const bool areApart : {false, true}) {
            const auto walked
                = walks::walkEachExample(areApart ? one : colours, {}, optionsOf(dataAlone(kRows), 0, 2),
                                         [](const graph::Entry &, const Tensor &) {}, {});
            QVERIFY2(walked.ok(), walked.ok() ? "" : walked.error().message().c_str());
            QCOMPARE(walked.value().areApart, areApart);
            QCOMPARE(walked.value().examples, kRows);
        }
    }

    /// An example of three numbers, its input and its output, has 24 bytes.
    void theLimitHoldsForTheTrialToo()
    {
        const std::string inputs = dataAlone();
        const auto walk = [&](std::size_t bytes, std::size_t batch) {
            CalibrateOptions options = optionsOf(inputs, batch, 1);
            options.memoryLimit = bytes;
            return walks::walkEachExample(doubled(), {}, options, [](const graph::Entry &, const Tensor &) {},
                                          {});
        };
        const auto none = walk(23, 0);
        QVERIFY(!none.ok());
        QVERIFY2(none.error().found.find("one example") != std::string::npos, none.error().message().c_str());
        QVERIFY2(none.error().expected.find("24 B") != std::string::npos, none.error().message().c_str());
        const auto one = walk(47, 0);
        QVERIFY(!one.ok());
        QVERIFY2(one.error().found.find("two examples") != std::string::npos, one.error().message().c_str());
        QVERIFY2(one.error().expected.find("batch of 1") != std::string::npos, one.error().message().c_str());
        QVERIFY(walk(47, 1).ok()); // nothing is tried
        QVERIFY(walk(48, 0).ok());
    }

    void theSharesToldGrowToOne()
    {
        const graph::Model model = network();
        const std::string inputs = examples();
        std::vector<double> shares;
        const auto caller = std::this_thread::get_id();
        bool isElsewhere = false;
        const auto count = walks::walkExamples(model, {}, optionsOf(inputs, 3, 4),
                                               [](const graph::Entry &, const Tensor &, bool) {},
                                               {{}, [&](double share, std::string_view) {
                                                    shares.push_back(share);
                                                    isElsewhere |= std::this_thread::get_id() != caller;
                                                }});
        QVERIFY(count.ok());
        QVERIFY(!isElsewhere);
        QVERIFY(!shares.empty());
        QVERIFY(std::ranges::is_sorted(shares));
        QCOMPARE(shares.back(), 1.0);
    }
};

QTEST_GUILESS_MAIN(TstWalkExamples)
#include "tst_walk_examples.moc"
