#include "core/interpret/random_params.h"
#include "core/io/arrays/npz.h"
#include "core/session/document.h"
#include "core/session/live_comparison.h"
#include "tests/support/build_graph.h"

#include <QTemporaryDir>
#include <QTest>

#include <cinttypes>
#include <cstring>
#include <random>

using namespace halftone;
using session::Document;
using tensor::DType;
using tensor::Shape;
using Snapshot = std::shared_ptr<const session::Snapshot>;

namespace {

constexpr std::int64_t kWidth = 48;
constexpr std::int64_t kExamples = 10;

template <class T>
T take(Result<T> result)
{
    if (!result.ok())
        qFatal("%s", result.error().message().c_str());
    return std::move(result).value();
}

/// Fully connected layers with normalisation and a skip over every second one: `layers` times fc, bn, act and now and then
/// a sum, then softmax.
graph::Model network(int layers)
{
    test::GraphBuilder g;
    auto value = g.variable("data");
    auto skip = value;
    for (int k = 0; k < layers; ++k) {
        const std::string n = std::to_string(k);
        value = g.op("FullyConnected", "fc" + n, {value, g.variable("fc" + n + "_weight")},
                     {{"num_hidden", std::to_string(kWidth)}, {"no_bias", "True"}});
        value = g.op("BatchNorm", "bn" + n,
                     {value, g.variable("bn" + n + "_gamma"), g.variable("bn" + n + "_beta"),
                      g.variable("bn" + n + "_moving_mean"), g.variable("bn" + n + "_moving_var")});
        value = g.op("Activation", "act" + n, {value}, {{"act_type", k % 3 == 0 ? "tanh" : "relu"}});
        if (k % 2 == 1) {
            value = g.op("elemwise_add", "add" + n, {value, skip});
            skip = value;
        }
    }
    const graph::Model model = g.model({g.op("softmax", "prob", {value}, {{"axis", "-1"}})});
    return take(interpret::withRandomParameters(model, {{"data", Shape{kExamples, kWidth}}}, 7));
}

/// Drawn examples and labels.
void writeData(const std::string &path, const Shape &shape)
{
    std::mt19937 random(3);
    std::normal_distribution<float> normal;
    std::vector<float> values(static_cast<std::size_t>(*shape.elementCount()));
    for (float &value : values)
        value = normal(random);
    std::vector<std::byte> bytes(values.size() * sizeof(float));
    std::memcpy(bytes.data(), values.data(), bytes.size());
    std::vector<std::byte> labels(kExamples * sizeof(std::int64_t));
    const std::vector<io::NamedTensor> arrays{
        {"data", tensor::Tensor::owning(DType::F32, shape, std::move(bytes))},
        {"labels", tensor::Tensor::owning(DType::I64, Shape{kExamples}, std::move(labels))}};
    if (!io::writeNpz(arrays, path).ok())
        qFatal("cannot write the data");
}

std::string writtenTo(const QString &folder, const graph::Model &model)
{
    const std::string prefix = folder.toStdString() + "/net";
    take(io::saveModel(model, prefix, {}));
    writeData(prefix + ".npz", {kExamples, kWidth});
    return prefix;
}

Snapshot derived(const Document &document)
{
    const Snapshot snapshot = take(Document::derive(document.request(), nullptr));
    if (snapshot->error)
        qFatal("%s", snapshot->error->message().c_str());
    return snapshot;
}

std::string textOf(double value)
{
    std::uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof bits);
    char text[20];
    std::snprintf(text, sizeof text, " %016" PRIx64, bits);
    return text;
}

std::string textOf(const std::optional<tensor::ErrorFigures> &figures)
{
    if (!figures)
        return " -";
    std::string text = std::to_string(figures->count) + ' ' + std::to_string(figures->nan) + ' '
        + std::to_string(figures->overflow);
    for (const double value :
         {figures->maxAbs, figures->meanAbs, figures->rmse, figures->relativeL2.value_or(-1), figures->cosine,
          figures->sqnrDb, figures->maxRelative})
        text += textOf(value);
    return text;
}

std::string textOf(const std::optional<tasks::Accuracy> &accuracy)
{
    return accuracy ? textOf(accuracy->top1) + textOf(accuracy->top5) + std::to_string(accuracy->examples)
                    : std::string("-");
}

/// Every bit of the figures, a line a layer.
std::string textOf(const walks::CompareOutcome &outcome)
{
    const compare::Comparison &comparison = outcome.comparison;
    std::string text;
    for (const compare::LayerErrors &layer : comparison.layers) {
        text += outcome.models.reference.graph.node(layer.node).name + ' ' + std::to_string(layer.output)
            + ' ' + std::string(tensor::nameOf(layer.dtype)) + textOf(layer.cumulative) + " alone"
            + textOf(layer.isolated) + " at outputs" + textOf(layer.isolatedAtOutputs)
            + std::to_string(layer.shapesDiffer) + std::to_string(layer.notFinite) + '\n';
    }
    for (const compare::OutputErrors &output : comparison.outputs) {
        text += textOf(output.figures) + std::to_string(output.shapesDiffer);
        if (output.agreement)
            text += textOf(output.agreement->top1) + textOf(output.agreement->top5)
                + textOf(output.agreement->top1InTop5) + textOf(output.agreement->divergence);
    }
    text += "\n" + textOf(comparison.threshold) + ' '
        + std::to_string(comparison.firstDivergence.value_or(999)) + ' '
        + std::to_string(comparison.firstUnclean.value_or(999)) + '\n';
    if (const auto &task = outcome.task)
        text += std::string(tasks::nameOf(task->metric)) + textOf(task->reference.value_or(-1))
            + textOf(task->other.value_or(-1)) + textOf(task->agreement.value_or(-1))
            + std::to_string(task->examples);
    text += textOf(outcome.reference) + textOf(outcome.other) + ' ' + std::to_string(outcome.examples) + ' '
        + std::to_string(outcome.batch);
    return text;
}

walks::CompareOptions optionsFor(const std::string &prefix, bool isolated)
{
    walks::CompareOptions options;
    options.examples.inputs = prefix + ".npz";
    options.backend = "reference";
    options.threads = 1;
    options.batch = 4; // 4, 4 and 2
    options.settings.isolated = isolated;
    return options;
}

walks::CompareOutcome whole(const session::Snapshot &snapshot, const walks::CompareOptions &options)
{
    return take(walks::compareModels(compare::convertedPair(snapshot.source->model, snapshot.converted->model,
                                                            snapshot.converted->conversion),
                                     snapshot.source->modelPath, options, {}));
}

/// Something that a person may do; refused edits change nothing.
void editAtRandom(Document &document, std::mt19937 &random)
{
    const auto below = [&random](std::size_t count) {
        return std::uniform_int_distribution<std::size_t>(0, count - 1)(random);
    };
    const char *const ops[] = {"FullyConnected", "BatchNorm", "Activation", "elemwise_add", "softmax"};
    const char *const kinds[] = {"fc", "bn", "act"};
    const policy::List lists[] = {policy::List::Target, policy::List::Fp32, policy::List::Widest,
                                  policy::List::Neutral, policy::List::Int8};
    const std::optional<DType> types[] = {DType::F32, document.policy().target, std::nullopt, DType::I8};
    const std::string node = kinds[below(3)] + std::to_string(below(8));
    switch (below(8)) {
    case 0:
        (void)document.apply(policy::MoveOperators{{ops[below(5)]}, lists[below(5)]});
        break;
    case 1:
        (void)document.apply(policy::ExcludeNames{{node}});
        break;
    case 2:
        if (!document.policy().excludedNames.empty())
            (void)document.apply(policy::IncludeNames{{document.policy().excludedNames.front()}});
        break;
    case 3:
        (void)document.apply(policy::SetCastParams{!document.policy().castParams.value_or(false)});
        break;
    case 4:
        (void)document.apply(policy::SetTarget{below(4) == 0 ? DType::BF16 : DType::F16});
        break;
    case 5:
        document.undo();
        break;
    default:
        (void)document.apply(policy::OverrideNodes{{node}, types[below(4)]});
    }
}

} // namespace

class TestLiveComparison : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void figuresAfterEveryEditAreThoseOfAWholeComparison()
    {
        const QTemporaryDir folder;
        const std::string prefix = writtenTo(folder.path(), network(8));
        const auto document = take(Document::open(prefix + "-symbol.json"));
        session::LiveComparison live;
        std::mt19937 random(11);
        std::size_t computed = 0;
        std::size_t most = 0;
        std::size_t int8 = 0;
        for (int edit = 0; edit < 60; ++edit) {
            editAtRandom(*document, random);
            const Snapshot snapshot = derived(*document);
            for (const bool isolated : {false, true}) {
                if (isolated && edit % 3 == 1)
                    continue; // as when the next edit comes before
                const auto options = optionsFor(prefix, isolated);
                const walks::CompareOutcome got = take(live.compare(*snapshot, options));
                computed += live.computedNodes();
                const std::string want = textOf(whole(*snapshot, options));
                QVERIFY2(textOf(got) == want, qPrintable(QString::number(edit)));
                QVERIFY(got.comparison.peakBytes <= options.settings.memoryLimit);
                // Of a whole one: both models, and for each lowered layer itself and all behind it.
                const auto nodes = static_cast<std::size_t>(std::ranges::count_if(
                    got.comparison.layers, [](const auto &layer) { return layer.output == 0; }));
                most += 2 * 3 * nodes;
                for (const compare::LayerErrors &layer : got.comparison.layers) {
                    int8 += layer.isolated && snapshot->converted->conversion.isInt8(layer.node) ? 1U : 0U;
                    most += layer.isolated
                        ? 3 * (nodes - static_cast<std::size_t>(&layer - got.comparison.layers.data()))
                        : 0;
                }
            }
        }
        qInfo("%zu nodes computed, about %zu by whole comparisons", computed, most);
        QVERIFY(computed < most / 3);
        QVERIFY(int8 > 0);
    }

    /// Without layers, side by side, whether or not all examples have room.
    void outputsAloneAreThoseOfAWholeComparison()
    {
        const QTemporaryDir folder;
        const std::string prefix = writtenTo(folder.path(), network(8));
        const auto document = take(Document::open(prefix + "-symbol.json"));
        struct Kind
        {
            session::LiveComparison live;
            walks::CompareOptions options;
        };
        std::array<Kind, 3> kinds;
        for (std::size_t k = 0; k < kinds.size(); ++k) {
            kinds[k].options = optionsFor(prefix, false);
            kinds[k].options.batch = 1;
            kinds[k].options.settings.outputsOnly = true;
            kinds[k].options.threads = k == 0 ? 1 : 3;
        }
        kinds[2].options.settings.memoryLimit = 160'000; // some examples only
        std::size_t fewest = kExamples; // of a sample
        std::mt19937 random(5);
        for (int edit = 0; edit < 20; ++edit) {
            editAtRandom(*document, random);
            const Snapshot snapshot = derived(*document);
            walks::CompareOptions options = optionsFor(prefix, false);
            options.batch = 1;
            walks::CompareOutcome want = whole(*snapshot, options);
            want.comparison.layers.clear();
            want.comparison.threshold = 0;
            want.comparison.firstDivergence.reset();
            for (Kind &kind : kinds) {
                walks::CompareOutcome got = take(kind.live.compare(*snapshot, kind.options));
                QVERIFY(got.comparison.layers.empty());
                QVERIFY(got.comparison.peakBytes <= kind.options.settings.memoryLimit);
                got.comparison.threshold = 0;
                QVERIFY2(textOf(got) == textOf(want), qPrintable(QString::number(edit)));
            }
            // Some examples tell the same whatever the threads and the memory.
            const compare::Sample some{4, 0.4};
            const std::string first = textOf(take(kinds[0].live.sample(*snapshot, kinds[0].options, some)));
            for (Kind &kind : kinds) {
                const walks::CompareOutcome sample = take(kind.live.sample(*snapshot, kind.options, some));
                QCOMPARE(textOf(sample), first);
                fewest = std::min(fewest, sample.examples);
                walks::CompareOutcome all = take(kind.live.sample(*snapshot, kind.options, {4, 0}));
                all.comparison.threshold = 0;
                QCOMPARE(textOf(all), textOf(want));
            }
        }
        QVERIFY2(fewest >= 4 && fewest < static_cast<std::size_t>(kExamples),
                 qPrintable(QString::number(fewest)));
    }

    /// Their convolutions have attributes that only the weights' shapes tell.
    void valuesOfOnnxModelsAreKeptToo()
    {
        const QTemporaryDir folder;
        const std::string prefix = folder.path().toStdString() + "/net";
        writeData(prefix + ".npz", {kExamples, 1, 8, 8});
        auto opened = Document::open(HALFTONE_TEST_DATA "/onnx/network.onnx");
        if (!opened.ok() && opened.error().code == Errc::Unsupported)
            QSKIP("this build was made without ONNX");
        const auto document = take(std::move(opened));
        session::LiveComparison live;
        const walks::CompareOutcome first
            = take(live.compare(*derived(*document), optionsFor(prefix, false)));
        QVERIFY(live.computedNodes() > 0);
        QVERIFY(textOf(first) == textOf(whole(*derived(*document), optionsFor(prefix, false))));
        take(live.compare(*derived(*document), optionsFor(prefix, false)));
        QCOMPARE(live.computedNodes(), std::size_t{0});
    }

    void anEditNearTheEndComputesOnlyWhatLiesBehind()
    {
        const QTemporaryDir folder;
        const std::string prefix = writtenTo(folder.path(), network(40));
        const auto document = take(Document::open(prefix + "-symbol.json"));
        session::LiveComparison live;
        take(live.compare(*derived(*document), optionsFor(prefix, false)));
        const std::size_t first = live.computedNodes();
        QVERIFY(first > 2 * 3 * 120); // both models, three batches, fc + bn + act each
        take(live.compare(*derived(*document), optionsFor(prefix, false)));
        QCOMPARE(live.computedNodes(), std::size_t{0});
        take(live.compare(*derived(*document), optionsFor(prefix, true)));
        QVERIFY(live.computedNodes() > 0);

        QVERIFY(document->apply(policy::OverrideNodes{{"fc39"}, DType::F32}).ok());
        take(live.compare(*derived(*document), optionsFor(prefix, false)));
        // fc39, bn39, act39, add39, prob and a cast or two
        QVERIFY(live.computedNodes() > 0 && live.computedNodes() <= 3 * 8);
        take(live.compare(*derived(*document), optionsFor(prefix, true)));
        QVERIFY(live.computedNodes() <= 3 * 3 * 5); // at most bn39, act39, add39 alone, and what follows
        document->undo();
        take(live.compare(*derived(*document), optionsFor(prefix, true)));
        QCOMPARE(live.computedNodes(), std::size_t{0});

        QVERIFY(document->apply(policy::OverrideNodes{{"fc0"}, DType::F32}).ok());
        take(live.compare(*derived(*document), optionsFor(prefix, false)));
        QVERIFY(live.computedNodes() > 3 * 100); // everything lies behind the first layer
    }

    void beyondTheMemoryLimitItIsAWholeComparison()
    {
        const QTemporaryDir folder;
        const std::string prefix = writtenTo(folder.path(), network(8));
        const auto document = take(Document::open(prefix + "-symbol.json"));
        const Snapshot snapshot = derived(*document);
        session::LiveComparison live;
        auto options = optionsFor(prefix, true);
        take(live.compare(*snapshot, options));
        QVERIFY(live.computedNodes() > 0);
        options.settings.memoryLimit
            = whole(*snapshot, options).comparison.peakBytes; // values that are read no more are gone
        const walks::CompareOutcome got = take(live.compare(*snapshot, options));
        QCOMPARE(live.computedNodes(), std::size_t{0});
        QCOMPARE(textOf(got), textOf(whole(*snapshot, options)));
        QVERIFY(got.comparison.peakBytes <= options.settings.memoryLimit);
    }

    void whereTheLimitHoldsSomeBatchesTheOthersAreComputedAnew()
    {
        const QTemporaryDir folder;
        const std::string prefix = writtenTo(folder.path(), network(8));
        const auto document = take(Document::open(prefix + "-symbol.json"));
        auto options = optionsFor(prefix, false);
        options.batch = 1;
        options.settings.isolated = true; // whose figures take most
        session::LiveComparison widest;
        const std::size_t held
            = take(widest.compare(*derived(*document), options)).comparison.peakBytes; // of ten examples
        options.settings.isolated = false;
        session::LiveComparison all;
        take(all.compare(*derived(*document), options));
        options.settings.memoryLimit = held * 8 / 10;
        session::LiveComparison live;
        const Snapshot before = derived(*document);
        take(live.compare(*before, options));
        const std::size_t first = live.computedNodes();
        QVERIFY(first >= all.computedNodes());
        QVERIFY(document->apply(policy::OverrideNodes{{"fc7"}, DType::F32}).ok());
        const Snapshot after = derived(*document);
        for (const bool isolated : {false, true}) {
            options.settings.isolated = isolated;
            const walks::CompareOutcome got = take(live.compare(*after, options));
            QCOMPARE(textOf(got), textOf(whole(*after, options)));
            QVERIFY(got.comparison.peakBytes <= options.settings.memoryLimit);
            if (!isolated)
                QVERIFY(live.computedNodes() > 0 && live.computedNodes() < first * 9 / 10);
        }
        options.settings.isolated = false;
        QCOMPARE(textOf(take(live.compare(*before, options))), textOf(whole(*before, options)));
        QCOMPARE(live.computedNodes(), std::size_t{0}); // figures and heads are remembered
    }

    void whatIsKnownIsToldWhileTheRestIsComputed()
    {
        const QTemporaryDir folder;
        const std::string prefix = writtenTo(folder.path(), network(8));
        const auto document = take(Document::open(prefix + "-symbol.json"));
        const Snapshot snapshot = derived(*document);
        auto options = optionsFor(prefix, false);
        options.batch = 1;
        auto firstOnly = options;
        firstOnly.examples.examples = 1;
        for (const std::size_t limit :
             {std::size_t{1} << 30,
              whole(*snapshot, options).comparison.peakBytes}) { // kept, and a whole comparison
            options.settings.memoryLimit = firstOnly.settings.memoryLimit = limit;
            std::vector<walks::CompareOutcome> told;
            session::LiveComparison live;
            const auto got = take(live.compare(*snapshot, options, {}, [&](walks::CompareOutcome outcome) {
                told.push_back(std::move(outcome));
            }));
            QVERIFY(!told.empty());
            QCOMPARE(told[0].examples, std::size_t{1});
            QCOMPARE(told[0].expected, std::size_t{kExamples});
            QCOMPARE(got.examples, got.expected);
            QCOMPARE(textOf(told[0]), textOf(whole(*snapshot, firstOnly)));
        }
    }

    void layersAloneComeOneByOne()
    {
        const QTemporaryDir folder;
        const std::string prefix = writtenTo(folder.path(), network(8));
        const auto document = take(Document::open(prefix + "-symbol.json"));
        const Snapshot snapshot = derived(*document);
        session::LiveComparison live;
        const auto errors = take(live.compare(*snapshot, optionsFor(prefix, false)));
        std::vector<walks::CompareOutcome> told;
        std::stop_source stop;
        const auto stopped = live.compare(*snapshot, optionsFor(prefix, true), {stop.get_token(), {}},
                                          [&](walks::CompareOutcome outcome) {
                                              told.push_back(std::move(outcome));
                                              if (told.size() == 2)
                                                  stop.request_stop();
                                          });
        QVERIFY(!told.empty()); // errors of all examples, without a layer alone, are known already
        QCOMPARE(told[0].examples, std::size_t{kExamples});
        const auto alone = [](const walks::CompareOutcome &outcome) {
            return std::ranges::count_if(outcome.comparison.layers,
                                         [](const auto &layer) { return layer.isolated.has_value(); });
        };
        QCOMPARE(alone(told[0]), 0);
        if (told.size() > 1) { // on a slow machine
            QCOMPARE(stopped.error().code, Errc::Cancelled);
            QVERIFY(alone(told[1]) > 0);
        }
        for (std::size_t k = 0; k < errors.comparison.layers.size(); ++k)
            QCOMPARE(textOf(told[0].comparison.layers[k].cumulative),
                     textOf(errors.comparison.layers[k].cumulative));
    }

    void whatACancelledComparisonHasComputedIsNotComputedAgain()
    {
        const QTemporaryDir folder;
        const std::string prefix = writtenTo(folder.path(), network(20));
        const auto document = take(Document::open(prefix + "-symbol.json"));
        const Snapshot snapshot = derived(*document);
        const auto options = optionsFor(prefix, true);
        session::LiveComparison fresh;
        const std::string want = textOf(take(fresh.compare(*snapshot, options)));
        const std::size_t all = fresh.computedNodes();
        session::LiveComparison live;
        std::size_t computed = 0;
        for (int tries = 0; tries < 1000; ++tries) {
            std::stop_source stop;
            std::size_t told = 0;
            const auto outcome
                = live.compare(*snapshot, options, {stop.get_token(), [&](double, std::string_view) {
                                                        if (++told == 60)
                                                            stop.request_stop();
                                                    }});
            computed += live.computedNodes();
            if (outcome.ok()) {
                QVERIFY(tries > 3);
                QCOMPARE(textOf(outcome.value()), want);
                // A stop loses the node, or the single layer with all behind it, that is under way.
                QVERIFY2(computed < 2 * all, qPrintable(QString::number(computed)));
                return;
            }
            QCOMPARE(outcome.error().code, Errc::Cancelled);
        }
        QFAIL("it never came to an end");
    }

    void anUncleanReferenceIsToldAsAWholeComparisonTellsIt()
    {
        test::GraphBuilder g;
        const auto x = g.variable("data");
        const graph::Model model = g.model({g.op("relu", "last", {g.op("log", "the_log", {x})})});
        const QTemporaryDir folder;
        const std::string prefix = writtenTo(folder.path(), model); // about half of the data is negative
        const auto document = take(Document::open(prefix + "-symbol.json"));
        const Snapshot snapshot = derived(*document);
        const auto options = optionsFor(prefix, true);
        session::LiveComparison live;
        const auto got = live.compare(*snapshot, options);
        const auto want
            = walks::compareModels(compare::convertedPair(snapshot->source->model, snapshot->converted->model,
                                                          snapshot->converted->conversion),
                                   snapshot->source->modelPath, options, {});
        QVERIFY(!got.ok() && !want.ok());
        QCOMPARE(got.error().message(), want.error().message());
    }
};

QTEST_GUILESS_MAIN(TestLiveComparison)
#include "tst_live_comparison.moc"
