#include "app/bars/notice_bar.h"

#include "app/low_window.h"
#include "widgets/common/elided_label.h"
#include "widgets/common/short_names.h"
#include "widgets/common/wrap_layout.h"

#include <QEvent>
#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QStyle>
#include <QToolButton>

namespace halftone::app {
namespace {

constexpr int kLongestAction
    = 44; ///< characters: names may be of any length, and the window stays as narrow as its panels

constexpr int kShortestLine
    = 30; ///< characters: where there is less beside it, the action goes below the text

} // namespace

NoticeBar::NoticeBar(QWidget *parent)
    : QFrame(parent)
{
    setFrameShape(QFrame::StyledPanel);
    setAutoFillBackground(true);
    setBackgroundRole(QPalette::ToolTipBase);
    m_row = new QHBoxLayout(this);
    m_row->setContentsMargins(8, 4, 4, 4);
    m_icon = new QLabel(this);
    m_row->addWidget(m_icon);
    m_line = new widgets::ElidedLabel(this);
    m_line->setForegroundRole(QPalette::ToolTipText);
    m_row->addWidget(m_line, 1);
    m_figures = new widgets::ElidedLabel(this);
    m_figures->setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Preferred);
    m_figures->setMargin(1); // widths are rounded: it must not be cut for a fraction
    m_figures->setForegroundRole(QPalette::ToolTipText);
    m_row->addWidget(m_figures);
    m_text = new QLabel(this);
    m_text->setForegroundRole(QPalette::ToolTipText);
    m_text->setTextInteractionFlags(Qt::TextSelectableByMouse);
    m_text->setWordWrap(true);
    m_text->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Preferred);
    m_text->setMinimumWidth(kShortestLine * fontMetrics().averageCharWidth());
    m_wrapped = new widgets::WrapLayout;
    m_row->addLayout(m_wrapped);
    m_wrapped->addWidget(m_text);
    m_action = new QPushButton(this);
    connect(m_action, &QPushButton::clicked, this, &NoticeBar::actionTriggered);
    m_wrapped->addWidget(m_action);
    m_other = new QPushButton(this);
    connect(m_other, &QPushButton::clicked, this, &NoticeBar::otherTriggered);
    m_wrapped->addWidget(m_other);
    auto *const close = new QToolButton(this);
    close->setAutoRaise(true);
    close->setIcon(style()->standardIcon(QStyle::SP_TitleBarCloseButton));
    close->setAccessibleName(tr("Close this notice"));
    close->setToolTip(close->accessibleName());
    connect(close, &QToolButton::clicked, this, [this] {
        hide();
        Q_EMIT dismissed();
    });
    m_row->addWidget(close);
    if (parent)
        parent->installEventFilter(this); // whose height tells that of the window
    arrange();
    hide();
}

bool NoticeBar::eventFilter(QObject *watched, QEvent *event)
{
    if (watched == parent() && event->type() == QEvent::Resize)
        arrange();
    return QFrame::eventFilter(watched, event);
}

void NoticeBar::arrange()
{
    const bool isLow = isInLowWindow(*this);
    m_text->setVisible(!isLow);
    m_line->setVisible(isLow);
    m_figures->setVisible(isLow && !m_figures->text().isEmpty());
    m_row->setStretchFactor(m_wrapped, isLow ? 0 : 1);
}

void NoticeBar::setOneLine(const QString &text, const QString &figures)
{
    m_line->setText(text);
    m_line->setToolTip(m_text->text()); // whole
    m_figures->setText(figures);
    arrange();
}

void NoticeBar::showNotice(const QString &text, const QString &action, Kind kind)
{
    m_kind = kind;
    const auto icon = kind == Kind::Warning ? QStyle::SP_MessageBoxWarning : QStyle::SP_MessageBoxInformation;
    m_icon->setPixmap(style()->standardIcon(icon).pixmap(style()->pixelMetric(QStyle::PM_SmallIconSize)));
    m_text->setText(text);
    setAction(m_action, action);
    setAction(m_other, {});
    setOneLine(text, {});
    show();
}

void NoticeBar::offerOther(const QString &action)
{
    setAction(m_other, action);
}

void NoticeBar::setAction(QPushButton *button, const QString &action)
{
    const int most = kLongestAction * fontMetrics().averageCharWidth();
    button->setText(widgets::cutInMiddle(action, most, fontMetrics()));
    button->setToolTip(action);
    button->setAccessibleName(action);
    button->setVisible(!action.isEmpty());
}

QString NoticeBar::text() const
{
    return isVisibleTo(parentWidget()) ? m_text->text() : QString();
}

} // namespace halftone::app
