#include "app/dialogs/export_dialog.h"

#include "core/session/in_format.h"
#include "widgets/common/path_text.h"

#include <QCheckBox>
#include <QComboBox>
#include <QDialogButtonBox>
#include <QDir>
#include <QFileDialog>
#include <QFileInfo>
#include <QFormLayout>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QPushButton>
#include <QStyle>
#include <QVBoxLayout>

#include <algorithm>
#include <filesystem>
#include <system_error>

namespace halftone::app {

ExportDialog::ExportDialog(const QString &prefix, std::shared_ptr<const io::LoadedModel> source,
                           QWidget *parent)
    : QDialog(parent)
    , m_source(std::move(source))
    , m_formats(session::formatsFor(m_source->model.graph))
{
    setWindowTitle(tr("Export"));
    auto *const layout = new QVBoxLayout(this);
    auto *const form = new QFormLayout;
    layout->addLayout(form);

    auto *const row = new QWidget(this);
    auto *const rowLayout = new QHBoxLayout(row);
    rowLayout->setContentsMargins(0, 0, 0, 0);
    m_prefix = new QLineEdit(prefix, row);
    m_prefix->setAccessibleName(tr("Folder and start of the file names"));
    rowLayout->addWidget(m_prefix, 1);
    auto *const choose = new QPushButton(tr("Folder…"), row);
    connect(choose, &QPushButton::clicked, this, [this] {
        const QFileInfo now(m_prefix->text());
        const QString folder = QFileDialog::getExistingDirectory(this, tr("Export to"), now.absolutePath());
        if (!folder.isEmpty())
            m_prefix->setText(folder + '/' + now.fileName());
    });
    rowLayout->addWidget(choose);
    form->addRow(tr("&Write to"), row);

    m_format = new QComboBox(this);
    m_format->setObjectName(QStringLiteral("format"));
    for (const io::ModelFormat *const format : m_formats)
        m_format->addItem(QString::fromUtf8(format->title));
    connect(m_format, &QComboBox::currentIndexChanged, this, &ExportDialog::refresh);
    form->addRow(tr("&Format"), m_format);
    form->setRowVisible(m_format, m_formats.size() > 1);

    auto *const parts = new QVBoxLayout;
    const auto part = [this, parts](const QString &text) {
        auto *const box = new QCheckBox(text, this);
        box->setChecked(true);
        connect(box, &QCheckBox::toggled, this, &ExportDialog::refresh);
        parts->addWidget(box);
        return box;
    };
    m_model = part(tr("Converted &model"));
    connect(m_model, &QCheckBox::toggled, m_format, &QWidget::setEnabled);
    m_correct = new QCheckBox(tr("Correct &biases of int8 layers on the calibration data"), this);
    m_correct->hide();
    parts->addWidget(m_correct);
    connect(m_model, &QCheckBox::toggled, this,
            [this](bool on) { m_correct->setEnabled(on && m_canCorrect); });
    m_policy = part(tr("&Policy (the lists as a file, also for the command line)"));
    m_report = part(tr("&Report (one HTML page: graph, lists, layers, plots)"));
    form->addRow(tr("What"), parts);

    layout->addWidget(new QLabel(tr("Files that will be written:"), this));
    m_files = new QListWidget(this);
    m_files->setSelectionMode(QAbstractItemView::NoSelection);
    m_files->setAccessibleName(tr("Files that will be written"));
    layout->addWidget(m_files, 1);
    m_note = new QLabel(this);
    m_note->setObjectName(QStringLiteral("note"));
    m_note->setWordWrap(true);
    m_note->hide();
    layout->addWidget(m_note);
    m_buttons = new QDialogButtonBox(QDialogButtonBox::Ok | QDialogButtonBox::Cancel, this);
    m_buttons->button(QDialogButtonBox::Ok)->setText(tr("Export"));
    connect(m_buttons, &QDialogButtonBox::accepted, this, &QDialog::accept);
    connect(m_buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
    layout->addWidget(m_buttons);
    connect(m_prefix, &QLineEdit::textChanged, this, &ExportDialog::refresh);
    refresh();
    resize(fontMetrics().averageCharWidth() * 90, fontMetrics().height() * 22);
}

void ExportDialog::setNote(const QString &text)
{
    m_note->setText(text);
    refresh();
}

void ExportDialog::offerCorrection(const QString &whyNot)
{
    m_canCorrect = whyNot.isEmpty();
    m_correct->setEnabled(m_canCorrect && m_model->isChecked());
    m_correct->setToolTip(
        m_canCorrect
            ? tr("Runs the data once more and corrects the biases for int8's mean error per channel. The "
                 "report then shows the errors of the corrected model.")
            : whyNot);
    m_correct->show();
}

bool ExportDialog::correctsBiases() const
{
    return m_correct->isEnabled() && m_correct->isChecked();
}

bool ExportDialog::isSource(const std::string &path) const
{
    std::error_code none;
    const auto isSame
        = [&](const std::string &other) { return std::filesystem::equivalent(path, other, none); };
    return isSame(m_source->modelPath) || isSame(m_source->paramsPath);
}

/// Lists the files of one box. false: one of them cannot be written.
bool ExportDialog::addFiles(const QString &what, const session::ExportOptions &part)
{
    bool possible = true;
    for (const std::string &path : session::filesOf(part, *m_source)) {
        const QFileInfo file(QString::fromStdString(path));
        const QString name = tr("%1: %2").arg(what, file.absoluteFilePath());
        auto *const item = new QListWidgetItem(name, m_files);
        if (isSource(path))
            item->setText(tr("%1 would overwrite the source model; choose another name").arg(name));
        else if (file.exists())
            item->setText(tr("%1 (replaces a file)").arg(name));
        if (isSource(path) || file.exists())
            item->setIcon(style()->standardIcon(QStyle::SP_MessageBoxWarning));
        if (!file.absoluteDir().exists())
            item->setText(tr("%1: folder %2 does not exist").arg(what, file.absolutePath()));
        possible = possible && !isSource(path) && file.absoluteDir().exists();
    }
    return possible;
}

void ExportDialog::refresh()
{
    m_files->clear();
    const session::ExportOptions all = options();
    session::ExportOptions none = all;
    none.model = none.policy = none.report = false;
    session::ExportOptions part = none;
    part.model = all.model;
    bool possible = addFiles(tr("Model"), part);
    part = none;
    part.policy = all.policy;
    possible = addFiles(tr("Policy"), part) && possible;
    part = none;
    part.report = all.report;
    possible = addFiles(tr("Report"), part) && possible;
    // The note is about the model in its own format: another one may store the same in other types.
    m_note->setVisible(!m_note->text().isEmpty() && all.model && all.format == nullptr);
    m_buttons->button(QDialogButtonBox::Ok)->setEnabled(possible && m_files->count() > 0);
}

session::ExportOptions ExportDialog::options() const
{
    session::ExportOptions options;
    options.prefix = widgets::pathBytes(m_prefix->text());
    options.model = m_model->isChecked();
    options.parameters = m_source->model.hasParameters;
    const auto chosen = static_cast<std::size_t>(std::max(m_format->currentIndex(), 0));
    if (chosen > 0) // its own is left to the ending of the name
        options.format = m_formats[chosen];
    options.policy = m_policy->isChecked();
    options.report = m_report->isChecked();
    return options;
}

} // namespace halftone::app
