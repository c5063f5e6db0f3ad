#include "app/focus_mark.h"
#include "app/live_jobs.h"
#include "app/recoverable_session.h"
#include "tests/window/window_fixture.h"
#include "widgets/calibration/calibration_panel.h"
#include "widgets/common/number_field.h"
#include "widgets/graphview/find_panel.h"

#include <QAbstractButton>
#include <QAction>
#include <QDialog>
#include <QDirIterator>
#include <QDockWidget>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QMenuBar>
#include <QTabBar>
#include <QTableView>
#include <QTextBrowser>

using namespace halftone;
using app::MainWindow;
using test::openQuickly;
using test::settle;
using test::settleAfterEdit;

namespace {

/// Its own, that of a label beside it, or what is written on it; not what a box holds at the moment.
QString nameOf(const QWidget *widget)
{
    if (!widget->accessibleName().isEmpty())
        return widget->accessibleName();
    for (const QLabel *label : widget->window()->findChildren<QLabel *>()) {
        if (label->buddy() == widget)
            return label->text();
    }
    const auto *const button = qobject_cast<const QAbstractButton *>(widget);
    return button ? button->text() : QString();
}

QString faceOf(const QWidget *widget)
{
    return QString::fromLatin1(widget->metaObject()->className()) + " \"" + nameOf(widget) + '"';
}

QString facesOf(const QList<QWidget *> &widgets)
{
    QStringList faces;
    for (const QWidget *widget : widgets)
        faces << faceOf(widget);
    return faces.join(QStringLiteral(", "));
}

bool isSeen(const QWidget *widget)
{
    const QWidget *const window = widget->window();
    const QWidget *const there = window->childAt(widget->mapTo(window, widget->rect().center()));
    return widget->isVisible() && there && (there == widget || widget->isAncestorOf(there));
}

/// What a person sees and could use by the keyboard.
QSet<QWidget *> usable(const QWidget &window)
{
    QSet<QWidget *> found;
    for (QWidget *widget : window.findChildren<QWidget *>()) {
        if (widget->focusPolicy() != Qt::NoFocus && widget->focusPolicy() != Qt::ClickFocus
            && widget->isEnabled() && !widget->focusProxy() && widget->window() == &window && isSeen(widget))
            found << widget;
    }
    // Of buttons of which one is pressed, that one is a stop; arrows go to the others.
    for (QWidget *widget : QSet(found)) {
        const auto *const button = qobject_cast<QAbstractButton *>(widget);
        const bool isOneOfSome = button && (button->autoExclusive() || button->group());
        if (isOneOfSome && button->isCheckable() && !button->isChecked())
            found.remove(widget);
    }
    return found;
}

/// Once around by `key`, from what has the focus; links in a text are stops within it.
QList<QWidget *> tour(QWidget &window, Qt::Key key)
{
    constexpr int kMostStops = 300;
    constexpr int kMostLinks = 60;
    QList<QWidget *> visited;
    int stays = 0;
    for (int i = 0; i < kMostStops; ++i) {
        QWidget *const now = window.focusWidget();
        if (!now || (visited.contains(now) && visited.back() != now))
            break;
        if (visited.isEmpty() || visited.back() != now) {
            visited << now;
            stays = 0;
        } else if (!qobject_cast<QTextBrowser *>(now) || ++stays > kMostLinks) {
            break;
        }
        QTest::keyClick(now, key);
    }
    return visited;
}

QAction *actionOf(QMainWindow &window, const QKeySequence &keys)
{
    for (QAction *action : window.findChildren<QAction *>()) {
        if (action->shortcut() == keys && action->shortcutContext() == Qt::WindowShortcut)
            return action;
    }
    return nullptr;
}

QAction *actionCalled(QMainWindow &window, const QString &text)
{
    for (QAction *action : window.findChildren<QAction *>()) {
        if (QString(action->text()).remove('&') == text)
            return action;
    }
    return nullptr;
}

} // namespace

class TestKeyboard : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void tabReachesWhatIsSeenAndNothingElse_data();
    void tabReachesWhatIsSeenAndNothingElse();
    void eachStopIsSeenToHaveTheFocus();
    void dialogsAreToldAndWalkedByTab_data();
    void dialogsAreToldAndWalkedByTab();
    void returnPressesTheButtonThatHasTheFocus();
    void theKeysOfAPanelLeadFromOneToTheNext();
    void theKeysOfTheListsMoveWhatIsChosenInTheGraph();
    void lettersThatAreTypedMoveNothing();
    void layersAreSortedByTheColumnOfTheCurrentCell();
    void muchUnsavedWorkDoesNotMakeTheWindowHigher();
    void escapeOnlyDismisses();
    void undoWorksFromANumberField();
    void noTwoEntriesOfAMenuHaveOneLetter();
    void closingGivesUpWhatIsMeantForTheNextDocument();

private:
    const app::FocusMark m_mark; ///< as main() has
};

void TestKeyboard::tabReachesWhatIsSeenAndNothingElse_data()
{
    QTest::addColumn<QString>("page");
    for (const char *page : {"", "layers", "error", "latency", "calibration", "messages"})
        QTest::newRow(*page ? page : "start page") << QString::fromLatin1(page);
}

void TestKeyboard::tabReachesWhatIsSeenAndNothingElse()
{
    QFETCH(QString, page);
    MainWindow window;
    window.show();
    QVERIFY(QTest::qWaitForWindowActive(&window));
    if (!page.isEmpty()) {
        openQuickly(window);
        QCOMPARE(QApplication::focusWidget(), window.graphView().focusProxy());
        if (page == u"calibration") {
            window.jobs().runAgain();
            QVERIFY(settle(window));
            window.controller().selection().set( // its threshold has controls too
                test::nodeNamed(window.controller().snapshot()->graph(), "stem_conv"));
        }
        auto *const dock = window.findChild<QDockWidget *>(page);
        dock->show();
        dock->raise();
        QTRY_VERIFY(!dock->visibleRegion().isEmpty());
    }
    QTest::qWait(50); // for layouts
    const QSet<QWidget *> expected = usable(window);
    QVERIFY(expected.size() >= 2);
    for (const QWidget *widget : expected) // tabs have names of their own
        QVERIFY2(!nameOf(widget).isEmpty() || qobject_cast<const QTabBar *>(widget),
                 qPrintable(faceOf(widget)));
    const QList<QWidget *> forward = tour(window, Qt::Key_Tab);
    const QSet<QWidget *> reached(forward.begin(), forward.end());
    QVERIFY2(reached == expected,
             qPrintable(QStringLiteral("not reached: %1; reached unseen: %2")
                            .arg(facesOf(QSet(expected).subtract(reached).values()),
                                 facesOf(QSet(reached).subtract(expected).values()))));
    QList<QWidget *> backward = tour(window, Qt::Key_Backtab);
    std::reverse(backward.begin() + 1, backward.end());
    QCOMPARE(facesOf(backward), facesOf(forward));
}

void TestKeyboard::eachStopIsSeenToHaveTheFocus()
{
    MainWindow window;
    window.show();
    QVERIFY(QTest::qWaitForWindowActive(&window));
    openQuickly(window);
    for (const char *page : {"layers", "calibration"}) {
        window.findChild<QDockWidget *>(QString::fromLatin1(page))->raise();
        QTest::qWait(10);
        const QList<QWidget *> stops = tour(window, Qt::Key_Tab);
        for (QWidget *stop : stops) {
            if (!stop->isVisible()) // came and went with what is chosen
                continue;
            window.setFocus();
            const QImage without = stop->grab().toImage();
            stop->setFocus(Qt::TabFocusReason);
            QVERIFY2(stop->grab().toImage() != without, qPrintable(faceOf(stop)));
        }
    }
}

void TestKeyboard::dialogsAreToldAndWalkedByTab_data()
{
    QTest::addColumn<QString>("menu");
    for (const char *menu : {"Attach Data…", "Export…", "Preferences…", "Shortcuts", "Guide", "Glossary",
                             "About Halftone", "Edit by Pattern…"})
        QTest::newRow(menu) << QString::fromUtf8(menu);
    QTest::newRow("conditions") << QString();
}

void TestKeyboard::dialogsAreToldAndWalkedByTab()
{
    QFETCH(QString, menu);
    MainWindow window;
    window.show();
    QVERIFY(QTest::qWaitForWindowActive(&window));
    openQuickly(window);
    bool wasSeen = false;
    QStringList wrong;
    QTimer::singleShot(0, &window, [&] { // some dialogs wait for their end
        QDialog *dialog = nullptr;
        if (!QTest::qWaitFor([&] {
                dialog = qobject_cast<QDialog *>(QApplication::activeModalWidget());
                return dialog && dialog->isActiveWindow();
            }))
            return;
        wasSeen = true;
        for (const QWidget *widget : usable(*dialog)) {
            if (nameOf(widget).isEmpty())
                wrong << QStringLiteral("no name: ") + faceOf(widget) + widget->objectName();
        }
        const QList<QWidget *> stops = tour(*dialog, Qt::Key_Tab);
        const QSet<QWidget *> missed = usable(*dialog).subtract(QSet(stops.begin(), stops.end()));
        if (!missed.isEmpty())
            wrong << QStringLiteral("not reached: ") + facesOf(missed.values());
        QTest::keyClick(dialog, Qt::Key_Escape);
        if (dialog->isVisible())
            wrong << QStringLiteral("Escape does not close it");
    });
    if (menu.isEmpty()) {
        window.controller().selection().set(
            test::nodeNamed(window.controller().snapshot()->graph(), "stem_relu"));
        QTest::keyClick(window.graphView().focusProxy(), Qt::Key_C);
    } else {
        QAction *const action = actionCalled(window, menu);
        QVERIFY(action);
        action->trigger();
    }
    QTRY_VERIFY(wasSeen);
    QVERIFY2(wrong.isEmpty(), qPrintable(wrong.join(QStringLiteral("; "))));
}

void TestKeyboard::returnPressesTheButtonThatHasTheFocus()
{
    MainWindow window;
    window.show();
    QVERIFY(QTest::qWaitForWindowActive(&window));
    QList<QWidget *> stops = tour(window, Qt::Key_Tab);
    const auto sample = std::find_if(stops.begin(), stops.end(), [](const QWidget *stop) {
        const auto *const button = qobject_cast<const QAbstractButton *>(stop);
        return button && button->text() == u"Try the Sample";
    });
    QVERIFY(sample != stops.end());
    (*sample)->setFocus(Qt::TabFocusReason);
    QTest::keyClick(*sample, Qt::Key_Return);
    QTRY_VERIFY(window.controller().isOpen());
    QVERIFY(settle(window));
}

void TestKeyboard::theKeysOfAPanelLeadFromOneToTheNext()
{
    MainWindow window;
    window.show();
    QVERIFY(QTest::qWaitForWindowActive(&window));
    openQuickly(window);
    QStringList way;
    for (int i = 0; i < 5; ++i) {
        actionOf(window, Qt::Key_F6)->trigger();
        way << faceOf(QApplication::focusWidget()).section('"', 1, 1);
    }
    QCOMPARE(way,
             QStringList({"Operator lists", "Inspector", "Layers", "Target type", "Graph of the model"}));
    actionOf(window, Qt::SHIFT | Qt::Key_F6)->trigger();
    QCOMPARE(faceOf(QApplication::focusWidget()).section('"', 1, 1), QStringLiteral("Target type"));
}

void TestKeyboard::theKeysOfTheListsMoveWhatIsChosenInTheGraph()
{
    MainWindow window;
    window.show();
    QVERIFY(QTest::qWaitForWindowActive(&window));
    openQuickly(window);
    QWidget *const canvas = QApplication::focusWidget();
    window.controller().selection().set(
        test::nodeNamed(window.controller().snapshot()->graph(), "stem_conv"));
    QTest::keyClick(canvas, Qt::Key_X);
    QVERIFY(settleAfterEdit(window));
    QVERIFY(window.controller().document()->policy().excludedNames == std::vector<std::string>{"stem_conv"});

    window.controller().selection().set(test::nodeNamed(window.controller().snapshot()->graph(), "energy"));
    QTest::keyClick(canvas, Qt::Key_F); // a single node is moved without a question
    QVERIFY(settleAfterEdit(window));
    const auto &snapshot = *window.controller().snapshot();
    QCOMPARE(snapshot.precisionOf(test::nodeNamed(snapshot.graph(), "energy")), tensor::DType::F32);
}

void TestKeyboard::lettersThatAreTypedMoveNothing()
{
    MainWindow window;
    window.show();
    QVERIFY(QTest::qWaitForWindowActive(&window));
    openQuickly(window);
    window.controller().selection().set(
        test::nodeNamed(window.controller().snapshot()->graph(), "stem_conv"));
    const auto before = window.controller().document()->policy();
    for (QLineEdit *field : window.findChildren<QLineEdit *>()) {
        if (field->accessibleName() != u"Filter layers")
            continue;
        field->setFocus();
        QTest::keyClicks(field, QStringLiteral("xtfs"));
        QCOMPARE(field->text(), QStringLiteral("xtfs"));
    }
    QVERIFY(window.controller().document()->policy() == before);
}

void TestKeyboard::layersAreSortedByTheColumnOfTheCurrentCell()
{
    MainWindow window;
    window.show();
    QVERIFY(QTest::qWaitForWindowActive(&window));
    openQuickly(window);
    QTableView *table = nullptr;
    for (QTableView *view : window.findChildren<QTableView *>()) {
        if (view->accessibleName() == u"Layers")
            table = view;
    }
    QVERIFY(table);
    table->setFocus();
    table->setCurrentIndex(table->model()->index(0, 0));
    const auto names = [table] {
        QStringList shown;
        for (int row = 0; row < table->model()->rowCount(); ++row)
            shown << table->model()->index(row, 0).data().toString();
        return shown;
    };
    QStringList expected = names();
    expected.sort();
    QTest::keyClick(table, Qt::Key_S);
    QCOMPARE(names(), expected);
    std::reverse(expected.begin(), expected.end());
    QTest::keyClick(table, Qt::Key_S);
    QCOMPARE(names(), expected);
}

void TestKeyboard::muchUnsavedWorkDoesNotMakeTheWindowHigher()
{
    QString journal;
    {
        MainWindow window;
        openQuickly(window);
        window.controller().apply(policy::SetTarget{tensor::DType::BF16});
        QVERIFY(settleAfterEdit(window));
        const QString folder = QStandardPaths::writableLocation(QStandardPaths::AppDataLocation);
        QDirIterator files(folder, {QStringLiteral("*.journal")}, QDir::Files, QDirIterator::Subdirectories);
        QVERIFY(files.hasNext());
        journal = files.next();
        for (int i = 0; i < 30; ++i)
            QVERIFY(
                QFile::copy(journal, QFileInfo(journal).path() + QStringLiteral("/left-%1.journal").arg(i)));
    }
    {
        MainWindow window;
        QCOMPARE(app::recoverableJournals().size() >= 30, true);
        QVERIFY(window.minimumSizeHint().height() < 600);
    }
    for (const QString &left : app::recoverableJournals())
        app::discardJournal(left);
}

void TestKeyboard::escapeOnlyDismisses()
{
    MainWindow window;
    window.show();
    QVERIFY(QTest::qWaitForWindowActive(&window));
    openQuickly(window);
    for (const QAction *action : window.findChildren<QAction *>())
        QVERIFY2(!action->shortcuts().contains(QKeySequence(Qt::Key_Escape)), qPrintable(action->text()));
    auto &selection = window.controller().selection();
    const auto node = test::nodeNamed(window.controller().snapshot()->graph(), "stem_conv");
    QVERIFY(actionOf(window, Qt::SHIFT | Qt::Key_Escape));
    int stopped = 0;
    connect(&window.jobs(), &app::LiveJobs::busyChanged, this, [&] { stopped += !window.jobs().isBusy(); });
    window.jobs().setErrorsWanted(true);
    window.jobs().runAgain();
    QVERIFY(window.jobs().isBusy());
    for (QWidget *stop : tour(window, Qt::Key_Tab)) {
        if (!stop->isVisible())
            continue;
        stop->setFocus(Qt::TabFocusReason);
        selection.set(node);
        const int before = stopped;
        QTest::keyClick(stop, Qt::Key_Escape);
        QVERIFY2(!selection.current(), qPrintable(faceOf(stop)));
        QCOMPARE(stopped, before);
    }
    window.graphView().showFind();
    selection.set(node);
    QTest::keyClick(&window.lists(), Qt::Key_Escape);
    QVERIFY(!window.graphView().findPanel()->isVisible());
    QVERIFY(selection.current()); // one thing at a time
    window.jobs().runAgain();
    QVERIFY(window.jobs().isBusy());
    QTest::keyClick(&window, Qt::Key_Escape, Qt::ShiftModifier);
    QVERIFY(!window.jobs().isBusy());
}

void TestKeyboard::undoWorksFromANumberField()
{
    MainWindow window;
    window.show();
    QVERIFY(QTest::qWaitForWindowActive(&window));
    openQuickly(window);
    window.jobs().runAgain();
    QVERIFY(settle(window));
    auto *const dock = window.findChild<QDockWidget *>(QStringLiteral("calibration"));
    dock->show();
    dock->raise();
    window.controller().selection().set(
        test::nodeNamed(window.controller().snapshot()->graph(), "stem_conv"));
    auto *const field = window.calibration().findChild<widgets::NumberField *>();
    QVERIFY(field);
    QTRY_VERIFY(field->isEnabled() && !field->visibleRegion().isEmpty());
    const auto thresholds = [&window] { return window.controller().document()->policy().thresholds; };
    const auto before = thresholds();
    field->setFocus();
    field->selectAll();
    QTest::keyClicks(field, QStringLiteral("0.5"));
    QTest::keyClick(field, Qt::Key_Z, Qt::ControlModifier); // typing is undone first
    QVERIFY(thresholds() == before);
    field->selectAll();
    QTest::keyClicks(field, QStringLiteral("0.5"));
    QTest::keyClick(field, Qt::Key_Return);
    QVERIFY(settleAfterEdit(window));
    QVERIFY(thresholds() != before);
    QCOMPARE(QApplication::focusWidget(), field);
    QTest::keyClick(field, Qt::Key_Z, Qt::ControlModifier);
    QVERIFY(settleAfterEdit(window));
    QVERIFY(thresholds() == before);
    QTest::keyClick(field, Qt::Key_Z, Qt::ControlModifier | Qt::ShiftModifier);
    QVERIFY(settleAfterEdit(window));
    QVERIFY(thresholds() != before);
}

void TestKeyboard::noTwoEntriesOfAMenuHaveOneLetter()
{
    MainWindow window;
    window.show();
    openQuickly(window);
    QList<QWidget *> menus{window.menuBar()};
    for (QMenu *menu : window.menuBar()->findChildren<QMenu *>())
        menus << menu;
    for (const QWidget *menu : menus) {
        QHash<QKeySequence, QString> taken;
        for (const QAction *action : menu->actions()) {
            const QKeySequence letter = QKeySequence::mnemonic(action->text());
            if (letter.isEmpty() || !action->isVisible())
                continue;
            QVERIFY2(!taken.contains(letter), qPrintable(taken[letter] + " and " + action->text()));
            taken.insert(letter, action->text());
        }
    }
    // What Alt and a letter reach beside the menus.
    QHash<QKeySequence, QString> taken;
    for (const QAction *action : window.menuBar()->actions())
        taken.insert(QKeySequence::mnemonic(action->text()), action->text());
    for (const QLabel *label : window.findChildren<QLabel *>()) {
        const QKeySequence letter = label->buddy() ? QKeySequence::mnemonic(label->text()) : QKeySequence();
        if (letter.isEmpty() || !label->isVisible())
            continue;
        QVERIFY2(!taken.contains(letter), qPrintable(taken[letter] + " and " + label->text()));
        taken.insert(letter, label->text());
    }
    for (const auto *button : window.findChildren<QAbstractButton *>()) {
        const QKeySequence letter = QKeySequence::mnemonic(button->text());
        if (letter.isEmpty() || !button->isVisible())
            continue;
        QVERIFY2(!taken.contains(letter), qPrintable(taken[letter] + " and " + button->text()));
        taken.insert(letter, button->text());
    }
}

void TestKeyboard::closingGivesUpWhatIsMeantForTheNextDocument()
{
    MainWindow window;
    window.show();
    openQuickly(window);
    const policy::Policy before = window.controller().document()->policy();
    const QString list = QStringLiteral(HALFTONE_SOURCE_DIR "/resources/sample/all-float16.policy.json");
    walks::ExampleOptions data;
    data.inputs = test::kSampleData.toStdString();
    window.open(test::kSampleModel);
    QVERIFY(window.files().isOpening());
    window.applyPolicyWhenOpen(list);
    window.attachWhenOpen(data);
    actionOf(window, QKeySequence::Close)->trigger();
    QVERIFY(!window.controller().isOpen() && !window.files().isOpening());
    window.open(test::kSampleModel);
    QTRY_VERIFY(window.controller().isOpen());
    QVERIFY(settle(window));
    QVERIFY(window.controller().document()->policy().targetOps == std::nullopt);
    QVERIFY(!window.jobs().data());
}

HALFTONE_WINDOW_TEST(TestKeyboard)
#include "tst_keyboard.moc"
