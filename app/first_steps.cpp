#include "app/first_steps.h"

#include "widgets/models/precision_swatch.h"

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

} // namespace

FirstSteps::FirstSteps(QWidget *parent)
    : QFrame(parent)
{
    setFrameShape(QFrame::StyledPanel);
    auto *const column = new QVBoxLayout(this);
    column->setContentsMargins(8, 4, 4, 4);
    column->setSpacing(4);
    addMeanings();
    addSteps();
    hide();
}

QHBoxLayout *FirstSteps::addRow()
{
    auto *const row = new QHBoxLayout;
    row->setSpacing(8);
    static_cast<QVBoxLayout *>(layout())->addLayout(row);
    return row;
}

void FirstSteps::addMeanings()
{
    QHBoxLayout *const row = addRow();
    row->addWidget(new QLabel(tr("Colours tell what an operator computes in:"), this));
    const std::pair<tensor::DType, QString> meanings[] = {{tensor::DType::F32, QStringLiteral("float32")},
                                                          {tensor::DType::F16, QStringLiteral("float16")},
                                                          {tensor::DType::BF16, QStringLiteral("bfloat16")},
                                                          {tensor::DType::I8, QStringLiteral("int8")}};
    for (const auto &[type, name] : meanings) {
        auto *const swatch = new QLabel(this);
        const int side = fontMetrics().ascent();
        swatch->setPixmap(widgets::precisionSwatch(type, palette(), side).pixmap(side));
        row->addWidget(swatch);
        row->addWidget(new QLabel(name, this));
    }
    row->addWidget(new QLabel(tr("\u25c7 is a cast that was inserted"), this));
    row->addStretch(1);
    auto *const close = new QToolButton(this);
    close->setAutoRaise(true);
    close->setIcon(style()->standardIcon(QStyle::SP_TitleBarCloseButton));
    close->setAccessibleName(tr("Close the first steps for good"));
    close->setToolTip(close->accessibleName());
    connect(close, &QToolButton::clicked, this, &FirstSteps::closeForGood);
    row->addWidget(close);
}

void FirstSteps::addSteps()
{
    QHBoxLayout *const row = addRow();
    row->addWidget(new QLabel(tr("Next:"), this));
    auto *const attach = new QPushButton(tr("Attach data \u2026"), this);
    attach->setToolTip(tr("For errors, ranges and accuracy (Ctrl+D)"));
    connect(attach, &QPushButton::clicked, this, &FirstSteps::attachWanted);
    row->addWidget(attach);
    auto *const latency = new QPushButton(tr("Measure latency"), this);
    latency->setToolTip(tr("Both networks on this machine, anew after every edit"));
    connect(latency, &QPushButton::clicked, this, &FirstSteps::latencyWanted);
    row->addWidget(latency);
    auto *const drag = new QLabel(tr("Drag an operator from the graph or a list to another list."), this);
    drag->setWordWrap(true);
    row->addWidget(drag, 1);
}

void FirstSteps::offer()
{
    setVisible(!QSettings().value(kClosed, false).toBool());
}

void FirstSteps::closeForGood()
{
    QSettings().setValue(kClosed, true);
    hide();
}

} // namespace halftone::app
