#include "app/attach_dialog.h"

#include <QDialogButtonBox>
#include <QFileDialog>
#include <QFileInfo>
#include <QFormLayout>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QSpinBox>
#include <QVBoxLayout>

#include <limits>

namespace halftone::app {

AttachDialog::AttachDialog(const std::optional<session::ExampleOptions> &now, std::size_t pictures,
                           QWidget *parent)
    : QDialog(parent)
    , m_pictures(pictures)
{
    setWindowTitle(tr("Attach data"));
    auto *const layout = new QVBoxLayout(this);
    auto *const why = new QLabel(
        tr("Layer errors, ranges and accuracy are computed with these examples, anew after every edit."),
        this);
    why->setWordWrap(true);
    layout->addWidget(why);
    auto *const form = new QFormLayout;
    layout->addLayout(form);
    m_inputs = addPath(form, tr("&Inputs"),
                       tr("an .npz with an array for each input, or a folder of pictures"), true);
    m_preprocess = addPath(form, tr("&Preprocessing"),
                           tr("for pictures; empty: preprocess.json beside the model"), false);
    m_labels = addPath(form, tr("&Labels"),
                       tr("optional: CSV with file and class_index, or an .npz with labels"), false);
    m_examples = new QSpinBox(this);
    m_examples->setRange(0, std::numeric_limits<int>::max());
    m_examples->setSpecialValueText(tr("all"));
    m_examples->setAccessibleName(tr("Number of examples"));
    form->addRow(tr("&Examples"), m_examples);
    m_buttons = new QDialogButtonBox(QDialogButtonBox::Ok | QDialogButtonBox::Cancel, this);
    m_buttons->button(QDialogButtonBox::Ok)->setText(tr("Attach"));
    connect(m_buttons, &QDialogButtonBox::accepted, this, &QDialog::accept);
    connect(m_buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
    layout->addWidget(m_buttons);
    connect(m_inputs, &QLineEdit::textChanged, this, &AttachDialog::inputsChanged);
    if (now) {
        m_inputs->setText(QString::fromStdString(now->inputs));
        m_preprocess->setText(QString::fromStdString(now->preprocess));
        m_labels->setText(QString::fromStdString(now->labels));
        m_examples->setValue(static_cast<int>(now->examples));
    }
    inputsChanged();
    resize(fontMetrics().averageCharWidth() * 90, sizeHint().height());
}

QLineEdit *AttachDialog::addPath(QFormLayout *form, const QString &label, const QString &hint, bool folderToo)
{
    auto *const row = new QWidget(this);
    auto *const layout = new QHBoxLayout(row);
    layout->setContentsMargins(0, 0, 0, 0);
    auto *const edit = new QLineEdit(row);
    edit->setPlaceholderText(hint);
    edit->setAccessibleName(QString(label).remove('&'));
    layout->addWidget(edit, 1);
    auto *const file = new QPushButton(tr("File …"), row);
    connect(file, &QPushButton::clicked, this, [this, edit] {
        const QString path = QFileDialog::getOpenFileName(this, tr("Choose a file"), edit->text());
        if (!path.isEmpty())
            edit->setText(path);
    });
    layout->addWidget(file);
    if (folderToo) {
        auto *const folder = new QPushButton(tr("Folder …"), row);
        connect(folder, &QPushButton::clicked, this, [this, edit] {
            const QString path
                = QFileDialog::getExistingDirectory(this, tr("Choose a folder of pictures"), edit->text());
            if (!path.isEmpty())
                edit->setText(path);
        });
        layout->addWidget(folder);
    }
    form->addRow(label, row);
    return edit;
}

/// A folder may hold thousands of pictures: a live answer wants few.
void AttachDialog::inputsChanged()
{
    const QFileInfo inputs(m_inputs->text());
    m_buttons->button(QDialogButtonBox::Ok)->setEnabled(inputs.exists());
    if (inputs.isDir() && m_examples->value() == 0)
        m_examples->setValue(static_cast<int>(m_pictures));
    m_preprocess->setEnabled(inputs.isDir());
}

session::ExampleOptions AttachDialog::options() const
{
    session::ExampleOptions options;
    options.inputs = m_inputs->text().toStdString();
    options.preprocess = m_preprocess->isEnabled() ? m_preprocess->text().toStdString() : std::string();
    options.labels = m_labels->text().toStdString();
    options.examples = static_cast<std::size_t>(m_examples->value());
    return options;
}

} // namespace halftone::app
