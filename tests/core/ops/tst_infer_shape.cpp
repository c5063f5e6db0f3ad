#include "core/ops/infer_shape.h"

#include <QTest>

#include <limits>

using namespace halftone;
using namespace halftone::ops;
using tensor::Shape;

namespace {

constexpr std::int64_t kHuge = std::int64_t{1} << 62;
constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();

/// The only output, or the error.
Result<Shape> outputOf(const Operator &op, std::vector<Shape> inputs)
{
    std::vector<Shape> outputs(1);
    HALFTONE_CHECK(inferShapes(op, inputs, outputs));
    return outputs[0];
}

Shape output(const Operator &op, std::vector<Shape> inputs)
{
    const auto result = outputOf(op, std::move(inputs));
    return result.ok() ? result.value() : Shape{-99};
}

Conv conv(Dims kernel, Padding pad = {}, Dims stride = {}, Dims dilate = {})
{
    return {.kernel = std::move(kernel),
            .stride = std::move(stride),
            .dilate = std::move(dilate),
            .pad = std::move(pad),
            .outputChannels = 4};
}

} // namespace

Q_DECLARE_METATYPE(halftone::ops::Operator)

class TestInferShape : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void hostileAttributesAreErrors_data()
    {
        QTest::addColumn<Operator>("op");
        const auto row = [](const char *name, Operator op) { QTest::newRow(name) << op; };
        row("kernel 2^62", conv({kHuge, kHuge}));
        row("kernel 0", conv({0, 3}));
        row("kernel below 0", conv({kLeast, 3}));
        row("kernel of 4 axes", conv({1, 1, 1, 1}));
        row("stride 0", conv({3, 3}, {}, {0, 1}));
        row("stride below 0", conv({3, 3}, {}, {kLeast, 1}));
        row("dilation 2^62", conv({3, 3}, {}, {}, {kHuge, kHuge}));
        row("pad 2^63 - 1", conv({3, 3}, {{kMost, kMost}, {kMost, kMost}}));
        row("pad below 0", conv({3, 3}, {{-1, 0}, {0, 0}}));
        row("no output channels", Conv{.kernel = {3, 3}});
        row("groups 0", Conv{.kernel = {3, 3}, .outputChannels = 4, .groups = 0});
        row("deconvolution out of range",
            ConvTranspose{.kernel = {3, 3}, .stride = {kHuge, kHuge}, .outputChannels = 4});
        row("output padding", ConvTranspose{.kernel = {3, 3}, .outputPad = {kMost, 0}, .outputChannels = 4});
        row("pool pad", Pool{.kernel = {2, 2}, .pad = {{kMost, 0}, {kMost, 0}}});
        row("upsample", Upsample{.scale = kMost});
        row("units below 1", FullyConnected{.units = kLeast});
        row("heads 0", AttentionProduct{.heads = 0});
        row("sections below 0", Split{.sections = kLeast});
        row("split indices", Split{.indices = {0, kMost}});
        row("axis far out", Softmax{.axis = kLeast});
        row("axis twice", Reduce{.axes = {1, -3}});
        row("reshape product", Reshape{.shape = {kHuge, kHuge}});
        row("reshape below -4", Reshape{.shape = {kLeast}});
        row("reshape split", Reshape{.shape = {-4, kMost, kMost, -2}});
        row("reshape split cut off", Reshape{.shape = {0, 0, 0, -4, 3}});
        row("reshape past the end", Reshape{.shape = {0, 0, 0, 0, 0}});
        row("slice step 0", Slice{.begin = {0}, .end = {1}, .step = {0}});
        row("slice axis", Slice{.axes = Dims{2}, .begin = {kLeast}, .end = {kLeast}, .isInside = true});
        row("pad widths", Pad{.widths = {0, 0, 0, 0, kMost, kMost, 0, 0}});
        row("tile", Tile{.repeats = {kMost}});
        row("repeat", Repeat{.repeats = kMost});
        row("broadcast below 0", Expand{.shape = {kLeast, 3, 8, 9}, .keepsRank = true});
        row("block", DepthToSpace{.block = kMost});
        row("block 0", SpaceToDepth{.block = 0});
        row("depth below 0", OneHot{.depth = kLeast});
        row("range step 0", Range{.start = 1, .step = 0});
        row("range without end", Range{.start = std::numeric_limits<double>::infinity()});
        row("scale", BilinearResize{.scaleHeight = 1e300, .scaleWidth = 1});
        row("scale not a number",
            BilinearResize{.scaleHeight = std::numeric_limits<double>::quiet_NaN(), .scaleWidth = 1});
        row("crop offset", Crop{.offset = {kMost, 0}, .size = {2, 2}});
        row("rank above 32", Reshape{.shape = Dims(40, 1)});
        row("scatter", ScatterIntoZeros{.shape = {kLeast}});
        row("proposals", Proposal{.perPicture = true, .after = kMost});
        row("offset groups", DeformConv{.conv = conv({3, 3}), .offsetGroups = kMost});
        row("offset groups 0", DeformConv{.conv = conv({3, 3}), .offsetGroups = 0});
        row("displacement", Correlation{.maxDisplacement = kMost});
        row("displacement stride 0", Correlation{.stride2 = 0});
        row("unfold stride 0", Unfold{.kernel = {3, 3}, .stride = {0, 0}});
        row("sampling grid", SpatialTransformer{.size = {kHuge, kHuge}});
        row("picture size", Picture{.kind = Picture::Kind::Resize, .size = {kLeast}});
        row("picture crop", Picture{.kind = Picture::Kind::Crop, .x = kMost, .width = kMost});
        row("made diagonal", LinearAlgebra{.kind = LinearAlgebra::Kind::MakeDiagonal, .offset = kLeast});
        row("extracted diagonal",
            LinearAlgebra{.kind = LinearAlgebra::Kind::ExtractDiagonal, .offset = kLeast});
        row("diagonal", Diagonal{.offset = kLeast});
        row("diagonal of one axis", Diagonal{.first = 1, .second = -3});
        row("flat index without shape", FlatIndex{});
        row("running sum", CumSum{.axis = kLeast});
        row("identity", EyeLike{.hasInput = false, .rows = kLeast});
        row("bins", Histogram{.bins = kMost});
        row("sample", RandomSample{.shape = {kLeast}});
        row("quantized", Quantized<FullyConnected>{{.units = kLeast}});
    }
    void hostileAttributesAreErrors()
    {
        QFETCH(Operator, op);
        const auto result = outputOf(op, {Shape{2, 3, 8, 9}, {}, {}});
        QVERIFY(!result.ok());
        QVERIFY(!result.error().where.empty() && !result.error().found.empty()
                && !result.error().expected.empty());
    }

    void hugeDimensionsAreErrorsAndNeverWrap()
    {
        QVERIFY(!outputOf(Flatten{}, {Shape{2, kHuge, 8}}).ok());
        QVERIFY(!outputOf(Upsample{.scale = 4}, {Shape{1, 1, kHuge, 1}}).ok());
        QVERIFY(!outputOf(Concat{.axis = 0}, {Shape{kMost}, Shape{1}}).ok());
        QVERIFY(!outputOf(Reshape{.shape = {-1}}, {Shape{kHuge, 2, 2}}).ok());
    }

    void whatIsKnownNeverChangesWhateverTheOperator()
    {
        // One of each alternative as it is by default, among shapes that few of them can have: an error is an
        // answer too.
        const std::vector<std::vector<Shape>> situations{
            {},
            std::vector<Shape>(3),
            std::vector<Shape>(3, Shape(std::vector<std::int64_t>{})),
            std::vector<Shape>(3, Shape{0, 0, 0, 0}),
            {{2, 3}, {}, {7}}};
        visitAll(
            [&situations](const Operator &op) {
                for (const std::vector<Shape> &situation : situations) {
                    std::vector<Shape> inputs = situation;
                    std::vector<Shape> outputs(situation.empty() ? 0 : 2);
                    const bool answered = inferShapes(op, inputs, outputs).ok();
                    for (std::size_t i = 0; i < inputs.size(); ++i)
                        QVERIFY2(!situation[i].hasRank() || inputs[i] == situation[i],
                                 answered ? "answered" : "refused");
                }
            },
            Operators{});
    }

    void aContradictionTellsTheInputAndBothShapes()
    {
        const auto result = outputOf(FullyConnected{.units = 5}, {Shape{4, 7}, Shape{5, 6}, {}});
        QVERIFY(!result.ok());
        QCOMPARE(result.error().message(), std::string("input 1: shape (5, 6), expected (5, 7)"));
    }

    void parametersFollowFromData()
    {
        std::vector<Shape> inputs{{2, 6, 8, 8}, {}, {}};
        std::vector<Shape> outputs(1);
        QVERIFY(
            inferShapes(Conv{.kernel = {3, 3}, .outputChannels = 4, .groups = 2}, inputs, outputs).value());
        QVERIFY(inputs[1] == (Shape{4, 3, 3, 3}) && inputs[2] == Shape{4});
        QVERIFY(
            !inferShapes(Conv{.kernel = {3, 3}, .outputChannels = 4, .groups = 2}, inputs, outputs).value());
    }

    void dataFollowsFromTheOutputOfAConvolutionThatMovesByOne()
    {
        std::vector<Shape> inputs{{}, {4, 3, 3, 3}, {}};
        std::vector<Shape> outputs{{2, 4, 6, 7}};
        QVERIFY(inferShapes(conv({3, 3}), inputs, outputs).ok());
        QVERIFY(inputs[0] == (Shape{2, 3, 8, 9}));
    }

    void aCopiedUnknownDimensionDoesNotHideWhatIsLeft()
    {
        QVERIFY(output(Reshape{.shape = {0, -1}}, {Shape{-1, 3, 8}}) == (Shape{-1, 24}));
        QVERIFY(output(Reshape{.shape = {-1, 24}}, {Shape{-1, 3, 8}}) == (Shape{-1, 24}));
    }

    void poolingKeepsOneExtentAStrideInSameMode()
    {
        const Pool pool{.rounding = Pool::Rounding::Same, .kernel = {3}, .stride = {2}};
        QVERIFY(output(pool, {Shape{1, 1, 9}}) == (Shape{1, 1, 5}));
    }

    void slicesCountAsInPython()
    {
        const auto length
            = [](std::optional<std::int64_t> begin, std::optional<std::int64_t> end, std::int64_t step) {
                  return output(Slice{.begin = {begin}, .end = {end}, .step = {step}}, {Shape{9}})[0];
              };
        QCOMPARE(length({}, {}, 1), 9);
        QCOMPARE(length({}, {}, -1), 9);
        QCOMPARE(length({}, {}, 4), 3);
        QCOMPARE(length(-3, {}, 1), 3);
        QCOMPARE(length({}, -3, 2), 3);
        QCOMPARE(length(7, 1, -2), 3);
        QCOMPARE(length(5, 2, 1), 0);
        QCOMPARE(length(kLeast, kMost, 1), 9);
        QCOMPARE(length({}, {}, kLeast), 1);
        QCOMPARE(length(kMost, kLeast, kLeast), 1);
    }

    void aFullReductionIsAScalarUnlessTheFormatSaysOtherwise()
    {
        QVERIFY(output(Reduce{}, {Shape{2, 3}}) == Shape(std::vector<std::int64_t>{}));
        QVERIFY(output(Reduce{.atLeastRank1 = true}, {Shape{2, 3}}) == Shape{1});
    }

private:
    template <class F, class... Ts>
    static void visitAll(const F &f, TypeList<Ts...>)
    {
        (f(Operator(Ts{})), ...);
    }
};

QTEST_APPLESS_MAIN(TestInferShape)
#include "tst_infer_shape.moc"
