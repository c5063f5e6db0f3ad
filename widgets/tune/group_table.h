#pragma once

#include "widgets/models/tune_state.h"

#include <QAbstractTableModel>

namespace halftone::widgets {

/// The groups of a search, one a row: what each computes in at the selected point and at the one that it is compared with, and what
/// lowering it gains, costs and converts.
class GroupTable : public QAbstractTableModel
{
    Q_OBJECT

public:
    enum Column
    {
        Name,
        Here, ///< at the selected point
        Other, ///< at the one before
        Gain, ///< ms that lowering saves
        Loss, ///< dB that it alone leaves at the outputs
        Casts, ///< links to groups of another label at the selected point
        ColumnCount
    };
    static constexpr int kSortRole = Qt::UserRole;

    explicit GroupTable(TuneState *state, QObject *parent = nullptr);

    bool differs(int row) const; ///< between the two selected points
    std::size_t groupAt(int row) const { return m_groups[static_cast<std::size_t>(row)]; }
    int rowCount(const QModelIndex &parent = {}) const override;
    int columnCount(const QModelIndex &parent = {}) const override;
    QVariant data(const QModelIndex &index, int role = Qt::DisplayRole) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override;

private:
    void refresh();
    void told();
    const tune::Labels *labelsOf(const std::optional<std::size_t> &place) const;
    QString labelText(const tune::Labels *labels, std::size_t group) const;
    QString toolTip(std::size_t group) const;
    std::optional<double> figure(std::size_t group, int column) const;

    TuneState *m_state;
    std::vector<std::size_t> m_groups; ///< those that the search decides for
};

} // namespace halftone::widgets
