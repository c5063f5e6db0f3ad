#include "core/tensor/elements.h"
#include "core/walks/implied_inputs.h"
#include "core/walks/next_tokens.h"
#include "tests/support/onnx_builder.h"

#include <QTest>

#include <algorithm>
#include <cstring>

using namespace halftone;
using tensor::DType;
using tensor::Shape;
using tensor::Tensor;

namespace {

constexpr std::int64_t kNone = io::Labels::kNotJudged;

io::NamedTensor integers(const char *name, Shape shape, const std::vector<std::int64_t> &values)
{
    std::vector<std::byte> bytes(values.size() * sizeof(std::int64_t));
    std::memcpy(bytes.data(), values.data(), bytes.size());
    return {name, Tensor::owning(DType::I64, std::move(shape), std::move(bytes))};
}

/// A decoder's inputs, of which the outputs read each.
graph::Model decoder()
{
    test::OnnxBuilder g(17);
    const auto ids = g.input("input_ids", "int64", "[n,s]");
    const auto mask = g.input("attention_mask", "int64", "[n,t]");
    const auto places = g.input("position_ids", "int64", "[n,s]");
    const auto past = g.input("past_key_values.0.key", "float16", "[n,2,p,4]");
    return {g.withHeads({g.op("Identity", "a", {}, {ids}), g.op("Identity", "b", {}, {mask}),
                         g.op("Identity", "c", {}, {places}), g.op("Identity", "d", {}, {past})}),
            {},
            true};
}

const Tensor *valueOf(const walks::ImpliedInputs &implied, std::string_view name)
{
    const auto found = std::ranges::find(implied.arrays, name, &io::NamedTensor::name);
    return found == implied.arrays.end() ? nullptr : &found->tensor;
}

} // namespace

/// What a language model is fed and judged by where the data do not say it.
class TstNextTokens : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void theNextTokenOfARowIsRight()
    {
        const auto next
            = walks::nextTokens({integers("input_ids", {2, 3}, {7, 8, 9, 4, 5, 6})}, std::string());
        QVERIFY2(next.ok(), next.ok() ? "" : next.error().message().c_str());
        QCOMPARE(next.value().input, std::string("input_ids"));
        QCOMPARE(next.value().labels.perExample, std::size_t{3});
        QCOMPARE(next.value().labels.classes, (std::vector<std::int64_t>{8, 9, kNone, 5, 6, kNone}));
    }

    void whatTheMaskLeavesOutIsNotJudged()
    {
        const auto next = walks::nextTokens({integers("input_ids", {1, 5}, {0, 7, 8, 9, 0}),
                                             integers("attention_mask", {1, 5}, {0, 1, 1, 1, 0})},
                                            std::string());
        QVERIFY(next.ok());
        QCOMPARE(next.value().labels.classes, (std::vector<std::int64_t>{kNone, 8, 9, kNone, kNone}));
    }

    void severalInputsNeedAName()
    {
        const std::vector<io::NamedTensor> arrays{integers("ids", {1, 2}, {1, 2}),
                                                  integers("kinds", {1, 2}, {0, 0})};
        const auto guessed = walks::nextTokens(arrays, std::string());
        QVERIFY(!guessed.ok());
        QCOMPARE(guessed.error().code, Errc::BadCall);
        QCOMPARE(walks::nextTokens(arrays, "ids").value().labels.classes,
                 (std::vector<std::int64_t>{2, kNone}));
        QVERIFY(!walks::nextTokens(arrays, "other").ok());
    }

    void oneStepHasNoNext() { QVERIFY(!walks::nextTokens({integers("ids", {2, 1}, {1, 2})}, "ids").ok()); }

    void cachesAreEmptyMasksOnesAndPositionsCounted()
    {
        const auto implied
            = walks::impliedInputs(decoder(), {integers("input_ids", {2, 3}, {7, 8, 9, 4, 5, 6})});
        QVERIFY2(implied.ok(), implied.ok() ? "" : implied.error().message().c_str());
        const Tensor *const past = valueOf(implied.value(), "past_key_values.0.key");
        QVERIFY(past != nullptr && past->shape() == Shape({2, 2, 0, 4}));
        QCOMPARE(past->dtype(), DType::F16);
        QCOMPARE(valueOf(implied.value(), "attention_mask")->values<std::int64_t>(),
                 (std::vector<std::int64_t>{1, 1, 1, 1, 1, 1}));
        QCOMPARE(valueOf(implied.value(), "position_ids")->values<std::int64_t>(),
                 (std::vector<std::int64_t>{0, 1, 2, 0, 1, 2}));
        QCOMPARE(implied.value().notes.size(), std::size_t{3});
    }

    void positionsFollowAGivenCache()
    {
        const std::vector<io::NamedTensor> given{
            integers("input_ids", {1, 2}, {7, 8}),
            {"past_key_values.0.key",
             Tensor::owning(DType::F16, {1, 2, 5, 4}, std::vector<std::byte>(2 * 40))}};
        const auto implied = walks::impliedInputs(decoder(), given);
        QVERIFY(implied.ok());
        QCOMPARE(implied.value().arrays.size(), std::size_t{2});
        QCOMPARE(valueOf(implied.value(), "attention_mask")->shape(), Shape({1, 7}));
        QCOMPARE(valueOf(implied.value(), "position_ids")->values<std::int64_t>(),
                 (std::vector<std::int64_t>{5, 6}));
    }

    void whatIsGivenStays()
    {
        const auto implied = walks::impliedInputs(
            decoder(), {integers("input_ids", {1, 2}, {7, 8}), integers("position_ids", {1, 2}, {3, 4})});
        QVERIFY(implied.ok());
        QVERIFY(valueOf(implied.value(), "position_ids") == nullptr);
    }
};

QTEST_APPLESS_MAIN(TstNextTokens)
#include "tst_next_tokens.moc"
