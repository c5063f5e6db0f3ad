#include "widgets/graphview/plain_note.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QStyle>
#include <QToolButton>

namespace halftone::widgets {

PlainNote::PlainNote(QWidget *parent)
    : QFrame(parent)
    , m_text(new QLabel(this))
{
    setAutoFillBackground(true);
    setBackgroundRole(QPalette::ToolTipBase);
    auto *const row = new QHBoxLayout(this);
    row->setContentsMargins(8, 4, 4, 4);
    m_text->setForegroundRole(QPalette::ToolTipText);
    m_text->setTextInteractionFlags(Qt::TextSelectableByMouse);
    m_text->setWordWrap(true);
    row->addWidget(m_text, 1);
    auto *const again = new QPushButton(tr("Try Again"), this);
    again->setToolTip(tr("Lay out the graph again with ten times the time limit"));
    connect(again, &QPushButton::clicked, this, &PlainNote::tryAgainWanted);
    row->addWidget(again);
    auto *const close = new QToolButton(this);
    close->setAutoRaise(true);
    close->setIcon(style()->standardIcon(QStyle::SP_TitleBarCloseButton));
    close->setAccessibleName(tr("Close this notice"));
    close->setToolTip(close->accessibleName());
    connect(close, &QToolButton::clicked, this, &QWidget::hide);
    row->addWidget(close);
    hide();
}

void PlainNote::showNote(const QString &why)
{
    m_text->setText(tr("Part of the graph is drawn in plain rows: %1.").arg(why));
    setVisible(!why.isEmpty());
}

QString PlainNote::text() const
{
    return isVisibleTo(parentWidget()) ? m_text->text() : QString();
}

} // namespace halftone::widgets
