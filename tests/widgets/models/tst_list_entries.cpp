#include "tests/widgets/models/decoder_document.h"
#include "tests/widgets/models/sample_document.h"
#include "widgets/models/list_entries.h"

#include <QTest>

#include <algorithm>

using namespace halftone;
using namespace halftone::widgets;
using Kind = ListEntry::Kind;

class TestListEntries : public QObject
{
    Q_OBJECT

private:
    static const std::vector<ListEntry> &of(const ListEntries &all, ListId list)
    {
        return all[static_cast<std::size_t>(list)];
    }

    static const ListEntry *find(const ListEntries &all, ListId list, const std::string &name)
    {
        const auto at = std::ranges::find(of(all, list), name, &ListEntry::name);
        return at == of(all, list).end() ? nullptr : &*at;
    }

    ListEntries entriesAfter(const std::vector<policy::Edit> &edits, const ListFilter &filter = {})
    {
        m_document = test::openSample();
        for (const policy::Edit &edit : edits) {
            if (!m_document->apply(edit).ok())
                qFatal("the edit was refused");
        }
        return listEntries(*test::snapshotOf(*m_document), filter);
    }

    std::unique_ptr<session::Document> m_document;

private Q_SLOTS:
    // Counts of the sample's symbol file: 6 convolutions, 6 batch norms, 5 activations, 2 sums of two, and one each of
    // square, sum, _mul_scalar, _plus_scalar, rsqrt, broadcast_mul, Pooling, Flatten, FullyConnected, softmax.
    void theModelsOwnOperatorsStandInMxnetsLists()
    {
        const ListEntries all = entriesAfter({});
        QCOMPARE(of(all, ListId::Target).size(), std::size_t{2});
        const ListEntry *const convolution = find(all, ListId::Target, "Convolution");
        QVERIFY(convolution);
        QCOMPARE(convolution->nodes, std::size_t{6});
        QVERIFY(!convolution->isOwn);
        QCOMPARE(convolution->origin, QStringLiteral("built-in float16 1.9.1"));
        QVERIFY(find(all, ListId::Fp32, "softmax"));
        QVERIFY(find(all, ListId::Fp32, "square"));
        QCOMPARE(find(all, ListId::Widest, "elemwise_add")->nodes, std::size_t{2});
        QCOMPARE(find(all, ListId::Neutral, "BatchNorm")->nodes, std::size_t{6});
        QVERIFY(of(all, ListId::Excluded).empty());
    }

    void constantsHaveARowWhereTheyAreAskedForOrMoved()
    {
        m_document = test::openDecoder({.blocks = 1});
        if (!m_document)
            QSKIP("this build has no ONNX");
        const auto row = [&](const ListFilter &filter) {
            const ListEntries all = listEntries(*test::snapshotOf(*m_document), filter);
            for (const ListId list : kAllLists)
                if (find(all, list, "Constant"))
                    return std::optional(list);
            return std::optional<ListId>();
        };
        QVERIFY(!row({}));
        ListFilter everything;
        everything.constants = true;
        QVERIFY(row(everything));
        QVERIFY(m_document->apply(policy::MoveOperators{{"Constant"}, policy::List::Fp32}).ok());
        QCOMPARE(row({}), std::optional(ListId::Fp32));
    }

    void everyOperatorOfTheModelStandsInExactlyOneList()
    {
        std::size_t nodes = 0;
        for (const auto &list : entriesAfter({})) {
            for (const ListEntry &entry : list)
                nodes += entry.inModel ? entry.nodes : 0;
        }
        // 29 operators; the 5 activations have a condition that none of them meets.
        QCOMPARE(nodes, std::size_t{24});
    }

    void aConditionThatNoNodeMeetsIsIdle()
    {
        const ListEntries all = entriesAfter({});
        const ListEntry *const activation = find(all, ListId::Conditional, "Activation");
        QVERIFY(activation);
        QCOMPARE(activation->kind, Kind::Condition);
        QCOMPARE(activation->text(), QStringLiteral("Activation \u00b7 act_type = softrelu"));
        QCOMPARE(activation->idle, QStringLiteral("no Activation of this model has that value"));
    }

    void aConditionThatNodesMeetCountsThem()
    {
        const ListEntries all
            = entriesAfter({policy::SetConditions{"Activation", {{"Activation", "act_type", {"relu"}}}}});
        const ListEntry *const activation = find(all, ListId::Conditional, "Activation");
        QVERIFY(activation);
        QCOMPARE(activation->nodes, std::size_t{5});
        QVERIFY(activation->idle.isEmpty());
        QVERIFY(activation->isOwn);
    }

    void aMovedOperatorIsOwnAndSaysWhereItStood()
    {
        const ListEntries all = entriesAfter({policy::MoveOperators{{"softmax"}, policy::List::Target}});
        const ListEntry *const softmax = find(all, ListId::Target, "softmax");
        QVERIFY(softmax);
        QVERIFY(softmax->isOwn);
        QCOMPARE(softmax->origin, QStringLiteral("own; built-in: fp32"));
        QVERIFY(!find(all, ListId::Fp32, "softmax"));
    }

    void anOwnRuleForAnOperatorThatTheModelLacksIsShownAndIdle()
    {
        const ListEntries all = entriesAfter({policy::MoveOperators{{"Deconvolution"}, policy::List::Fp32}});
        const ListEntry *const entry = find(all, ListId::Fp32, "Deconvolution");
        QVERIFY(entry);
        QCOMPARE(entry->idle, QStringLiteral("no Deconvolution in this model"));
    }

    void builtInEntriesForOtherModelsAreBehindTheSwitch()
    {
        QVERIFY(!find(entriesAfter({}), ListId::Target, "RNN"));
        const ListEntries all = entriesAfter({}, {.everyOperator = true});
        const ListEntry *const rnn = find(all, ListId::Target, "RNN");
        QVERIFY(rnn);
        QVERIFY(!rnn->inModel);
        // The model's own come first.
        QCOMPARE(of(all, ListId::Target).front().name, std::string("Convolution"));
    }

    void excludedNodesAndPatternsCountWhatTheyName()
    {
        const ListEntries all
            = entriesAfter({policy::ExcludeNames{{"fc", "/^stage2_.*conv$/", "nowhere", "prob"}}});
        QCOMPARE(find(all, ListId::Excluded, "fc")->nodes, std::size_t{1});
        const ListEntry *const pattern = find(all, ListId::Excluded, "/^stage2_.*conv$/");
        QCOMPARE(pattern->kind, Kind::Pattern);
        QCOMPARE(pattern->nodes, std::size_t{3});
        QCOMPARE(find(all, ListId::Excluded, "nowhere")->idle, QStringLiteral("no node has this name"));
        QCOMPARE(find(all, ListId::Excluded, "prob")->idle,
                 QStringLiteral("already in fp32 by the operator's list"));
    }

    void overriddenNodesStandInTheListOfTheirType()
    {
        const ListEntries all = entriesAfter({policy::OverrideNodes{{"fc"}, tensor::DType::F32},
                                              policy::OverrideNodes{{"prob"}, tensor::DType::F16},
                                              policy::OverrideNodes{{"stem_conv"}, tensor::DType::F16}});
        QCOMPARE(find(all, ListId::Fp32, "fc")->kind, Kind::Node);
        QVERIFY(find(all, ListId::Fp32, "fc")->idle.isEmpty());
        QVERIFY(find(all, ListId::Target, "prob")->idle.isEmpty());
        QCOMPARE(find(all, ListId::Target, "stem_conv")->idle,
                 QStringLiteral("its operator already is in that list"));
        // The one FullyConnected is now decided by its name.
        QCOMPARE(find(all, ListId::Target, "FullyConnected")->idle,
                 QStringLiteral("every FullyConnected node is set individually"));
    }

    void theFilterLooksAtAnyPartOfTheText()
    {
        const ListEntries all = entriesAfter({}, {.text = QStringLiteral("conv")});
        std::size_t count = 0;
        for (const auto &list : all)
            count += list.size();
        QCOMPARE(count, std::size_t{1});
    }

    void entriesAreSortedAndDistinct()
    {
        const ListEntries all
            = entriesAfter({policy::ExcludeNames{{"fc", "/fc/", "b", "B"}}}, {.everyOperator = true});
        for (const auto &list : all) {
            for (std::size_t k = 1; k < list.size(); ++k) {
                QVERIFY(isBefore(list[k - 1], list[k]));
                QVERIFY(!isBefore(list[k], list[k - 1]));
            }
        }
    }
};

QTEST_GUILESS_MAIN(TestListEntries)
#include "tst_list_entries.moc"
