#include "core/dialect/dialect.h"
#include "core/infer/infer_types.h"
#include "core/infer/lists.h"
#include "core/io/model_io.h"
#include "core/mixed/convert_model.h"
#include "core/rewrite/nested_conversions.h"
#include "tests/support/build_graph.h"
#include "tests/support/files.h"
#include "tests/support/graph_text.h"
#include "tests/support/typed/convert.h"

#include <QTemporaryDir>
#include <QTest>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <map>

using namespace halftone;
using graph::Attributes;
using graph::Entry;
using graph::Graph;
using tensor::DType;
using test::convert;
using test::GraphBuilder;

namespace {

const Attributes kDense{{"num_hidden", "4"}, {"no_bias", "True"}};
const Attributes kRelu{{"act_type", "relu"}};

/// A model whose parameters are the given names, four ones each.
graph::Model modelOf(Graph graph, std::initializer_list<const char *> parameters)
{
    graph::Model model{std::move(graph), {}, true};
    for (const char *name : parameters)
        model.parameters.push_back(test::floatArray(std::string("arg:") + name, {1, 1, 1, 1}));
    return model;
}

/// The converted graph of a model without parameters, a line a node.
std::vector<std::string> linesOf(const Graph &graph, const policy::Policy &policy = {})
{
    return test::linesOf(convert({graph, {}, false}, policy).model.graph);
}

using Lines = std::vector<std::string>;

/// Lines without their order: where a cast stands among the variables is nobody's business.
Lines sorted(Lines lines)
{
    std::ranges::sort(lines);
    return lines;
}

policy::Policy castingParams()
{
    policy::Policy policy;
    policy.castParams = true;
    return policy;
}

DType storedType(const mixed::ConvertedModel &converted, const std::string &name)
{
    return std::ranges::find(converted.model.parameters, name, &tensor::Array::name)->values.dtype();
}

/// The file of the model as conversion leaves it; empty where that failed.
std::string convertedBytes(const io::LoadedModel &loaded, DType target, const std::string &path)
{
    policy::Policy policy;
    policy.target = target;
    const auto written = io::saveModel(convert(loaded.model, policy).model, path, loaded);
    std::ifstream in(path, std::ios::binary);
    return written.ok() ? std::string(std::istreambuf_iterator<char>(in), {}) : std::string();
}

} // namespace

class TestConvertTyped : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void aCastServesAllReadersOfOneTensor();
    void headsKeepTheTypesOfTheSource();
    void headsAndDataMayComeAsTheyAreComputed();
    void aWeightIsStoredInTheTargetTypeWhenAsked();
    void aParameterThatIsAlsoReadInFloat32Stays();
    void anExcludedParameterStays();
    void normalisationKeepsItsStatisticsInFloat32();
    void mixedInputsOfAWidestOperatorAreWidened();
    void aWidestOperatorFollowsWhenAllInputsAreThereInTheTargetType();
    void mixedInputsOfANeutralOperatorAreWidened();
    void aNeutralOperatorWantedInTheTargetTypeReadsTheCastThatIsThere();
    void aCastMovesPastOperatorsThatOnlyMoveData();
    void aCastStaysBehindWhatDropsMostOfTheData();
    void indicesAreNotData();
    void integersAndFloat64AreNeverCast();
    void castsOfTheSourceAreTakenUp();
    void convertingTwiceChangesNothing();
    void anotherTargetReplacesTheCastsOfTheFirst();
    void nodesThatComputeTheSameAreMerged();
    void headsThatWereTwoTensorsStayTwo();
    void nodesOfDifferentRequestsAreNotMerged();
    void bodiesAreConvertedAndCastsStandOutside();
    void aFusedConvolutionTakesThePlaceOfItsBody();
    void aTargetOperatorThatRefusesStaysFloat32WithANote();
    void anUnknownOperatorReadsWhatItReadBefore();
    void aGuessedTypeGivesWayToItsReaders();
    void anIllTypedSourceIsAnError();
    void takenNamesGetANumber();
    void callsOfFunctionsKeepTheirTypes();
    void constantsAreStoredLikeParameters();
    void edgesOfBodiesAreChosenWithTheGraph_data();
    void edgesOfBodiesAreChosenWithTheGraph();
    void statisticsBeyondTheTypeHoldTheirNode_data();
    void statisticsBeyondTheTypeHoldTheirNode();
    void whoAsksForTheTypeGetsIt();
    void whatAnUnknownOperatorGivesHasTheTypeThatItsReadersNeed();
    void outputsHaveTheTypesThatTheirOperatorsSay_data();
    void outputsHaveTheTypesThatTheirOperatorsSay();
    void sequencesHaveTheTypeOfTheirTensors();
    void sequencesStayInFloat32WhereTheyCannotHoldTheTarget();
    void listsAreNotCast();
    void whatAttentionReadsHasOneType();
    void aWrittenModelIsConvertedAgainToTheSameBytes_data();
    void aWrittenModelIsConvertedAgainToTheSameBytes();
    void sparseParametersAreWrittenInTheTypeThatTheyAreReadIn();
    void inputsThatNothingReadsAndTextsAreWrittenAsTheyWere();
    void operatorsThatNobodyKnowsAreTold();
};

void TestConvertTyped::aCastServesAllReadersOfOneTensor()
{
    GraphBuilder g;
    const auto x = g.variable("x");
    const auto w = g.variable("w");
    const auto a = g.op("FullyConnected", "a", {x, w}, kDense);
    const auto b = g.op("FullyConnected", "b", {a, w}, kDense);
    const auto converted = convert({g.withHeads({b}), {}, false});
    QCOMPARE(sorted(test::linesOf(converted.model.graph)),
             sorted({"null x()", "null w()", "amp_cast x_0_amp_cast_float16(x)",
                     "amp_cast w_0_amp_cast_float16(w)",
                     "FullyConnected a(x_0_amp_cast_float16, w_0_amp_cast_float16)",
                     "FullyConnected b(a, w_0_amp_cast_float16)", "amp_cast b_0_amp_cast_float32(b)",
                     "-> b_0_amp_cast_float32"}));
    const auto weight
        = std::ranges::find(converted.conversion.casts, Entry{1, 0, 0}, &rewrite::InsertedCast::tensor);
    QCOMPARE(weight->readers, (std::vector<rewrite::Reader>{{2, 1}, {3, 1}}));
}

void TestConvertTyped::headsKeepTheTypesOfTheSource()
{
    GraphBuilder g;
    const auto half = g.variable("half", {{"__dtype__", "2"}});
    const auto ids = g.variable("ids", {{"__dtype__", "4"}});
    const auto fc = g.op("FullyConnected", "fc", {g.variable("x"), g.variable("w")}, kDense);
    const auto root = g.op("sqrt", "root", {half});
    const mixed::ConvertedModel converted = convert({g.withHeads({fc, ids, half, root}), {}, false});
    const Graph &graph = converted.model.graph;
    std::vector<DType> types;
    for (const Entry &head : graph.heads())
        types.push_back(converted.conversion.types.of(head));
    QCOMPARE(types, (std::vector<DType>{DType::F32, DType::I32, DType::F16, DType::F16}));
    QCOMPARE(graph.node(graph.heads()[1].node).name, std::string("ids"));
    QCOMPARE(graph.node(graph.heads()[2].node).name, std::string("half"));
}

void TestConvertTyped::headsAndDataMayComeAsTheyAreComputed()
{
    GraphBuilder g;
    const auto fc = g.op("FullyConnected", "fc", {g.variable("x"), g.variable("w")}, kDense);
    policy::Policy policy = castingParams();
    policy.keepIoTypes = false;
    const auto converted = convert(modelOf(g.withHeads({fc}), {"w"}), policy);
    QCOMPARE(sorted(test::linesOf(converted.model.graph)),
             sorted({"null x()", "null w()", "FullyConnected fc(x, w)", "-> fc"}));
    QCOMPARE(*converted.model.graph.node(0).attributes.find("__dtype__"), std::string("2"));
}

void TestConvertTyped::aWeightIsStoredInTheTargetTypeWhenAsked()
{
    GraphBuilder g;
    const auto fc = g.op("FullyConnected", "fc", {g.variable("x"), g.variable("w")}, kDense);
    const graph::Model model = modelOf(g.withHeads({fc}), {"w"});
    const auto kept = convert(model);
    QCOMPARE(storedType(kept, "arg:w"), DType::F32);
    QCOMPARE(kept.conversion.castCounts().casts, std::size_t{3});
    const auto stored = convert(model, castingParams());
    QCOMPARE(storedType(stored, "arg:w"), DType::F16);
    QCOMPARE(stored.conversion.castCounts().casts, std::size_t{2});
    QCOMPARE(stored.conversion.parameters.size(), std::size_t{1});
    QCOMPARE(*stored.model.graph.node(stored.conversion.fromSource[1]).attributes.find("__dtype__"),
             std::string("2"));
}

void TestConvertTyped::aParameterThatIsAlsoReadInFloat32Stays()
{
    for (const bool targetFirst : {true, false}) {
        GraphBuilder g;
        const auto x = g.variable("x");
        const auto w = g.variable("w");
        const auto norm = g.op("norm", "n", {w});
        const auto fc = g.op("FullyConnected", "fc", {x, w}, kDense);
        const auto converted = convert(
            modelOf(g.withHeads(targetFirst ? std::vector{fc, norm} : std::vector{norm, fc}), {"w"}),
            castingParams());
        QCOMPARE(storedType(converted, "arg:w"), DType::F32);
        QVERIFY(converted.conversion.parameters.empty());
    }
}

void TestConvertTyped::anExcludedParameterStays()
{
    GraphBuilder g;
    const auto fc = g.op("FullyConnected", "fc", {g.variable("x"), g.variable("w")}, kDense);
    policy::Policy policy = castingParams();
    policy.excludedNames = {"w"};
    const auto converted = convert(modelOf(g.withHeads({fc}), {"w"}), policy);
    QCOMPARE(storedType(converted, "arg:w"), DType::F32);
    QCOMPARE(converted.conversion.castCounts().casts, std::size_t{3});
}

void TestConvertTyped::normalisationKeepsItsStatisticsInFloat32()
{
    GraphBuilder g;
    const auto conv = g.op("Convolution", "conv", {g.variable("x"), g.variable("w")},
                           {{"kernel", "(1, 1)"}, {"num_filter", "4"}, {"no_bias", "True"}});
    const auto norm
        = g.op("BatchNorm", "bn",
               {conv, g.variable("gamma"), g.variable("beta"), g.variable("mean"), g.variable("var")});
    const auto next = g.op("Convolution", "next", {norm, g.variable("v")},
                           {{"kernel", "(1, 1)"}, {"num_filter", "4"}, {"no_bias", "True"}});
    const auto converted
        = convert(modelOf(g.withHeads({next}), {"w", "gamma", "beta", "mean", "var", "v"}), castingParams());
    QCOMPARE(converted.conversion.castCounts().casts, std::size_t{2}); // x and the head
    for (const char *name : {"arg:gamma", "arg:beta", "arg:mean", "arg:var"})
        QCOMPARE(storedType(converted, name), DType::F32);
    for (const char *name : {"arg:w", "arg:v"})
        QCOMPARE(storedType(converted, name), DType::F16);
}

void TestConvertTyped::mixedInputsOfAWidestOperatorAreWidened()
{
    GraphBuilder g;
    const auto x = g.variable("x");
    const auto fc = g.op("FullyConnected", "fc", {x, g.variable("w")}, kDense);
    const auto exp = g.op("exp", "e", {x});
    const auto sum = g.op("elemwise_add", "sum", {fc, exp});
    const auto lines = linesOf(g.withHeads({sum}));
    QVERIFY(std::ranges::find(lines, "elemwise_add sum(fc_0_amp_cast_float32, e)") != lines.end());
    QCOMPARE(lines.back(), std::string("-> sum"));
}

void TestConvertTyped::aWidestOperatorFollowsWhenAllInputsAreThereInTheTargetType()
{
    // e is float32 and cast for fc; sum reads that cast rather than a new one of fc.
    GraphBuilder g;
    const auto e = g.op("exp", "e", {g.variable("x")});
    const auto fc = g.op("FullyConnected", "fc", {e, g.variable("w")}, kDense);
    const auto sum = g.op("elemwise_add", "sum", {fc, e});
    const auto lines = linesOf(g.withHeads({sum}));
    QVERIFY(std::ranges::find(lines, "elemwise_add sum(fc, e_0_amp_cast_float16)") != lines.end());
}

void TestConvertTyped::mixedInputsOfANeutralOperatorAreWidened()
{
    GraphBuilder g;
    const auto x = g.variable("x");
    const auto fc = g.op("FullyConnected", "fc", {x, g.variable("w")}, kDense);
    const auto e = g.op("exp", "e", {x});
    const auto mixed = g.op("elemwise_mul", "product", {fc, e});
    policy::Policy policy;
    policy.widestOps = std::vector<std::string>{};
    const auto converted = convert({g.withHeads({mixed}), {}, false}, policy);
    const auto lines = test::linesOf(converted.model.graph);
    QVERIFY(std::ranges::find(lines, "elemwise_mul product(fc_0_amp_cast_float32, e)") != lines.end());
    QCOMPARE(converted.conversion.notes.size(), std::size_t{1});
}

void TestConvertTyped::aNeutralOperatorWantedInTheTargetTypeReadsTheCastThatIsThere()
{
    GraphBuilder g;
    const auto x = g.variable("x");
    const auto a = g.op("FullyConnected", "a", {x, g.variable("w")}, kDense);
    const auto relu = g.op("Activation", "relu", {x}, kRelu);
    const auto b = g.op("FullyConnected", "b", {relu, g.variable("v")}, kDense);
    const auto lines = linesOf(g.withHeads({a, b}));
    QVERIFY(std::ranges::find(lines, "Activation relu(x_0_amp_cast_float16)") != lines.end());
}

void TestConvertTyped::aCastMovesPastOperatorsThatOnlyMoveData()
{
    GraphBuilder g;
    const auto flat = g.op("Flatten", "flat", {g.variable("x")});
    const auto turned = g.op("transpose", "turned", {flat});
    const auto fc = g.op("FullyConnected", "fc", {turned, g.variable("w")}, kDense);
    const auto converted = convert(modelOf(g.withHeads({fc}), {"w"}), castingParams());
    QCOMPARE(sorted(test::linesOf(converted.model.graph)),
             sorted({"null x()", "amp_cast x_0_amp_cast_float16(x)", "Flatten flat(x_0_amp_cast_float16)",
                     "transpose turned(flat)", "null w()", "FullyConnected fc(turned, w)",
                     "amp_cast fc_0_amp_cast_float32(fc)", "-> fc_0_amp_cast_float32"}));
    QCOMPARE(converted.conversion.moved.size(), std::size_t{2});
}

void TestConvertTyped::aCastStaysBehindWhatDropsMostOfTheData()
{
    GraphBuilder g;
    const auto part
        = g.op("slice_axis", "part", {g.variable("x")}, {{"axis", "0"}, {"begin", "0"}, {"end", "1"}});
    const auto fc = g.op("FullyConnected", "fc", {part, g.variable("w")}, kDense);
    const Graph graph = g.withHeads({fc});
    for (const auto &[rows, moves] : {std::pair(100, false), std::pair(1, true)}) {
        const auto shapes
            = infer::inferShapes(graph, {{"x", tensor::Shape({rows, 8})}, {"w", tensor::Shape({4, 8})}});
        QVERIFY(shapes.ok());
        const auto converted = convert(modelOf(graph, {"w"}), castingParams(), &shapes.value());
        QCOMPARE(converted.conversion.moved.size(), std::size_t{moves ? 1U : 0U});
    }
}

void TestConvertTyped::indicesAreNotData()
{
    // Row numbers above 2048 are not exact in float16, so only the rows may be cast earlier.
    GraphBuilder g;
    const auto taken = g.op("take", "taken", {g.variable("x"), g.variable("rows")});
    const auto fc = g.op("FullyConnected", "fc", {taken, g.variable("w")}, kDense);
    const Graph graph = g.withHeads({fc});
    const auto shapes = infer::inferShapes(
        graph, {{"x", tensor::Shape({2, 8})}, {"rows", tensor::Shape({5000})}, {"w", tensor::Shape({4, 8})}});
    QVERIFY(shapes.ok());
    const auto converted = convert(modelOf(graph, {"w"}), castingParams(), &shapes.value());
    const auto lines = test::linesOf(converted.model.graph);
    QVERIFY(std::ranges::find(lines, "take taken(x_0_amp_cast_float16, rows)") != lines.end());
}

void TestConvertTyped::integersAndFloat64AreNeverCast()
{
    GraphBuilder g;
    const auto ids = g.variable("ids", {{"__dtype__", "4"}});
    const auto wide = g.variable("wide", {{"__dtype__", "1"}});
    const auto one = g.op("elemwise_add", "one", {ids, ids});
    const auto two = g.op("exp", "two", {wide});
    const auto three = g.op("dot", "three", {wide, two});
    const Graph graph = g.withHeads({one, three});
    const auto converted = convert({graph, {}, false});
    QCOMPARE(test::difference(converted.model.graph, graph), std::string());
}

void TestConvertTyped::castsOfTheSourceAreTakenUp()
{
    GraphBuilder g;
    const auto x = g.variable("x");
    const auto low = g.op("amp_cast", "low", {x}, {{"dtype", "float16"}});
    const auto fc = g.op("FullyConnected", "fc",
                         {low, g.op("amp_cast", "lw", {g.variable("w")}, {{"dtype", "float16"}})}, kDense);
    const auto both = g.op("amp_multicast", "both", {fc, x}, {{"num_outputs", "2"}});
    const auto sum = g.op("elemwise_add", "sum", {both, Entry{both.node, 1, 0}});
    const auto converted = convert({g.withHeads({sum}), {}, false});
    QCOMPARE(converted.conversion.foldedCasts.size(), std::size_t{3});
    QCOMPARE(sorted(test::linesOf(converted.model.graph)),
             sorted({"null x()", "amp_cast x_0_amp_cast_float16(x)", "null w()",
                     "amp_cast w_0_amp_cast_float16(w)",
                     "FullyConnected fc(x_0_amp_cast_float16, w_0_amp_cast_float16)",
                     "elemwise_add sum(fc, x_0_amp_cast_float16)", "amp_cast sum_0_amp_cast_float32(sum)",
                     "-> sum_0_amp_cast_float32"}));
}

void TestConvertTyped::convertingTwiceChangesNothing()
{
    GraphBuilder g;
    const auto x = g.variable("x");
    const auto fc = g.op("FullyConnected", "fc", {g.op("Flatten", "flat", {x}), g.variable("w")}, kDense);
    const auto soft = g.op("softmax", "soft", {fc});
    const auto sum = g.op("broadcast_add", "sum", {soft, g.op("Activation", "relu", {fc}, kRelu)});
    const auto once = convert(modelOf(g.withHeads({sum, fc}), {"w"}), castingParams());
    const auto twice = convert(once.model, castingParams());
    QCOMPARE(test::difference(twice.model.graph, once.model.graph), std::string());
    QVERIFY(twice.conversion.parameters.empty());
}

void TestConvertTyped::anotherTargetReplacesTheCastsOfTheFirst()
{
    GraphBuilder g;
    const auto fc = g.op("FullyConnected", "fc", {g.variable("x"), g.variable("w")}, kDense);
    const auto half = convert({g.withHeads({fc}), {}, false});
    policy::Policy policy;
    policy.target = DType::BF16;
    QCOMPARE(sorted(test::linesOf(convert({half.model.graph, {}, false}, policy).model.graph)),
             sorted({"null x()", "amp_cast x_0_amp_cast_bfloat16(x)", "null w()",
                     "amp_cast w_0_amp_cast_bfloat16(w)",
                     "FullyConnected fc(x_0_amp_cast_bfloat16, w_0_amp_cast_bfloat16)",
                     "amp_cast fc_0_amp_cast_float32(fc)", "-> fc_0_amp_cast_float32"}));
}

void TestConvertTyped::nodesThatComputeTheSameAreMerged()
{
    GraphBuilder g;
    const auto x = g.variable("x");
    const auto a = g.op("exp", "a", {x});
    const auto b = g.op("exp", "b", {x});
    const auto sum = g.op("elemwise_add", "sum", {g.op("sqrt", "ra", {a}), g.op("sqrt", "rb", {b})});
    const Graph graph = g.withHeads({sum});
    const auto converted = convert({graph, {}, false});
    QCOMPARE(sorted(test::linesOf(converted.model.graph)),
             sorted({"null x()", "exp a(x)", "sqrt ra(a)", "elemwise_add sum(ra, ra)", "-> sum"}));
    QCOMPARE(converted.conversion.merged.size(), std::size_t{2});
    policy::Policy policy;
    policy.share = false;
    QCOMPARE(test::difference(convert({graph, {}, false}, policy).model.graph, graph), std::string());
    policy.mode = policy::Mode::NodeForNode;
    policy.share = true;
    const auto shared = convert({graph, {}, false}, policy);
    QCOMPARE(shared.conversion.merged.size(), std::size_t{2});
    QCOMPARE(shared.conversion.fromSource[2], rewrite::kNoNode);
    QCOMPARE(shared.model.graph.node(shared.conversion.fromSource[1]).name, std::string("a"));
}

void TestConvertTyped::headsThatWereTwoTensorsStayTwo()
{
    GraphBuilder g;
    const auto x = g.variable("x");
    const auto twins
        = [&](const std::string &name) { return g.op("sqrt", name, {g.op("exp", "e" + name, {x})}); };
    const auto a = twins("a");
    const auto converted = convert({g.withHeads({a, twins("b")}), {}, false});
    QCOMPARE(sorted(test::linesOf(converted.model.graph)),
             sorted({"null x()", "exp ea(x)", "sqrt a(ea)", "sqrt b(ea)", "-> a b"}));
}

void TestConvertTyped::nodesOfDifferentRequestsAreNotMerged()
{
    GraphBuilder g;
    const auto x = g.variable("x");
    const auto a = g.op("FullyConnected", "a", {x, g.variable("w")}, kDense);
    const Graph graph = g.withHeads({a, g.op("FullyConnected", "b", {x, Entry{1, 0, 0}}, kDense)});
    policy::Policy policy;
    policy.excludedNames = {"b"};
    const auto converted = convert({graph, {}, false}, policy);
    QVERIFY(converted.conversion.merged.empty());
    QCOMPARE(converted.conversion.precisionOf(2), DType::F16);
    QCOMPARE(converted.conversion.precisionOf(3), DType::F32);
}

void TestConvertTyped::bodiesAreConvertedAndCastsStandOutside()
{
    GraphBuilder body;
    const auto slice = body.variable("slice");
    const auto weight = body.variable("weight");
    const auto step = body.op("FullyConnected", "step", {slice, weight}, kDense);
    auto def = std::make_shared<graph::NodeDef>();
    def->op = "_foreach";
    def->name = "loop";
    def->attributes = {{"num_args", "3"},        {"num_outputs", "1"},    {"num_out_data", "1"},
                       {"in_data_locs", "(0,)"}, {"in_state_locs", "()"}, {"remain_locs", "(1,)"}};
    def->subgraphs.push_back(std::make_shared<const Graph>(body.withHeads({step})));
    GraphBuilder outer;
    Graph graph;
    const Entry inputs[] = {outer.variable("x"), outer.variable("w")};
    graph = outer.withHeads({});
    const auto loop = graph.add(def, inputs);
    graph.setHeads({{loop, 0, 0}});

    const auto converted = convert(modelOf(graph, {"w"}), castingParams());
    QCOMPARE(storedType(converted, "arg:w"), DType::F16);
    QCOMPARE(converted.conversion.bodies.size(), std::size_t{1});
    const Graph &inner = *converted.model.graph.node(converted.conversion.fromSource[loop]).subgraphs[0];
    QCOMPARE(sorted(test::linesOf(inner)),
             sorted({"null slice()", "null weight()", "FullyConnected step(slice, weight)", "-> step"}));
    QCOMPARE(sorted(test::linesOf(converted.model.graph)),
             sorted({"null x()", "amp_cast x_0_amp_cast_float16(x)", "null w()",
                     "_foreach loop(x_0_amp_cast_float16, w)", "amp_cast loop_0_amp_cast_float32(loop)",
                     "-> loop_0_amp_cast_float32"}));
}

void TestConvertTyped::aFusedConvolutionTakesThePlaceOfItsBody()
{
    GraphBuilder body;
    const auto conv = body.op("Convolution", "conv", {body.variable("data"), body.variable("weight")},
                              {{"kernel", "(1, 1)"}, {"num_filter", "4"}, {"no_bias", "True"}});
    auto def = std::make_shared<graph::NodeDef>();
    def->op = "_sg_mkldnn_conv";
    def->name = "fused";
    def->attributes = {{"with_act", "true"}};
    def->subgraphs.push_back(
        std::make_shared<const Graph>(body.withHeads({body.op("Activation", "relu", {conv}, kRelu)})));
    GraphBuilder outer;
    const Entry inputs[] = {outer.variable("x"), outer.variable("w")};
    Graph graph = outer.withHeads({});
    graph.setHeads({{graph.add(def, inputs), 0, 0}});
    const auto converted = convert(modelOf(graph, {"w"}), castingParams());
    QCOMPARE(storedType(converted, "arg:w"), DType::F16);
    QCOMPARE(sorted(test::linesOf(converted.model.graph)),
             sorted({"null x()", "amp_cast x_0_amp_cast_float16(x)", "null w()",
                     "_sg_mkldnn_conv fused(x_0_amp_cast_float16, w)",
                     "amp_cast fused_0_amp_cast_float32(fused)", "-> fused_0_amp_cast_float32"}));
}

void TestConvertTyped::aTargetOperatorThatRefusesStaysFloat32WithANote()
{
    GraphBuilder g;
    const auto box = g.op("_contrib_quantize_v2", "q", {g.variable("x")});
    policy::Policy policy;
    policy.moves = {{"_contrib_quantize_v2", policy::Policy::Move::To::Target}};
    const Graph graph = g.withHeads({box});
    const auto converted = convert({graph, {}, false}, policy);
    QCOMPARE(test::difference(converted.model.graph, graph), std::string());
    QCOMPARE(converted.conversion.notes.size(), std::size_t{1});
}

void TestConvertTyped::anUnknownOperatorReadsWhatItReadBefore()
{
    GraphBuilder g;
    const auto fc = g.op("FullyConnected", "fc", {g.variable("x"), g.variable("w")}, kDense);
    const auto own = g.op("my_own_operator", "own", {fc});
    const auto soft = g.op("softmax", "soft", {own});
    const auto lines = linesOf(g.withHeads({soft}));
    QVERIFY(std::ranges::find(lines, "my_own_operator own(fc_0_amp_cast_float32)") != lines.end());
    QVERIFY(std::ranges::find(lines, "softmax soft(own)") != lines.end());
}

void TestConvertTyped::aGuessedTypeGivesWayToItsReaders()
{
    // Without a parameter file nothing says that w is float16 but its reader.
    GraphBuilder g;
    const auto x = g.variable("x", {{"__dtype__", "2"}});
    const Graph graph = g.withHeads({g.op("FullyConnected", "fc", {x, g.variable("w")}, kDense)});
    const auto converted = convert({graph, {}, false});
    QCOMPARE(test::difference(converted.model.graph, graph), std::string());
}

void TestConvertTyped::anIllTypedSourceIsAnError()
{
    GraphBuilder g;
    const auto x = g.variable("x", {{"__dtype__", "2"}});
    const auto w = g.variable("w", {{"__dtype__", "0"}});
    const auto converted = mixed::convertModel(
        {g.withHeads({g.op("FullyConnected", "fc", {x, w}, kDense)}), {}, false}, {}, false);
    QVERIFY(!converted.ok());
    QVERIFY(converted.error().message().find("fc") != std::string::npos);
}

void TestConvertTyped::takenNamesGetANumber()
{
    GraphBuilder g;
    const auto x = g.variable("x");
    const auto taken = g.op("exp", "x_0_amp_cast_float16", {x});
    const auto fc = g.op("FullyConnected", "fc", {x, g.variable("w")}, kDense);
    const auto lines = linesOf(g.withHeads({taken, fc}));
    QVERIFY(std::ranges::find(lines, "amp_cast x_0_amp_cast_float16_1(x)") != lines.end());
}

/// M-typed-bodies
void TestConvertTyped::callsOfFunctionsKeepTheirTypes()
{
    const auto loaded = io::loadModel(HALFTONE_TEST_DATA "/onnx_calls/function_between.onnx");
    if (!loaded.ok() && loaded.error().code == Errc::Unsupported)
        QSKIP("this build was made without ONNX");
    QVERIFY2(loaded.ok(), loaded.ok() ? "" : loaded.error().message().c_str());
    policy::Policy policy;
    policy.target = DType::F16;
    const auto converted = mixed::convertModel(loaded.value().model, policy, false);
    QVERIFY2(converted.ok(), converted.ok() ? "" : converted.error().message().c_str());
    const graph::Graph &graph = converted.value().model.graph;
    const infer::TypeMap &types = converted.value().conversion.types;
    std::size_t seen = 0;
    for (graph::NodeId id = 0; id < graph.nodeCount(); ++id) {
        const std::string &op = graph.node(id).op;
        if (op != "MatMul" && op != "fn.Twice")
            continue;
        ++seen;
        QCOMPARE(types.of({id, 0, 0}), op == "MatMul" ? DType::F16 : DType::F32);
        QCOMPARE(types.of(graph.inputs(id)[0]), op == "MatMul" ? DType::F16 : DType::F32);
    }
    QCOMPARE(seen, std::size_t{3});
}

/// M-typed-constants
void TestConvertTyped::constantsAreStoredLikeParameters()
{
    const auto loaded = io::loadModel(HALFTONE_TEST_DATA "/onnx/constants.onnx");
    if (!loaded.ok() && loaded.error().code == Errc::Unsupported)
        QSKIP("this build was made without ONNX");
    QVERIFY2(loaded.ok(), loaded.ok() ? "" : loaded.error().message().c_str());
    policy::Policy policy;
    policy.target = DType::F16;
    const auto made = mixed::convertModel(loaded.value().model, policy, false);
    QVERIFY2(made.ok(), made.ok() ? "" : made.error().message().c_str());
    const mixed::ConvertedModel &converted = made.value();
    const graph::Graph &graph = converted.model.graph;
    std::map<std::string, DType> constants;
    const auto note = [&constants](const graph::Graph &of) {
        for (graph::NodeId id = 0; id < of.nodeCount(); ++id)
            if (const tensor::Tensor *const held = of.node(id).tensorOf("value"))
                constants[of.node(id).outputs[0]] = held->dtype();
    };
    note(graph);
    for (graph::NodeId id = 0; id < graph.nodeCount(); ++id)
        for (const auto &body : graph.node(id).subgraphs)
            note(*body);
    const std::map<std::string, DType> expected{
        {"far", DType::F16}, {"u", DType::F16}, {"v", DType::F16}, {"w", DType::F16}};
    QCOMPARE(constants, expected); // s stays float32, which Exp reads
    QCOMPARE(converted.conversion.castCounts().casts, std::size_t{3}); // of x and s, and of y
    for (const rewrite::ConvertedBody &body : converted.conversion.bodies)
        QVERIFY(body.conversion.casts.empty());
    std::vector<std::string> changed;
    for (const mixed::ParameterChange &change : converted.parameters)
        changed.push_back(change.name + (change.isClamped ? " clamped" : ""));
    std::ranges::sort(changed);
    QCOMPARE(changed, (std::vector<std::string>{"far clamped", "u", "v", "w"}));

    policy.castParams = false;
    const auto kept = mixed::convertModel(loaded.value().model, policy, false);
    QVERIFY(kept.ok());
    QVERIFY(kept.value().parameters.empty());
    QCOMPARE(kept.value().conversion.castCounts().casts, std::size_t{5}); // of w and far, too
}

void TestConvertTyped::edgesOfBodiesAreChosenWithTheGraph_data()
{
    QTest::addColumn<policy::Mode>("mode");
    QTest::addColumn<std::size_t>("casts");
    QTest::addColumn<std::size_t>("inBodies");
    QTest::addColumn<DType>("sum"); // type of the state that adds up
    // x, zero, y, z1, and what is added to the sum
    QTest::newRow("typed") << policy::Mode::Typed << std::size_t{5} << std::size_t{1} << DType::F32;
    QTest::newRow("all") << policy::Mode::All << std::size_t{4} << std::size_t{0} << DType::F16;
}

/// M-typed-bodies, M-typed-sums, M-typed-edges
void TestConvertTyped::edgesOfBodiesAreChosenWithTheGraph()
{
    QFETCH(const policy::Mode, mode);
    QFETCH(const std::size_t, casts);
    QFETCH(const std::size_t, inBodies);
    QFETCH(const DType, sum);
    const auto loaded = io::loadModel(HALFTONE_TEST_DATA "/onnx/edges.onnx");
    if (!loaded.ok() && loaded.error().code == Errc::Unsupported)
        QSKIP("this build was made without ONNX");
    QVERIFY2(loaded.ok(), loaded.ok() ? "" : loaded.error().message().c_str());
    policy::Policy policy;
    policy.target = DType::F16;
    policy.mode = mode;
    const mixed::ConvertedModel made = convert(loaded.value().model, policy);
    const rewrite::CastCounts counts = rewrite::castTotals(made.conversion);
    QCOMPARE(counts.casts, casts);
    QCOMPARE(counts.casts - made.conversion.castCounts().casts, inBodies);
    std::size_t loops = 0;
    rewrite::forConversions(loaded.value().model.graph, made.conversion,
                            [&](const graph::Graph &source, const rewrite::Conversion &conversion) {
                                for (graph::NodeId id = 0; id < source.nodeCount(); ++id) {
                                    const std::string &op = source.node(id).op;
                                    if (op != "Loop" && op != "If" && op != "Scan")
                                        continue;
                                    ++loops;
                                    for (std::uint32_t k = 0; k < source.node(id).outputs.size(); ++k)
                                        QCOMPARE(conversion.types.of({conversion.fromSource[id], k, 0}),
                                                 op == "Loop" && k == 2 ? sum : DType::F16);
                                }
                            });
    QCOMPARE(loops, std::size_t{3});
    // The types that everything says go together, and a second time nothing changes.
    QTemporaryDir folder;
    const std::string path = folder.filePath(QStringLiteral("edges.onnx")).toStdString();
    QVERIFY(io::saveModel(made.model, path, loaded.value()).ok());
    const auto again = io::loadModel(path);
    QVERIFY2(again.ok(), again.ok() ? "" : again.error().message().c_str());
    const mixed::ConvertedModel twice = convert(again.value().model, policy);
    const std::string second = folder.filePath(QStringLiteral("twice.onnx")).toStdString();
    QVERIFY(io::saveModel(twice.model, second, again.value()).ok());
    QCOMPARE(test::readFile(second), test::readFile(path));
}

/// M-statistics
void TestConvertTyped::statisticsBeyondTheTypeHoldTheirNode_data()
{
    QTest::addColumn<QString>("file");
    QTest::addColumn<DType>("target");
    QTest::addColumn<policy::Mode>("mode");
    QTest::addColumn<QStringList>("expected"); // operators that are held
    const QStringList both{"stored", "held"};
    QTest::newRow("typed") << "norms13" << DType::F16 << policy::Mode::Typed << both;
    QTest::newRow("tvm") << "norms13" << DType::F16 << policy::Mode::Tvm << both;
    QTest::newRow("all") << "norms13" << DType::F16 << policy::Mode::All << QStringList();
    QTest::newRow("bfloat16 has float32's range")
        << "norms13" << DType::BF16 << policy::Mode::Typed << QStringList();
    QTest::newRow("they may be float32") << "norms14" << DType::F16 << policy::Mode::Typed << QStringList();
}

void TestConvertTyped::statisticsBeyondTheTypeHoldTheirNode()
{
    QFETCH(const QString, file);
    QFETCH(const DType, target);
    QFETCH(const policy::Mode, mode);
    QFETCH(const QStringList, expected);
    const auto loaded = io::loadModel((HALFTONE_TEST_DATA "/onnx/" + file + ".onnx").toStdString());
    if (!loaded.ok() && loaded.error().code == Errc::Unsupported)
        QSKIP("this build was made without ONNX");
    QVERIFY2(loaded.ok(), loaded.ok() ? "" : loaded.error().message().c_str());
    policy::Policy policy;
    policy.target = target;
    policy.mode = mode;
    const auto made = mixed::convertModel(loaded.value().model, policy, false);
    QVERIFY2(made.ok(), made.ok() ? "" : made.error().message().c_str());
    const graph::Graph &source = loaded.value().model.graph;
    QStringList held;
    for (graph::NodeId id = 0; id < source.nodeCount(); ++id) {
        if (made.value().assignment.rule(id) != policy::Rule::StatisticsBeyond)
            continue;
        held.append(QString::fromStdString(source.node(id).name));
        QCOMPARE(made.value().conversion.precisionOf(id), DType::F32);
        QCOMPARE(made.value().assignment.entry(id),
                 "statistics: " + std::string(held.back() == "held" ? "constant" : "stored_variance")
                     + " goes beyond float16");
    }
    QCOMPARE(held, expected);
    // Nothing is clamped but where everything is asked to be lowered.
    for (const mixed::ParameterChange &change : made.value().parameters)
        QVERIFY(!change.isClamped || mode == policy::Mode::All);
}

void TestConvertTyped::whoAsksForTheTypeGetsIt()
{
    const auto loaded = io::loadModel(HALFTONE_TEST_DATA "/onnx/norms13.onnx");
    if (!loaded.ok() && loaded.error().code == Errc::Unsupported)
        QSKIP("this build was made without ONNX");
    policy::Policy policy;
    policy.target = DType::F16;
    policy.targetOps = {"BatchNormalization"};
    const auto made = mixed::convertModel(loaded.value().model, policy, false);
    QVERIFY2(made.ok(), made.ok() ? "" : made.error().message().c_str());
    std::size_t clamped = 0;
    for (const mixed::ParameterChange &change : made.value().parameters)
        clamped += change.isClamped ? 1 : 0;
    QCOMPARE(clamped, std::size_t{2});
}

void TestConvertTyped::whatAnUnknownOperatorGivesHasTheTypeThatItsReadersNeed()
{
    const auto loaded = io::loadModel(HALFTONE_TEST_DATA "/onnx/odd.onnx");
    if (!loaded.ok() && loaded.error().code == Errc::Unsupported)
        QSKIP("this build was made without ONNX");
    QVERIFY2(loaded.ok(), loaded.ok() ? "" : loaded.error().message().c_str());
    policy::Policy policy;
    policy.target = DType::F16;
    const auto converted = mixed::convertModel(loaded.value().model, policy, false);
    QVERIFY2(converted.ok(), converted.ok() ? "" : converted.error().message().c_str());
    std::size_t products = 0;
    const graph::Graph &graph = converted.value().model.graph;
    for (graph::NodeId id = 0; id < graph.nodeCount(); ++id)
        for (const Entry &input : graph.inputs(id))
            if (graph.node(id).op == "MatMul") {
                QCOMPARE(converted.value().conversion.types.of(input), DType::F16);
                ++products;
            }
    QCOMPARE(products, std::size_t{4});
    QCOMPARE(converted.value().conversion.castCounts().casts, std::size_t{3}); // of s, u and z
}

void TestConvertTyped::outputsHaveTheTypesThatTheirOperatorsSay_data()
{
    QTest::addColumn<DType>("target");
    QTest::addColumn<bool>("castParams");
    QTest::newRow("float16") << DType::F16 << true;
    QTest::newRow("bfloat16") << DType::BF16 << true;
    QTest::newRow("casts behind parameters") << DType::F16 << false;
}

/// Types as ONNX infers them from its schemas and ONNX Runtime runs them.
void TestConvertTyped::outputsHaveTheTypesThatTheirOperatorsSay()
{
    QFETCH(const DType, target);
    QFETCH(const bool, castParams);
    const auto loaded = io::loadModel(HALFTONE_TEST_DATA "/onnx/told.onnx");
    if (!loaded.ok() && loaded.error().code == Errc::Unsupported)
        QSKIP("this build was made without ONNX");
    QVERIFY2(loaded.ok(), loaded.ok() ? "" : loaded.error().message().c_str());
    policy::Policy policy;
    policy.target = target;
    policy.mode = policy::Mode::All;
    policy.castParams = castParams;
    const auto converted = mixed::convertModel(loaded.value().model, policy, false);
    QVERIFY2(converted.ok(), converted.ok() ? "" : converted.error().message().c_str());
    const graph::Graph &graph = converted.value().model.graph;
    const auto &types = converted.value().conversion.types;
    std::size_t found = 0;
    for (graph::NodeId id = 0; id < graph.nodeCount(); ++id) {
        const graph::NodeDef &node = graph.node(id);
        if (graph.isVariable(id) || node.op == "Cast")
            continue;
        ++found;
        const DType own = node.op == "MeanVarianceNormalization" ? DType::F32 : target;
        QCOMPARE(types.of({id, 0, 0}), own);
        if (node.op == "LayerNormalization") {
            QCOMPARE(types.of({id, 1, 0}), DType::F32);
            QCOMPARE(types.of({id, 2, 0}), DType::F32);
        }
        for (const Entry &input : graph.inputs(id))
            QVERIFY2(types.of(input) == own || types.of(input) == DType::I64, node.name.c_str());
    }
    QCOMPARE(found, std::size_t{10});
}

void TestConvertTyped::sequencesHaveTheTypeOfTheirTensors()
{
    const auto loaded = io::loadModel(HALFTONE_TEST_DATA "/onnx/sequences.onnx");
    if (!loaded.ok() && loaded.error().code == Errc::Unsupported)
        QSKIP("this build was made without ONNX");
    QVERIFY2(loaded.ok(), loaded.ok() ? "" : loaded.error().message().c_str());
    policy::Policy policy;
    policy.target = DType::F16;
    const auto converted = mixed::convertModel(loaded.value().model, policy, false);
    QVERIFY2(converted.ok(), converted.ok() ? "" : converted.error().message().c_str());
    const graph::Graph &graph = converted.value().model.graph;
    std::size_t operators = 0;
    for (graph::NodeId id = 0; id < graph.nodeCount(); ++id) {
        if (graph.isVariable(id) || graph.node(id).op == "Cast") // of the input and the output
            continue;
        ++operators;
        QCOMPARE(converted.value().conversion.types.of({id, 0, 0}), DType::F16);
    }
    QCOMPARE(operators, std::size_t{7});
}

/// Before opset 24, ONNX has no sequences of bfloat16.
void TestConvertTyped::sequencesStayInFloat32WhereTheyCannotHoldTheTarget()
{
    const auto loaded = io::loadModel(HALFTONE_TEST_DATA "/onnx/sequences.onnx");
    if (!loaded.ok() && loaded.error().code == Errc::Unsupported)
        QSKIP("this build was made without ONNX");
    policy::Policy policy;
    policy.target = DType::BF16;
    const auto converted = convert(loaded.value().model, policy);
    const graph::Graph &graph = converted.model.graph;
    std::size_t operators = 0;
    for (graph::NodeId id = 0; id < graph.nodeCount(); ++id) {
        const graph::NodeDef &node = graph.node(id);
        if (node.op == "MatMul")
            QCOMPARE(converted.conversion.types.of({id, 0, 0}), DType::BF16);
        if (node.op.find("Sequence") == std::string::npos)
            continue;
        ++operators;
        QCOMPARE(converted.conversion.types.of({id, 0, 0}), DType::F32);
    }
    QCOMPARE(operators, std::size_t{5});
}

void TestConvertTyped::listsAreNotCast()
{
    for (const char *name : {"sequence_map", "sequence_map_nothing", "optional_values"}) {
        const auto loaded = io::loadModel(HALFTONE_TEST_DATA "/onnx_ops/" + std::string(name) + ".onnx");
        if (!loaded.ok() && loaded.error().code == Errc::Unsupported)
            QSKIP("this build was made without ONNX");
        policy::Policy policy;
        policy.mode = policy::Mode::All;
        const auto converted = convert(loaded.value().model, policy);
        const graph::Graph &graph = converted.model.graph;
        for (graph::NodeId id = 0; id < graph.nodeCount(); ++id) {
            if (graph.node(id).op == "Cast")
                QVERIFY2(!infer::isNoTensor(graph, graph.inputs(id)[0]), graph.node(id).name.c_str());
        }
    }
}

void TestConvertTyped::whatAttentionReadsHasOneType()
{
    const auto loaded = io::loadModel(HALFTONE_TEST_DATA "/onnx/attention.onnx");
    if (!loaded.ok() && loaded.error().code == Errc::Unsupported)
        QSKIP("this build was made without ONNX");
    const auto converted = convert(loaded.value().model);
    const graph::Graph &graph = converted.model.graph;
    std::size_t inputs = 0;
    for (graph::NodeId id = 0; id < graph.nodeCount(); ++id)
        for (const Entry &input : graph.inputs(id))
            if (graph.node(id).op == "Attention") {
                QCOMPARE(converted.conversion.types.of(input), DType::F16);
                ++inputs;
            }
    QCOMPARE(inputs, std::size_t{3});
}

void TestConvertTyped::aWrittenModelIsConvertedAgainToTheSameBytes_data()
{
    QTest::addColumn<std::string>("name");
    for (const char *name : {"heads", "odd", "attention", "sequences", "choice", "transformer"})
        QTest::newRow(name) << std::string(name);
}

void TestConvertTyped::aWrittenModelIsConvertedAgainToTheSameBytes()
{
    QFETCH(std::string, name);
    const auto loaded = io::loadModel(HALFTONE_TEST_DATA "/onnx/" + name + ".onnx");
    if (!loaded.ok() && loaded.error().code == Errc::Unsupported)
        QSKIP("this build was made without ONNX");
    const QTemporaryDir folder;
    for (const DType target : {DType::F16, DType::BF16}) {
        const std::string path = folder.filePath(QStringLiteral("once.onnx")).toStdString();
        const std::string once = convertedBytes(loaded.value(), target, path);
        const auto again = io::loadModel(path);
        QVERIFY2(again.ok(), again.ok() ? "" : again.error().message().c_str());
        QVERIFY(
            convertedBytes(again.value(), target, folder.filePath(QStringLiteral("twice.onnx")).toStdString())
            == once);
    }
}

void TestConvertTyped::sparseParametersAreWrittenInTheTypeThatTheyAreReadIn()
{
    const auto loaded = io::loadModel(HALFTONE_TEST_DATA "/onnx/sparse.onnx");
    if (!loaded.ok() && loaded.error().code == Errc::Unsupported)
        QSKIP("this build was made without ONNX");
    const QTemporaryDir folder;
    const std::string path = folder.filePath(QStringLiteral("once.onnx")).toStdString();
    const std::string bytes = convertedBytes(loaded.value(), DType::F16, path);
    // 0.1, -2.5 and 3 in float16, and its largest number for a million.
    QVERIFY(bytes.find(std::string("\x66\x2e\x00\xc1\x00\x42\xff\x7b", 8)) != std::string::npos);
    const auto again = io::loadModel(path);
    QVERIFY2(again.ok(), again.ok() ? "" : again.error().message().c_str());
    const graph::Graph &graph = again.value().model.graph;
    for (graph::NodeId id = 0; id < graph.nodeCount(); ++id)
        if (graph.node(id).name == "w")
            QCOMPARE(graph.dialect()->declaredType(graph.node(id)).value(), DType::F16);
}

void TestConvertTyped::inputsThatNothingReadsAndTextsAreWrittenAsTheyWere()
{
    const auto loaded = io::loadModel(HALFTONE_TEST_DATA "/onnx/heads.onnx");
    if (!loaded.ok() && loaded.error().code == Errc::Unsupported)
        QSKIP("this build was made without ONNX");
    const QTemporaryDir folder;
    const std::string path = folder.filePath(QStringLiteral("once.onnx")).toStdString();
    convertedBytes(loaded.value(), DType::F16, path);
    const auto again = io::loadModel(path);
    QVERIFY2(again.ok(), again.ok() ? "" : again.error().message().c_str());
    const graph::Graph &source = loaded.value().model.graph;
    const graph::Graph &written = again.value().model.graph;
    for (graph::NodeId id = 0; id < 3; ++id) { // spare, texts, x
        QCOMPARE(written.node(id).name, source.node(id).name);
        QVERIFY(written.isVariable(id));
        QVERIFY(std::ranges::equal(written.node(id).attributes, source.node(id).attributes));
    }
    QCOMPARE(*written.node(1).attributes.find("type"), std::string("string"));
}

void TestConvertTyped::operatorsThatNobodyKnowsAreTold()
{
    const auto loaded = io::loadModel(HALFTONE_TEST_DATA "/onnx/heads.onnx");
    if (!loaded.ok() && loaded.error().code == Errc::Unsupported)
        QSKIP("this build was made without ONNX");
    policy::Policy policy;
    policy.target = DType::F16;
    policy.mode = policy::Mode::Typed;
    const auto converted = mixed::convertModel(loaded.value().model, policy, false);
    QVERIFY(converted.ok());
    const auto &warnings = converted.value().warnings;
    const auto told = std::ranges::find(warnings, "unknown_operator", &policy::Warning::code);
    QVERIFY(told != warnings.end());
    std::vector<std::string> unknown;
    const graph::Graph &graph = loaded.value().model.graph;
    for (graph::NodeId id = 0; id < graph.nodeCount(); ++id)
        if (graph.node(id).op.starts_with("com.example."))
            unknown.push_back(graph.node(id).name);
    QVERIFY(!unknown.empty());
    QCOMPARE(told->nodes, unknown);
}

QTEST_APPLESS_MAIN(TestConvertTyped)
#include "tst_convert_typed.moc"
