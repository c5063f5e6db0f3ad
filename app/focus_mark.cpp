#include "app/focus_mark.h"

#include <QAbstractSpinBox>
#include <QApplication>
#include <QCheckBox>
#include <QComboBox>
#include <QCommandLinkButton>
#include <QEvent>
#include <QLineEdit>
#include <QPainter>
#include <QPushButton>
#include <QRadioButton>
#include <QTabBar>

namespace halftone::app {
namespace {

constexpr int kWidth = 2;

/// Along the inner edge of its parent, and nowhere else: what it rings is painted as if it were not there.
class Ring : public QWidget
{
public:
    explicit Ring(QWidget *parent)
        : QWidget(parent)
    {
        setAttribute(Qt::WA_TransparentForMouseEvents);
        setAttribute(Qt::WA_NoSystemBackground);
        setFocusPolicy(Qt::NoFocus);
        parent->installEventFilter(this);
        place();
        show();
        raise();
    }

protected:
    bool eventFilter(QObject *watched, QEvent *event) override
    {
        if (watched == parent() && event->type() == QEvent::Resize)
            place();
        return QWidget::eventFilter(watched, event);
    }

    void paintEvent(QPaintEvent *) override
    {
        QPainter(this).fillRect(rect(), palette().color(QPalette::Highlight));
    }

private:
    void place()
    {
        setGeometry(parentWidget()->rect());
        setMask(QRegion(rect()) - rect().adjusted(kWidth, kWidth, -kWidth, -kWidth));
    }
};

template <typename... Kinds>
bool isOneOf(const QWidget *widget)
{
    return ((qobject_cast<const Kinds *>(widget) != nullptr) || ...);
}

} // namespace

FocusMark::FocusMark(QObject *parent)
    : QObject(parent)
{
    connect(qApp, &QApplication::focusChanged, this, [this](QWidget *, QWidget *now) { follow(now); });
}

FocusMark::~FocusMark()
{
    delete m_ring;
}

void FocusMark::follow(QWidget *now)
{
    delete m_ring;
    if (now && now->window()->testAttribute(Qt::WA_KeyboardFocusChange) && !showsItsFocus(now))
        m_ring = new Ring(now);
}

bool showsItsFocus(const QWidget *widget)
{
    return !isOneOf<QCommandLinkButton>(widget)
        && isOneOf<QLineEdit, QAbstractSpinBox, QComboBox, QCheckBox, QRadioButton, QPushButton, QTabBar>(
            widget);
}

} // namespace halftone::app
