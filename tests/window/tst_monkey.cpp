#include "tests/widgets/graphview/graph_fixture.h"
#include "tests/window/window_fixture.h"
#include "widgets/models/tune_state.h"

#include <QAbstractButton>
#include <QAction>
#include <QDir>
#include <QElapsedTimer>
#include <QFileDialog>
#include <QLineEdit>
#include <QMessageBox>
#include <QRandomGenerator>

#include <array>

using namespace halftone;
using app::MainWindow;

/// Random input, as a person who hits everything: HALFTONE_MONKEY_SECONDS of it (10), from HALFTONE_MONKEY_SEED (today's
/// is printed). Dialogs wait in loops of their own, so a timer hits and closes them.
class TestMonkey : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void nothingThatIsHitMakesItFall()
    {
        const int seconds = qEnvironmentVariableIntValue("HALFTONE_MONKEY_SECONDS");
        const quint32 seed = qEnvironmentVariableIsSet("HALFTONE_MONKEY_SEED")
            ? qEnvironmentVariable("HALFTONE_MONKEY_SEED").toUInt()
            : QRandomGenerator::system()->generate();
        qInfo("HALFTONE_MONKEY_SEED=%u", seed);
        m_random.seed(seed);
        writeFiles();
        QVERIFY(app::guidedSample()->model.startsWith(m_resources.path()));
        MainWindow window;
        window.resize(1400, 900);
        window.show();
        window.openSample(test::mxnetSample());
        QVERIFY(test::settle(window));
        QTimer inDialogs;
        // Posted: a timer does not fire in a loop that its own slot has begun, as a dialog over a dialog is one.
        connect(&inDialogs, &QTimer::timeout, this,
                [this] { QMetaObject::invokeMethod(this, &TestMonkey::hitDialog, Qt::QueuedConnection); });
        inDialogs.start(30);
        QElapsedTimer clock;
        clock.start();
        while (clock.elapsed() < 1000 * (seconds > 0 ? seconds : 10)) {
            hit(window);
            // Nobody hits sooner than that. Qt 6.4 itself falls where the tab of a dock is dragged before another dock's hiding is laid out.
            QCoreApplication::sendPostedEvents(nullptr, QEvent::LayoutRequest);
            if (++m_events % 50 == 0)
                QTest::qWait(1);
            if (!window.controller().isOpen() && m_events % 200 == 0)
                window.openSample(test::mxnetSample());
        }
        m_isOver = true;
        QVERIFY(QTest::qWaitFor([] { return !QApplication::activeModalWidget(); }, 10000));
        Q_EMIT window.tune().stopWanted(); // a search takes the minute that it is given
        QVERIFY(test::settle(window));
        qInfo(
            "%d events and %d in dialogs, %d storms of undo, %d changes of theme, %d files opened, in %lld s",
            m_events, m_inDialogs, m_storms, m_themes, m_opened,
            static_cast<long long>(clock.elapsed() / 1000));
        // Whatever it is now, going back to the start gives a document that converts.
        while (window.controller().isOpen() && window.controller().document()->canUndo())
            window.controller().undo();
        if (window.controller().isOpen())
            QVERIFY(!window.controller().snapshot()->error);
        window.files().close();
    }

    /// Random input reaches file dialogs too, whose buttons make folders and take files away.
    void initTestCase()
    {
        const QString source = QStringLiteral(HALFTONE_SOURCE_DIR "/resources/");
        for (const char *const part : {"sample", "help"}) {
            QVERIFY(QDir(m_resources.path()).mkdir(QLatin1String(part)));
            for (const QFileInfo &file : QDir(source + part).entryInfoList(QDir::Files))
                QVERIFY(QFile::copy(file.filePath(),
                                    m_resources.filePath(QLatin1String(part) + '/' + file.fileName())));
        }
        qputenv("HALFTONE_RESOURCES", m_resources.path().toLocal8Bit());
        QVERIFY(QDir::setCurrent(m_folder.path())); // where file dialogs begin
    }

private:
    /// Models and what is none, in a folder of their own, where saving does no harm.
    void writeFiles()
    {
        const auto write = [this](const QString &name, const QByteArray &content) {
            QFile file(m_folder.filePath(name));
            QVERIFY(file.open(QIODevice::WriteOnly));
            file.write(content);
            m_files << file.fileName();
        };
        write(QStringLiteral("long-symbol.json"), test::residualSymbol(40));
        write(QStringLiteral("torn-symbol.json"), test::residualSymbol(3).chopped(60));
        write(QStringLiteral("bytes.params"), QByteArray("\x12\x01\0\0\0\0\0\0\xff\xff\xff\xff", 12));
        write(QStringLiteral("no.halftone"), "{\"halftone\":1,\"model\":{\"symbol\":\"none.json\"}}");
        write(QStringLiteral("empty.halftone"), {});
        m_files << m_folder.filePath(QStringLiteral("missing-symbol.json")) << m_folder.path();
        for (const char *name : {"digits-symbol.json", "digits-0000.params"})
            QVERIFY(QFile::copy(QStringLiteral(HALFTONE_SOURCE_DIR "/resources/sample/") + name,
                                m_folder.filePath(QString::fromLatin1(name))));
        m_files << m_folder.filePath(QStringLiteral("digits-symbol.json"));
    }

    /// A few hits into the dialog that waits, then Esc. Nothing is hit where files could be written over or taken away.
    void hitDialog()
    {
        if (const QPointer<QWidget> popup = QApplication::activePopupWidget()) {
            if (m_random.bounded(2) == 0)
                QTest::keyClick(popup, m_random.bounded(2) ? Qt::Key_Down : Qt::Key_Up);
            if (popup)
                popup->close();
        }
        QWidget *const modal = QApplication::activeModalWidget();
        if (!modal)
            return;
        ++m_inDialogs;
        if (auto *const question = qobject_cast<QMessageBox *>(modal)) {
            const auto buttons = question->buttons();
            if (!buttons.isEmpty() && !m_isOver)
                buttons[m_random.bounded(buttons.size())]->click();
            else
                question->reject();
            return;
        }
        const bool isLeft = m_isOver || qobject_cast<QFileDialog *>(modal)
            || modal->inherits("halftone::app::ExportDialog");
        const QPointer<QWidget> dialog = modal;
        for (int hits = isLeft ? 0 : int(m_random.bounded(4)); hits > 0 && dialog; --hits)
            hitWidget(anyWidget(*dialog));
        if (!dialog || QApplication::activeModalWidget() != dialog)
            return; // another one lies over it by now
        QTest::keyClick(dialog, Qt::Key_Escape);
        if (dialog && dialog->isVisible())
            dialog->close();
    }

    QWidget *anyWidget(QWidget &window)
    {
        const auto widgets = window.findChildren<QWidget *>();
        for (int tries = 0; tries < 20 && !widgets.isEmpty(); ++tries) {
            QWidget *const widget = widgets[m_random.bounded(widgets.size())];
            if (widget->isVisible() && widget->isEnabled() && widget->width() > 2 && widget->height() > 2)
                return widget;
        }
        return &window;
    }

    QPoint anywhere(const QWidget *widget)
    {
        return {int(m_random.bounded(std::max(1, widget->width()))),
                int(m_random.bounded(std::max(1, widget->height())))};
    }

    Qt::Key anyKey()
    {
        constexpr std::array kKeys{Qt::Key_Space,     Qt::Key_Tab,    Qt::Key_Return, Qt::Key_Escape,
                                   Qt::Key_Backspace, Qt::Key_Delete, Qt::Key_Up,     Qt::Key_Down,
                                   Qt::Key_Left,      Qt::Key_Right,  Qt::Key_Home,   Qt::Key_PageDown,
                                   Qt::Key_F3,        Qt::Key_Plus,   Qt::Key_Minus};
        return m_random.bounded(2) ? Qt::Key(Qt::Key_A + m_random.bounded(26))
                                   : kKeys[m_random.bounded(quint32(kKeys.size()))];
    }

    Qt::KeyboardModifiers anyModifiers()
    {
        return m_random.bounded(6) == 0 ? Qt::ControlModifier
            : m_random.bounded(6) == 0  ? Qt::ShiftModifier
            : m_random.bounded(20) == 0 ? Qt::AltModifier
                                        : Qt::NoModifier;
    }

    /// What is pressed may close what it lies in: then it is gone.
    void hitWidget(const QPointer<QWidget> &widget)
    {
        const auto button = m_random.bounded(8) == 0 ? Qt::RightButton : Qt::LeftButton;
        const Qt::KeyboardModifiers modifiers = anyModifiers();
        switch (m_random.bounded(7)) {
        case 0:
        case 1:
            QTest::mouseClick(widget, button, modifiers, anywhere(widget));
            break;
        case 2:
            QTest::mouseDClick(widget, Qt::LeftButton, modifiers, anywhere(widget));
            break;
        case 3:
            QTest::mousePress(widget, Qt::LeftButton, modifiers, anywhere(widget));
            if (widget)
                QTest::mouseMove(widget, anywhere(widget));
            if (widget)
                QTest::mouseRelease(widget, Qt::LeftButton, modifiers, anywhere(widget));
            break;
        case 4: {
            const QPoint place = anywhere(widget);
            QWheelEvent wheel(place, widget->mapToGlobal(place), {},
                              QPoint(0, m_random.bounded(2) ? 120 : -120), Qt::NoButton, modifiers,
                              Qt::NoScrollPhase, false);
            QCoreApplication::sendEvent(widget, &wheel);
            break;
        }
        default:
            QTest::keyClick(widget, anyKey(), modifiers);
        }
    }

    void hit(MainWindow &window)
    {
        switch (m_random.bounded(40)) {
        case 0:
        case 1:
        case 2:
            trigger(window);
            break;
        case 3:
            window.resize(700 + int(m_random.bounded(900)), 400 + int(m_random.bounded(700)));
            break;
        case 4:
        case 5:
            showPanel(window);
            break;
        case 6:
            find(window);
            break;
        case 7:
            storm(window);
            break;
        default:
            hitRarely(window);
        }
    }

    /// What takes longer than a hit, now and then; else a hit.
    void hitRarely(MainWindow &window)
    {
        switch (m_random.bounded(400)) {
        case 0:
        case 1:
            ++m_themes;
            app::applyTheme(m_random.bounded(2) ? app::Theme::Dark : app::Theme::Light);
            break;
        case 2:
        case 3:
            ++m_opened;
            window.open(m_files[m_random.bounded(m_files.size())]);
            break;
        case 4:
            ++m_opened;
            window.openSample(test::mxnetSample());
            break;
        default:
            hitWidget(anyWidget(window));
        }
    }

    void showPanel(MainWindow &window)
    {
        const char *const panels[]
            = {"lists", "inspector", "layers", "error", "blocks", "latency", "calibration", "messages"};
        window.showView(QString::fromLatin1(panels[m_random.bounded(quint32(std::size(panels)))]));
        if (window.controller().isOpen() && m_random.bounded(2)) {
            const auto count = quint32(window.controller().snapshot()->graph().nodeCount());
            window.controller().selection().set(graph::NodeId(m_random.bounded(count)));
        }
    }

    void find(MainWindow &window)
    {
        const char *const queries[]
            = {"conv", "/stage[12]/", "error > 0.01", "time > 100 us", "/((((((a*)*)*", "type = f16",
               "",     "\xC3\xBC > 3"};
        window.graphView().showFind();
        const auto lines = window.graphView().findChildren<QLineEdit *>();
        if (!lines.isEmpty())
            lines.front()->setText(QString::fromUtf8(queries[m_random.bounded(quint32(std::size(queries)))]));
        m_random.bounded(2) ? window.graphView().findNext() : window.graphView().findPrevious();
        if (m_random.bounded(3) == 0)
            window.graphView().hideFind();
    }

    void storm(MainWindow &window)
    {
        ++m_storms;
        for (int steps = int(m_random.bounded(60)); steps > 0; --steps)
            m_random.bounded(3) ? window.controller().undo() : window.controller().redo();
    }

    /// Any action but the end of the program. Closing is rare, since all else waits for the next model then.
    void trigger(MainWindow &window)
    {
        const auto actions = window.findChildren<QAction *>();
        QAction *const action = actions[m_random.bounded(actions.size())];
        const QString text = QString(action->text()).remove('&');
        if (!action->isEnabled() || text.contains("Quit")
            || (text.contains("Close") && m_random.bounded(20) > 0))
            return;
        action->trigger();
    }

    QRandomGenerator m_random;
    QTemporaryDir m_folder;
    QTemporaryDir m_resources;
    QStringList m_files;
    bool m_isOver = false;
    int m_events = 0;
    int m_inDialogs = 0;
    int m_storms = 0;
    int m_themes = 0;
    int m_opened = 0;
};

int main(int argc, char **argv)
{
    const test::PrivateHome home;
    QApplication::setAttribute(Qt::AA_DontUseNativeDialogs);
    constexpr int kBesidesMs = 300'000; // to open, to settle and to undo
    const int milliseconds = 1000 * qEnvironmentVariableIntValue("HALFTONE_MONKEY_SECONDS") + kBesidesMs;
    qputenv("QTEST_FUNCTION_TIMEOUT", QByteArray::number(milliseconds)); // Qt's own is 5 minutes
    QApplication application(argc, argv);
    TestMonkey test;
    // The offscreen platform warns of every window: the count at the end is to be told nevertheless.
    return QTest::qExec(&test,
                        application.arguments() << QStringLiteral("-maxwarnings") << QStringLiteral("0"));
}

#include "tst_monkey.moc"
