#include "core/dialect/registry.h"
#include "core/policy/op_lists.h"

#include <QTest>

#include <algorithm>
#include <string>
#include <thread>
#include <vector>

using namespace halftone::policy;
using halftone::tensor::DType;

class OpListsTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    /// First, so that the lists are not parsed yet.
    void firstUseFromManyThreadsGivesOneAnswer()
    {
        std::vector<const OpLists *> seen(8);
        {
            std::vector<std::jthread> threads;
            for (auto &slot : seen)
                threads.emplace_back([&slot] {
                    slot = builtInLists(*halftone::dialect::dialectNamed("mxnet"), DType::BF16, "master")
                               .value();
                });
        }
        QCOMPARE(std::ranges::count(seen, seen.front()), 8);
        QCOMPARE(seen.front()->target.size(), std::size_t{8});
    }

    /// Names that MXNet moved between its versions, as its own lists have them.
    void versionsDifferWhereMxnetChangedThem()
    {
        const auto lists = [](DType type, const char *version) -> const OpLists & {
            return *builtInLists(*halftone::dialect::dialectNamed("mxnet"), type, version).value();
        };
        const OpLists &beta = lists(DType::F16, "2.0.0b1");
        const OpLists &master = lists(DType::F16, "master");
        for (const OpLists *const later : {&beta, &master})
            QVERIFY(later->holds(List::Target, "_npi_matmul") && later->holds(List::Target, "Convolution"));
        QVERIFY(!lists(DType::F16, "1.9.1").holds(List::Target, "_npi_matmul"));
        QVERIFY(beta.holds(List::Neutral, "_contrib_BatchNormWithReLU")
                && !master.holds(List::Neutral, "_contrib_BatchNormWithReLU"));
        QVERIFY(master.holds(List::Neutral, "_contrib_quantize_asym")
                && !beta.holds(List::Neutral, "_contrib_quantize_asym"));
        QVERIFY(lists(DType::BF16, "1.9.1").holds(List::Fp32, "SoftmaxOutput"));
        const OpLists &bfloat = lists(DType::BF16, "2.0.0b1");
        QVERIFY(bfloat.holds(List::Fp32, "mish") && !bfloat.holds(List::Fp32, "SoftmaxOutput"));
        QCOMPARE(bfloat.source, std::string("mxnet 2.0.0beta1"));
        for (const OpLists *const one : {&beta, &master, &bfloat}) {
            for (const List list : {List::Target, List::Fp32, List::Widest, List::Neutral}) {
                std::vector<std::string> names = one->names(list);
                std::ranges::sort(names);
                QVERIFY(std::ranges::adjacent_find(names) == names.end());
            }
        }
    }

    /// Sizes as counted in the lists.
    void eachFileIsReadWhole_data()
    {
        QTest::addColumn<int>("type");
        QTest::addColumn<std::string>("version");
        QTest::addColumn<QList<int>>("sizes");
        const int f16 = static_cast<int>(DType::F16), bf16 = static_cast<int>(DType::BF16);
        QTest::newRow("f16 1.9.1") << f16 << std::string("1.9.1") << QList<int>{4, 136, 113, 318, 2};
        QTest::newRow("f16 2.0.0b1") << f16 << std::string("2.0.0b1") << QList<int>{8, 142, 95, 436, 2};
        QTest::newRow("f16 master") << f16 << std::string("master") << QList<int>{8, 145, 95, 438, 2};
        QTest::newRow("bf16 1.9.1") << bf16 << std::string("1.9.1") << QList<int>{2, 438, 109, 15, 2};
        QTest::newRow("bf16 2.0.0b1") << bf16 << std::string("2.0.0b1") << QList<int>{2, 431, 109, 15, 2};
        QTest::newRow("bf16 master") << bf16 << std::string("master") << QList<int>{8, 625, 16, 32, 1};
    }

    void eachFileIsReadWhole()
    {
        QFETCH(int, type);
        QFETCH(std::string, version);
        const auto result
            = builtInLists(*halftone::dialect::dialectNamed("mxnet"), static_cast<DType>(type), version);
        QVERIFY(result.ok());
        const OpLists &lists = *result.value();
        const auto size = [](const auto &list) { return static_cast<int>(list.size()); };
        const QList<int> sizes{size(lists.target), size(lists.fp32), size(lists.widest), size(lists.neutral),
                               size(lists.conditional)};
        QTEST(sizes, "sizes");
        QCOMPARE(lists.version, version);
        QVERIFY(lists.targetType == static_cast<DType>(type));
    }

    void heldNamesAreTextNotMeaning()
    {
        const OpLists &lists
            = *builtInLists(*halftone::dialect::dialectNamed("mxnet"), DType::F16, "1.9.1").value();
        QVERIFY(lists.holds(List::Neutral, "_add"));
        QVERIFY(!lists.holds(List::Neutral, "elemwise_add"));
        QVERIFY(lists.holds(List::Conditional, "LeakyReLU"));
        QCOMPARE(lists.label, std::string("built-in float16 1.9.1"));
        QCOMPARE(lists.source, std::string("mxnet 1.9.1"));
    }

    /// Found by hand in the 1.9.1 file and MXNet's table of aliases.
    void contradictionsAreThoseOfTheFile()
    {
        std::vector<std::string> texts;
        for (const Contradiction &one : contradictions(
                 *builtInLists(*halftone::dialect::dialectNamed("mxnet"), DType::F16, "1.9.1").value()))
            texts.push_back(one.entry + ' ' + std::string(nameOf(one.list)) + ", " + one.op + ' '
                            + std::string(nameOf(one.opList)));
        const std::vector<std::string> expected{
            "_sparse_sum widest_dtype_ops, sum fp32_ops",
            "_sparse_FullyConnected fp16_fp32_ops, FullyConnected target_dtype_ops",
            "_add fp16_fp32_ops, elemwise_add widest_dtype_ops",
            "_sparse_concat fp16_fp32_ops, Concat widest_dtype_ops",
            "_sparse_sinh fp16_fp32_ops, sinh fp32_ops",
        };
        QVERIFY(std::ranges::is_permutation(texts, expected));
        QVERIFY(contradictions(
                    *builtInLists(*halftone::dialect::dialectNamed("mxnet"), DType::F16, "master").value())
                    .empty());
        QCOMPARE(contradictions(
                     *builtInLists(*halftone::dialect::dialectNamed("mxnet"), DType::BF16, "1.9.1").value())
                     .size(),
                 std::size_t{11});
    }

    void unknownListsAreRefused()
    {
        QCOMPARE(
            builtInLists(*halftone::dialect::dialectNamed("mxnet"), DType::F32, "1.9.1").error().message(),
            std::string("target_dtype: float32, expected float16 or bfloat16"));
        QCOMPARE(builtInLists(*halftone::dialect::dialectNamed("mxnet"), DType::F16, "1.8").error().message(),
                 std::string("lists: \"1.8\", expected 1.9.1, 2.0.0b1 or master"));
        QCOMPARE(builtInLists(*halftone::dialect::dialectNamed("mxnet"), DType::F16, "").value(),
                 builtInLists(*halftone::dialect::dialectNamed("mxnet"), DType::F16, "1.9.1").value());
        QCOMPARE(halftone::dialect::dialectNamed("mxnet")->listVersions().front(), std::string_view("1.9.1"));
    }
};

QTEST_APPLESS_MAIN(OpListsTest)
#include "tst_op_lists.moc"
