#include "widgets/graphview/view_bar.h"

#include "widgets/common/choice_box.h"

#include <QAbstractButton>
#include <QButtonGroup>
#include <QComboBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QMenu>
#include <QToolButton>

#include <cmath>

namespace halftone::widgets {

ViewBar::ViewBar(QWidget *parent)
    : QWidget(parent)
    , m_colourBy(new ChoiceBox(this))
    , m_sides(new QButtonGroup(this))
{
    auto *row = new QHBoxLayout(this);
    row->setContentsMargins(8, 4, 8, 4);
    row->setSpacing(4);
    auto *label = new QLabel(tr("Colour &by"), this);
    label->setBuddy(m_colourBy);
    m_colourBy->addItems(
        {tr("precision"), tr("error"), tr("latency"), tr("overflow risk"), tr("requested"), tr("ran in")});
    m_colourBy->setAccessibleName(tr("Colour by"));
    m_colourBy->setToolTip(tr("What the colours of the graph show"));
    row->addWidget(label);
    row->addWidget(m_colourBy);
    row->addSpacing(12);
    QWidget *const sides = makeSides();
    row->addWidget(sides);
    row->addStretch(1);
    auto *const fold = button(tr("Fold"), tr("Fold All Blocks"), &ViewBar::foldWanted);
    auto *const unfold = button(tr("Unfold"), tr("Unfold All Blocks"), &ViewBar::unfoldWanted);
    row->addWidget(fold);
    row->addWidget(unfold);
    m_everything = button(tr("All Nodes"), tr("Show constants, and pairs of quantization on edges, as nodes"),
                          nullptr);
    m_everything->setCheckable(true);
    row->addWidget(m_everything);
    row->addSpacing(12);
    auto *const out = button(QString(QChar(0x2212)), tr("Zoom Out (Ctrl+-)"), &ViewBar::zoomOutWanted);
    row->addWidget(out);
    m_scale = button(QStringLiteral("100 %"), tr("Zoom to 100 % (Ctrl+0)"), &ViewBar::zoomToFullWanted);
    m_scale->setMinimumWidth(fontMetrics().horizontalAdvance(QStringLiteral("0.25 % ")) + 12);
    row->addWidget(m_scale);
    auto *const in = button(QStringLiteral("+"), tr("Zoom In (Ctrl++)"), &ViewBar::zoomInWanted);
    row->addWidget(in);
    auto *const fitting = button(tr("Fit"), tr("Show the Whole Graph (Space)"), &ViewBar::fitWanted);
    row->addWidget(fitting);
    row->addSpacing(12);
    auto *const finding = button(tr("Find"), tr("Find Nodes (Ctrl+F)"), &ViewBar::findWanted);
    row->addWidget(finding);
    m_more = button(QStringLiteral("\u00bb"), tr("More view commands"), nullptr);
    connect(m_more, &QToolButton::clicked, this, &ViewBar::showHidden);
    m_more->hide();
    row->addWidget(m_more);
    m_givingWay = {label, out, in, m_scale, unfold, fold, m_everything, fitting, finding, sides};

    connect(m_colourBy, &QComboBox::activated, this,
            [this](int index) { Q_EMIT colourByChosen(static_cast<ColourBy>(index)); });
    connect(m_everything, &QToolButton::clicked, this, &ViewBar::everythingWanted);
    connect(m_sides, &QButtonGroup::idClicked, this,
            [this](int id) { Q_EMIT sidesChosen(static_cast<Sides>(id)); });
}

QWidget *ViewBar::makeSides()
{
    auto *const box = new QWidget(this);
    auto *const row = new QHBoxLayout(box);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(4);
    const QString names[] = {tr("Original"), tr("Converted"), tr("Side by Side")};
    const QString tips[]
        = {tr("The original model"), tr("The converted model, with the inserted casts"),
           tr("Both, scrolling together; diamonds and 16-bit weights mark what the conversion changed")};
    for (int side = 0; side < 3; ++side) {
        auto *const choice = new QToolButton(box);
        choice->setText(names[side]);
        choice->setToolTip(tips[side]);
        choice->setCheckable(true);
        choice->setAutoRaise(true);
        m_sides->addButton(choice, side);
        row->addWidget(choice);
    }
    return box;
}

QToolButton *ViewBar::button(const QString &text, const QString &tip, void (ViewBar::*signal)())
{
    auto *made = new QToolButton(this);
    made->setText(text);
    made->setToolTip(tip);
    made->setAccessibleName(tip.section(QStringLiteral(" ("), 0, 0));
    made->setAutoRaise(true);
    if (signal)
        connect(made, &QToolButton::clicked, this, signal);
    return made;
}

int ViewBar::widthWithout(qsizetype gone) const
{
    constexpr int kGaps = 3 * 12; // between the groups
    const QMargins margins = layout()->contentsMargins();
    int width = margins.left() + margins.right() + kGaps;
    for (int k = 0; k < layout()->count(); ++k) {
        QWidget *const widget = layout()->itemAt(k)->widget();
        const bool isThere = widget == m_more ? gone > 1 : !m_givingWay.mid(0, gone).contains(widget);
        if (widget && isThere)
            width += widget->sizeHint().width() + layout()->spacing();
    }
    return width;
}

QSize ViewBar::minimumSizeHint() const
{
    return {widthWithout(m_givingWay.size()), QWidget::minimumSizeHint().height()};
}

void ViewBar::resizeEvent(QResizeEvent *event)
{
    QWidget::resizeEvent(event);
    qsizetype gone = 0;
    while (gone < m_givingWay.size() && widthWithout(gone) > width())
        ++gone;
    for (qsizetype k = 0; k < m_givingWay.size(); ++k)
        m_givingWay[k]->setVisible(k >= gone);
    m_more->setVisible(gone > 1); // the first one is a label
}

void ViewBar::showHidden()
{
    auto *const menu = new QMenu(this);
    menu->setAttribute(Qt::WA_DeleteOnClose);
    menu->setToolTipsVisible(true);
    for (QWidget *const hidden : m_givingWay) {
        if (hidden->isVisibleTo(this))
            continue;
        QList<QAbstractButton *> buttons = hidden->findChildren<QAbstractButton *>();
        if (auto *const single = qobject_cast<QAbstractButton *>(hidden))
            buttons << single;
        for (QAbstractButton *const button : buttons) {
            QAction *const action
                = menu->addAction(button->isCheckable() ? button->text() : button->accessibleName());
            action->setToolTip(button->toolTip());
            action->setCheckable(button->isCheckable());
            action->setChecked(button->isChecked());
            connect(action, &QAction::triggered, button, &QAbstractButton::click);
        }
    }
    menu->popup(m_more->mapToGlobal(m_more->rect().bottomLeft()));
}

void ViewBar::show(ColourBy colourBy, Sides sides)
{
    m_colourBy->setCurrentIndex(static_cast<int>(colourBy));
    m_sides->button(static_cast<int>(sides))->setChecked(true);
}

void ViewBar::showEverything(bool shows)
{
    m_everything->setChecked(shows);
}

void ViewBar::showScale(double scale)
{
    const double percent = 100 * scale;
    m_scale->setText(QString::number(percent, 'f',
                                     percent < 1        ? 2
                                         : percent < 10 ? 1
                                                        : 0)
                     + QStringLiteral(" %"));
}

} // namespace halftone::widgets
