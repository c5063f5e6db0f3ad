#include "app/hosts/hosts_job.h"

#include "widgets/common/formatters.h"

#include <sys/prctl.h>
#include <unistd.h>

#include <QFile>
#include <QFileInfo>
#include <QStandardPaths>

#include <csignal>

namespace halftone::app {

using widgets::plain;

namespace {

constexpr int kPeriodMs = 200;
constexpr int kKillMs = 5000;
constexpr qsizetype kMostOutput = qsizetype{64} * 1024;

} // namespace

QString whyNoHosts(bool isBuilt)
{
    return isBuilt ? QString() : QObject::tr("This build has no Open MPI support (halftone-mpi).");
}

HostsJob::HostsJob(QObject *parent)
    : QObject(parent)
{
    m_poll.setInterval(kPeriodMs);
    m_kill.setInterval(kKillMs);
    m_kill.setSingleShot(true);
    m_process.setProcessChannelMode(QProcess::MergedChannels);
    m_process.setStandardInputFile(QProcess::nullDevice());
    m_process.setChildProcessModifier([] { ::prctl(PR_SET_PDEATHSIG, SIGTERM); });
    connect(&m_poll, &QTimer::timeout, this, &HostsJob::poll);
    connect(&m_kill, &QTimer::timeout, &m_process, &QProcess::kill);
    connect(&m_process, &QProcess::readyRead, this, &HostsJob::readOutput);
    connect(&m_process, &QProcess::finished, this, &HostsJob::ended);
}

HostsJob::~HostsJob()
{
    disconnect(&m_process, nullptr, this, nullptr);
    if (!isRunning())
        return;
    m_process.terminate();
    if (!m_process.waitForFinished(kKillMs))
        m_process.kill();
    m_process.waitForFinished(kKillMs);
}

Result<void> HostsJob::start(const HostRun &run, HostPlace place)
{
    if (place.mpirun.empty())
        place.mpirun = QStandardPaths::findExecutable(QStringLiteral("mpirun")).toStdString();
    if (place.mpirun.empty())
        return badInput("mpirun", "not found", "; install Open MPI, whose mpirun starts the hosts");
    const QFileInfo program(plain(place.program));
    if (!program.isExecutable() || !program.isFile())
        return inFile(badInput({}, program.exists() ? "not an executable program" : "no such file",
                               "halftone-mpi, at the same path on every host"),
                      place.program);
    place.isRoot = ::geteuid() == 0;
    HALFTONE_TRY(const std::vector<std::string> words, run.prepare(place));
    QStringList arguments;
    for (const std::string &word : words)
        arguments << QFile::decodeName(word.c_str());
    m_run = run;
    m_progress.reset();
    m_output.clear();
    m_program = plain(place.program);
    m_isStopped = m_hasSpoken = false;
    QFile::remove(plain(run.journal()) + QStringLiteral("/progress.json")); // of the run before
    m_process.start(arguments.takeFirst(), arguments);
    if (!m_process.waitForStarted())
        return inFile(badInput({}, m_process.errorString().toStdString(), ""), place.mpirun);
    m_poll.start();
    return {};
}

/// mpirun ends the ranks, and these their programs.
void HostsJob::stop()
{
    if (!isRunning())
        return;
    m_isStopped = true;
    m_process.terminate();
    m_kill.start();
}

void HostsJob::readOutput()
{
    m_output += QString::fromUtf8(m_process.readAll());
    if (m_output.size() > kMostOutput)
        m_output = m_output.right(kMostOutput / 2);
    poll(); // a line for each step: what takes less than a period is seen, too
}

void HostsJob::poll()
{
    QFile file(plain(m_run->journal()) + QStringLiteral("/progress.json"));
    if (!file.open(QIODevice::ReadOnly))
        return;
    const auto progress = readProgress(file.readAll().toStdString());
    if (!progress)
        return;
    m_hasSpoken = true;
    m_progress = progress;
    Q_EMIT progressed();
}

QString HostsJob::whyEnded(int code) const
{
    QString said = plain(reasonIn(m_output.toStdString()));
    if (!said.isEmpty())
        return said;
    if (!m_hasSpoken)
        return tr("%1 does not behave like halftone-mpi (exit code %2).").arg(m_program).arg(code);
    return tr("A rank was lost; mpirun ended with exit code %1.").arg(code);
}

void HostsJob::ended(int code)
{
    m_poll.stop();
    m_kill.stop();
    readOutput();
    const bool isDone = m_run->state() == HostRun::State::Finished;
    if (isDone && code == 0 && m_process.exitStatus() == QProcess::NormalExit)
        Q_EMIT finished();
    else if (m_isStopped)
        Q_EMIT stopped();
    else
        Q_EMIT failed(whyEnded(code));
}

} // namespace halftone::app
