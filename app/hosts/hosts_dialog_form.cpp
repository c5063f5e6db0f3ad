#include "app/hosts/hosts_dialog.h"
#include "widgets/common/choice_box.h"

#include <QCheckBox>
#include <QDialogButtonBox>
#include <QFileDialog>
#include <QFormLayout>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QProgressBar>
#include <QPushButton>
#include <QSpinBox>
#include <QTableWidget>
#include <QVBoxLayout>

#include <limits>

/// What the dialog consists of.
namespace halftone::app {
namespace {

constexpr int kLinesOfHosts = 4;
constexpr int kLinesOfOutput = 7;
constexpr int kLinesOfTable = 6;

} // namespace

void HostsDialog::buildForm()
{
    auto *const why = new QLabel(
        tr("Computes with the attached data on many machines through Open MPI. The result is "
           "identical to the byte, "
           "however many hosts there are. Model and data must have the same path on every host."),
        this);
    why->setWordWrap(true);
    layout()->addWidget(why);
    m_asked = new QWidget(this);
    layout()->addWidget(m_asked);
    m_asked->setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Maximum);
    auto *const form = new QFormLayout(m_asked);
    form->setContentsMargins({});
    m_task = new widgets::ChoiceBox(m_asked);
    m_task->setAccessibleName(tr("What"));
    m_task->addItem(tr("Compare: errors of the layers"), static_cast<int>(HostTask::Compare));
    m_task->addItem(tr("Calibrate: ranges of the tensors"), static_cast<int>(HostTask::Calibrate));
    m_task->addItem(tr("Tune: search for the layers that must stay in float32"),
                    static_cast<int>(HostTask::Tune));
    form->addRow(tr("&What"), m_task);
    m_examples = new QSpinBox(m_asked);
    m_examples->setRange(0, std::numeric_limits<int>::max());
    m_examples->setSpecialValueText(tr("all"));
    m_examples->setAccessibleName(tr("Number of examples"));
    m_examples->setToolTip(tr("May exceed the attached number; a search always uses the attached examples"));
    form->addRow(tr("&Examples"), m_examples);
    m_alone = new QCheckBox(tr("Also each layer &isolated (takes about three times as long)"), m_asked);
    form->addRow(QString(), m_alone);
    m_list = new QPlainTextEdit(m_asked);
    m_list->setAccessibleName(tr("Hosts"));
    m_list->setPlaceholderText(QStringLiteral("localhost slots=2\nnode1 slots=8\nnode2:8"));
    m_list->setToolTip(tr("One host per line; slots is the number of shards it computes in parallel"));
    m_list->setTabChangesFocus(true);
    m_list->setFixedHeight(m_list->fontMetrics().lineSpacing() * kLinesOfHosts + 2 * m_list->frameWidth()
                           + static_cast<int>(2 * m_list->document()->documentMargin()));
    auto *const row = new QWidget(m_asked);
    auto *const columns = new QHBoxLayout(row);
    columns->setContentsMargins({});
    columns->addWidget(m_list, 1);
    auto *const load = new QPushButton(tr("&File\u2026"), row);
    load->setToolTip(tr("Read the list from a host file"));
    columns->addWidget(load, 0, Qt::AlignTop);
    auto *const label = new QLabel(tr("&Hosts"), m_asked);
    label->setBuddy(m_list);
    form->addRow(label, row);
    addProgram(form);
    m_limit = new QSpinBox(m_asked);
    constexpr int kDay = 24 * 3600;
    m_limit->setRange(1, kDay);
    m_limit->setSuffix(tr(" s"));
    m_limit->setToolTip(tr("A host that takes longer than this on one shard is reported as hung"));
    m_limit->setAccessibleName(tr("Time limit"));
    form->addRow(tr("Time &limit of a shard"), m_limit);
    connect(load, &QPushButton::clicked, this, &HostsDialog::loadHosts);
    connect(m_task, &QComboBox::currentIndexChanged, this, &HostsDialog::showState);
    connect(m_examples, &QSpinBox::valueChanged, this, &HostsDialog::showState);
    connect(m_alone, &QCheckBox::toggled, this, &HostsDialog::showState);
}

void HostsDialog::addProgram(QFormLayout *form)
{
    auto *const row = new QWidget(m_asked);
    auto *const columns = new QHBoxLayout(row);
    columns->setContentsMargins({});
    m_program = new QLineEdit(row);
    m_program->setPlaceholderText(RunOnHosts::usualProgram());
    m_program->setAccessibleName(tr("Program"));
    m_program->setToolTip(tr("halftone-mpi, with halftone-cli beside it, at the same path on every host"));
    columns->addWidget(m_program, 1);
    auto *const choose = new QPushButton(tr("File\u2026"), row);
    columns->addWidget(choose);
    form->addRow(tr("&Program"), row);
    connect(choose, &QPushButton::clicked, this, [this] {
        const QString path = QFileDialog::getOpenFileName(this, tr("Choose halftone-mpi"), m_program->text());
        if (!path.isEmpty())
            m_program->setText(path);
    });
}

void HostsDialog::buildProgress()
{
    m_state = new QLabel(this);
    m_state->setObjectName(QStringLiteral("hosts-state"));
    m_state->setWordWrap(true);
    m_state->setTextInteractionFlags(Qt::TextSelectableByMouse);
    layout()->addWidget(m_state);
    m_bar = new QProgressBar(this);
    layout()->addWidget(m_bar);
    m_phase = new QLabel(this);
    m_phase->setObjectName(QStringLiteral("hosts-phase"));
    layout()->addWidget(m_phase);
    m_table = new QTableWidget(0, 4, this);
    m_table->setHorizontalHeaderLabels({tr("Host"), tr("In parallel"), tr("Shards done"), tr("Computing")});
    m_table->horizontalHeader()->setSectionResizeMode(QHeaderView::ResizeToContents);
    m_table->horizontalHeader()->setStretchLastSection(true);
    m_table->verticalHeader()->hide();
    m_table->setEditTriggers(QAbstractItemView::NoEditTriggers);
    m_table->setSelectionMode(QAbstractItemView::NoSelection);
    m_table->setFocusPolicy(Qt::NoFocus);
    m_table->setAccessibleName(tr("Progress of each host"));
    m_table->setFixedHeight(m_table->fontMetrics().lineSpacing() * kLinesOfTable * 3 / 2);
    layout()->addWidget(m_table);
    m_output = new QPlainTextEdit(this);
    m_output->setReadOnly(true);
    m_output->setLineWrapMode(QPlainTextEdit::NoWrap);
    m_output->setAccessibleName(tr("Output of mpirun"));
    m_output->setFixedHeight(m_output->fontMetrics().lineSpacing() * kLinesOfOutput);
    layout()->addWidget(m_output);
    for (QWidget *const part : {static_cast<QWidget *>(m_bar), static_cast<QWidget *>(m_phase),
                                static_cast<QWidget *>(m_table), static_cast<QWidget *>(m_output)})
        part->hide();
}

void HostsDialog::buildButtons()
{
    auto *const buttons = new QDialogButtonBox(QDialogButtonBox::Close, this);
    m_start = buttons->addButton(tr("Start"), QDialogButtonBox::ActionRole);
    m_anew = buttons->addButton(tr("Start Over"), QDialogButtonBox::ActionRole);
    m_anew->setToolTip(tr("Discards the shards finished so far"));
    m_stop = buttons->addButton(tr("Stop"), QDialogButtonBox::ActionRole);
    m_start->setDefault(true);
    connect(m_start, &QPushButton::clicked, this, &HostsDialog::begin);
    connect(m_anew, &QPushButton::clicked, this, &HostsDialog::restart);
    connect(m_stop, &QPushButton::clicked, this, [this] {
        m_state->setText(tr("Stopping\u2026"));
        m_hosts->job().stop();
    });
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
    static_cast<QVBoxLayout *>(layout())->addStretch();
    layout()->addWidget(buttons);
}

} // namespace halftone::app
