#include "app/dialogs/changed_session_dialog.h"

#include "widgets/common/formatters.h"
#include "widgets/common/path_text.h"

#include <QDialogButtonBox>
#include <QHeaderView>
#include <QLabel>
#include <QPushButton>
#include <QTableWidget>
#include <QVBoxLayout>

#include <utility>

namespace halftone::app {
namespace {

using widgets::plain;

constexpr int kTextWidth = 60; ///< characters
constexpr int kTableWidth = 110;
constexpr int kTableLines = 12;

QLabel *wrapped(const QString &text, QWidget *parent)
{
    auto *const label = new QLabel(text, parent);
    label->setWordWrap(true);
    label->setTextInteractionFlags(Qt::TextSelectableByMouse);
    label->setMinimumWidth(kTextWidth * label->fontMetrics().averageCharWidth());
    return label;
}

} // namespace

ChangedSessionDialog::ChangedSessionDialog(const QString &path, Differences differences, QWidget *parent)
    : QDialog(parent)
    , m_differences(std::move(differences))
    , m_layout(new QVBoxLayout(this))
{
    setObjectName(QStringLiteral("changedSession"));
    setWindowTitle(tr("Save Session"));
    m_layout->addWidget(wrapped(tr("%1 has been saved by another window or program since it was opened here. "
                                   "Overwriting it discards what was saved there.")
                                    .arg(widgets::shownName(path)),
                                this));
    auto *const buttons = new QDialogButtonBox(this);
    QPushButton *const overwrite = buttons->addButton(tr("&Overwrite"), QDialogButtonBox::DestructiveRole);
    QPushButton *const saveAs = buttons->addButton(tr("&Save As\u2026"), QDialogButtonBox::AcceptRole);
    QPushButton *const show = buttons->addButton(tr("Show &Differences"), QDialogButtonBox::ActionRole);
    buttons->addButton(QDialogButtonBox::Cancel);
    saveAs->setDefault(true);
    connect(overwrite, &QPushButton::clicked, this, [this] { choose(Choice::Overwrite); });
    connect(saveAs, &QPushButton::clicked, this, [this] { choose(Choice::SaveAs); });
    connect(show, &QPushButton::clicked, this, &ChangedSessionDialog::showDifferences);
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
    m_layout->addWidget(buttons);
}

void ChangedSessionDialog::choose(Choice choice)
{
    m_choice = choice;
    accept();
}

void ChangedSessionDialog::showDifferences()
{
    delete std::exchange(m_shown, nullptr);
    const auto differences = m_differences();
    if (!differences.ok())
        m_shown = wrapped(tr("The file cannot be read: %1").arg(plain(differences.error().message())), this);
    else if (differences.value().empty())
        m_shown = wrapped(tr("They differ only in results and undone edits."), this);
    else
        m_shown = tableOf(differences.value());
    m_layout->insertWidget(1, m_shown, 1);
    m_shown->show();
    m_layout->activate();
    resize(sizeHint().expandedTo(size()));
}

QTableWidget *ChangedSessionDialog::tableOf(const std::vector<session::SessionDifference> &differences)
{
    auto *const table = new QTableWidget(static_cast<int>(differences.size()), 3, this);
    table->setObjectName(QStringLiteral("differences"));
    table->setHorizontalHeaderLabels({tr("What"), tr("Only in the file"), tr("Only here")});
    table->verticalHeader()->hide();
    table->setEditTriggers(QAbstractItemView::NoEditTriggers);
    table->setWordWrap(true);
    for (int row = 0; row < table->rowCount(); ++row) {
        const session::SessionDifference &one = differences[static_cast<std::size_t>(row)];
        const QStringList texts{plain(one.what), plain(one.there), plain(one.here)};
        for (int column = 0; column < texts.size(); ++column) {
            auto *const item = new QTableWidgetItem(texts[column]);
            item->setToolTip(texts[column]);
            table->setItem(row, column, item);
        }
    }
    table->setMinimumSize(kTableWidth * fontMetrics().averageCharWidth(),
                          kTableLines * fontMetrics().lineSpacing());
    table->horizontalHeader()->setSectionResizeMode(QHeaderView::Stretch);
    table->horizontalHeader()->setSectionResizeMode(0, QHeaderView::ResizeToContents);
    table->resizeRowsToContents();
    return table;
}

} // namespace halftone::app
