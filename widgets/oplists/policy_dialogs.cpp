#include "widgets/oplists/policy_dialogs.h"

#include "core/policy/policy_json.h"
#include "widgets/common/formatters.h"
#include "widgets/models/write_file.h"

#include <QFile>
#include <QFileDialog>
#include <QFileInfo>

namespace halftone::widgets {
namespace {

QFileDialog *makeDialog(QWidget *parent, const QString &title)
{
    auto *const dialog
        = new QFileDialog(parent, title, {}, QFileDialog::tr("Policies (*.json);;All files (*)"));
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    return dialog;
}

} // namespace

Result<policy::Policy> readPolicyFile(const QString &path)
{
    QFile file(path);
    if (!file.open(QIODevice::ReadOnly))
        return inFile(badInput({}, file.errorString().toStdString()), path.toStdString());
    const QByteArray text = file.read(static_cast<qint64>(policy::kLongestPolicy) + 1);
    auto read = policy::readPolicy(std::string_view(text.constData(), static_cast<std::size_t>(text.size())));
    if (!read.ok())
        return inFile(std::move(read).error(), path.toStdString());
    return read;
}

void askForPolicy(QWidget *parent, std::function<void(const QString &, Result<policy::Policy>)> deliver)
{
    QFileDialog *const dialog = makeDialog(parent, QFileDialog::tr("Load policy"));
    dialog->setFileMode(QFileDialog::ExistingFile);
    QObject::connect(dialog, &QFileDialog::fileSelected, parent,
                     [deliver = std::move(deliver)](const QString &path) {
                         deliver(QFileInfo(path).fileName(), readPolicyFile(path));
                     });
    dialog->open();
}

void askWhereToSave(QWidget *parent, const policy::Policy &policy, std::function<void(const QString &)> said)
{
    QFileDialog *const dialog = makeDialog(parent, QFileDialog::tr("Save policy"));
    dialog->setAcceptMode(QFileDialog::AcceptSave);
    dialog->setDefaultSuffix(QStringLiteral("policy.json"));
    QObject::connect(dialog, &QFileDialog::fileSelected, parent,
                     [text = policy::writePolicy(policy), said = std::move(said)](const QString &path) {
                         const Result<void> written = writeFile(path, QByteArray::fromStdString(text));
                         said(written.ok() ? QFileDialog::tr("Saved as %1.").arg(path)
                                           : plain(written.error().message()));
                     });
    dialog->open();
}

} // namespace halftone::widgets
