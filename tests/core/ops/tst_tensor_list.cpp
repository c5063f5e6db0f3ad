#include "core/ops/tensor_list.h"

#include <QTest>

#include <cstring>

using namespace halftone;
using ops::ListResult;
using ops::TensorList;
using ops::TypedBytes;
using tensor::DType;
using tensor::Shape;

namespace {

/// Two tensors of float32, (2) and (0, 3), as a list.
struct Sample
{
    float values[2] = {1.5F, -2};
    std::vector<std::byte> bytes;
    TypedBytes list;

    Sample()
    {
        const TypedBytes first{DType::F32, Shape{2}, std::as_bytes(std::span(values))};
        const TypedBytes second{DType::F32, Shape{0, 3}, {}};
        const std::vector<TypedBytes> parts{first, second};
        const ListResult made = ListResult::of(TensorList{}, parts).value();
        const Shape shape = made.shape(DType::F32);
        bytes.resize(static_cast<std::size_t>(shape[0]) * sizeof(float));
        made.write(bytes.data());
        list = {DType::F32, shape, bytes};
    }
};

TypedBytes integer(const std::int64_t &value)
{
    return {DType::I64, Shape(std::vector<std::int64_t>()), std::as_bytes(std::span(&value, 1))};
}

} // namespace

class TestTensorList : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void aListHoldsItsTensors()
    {
        const Sample sample;
        const auto parts = ops::tensorsOf(sample.list);
        QVERIFY(parts.ok());
        QCOMPARE(parts.value().size(), std::size_t{2});
        QCOMPARE(parts.value()[0].shape, Shape{2});
        QVERIFY(std::memcmp(parts.value()[0].bytes.data(), sample.values, sizeof sample.values) == 0);
        QCOMPARE(parts.value()[1].shape, (Shape{0, 3}));
    }

    void placesAreCountedFromBothEnds()
    {
        const Sample sample;
        const auto shapeAt = [&sample](std::int64_t place) {
            TensorList op;
            op.kind = TensorList::Kind::At;
            const std::vector<TypedBytes> inputs{sample.list, integer(place)};
            const auto found = ListResult::of(op, inputs);
            return found.ok() ? found.value().shape(DType::F32) : Shape();
        };
        QCOMPARE(shapeAt(0), Shape{2});
        QCOMPARE(shapeAt(-2), Shape{2});
        QCOMPARE(shapeAt(1), (Shape{0, 3}));
        QVERIFY(!shapeAt(2).hasRank());
        QVERIFY(!shapeAt(-3).hasRank());
    }

    /// As Python's lists: -1 is before the last.
    void whatIsInsertedStandsBeforeItsPlace()
    {
        const Sample sample;
        const float value = 3;
        const TypedBytes added{DType::F32, Shape{1}, std::as_bytes(std::span(&value, 1))};
        const auto placeIn = [&](std::int64_t place) -> int {
            TensorList op;
            op.kind = TensorList::Kind::Insert;
            const std::vector<TypedBytes> inputs{sample.list, added, integer(place)};
            const auto found = ListResult::of(op, inputs);
            if (!found.ok())
                return -1;
            std::vector<std::byte> bytes(static_cast<std::size_t>(found.value().shape(DType::F32)[0])
                                         * sizeof(float));
            found.value().write(bytes.data());
            const TypedBytes list{DType::F32, found.value().shape(DType::F32), bytes};
            const auto parts = ops::tensorsOf(list);
            for (std::size_t k = 0; parts.ok() && k < parts.value().size(); ++k)
                if (parts.value()[k].shape == Shape{1})
                    return static_cast<int>(k);
            return -1;
        };
        QCOMPARE(placeIn(0), 0);
        QCOMPARE(placeIn(2), 2);
        QCOMPARE(placeIn(-1), 1);
        QCOMPARE(placeIn(-2), 0);
        QCOMPARE(placeIn(3), -1);
        QCOMPARE(placeIn(-3), -1);
    }

    /// Any byte of a list may be wrong: that is told, and nothing is read beyond it.
    void whatIsNoListIsRefused()
    {
        const Sample sample;
        for (std::size_t cut = 0; cut < sample.bytes.size(); cut += sizeof(float)) {
            const TypedBytes shorter{DType::F32, Shape{static_cast<std::int64_t>(cut / sizeof(float))},
                                     std::span(sample.bytes).first(cut)};
            QVERIFY(!ops::tensorsOf(shorter).ok());
        }
        for (const std::int64_t word : {std::int64_t{-1}, std::int64_t{1} << 62})
            for (std::size_t at = 0; at < 3; ++at) { // the number of tensors, a rank, an extent
                std::vector<std::byte> bytes = sample.bytes;
                std::memcpy(bytes.data() + at * sizeof word, &word, sizeof word);
                QVERIFY(!ops::tensorsOf({DType::F32, sample.list.shape, bytes}).ok());
            }
        QVERIFY(!ops::tensorsOf({DType::F32, Shape{2, 2}, sample.bytes}).ok());
    }

    void anEmptyListHasNothingToGive()
    {
        TensorList op;
        op.kind = TensorList::Kind::Empty;
        const ListResult empty = ListResult::of(op, {}).value();
        std::vector<std::byte> bytes(static_cast<std::size_t>(empty.shape(DType::F32)[0]) * sizeof(float));
        empty.write(bytes.data());
        const std::vector<TypedBytes> inputs{{DType::F32, empty.shape(DType::F32), bytes}};
        for (const auto kind : {TensorList::Kind::Erase, TensorList::Kind::Join}) {
            op.kind = kind;
            QVERIFY(!ListResult::of(op, inputs).ok());
        }
        op.kind = TensorList::Kind::Length;
        QVERIFY(ListResult::of(op, inputs).ok());
    }
};

QTEST_APPLESS_MAIN(TestTensorList)
#include "tst_tensor_list.moc"
