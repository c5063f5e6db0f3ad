#include "app/first_steps.h"

#include "app/drawn_inputs.h"
#include "widgets/common/wrap_layout.h"
#include "widgets/models/precision_swatch.h"

#include <QEvent>
#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QSettings>
#include <QStyle>
#include <QToolButton>
#include <QVBoxLayout>

namespace halftone::app {
namespace {

const QString kClosed = QStringLiteral("firstStepsClosed");
constexpr int kLeastLines = 28; ///< of text in the room that it shares with the graph
constexpr int kLeastColumns = 110; ///< characters, for what lists mean, which their tool tips tell too

} // namespace

FirstSteps::FirstSteps(QWidget *parent)
    : QFrame(parent)
{
    setFrameShape(QFrame::StyledPanel);
    auto *const row = new QHBoxLayout(this);
    row->setContentsMargins(8, 4, 4, 4);
    auto *const column = new QVBoxLayout;
    column->setSpacing(4);
    column->addLayout(meanings());
    m_lists = lists();
    column->addWidget(m_lists);
    column->addLayout(steps());
    row->addLayout(column, 1);
    row->addWidget(closeButton(), 0, Qt::AlignTop);
    hide();
    parent->installEventFilter(this);
}

QLayout *FirstSteps::meanings()
{
    auto *const row = new widgets::WrapLayout;
    row->setSpacing(8);
    row->addWidget(new QLabel(tr("Colours show the type an operator computes in:"), this));
    using tensor::DType;
    for (const DType type : {DType::F32, DType::F16, DType::BF16, DType::I8})
        row->addWidget(meaning(type));
    row->addWidget(new QLabel(tr("\u25c7 is an inserted cast"), this));
    return row;
}

QWidget *FirstSteps::lists()
{
    auto *const text = new QLabel(
        tr("Lists decide the type. The first list is the target type; int8 applies where an operator can be "
           "quantized; fp32 stays in float32; widest takes the widest type among its inputs; conditional "
           "stays in float32 where an attribute says so; excluded holds single nodes in float32; neutral "
           "follows its inputs."),
        this);
    text->setWordWrap(true);
    return text;
}

QWidget *FirstSteps::meaning(tensor::DType type)
{
    auto *const pair = new QWidget(this);
    auto *const row = new QHBoxLayout(pair);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(4);
    auto *const swatch = new QLabel(pair);
    const int side = fontMetrics().ascent();
    swatch->setPixmap(widgets::precisionSwatch(type, palette(), side).pixmap(side));
    row->addWidget(swatch);
    row->addWidget(new QLabel(QString::fromUtf8(tensor::nameOf(type).data()), pair));
    return pair;
}

QWidget *FirstSteps::closeButton()
{
    auto *const close = new QToolButton(this);
    close->setAutoRaise(true);
    close->setIcon(style()->standardIcon(QStyle::SP_TitleBarCloseButton));
    close->setAccessibleName(tr("Close the first steps permanently"));
    close->setToolTip(close->accessibleName());
    connect(close, &QToolButton::clicked, this, &FirstSteps::closeForGood);
    return close;
}

QLayout *FirstSteps::steps()
{
    auto *const row = new widgets::WrapLayout;
    row->setSpacing(8);
    row->addWidget(new QLabel(tr("Next:"), this));
    auto *const attach = new QPushButton(tr("Attach Data\u2026"), this);
    attach->setToolTip(tr("For errors, ranges and accuracy (Ctrl+D)"));
    connect(attach, &QPushButton::clicked, this, &FirstSteps::attachWanted);
    row->addWidget(attach);
    m_attach = attach;
    auto *const draw = new QPushButton(tr("Draw Random Inputs"), this);
    draw->setToolTip(tr("Use this if you have no data. %1").arg(drawnInputsMeaning()));
    connect(draw, &QPushButton::clicked, this, &FirstSteps::drawWanted);
    row->addWidget(draw);
    m_draw = draw;
    auto *const latency = new QPushButton(tr("Measure Latency"), this);
    latency->setToolTip(tr("Measures both models on this machine, after every edit"));
    connect(latency, &QPushButton::clicked, this, &FirstSteps::latencyWanted);
    row->addWidget(latency);
    m_latency = latency;
    auto *const drag = new QLabel(tr("Drag an operator from the graph or a list to another list."), this);
    drag->setWordWrap(true);
    drag->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Preferred);
    row->addWidget(drag);
    return row;
}

void FirstSteps::offer()
{
    m_isOffered = !QSettings().value(kClosed, false).toBool();
    showWhereRoom();
}

void FirstSteps::withdraw()
{
    m_isOffered = false;
    hide();
}

void FirstSteps::showDone(bool hasData, bool hasLatency)
{
    m_attach->setVisible(!hasData);
    m_draw->setVisible(!hasData);
    m_latency->setVisible(!hasLatency);
}

/// In a low or narrow window the graph needs the room.
void FirstSteps::showWhereRoom()
{
    m_lists->setVisible(parentWidget()->width() >= kLeastColumns * fontMetrics().averageCharWidth());
    setVisible(m_isOffered && parentWidget()->height() >= kLeastLines * fontMetrics().lineSpacing());
}

bool FirstSteps::eventFilter(QObject *watched, QEvent *event)
{
    if (watched == parentWidget() && event->type() == QEvent::Resize)
        showWhereRoom();
    return QFrame::eventFilter(watched, event);
}

void FirstSteps::closeForGood()
{
    QSettings().setValue(kClosed, true);
    withdraw();
}

} // namespace halftone::app
