#include "tests/support/typed/random.h"
#include "tests/widgets/models/sample_document.h"
#include "widgets/common/document_controller.h"
#include "widgets/models/list_moves.h"
#include "widgets/models/list_removal.h"
#include "widgets/models/name_pattern.h"

#include <QFile>
#include <QMimeData>
#include <QTemporaryDir>
#include <QTest>

#include <set>

using namespace halftone;
using namespace halftone::widgets;

class TestListMoves : public QObject
{
    Q_OBJECT

private:
    DocumentController m_controller;

    const session::Snapshot &snapshot() const { return *m_controller.snapshot(); }

    /// A random thing to move: some operators, or some nodes.
    ListPayload randomPayload(test::Random &random) const
    {
        ListPayload payload;
        const graph::Graph &graph = snapshot().graph();
        std::vector<std::string> ops(graph.operatorNames().begin(), graph.operatorNames().end());
        std::erase(ops, std::string("null"));
        ops.insert(ops.end(), {"RNN", "Deconvolution", "exp", "LeakyReLU", "_zeros"});
        const bool wantsNodes = random.chance(50);
        for (std::size_t k = 0; k <= random.below(3); ++k) {
            if (wantsNodes)
                payload.nodes.push_back(
                    graph.node(static_cast<graph::NodeId>(random.below(graph.nodeCount()))).name);
            else
                payload.ops.push_back(random.oneOf(ops));
        }
        return payload;
    }

    /// Thirty blocks of a convolution and an activation.
    static std::unique_ptr<session::Document> blocks(const QTemporaryDir &folder)
    {
        QStringList nodes{R"({"op":"null","name":"data","inputs":[]})"};
        QStringList variables{"0"};
        const auto add
            = [&nodes](const char *op, const QString &name, const char *attributes, const QString &inputs) {
                  nodes << QStringLiteral("{\"op\":\"%1\",\"name\":\"%2\",\"attrs\":{%3},\"inputs\":[%4]}")
                               .arg(QLatin1String(op), name, QLatin1String(attributes), inputs);
                  return QStringLiteral("[%1,0,0]").arg(nodes.size() - 1);
              };
        QString last = "[0,0,0]";
        for (int k = 0; k < 30; ++k) {
            const QString name = QStringLiteral("layers.%1").arg(k);
            variables << QString::number(nodes.size());
            const QString weight = add("null", name + ".conv_weight", "", "");
            last
                = add("Convolution", name + ".conv",
                      "\"kernel\":\"(1, 1)\",\"num_filter\":\"2\",\"no_bias\":\"True\"", last + ',' + weight);
            last = add("Activation", name + ".act", "\"act_type\":\"relu\"", last);
        }
        QFile file(folder.filePath(QStringLiteral("blocks-symbol.json")));
        if (!file.open(QIODevice::WriteOnly))
            qFatal("cannot write the model");
        file.write(
            QStringLiteral("{\"nodes\":[%1],\"arg_nodes\":[%2],\"heads\":[%3],\"attrs\":{\"mxnet_version\":"
                           "[\"int\",10901]}}")
                .arg(nodes.join(','), variables.join(','), last)
                .toUtf8());
        file.close();
        auto opened = session::Document::open(file.fileName().toStdString());
        if (!opened.ok())
            qFatal("%s", opened.error().message().c_str());
        return std::move(opened).value();
    }

private Q_SLOTS:
    void init()
    {
        m_controller.setDocument(test::openSample());
        QVERIFY(m_controller.snapshot());
    }

    void anOperatorGoesToFp32WithAllItsNodes()
    {
        const ListMove move = moveTo(snapshot(), {{"Convolution"}, {}}, ListId::Fp32);
        QVERIFY(move.isPossible());
        QCOMPARE(move.choices.size(), std::size_t{1});
        QCOMPARE(move.choices[0].subject, QStringLiteral("6 Convolution to fp32"));
        QVERIFY(m_controller.apply(*move.choices[0].edit));
        QCOMPARE(listOf(*snapshot().rules, "Convolution"), ListId::Fp32);
    }

    void aNodeOfAUnitMovesAloneOrWithIt()
    {
        auto opened = session::Document::open(HALFTONE_SOURCE_DIR "/tests/data/onnx/long_rows.onnx");
        if (!opened.ok() && opened.error().code == Errc::Unsupported)
            QSKIP("this build reads no ONNX models");
        m_controller.setDocument(std::move(opened).value());
        const std::string layer = "/encoder/layer.0/intermediate/";
        const ListPayload erf{{}, {layer + "act/Erf"}};
        const ListMove move = moveTo(snapshot(), erf, ListId::Fp32);
        QCOMPARE(move.choices.size(), std::size_t{1}); // nothing is asked
        QCOMPARE(move.choices.front().label,
                 QStringLiteral("Only the node %1act/Erf").arg(QString::fromStdString(layer)));
        const std::vector<session::ModelUnit> units = unitsOf(snapshot(), erf);
        QVERIFY(units.size() >= 3);
        QCOMPARE(units[0].title, std::string("GELU"));
        QCOMPARE(units[1].title, std::string("MLP"));
        QVERIFY(unitsOf(snapshot(), {{"Erf"}, {}}).empty());
        const MoveChoice whole = unitChoice(snapshot(), units[1], ListId::Fp32);
        QVERIFY2(whole.label.startsWith(QStringLiteral("The whole MLP: ")), qPrintable(whole.label));
        const std::size_t before = m_controller.document()->history().entries.size();
        QVERIFY(m_controller.apply(*whole.edit));
        QVERIFY(unitChoice(snapshot(), units[1], ListId::Fp32).isSo);
        QVERIFY(m_controller.document()->policy().nodeOverrides.size() > 5);
        QCOMPARE(m_controller.document()->history().entries.size(), before + 1);
        m_controller.undo();
        QVERIFY(m_controller.document()->policy().nodeOverrides.empty());
        // Alone it has no int8 form, products of its units have.
        const ListMove coded = moveTo(snapshot(), erf, ListId::Int8);
        QVERIFY(coded.isPossible());
        QVERIFY(!coded.choices[0].edit);
        QVERIFY(coded.choices[2].edit
                && coded.choices[2].label.startsWith(QStringLiteral("The whole MLP: ")));
    }

    void nodesThatAPatternExcludesFollowTheListsAgain()
    {
        QVERIFY(m_controller.apply(policy::ExcludeNames{{"/^stem_/"}}));
        const ListPayload some{{}, {"stem_conv", "stem_bn"}};
        const ListMove part = moveTo(snapshot(), some, ListId::Neutral);
        QVERIFY(!part.choices.front().edit); // the third would follow too
        QVERIFY2(part.choices.front().why.contains(QStringLiteral("/^stem_/")),
                 qPrintable(part.choices.front().why));
        const ListPayload all{{}, {"stem_conv", "stem_bn", "stem_relu"}};
        for (const ListId list : {ListId::Neutral, ListId::Target}) {
            const ListMove move = moveTo(snapshot(), all, list);
            QVERIFY(move.choices.front().edit && m_controller.apply(*move.choices.front().edit));
            QVERIFY(snapshot().policy->excludedNames.empty());
            QCOMPARE(snapshot().policy->nodeOverrides.size(), std::size_t(list == ListId::Target ? 3 : 0));
            m_controller.undo(); // one step
            QCOMPARE(snapshot().policy->excludedNames.size(), std::size_t{1});
        }
    }

    void allUnitsOfAKindMoveAtOnce()
    {
        auto opened = session::Document::open(HALFTONE_SOURCE_DIR "/tests/data/onnx/long_rows.onnx");
        if (!opened.ok() && opened.error().code == Errc::Unsupported)
            QSKIP("this build reads no ONNX models");
        m_controller.setDocument(std::move(opened).value());
        std::vector<session::ModelUnit> norms; // of the whole model, each once
        const graph::Graph &graph = snapshot().graph();
        std::set<std::string> nodes;
        for (graph::NodeId id = 0; id < graph.nodeCount(); ++id) {
            for (const session::ModelUnit &unit : session::unitsAround(snapshot(), {id})) {
                const bool isNew = std::ranges::none_of(
                    norms, [&unit](const session::ModelUnit &known) { return known.nodes == unit.nodes; });
                if (unit.title != "LayerNorm" || graph.isVariable(id) || !isNew)
                    continue;
                norms.push_back(unit);
                nodes.insert(unit.nodes.begin(), unit.nodes.end());
            }
        }
        QVERIFY(norms.size() > 1);
        const auto all = session::allOfKind(snapshot(), norms.front());
        QVERIFY(all);
        QCOMPARE(all->title, std::to_string(norms.size()) + " LayerNorms");
        QCOMPARE(std::set<std::string>(all->nodes.begin(), all->nodes.end()), nodes);
        const MoveChoice choice = unitChoice(snapshot(), *all, ListId::Fp32);
        QVERIFY2(choice.label.startsWith(QStringLiteral("All %1 LayerNorms: ").arg(norms.size())),
                 qPrintable(choice.label));
        QVERIFY(choice.edit && m_controller.apply(*choice.edit));
        for (const std::string &name : nodes)
            QCOMPARE(snapshot().policy->nodeOverrides.at(name), tensor::DType::F32);
        m_controller.undo(); // one step
        QVERIFY(snapshot().policy->nodeOverrides.empty());
    }

    /// Thirty blocks of two operators each.
    void manyNodesAreSaidByAPattern()
    {
        test::GraphBuilder builder;
        graph::Entry value = builder.variable("x");
        std::vector<std::string> norms;
        std::vector<std::string> both;
        for (int k = 0; k < 30; ++k) {
            const std::string block = "layers." + std::to_string(k);
            for (const char *part : {".norm", ".act2"}) {
                value = builder.op("relu", block + part, {value});
                both.push_back(block + part);
            }
            norms.push_back(block + ".norm");
        }
        const graph::Graph graph = builder.withHeads({value});
        QCOMPARE(patternFor(graph, norms), std::optional<std::string>("/^layers\\.\\d+\\.norm$/"));
        QCOMPARE(patternFor(graph, both),
                 std::optional<std::string>("/^(?:layers\\.\\d+\\.act2|layers\\.\\d+\\.norm)$/"));
        norms.pop_back(); // the pattern would say more than is meant
        QVERIFY(!patternFor(graph, norms));
        QCOMPARE(patternFor(graph, {"layers.3.norm"}), std::optional<std::string>("/^layers\\.3\\.norm$/"));
    }

    /// Thirty blocks of a convolution and a sum that could overflow.
    void manyNodesMoveToAnyListByAPattern()
    {
        const QTemporaryDir folder;
        m_controller.setDocument(blocks(folder));
        ListPayload convolutions;
        for (int k = 0; k < 30; ++k)
            convolutions.nodes.push_back("layers." + std::to_string(k) + ".conv");
        const std::string pattern = "/^layers\\.\\d+\\.conv$/";
        for (const auto &[list, type] :
             {std::pair(ListId::Int8, tensor::DType::I8), std::pair(ListId::Target, tensor::DType::F16)}) {
            const ListMove move = moveTo(snapshot(), convolutions, list);
            const auto byPattern = std::ranges::find_if(move.choices, [&](const MoveChoice &one) {
                return one.label.contains(QString::fromStdString(pattern));
            });
            QVERIFY(byPattern != move.choices.end() && byPattern->edit);
            QVERIFY(m_controller.apply(*byPattern->edit));
            QCOMPARE(snapshot().policy->nodeOverrides,
                     (std::map<std::string, tensor::DType>{{pattern, type}})); // the one before is gone
            const auto entries = listEntries(snapshot(), {})[static_cast<std::size_t>(list)];
            const auto row = std::ranges::find(entries, pattern, &ListEntry::name);
            QVERIFY(row != entries.end() && row->kind == ListEntry::Kind::Pattern);
            QCOMPARE(row->nodes, std::size_t{30});
        }
        for (const std::string &name : convolutions.nodes)
            QCOMPARE(snapshot().precisionOf(test::nodeNamed(snapshot().graph(), name.c_str())),
                     tensor::DType::F16);
        // A part of them: a node's own name beats the pattern, which stays for the others.
        const ListPayload one{{}, {convolutions.nodes.front()}};
        QVERIFY(!moveTo(snapshot(), one, ListId::Excluded).isPossible());
        QVERIFY(moveTo(snapshot(), one, ListId::Neutral).choices.empty()
                || !moveTo(snapshot(), one, ListId::Neutral).choices.front().edit);
        QVERIFY(m_controller.apply(*moveTo(snapshot(), one, ListId::Fp32).choices.front().edit));
        QCOMPARE(snapshot().policy->nodeOverrides.size(), std::size_t{2});
        // All of them: both go.
        QVERIFY(m_controller.apply(*moveTo(snapshot(), convolutions, ListId::Neutral).choices.front().edit));
        QVERIFY(snapshot().policy->nodeOverrides.empty());
        m_controller.undo();
        const auto entries = listEntries(snapshot(), {})[static_cast<std::size_t>(ListId::Target)];
        const auto row = std::ranges::find(entries, pattern, &ListEntry::name);
        QVERIFY(row != entries.end());
        QCOMPARE(row->nodes, std::size_t{29});
        QVERIFY(m_controller.apply(removalOf(snapshot(), {{ListId::Target, *row}}).value()));
        QCOMPARE(snapshot().policy->nodeOverrides.size(), std::size_t{1});
    }

    void int8LiesOverTheOtherLists()
    {
        const ListMove move = moveTo(snapshot(), {{"Convolution"}, {}}, ListId::Int8);
        QVERIFY(move.isPossible());
        QCOMPARE(move.choices[0].subject, QStringLiteral("6 Convolution to int8"));
        QVERIFY(session::Document::effectOf(snapshot(), *move.choices[0].edit).nodesChanged >= 6);
        QVERIFY(m_controller.apply(*move.choices[0].edit));
        QCOMPARE(listOf(*snapshot().rules, "Convolution"), ListId::Int8);
        QCOMPARE(listBelowInt8(*snapshot().rules, "Convolution"), ListId::Target);
        for (graph::NodeId id = 0; id < snapshot().graph().nodeCount(); ++id) {
            if (snapshot().graph().node(id).op == "Convolution")
                QCOMPARE(snapshot().precisionOf(id), tensor::DType::I8);
        }
        // Back where it came from: the list below holds again.
        ListEntry entry;
        entry.name = "Convolution";
        const auto removal = removalOf(snapshot(), {{ListId::Int8, entry}});
        QVERIFY(removal && m_controller.apply(*removal));
        QCOMPARE(*snapshot().policy == policy::Policy(), true);
    }

    void movingElsewhereLeavesInt8()
    {
        QVERIFY(m_controller.apply(*moveTo(snapshot(), {{"Convolution"}, {}}, ListId::Int8).choices[0].edit));
        const ListMove back = moveTo(snapshot(), {{"Convolution"}, {}}, ListId::Target);
        QVERIFY(back.isPossible());
        QVERIFY(m_controller.apply(*back.choices[0].edit));
        QVERIFY(!snapshot().policy->int8Ops);
        QCOMPARE(listOf(*snapshot().rules, "Convolution"), ListId::Target);
    }

    void whatHasNoInt8FormIsRefusedByName()
    {
        QCOMPARE(moveTo(snapshot(), {{"softmax"}, {}}, ListId::Int8).refusal,
                 QStringLiteral("softmax has no int8 form"));
        const ListMove mixed = moveTo(snapshot(), {{"softmax", "Convolution"}, {}}, ListId::Int8);
        QVERIFY(mixed.isPossible());
        QCOMPARE(mixed.choices[0].subject, QStringLiteral("6 Convolution to int8"));
        QVERIFY(!moveTo(snapshot(), {{}, {"energy"}}, ListId::Int8).isPossible());
    }

    void aNodeOnInt8IsItselfAlone()
    {
        const ListMove move = moveTo(snapshot(), {{}, {"stem_conv"}}, ListId::Int8);
        QCOMPARE(move.choices.size(), std::size_t{1});
        QVERIFY(m_controller.apply(*move.choices[0].edit));
        QCOMPARE(snapshot().policy->nodeOverrides.at("stem_conv"), tensor::DType::I8);
        const QString again = moveTo(snapshot(), {{}, {"stem_conv"}}, ListId::Int8).refusal;
        QVERIFY2(again.startsWith(QStringLiteral("stem_conv: ")) && again.contains(QStringLiteral("already")),
                 qPrintable(again));
    }

    void whatIsThereAlreadyIsRefusedWithAReason()
    {
        QCOMPARE(moveTo(snapshot(), {{"softmax"}, {}}, ListId::Fp32).refusal,
                 QStringLiteral("softmax is in fp32 already"));
        QVERIFY(!moveTo(snapshot(), {}, ListId::Fp32).isPossible());
        QVERIFY(!moveTo(snapshot(), {{}, {"no such node"}}, ListId::Excluded).isPossible());
        QVERIFY(!moveTo(snapshot(), {{"RNN"}, {}}, ListId::Excluded).isPossible());
    }

    void anOperatorWithoutInputsIsRefusedByTheTargetList()
    {
        const ListMove move = moveTo(snapshot(), {{"_zeros"}, {}}, ListId::Target);
        QVERIFY(!move.isPossible());
        QVERIFY2(move.refusal.contains(QStringLiteral("no inputs")), qPrintable(move.refusal));
    }

    void droppedNodesAskWhetherTheyAloneAreMeant()
    {
        const ListMove move = moveTo(snapshot(), {{}, {"stem_conv", "fc"}}, ListId::Fp32);
        QCOMPARE(move.choices.size(), std::size_t{2});
        QCOMPARE(move.choices[0].label, QStringLiteral("Only these 2 nodes"));
        QCOMPARE(move.choices[1].label, QStringLiteral("All Convolution and FullyConnected (7 nodes)"));
        QVERIFY(m_controller.apply(*move.choices[0].edit));
        QCOMPARE(snapshot().policy->nodeOverrides.size(), std::size_t{2});
        QCOMPARE(snapshot().policy->nodeOverrides.at("fc"), tensor::DType::F32);
    }

    void excludedTakesNodesAtOnce()
    {
        const ListMove move = moveTo(snapshot(), {{}, {"stem_conv"}}, ListId::Excluded);
        QCOMPARE(move.choices.size(), std::size_t{1});
        QVERIFY(m_controller.apply(*move.choices[0].edit));
        QCOMPARE(snapshot().policy->excludedNames, std::vector<std::string>{"stem_conv"});
        QCOMPARE(moveTo(snapshot(), {{}, {"stem_conv"}}, ListId::Excluded).refusal,
                 QStringLiteral("stem_conv is excluded already"));
    }

    void excludingAnOverriddenNodeTakesTheOverrideBack()
    {
        QVERIFY(m_controller.apply(policy::OverrideNodes{{"fc"}, tensor::DType::F16}));
        const ListMove move = moveTo(snapshot(), {{}, {"fc"}}, ListId::Excluded);
        QVERIFY(m_controller.apply(*move.choices.at(0).edit));
        QVERIFY(snapshot().policy->nodeOverrides.empty());
        QCOMPARE(snapshot().policy->excludedNames, std::vector<std::string>{"fc"});
        m_controller.undo(); // one step
        QVERIFY(snapshot().policy->excludedNames.empty());
        QCOMPARE(snapshot().policy->nodeOverrides.size(), std::size_t{1});
    }

    void aSingleNodeCannotBeHeldToTheWidestType()
    {
        const ListMove move = moveTo(snapshot(), {{}, {"stem_conv"}}, ListId::Widest);
        QVERIFY(!move.choices.at(0).edit);
        QVERIFY(!move.choices.at(0).why.isEmpty());
        QVERIFY(move.choices.at(1).edit);
    }

    void conditionsAreAskedForOneOperatorAtATime()
    {
        QCOMPARE(moveTo(snapshot(), {{"Convolution"}, {}}, ListId::Conditional).conditionsOf.value(),
                 std::string("Convolution"));
        QCOMPARE(moveTo(snapshot(), {{}, {"stem_conv"}}, ListId::Conditional).conditionsOf.value(),
                 std::string("Convolution"));
        QVERIFY(!moveTo(snapshot(), {{"Convolution", "Pooling"}, {}}, ListId::Conditional).isPossible());
        QVERIFY(!moveTo(snapshot(), {{"square"}, {}}, ListId::Conditional).isPossible()); // no attributes
    }

    void removalMakesOperatorsNeutralAndFreesNodes()
    {
        QVERIFY(m_controller.apply(policy::OverrideNodes{{"fc"}, tensor::DType::F32}));
        QVERIFY(m_controller.apply(policy::ExcludeNames{{"/stage1/"}}));
        const ListEntries all = listEntries(snapshot(), {});
        std::vector<PlacedEntry> chosen;
        for (const ListId list : {ListId::Target, ListId::Fp32, ListId::Excluded, ListId::Conditional}) {
            for (const ListEntry &entry : all[static_cast<std::size_t>(list)]) {
                if (entry.name == "Convolution" || entry.name == "fc" || entry.name == "/stage1/"
                    || entry.name == "Activation")
                    chosen.push_back({list, entry});
            }
        }
        QCOMPARE(chosen.size(), std::size_t{4});
        QVERIFY(m_controller.apply(removalOf(snapshot(), chosen).value()));
        QCOMPARE(listOf(*snapshot().rules, "Convolution"), ListId::Neutral);
        QVERIFY(snapshot().policy->nodeOverrides.empty());
        QVERIFY(snapshot().policy->excludedNames.empty());
        QVERIFY(!snapshot().rules->conditions.contains("Activation"));
        QVERIFY(!removalOf(snapshot(), {{ListId::Neutral, ListEntry()}}));
    }

    void payloadsSurviveTheClipboard()
    {
        const ListPayload payload{{"Convolution", "exp"}, {"stage1/conv 1", "\u00e9t\u00e9"}};
        QMimeData mime;
        writePayload(payload, mime);
        QCOMPARE(payloadOf(mime), payload);
        QVERIFY(payloadOf(QMimeData()).isEmpty());
    }

    // The preview is what the person decides by, so it has to be what then happens.
    void thePreviewOfAThousandRandomMovesIsWhatThenHappens()
    {
        test::Random random(20);
        int done = 0;
        for (int round = 0; done < 1000; ++round) {
            QVERIFY2(round < 20000, "most moves must be possible");
            const ListId to = random.oneOf(kAllLists);
            const ListMove move = moveTo(snapshot(), randomPayload(random), to);
            if (!move.isPossible() || move.conditionsOf)
                continue;
            const MoveChoice &choice = random.oneOf(move.choices);
            if (!choice.edit)
                continue;
            const auto before = m_controller.snapshot();
            const session::EditEffect effect = session::Document::effectOf(snapshot(), *choice.edit);
            QVERIFY2(!effect.error, effect.error ? effect.error->message().c_str() : "");
            QCOMPARE(effect.castsBefore, before->castCount());
            QVERIFY(m_controller.apply(*choice.edit));
            QVERIFY(!snapshot().error);
            QCOMPARE(snapshot().castCount(), effect.castsAfter);
            std::size_t changed = 0;
            for (graph::NodeId id = 0; id < before->graph().nodeCount(); ++id) {
                if (!before->graph().isVariable(id) && before->precisionOf(id) != snapshot().precisionOf(id))
                    ++changed;
            }
            QCOMPARE(changed, effect.nodesChanged);
            ++done;
        }
    }

    void undoingFiveHundredRandomEditsGivesTheFirstState()
    {
        test::Random random(21);
        const policy::Policy first = *snapshot().policy;
        const std::size_t casts = snapshot().castCount();
        int done = 0;
        std::vector<policy::Policy> states;
        while (done < 500) {
            const ListMove move = moveTo(snapshot(), randomPayload(random), random.oneOf(kAllLists));
            if (!move.isPossible() || move.conditionsOf || !move.choices.front().edit)
                continue;
            states.push_back(*snapshot().policy);
            QVERIFY(m_controller.apply(*move.choices.front().edit));
            QVERIFY(*snapshot().policy != states.back());
            ++done;
        }
        while (!states.empty()) {
            m_controller.undo();
            QCOMPARE(*snapshot().policy == states.back(), true);
            states.pop_back();
        }
        QCOMPARE(*snapshot().policy == first, true);
        QCOMPARE(snapshot().castCount(), casts);
        QVERIFY(!m_controller.document()->canUndo());
    }

    void consequencesAreSaidInOneSentence()
    {
        session::EditEffect effect;
        effect.castsBefore = 14;
        effect.castsAfter = 38;
        effect.nodesChanged = 12;
        QCOMPARE(consequence(QStringLiteral("12 Convolution to fp32"), effect),
                 QStringLiteral("12 Convolution to fp32: casts 14 \u2192 38; 12 nodes change precision"));
        effect.castsAfter = 14;
        effect.nodesChanged = 0;
        QCOMPARE(consequence(QStringLiteral("RNN to fp32"), effect),
                 QStringLiteral("RNN to fp32: casts stay 14; no node changes precision"));
    }
};

QTEST_GUILESS_MAIN(TestListMoves)
#include "tst_list_moves.moc"
