#include "app/hosts/hosts_dialog.h"

#include "widgets/common/choice_box.h"
#include "widgets/common/formatters.h"

#include <QCheckBox>
#include <QDialogButtonBox>
#include <QFile>
#include <QFileDialog>
#include <QFormLayout>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QProgressBar>
#include <QPushButton>
#include <QSettings>
#include <QSpinBox>
#include <QTableWidget>
#include <QVBoxLayout>

#include <algorithm>
#include <limits>

namespace halftone::app {

using widgets::plain;

namespace {

const QString kSettings = QStringLiteral("hosts/");
constexpr int kLinesOfHosts = 4;
constexpr int kLinesOfOutput = 7;
constexpr int kLinesOfTable = 6;

QString shardsOf(const std::vector<std::size_t> &tasks)
{
    constexpr std::size_t kMost = 8;
    QStringList names;
    for (std::size_t k = 0; k < std::min(tasks.size(), kMost); ++k)
        names << QString::number(tasks[k]);
    if (tasks.size() > kMost)
        names << QStringLiteral("\u2026");
    return names.join(QStringLiteral(", "));
}

} // namespace

HostsDialog::HostsDialog(RunOnHosts *hosts, LiveJobs *jobs, QWidget *parent)
    : QDialog(parent)
    , m_hosts(hosts)
    , m_jobs(jobs)
{
    setWindowTitle(tr("Run on hosts"));
    new QVBoxLayout(this);
    buildForm();
    buildProgress();
    buildButtons();
    restoreSettings();
    HostsJob &job = m_hosts->job();
    connect(&job, &HostsJob::progressed, this, &HostsDialog::showProgress);
    connect(&job, &HostsJob::finished, this,
            [this] { tell(tr("All shards are done; taking the result\u2026"), false); });
    connect(&job, &HostsJob::stopped, this, [this] {
        tell(tr("Stopped. What was done is kept: Go On continues from there, on any hosts."), false);
    });
    connect(m_hosts, &RunOnHosts::failed, this, [this](const QString &why) { tell(why, true); });
    connect(m_hosts, &RunOnHosts::taken, this, [this](const QString &what) { tell(what, false); });
    resize(fontMetrics().averageCharWidth() * 90, sizeHint().height());
    refresh();
}

void HostsDialog::buildForm()
{
    auto *const why
        = new QLabel(tr("Computes with the attached data on many machines, through Open MPI. The result is "
                        "the same to the byte "
                        "however many they are. Model and data must be at the same place on every host."),
                     this);
    why->setWordWrap(true);
    layout()->addWidget(why);
    m_asked = new QWidget(this);
    layout()->addWidget(m_asked);
    auto *const form = new QFormLayout(m_asked);
    form->setContentsMargins({});
    m_task = new widgets::ChoiceBox(m_asked);
    m_task->setAccessibleName(tr("What"));
    m_task->addItem(tr("Compare: errors of the layers"), static_cast<int>(HostTask::Compare));
    m_task->addItem(tr("Calibrate: ranges of the tensors"), static_cast<int>(HostTask::Calibrate));
    m_task->addItem(tr("Tune: search for the layers that must stay wide"), static_cast<int>(HostTask::Tune));
    form->addRow(tr("&What"), m_task);
    m_examples = new QSpinBox(m_asked);
    m_examples->setRange(0, std::numeric_limits<int>::max());
    m_examples->setSpecialValueText(tr("all"));
    m_examples->setAccessibleName(tr("Number of examples"));
    m_examples->setToolTip(tr("More than are attached may be taken; a search takes those that are"));
    form->addRow(tr("&Examples"), m_examples);
    m_alone = new QCheckBox(tr("Each layer &alone, too (takes about three times as long)"), m_asked);
    form->addRow(QString(), m_alone);
    m_list = new QPlainTextEdit(m_asked);
    m_list->setAccessibleName(tr("Hosts"));
    m_list->setPlaceholderText(QStringLiteral("localhost slots=2\nnode1 slots=8\nnode2:8"));
    m_list->setToolTip(tr("A host a line; slots: how many shards it computes at a time"));
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
    m_limit->setToolTip(tr("A host that takes longer for one shard is taken to hang, and named"));
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
    m_program->setToolTip(tr("halftone-mpi, with halftone-cli beside it, at the same place on every host"));
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
    layout()->addWidget(m_phase);
    m_table = new QTableWidget(0, 4, this);
    m_table->setHorizontalHeaderLabels({tr("Host"), tr("At a time"), tr("Shards done"), tr("Computing")});
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
    m_output->setAccessibleName(tr("What mpirun said"));
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
    m_anew = buttons->addButton(tr("Start Anew"), QDialogButtonBox::ActionRole);
    m_anew->setToolTip(tr("Gives up what was done before"));
    m_stop = buttons->addButton(tr("Stop"), QDialogButtonBox::ActionRole);
    m_start->setDefault(true);
    connect(m_start, &QPushButton::clicked, this, &HostsDialog::begin);
    connect(m_anew, &QPushButton::clicked, this, &HostsDialog::startAnew);
    connect(m_stop, &QPushButton::clicked, this, [this] {
        m_state->setText(tr("Stopping\u2026"));
        m_hosts->job().stop();
    });
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
    layout()->addWidget(buttons);
}

void HostsDialog::restoreSettings()
{
    const QSettings settings;
    m_list->setPlainText(
        settings.value(kSettings + QStringLiteral("list"), QStringLiteral("localhost slots=2")).toString());
    m_program->setText(settings.value(kSettings + QStringLiteral("program")).toString());
    constexpr int kUsualLimit = 600;
    m_limit->setValue(settings.value(kSettings + QStringLiteral("limit"), kUsualLimit).toInt());
}

void HostsDialog::saveSettings() const
{
    QSettings settings;
    settings.setValue(kSettings + QStringLiteral("list"), m_list->toPlainText());
    settings.setValue(kSettings + QStringLiteral("program"), m_program->text());
    settings.setValue(kSettings + QStringLiteral("limit"), m_limit->value());
}

void HostsDialog::open()
{
    refresh();
    show(); // QDialog's own makes it modal
    raise();
    activateWindow();
}

HostTask HostsDialog::task() const
{
    return static_cast<HostTask>(m_task->currentData().toInt());
}

HostRun HostsDialog::run() const
{
    return m_hosts->runFor(task(), static_cast<std::size_t>(m_examples->value()), m_alone->isChecked());
}

void HostsDialog::refresh()
{
    const auto &data = m_jobs->data();
    const std::optional<std::size_t> attached = data ? std::optional(data->examples) : std::nullopt;
    if (attached && attached != m_attached) {
        const QSignalBlocker blocker(m_examples);
        m_examples->setValue(static_cast<int>(*attached));
    }
    m_attached = attached;
    showState();
}

void HostsDialog::loadHosts()
{
    const QString path = QFileDialog::getOpenFileName(this, tr("Choose a host file"));
    if (path.isEmpty())
        return;
    QFile file(path);
    if (!file.open(QIODevice::ReadOnly)) {
        tell(tr("%1: %2").arg(path, file.errorString()), true);
        return;
    }
    const QByteArray text = file.readAll();
    const auto hosts
        = readHosts({text.constData(), static_cast<std::size_t>(text.size())}, path.toStdString());
    if (!hosts.ok()) {
        tell(plain(hosts.error().message()), true);
        return;
    }
    m_list->setPlainText(QString::fromUtf8(text).trimmed());
}

void HostsDialog::begin()
{
    if (!m_hosts->whyNot().isEmpty())
        return;
    const HostRun wanted = run();
    if (wanted.state() == HostRun::State::Finished)
        m_hosts->take(wanted);
    else
        start(wanted);
}

void HostsDialog::startAnew()
{
    const HostRun wanted = run();
    wanted.forget();
    start(wanted);
}

void HostsDialog::start(const HostRun &wanted)
{
    const auto hosts = readHosts(m_list->toPlainText().toStdString());
    if (!hosts.ok()) {
        tell(plain(hosts.error().message()), true);
        m_list->setFocus();
        return;
    }
    HostPlace place;
    place.hosts = hosts.value();
    place.program
        = (m_program->text().isEmpty() ? RunOnHosts::usualProgram() : m_program->text()).toStdString();
    place.timeLimit = m_limit->value();
    place.folder = RunOnHosts::usualFolder().toStdString();
    saveSettings();
    const auto started = m_hosts->job().start(wanted, place);
    if (!started.ok()) {
        tell(plain(started.error().message()), true);
        return;
    }
    m_output->hide();
    m_table->setRowCount(0);
    m_bar->setRange(0, 0); // until it has spoken
    m_bar->show();
    m_phase->setText(tr("mpirun starts the hosts\u2026"));
    m_phase->show();
    showState();
}

/// What the button would do, and why it cannot.
void HostsDialog::showState()
{
    const bool isRunning = m_hosts->job().isRunning();
    m_asked->setEnabled(!isRunning);
    m_stop->setEnabled(isRunning);
    m_alone->setVisible(task() == HostTask::Compare);
    m_examples->setEnabled(task() != HostTask::Tune);
    const QString whyNot = isRunning ? QString() : m_hosts->whyNot();
    m_start->setEnabled(!isRunning && whyNot.isEmpty());
    m_anew->setVisible(false);
    if (isRunning) {
        m_state->setText(tr("Running. The document may be edited meanwhile, and this dialog closed."));
        return;
    }
    m_state->setText(whyNot);
    m_start->setText(tr("Start"));
    if (!whyNot.isEmpty())
        return;
    const HostRun wanted = run();
    if (wanted.state() == HostRun::State::Finished) {
        m_state->setText(tr("This was computed before, with the same model, data and settings."));
        m_start->setText(tr("Take the Result"));
    } else if (wanted.state() == HostRun::State::Interrupted) {
        m_state->setText(tr("An earlier run of this was interrupted: %1 of %2 shards are done.")
                             .arg(wanted.shardsDone())
                             .arg(wanted.shards()));
        m_start->setText(tr("Go On"));
    }
    m_anew->setVisible(wanted.state() != HostRun::State::New);
}

void HostsDialog::showProgress()
{
    const RunProgress &progress = *m_hosts->job().progress();
    m_bar->setRange(0, static_cast<int>(progress.tasks));
    m_bar->setValue(static_cast<int>(progress.done));
    QString text
        = tr("%1: %2 of %3 shards").arg(plain(progress.phase)).arg(progress.done).arg(progress.tasks);
    if (progress.before > 0)
        text += tr(", %1 of them before").arg(progress.before);
    if (const auto left = progress.secondsLeft(); left && progress.done < progress.tasks)
        text += tr(", about %1 s left").arg(static_cast<qlonglong>(*left + 1));
    m_phase->setText(text);
    showHosts(progress);
}

void HostsDialog::showHosts(const RunProgress &progress)
{
    m_table->setVisible(!progress.hosts.empty());
    m_table->setRowCount(static_cast<int>(progress.hosts.size()));
    for (int row = 0; row < m_table->rowCount(); ++row) {
        const HostProgress &host = progress.hosts[static_cast<std::size_t>(row)];
        const std::array cells{plain(host.host), QString::number(host.ranks), QString::number(host.done),
                               shardsOf(host.tasks)};
        for (int column = 0; column < m_table->columnCount(); ++column) {
            QTableWidgetItem *item = m_table->item(row, column);
            if (!item) {
                item = new QTableWidgetItem;
                m_table->setItem(row, column, item);
            }
            item->setText(cells[static_cast<std::size_t>(column)]);
        }
    }
}

void HostsDialog::tell(const QString &what, bool isFailure)
{
    showState();
    const QString &said = m_hosts->job().output();
    m_bar->hide();
    m_output->setVisible(isFailure && !said.isEmpty());
    m_output->setPlainText(said);
    m_output->moveCursor(QTextCursor::End);
    const QString state = m_state->text();
    m_state->setText(state.isEmpty() || state == what ? what : what + '\n' + state);
}

} // namespace halftone::app
