#include "widgets/models/table_csv.h"

#include "widgets/common/formatters.h"
#include "widgets/models/csv_field.h"
#include "widgets/models/write_file.h"

#include <QAbstractItemModel>
#include <QCoreApplication>
#include <QFileDialog>
#include <QMessageBox>

#include <utility>
#include <vector>

namespace halftone::widgets {

QString tableCsv(const QAbstractItemModel &table, const CsvForm &form)
{
    std::vector<int> columns;
    for (int column = 0; column < form.columns; ++column)
        if (column != form.without)
            columns.push_back(column);
    QStringList fields;
    for (const int column : columns)
        fields << csvField(table.headerData(column, Qt::Horizontal).toString());
    QString text = fields.join(QLatin1Char(',')) + QStringLiteral("\r\n");
    for (int row = 0; row < table.rowCount(); ++row) {
        fields.clear();
        for (const int column : columns) {
            const QModelIndex index = table.index(row, column);
            const QVariant value = index.data(form.valueRole);
            fields << (form.isNumber(column) ? (
                           value.isValid() ? QString::number(value.toDouble(), 'g', form.digits) : QString())
                                             : csvField(index.data().toString()));
        }
        text += fields.join(QLatin1Char(',')) + QStringLiteral("\r\n");
    }
    return text;
}

void exportCsv(QWidget *parent, const QString &title, const QString &fileName, std::function<QString()> csv)
{
    auto *const dialog = new QFileDialog(
        parent, title, fileName,
        QCoreApplication::translate("exportCsv", "Comma-separated values (*.csv);;All files (*)"));
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setAcceptMode(QFileDialog::AcceptSave);
    dialog->setDefaultSuffix(QStringLiteral("csv"));
    QObject::connect(dialog, &QFileDialog::fileSelected, parent,
                     [parent, title, csv = std::move(csv)](const QString &path) {
                         if (const Result<void> written = writeFile(path, csv().toUtf8()); !written.ok())
                             QMessageBox::warning(parent, title, plain(written.error().message()));
                     });
    dialog->open();
}

} // namespace halftone::widgets
