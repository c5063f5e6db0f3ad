#include "app/settings.h"

#include "core/base/text.h"
#include "widgets/common/path_text.h"

#include <QApplication>
#include <QCoreApplication>
#include <QDir>
#include <QFileInfo>
#include <QPalette>
#include <QSettings>
#include <QStandardPaths>
#include <QStyle>

#include <algorithm>

namespace halftone::app {
namespace {

constexpr int kMostRecent = 9;
const QString kRecent = QStringLiteral("recent");
const QString kRecentBytes = QStringLiteral("bytes:");

QPalette themed(bool dark)
{
    const auto grey = [](int light) { return QColor(light, light, light); };
    const QColor window = dark ? QColor(0x25, 0x27, 0x2b) : QColor(0xf2, 0xf3, 0xf5);
    const QColor base = dark ? QColor(0x1c, 0x1e, 0x21) : QColor(Qt::white);
    const QColor text = dark ? grey(0xe4) : grey(0x1b);
    const QColor faint = dark ? grey(0xa4) : grey(0x66); // 4.5 : 1 against all grounds (WCAG 2.1, 1.4.3)
    QPalette palette(dark ? QColor(0x35, 0x38, 0x3d) : QColor(0xe8, 0xe9, 0xec), window);
    palette.setColor(QPalette::Window, window);
    palette.setColor(QPalette::WindowText, text);
    palette.setColor(QPalette::Base, base);
    palette.setColor(QPalette::AlternateBase, dark ? QColor(0x22, 0x24, 0x28) : QColor(0xf7, 0xf8, 0xf9));
    palette.setColor(QPalette::Text, text);
    palette.setColor(QPalette::Button, dark ? QColor(0x35, 0x38, 0x3d) : QColor(0xe8, 0xe9, 0xec));
    palette.setColor(QPalette::ButtonText, text);
    palette.setColor(QPalette::ToolTipBase, dark ? QColor(0x35, 0x38, 0x3d) : QColor(0xff, 0xff, 0xe8));
    palette.setColor(QPalette::ToolTipText, text);
    palette.setColor(QPalette::PlaceholderText, faint);
    palette.setColor(QPalette::Highlight, dark ? QColor(0x2f, 0x6f, 0xb0) : QColor(0x1f, 0x6f, 0xb8));
    palette.setColor(QPalette::HighlightedText, Qt::white);
    palette.setColor(QPalette::Link, dark ? QColor(0x6c, 0xb6, 0xff) : QColor(0x0b, 0x5f, 0xa5));
    palette.setColor(QPalette::Mid, dark ? grey(0x50) : grey(0xb8));
    for (const QPalette::ColorRole role : {QPalette::WindowText, QPalette::Text, QPalette::ButtonText})
        palette.setColor(QPalette::Disabled, role, faint);
    return palette;
}

/// Settings are text: a path that is none is stored in hexadecimal digits.
void storeRecent(const QStringList &files)
{
    QStringList stored;
    for (const QString &file : files) {
        const std::string bytes = widgets::pathBytes(file);
        stored << (isUtf8(bytes)
                       ? file
                       : kRecentBytes + QString::fromLatin1(QByteArray::fromStdString(bytes).toHex()));
    }
    QSettings().setValue(kRecent, stored);
}

} // namespace

Preferences loadPreferences()
{
    const QSettings settings;
    Preferences preferences;
    const QString theme = settings.value(QStringLiteral("theme")).toString();
    preferences.theme = theme == u"light" ? Theme::Light : theme == u"dark" ? Theme::Dark : Theme::Desktop;
    JobSettings &jobs = preferences.jobs;
    jobs.backend = settings.value(QStringLiteral("backend"), QString::fromStdString(jobs.backend))
                       .toString()
                       .toStdString();
    jobs.threads = settings.value(QStringLiteral("threads"), 0).toUInt();
    jobs.memoryLimit
        = settings.value(QStringLiteral("memoryLimit"), qulonglong{jobs.memoryLimit}).toULongLong();
    jobs.repeats = settings.value(QStringLiteral("repeats"), qulonglong{jobs.repeats}).toULongLong();
    preferences.pictures
        = settings.value(QStringLiteral("pictures"), qulonglong{preferences.pictures}).toULongLong();
    return preferences;
}

void savePreferences(const Preferences &preferences)
{
    QSettings settings;
    settings.setValue(QStringLiteral("theme"),
                      preferences.theme == Theme::Light      ? QStringLiteral("light")
                          : preferences.theme == Theme::Dark ? QStringLiteral("dark")
                                                             : QStringLiteral("desktop"));
    settings.setValue(QStringLiteral("backend"), QString::fromStdString(preferences.jobs.backend));
    settings.setValue(QStringLiteral("threads"), preferences.jobs.threads);
    settings.setValue(QStringLiteral("memoryLimit"), qulonglong{preferences.jobs.memoryLimit});
    settings.setValue(QStringLiteral("repeats"), qulonglong{preferences.jobs.repeats});
    settings.setValue(QStringLiteral("pictures"), qulonglong{preferences.pictures});
}

QStringList recentFiles()
{
    QStringList files;
    for (const QString &stored : QSettings().value(kRecent).toStringList())
        files << (stored.startsWith(kRecentBytes) ? widgets::pathText(
                      QByteArray::fromHex(stored.mid(kRecentBytes.size()).toLatin1()).toStdString())
                                                  : stored);
    return files;
}

void addRecentFile(const QString &path)
{
    const QString absolute = QFileInfo(path).absoluteFilePath();
    QStringList files = recentFiles();
    files.removeAll(absolute);
    files.prepend(absolute);
    storeRecent(files.mid(0, kMostRecent));
}

void removeRecentFile(const QString &path)
{
    QStringList files = recentFiles();
    files.removeAll(path);
    storeRecent(files);
}

void applyTheme(Theme theme)
{
    if (theme == Theme::Desktop)
        QApplication::setPalette(QPalette()); // as the platform has it, also when it changes
    else
        QApplication::setPalette(themed(theme == Theme::Dark));
}

QString journalFolder()
{
    QString folder = QStandardPaths::writableLocation(QStandardPaths::AppLocalDataLocation)
        + QStringLiteral("/journals");
    QDir().mkpath(folder);
    return folder;
}

QString folderFor(const QString &model)
{
    const QFileInfo folder(QFileInfo(model).absolutePath());
    const QString bundled = QFileInfo(samplePath(QStringLiteral("digits-test.npz"))).absolutePath();
    if (folder.isWritable() && folder.absoluteFilePath() != bundled)
        return folder.absoluteFilePath();
    return QStandardPaths::writableLocation(QStandardPaths::DocumentsLocation);
}

QString nameOfModel(const QString &path)
{
    const QFileInfo file(path);
    const io::ModelFormat *const format = io::formatOfName(widgets::pathBytes(file.fileName()));
    return format != nullptr ? file.fileName().chopped(static_cast<qsizetype>(format->ending.size()))
                             : file.completeBaseName();
}

std::vector<Sample> samples()
{
    std::vector<Sample> found;
    for (const io::ModelFormat *const format : io::formats()) {
        const QString model = samplePath(QStringLiteral("digits") + QString::fromUtf8(format->ending));
        const QString policy = QStringLiteral("all-float16.policy.json");
        const QString own = samplePath(QString::fromUtf8(format->name) + '-' + policy);
        if (!model.isEmpty() && format->isReadable)
            found.push_back({format, model, own.isEmpty() ? samplePath(policy) : own});
    }
    return found;
}

std::optional<Sample> guidedSample()
{
    const std::vector<Sample> all = samples();
    return all.empty() ? std::nullopt : std::optional(all.front());
}

QString resourcePath(const QString &file)
{
    const QString program = QCoreApplication::applicationDirPath();
    const QStringList folders{qEnvironmentVariable("HALFTONE_RESOURCES") + '/',
                              program + QStringLiteral("/../share/halftone/"),
                              program + QStringLiteral("/share/halftone/")};
    for (const QString &folder : folders) {
        if (folder.size() > 1 && QFileInfo::exists(folder + file))
            return QFileInfo(folder + file).canonicalFilePath();
    }
    return {};
}

QString samplePath(const QString &file)
{
    return resourcePath(QStringLiteral("sample/") + file);
}

QString helpPath(const QString &file)
{
    return resourcePath(QStringLiteral("help/") + file);
}

} // namespace halftone::app
