#include "app/bars/model_bar.h"

#include "app/bars/chip_box.h"
#include "app/drawn_inputs.h"
#include "app/live_jobs.h"
#include "core/dialect/dialect.h"
#include "core/policy/policy_options.h"
#include "widgets/common/choice_box.h"
#include "widgets/common/formatters.h"
#include "widgets/common/path_text.h"

#include <QCheckBox>
#include <QFileInfo>
#include <QLabel>
#include <QStandardItemModel>
#include <QToolButton>

#include <array>

namespace halftone::app {

using widgets::plain;

namespace {

constexpr std::array kTargets{tensor::DType::F16,    tensor::DType::BF16, tensor::DType::F8E4M3FN,
                              tensor::DType::F8E5M2, tensor::DType::TF32, tensor::DType::Posit16};

/// What the conversion says about the chip; empty: nothing.
QString chipWarnings(const session::Snapshot &snapshot)
{
    QStringList told;
    for (const policy::Warning &warning : snapshot.converted->warnings) {
        if (!warning.code.empty() && warning.entry.starts_with("hardware"))
            told << plain(warning.text);
    }
    return told.join(QStringLiteral("; "));
}

} // namespace

ModelBar::ModelBar(widgets::DocumentController *controller, LiveJobs *jobs, const QList<QAction *> &actions,
                   QWidget *parent)
    : QToolBar(tr("Tools"), parent)
    , m_controller(controller)
    , m_jobs(jobs)
{
    setObjectName(QStringLiteral("tools"));
    setMovable(false);
    for (QAction *action : actions) {
        if (action)
            addAction(action);
        else
            addSeparator();
    }
    addSeparator();
    addTarget();
    addMode();
    addChip();
    addSeparator();
    m_data = new QToolButton(this);
    m_data->setObjectName(QStringLiteral("data"));
    m_data->setAutoRaise(true);
    connect(m_data, &QToolButton::clicked, this, &ModelBar::attachWanted);
    addNamed(tr("data"), m_data, tr("Attached data"));
    addSeparator();
    addLiveBoxes();
}

/// title  what it is called where the label beside it is not seen
void ModelBar::addNamed(const QString &name, QWidget *widget, const QString &title)
{
    auto *const label = new QLabel(name, this);
    label->setContentsMargins(6, 0, 4, 0);
    label->setForegroundRole(QPalette::WindowText);
    addWidget(label);
    addWidget(widget);
    widget->setAccessibleName(title);
}

void ModelBar::addTarget()
{
    m_target = new widgets::ChoiceBox(this);
    for (const tensor::DType type : kTargets)
        m_target->addItem(plain(std::string(tensor::nameOf(type))), static_cast<int>(type));
    m_target->insertSeparator(2);
    connect(m_target, &QComboBox::activated, this, [this] {
        m_controller->apply(policy::SetTarget{static_cast<tensor::DType>(m_target->currentData().toInt())});
        Q_EMIT chosen();
    });
    m_target->setToolTip(
        tr("Target type. Formats below the line are only for comparing errors; no model can be "
           "written in them"));
    addNamed(tr("target"), m_target, tr("Target type"));
}

void ModelBar::addMode()
{
    m_mode = new widgets::ChoiceBox(this);
    for (const auto mode : policy::offeredModes())
        m_mode->addItem(plain(std::string(policy::nameOf(mode))), static_cast<int>(mode));
    m_mode->setToolTip(plain(policy::modesHelp()));
    connect(m_mode, &QComboBox::activated, this, [this] {
        m_controller->apply(policy::SetMode{static_cast<policy::Mode>(m_mode->currentData().toInt())});
        Q_EMIT chosen();
    });
    addNamed(tr("mode"), m_mode, tr("Conversion mode"));
}

void ModelBar::addChip()
{
    m_chip = new ChipBox(this);
    connect(m_chip, &ChipBox::chosen, this, [this](const QString &chip) {
        policy::Policy policy = m_controller->document()->policy();
        policy.hardware = chip.toStdString();
        m_controller->apply(
            policy::ReplacePolicy{policy, "Set Chip to " + (chip.isEmpty() ? "Any" : policy.hardware)});
        m_chosenRevision = m_controller->document()->revision();
        tellChip();
        Q_EMIT chosen();
    });
    connect(m_chip, &ChipBox::refused, this, &ModelBar::refused);
    addNamed(tr("chip"), m_chip, tr("Chip to convert for"));
}

/// Once the conversion for the chip is there.
void ModelBar::tellChip()
{
    const auto &snapshot = m_controller->snapshot();
    if (m_chosenRevision == 0 || snapshot->revision != m_chosenRevision || !snapshot->converted)
        return;
    m_chosenRevision = 0;
    const QString warnings = snapshot->error ? QString() : chipWarnings(*snapshot);
    if (!warnings.isEmpty())
        Q_EMIT warned(warnings);
}

void ModelBar::addLiveBoxes()
{
    m_errors = new QCheckBox(tr("errors"), this);
    m_errors->setChecked(true);
    m_errors->setToolTip(tr("After every edit, compare all layers with float32"));
    connect(m_errors, &QCheckBox::toggled, m_jobs, &LiveJobs::setErrorsWanted);
    addNamed(tr("live"), m_errors, tr("Live errors"));
    m_latency = new QCheckBox(tr("latency"), this);
    m_latency->setToolTip(tr("After every edit, measure the latency of both models on this machine"));
    connect(m_latency, &QCheckBox::toggled, m_jobs, &LiveJobs::setLatencyWanted);
    m_latency->setAccessibleName(tr("Live latency"));
    addWidget(m_latency);
}

void ModelBar::refresh()
{
    for (QWidget *widget :
         std::initializer_list<QWidget *>{m_target, m_mode, m_chip, m_data, m_errors, m_latency})
        widget->setEnabled(m_controller->isOpen());
    const auto &data = m_jobs->data();
    const auto nameOf = [this](const walks::ExampleOptions &examples) {
        const QString name = widgets::shownName(widgets::pathText(examples.inputs));
        const auto there = m_jobs->picturesThere();
        return there ? tr("%1, %2 of %3").arg(name).arg(examples.examples).arg(*there) : name;
    };
    m_data->setText(!data ? tr("Attach…") : areDrawn(data) ? tr("random inputs") : nameOf(*data));
    m_data->setAccessibleDescription(m_data->text());
    m_data->setToolTip(!data ? tr("Data for errors and ranges: an .npz file or a folder of pictures")
                           : areDrawn(data) ? drawnInputsMeaning()
                                            : widgets::shownPath(widgets::pathText(data->inputs)));
    if (!m_controller->isOpen())
        return;
    const policy::Policy &policy = m_controller->document()->policy();
    const int nodeForNode = m_mode->findData(static_cast<int>(policy::Mode::NodeForNode));
    if (auto *const modes = qobject_cast<QStandardItemModel *>(m_mode->model()); modes && nodeForNode >= 0)
        modes->item(nodeForNode)
            ->setEnabled(dialect::of(m_controller->snapshot()->graph()).hasNodeForNodeMode());
    m_target->setCurrentIndex(m_target->findData(static_cast<int>(policy::askedTarget(policy))));
    m_chip->show(plain(policy.hardware));
    tellChip();
    m_mode->setCurrentIndex(m_mode->findData(static_cast<int>(policy.mode.value_or(policy::Mode::Typed))));
}

bool ModelBar::wantsErrors() const
{
    return m_errors->isChecked();
}

bool ModelBar::wantsLatency() const
{
    return m_latency->isChecked();
}

void ModelBar::setWantsErrors(bool wanted)
{
    m_errors->setChecked(wanted);
}

void ModelBar::setWantsLatency(bool wanted)
{
    m_latency->setChecked(wanted);
}

} // namespace halftone::app
