#include "app/hosts/hosts_dialog.h"

#include "widgets/common/choice_box.h"
#include "widgets/common/formatters.h"

#include <QCheckBox>
#include <QFile>
#include <QFileDialog>
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

namespace halftone::app {

using widgets::plain;

namespace {

const QString kSettings = QStringLiteral("hosts/");

QString shardsOf(const std::vector<std::size_t> &shards)
{
    constexpr std::size_t kMost = 8;
    QStringList names;
    for (std::size_t k = 0; k < std::min(shards.size(), kMost); ++k)
        names << QString::number(shards[k]);
    if (shards.size() > kMost)
        names << QStringLiteral("\u2026");
    return names.join(QStringLiteral(", "));
}

} // namespace

HostsDialog::HostsDialog(RunOnHosts *hosts, LiveJobs *jobs, QWidget *parent)
    : QDialog(parent)
    , m_hosts(hosts)
    , m_jobs(jobs)
{
    setWindowTitle(tr("Run on Hosts"));
    new QVBoxLayout(this);
    buildForm();
    buildProgress();
    buildButtons();
    restoreSettings();
    HostsJob &job = m_hosts->job();
    connect(&job, &HostsJob::progressed, this, &HostsDialog::showProgress);
    connect(&job, &HostsJob::finished, this,
            [this] { tell(tr("All shards are done; loading the result\u2026"), false); });
    connect(&job, &HostsJob::stopped, this, [this] {
        tell(tr("Stopped. Finished shards are kept; Resume continues from there, on any hosts."), false);
    });
    connect(m_hosts, &RunOnHosts::failed, this, [this](const QString &why) { tell(why, true); });
    connect(m_hosts, &RunOnHosts::taken, this, [this](const QString &what) { tell(what, false); });
    resize(fontMetrics().averageCharWidth() * 90, sizeHint().height());
    refresh();
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

void HostsDialog::restart()
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
    m_phase->setText(tr("mpirun is starting the hosts\u2026"));
    m_phase->show();
    showState();
}

/// A dialog grows for what comes to be shown only if it is told to: the list of hosts would be squeezed.
void HostsDialog::fit()
{
    layout()->activate();
    const int needed
        = layout()->hasHeightForWidth() ? layout()->totalHeightForWidth(width()) : sizeHint().height();
    if (needed > height())
        resize(width(), needed);
}

void HostsDialog::showState()
{
    sayState();
    fit();
}

/// What the button would do, and why it cannot.
void HostsDialog::sayState()
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
        m_state->setText(tr("Running. You can keep editing, or close this dialog."));
        return;
    }
    m_state->setText(whyNot);
    m_start->setText(tr("Start"));
    if (!whyNot.isEmpty())
        return;
    const HostRun wanted = run();
    if (wanted.state() == HostRun::State::Finished) {
        m_state->setText(tr("This result was already computed with the same model, data and settings."));
        m_start->setText(tr("Load Result"));
    } else if (wanted.state() == HostRun::State::Interrupted) {
        m_state->setText(tr("An earlier run was interrupted: %1 of %2 shards are done.")
                             .arg(wanted.shardsDone())
                             .arg(wanted.shards()));
        m_start->setText(tr("Resume"));
    }
    m_anew->setVisible(wanted.state() != HostRun::State::New);
}

void HostsDialog::showProgress()
{
    const RunProgress &progress = *m_hosts->job().progress();
    m_bar->setRange(0, static_cast<int>(progress.shards));
    m_bar->setValue(static_cast<int>(progress.done));
    QString text
        = tr("%1: %2 of %3 shards").arg(plain(progress.phase)).arg(progress.done).arg(progress.shards);
    if (progress.before > 0)
        text += tr(", %1 of them from an earlier run").arg(progress.before);
    if (const auto left = progress.secondsLeft(); left && progress.done < progress.shards)
        text += tr(", about %1 s left").arg(static_cast<qlonglong>(*left + 1));
    m_phase->setText(text);
    showHosts(progress);
    fit();
}

void HostsDialog::showHosts(const RunProgress &progress)
{
    m_table->setVisible(!progress.hosts.empty());
    m_table->setRowCount(static_cast<int>(progress.hosts.size()));
    for (int row = 0; row < m_table->rowCount(); ++row) {
        const HostProgress &host = progress.hosts[static_cast<std::size_t>(row)];
        const std::array cells{plain(host.host), QString::number(host.ranks), QString::number(host.done),
                               shardsOf(host.shards)};
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
    if (!m_hosts->job().isRunning()) { // where it stood is no news any more
        m_bar->hide();
        m_phase->hide();
        m_table->hide();
    }
    m_output->setVisible(isFailure && !said.isEmpty());
    m_output->setPlainText(said);
    m_output->moveCursor(QTextCursor::End);
    const QString state = m_state->text();
    m_state->setText(state.isEmpty() || state == what ? what : what + '\n' + state);
    fit();
}

} // namespace halftone::app
