#include "tests/window/window_fixture.h"

#include <QAction>
#include <QComboBox>
#include <QElapsedTimer>
#include <QLineEdit>
#include <QRandomGenerator>

#include <array>

using namespace halftone;
using app::MainWindow;

/// Random input, as a person who hits everything: HALFTONE_MONKEY_SECONDS of it (10), from HALFTONE_MONKEY_SEED (today's
/// is printed). Dialogs are closed again by a timer, since they wait in a loop of their own.
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
        MainWindow window;
        window.resize(1400, 900);
        window.show();
        window.openSample();
        QVERIFY(test::settle(window));
        QTimer closer;
        connect(&closer, &QTimer::timeout, this, &TestMonkey::closeDialogs);
        closer.start(30);
        QElapsedTimer clock;
        clock.start();
        while (clock.elapsed() < 1000 * (seconds > 0 ? seconds : 10)) {
            hit(window);
            if (++m_events % 50 == 0)
                QTest::qWait(1);
            if (!window.controller().isOpen() && m_events % 200 == 0)
                window.openSample();
        }
        closeDialogs();
        QVERIFY(test::settle(window));
        qInfo("%d events in %lld s", m_events, static_cast<long long>(clock.elapsed() / 1000));
        // Whatever it is now, going back to the start gives a document that converts.
        while (window.controller().isOpen() && window.controller().document()->canUndo())
            window.controller().undo();
        if (window.controller().isOpen())
            QVERIFY(!window.controller().snapshot()->error);
        window.files().close();
    }

private:
    static void closeDialogs()
    {
        if (QWidget *const popup = QApplication::activePopupWidget())
            popup->close();
        if (QWidget *const modal = QApplication::activeModalWidget())
            modal->close();
    }

    QWidget *anyWidget(MainWindow &window)
    {
        const auto widgets = window.findChildren<QWidget *>();
        for (int tries = 0; tries < 20; ++tries) {
            QWidget *const widget = widgets[m_random.bounded(widgets.size())];
            if (widget->isVisible() && widget->isEnabled() && widget->width() > 2 && widget->height() > 2)
                return widget;
        }
        return &window;
    }

    QPoint anywhere(const QWidget *widget)
    {
        return {int(m_random.bounded(widget->width())), int(m_random.bounded(widget->height()))};
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

    void hit(MainWindow &window)
    {
        QWidget *const widget = anyWidget(window);
        const auto button = m_random.bounded(8) == 0 ? Qt::RightButton : Qt::LeftButton;
        const Qt::KeyboardModifiers modifiers = m_random.bounded(6) == 0 ? Qt::ControlModifier
            : m_random.bounded(6) == 0                                   ? Qt::ShiftModifier
                                                                         : Qt::NoModifier;
        switch (m_random.bounded(10)) {
        case 0:
        case 1:
        case 2:
            QTest::mouseClick(widget, button, modifiers, anywhere(widget));
            break;
        case 3:
            QTest::mouseDClick(widget, Qt::LeftButton, modifiers, anywhere(widget));
            break;
        case 4:
            QTest::mousePress(widget, Qt::LeftButton, modifiers, anywhere(widget));
            QTest::mouseMove(widget, anywhere(widget));
            QTest::mouseRelease(widget, Qt::LeftButton, modifiers, anywhere(widget));
            break;
        case 5: {
            const QPoint place = anywhere(widget);
            QWheelEvent wheel(place, widget->mapToGlobal(place), {},
                              QPoint(0, m_random.bounded(2) ? 120 : -120), Qt::NoButton, modifiers,
                              Qt::NoScrollPhase, false);
            QCoreApplication::sendEvent(widget, &wheel);
            break;
        }
        case 6:
        case 7:
            QTest::keyClick(widget, anyKey(), modifiers);
            break;
        case 8:
            trigger(window);
            break;
        default:
            window.resize(700 + int(m_random.bounded(900)), 400 + int(m_random.bounded(700)));
        }
    }

    /// Actions but for those that ask for files, end the program or start another job of a hundred runs.
    void trigger(MainWindow &window)
    {
        const auto actions = window.findChildren<QAction *>();
        QAction *const action = actions[m_random.bounded(actions.size())];
        const QString text = QString(action->text()).remove('&');
        if (!action->isEnabled() || text.contains(QStringLiteral("…")) || text.contains("Quit")
            || text.contains("Close") || text.contains("Save") || text.contains("Export"))
            return;
        action->trigger();
    }

    QRandomGenerator m_random;
    int m_events = 0;
};

int main(int argc, char **argv)
{
    const test::PrivateHome home;
    QApplication::setAttribute(Qt::AA_DontUseNativeDialogs);
    QApplication application(argc, argv);
    TestMonkey test;
    return QTest::qExec(&test, argc, argv);
}

#include "tst_monkey.moc"
