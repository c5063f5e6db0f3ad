#include "core/base/xxh64.h"
#include "core/shards/statistics_file.h"

#include <QFile>
#include <QIODevice>
#include <QTemporaryDir>
#include <QTest>

#include <cstring>

using namespace halftone;
using shards::CalibrationShard;
using shards::StatisticsShard;

namespace {

/// Of four values an example, from -k to k.
calibration::MergingCollector collected(int examples)
{
    calibration::MergingCollector collector;
    for (int k = 1; k <= examples; ++k) {
        const auto value = static_cast<float>(k);
        collector.addExample(std::vector<float>{-value, value / 3, 0, value});
    }
    return collector;
}

StatisticsShard shardOf(std::size_t index, std::size_t of)
{
    CalibrationShard calibration;
    walks::CollectedTensor tensor;
    tensor.tensor.name = "relu_output";
    tensor.tensor.channels = {{-1, 2}};
    tensor.collector = collected(static_cast<int>(index) + 2);
    calibration.statistics.tensors = {tensor};
    StatisticsShard shard;
    shard.origin = {"m.onnx", 1, 2, "{}", "a CPU", 10};
    shard.which = {index, of};
    shard.examples = index + 2;
    shard.content = std::move(calibration);
    return shard;
}

StatisticsShard comparison()
{
    tensor::ErrorMetrics metrics;
    metrics.add(std::vector<float>{1, 2, 3}, std::vector<float>{1, 2.5F, 2});
    shards::ComparisonShard content;
    content.names = {{3, "conv", "Convolution"}};
    content.outputs = {"conv_output"};
    compare::LayerParts layer;
    layer.node = 3;
    layer.cumulative = metrics.parts();
    content.parts.parts.layers = {layer};
    compare::OutputParts output;
    output.errors = metrics.parts();
    content.parts.parts.outputs = {output};
    tasks::TaskParts &task = content.parts.task;
    task.metric = tasks::Metric::MeanIou;
    task.examples = 2;
    task.overlaps[0].add(std::vector<std::int64_t>{0, 1, 1}, std::vector<std::int64_t>{0, 1, 0});
    task.likeness[2].value.add(0.25);
    StatisticsShard shard = shardOf(0, 1);
    shard.content = std::move(content);
    return shard;
}

StatisticsShard search(std::size_t index, std::size_t of, const std::string &record)
{
    StatisticsShard shard = shardOf(index, of);
    shard.content = shards::SearchShard{{{index, record}}};
    return shard;
}

Result<StatisticsShard> read(const std::string &bytes)
{
    // A heap block of its own: reading past the end is seen by a sanitizer.
    const std::vector<char> copy(bytes.begin(), bytes.end());
    return shards::readStatistics(std::as_bytes(std::span(copy)));
}

/// With a checksum that is right.
std::string sealed(std::string bytes)
{
    constexpr std::size_t kChecksum = 8;
    Xxh64 hash;
    hash.add(std::as_bytes(std::span(bytes).first(bytes.size() - kChecksum)));
    const std::uint64_t checksum = hash.value();
    std::memcpy(bytes.data() + bytes.size() - kChecksum, &checksum, kChecksum);
    return bytes;
}

} // namespace

class TestStatisticsFile : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void whatIsWrittenIsReadAgain()
    {
        for (const StatisticsShard &shard : {shardOf(1, 3), comparison(), search(1, 3, "{}")}) {
            const std::string bytes = shards::statisticsBytes(shard);
            const auto again = read(bytes);
            QVERIFY2(again.ok(), again.ok() ? "" : again.error().message().c_str());
            QVERIFY(shards::statisticsBytes(again.value()) == bytes);
        }
    }

    void hostileBytesAreRefused()
    {
        for (const StatisticsShard &shard : {shardOf(1, 3), comparison(), search(1, 3, "{}")}) {
            const std::string bytes = shards::statisticsBytes(shard);
            for (std::size_t length = 0; length < bytes.size(); length += length < 200 ? 1 : 211) {
                QVERIFY(!read(bytes.substr(0, length)).ok());
                if (length > 20)
                    QVERIFY(!read(sealed(bytes.substr(0, length))).ok());
            }
            // Any byte, with and without a right checksum: refused, or read as something that can be written again.
            for (std::size_t at = 0; at < bytes.size(); at += at < 200 ? 1 : 131) {
                for (const char value : {'\0', '\x7f', '\xff'}) {
                    std::string changed = bytes;
                    if (changed[at] == value)
                        continue;
                    changed[at] = value;
                    QVERIFY(!read(changed).ok());
                    if (at + 8 >= bytes.size())
                        continue;
                    const auto other = read(sealed(changed));
                    if (other.ok())
                        QVERIFY(read(shards::statisticsBytes(other.value())).ok());
                }
            }
            QVERIFY(!read(sealed(bytes + "more and more")).ok());
        }
    }

    void anotherVersionIsNamed()
    {
        std::string bytes = shards::statisticsBytes(shardOf(0, 1));
        bytes[8] = 3;
        const auto other = read(sealed(bytes));
        QVERIFY(!other.ok());
        QVERIFY(other.error().message().find("version 3") != std::string::npos);
        QVERIFY(read("PK\3\4, and so on, and so on").error().message().find("statistics file")
                != std::string::npos);
    }

    void shardsAddUp()
    {
        const QTemporaryDir folder;
        const auto merged = shards::mergeStatistics(
            {written(folder, shardOf(2, 3)), written(folder, shardOf(0, 3)), written(folder, shardOf(1, 3))});
        QVERIFY2(merged.ok(), merged.ok() ? "" : merged.error().message().c_str());
        calibration::MergingCollector all;
        for (const int examples : {2, 3, 4})
            all.add(collected(examples));
        const auto &tensors = std::get<CalibrationShard>(merged.value().content).statistics.tensors;
        QVERIFY(tensors[0].collector.statistics().histogram == all.statistics().histogram);
        QCOMPARE(tensors[0].collector.statistics().mean, all.statistics().mean);
        QCOMPARE(merged.value().examples, std::size_t{2 + 3 + 4});
    }

    void recordsOfASearchAreKeptByPart()
    {
        const QTemporaryDir folder;
        const auto merged = shards::mergeStatistics(
            {written(folder, search(1, 2, "second")), written(folder, search(0, 2, "first"))});
        QVERIFY2(merged.ok(), merged.ok() ? "" : merged.error().message().c_str());
        const auto &records = std::get<shards::SearchShard>(merged.value().content).records;
        QCOMPARE(records.size(), std::size_t{2});
        QCOMPARE(records.at(0), std::string("first"));
        QCOMPARE(records.at(1), std::string("second"));
    }

    void whatDoesNotBelongTogetherIsNamed()
    {
        const QTemporaryDir folder;
        const std::string first = written(folder, shardOf(0, 3));
        const auto refused = [&](const StatisticsShard &other) {
            const auto merged = shards::mergeStatistics({first, written(folder, other, "other")});
            return merged.ok() ? std::string() : merged.error().message();
        };
        const auto changed = [](auto change) {
            StatisticsShard shard = shardOf(1, 3);
            change(shard);
            return shard;
        };
        const auto says = [](const std::string &message, const char *words) {
            return message.find(words) != std::string::npos && message.find('\n') == std::string::npos;
        };
        QVERIFY(says(refused(shardOf(1, 3)), "3/3 is missing"));
        QVERIFY(says(refused(shardOf(0, 3)), "1/3: is given twice"));
        QVERIFY(says(refused(shardOf(1, 4)), "2/4, but the first file is shard 1/3"));
        QVERIFY(says(refused(changed([](auto &s) { s.origin.modelHash = 9; })), "a different model"));
        QVERIFY(says(refused(changed([](auto &s) { s.origin.dataHash = 9; })), "different data"));
        QVERIFY(says(refused(changed([](auto &s) { s.origin.settings = "[]"; })), "different settings"));
        QVERIFY(says(refused(changed([](auto &s) { s.origin.cpu = "its\nsibling"; })),
                     "a different kind of CPU"));
        QVERIFY(says(refused(comparison()), "a comparison, but the first file is a calibration"));
    }

private:
    static std::string written(const QTemporaryDir &folder, const StatisticsShard &shard,
                               const char *name = nullptr)
    {
        QFile file(folder.filePath(name != nullptr ? QString::fromLatin1(name)
                                                   : QString::number(shard.which.index)));
        const std::string bytes = shards::statisticsBytes(shard);
        if (!file.open(QIODevice::WriteOnly)
            || file.write(bytes.data(), static_cast<qint64>(bytes.size())) < 0)
            qFatal("cannot write a shard");
        return file.fileName().toStdString();
    }
};

QTEST_GUILESS_MAIN(TestStatisticsFile)
#include "tst_statistics_file.moc"
