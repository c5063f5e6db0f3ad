#include "core/compare/value_keys.h"

#include <QTest>

using namespace halftone;
using namespace halftone::compare;
using tensor::DType;

namespace {

graph::NodeDefPtr nodeOf(const std::string &op, const std::string &name, graph::Attributes attributes = {})
{
    return std::make_shared<graph::NodeDef>(graph::NodeDef{op, name, std::move(attributes), {}});
}

Computation computation(graph::NodeDefPtr node, DType type = DType::F32, bool isCast = false)
{
    return {std::move(node), {{1, 0}}, {{type, {2, 3}}}, 1, {}, isCast};
}

tensor::Tensor parameter(unsigned char value)
{
    return tensor::Tensor::owning(DType::U8, {1}, {std::byte{value}});
}

} // namespace

class TestValueKeys : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void equalComputationsOfOtherObjectsHaveOneKey()
    {
        ValueKeys keys;
        const auto key = keys.of(computation(nodeOf("exp", "a", {{"x", "1"}})));
        QVERIFY(key != 0);
        QCOMPARE(keys.of(computation(nodeOf("exp", "a", {{"x", "1"}}))), key);
        QCOMPARE(keys.size(), std::size_t{1});
    }

    void whateverDecidesTheBitsMakesAnotherKey()
    {
        ValueKeys keys;
        std::vector<Computation> all{
            computation(nodeOf("exp", "a")), computation(nodeOf("log", "a")), computation(nodeOf("exp", "b")),
            computation(nodeOf("exp", "a", {{"x", "1"}})), computation(nodeOf("exp", "a"), DType::F16)};
        all.push_back(all[0]);
        all.back().inputs = {{1, 1}};
        all.push_back(all[0]);
        all.back().inputs = {{2, 0}};
        all.push_back(all[0]);
        all.back().shown = 2;
        all.push_back(all[0]);
        all.back().outputs[0].shape = {3, 2};
        all.push_back(all[0]);
        all.back().parameter = parameter(1);
        all.push_back(all[0]);
        all.back().parameter = parameter(2);
        for (std::size_t k = 0; k < all.size(); ++k)
            QCOMPARE(keys.of(all[k]), ValueKeys::Key{k + 1});
    }

    void theNameOfACastMeansNothing()
    {
        ValueKeys keys;
        QCOMPARE(keys.of(computation(nodeOf("amp_cast", "a_cast0"), DType::F16, true)),
                 keys.of(computation(nodeOf("amp_cast", "a_cast1"), DType::F16, true)));
    }

    void equalBytesElsewhereAreTheSameParameter()
    {
        ValueKeys keys;
        Computation one = computation(nodeOf("null", "w"));
        Computation two = one;
        one.parameter = parameter(7);
        two.parameter = parameter(7);
        QCOMPARE(keys.of(one), keys.of(two));
    }

    void whatIsForgottenGetsANewKey()
    {
        ValueKeys keys;
        const auto old = keys.of(computation(nodeOf("exp", "old")));
        keys.nextGeneration();
        const auto young = keys.of(computation(nodeOf("exp", "young")));
        keys.nextGeneration();
        QVERIFY(keys.forgetOlderThan(2).empty());
        QCOMPARE(keys.forgetOlderThan(1), std::vector<ValueKeys::Key>{old});
        QCOMPARE(keys.of(computation(nodeOf("exp", "young"))), young);
        QVERIFY(keys.of(computation(nodeOf("exp", "old"))) > young);
    }
};

QTEST_GUILESS_MAIN(TestValueKeys)
#include "tst_value_keys.moc"
