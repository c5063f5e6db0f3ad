#include "core/io/arrays/npz.h"

#include "halftone/compare.h"
#include "halftone/machine.h"
#include "halftone/profile.h"
#include "halftone/quantize.h"
#include "halftone/report.h"
#include "halftone/run.h"
#include "halftone/verify.h"

#include <QFile>
#include <QTemporaryDir>
#include <QTest>

#include <algorithm>
#include <cmath>
#include <thread>

namespace api = halftone::api;

namespace {

constexpr double kRounding
    = 4e-6; ///< of probabilities, by a plan's other order of sums and Winograd's filtering
const std::string kSample = HALFTONE_SOURCE_DIR "/resources/sample/";

template <class T>
T take(api::Result<T> result)
{
    if (!result.ok())
        qFatal("%s", result.error().message.c_str());
    return std::move(result).value();
}

api::Model sample()
{
    return take(api::open(kSample + "digits.onnx"));
}

api::Data dataIn(const char *file)
{
    api::Data data;
    data.inputs = kSample + file;
    return data;
}

api::Policy allFloat16()
{
    api::Policy policy;
    policy.file = kSample + "onnx-all-float16.policy.json";
    return policy;
}

/// The arrays of a file, rows [first, first + count); count 0: all.
std::vector<api::Array> arraysIn(const char *file, std::size_t first = 0, std::size_t count = 0)
{
    const auto read = halftone::io::readNpz(kSample + file);
    if (!read.ok())
        qFatal("%s", read.error().message().c_str());
    std::vector<api::Array> arrays;
    for (const auto &[name, tensor] : read.value()) {
        const auto owner = std::make_shared<const halftone::tensor::Tensor>(tensor);
        api::Shape shape(tensor.shape().dims().begin(), tensor.shape().dims().end());
        const std::size_t row = owner->bytes().size() / static_cast<std::size_t>(shape[0]);
        if (count > 0)
            shape[0] = static_cast<std::int64_t>(count);
        arrays.push_back({name, api::typeNamed(halftone::tensor::nameOf(tensor.dtype())), shape,
                          owner->bytes().subspan(first * row, count > 0 ? count * row : std::dynamic_extent),
                          owner});
    }
    return arrays;
}

/// Without the labels.
std::vector<api::Array> inputsIn(const char *file, std::size_t first, std::size_t count)
{
    std::vector<api::Array> arrays = arraysIn(file, first, count);
    std::erase_if(arrays, [](const api::Array &array) { return array.name == "labels"; });
    return arrays;
}

double largestDifference(const api::Array &one, const api::Array &other)
{
    const std::vector<float> a = one.floats();
    const std::vector<float> b = other.floats();
    double largest = a.size() == b.size() ? 0 : INFINITY;
    for (std::size_t k = 0; k < std::min(a.size(), b.size()); ++k)
        largest = std::max(largest, static_cast<double>(std::abs(a[k] - b[k])));
    return largest;
}

} // namespace

class TstApiOnnx : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase()
    {
        const auto model = api::open(kSample + "digits.onnx");
        if (!model.ok() && model.error().kind == api::ErrorKind::Unsupported)
            QSKIP("this build reads no ONNX");
    }

    void bytesAreTheFileThatTheyWereReadFrom()
    {
        QFile file(QString::fromStdString(kSample + "digits.onnx"));
        QVERIFY(file.open(QIODevice::ReadOnly));
        const QByteArray content = file.readAll();
        const api::Model model = take(api::read(std::as_bytes(std::span(content.data(), content.size()))));
        QCOMPARE(model.format(), std::string("onnx"));
        QCOMPARE(model.nodes().size(), sample().nodes().size());
        const std::vector<std::byte> written = take(api::bytes(model));
        QCOMPARE(QByteArray(reinterpret_cast<const char *>(written.data()), static_cast<int>(written.size())),
                 content);
        const auto broken = api::read(std::as_bytes(std::span("no model")), "here.onnx");
        QVERIFY(!broken.ok());
        QCOMPARE(broken.error().file, std::string("here.onnx"));
    }

    void valuesHaveTypesAndNodesHaveNames()
    {
        const api::Model model = sample();
        QVERIFY(model.outputs().front().type == api::Type::Float32);
        const std::vector<api::Node> nodes = model.nodes();
        const auto energy = std::ranges::find(nodes, "energy", &api::Node::name);
        QVERIFY(energy != nodes.end());
        QVERIFY(!energy->inputs.empty() && energy->outputs.size() == 1);
        QVERIFY(take(model.report()).find("\"ir_version\"") != std::string::npos);
    }

    /// The figures of the README: float16 breaks this network at a sum of squares.
    void theSampleBreaksInFloat16()
    {
        const api::Conversion converted = take(api::convert(sample(), allFloat16()));
        const api::Comparison compared = take(api::compare(converted, dataIn("digits-test.npz")));
        QCOMPARE(compared.examples, std::size_t{450});
        QVERIFY(std::abs(compared.reference->top1 - 0.993333) < 1e-5);
        QVERIFY(std::abs(compared.other->top1 - 0.0977778) < 1e-5);
        QVERIFY(compared.firstDivergence.has_value());
        QCOMPARE(compared.layers[*compared.firstDivergence].name, std::string("energy"));
        QVERIFY(compared.report.find("\"first_divergence\": \"energy\"") != std::string::npos);
        QVERIFY(converted.policy().find("float16") != std::string::npos);
    }

    void examplesInMemoryAreThoseOfAFile()
    {
        const api::Model model = sample();
        const api::Run fromFile = take(api::run(model, dataIn("digits-test.npz")));
        api::Data data;
        data.inMemory = take(api::examplesOf(arraysIn("digits-test.npz")));
        const api::Run fromMemory = take(api::run(model, data));
        QCOMPARE(largestDifference(fromFile.outputs[0], fromMemory.outputs[0]), 0.0);
        QCOMPARE(fromMemory.accuracy->top1, fromFile.accuracy->top1);

        std::size_t batch = 0;
        data.inMemory = take(api::examplesOf([&]() -> std::vector<api::Array> {
            return batch == 9 ? std::vector<api::Array>() : arraysIn("digits-test.npz", 50 * batch++, 50);
        }));
        QCOMPARE(largestDifference(fromFile.outputs[0], take(api::run(model, data)).outputs[0]), 0.0);
        const api::Calibration calibrated = take(api::calibrate(model, data));
        QCOMPARE(calibrated.examples(), std::size_t{450});

        api::Array wrong = inputsIn("digits-test.npz", 0, 2).front();
        wrong.name = "dta";
        data.inMemory = take(api::examplesOf({wrong}));
        const auto unknown = api::run(model, data);
        QVERIFY(!unknown.ok());
        QCOMPARE(unknown.error().place, std::string("dta"));
    }

    void batchesMustBeAlike()
    {
        bool isFirst = true;
        const auto mixed = api::examplesOf([&isFirst]() -> std::vector<api::Array> {
            const api::Shape shape = isFirst ? api::Shape{1, 2} : api::Shape{1, 3};
            isFirst = false;
            return {api::Array::of("x", shape, std::vector<float>(static_cast<std::size_t>(shape[1])))};
        });
        QVERIFY(!mixed.ok());
        QCOMPARE(mixed.error().place, std::string("x"));
    }

    void aPreparedModelGivesWhatARunGives()
    {
        const api::Model model = sample();
        const api::Run whole = take(api::run(model, dataIn("digits-test.npz")));
        const api::Prepared prepared = take(api::prepare(model));
        for (const std::size_t count : {450, 450, 7, 450}) {
            const auto outputs = take(prepared.run(inputsIn("digits-test.npz", 0, count)));
            QCOMPARE(outputs.size(), std::size_t{1});
            QCOMPARE(outputs[0].name, whole.outputs[0].name);
            if (count == 450)
                QVERIFY(largestDifference(outputs[0], whole.outputs[0]) < kRounding);
        }
        std::vector<double> differences(2, 1.0);
        {
            std::vector<std::jthread> threads;
            for (double &difference : differences)
                threads.emplace_back([&] {
                    for (int k = 0; k < 5; ++k)
                        difference = largestDifference(
                            take(prepared.run(inputsIn("digits-test.npz", 0, 450)))[0], whole.outputs[0]);
                });
        }
        QVERIFY(differences[0] < kRounding && differences[1] < kRounding);
    }

    void innerValuesAreThoseOfAllNodes()
    {
        const api::Model model = sample();
        api::RunOptions all;
        all.allNodes = true;
        const api::Run whole = take(api::run(model, dataIn("digits-test.npz"), all));
        const auto energy = std::ranges::find(whole.outputs, "energy", &api::Array::name);
        QVERIFY(energy != whole.outputs.end());
        api::PrepareOptions options;
        options.outputs = {"energy"};
        const auto values = take(take(api::prepare(model, options)).run(inputsIn("digits-test.npz", 0, 450)));
        QCOMPARE(values.size(), std::size_t{1});
        QCOMPARE(largestDifference(values[0], *energy), 0.0);
        options.outputs = {"enrgy"};
        const auto misspelt = api::prepare(model, options);
        QVERIFY(!misspelt.ok() && misspelt.error().found.find("energy") != std::string::npos);

        // They differ in nothing from what the model gives.
        const api::Comparison compared
            = take(api::compareValues(model, {*energy}, dataIn("digits-test.npz")));
        QCOMPARE(compared.layers.size(), std::size_t{1});
        QCOMPARE(compared.layers[0].name, std::string("energy"));
        QCOMPARE(compared.layers[0].cumulative->maxAbs, 0.0);
        api::Array halved = *energy;
        halved.name = "nothing";
        QVERIFY(!api::compareValues(model, {halved}, dataIn("digits-test.npz")).ok());
    }

    void recordedOutputsAreJudgedByTheLabels()
    {
        const api::Model ruined = take(api::convert(sample(), allFloat16())).model();
        const api::Run recorded = take(api::run(ruined, dataIn("digits-test.npz")));
        const api::Comparison compared
            = take(api::compareValues(sample(), recorded.outputs, dataIn("digits-test.npz")));
        QCOMPARE(compared.reference->top1, 44.0 / 450);
        QCOMPARE(compared.other->top1, 447.0 / 450);
        QVERIFY(compared.outputs[0].top1Agreement.has_value() && compared.task.has_value());
    }

    void everyFormOfInt8IsOfferedWhereTheFormatHasIt()
    {
        const api::Model model = sample();
        api::QuantizeOptions options;
        options.data = dataIn("digits-calibration.npz");
        options.data.examples = 12;
        const api::Quantization pairs = take(api::quantize(model, options));
        QVERIFY(!pairs.quantized.empty());
        QVERIFY(pairs.model.operators().contains("QuantizeLinear"));
        QVERIFY(pairs.report.find("\"qdq\"") != std::string::npos);
        options.form = api::QuantizedForm::QOperator;
        QVERIFY(take(api::quantize(model, options)).model.operators().contains("QLinearConv"));
        options.form = api::QuantizedForm::Fused;
        QVERIFY(api::quantize(model, options).error().kind == api::ErrorKind::BadCall);
        QVERIFY(api::quantize(model).error().kind == api::ErrorKind::BadCall); // ranges are missing
        const api::Calibration calibration = take(api::calibrate(model, options.data));
        const api::Quantization calibrated = take(api::quantize(model, calibration));
        QCOMPARE(calibrated.quantized.size(), pairs.quantized.size());

        // A table holds what the calibration does.
        const QTemporaryDir folder;
        api::QuantizeOptions asTable;
        asTable.rangeTable = take(
            api::saveCalibration(calibration, folder.filePath(QStringLiteral("table.json")).toStdString()));
        const api::Quantization ofTable = take(api::quantize(model, asTable));
        QVERIFY(take(api::bytes(ofTable.model)) == take(api::bytes(calibrated.model)));
    }

    void weightsAreStoredAsCodes()
    {
        const api::Model model = sample();
        api::QuantizeOptions options;
        options.weights = {"uint4/32"};
        const api::Quantization alone = take(api::quantize(model, options));
        QCOMPARE(alone.quantized, (std::vector<std::string>{"fc"}));
        QVERIFY(alone.model.operators().contains("DequantizeLinear"));
        options.correctBiases = true;
        QVERIFY(api::quantize(model, options).error().kind == api::ErrorKind::BadCall);

        api::Policy policy;
        policy.weights = {"uint4/32"};
        const api::Conversion converted = take(api::convert(model, policy));
        QVERIFY(converted.model().operators().contains("DequantizeLinear"));
        QVERIFY(converted.report().find("bits_per_weight") != std::string::npos);
        const api::Comparison compared = take(api::compare(converted, dataIn("digits-test.npz")));
        QVERIFY(compared.outputs[0].errors.sqnrDb > 20);
        api::CompareOptions isolated;
        isolated.effect = api::Effect::Both;
        QVERIFY(api::compare(converted, dataIn("digits-test.npz"), isolated).error().kind
                == api::ErrorKind::BadCall);
        policy.weights.clear();
        policy.weightForm = "qdq";
        QVERIFY(api::convert(model, policy).error().kind == api::ErrorKind::BadCall);
    }

    void modesOfOtherFormatsAreRefused()
    {
        api::Policy policy;
        policy.target = api::Type::BFloat16;
        for (const api::Mode mode : {api::Mode::Typed, api::Mode::Tvm, api::Mode::All}) {
            policy.mode = mode;
            QVERIFY(api::convert(sample(), policy).ok());
        }
        policy.mode = api::Mode::NodeForNode;
        QVERIFY(!api::convert(sample(), policy).ok());
    }

    void typesAreVerified()
    {
        const api::Verification plain = take(api::verify(sample()));
        QVERIFY(plain.operators > 0 && plain.differences.empty());
        const api::Verification wanted = take(api::verify(sample(), allFloat16()));
        QVERIFY(!wanted.differences.empty()); // it is float32
        const api::Conversion converted = take(api::convert(sample(), allFloat16()));
        const api::Verification kept = take(api::verify(converted.model(), allFloat16()));
        QVERIFY(kept.differences.empty());
        QVERIFY(kept.requested > 0);
    }

    void pictureAndPageShowTheModel()
    {
        const api::Conversion converted = take(api::convert(sample(), allFloat16()));
        const std::string picture = take(api::picture(converted));
        QVERIFY(picture.find("<svg") != std::string::npos);
        for (const api::Node &node : sample().nodes())
            QVERIFY2(picture.find(node.name) != std::string::npos, node.name.c_str());
        QVERIFY(take(api::picture(sample())).find("<svg") != std::string::npos);
        QVERIFY(take(api::layoutReport(sample())).find("\"energy\"") != std::string::npos);
        api::ReportOptions options;
        options.policy = allFloat16();
        options.data.inMemory = take(api::examplesOf(arraysIn("digits-test.npz", 0, 20)));
        const std::string page = take(api::reportPage(sample(), options));
        QVERIFY(page.find("energy") != std::string::npos && page.find("</html>") != std::string::npos);
    }

    void latencyIsMeasuredOnNamedBackends()
    {
        api::OpenOptions known;
        known.shapes["data"] = {1, 1, 8, 8};
        const api::Model model = take(api::open(kSample + "digits.onnx", known));
        api::ProfileOptions options;
        options.repeats = 3;
        const auto profiled = api::profile(model, options);
        if (!profiled.ok() && profiled.error().kind == api::ErrorKind::Unsupported)
            QSKIP("this build measures no latency");
        QVERIFY(profiled.value().latency.medianMs > 0);
        QVERIFY(!profiled.value().latency.layers.empty());
        const api::Conversion converted = take(api::convert(model, allFloat16()));
        const api::Profile versus = take(api::profile(converted, options));
        QVERIFY(versus.versus.has_value() && versus.versus->medianMs > 0);
        options.backend = "gpu";
        QVERIFY(api::profile(model, options).error().kind == api::ErrorKind::BadCall);
    }

    void listsOfOthersBecomeAPolicy()
    {
        const std::string imported
            = take(api::importedPolicy("onnxconverter", R"({"op_block_list": ["Gemm"]})"));
        QVERIFY(imported.find("\"Gemm\"") != std::string::npos);
        QVERIFY(api::importedPolicy("nobody", "{}").error().kind == api::ErrorKind::BadCall);
        QVERIFY(take(api::listsReport(api::Type::Float16)).find("\"Conv\"") != std::string::npos);
        QVERIFY(take(api::backendsReport()).find("\"reference\"") != std::string::npos);
    }
};

QTEST_GUILESS_MAIN(TstApiOnnx)
#include "tst_api_onnx.moc"
