#include "core/base/text.h"
#include "core/dialect/mxnet/range_text.h"
#include "core/dialect/registry.h"
#include "core/io/model_io.h"
#include "core/quantize/quantize.h"
#include "tests/support/build_graph.h"
#include "tests/support/files.h"

#include <QTest>

#include <algorithm>
#include <cmath>
#include <map>

using namespace halftone;
using quantize::QuantizedForm;

namespace {

const std::string kData = std::string(HALFTONE_TEST_DATA) + "/int8/";

graph::Model load(const std::string &path)
{
    auto loaded = io::loadModel(path, {});
    if (!loaded.ok())
        qFatal("%s", loaded.error().message().c_str());
    return std::move(loaded).value().model;
}

quantize::QuantizeOptions optionsOf(const nlohmann::json &settings)
{
    quantize::QuantizeOptions options;
    options.form = settings["path"] == "plain" ? QuantizedForm::Plain : QuantizedForm::Onednn;
    const std::string codes = settings["quantized_dtype"];
    options.codes = codes == "int8" ? quantize::QuantizedCodes::Int8
        : codes == "uint8"          ? quantize::QuantizedCodes::UInt8
                                    : quantize::QuantizedCodes::Auto;
    options.isFull = settings["quantize_mode"] == "full";
    options.perChannel = settings["quantize_granularity"] == "channel-wise";
    options.isCalibrated = settings["calib_mode"] != "none";
    options.excludedNames = settings["excluded_sym_names"].get<std::vector<std::string>>();
    options.excludedOps = settings["excluded_op_names"].get<std::vector<std::string>>();
    return options;
}

/// The recorded ranges, by the names that tensors have in the given graph.
quantize::QuantizedRanges rangesOf(const graph::Model &model, const quantize::QuantizeOptions &options,
                                   const nlohmann::json &thresholds)
{
    quantize::QuantizedRanges ranges;
    auto planned = quantize::planQuantization(model, options);
    if (!planned.ok())
        qFatal("%s", planned.error().message().c_str());
    for (const quantize::ObservedTensor &tensor : planned.value().observed) {
        if (thresholds.contains(tensor.name))
            ranges[tensor.source] = {thresholds[tensor.name][0], thresholds[tensor.name][1]};
    }
    return ranges;
}

using Row = std::tuple<std::string, std::string, std::vector<std::string>, std::size_t>;

/// Operator, attributes without ranges, inputs, subgraphs of every node, by name; the heads under "".
std::map<std::string, Row> rowsOf(const graph::Graph &graph)
{
    std::map<std::string, Row> rows;
    const auto text = [&](const graph::Entry &entry) {
        return graph.node(entry.node).name + ':' + std::to_string(entry.output);
    };
    for (graph::NodeId id = 0; id < graph.nodeCount(); ++id) {
        const graph::NodeDef &node = graph.node(id);
        std::string attributes;
        for (const auto &[key, value] : node.attributes) {
            if (!key.ends_with("_calib_range"))
                attributes += key + '=' + value + ' ';
        }
        std::vector<std::string> inputs;
        for (const graph::Entry &entry : graph.inputs(id))
            inputs.push_back(text(entry));
        rows[node.name] = {node.op, attributes, inputs, node.subgraphs.size()};
    }
    std::vector<std::string> heads;
    for (const graph::Entry &head : graph.heads())
        heads.push_back(text(head));
    rows[""] = {"", "", heads, 0};
    return rows;
}

std::map<std::string, double> rangeTexts(const graph::Graph &graph)
{
    std::map<std::string, double> ends;
    for (graph::NodeId id = 0; id < graph.nodeCount(); ++id) {
        for (const char *key : {"min_calib_range", "max_calib_range"}) {
            if (const std::string *text = graph.node(id).attributes.find(key))
                ends[graph.node(id).name + ' ' + key] = *parseReal(*text);
        }
    }
    return ends;
}

const tensor::Array &arrayOf(const graph::Model &model, const std::string &name)
{
    const auto found = std::ranges::find(model.parameters, name, [](const tensor::Array &a) {
        return dialect::dialectNamed("mxnet")->variableOf(a.name);
    });
    if (found == model.parameters.end())
        qFatal("no parameter %s", name.c_str());
    return *found;
}

quantize::QuantizedModel quantized(const graph::Model &model, const quantize::QuantizeOptions &options,
                                   const quantize::QuantizedRanges &ranges = {})
{
    auto made = quantize::quantize(model, options, ranges);
    if (!made.ok())
        qFatal("%s", made.error().message().c_str());
    return std::move(made).value();
}

} // namespace

class TestQuantize : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void everyRecordedVariantIsReproduced_data()
    {
        QTest::addColumn<int>("number");
        const nlohmann::json cases = test::readJson(kData + "cases.json");
        for (std::size_t k = 0; k < cases.size(); ++k) {
            const std::string name
                = cases[k]["model"].get<std::string>() + '/' + cases[k]["variant"].get<std::string>();
            QTest::newRow(name.c_str()) << static_cast<int>(k);
        }
    }

    void everyRecordedVariantIsReproduced()
    {
        QFETCH(int, number);
        const nlohmann::json record = test::readJson(kData + "cases.json")[static_cast<std::size_t>(number)];
        const std::string folder = kData + record["model"].get<std::string>() + '/';
        const graph::Model model = load(folder + "model-symbol.json");
        io::LoadOptions bare;
        bare.noParams = true;
        auto wanted = io::loadModel(folder + record["variant"].get<std::string>() + "-symbol.json", bare);
        QVERIFY2(wanted.ok(), wanted.ok() ? "" : wanted.error().message().c_str());
        const quantize::QuantizeOptions options = optionsOf(record["settings"]);
        const quantize::QuantizedModel made
            = quantized(model, options, rangesOf(model, options, record["thresholds"]));
        const auto got = rowsOf(made.model.graph);
        const auto want = rowsOf(wanted.value().model.graph);
        for (const auto &[name, row] : want) {
            QVERIFY2(got.contains(name), name.c_str());
            QVERIFY2(std::get<0>(got.at(name)) == std::get<0>(row), name.c_str());
            QVERIFY2(std::get<1>(got.at(name)) == std::get<1>(row),
                     (name + ' ' + std::get<1>(got.at(name))).c_str());
            QVERIFY2(std::get<2>(got.at(name)) == std::get<2>(row), name.c_str());
            QVERIFY2(std::get<3>(got.at(name)) == std::get<3>(row), name.c_str());
        }
        QCOMPARE(got.size(), want.size());
        const auto gotEnds = rangeTexts(made.model.graph);
        const auto wantEnds = rangeTexts(wanted.value().model.graph);
        QCOMPARE(gotEnds.size(), wantEnds.size());
        for (const auto &[place, end] : wantEnds) {
            QVERIFY2(gotEnds.contains(place), place.c_str());
            QVERIFY2(std::abs(gotEnds.at(place) - end) <= 1e-6 + 1e-6 * std::abs(end), place.c_str());
        }
    }

    void offlineParametersAreTheRecordedCodes()
    {
        for (const char *name :
             {"mlp/plain_int8_naive_smart", "cbrpf/onednn_auto_naive", "embed/plain_int8_naive"}) {
            const std::string variant = kData + name;
            const std::string folder = variant.substr(0, variant.rfind('/') + 1);
            const graph::Model wanted = load(variant + "-symbol.json");
            quantize::QuantizeOptions options;
            options.form
                = variant.find("plain") != std::string::npos ? QuantizedForm::Plain : QuantizedForm::Onednn;
            options.isFull = variant.find("embed") != std::string::npos;
            const quantize::QuantizedModel made = quantized(load(folder + "model-symbol.json"), options);
            std::size_t codes = 0;
            for (const tensor::Array &want : wanted.parameters) {
                const tensor::Array &got
                    = arrayOf(made.model, std::string(dialect::dialectNamed("mxnet")->variableOf(want.name)));
                QVERIFY2(got.values.dtype() == want.values.dtype(), want.name.c_str());
                QVERIFY2(got.shape == want.shape, want.name.c_str());
                QVERIFY2(std::ranges::equal(got.values.bytes(), want.values.bytes()), want.name.c_str());
                codes += want.values.dtype() == tensor::DType::I8 ? 1 : 0;
            }
            QVERIFY(codes > 0);
        }
    }

    void eachNodeThatStaysSaysWhy()
    {
        const graph::Model model = load(kData + "sigmoid/model-symbol.json");
        const quantize::QuantizedModel made = quantized(model, {});
        QVERIFY(!made.skipped.empty());
        for (const quantize::SkippedNode &node : made.skipped)
            QVERIFY2(!node.why.empty(), node.name.c_str());
        QVERIFY(std::ranges::any_of(made.skipped, [](const quantize::SkippedNode &node) {
            return node.name == "sig1" && node.why.find("ReLU") != std::string::npos;
        }));
    }

    void aRangeThatBeginsAtZeroStaysOneSidedForInt8()
    {
        // The reference writes -T..T here, which the next convolution refuses.
        const graph::Model model = load(kData + "cbrpf/model-symbol.json");
        quantize::QuantizeOptions options;
        options.codes = quantize::QuantizedCodes::Int8;
        const quantize::QuantizedModel made = quantized(model, options,
                                                        {{"data", {-3, 3}},
                                                         {"conv1_relu_output", {0, 5}},
                                                         {"conv2_relu_output", {0, 6}},
                                                         {"fc1_output", {-1, 1}}});
        const auto ends = rangeTexts(made.model.graph);
        QCOMPARE(ends.at("quantized_sg_mkldnn_conv_bn_act_0 min_calib_range"), 0.0);
        QVERIFY(made.notes.empty());
    }

    void whatIsNotCalibratedIsToldAndLeftToTheRunTime()
    {
        const graph::Model model = load(kData + "cbrpf/model-symbol.json");
        const quantize::QuantizedModel made = quantized(model, {}, {{"data", {-3, 3}}});
        QCOMPARE(made.notes.size(), 1U);
        QVERIFY(made.notes[0].find("sg_mkldnn_conv_bn_act_0_output") != std::string::npos);
        QVERIFY(rowsOf(made.model.graph).contains("requantize_sg_mkldnn_conv_bn_act_0"));
    }

    void tinyRangesKeepTheirDigits()
    {
        QCOMPARE(dialect::mxnet::rangeText(8.8846951F), std::string("8.884695"));
        QCOMPARE(dialect::mxnet::rangeText(-0.0F), std::string("0.000000"));
        QCOMPARE(dialect::mxnet::rangeText(0x1p-21F), std::string("4.76837158e-07"));
        for (const float value : {1e-30F, 3e-7F, 0.0999F, 0.1F, 7.0F, 65504.0F, 1e30F}) {
            const double read = *parseReal(dialect::mxnet::rangeText(value));
            QVERIFY(std::abs(read - double{value}) <= 5e-6 * double{value});
        }
    }

    void unknownNamesAreRefusedWithTheNearest()
    {
        const graph::Model model = load(kData + "cbrpf/model-symbol.json");
        quantize::QuantizeOptions options;
        options.excludedNames = {"conv_1"};
        const auto made = quantize::quantize(model, options, {});
        QVERIFY(!made.ok());
        QVERIFY(made.error().code == Errc::BadCall);
        QVERIFY(made.error().message().find("conv1") != std::string::npos);
        options.excludedNames = {};
        options.excludedOps = {"FullyConected"};
        QVERIFY(quantize::quantize(model, options, {}).error().message().find("FullyConnected")
                != std::string::npos);
    }

    void aModelWithoutParametersIsRefused()
    {
        graph::Model model = load(kData + "cbrpf/model-symbol.json");
        model.hasParameters = false;
        QVERIFY(!quantize::quantize(model, {}, {}).ok());
    }

    void onlyListedOperatorsAreQuantized()
    {
        const graph::Model model = load(kData + "cbrpf/model-symbol.json");
        quantize::QuantizeOptions options;
        options.quantizedOps = {"FullyConnected"};
        QCOMPARE(quantized(model, options).quantized,
                 std::vector<std::string>{"sg_mkldnn_fully_connected_0"});
    }

    void aNormalizationThatCannotBeFoldedStays_data()
    {
        QTest::addColumn<bool>("isOtherAxis");
        QTest::newRow("its mean is a head") << false;
        QTest::newRow("it is not along the channels") << true;
    }

    void aNormalizationThatCannotBeFoldedStays()
    {
        QFETCH(bool, isOtherAxis);
        graph::Model model = load(kData + "cbrpf/model-symbol.json");
        graph::NodeId norm = 0;
        while (model.graph.node(norm).name != "conv1_bn")
            ++norm;
        graph::NodeDef changed = model.graph.node(norm);
        changed.attributes.set(isOtherAxis ? "axis" : "output_mean_var", isOtherAxis ? "3" : "True");
        model.graph.redefine(norm, std::make_shared<const graph::NodeDef>(changed));
        std::vector<graph::Entry> heads(model.graph.heads().begin(), model.graph.heads().end());
        if (!isOtherAxis)
            heads.push_back({norm, 1, 0});
        model.graph.setHeads(heads);
        for (const QuantizedForm form : {QuantizedForm::Onednn, QuantizedForm::Plain}) {
            quantize::QuantizeOptions options;
            options.form = form;
            const auto rows = rowsOf(quantized(model, options, {{"data", {-3, 3}}}).model.graph);
            QVERIFY(rows.contains("conv1_bn"));
            QCOMPARE(std::get<0>(rows.at("conv1_bn")), std::string("BatchNorm"));
            QVERIFY(isOtherAxis || std::get<2>(rows.at("")).back() == "conv1_bn:1");
        }
    }

    void theNeutralSchemeWidensRangesByHalfALevel()
    {
        const graph::Model model = load(kData + "mlp/model-symbol.json");
        quantize::QuantizeOptions options;
        options.isNeutral = true;
        options.codes = quantize::QuantizedCodes::Int8;
        const quantize::QuantizedModel made = quantized(model, options, {{"data", {-127, 127}}});
        QVERIFY(std::abs(rangeTexts(made.model.graph).at("data_quantize max_calib_range") - 127.5) < 1e-4);
    }
};

QTEST_APPLESS_MAIN(TestQuantize)
#include "tst_quantize.moc"
