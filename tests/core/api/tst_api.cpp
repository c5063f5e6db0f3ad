#include "halftone/compare.h"
#include "halftone/profile.h"
#include "halftone/quantize.h"
#include "halftone/run.h"
#include "halftone/version.h"

#include <QTemporaryDir>
#include <QTest>

#include <algorithm>
#include <cmath>

namespace api = halftone::api;

namespace {

const std::string kSample = HALFTONE_SOURCE_DIR "/resources/sample/";
const std::string kModel = kSample + "digits-symbol.json";

template <class T>
T take(api::Result<T> result)
{
    if (!result.ok())
        qFatal("%s", result.error().message.c_str());
    return std::move(result).value();
}

api::Data dataOf(const char *file, std::size_t examples = 0)
{
    api::Data data;
    data.inputs = kSample + file;
    data.examples = examples;
    return data;
}

} // namespace

class TstApi : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void theVersionIsOfThreeNumbers()
    {
        QCOMPARE(std::string(api::version()),
                 std::to_string(HALFTONE_VERSION_MAJOR) + '.' + std::to_string(HALFTONE_VERSION_MINOR) + '.'
                     + std::to_string(HALFTONE_VERSION_PATCH));
    }

    void aModelTellsWhatItReadsAndGives()
    {
        api::OpenOptions options;
        options.shapes["data"] = {7, 1, 8, 8};
        const api::Model model = take(api::open(kModel, options));
        QCOMPARE(model.nodeCount(), std::size_t{62});
        QVERIFY(model.hasParameters());
        const auto data = std::ranges::find(model.inputs(), "data", &api::Value::name);
        QVERIFY(data != model.inputs().end());
        QVERIFY(data->type == api::Type::Float32);
        QVERIFY(data->shape == (api::Shape{7, 1, 8, 8}));
        QCOMPARE(model.outputs().size(), std::size_t{1});
        QVERIFY(model.outputs().front().shape == (api::Shape{7, 10}));
        QVERIFY(model.operators().at("Convolution") > 0);
    }

    void anErrorTellsFileAndPlace()
    {
        const auto missing = api::open(kSample + "none-symbol.json");
        QVERIFY(!missing.ok());
        QVERIFY(missing.error().kind == api::ErrorKind::BadInput);
        QCOMPARE(missing.error().file, kSample + "none-symbol.json");
        QVERIFY(missing.error().message.starts_with(missing.error().file + ": "));

        const api::Model model = take(api::open(kModel));
        api::Policy policy;
        policy.toFloat32 = {"Convolutoin"};
        const auto misspelt = api::convert(model, policy);
        QVERIFY(!misspelt.ok());
        QCOMPARE(misspelt.error().setting, std::string("fp32 operator"));
        QCOMPARE(misspelt.error().place, std::string("Convolutoin"));
        QVERIFY(misspelt.error().found.find("Convolution") != std::string::npos); // did you mean …?

        api::Data data = dataOf("digits-test.npz");
        data.inputs = kSample + "digits-0000.params";
        const auto noArrays = api::run(model, data);
        QVERIFY(!noArrays.ok());
        QCOMPARE(noArrays.error().file, data.inputs);
    }

    void anUnknownBackendIsTheCallersMistake()
    {
        api::RunOptions options;
        options.compute.backend = "gpu";
        const auto ran = api::run(take(api::open(kModel)), dataOf("digits-test.npz"), options);
        QVERIFY(!ran.ok());
        QVERIFY(ran.error().kind == api::ErrorKind::BadCall);
        QCOMPARE(ran.error().setting, std::string("backend"));
    }

    void arraysInMemoryGiveWhatTheSameInAFileGive()
    {
        const api::Model model = take(api::open(kModel));
        api::RunOptions options;
        options.compute.backend = "reference";
        const api::Run whole = take(api::run(model, dataOf("digits-test.npz", 3), options));
        QCOMPARE(whole.outputs.size(), std::size_t{1});
        QCOMPARE(whole.outputs[0].shape, (api::Shape{3, 10}));
        QCOMPARE(whole.accuracy->examples, std::size_t{3});

        // A sum of exponentials divided by itself: probabilities, whatever is fed.
        const auto alone = take(api::run(
            model, {api::Array::of("data", {2, 1, 8, 8}, std::vector<float>(128, 0.25F))}, options.compute));
        QCOMPARE(alone[0].name, whole.outputs[0].name);
        const std::vector<float> values = alone[0].floats();
        QCOMPARE(values.size(), std::size_t{20});
        float sum = 0;
        for (std::size_t k = 0; k < 10; ++k) {
            QCOMPARE(values[k], values[k + 10]); // two equal examples
            sum += values[k];
        }
        QVERIFY(std::abs(sum - 1) < 1e-5F);
    }

    void anArrayWhoseBytesDoNotFitIsRefused()
    {
        api::Array array = api::Array::of("data", {2, 1, 8, 8}, std::vector<float>(127));
        const auto ran = api::run(take(api::open(kModel)), {array});
        QVERIFY(!ran.ok());
        QCOMPARE(ran.error().place, std::string("data"));
    }

    void aConversionSaysWhatBecameOfEveryNode()
    {
        const api::Model model = take(api::open(kModel));
        api::Policy policy;
        policy.target = api::Type::Float16;
        policy.toFloat32 = {"FullyConnected"};
        const api::Conversion converted = take(api::convert(model, policy));
        QVERIFY(converted.casts() > 0);
        for (const api::ConvertedNode &node : converted.nodes()) {
            if (node.op == "FullyConnected") {
                QVERIFY(node.type == api::Type::Float32);
                QVERIFY(node.why.find("FullyConnected") != std::string::npos);
            } else if (node.op == "Convolution") {
                QVERIFY(node.type == api::Type::Float16);
            }
        }
        QVERIFY(converted.report().starts_with("{"));
        QCOMPARE(converted.source().path(), model.path());
    }

    void aPolicyIsWrittenAsAPolicyFile()
    {
        const QTemporaryDir folder;
        api::Policy policy;
        policy.target = api::Type::BFloat16;
        policy.excluded = {"fc1"};
        const std::string text = take(api::policyText(policy));
        QVERIFY(text.find("\"bfloat16\"") != std::string::npos);
        QVERIFY(text.find("\"fc1\"") != std::string::npos);
        policy.target = api::Type::Int32;
        QVERIFY(api::policyText(policy).error().kind == api::ErrorKind::BadCall);
        QVERIFY(!take(api::builtInLists(api::Type::Float16)).target.empty());
        QVERIFY(!api::builtInLists(api::Type::Float32).ok());
        const auto hasConvolution = [](const char *format, const char *name) {
            return std::ranges::count(take(api::builtInLists(api::Type::Float16, format)).target, name) == 1;
        };
        QVERIFY(hasConvolution("onnx", "Conv") && hasConvolution("mxnet", "Convolution"));
        QVERIFY(!api::builtInLists(api::Type::Float16, "no-format").ok());
    }

    void noFileOfTheSourceIsWrittenOver()
    {
        const QTemporaryDir folder;
        const std::string prefix = folder.filePath("m").toStdString();
        const api::Model model = take(api::open(kModel));
        QCOMPARE(take(api::save(model, prefix)).size(), std::size_t{2});
        const api::Model copy = take(api::open(prefix + "-symbol.json"));
        const api::Conversion converted = take(api::convert(copy, {}));
        QVERIFY(api::save(converted.model(), prefix).error().kind == api::ErrorKind::BadCall);
        QVERIFY(api::save(converted.model(), prefix + "16").ok());
    }

    void aTableGivesWhatTheCalibrationGives()
    {
        const QTemporaryDir folder;
        const api::Model model = take(api::open(kModel));
        const api::Calibration calibration = take(api::calibrate(model, dataOf("digits-calibration.npz")));
        QCOMPARE(calibration.examples(), std::size_t{100});
        api::ConvertOptions options;
        options.rangeTable = folder.filePath("t.json").toStdString();
        QCOMPARE(take(api::saveCalibration(calibration, options.rangeTable)), options.rangeTable);
        api::Policy policy;
        policy.toInt8 = {"Convolution"};
        const api::Conversion byTable = take(api::convert(model, policy, options));
        options.rangeTable.clear();
        options.data = dataOf("digits-calibration.npz");
        const api::Conversion byData = take(api::convert(model, policy, options));
        QCOMPARE(byTable.casts(), byData.casts());
        const auto nodes = byData.nodes();
        QVERIFY(std::ranges::any_of(nodes, [](const auto &node) { return node.type == api::Type::Int8; }));

        const api::Comparison compared = take(api::compare(byData, dataOf("digits-test.npz", 20)));
        QCOMPARE(compared.examples, std::size_t{20});
        QVERIFY(!compared.layers.empty());
        QVERIFY(compared.outputs[0].errors.sqnrDb > 10);
    }

    /// Steps that follow each other share the bar: it never starts anew.
    void progressNeverGoesBack()
    {
        const api::Model model = take(api::open(kModel));
        double last = 0;
        std::string fault;
        const api::Progress progress{{}, [&](double share, std::string_view what) {
                                         if (share < last - 1e-9 || share > 1 + 1e-9)
                                             fault += std::string(what) + ' ' + std::to_string(last) + " to "
                                                 + std::to_string(share) + "; ";
                                         last = share;
                                     }};
        const auto check = [&](const char *call) {
            if (last <= 0)
                fault += "it is never told";
            if (!fault.empty())
                fault.insert(0, std::string(call) + ": ");
            last = 0;
            return fault.empty();
        };
        api::Policy policy;
        policy.castParameters = true;
        static_cast<void>(take(api::convert(model, policy, {}, progress)));
        QVERIFY2(check("convert"), fault.c_str());
        api::ConvertOptions options;
        options.data = dataOf("digits-calibration.npz", 40);
        options.correctBiases = true;
        policy.toInt8 = {"Convolution", "FullyConnected"};
        const api::Conversion converted = take(api::convert(model, policy, options, progress));
        QVERIFY2(check("convert to int8 with corrected biases"), fault.c_str());
        static_cast<void>(take(api::calibrate(model, options.data, {}, progress)));
        QVERIFY2(check("calibrate"), fault.c_str());
        static_cast<void>(take(api::compare(converted, dataOf("digits-test.npz", 20), {}, progress)));
        QVERIFY2(check("compare"), fault.c_str());
    }

    void everyLongCallIsToldOfAStop()
    {
        std::stop_source stop;
        stop.request_stop();
        const api::Progress progress{stop.get_token()};
        const api::Model model = take(api::open(kModel));
        const api::Conversion converted = take(api::convert(model, {}));
        const api::Calibration calibration = take(api::calibrate(model, dataOf("digits-calibration.npz", 4)));
        const api::Data data = dataOf("digits-test.npz", 4);
        const auto isCancelled = [](const auto &result) {
            return !result.ok() && result.error().kind == api::ErrorKind::Cancelled;
        };
        QVERIFY(isCancelled(api::open(kModel, {}, progress)));
        QVERIFY(isCancelled(api::convert(model, {}, {}, progress)));
        QVERIFY(isCancelled(api::run(model, data, {}, progress)));
        QVERIFY(isCancelled(
            api::run(model, {api::Array::of("data", {1, 1, 8, 8}, std::vector<float>(64))}, {}, progress)));
        QVERIFY(isCancelled(api::compare(converted, data, {}, progress)));
        QVERIFY(isCancelled(api::compare(model, converted.model(), data, {}, progress)));
        QVERIFY(isCancelled(api::calibrate(model, data, {}, progress)));
        QVERIFY(isCancelled(api::quantize(model, calibration, {}, progress)));
        api::OpenOptions known;
        known.shapes["data"] = {1, 1, 8, 8};
        const api::Model shaped = take(api::open(kModel, known));
        const auto profiled = api::profile(take(api::convert(shaped, {})), {}, true, progress);
        QVERIFY(!profiled.ok());
        QVERIFY(isCancelled(profiled) || profiled.error().kind == api::ErrorKind::Unsupported);
    }
};

QTEST_GUILESS_MAIN(TstApi)
#include "tst_api.moc"
