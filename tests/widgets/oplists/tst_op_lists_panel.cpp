#include "core/dialect/registry.h"
#include "tests/widgets/models/sample_document.h"
#include "widgets/common/formatters.h"
#include "widgets/common/text_block.h"
#include "widgets/oplists/conditions_dialog.h"
#include "widgets/oplists/move_menus.h"
#include "widgets/oplists/op_list_view.h"
#include "widgets/oplists/op_lists_panel.h"
#include "widgets/oplists/pattern_dialog.h"
#include "widgets/oplists/policy_commands.h"

#include <QAction>
#include <QApplication>
#include <QCheckBox>
#include <QClipboard>
#include <QComboBox>
#include <QDragEnterEvent>
#include <QDragMoveEvent>
#include <QDropEvent>
#include <QItemSelectionModel>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QMimeData>
#include <QModelIndexList>
#include <QPoint>
#include <QPointF>
#include <QPushButton>
#include <QRectF>
#include <QSet>
#include <QTest>
#include <QToolTip>
#include <QWheelEvent>

#include <memory>

using namespace halftone;
using namespace halftone::widgets;

class TestOpListsPanel : public QObject
{
    Q_OBJECT

private:
    struct Shown
    {
        Shown()
            : panel(&controller)
        {
            controller.setDocument(test::openSample());
            panel.resize(300, 900);
            panel.show();
            if (!QTest::qWaitForWindowExposed(&panel))
                qFatal("no window");
        }

        const session::Snapshot &snapshot() { return *controller.snapshot(); }
        QPoint placeOf(ListId list)
        {
            return panel.view()->visualRect(panel.model()->listIndex(list)).center();
        }
        void choose(ListId list, const std::string &name)
        {
            panel.view()->setCurrentIndex(panel.model()->indexOf(list, name));
            panel.view()->setFocus();
        }
        void enter(const QMimeData &mime, ListId over)
        {
            QDragEnterEvent entered(placeOf(over), Qt::MoveAction, &mime, Qt::LeftButton, Qt::NoModifier);
            QApplication::sendEvent(panel.view()->viewport(), &entered);
            QDragMoveEvent moved(placeOf(over), Qt::MoveAction, &mime, Qt::LeftButton, Qt::NoModifier);
            QApplication::sendEvent(panel.view()->viewport(), &moved);
        }
        void drop(const QMimeData &mime, ListId to)
        {
            enter(mime, to);
            QDropEvent dropped(placeOf(to), Qt::MoveAction, &mime, Qt::LeftButton, Qt::NoModifier);
            QApplication::sendEvent(panel.view()->viewport(), &dropped);
        }
        QMenu *choiceMenu() { return panel.findChild<QMenu *>(QStringLiteral("moveChoice")); }

        DocumentController controller;
        OpListsPanel panel;
    };

    static std::unique_ptr<QMimeData> mimeOf(const ListPayload &payload)
    {
        auto mime = std::make_unique<QMimeData>();
        writePayload(payload, *mime);
        return mime;
    }

private Q_SLOTS:
    void init() { test::failOnWarnings(); }

    void anEmptyPanelSaysWhatToDo()
    {
        DocumentController controller;
        const OpListsPanel panel(&controller);
        QVERIFY(panel.message().contains(QStringLiteral("Open a model")));
    }

    /// Four lines of text where there is room, one where there is none, and the lists do not move when the text changes.
    void aLowPanelGivesUpItsText()
    {
        Shown shown;
        const auto *const block = shown.panel.findChild<TextBlock *>();
        QVERIFY(block);
        const int line = block->fontMetrics().lineSpacing();
        shown.panel.resize(240, 60 * line);
        QTRY_COMPARE(block->height(), 4 * line);
        const QRect lists = shown.panel.view()->geometry();
        Q_EMIT shown.controller.editRefused(QStringLiteral("One word after the other, ").repeated(9));
        QTest::qWait(10);
        QCOMPARE(shown.panel.view()->geometry(), lists);
        QCOMPARE(block->shownLines().size(), 4);
        QVERIFY(block->shownLines().last().endsWith(QChar(0x2026)));
        shown.panel.resize(240, shown.panel.minimumSizeHint().height());
        QTRY_COMPARE(block->height(), line);
        QCOMPARE(block->shownLines().size(), 1);
        QVERIFY(block->shownLines().first().endsWith(QChar(0x2026)));
        QCOMPARE(block->toolTip(), shown.panel.message());
        for (const QString &one : block->shownLines())
            QVERIFY(block->fontMetrics().horizontalAdvance(one) <= block->width());
    }

    void everyControlHasAName()
    {
        const Shown shown;
        for (const QWidget *widget : shown.panel.findChildren<QWidget *>()) {
            if (widget->focusPolicy() == Qt::NoFocus || !widget->isVisibleTo(&shown.panel))
                continue;
            const auto *const box = qobject_cast<const QAbstractButton *>(widget);
            const bool isNamed = !widget->accessibleName().isEmpty() || (box && !box->text().isEmpty());
            QVERIFY2(isNamed || qobject_cast<const QLineEdit *>(widget->parentWidget())
                         || widget->parentWidget()->inherits("QComboBox") || widget->inherits("QScrollBar"),
                     widget->metaObject()->className());
        }
    }

    void theConsequenceOfAHoveredDropIsWhatTheDropDoes()
    {
        Shown shown;
        const auto mime = mimeOf({{"Convolution"}, {}});
        shown.enter(*mime, ListId::Fp32);
        const std::size_t before = shown.snapshot().castCount();
        const QString said = shown.panel.message();
        QVERIFY2(said.startsWith(QStringLiteral("6 Convolution to fp32: casts %1 \u2192 ").arg(before)),
                 qPrintable(said));
        shown.drop(*mime, ListId::Fp32);
        QCOMPARE(listOf(*shown.snapshot().rules, "Convolution"), ListId::Fp32);
        QVERIFY2(said.contains(QStringLiteral(" \u2192 %1;").arg(shown.snapshot().castCount())),
                 qPrintable(said));
    }

    /// Where the eye is, not only in the line below the lists.
    void theConsequenceIsToldAtThePointerToo()
    {
        Shown shown;
        const auto mime = mimeOf({{"Convolution"}, {}});
        shown.enter(*mime, ListId::Fp32);
        QCOMPARE(QToolTip::text(), shown.panel.message());
        QVERIFY(QToolTip::isVisible());
        shown.enter(*mime, ListId::Neutral);
        QCOMPARE(QToolTip::text(), shown.panel.message());
        QToolTip::hideText();
    }

    void listsThatCannotTakeADropSayWhy()
    {
        Shown shown;
        const auto mime = mimeOf({{"softmax"}, {}});
        shown.enter(*mime, ListId::Fp32);
        QCOMPARE(shown.panel.message(), QStringLiteral("Not to fp32: softmax is in fp32 already"));
        const OpListModel *const model = shown.panel.model();
        QCOMPARE(model->listIndex(ListId::Fp32).data(OpListModel::TakesDropRole), QVariant(false));
        QCOMPARE(model->listIndex(ListId::Target).data(OpListModel::TakesDropRole), QVariant(true));
        QDragLeaveEvent left;
        QApplication::sendEvent(shown.panel.view()->viewport(), &left);
        QVERIFY(!model->listIndex(ListId::Fp32).data(OpListModel::TakesDropRole).isValid());
    }

    void nodesDroppedOnExcludedAreExcludedAtOnce()
    {
        Shown shown;
        shown.drop(*mimeOf({{}, {"stem_conv", "fc"}}), ListId::Excluded);
        QCOMPARE(shown.snapshot().policy->excludedNames, (std::vector<std::string>{"stem_conv", "fc"}));
        QVERIFY(!shown.choiceMenu());
    }

    void oneNodeDroppedOnAListIsMovedAlone()
    {
        Shown shown;
        shown.drop(*mimeOf({{}, {"stem_conv"}}), ListId::Fp32);
        QVERIFY(!shown.choiceMenu());
        QCOMPARE(shown.snapshot().policy->nodeOverrides.at("stem_conv"), tensor::DType::F32);
        QCOMPARE(shown.snapshot().precisionOf(test::nodeNamed(shown.snapshot().graph(), "stem_conv")),
                 tensor::DType::F32);
    }

    /// A block around it is moved by its own menu, each with a key of its own.
    void aNodeOfABlockIsMovedAloneToo()
    {
        Shown shown;
        const ListPayload node{{}, {"stage1_a_conv"}};
        shown.drop(*mimeOf(node), ListId::Fp32);
        QVERIFY(!shown.choiceMenu());
        QCOMPARE(shown.snapshot().policy->nodeOverrides.size(), std::size_t{1});
        shown.controller.undo();

        QWidget owner;
        QMenu *menu = shown.panel.unitMenu(node, &owner);
        QVERIFY(menu);
        QCOMPARE(menu->title(), QStringLiteral("Move Its &Block To"));
        if (menu->actions().front()->menu()) // several blocks, one in another
            menu = menu->actions().front()->menu();
        QAction *const toFp32 = menu->actions().at(2);
        QCOMPARE(QString(toFp32->text()).remove(QLatin1Char('&')), QStringLiteral("fp32"));
        QVERIFY(menu->toolTipsVisible());
        toFp32->hover();
        QVERIFY2(shown.panel.message().contains(QStringLiteral(" to fp32: casts ")),
                 qPrintable(shown.panel.message()));
        toFp32->trigger();
        QVERIFY(shown.snapshot().policy->nodeOverrides.size() > 1);
        shown.controller.undo();
        QVERIFY(shown.snapshot().policy->nodeOverrides.empty());
        QVERIFY(!shown.panel.unitMenu({{"Convolution"}, {}}, &owner));
        QVERIFY(!shown.panel.unitMenu({{}, {"stage1_a_conv", "stage1_a_bn"}}, &owner));
    }

    void everyChoiceHasAKeyOfItsOwn()
    {
        ListMove move;
        for (const char *label : {"Only these 2 nodes", "The whole GELU: 5 nodes", "The whole MLP: 9 nodes",
                                  "The whole MLP: 12 nodes", "All Erf & Mul (12 nodes)"}) {
            move.choices.emplace_back();
            move.choices.back().label = QString::fromLatin1(label);
            move.choices.back().edit = policy::ExcludeNames{{"x"}};
        }
        QWidget owner;
        const DocumentController controller;
        EditEffects effects(&controller);
        const QMenu *const menu = makeChoiceMenu(
            move, &owner, [](const policy::Edit &) {}, effects, [](const QString &) {});
        QSet<QString> keys;
        int choices = 0;
        for (const QAction *action : menu->actions()) {
            if (action->isSeparator())
                continue;
            ++choices;
            const QKeySequence key = QKeySequence::mnemonic(action->text());
            QVERIFY2(!key.isEmpty() && !keys.contains(key.toString()), qPrintable(action->text()));
            keys.insert(key.toString());
        }
        QCOMPARE(choices, 6);
        QVERIFY(menu->actions().at(4)->text().contains(QStringLiteral("Erf && Mul")));
    }

    void nodesDroppedOnAnotherListAskWhatIsMeant()
    {
        Shown shown;
        shown.drop(*mimeOf({{}, {"stem_conv", "fc"}}), ListId::Fp32);
        QMenu *const menu = shown.choiceMenu();
        QVERIFY(menu);
        const auto textOf = [menu](int at) { return menu->actions().at(at)->text(); };
        QVERIFY2(textOf(0).startsWith(QStringLiteral("&Only these 2 nodes\tcasts ")), qPrintable(textOf(0)));
        QVERIFY2(
            textOf(1).startsWith(QStringLiteral("&All Convolution and FullyConnected (7 nodes)\tcasts ")),
            qPrintable(textOf(1)));
        QVERIFY(shown.snapshot().policy->nodeOverrides.empty());
        menu->actions().front()->trigger();
        QCOMPARE(shown.snapshot().policy->nodeOverrides.at("stem_conv"), tensor::DType::F32);
        QCOMPARE(shown.snapshot().policy->nodeOverrides.at("fc"), tensor::DType::F32);
        menu->close();
    }

    void whatHasMovedStaysSelected()
    {
        Shown shown;
        shown.choose(ListId::Fp32, "softmax");
        for (const auto &[key, list] :
             {std::pair(Qt::Key_T, ListId::Target), std::pair(Qt::Key_W, ListId::Widest),
              std::pair(Qt::Key_F, ListId::Fp32)}) {
            QTest::keyClick(shown.panel.view(), key); // acts again at once
            QCOMPARE(int(listOf(*shown.snapshot().rules, "softmax")), int(list));
            const QModelIndexList selected = shown.panel.view()->selectedEntries();
            QCOMPARE(selected.size(), 1);
            QCOMPARE(selected.front(), shown.panel.model()->indexOf(list, "softmax"));
        }
    }

    void keysMoveWhatIsChosen_data()
    {
        QTest::addColumn<int>("key");
        QTest::addColumn<int>("list");
        QTest::newRow("T") << int(Qt::Key_T) << int(ListId::Target);
        QTest::newRow("W") << int(Qt::Key_W) << int(ListId::Widest);
        QTest::newRow("N") << int(Qt::Key_N) << int(ListId::Neutral);
        QTest::newRow("Del") << int(Qt::Key_Delete) << int(ListId::Neutral);
    }

    void keysMoveWhatIsChosen()
    {
        QFETCH(const int, key);
        QFETCH(const int, list);
        Shown shown;
        shown.choose(ListId::Fp32, "softmax");
        QTest::keyClick(shown.panel.view(), static_cast<Qt::Key>(key));
        QCOMPARE(int(listOf(*shown.snapshot().rules, "softmax")), list);
        QVERIFY(shown.panel.model()->indexOf(static_cast<ListId>(list), "softmax").isValid());
    }

    void severalOperatorsMoveInOneStep()
    {
        Shown shown;
        QItemSelectionModel *const selection = shown.panel.view()->selectionModel();
        for (const char *op : {"Convolution", "FullyConnected"})
            selection->select(shown.panel.model()->indexOf(ListId::Target, op),
                              QItemSelectionModel::Select | QItemSelectionModel::Rows);
        shown.panel.view()->setFocus();
        QTest::keyClick(shown.panel.view(), Qt::Key_F);
        QCOMPARE(listOf(*shown.snapshot().rules, "Convolution"), ListId::Fp32);
        QCOMPARE(listOf(*shown.snapshot().rules, "FullyConnected"), ListId::Fp32);
        shown.controller.undo();
        QVERIFY(!shown.controller.document()->canUndo());
    }

    void excludingAnOperatorExcludesItsNodes()
    {
        Shown shown;
        shown.choose(ListId::Target, "FullyConnected");
        QTest::keyClick(shown.panel.view(), Qt::Key_X);
        QCOMPARE(shown.snapshot().policy->excludedNames, std::vector<std::string>{"fc"});
        shown.choose(ListId::Excluded, "fc");
        QTest::keyClick(shown.panel.view(), Qt::Key_Delete);
        QVERIFY(shown.snapshot().policy->excludedNames.empty());
    }

    void conditionsAreEditedInPlace()
    {
        Shown shown;
        shown.choose(ListId::Conditional, "Activation");
        QTest::keyClick(shown.panel.view(), Qt::Key_Return);
        auto *const dialog = shown.panel.findChild<ConditionsDialog *>();
        QVERIFY(dialog);
        QCOMPARE(dialog->rules(), (ConditionsDialog::Rules{{"Activation", "act_type", {"softrelu"}}}));
        auto *const values = dialog->findChildren<QLineEdit *>().front();
        values->setText(QStringLiteral("relu; softrelu"));
        dialog->accept();
        QCOMPARE(shown.snapshot().rules->conditions.at("Activation").front().values,
                 (std::vector<std::string>{"relu", "softrelu"}));
        QCOMPARE(shown.snapshot().precisionOf(test::nodeNamed(shown.snapshot().graph(), "stem_relu")),
                 tensor::DType::F32);
    }

    void aConditionThatCannotBeIsSaid()
    {
        ConditionsDialog dialog(*dialect::dialectNamed("mxnet"), "Activation",
                                {{"Activation", "act_type", {"relo"}}}, {});
        bool isSaid = false;
        for (const QLabel *label : dialog.findChildren<QLabel *>())
            isSaid = isSaid || label->text().contains(QStringLiteral("act_type is never \"relo\""));
        QVERIFY(isSaid);
    }

    void anEditedConditionIsUndoneToWhatItWas()
    {
        Shown shown;
        const ConditionsDialog::Rules before{{"Activation", "act_type", {"softrelu"}}};
        QVERIFY(shown.snapshot().rules->conditions.at("Activation") == before);
        shown.choose(ListId::Conditional, "Activation");
        QTest::keyClick(shown.panel.view(), Qt::Key_Return);
        auto *const dialog = shown.panel.findChild<ConditionsDialog *>();
        auto *const values = dialog->findChildren<QLineEdit *>().front();
        values->setText(QStringLiteral("relo"));
        bool isSaid = false;
        for (const QLabel *label : dialog->findChildren<QLabel *>())
            isSaid = isSaid || label->text().contains(QStringLiteral("act_type is never \"relo\""));
        QVERIFY(isSaid);
        QTest::keyClick(dialog, Qt::Key_Return);
        // It is a rule, as on the command line, but one that is marked to do nothing.
        QCOMPARE(shown.snapshot().rules->conditions.at("Activation").front().values,
                 std::vector<std::string>{"relo"});
        QVERIFY(shown.panel.model()
                    ->indexOf(ListId::Conditional, "Activation")
                    .data(OpListModel::IdleRole)
                    .toBool());
        shown.controller.undo();
        QVERIFY(shown.snapshot().rules->conditions.at("Activation") == before);
    }

    void anAttributeThatIsNoneOfTheOperatorsIsKeptAndTold()
    {
        const ConditionsDialog::Rules rules{{"Activation", "actype", {"relu"}}};
        ConditionsDialog dialog(*dialect::dialectNamed("mxnet"), "Activation", rules, {});
        QCOMPARE(dialog.rules(), rules);
        bool isSaid = false;
        for (const QLabel *label : dialog.findChildren<QLabel *>())
            isSaid = isSaid || label->text().contains(QStringLiteral("actype"));
        QVERIFY(isSaid);
    }

    void tabGoesThroughTheConditionsFromTheirFirst()
    {
        ConditionsDialog dialog(*dialect::dialectNamed("mxnet"), "Activation",
                                {{"Activation", "act_type", {"relu"}}, {"Activation", "act_type", {"tanh"}}},
                                {});
        dialog.show();
        QVERIFY(QTest::qWaitForWindowActive(&dialog));
        QStringList way;
        for (int i = 0; i < 7; ++i) {
            const QWidget *const now = QApplication::focusWidget();
            const auto *const button = qobject_cast<const QPushButton *>(now);
            way << (button ? button->text() : now->accessibleName());
            QTest::keyClick(&dialog, Qt::Key_Tab);
        }
        way.removeAll(QString()); // the offer of values, told by what is written on it
        QCOMPARE(
            way.mid(0, 6),
            QStringList({"Values", "Remove this condition", "Attribute", "Values", "Remove this condition"}));
    }

    void aPatternCountsBeforeItExcludes()
    {
        Shown shown;
        PatternDialog dialog(&shown.controller);
        QVERIFY(!dialog.edit());
        dialog.setPattern(QStringLiteral("stage1_.*conv$"));
        bool isCounted = false;
        for (const QLabel *label : dialog.findChildren<QLabel *>())
            isCounted = isCounted || label->text() == QStringLiteral("2 nodes match:");
        QVERIFY(isCounted);
        QVERIFY(shown.controller.apply(dialog.edit().value()));
        QCOMPARE(shown.snapshot().policy->excludedNames, std::vector<std::string>{"/stage1_.*conv$/"});
        dialog.setPattern(QStringLiteral("("));
        QVERIFY(!dialog.edit());
    }

    void aPatternMayStandBetweenSlashesAsEverywhereElse()
    {
        Shown shown;
        PatternDialog dialog(&shown.controller);
        dialog.setPattern(QStringLiteral("/stage1_.*conv$/"));
        QVERIFY(shown.controller.apply(dialog.edit().value()));
        QCOMPARE(shown.snapshot().policy->excludedNames, std::vector<std::string>{"/stage1_.*conv$/"});
    }

    void aPatternHoldsNodesToInt8AndSaysWhichCannot()
    {
        Shown shown;
        PatternDialog dialog(&shown.controller);
        auto *const action = dialog.findChild<QComboBox *>();
        action->setCurrentIndex(action->findText(QStringLiteral("Set each to int8")));
        dialog.setPattern(QStringLiteral("stage1_.*conv$"));
        QVERIFY(shown.controller.apply(dialog.edit().value()));
        QCOMPARE(shown.snapshot().policy->nodeOverrides.at("stage1_a_conv"), tensor::DType::I8);
        dialog.setPattern(QStringLiteral("pixel_square"));
        QVERIFY(!dialog.edit());
        bool isSaid = false;
        for (const QLabel *label : dialog.findChildren<QLabel *>())
            isSaid = isSaid || label->text().contains(QStringLiteral("square has no int8 form"));
        QVERIFY(isSaid);
    }

    void conditionsThatWereNeverThereCannotBeRemoved()
    {
        ConditionsDialog dialog(*dialect::dialectNamed("mxnet"), "Activation", {}, {});
        for (const QPushButton *button : dialog.findChildren<QPushButton *>()) {
            QVERIFY(!button->text().contains(QStringLiteral("Remove Conditions")));
            QVERIFY(!button->isEnabled() || !button->text().contains(QStringLiteral("Apply")));
        }
    }

    void theVersionIsAnEdit()
    {
        Shown shown;
        auto *const version = shown.panel.findChildren<QComboBox *>().front();
        const QString before = version->currentData().toString();
        QVERIFY(!before.isEmpty());
        const int other = version->currentIndex() == 0 ? 1 : 0;
        version->setCurrentIndex(other);
        Q_EMIT version->activated(other);
        QVERIFY(plain(shown.snapshot().policy->listVersion) != before);
        shown.controller.undo();
        QCOMPARE(version->currentData().toString(), before);
    }

    void theTargetListBearsTheTargetsName()
    {
        Shown shown;
        QVERIFY(shown.controller.apply(policy::SetTarget{tensor::DType::BF16})); // in the tool bar
        QCOMPARE(shown.panel.model()->listIndex(ListId::Target).data().toString(),
                 QStringLiteral("bfloat16"));
    }

    void neitherWheelNorArrowsChangeAChoice()
    {
        Shown shown;
        auto *const version = shown.panel.findChildren<QComboBox *>().front();
        const int before = version->currentIndex();
        version->setFocus();
        const QPointF place = QRectF(version->rect()).center();
        for (const int notch : {-120, 120}) {
            QWheelEvent wheel(place, version->mapToGlobal(place), {}, {0, notch}, Qt::NoButton,
                              Qt::NoModifier, Qt::NoScrollPhase, false);
            QApplication::sendEvent(version, &wheel);
            QVERIFY(!wheel.isAccepted());
        }
        for (const Qt::Key key : {Qt::Key_Down, Qt::Key_Up, Qt::Key_End, Qt::Key_M}) {
            QTest::keyClick(version, key);
            QCOMPARE(version->currentIndex(), before);
            version->hidePopup();
        }
        QVERIFY(!shown.controller.document()->canUndo());
    }

    void theSwitchShowsTheBuiltInListsInFull()
    {
        Shown shown;
        QVERIFY(!shown.panel.model()->indexOf(ListId::Target, "RNN").isValid());
        shown.panel.findChild<QCheckBox *>()->setChecked(true);
        QVERIFY(shown.panel.model()->indexOf(ListId::Target, "RNN").isValid());
    }

    void theListsThatAreOfferedAreOfTheModelsFormat()
    {
        Shown shown;
        auto *const version = shown.panel.findChildren<QComboBox *>().front();
        QCOMPARE(version->currentText(), QStringLiteral("MXNet 1.9.1"));
        auto opened = session::Document::open(HALFTONE_SOURCE_DIR "/tests/data/onnx/network.onnx");
        QVERIFY(opened.ok());
        shown.controller.setDocument(std::move(opened).value());
        QCOMPARE(version->currentText(), QStringLiteral("ONNX"));
        QVERIFY(!version->isEnabled()); // there is but one set
        QVERIFY(shown.panel.model()->indexOf(ListId::Target, "Conv").isValid());
        QVERIFY(shown.panel.model()->indexOf(ListId::Fp32, "Softmax").isValid());
        shown.controller.setDocument(test::openSample());
        QCOMPARE(version->currentText(), QStringLiteral("MXNet 1.9.1"));
        QVERIFY(version->isEnabled());
    }

    void theCallGoesToTheClipboard()
    {
        Shown shown;
        shown.panel.commands()->copyCall();
        QVERIFY(QGuiApplication::clipboard()->text().contains(QStringLiteral("amp.convert_model(")));
    }

    void resetTakesAllListEditsBack()
    {
        Shown shown;
        QVERIFY(shown.controller.apply(policy::MoveOperators{{"softmax"}, policy::List::Target}));
        QVERIFY(shown.controller.apply(policy::ExcludeNames{{"fc"}}));
        QVERIFY(shown.controller.apply(policy::SetMode{policy::Mode::NodeForNode}));
        shown.panel.commands()->resetLists();
        policy::Policy wanted;
        wanted.mode = policy::Mode::NodeForNode;
        QVERIFY(*shown.snapshot().policy == wanted);
    }

    void enterOnAnOperatorChoosesItsNodes()
    {
        Shown shown;
        shown.choose(ListId::Widest, "elemwise_add");
        QTest::keyClick(shown.panel.view(), Qt::Key_Return);
        QCOMPARE(shown.controller.selection().nodes().size(), std::size_t{2});
    }
};

QTEST_MAIN(TestOpListsPanel)
#include "tst_op_lists_panel.moc"
