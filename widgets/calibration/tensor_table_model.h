#pragma once

#include "core/calibration/chosen_thresholds.h"
#include "core/session/tensor_risk.h"
#include "core/walks/calibrate.h"

#include <QAbstractTableModel>

#include <memory>
#include <utility>
#include <vector>

namespace halftone::widgets {

/// Every calibrated tensor, in the network's order, with its threshold and what is at risk.
class TensorTableModel : public QAbstractTableModel
{
    Q_OBJECT

public:
    enum Column
    {
        Name,
        Risk, ///< in words; sorted by severity
        Method,
        Threshold,
        Sqnr, ///< dB, of int8 codes with the threshold
        MinMaxSqnr, ///< dB, of codes that clip nothing
        Clipped, ///< per cent of the finite values
        Overflow, ///< values that the target type cannot hold
        ColumnCount
    };
    enum Role
    {
        SortRole = Qt::UserRole, ///< a number or text; invalid where there is no figure
        StaleRole, ///< bool: of an earlier policy
        WarningRole, ///< bool: a rule is broken
        OwnRole ///< bool: the policy names this tensor
    };
    using Chosen = std::shared_ptr<const std::vector<calibration::ChosenThreshold>>;

    using QAbstractTableModel::QAbstractTableModel;

    static bool isNumber(int column) { return column >= Threshold; }

    /// Null: no rows.
    void setCalibration(std::shared_ptr<const walks::CalibrateOutcome> calibration);
    /// chosen  null: not known yet. stale: of an earlier policy than `policy`
    /// uses  of every tensor
    void setChosen(Chosen chosen, const policy::Policy &policy, std::vector<session::TensorUse> uses,
                   bool stale);

    bool isParameter(int row) const { return tensorAt(row).isParameter; }
    int rowCount(const QModelIndex &parent = {}) const override;
    int columnCount(const QModelIndex &parent = {}) const override;
    QVariant data(const QModelIndex &index, int role = Qt::DisplayRole) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override;

private:
    const calibration::CalibratedTensor &tensorAt(int row) const;
    const calibration::Threshold *thresholdAt(int row) const; ///< null: not known yet
    QVariant number(int row, int column) const; ///< invalid: none
    QString text(int row, int column) const;
    QString methodAt(int row) const;
    QString toolTip(int row, int column) const;
    std::pair<QString, QString> titleOf(int column) const; ///< and what it means

    std::shared_ptr<const walks::CalibrateOutcome> m_calibration;
    Chosen m_chosen;
    policy::Policy m_policy;
    std::vector<std::optional<double>> m_byChannel; ///< by row: SQNR in dB of weights written by channel
    std::vector<session::TensorUse> m_uses; ///< by row
    std::vector<session::TensorRisk> m_risks; ///< by row; empty: not known yet
    bool m_isStale = false;
};

} // namespace halftone::widgets
