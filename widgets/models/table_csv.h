#pragma once

#include <QString>

#include <functional>

class QAbstractItemModel;
class QWidget;

namespace halftone::widgets {

/// How a table is written as comma-separated values.
struct CsvForm
{
    int columns = 0; ///< the first so many
    int valueRole = 0; ///< of numbers; invalid where there is none
    bool (*isNumber)(int column) = nullptr;
    int digits = 17; ///< significant ones
    int without = -1; ///< a column of these that is left out; -1: none
};

/// The header and the rows in their order, RFC 4180.
QString tableCsv(const QAbstractItemModel &table, const CsvForm &form);

/// Asks where to and writes what `csv` gives then; a failure is told in a box. Returns at once.
void exportCsv(QWidget *parent, const QString &title, const QString &fileName, std::function<QString()> csv);

} // namespace halftone::widgets
