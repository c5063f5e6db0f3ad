#include "core/io/model_io.h"
#include "core/walks/drawn_inputs.h"
#include "tests/support/build_graph.h"
#include "tests/support/onnx_builder.h"

#include <QTest>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <set>

using namespace halftone;

namespace {

const std::string kData = HALFTONE_SOURCE_DIR "/";

walks::DrawnInputs drawnFor(const std::string &model)
{
    const auto loaded = io::loadModel(kData + model);
    if (!loaded.ok())
        qFatal("%s", loaded.error().message().c_str());
    auto drawn = walks::drawInputs(loaded.value().model, 8);
    if (!drawn.ok())
        qFatal("%s", drawn.error().message().c_str());
    return std::move(drawn).value();
}

} // namespace

class TstDrawnInputs : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void whatTheModelSaysIsKeptAndTheFirstAxisCountsExamples()
    {
        const std::string path = kData + "tests/data/onnx/network.onnx"; // data: N, 1, 8, 8
        if (const auto read = io::loadModel(path); !read.ok() && read.error().code == Errc::Unsupported)
            QSKIP("this build was made without ONNX");
        const walks::DrawnInputs drawn = drawnFor("tests/data/onnx/network.onnx");
        QCOMPARE(drawn.arrays.size(), std::size_t{1});
        QCOMPARE(QString::fromStdString(drawn.arrays[0].name), QStringLiteral("data"));
        QVERIFY(drawn.arrays[0].tensor.shape() == tensor::Shape({8, 1, 8, 8}));
        QVERIFY(!drawn.isGuessed);
    }

    void whereNothingIsSaidUsualExtentsAreTakenThatFitTheParameters()
    {
        const auto loaded = io::loadModel(kData + "resources/sample/digits-symbol.json");
        QVERIFY(loaded.ok());
        const auto drawn = walks::drawInputs(loaded.value().model, 8);
        QVERIFY2(drawn.ok(), drawn.ok() ? "" : drawn.error().message().c_str());
        QCOMPARE(drawn.value().arrays.size(), std::size_t{1});
        const tensor::Shape &shape = drawn.value().arrays[0].tensor.shape();
        QCOMPARE(shape.rank(), std::size_t{4});
        QCOMPARE(shape[0], std::int64_t{8});
        QCOMPARE(shape[1], std::int64_t{1}); // the first convolution reads one channel
    }

    void whatIsKnownOfPicturesGoesBeforeUsualExtents()
    {
        test::GraphBuilder g;
        const graph::Entry x = g.op("Convolution", "conv", {g.variable("data"), g.variable("conv_weight")},
                                    {{"kernel", "(3, 3)"}, {"num_filter", "2"}, {"no_bias", "True"}});
        const graph::Model model = g.model({g.op("Pooling", "pool", {x}, {{"global_pool", "True"}})});
        io::Preprocess pictures;
        pictures.input = "data";
        pictures.height = 30;
        pictures.width = 40;
        const auto drawn = walks::drawInputs(model, 2, pictures);
        QVERIFY2(drawn.ok(), drawn.ok() ? "" : drawn.error().message().c_str());
        const auto isData = [](const io::NamedTensor &array) { return array.name == "data"; };
        const auto data = std::ranges::find_if(drawn.value().arrays, isData);
        QVERIFY(data != drawn.value().arrays.end());
        QVERIFY(data->tensor.shape() == tensor::Shape({2, 3, 30, 40}));
    }

    void valuesAreNormalAndTheSameEachTime()
    {
        const walks::DrawnInputs once = drawnFor("resources/sample/digits-symbol.json");
        const walks::DrawnInputs again = drawnFor("resources/sample/digits-symbol.json");
        const auto bytes = once.arrays[0].tensor.bytes();
        QVERIFY(std::ranges::equal(bytes, again.arrays[0].tensor.bytes()));
        double sum = 0;
        double squares = 0;
        const std::size_t count = bytes.size() / sizeof(float);
        for (std::size_t k = 0; k < count; ++k) {
            float value = 0;
            std::memcpy(&value, bytes.data() + k * sizeof value, sizeof value);
            sum += static_cast<double>(value);
            squares += static_cast<double>(value) * static_cast<double>(value);
        }
        // Of 512 normal values the mean lies within 4 / sqrt(512) of 0, the variance within 4 * sqrt(2 / 512) of 1.
        const auto n = static_cast<double>(count);
        QVERIFY(std::abs(sum / n) < 4 / std::sqrt(n));
        QVERIFY(std::abs(squares / n - 1) < 4 * std::sqrt(2 / n));
    }

    /// Token numbers are rows of a table; a cache is empty.
    void integersLieBelowTheHeightOfTheTableThatTheyPointInto()
    {
        test::OnnxBuilder g(17);
        const graph::Entry ids = g.input("ids", "int64", "[n,s]");
        const graph::Entry table = g.input("table", "float32", "[50,2]");
        const graph::Entry past = g.input("past.0", "float32", "[n,2,p,2]");
        const graph::Model model{g.withHeads({g.op("Gather", "rows", {}, {table, ids}),
                                              g.op("Identity", "present.0", {}, {past})}),
                                 {test::OnnxBuilder::floats("table", {50, 2}, std::vector<float>(100))},
                                 true};
        const auto drawn = walks::drawInputs(model, 8);
        QVERIFY2(drawn.ok(), drawn.ok() ? "" : drawn.error().message().c_str());
        QCOMPARE(drawn.value().arrays.size(), std::size_t{2});
        const std::vector<std::int64_t> values = drawn.value().arrays[0].tensor.values<std::int64_t>();
        QCOMPARE(values.size(), std::size_t{8 * 16});
        QVERIFY(std::ranges::all_of(values, [](std::int64_t id) { return id >= 0 && id < 50; }));
        // Of 128 even draws of 50 rows about 46 differ, and their mean is 24.5 within 4 * 14.4 / sqrt(128).
        QVERIFY(std::set<std::int64_t>(values.begin(), values.end()).size() > 35);
        const double sum = std::accumulate(values.begin(), values.end(), 0.0);
        QVERIFY(std::abs(sum / 128 - 24.5) < 5.2);
        QVERIFY(drawn.value().arrays[1].tensor.shape() == tensor::Shape({8, 2, 0, 2}));
    }

    void whatNothingTellsIsRefusedByName()
    {
        test::GraphBuilder builder; // the first may be a picture, the second anything
        const auto x = builder.op("exp", "of_x", {builder.variable("x")});
        const auto y = builder.op("exp", "of_y", {builder.variable("y")});
        const auto drawn = walks::drawInputs(builder.model({x, y}), 8);
        QVERIFY(!drawn.ok());
        QVERIFY(drawn.error().code == Errc::Unsupported);
        QCOMPARE(drawn.error().where, std::string("y"));
    }
};

QTEST_GUILESS_MAIN(TstDrawnInputs)
#include "tst_drawn_inputs.moc"
