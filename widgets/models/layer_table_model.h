#pragma once

#include "core/session/snapshot.h"

#include <QAbstractTableModel>

#include <memory>
#include <optional>
#include <vector>

namespace halftone::widgets {

/// Every operator of the source in graph order, with what conversion, comparison and measurement say of it. Parameters and
/// inputs have no row.
class LayerTableModel : public QAbstractTableModel
{
    Q_OBJECT

public:
    enum Column
    {
        Name,
        Operator,
        Precision, ///< from → to
        RanIn, ///< the type that a runtime ran it in
        Sqnr, ///< dB, of the whole conversion up to this layer
        IsolatedSqnr, ///< dB, of this layer alone
        RelativeL2,
        IsolatedRelativeL2,
        MaxAbs,
        IsolatedMaxAbs,
        Overflow, ///< infinite values where the source has finite ones
        Nan,
        Fp32Us,
        MixedUs,
        Casts, ///< inserted casts that it reads
        // Against the pinned state:
        BaselinePrecision,
        BaselineSqnr,
        SqnrChange, ///< now - then, dB: positive is better
        BaselineUs,
        UsChange, ///< now - then: negative is better
        CastsChange,
        // The source on two backends:
        BackendSqnr,
        BackendRelativeL2,
        BackendMaxAbs,
        ColumnCount
    };
    enum Role
    {
        SortRole = Qt::UserRole, ///< a number or text; invalid where there is no figure
        NodeRole, ///< graph::NodeId
        PrecisionRole, ///< tensor::DType as int, of Precision and BaselinePrecision
        StaleRole, ///< bool: the figure belongs to an earlier state
        WarningRole ///< bool: overflow or NaN
    };

    using QAbstractTableModel::QAbstractTableModel;

    static bool isBaselineColumn(int column) { return column >= BaselinePrecision && column < BackendSqnr; }
    static bool isBackendColumn(int column) { return column >= BackendSqnr; }
    static QString columnTitle(int column); ///< in full, for the chooser of columns
    static bool isNumber(int column);

    void setSnapshot(std::shared_ptr<const session::Snapshot> snapshot); ///< null: no rows
    void setFigures(const session::Figures &figures);

    const session::Snapshot *snapshot() const { return m_snapshot.get(); } ///< null: none
    const session::Figures &figures() const { return m_figures; }
    std::uint64_t version() const
    {
        return m_version;
    } ///< another one whenever snapshot or figures are others

    /// Keeps the present state to compare later ones with.
    void pinBaseline();
    void clearBaseline();
    bool hasBaseline() const { return m_baseline.has_value(); }
    bool hasRuntime() const ///< times of a runtime, which may choose types
    {
        return m_figures.latency && m_figures.latency->fp32.runtime.has_value();
    }
    bool hasBackends() const { return m_figures.backends != nullptr; } ///< figures of two backends

    graph::NodeId nodeAt(int row) const { return m_nodes[static_cast<std::size_t>(row)]; }
    int rowOf(graph::NodeId node) const; ///< -1 for variables
    bool isConstant(graph::NodeId node) const { return m_isConstant[node] != 0; } ///< it computes nothing
    int constantCount() const { return m_constants; }

    int rowCount(const QModelIndex &parent = {}) const override;
    int columnCount(const QModelIndex &parent = {}) const override;
    QVariant data(const QModelIndex &index, int role = Qt::DisplayRole) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override;

private:
    /// What is known of one layer in one state.
    struct State
    {
        tensor::DType precision = tensor::DType::Unknown;
        const session::NodeFigures *figures = nullptr; ///< null: none yet
        std::uint32_t casts = 0;
    };
    struct Baseline
    {
        std::shared_ptr<const session::Snapshot> snapshot;
        std::vector<session::NodeFigures> figures;
        std::vector<std::uint32_t> casts;
    };

    State now(graph::NodeId node) const;
    State then(graph::NodeId node) const;
    QVariant number(graph::NodeId node, int column) const; ///< double or quint64; invalid: none
    QString text(graph::NodeId node, int column) const;
    QString ranIn(graph::NodeId node) const; ///< "f16→f32"; empty: no runtime ran it
    bool isStale(int column) const;
    bool isWarning(graph::NodeId node, int column) const;
    QString toolTip(graph::NodeId node, int column) const;
    QString meaningOf(int column) const;
    void changed(int first, int last);

    std::shared_ptr<const session::Snapshot> m_snapshot;
    session::Figures m_figures;
    std::uint64_t m_version = 0;
    std::vector<graph::NodeId> m_nodes; ///< by row
    std::vector<int> m_rows; ///< by NodeId
    std::vector<char> m_isConstant; ///< by NodeId
    int m_constants = 0;
    std::vector<std::uint32_t> m_casts; ///< by NodeId
    std::optional<Baseline> m_baseline;
};

} // namespace halftone::widgets
