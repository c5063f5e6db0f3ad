#pragma once

#include <nlohmann/json.hpp>

#include <QFile>
#include <QFloat16> // QCOMPARE of JSON tries to convert it to whatever Qt can print
#include <QProcess>
#include <QStringList>

/// For tests of the command line; HALFTONE_CLI is the program.
namespace halftone::test {

/// The bytes of a file; none where there is no such file.
inline QByteArray contentOf(const QString &path)
{
    QFile file(path);
    return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
}

/// The test ends when it cannot be written.
inline void writeFile(const QString &path, const QByteArray &bytes)
{
    QFile file(path);
    if (!file.open(QIODevice::WriteOnly) || file.write(bytes) != bytes.size())
        qFatal("cannot write %s", qPrintable(path));
}

struct CliOutcome
{
    int code = -1; ///< -1: it crashed
    QByteArray out;
    QByteArray err;

    nlohmann::json json() const { return nlohmann::json::parse(out.toStdString()); }
    QByteArray lastLine() const { return err.trimmed().split('\n').last(); }
};

/// The test ends when the program does not.
inline CliOutcome callCli(const QStringList &arguments, const QByteArray &input = {})
{
    constexpr int kMostMs = 50'000;
    QProcess process;
    process.start(QStringLiteral(HALFTONE_CLI), arguments);
    process.write(input);
    process.closeWriteChannel();
    if (!process.waitForFinished(kMostMs))
        qFatal("no end within 50 s");
    return {process.exitStatus() == QProcess::NormalExit ? process.exitCode() : -1,
            process.readAllStandardOutput(), process.readAllStandardError()};
}

} // namespace halftone::test
