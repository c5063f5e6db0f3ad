#include "widgets/oplists/policy_dialogs.h"

#include "core/policy/policy_json.h"
#include "widgets/common/formatters.h"
#include "widgets/models/write_file.h"

#include <QFile>
#include <QFileDialog>
#include <QFileInfo>

#include <algorithm>

namespace halftone::widgets {
namespace {

QFileDialog *makeDialog(QWidget *parent, const QString &title)
{
    auto *const dialog
        = new QFileDialog(parent, title, {}, QFileDialog::tr("Policies (*.json);;All files (*)"));
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    return dialog;
}

/// A byte more than a policy may have, so that one that is too long is told as such.
Result<QByteArray> textOf(const QString &path)
{
    QFile file(path);
    if (!file.open(QIODevice::ReadOnly))
        return inFile(badInput({}, file.errorString().toStdString()), path.toStdString());
    return file.read(static_cast<qint64>(policy::kLongestPolicy) + 1);
}

} // namespace

Result<policy::Policy> readPolicyFile(const QString &path)
{
    HALFTONE_TRY(const QByteArray text, textOf(path));
    auto read = policy::readPolicy(std::string_view(text.constData(), static_cast<std::size_t>(text.size())));
    if (!read.ok())
        return inFile(std::move(read).error(), path.toStdString());
    return read;
}

Result<policy::ImportedLists> readListsFile(const QString &path, policy::ListOrigin origin,
                                            const dialect::Dialect &dialect)
{
    HALFTONE_TRY(const QByteArray text, textOf(path));
    auto read = policy::importLists(
        origin, std::string_view(text.constData(), static_cast<std::size_t>(text.size())), dialect);
    if (!read.ok())
        return inFile(std::move(read).error(), path.toStdString());
    return read;
}

void askForLists(QWidget *parent, const dialect::Dialect &dialect,
                 std::function<void(const QString &, Result<policy::ImportedLists>)> deliver)
{
    QFileDialog *const dialog = makeDialog(parent, QFileDialog::tr("Import Lists"));
    dialog->setFileMode(QFileDialog::ExistingFile);
    // The kind of file says whose lists they are, in the order of kListOrigins.
    const QStringList kinds{QFileDialog::tr("onnxconverter-common: op_block_list, node_block_list (*)"),
                            QFileDialog::tr("ModelOpt AutoCast: nodes_to_exclude, op_types_to_exclude (*)"),
                            QFileDialog::tr("TensorFlow: allow, infer, deny, clear (*)"),
                            QFileDialog::tr("TVM: always, follow, never (*)")};
    dialog->setNameFilters(kinds);
    QObject::connect(dialog, &QFileDialog::fileSelected, parent,
                     [dialog, kinds, &dialect, deliver = std::move(deliver)](const QString &path) {
                         const auto kind
                             = std::max<qsizetype>(kinds.indexOf(dialog->selectedNameFilter()), 0);
                         const policy::ListOrigin origin
                             = policy::kListOrigins[static_cast<std::size_t>(kind)];
                         deliver(QFileInfo(path).fileName(), readListsFile(path, origin, dialect));
                     });
    dialog->open();
}

void askForPolicy(QWidget *parent, std::function<void(const QString &, Result<policy::Policy>)> deliver)
{
    QFileDialog *const dialog = makeDialog(parent, QFileDialog::tr("Load Policy"));
    dialog->setFileMode(QFileDialog::ExistingFile);
    QObject::connect(dialog, &QFileDialog::fileSelected, parent,
                     [deliver = std::move(deliver)](const QString &path) {
                         deliver(QFileInfo(path).fileName(), readPolicyFile(path));
                     });
    dialog->open();
}

void askWhereToSave(QWidget *parent, const policy::Policy &policy, std::function<void(const QString &)> said)
{
    QFileDialog *const dialog = makeDialog(parent, QFileDialog::tr("Save Policy"));
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
