#include "core/base/json.h"
#include "core/io/arrays/npz.h"
#include "core/io/pictures/label_image.h"
#include "core/tasks/task_count.h"
#include "tests/support/build_graph.h"
#include "tests/support/files.h"

#include <QTemporaryDir>
#include <QTest>

#include <algorithm>
#include <cmath>

using namespace halftone;
using tasks::Metric;
using tasks::TaskChoice;
using tasks::TaskScore;
using tensor::DType;
using tensor::Shape;
using tensor::Tensor;

namespace {

const std::string kFolder = std::string(HALFTONE_TEST_DATA) + "/task/";

Tensor arrayNamed(const std::string &name)
{
    for (const io::NamedTensor &array : io::readNpz(kFolder + "outputs.npz").value()) {
        if (array.name == name)
            return array.tensor;
    }
    qFatal("no %s", name.c_str());
}

OrderedJson expected()
{
    return OrderedJson::parse(test::readFile(kFolder + "expected.json"));
}

tasks::JudgedExamples examplesOf(std::size_t count, Shape input)
{
    tasks::JudgedExamples examples;
    examples.count = count;
    examples.inputShape = [input = std::move(input)]() -> Result<Shape> { return input; };
    return examples;
}

graph::Model networkEndingWith(const char *op)
{
    test::GraphBuilder g;
    const graph::Entry last = g.op(op, "last", {g.variable("data")});
    return g.model({last});
}

struct Case
{
    TaskChoice choice;
    std::string head;
    bool hasLabels = false;
    Shape input = {3, 4, 4};
    const char *op = "identity";
};

/// In two batches, as a comparison adds them.
Result<std::optional<TaskScore>> scoreOf(const Case &one)
{
    const Tensor reference = arrayNamed(one.head);
    const Tensor other = arrayNamed(one.head + "_other");
    const auto rows = static_cast<std::size_t>(reference.shape()[0]);
    tasks::JudgedExamples examples = examplesOf(rows, one.input);
    if (one.hasLabels)
        examples.labels.classes = arrayNamed("labels").values<std::int64_t>();
    HALFTONE_TRY(auto task, tasks::Task::of(one.choice, examples, networkEndingWith(one.op).graph));
    tasks::TaskCount count(std::move(task));
    const auto part = [](const Tensor &whole, std::size_t first, std::size_t number) {
        std::vector<std::int64_t> dims(whole.shape().dims().begin(), whole.shape().dims().end());
        const std::size_t row = whole.bytes().size() / static_cast<std::size_t>(dims[0]);
        dims[0] = static_cast<std::int64_t>(number);
        const auto bytes = whole.bytes().subspan(first * row, number * row);
        return Tensor::owning(whole.dtype(), Shape(dims), {bytes.begin(), bytes.end()});
    };
    const Tensor firstOther = part(other, 0, 2);
    const Tensor restOther = part(other, 2, rows - 2);
    HALFTONE_CHECK(count.add(part(reference, 0, 2), &firstOther, 0));
    HALFTONE_CHECK(count.add(part(reference, 2, rows - 2), &restOther, 2));
    return count.result();
}

bool isNear(const std::optional<double> &value, const OrderedJson &wanted)
{
    return value && std::abs(*value - wanted.get<double>()) < 1e-6 * std::max(1.0, std::abs(*value));
}

std::string writtenNpz(const QTemporaryDir &folder, const Tensor &targets)
{
    const std::string path = folder.filePath("targets.npz").toStdString();
    const io::NamedTensor arrays[] = {{"targets", targets}};
    if (!io::writeNpz(arrays, path).ok())
        qFatal("cannot write");
    return path;
}

Tensor floats(Shape shape, const std::vector<float> &values)
{
    const auto *const bytes = reinterpret_cast<const std::byte *>(values.data());
    return Tensor::owning(DType::F32, std::move(shape), {bytes, bytes + sizeof(float) * values.size()});
}

} // namespace

/// Against values that NumPy computes (tests/support/make_task_goldens.py).
class TstTaskCount : public QObject
{
    Q_OBJECT

    QTemporaryDir m_folder;

    TaskChoice withTargets(const std::string &array, std::optional<Metric> metric = {})
    {
        TaskChoice choice;
        choice.targets = writtenNpz(m_folder, arrayNamed(array));
        choice.metric = metric;
        return choice;
    }

    static void compare(const Result<std::optional<TaskScore>> &score, const char *name, Metric metric,
                        bool guessed)
    {
        QVERIFY2(score.ok(), score.ok() ? "" : score.error().message().c_str());
        QVERIFY(score.value());
        const OrderedJson wanted = expected()[name];
        QCOMPARE(score.value()->metric, metric);
        QCOMPARE(score.value()->isGuessed, guessed);
        QVERIFY2(isNear(score.value()->reference, wanted["reference"]), name);
        QVERIFY2(isNear(score.value()->other, wanted["other"]), name);
        if (wanted.contains("agreement"))
            QVERIFY2(isNear(score.value()->agreement, wanted["agreement"]), name);
    }

private Q_SLOTS:
    void labelsGiveTopClasses()
    {
        compare(scoreOf({{}, "scores", true}), "top1", Metric::Top1, true);
        TaskChoice five;
        five.metric = Metric::Top5;
        compare(scoreOf({five, "scores", true}), "top5", Metric::Top5, false);
    }

    void masksGiveMeanIou()
    {
        compare(scoreOf({withTargets("masks"), "maps"}), "miou", Metric::MeanIou, true);
    }

    void masksMayBePictures()
    {
        TaskChoice choice;
        choice.targets = kFolder + "masks";
        compare(scoreOf({choice, "maps"}), "miou", Metric::MeanIou, true);
    }

    void picturesGivePsnr()
    {
        compare(scoreOf({withTargets("right"), "pictures"}), "psnr", Metric::Psnr, true);
        compare(scoreOf({withTargets("bytes_right"), "pictures"}), "psnr_of_bytes", Metric::Psnr, true);
        TaskChoice choice;
        choice.targets = kFolder + "right";
        const auto score = scoreOf({choice, "pictures"});
        compare(score, "psnr_of_bytes", Metric::Psnr, true);
        QCOMPARE(*score.value()->peak, 1.0);
    }

    void vectorsGiveCosines()
    {
        compare(scoreOf({withTargets("vectors_right"), "vectors"}), "cosine", Metric::Cosine, true);
    }

    void withoutAnythingRightTheOutputSuggestsTheMetric()
    {
        const auto scores = scoreOf({{}, "scores"});
        QCOMPARE(scores.value()->metric, Metric::Top1);
        QVERIFY(!scores.value()->reference && !scores.value()->other);
        QVERIFY(isNear(scores.value()->agreement, expected()["top1"]["agreement"])
                || scores.value()->agreement);
        const auto pictures = scoreOf({{}, "pictures"});
        QCOMPARE(pictures.value()->metric, Metric::Psnr);
        QVERIFY(isNear(pictures.value()->agreement, expected()["psnr"]["agreement"]));
        QVERIFY(!scoreOf({{}, "pictures", false, {3, 32, 32}}).value()); // smaller than what went in
        QVERIFY(!scoreOf({{}, "maps"}).value()); // of which nobody knows what they are
        const auto embedding = scoreOf({{}, "vectors", false, {3, 4, 4}, "L2Normalization"});
        QCOMPARE(embedding.value()->metric, Metric::Cosine);
        QVERIFY(isNear(embedding.value()->agreement, expected()["cosine"]["agreement"]));
    }

    void whatDoesNotFitIsRefused_data()
    {
        QTest::addColumn<QString>("head");
        QTest::addColumn<QString>("targets");
        QTest::addColumn<int>("metric");
        QTest::addColumn<QString>("words");
        QTest::newRow("masks of another size") << "pictures"
                                               << "masks" << int(Metric::MeanIou) << "a mask of shape (6, 5)";
        QTest::newRow("targets of another size") << "vectors"
                                                 << "right" << int(Metric::Cosine) << "targets";
        QTest::newRow("fewer targets") << "vectors"
                                       << "masks" << int(Metric::Cosine) << "3 targets";
        QTest::newRow("targets for classes")
            << "scores"
            << "scores" << int(Metric::Top1) << "not used by the metric top-1";
        QTest::newRow("numbers for masks") << "pictures"
                                           << "right" << int(Metric::MeanIou) << "integers (classes)";
        QTest::newRow("a metric of pixels")
            << "vectors"
            << "vectors_right" << int(Metric::MeanIou) << "mean IoU of a first output";
    }
    void whatDoesNotFitIsRefused()
    {
        QFETCH(const QString, head);
        QFETCH(const QString, targets);
        QFETCH(const int, metric);
        QFETCH(const QString, words);
        const auto score = scoreOf({withTargets(targets.toStdString(), Metric(metric)), head.toStdString()});
        QVERIFY(!score.ok());
        const QString message = QString::fromStdString(score.error().message());
        QVERIFY2(message.contains(words), qPrintable(message));
    }

    void classesBeyondTheOutputsAreRefused()
    {
        std::vector<std::int32_t> classes = arrayNamed("masks").values<std::int32_t>();
        classes[7] = 4;
        const auto *const bytes = reinterpret_cast<const std::byte *>(classes.data());
        TaskChoice choice;
        choice.targets = writtenNpz(
            m_folder, Tensor::owning(DType::I32, {3, 6, 5}, {bytes, bytes + 4 * classes.size()}));
        const auto score = scoreOf({choice, "maps"});
        QVERIFY(!score.ok());
        QVERIFY(QString::fromStdString(score.error().message()).contains("class 4, expected 0 to 3"));
    }

    void oneValueAPixelIsAProbabilityOfClassOne()
    {
        const float values[] = {0.2F, 0.6F, 0.7F, 0.5F};
        const std::int32_t right[] = {0, 1, 0, 0};
        const auto bytesOf = [](const auto &all) {
            const auto *const bytes = reinterpret_cast<const std::byte *>(all);
            return std::vector<std::byte>(bytes, bytes + sizeof(all));
        };
        TaskChoice choice;
        choice.metric = Metric::MeanIou;
        choice.targets = writtenNpz(m_folder, Tensor::owning(DType::I32, {1, 2, 2}, bytesOf(right)));
        const auto examples = examplesOf(1, {1, 2, 2});
        tasks::TaskCount count(
            tasks::Task::of(choice, examples, networkEndingWith("identity").graph).value());
        QVERIFY(count.add(Tensor::owning(DType::F32, {1, 1, 2, 2}, bytesOf(values)), nullptr, 0).ok());
        QCOMPARE(*count.result()->reference, (2.0 / 3 + 1.0 / 2) / 2);
        QVERIFY(!count.result()->other);
    }

    void labelImagesGiveTheirClasses()
    {
        const auto four = io::readLabelImage(kFolder + "four_colours.png");
        QVERIFY(four.ok());
        QCOMPARE(four.value().classes, (std::vector<std::uint8_t>{0, 1, 2, 3}));
        QCOMPARE(io::readLabelImage(kFolder + "twice.png").value().classes,
                 (std::vector<std::uint8_t>{0, 1}));
        for (const char *wrong : {"colour.png", "outputs.npz", "nothing.png"})
            QVERIFY2(!io::readLabelImage(kFolder + wrong).ok(), wrong);
    }

    /// Perplexity is e to the mean of -ln of the right classes' probabilities, over all steps that are judged (Q-perplexity).
    void perplexityJoinsAllStepsThatAreJudged()
    {
        // Two texts of three steps, three classes; logits are logarithms of these probabilities, and anything more.
        const std::vector<double> shares{0.5, 0.25, 0.25, 0.1, 0.8, 0.1, 0.2, 0.2,  0.6,
                                         0.7, 0.2,  0.1,  0.3, 0.3, 0.4, 0.9, 0.05, 0.05};
        std::vector<float> logits;
        for (std::size_t k = 0; k < shares.size(); ++k)
            logits.push_back(static_cast<float>(std::log(shares[k]) + static_cast<double>(k / 3)));
        tasks::JudgedExamples examples = examplesOf(2, {});
        examples.labels.perExample = 3;
        examples.labels.classes = {0, 1, io::Labels::kNotJudged, 2, 1, io::Labels::kNotJudged};
        TaskChoice choice;
        choice.metric = Metric::Perplexity;
        tasks::TaskCount count(
            tasks::Task::of(choice, examples, networkEndingWith("identity").graph).value());
        const Tensor first = floats({1, 3, 3}, {logits.begin(), logits.begin() + 9});
        const Tensor second = floats({1, 3, 3}, {logits.begin() + 9, logits.end()});
        const Tensor even = floats({1, 3, 3}, std::vector<float>(9, 1.0F));
        QVERIFY(count.add(first, &even, 0).ok());
        QVERIFY(count.add(second, &even, 1).ok());
        const auto score = count.result();
        const double wanted = std::exp(-(std::log(0.5) + std::log(0.8) + std::log(0.1) + std::log(0.3)) / 4);
        QVERIFY(std::abs(*score->reference - wanted) < 1e-6 * wanted);
        QVERIFY(std::abs(*score->other - 3) < 1e-12);
        QVERIFY(std::abs(*score->ratio() - 3 / wanted) < 1e-6);
        QVERIFY(score->isWorse() == (wanted < 3));
        QCOMPARE(score->examples, std::size_t{2});
        // The parts of two counts are the parts of one.
        tasks::TaskParts joined = count.parts();
        joined.add(count.parts());
        QCOMPARE(*joined.result()->reference, *score->reference);
    }

    void probabilitiesAreTakenAsSuch()
    {
        tasks::JudgedExamples examples = examplesOf(1, {});
        examples.labels.perExample = 2;
        examples.labels.classes = {1, 0};
        TaskChoice choice;
        choice.metric = Metric::Perplexity;
        tasks::TaskCount count(tasks::Task::of(choice, examples, networkEndingWith("softmax").graph).value());
        QVERIFY(count.add(floats({1, 2, 2}, {0.75F, 0.25F, 0.5F, 0.5F}), nullptr, 0).ok());
        QVERIFY(std::abs(*count.result()->reference - std::sqrt(8.0)) < 1e-12);
    }

    void perplexityNeedsLabels()
    {
        TaskChoice choice;
        choice.metric = Metric::Perplexity;
        const auto task = tasks::Task::of(choice, examplesOf(1, {}), networkEndingWith("identity").graph);
        QVERIFY(!task.ok());
        QCOMPARE(task.error().code, Errc::BadCall);
    }

    void labelsOfStepsCountEachStep()
    {
        io::Labels labels;
        labels.perExample = 2;
        labels.classes = {1, 0, io::Labels::kNotJudged, 1};
        tasks::AccuracyCount count(labels);
        const Tensor head = floats({2, 2, 2}, {0, 1, 0, 1, 1, 0, 0, 1});
        QVERIFY(count.add(head, 0).ok());
        QCOMPARE(count.result()->examples, std::size_t{3});
        QCOMPARE(count.result()->top1, 2.0 / 3);
    }

    void labelsThatDoNotFitAreRefused_data()
    {
        QTest::addColumn<std::size_t>("perExample");
        QTest::addColumn<std::vector<std::int64_t>>("shape");
        QTest::newRow("one label, rows of steps") << std::size_t{1} << std::vector<std::int64_t>{2, 4, 3};
        QTest::newRow("labels of other steps") << std::size_t{3} << std::vector<std::int64_t>{2, 4, 3};
        QTest::newRow("labels of steps, one row") << std::size_t{3} << std::vector<std::int64_t>{2, 3};
    }

    void labelsThatDoNotFitAreRefused()
    {
        QFETCH(const std::size_t, perExample);
        QFETCH(const std::vector<std::int64_t>, shape);
        io::Labels labels;
        labels.perExample = perExample;
        labels.classes.assign(2 * perExample, 1);
        const Shape dims(shape);
        tasks::AccuracyCount count(labels);
        const auto added
            = count.add(floats(dims, std::vector<float>(static_cast<std::size_t>(*dims.elementCount()))), 0);
        QVERIFY(!added.ok());
        QCOMPARE(added.error().code, Errc::BadInput);
        QVERIFY(QString::fromStdString(added.error().message()).contains("first output has the shape"));
    }

    void wordsAreThoseOfTheMetric()
    {
        const TaskScore psnr{Metric::Psnr, true, 31.2, 31.178, 58.0, 4, 255.0};
        QCOMPARE(tasks::wordsOf(psnr)->values(), std::string("31.20 → 31.18 dB"));
        const TaskScore cosine{Metric::Cosine, true, {}, {}, 0.99998, 4, {}};
        QCOMPARE(tasks::wordsOf(cosine)->name, std::string("cosine to float32"));
        QCOMPARE(tasks::wordsOf(cosine)->values(), std::string("0.99998"));
        const TaskScore same{Metric::Psnr, true, {}, {}, HUGE_VAL, 4, 1.0};
        QCOMPARE(tasks::wordsOf(same)->values(), std::string("exact"));
        for (const Metric metric : tasks::allMetrics())
            QCOMPARE(*tasks::metricNamed(tasks::nameOf(metric)), metric);
        QVERIFY(!tasks::metricNamed("accuracy"));
    }
};

QTEST_APPLESS_MAIN(TstTaskCount)
#include "tst_task_count.moc"
