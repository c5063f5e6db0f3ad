#pragma once

#include "app/settings.h"
#include "app/suggestion.h"
#include "widgets/common/document_controller.h"

#include <QMainWindow>

#include <optional>

class QCheckBox;
class QComboBox;
class QLabel;
class QPlainTextEdit;
class QProgressBar;
class QStackedWidget;
class QToolButton;

namespace halftone::widgets {
class CalibrationPanel;
class ThresholdEditor;
class ErrorPlot;
class GraphView;
class InspectorPanel;
class LatencyPlot;
class LayersTable;
class OpListsPanel;
} // namespace halftone::widgets

namespace halftone::session {
struct ExportOptions;
}

namespace halftone::app {

class DocumentFiles;
class NoticeBar;
class StartPage;

/// The window: wiring only. Panels show the controller's document and edit through it; jobs and files work on it too.
class MainWindow : public QMainWindow
{
    Q_OBJECT

public:
    explicit MainWindow(QWidget *parent = nullptr);
    ~MainWindow() override;

    void open(const QString &path, const QString &params = {});
    void openSample();
    /// A policy file for the document that is open, or about to be.
    void applyPolicyWhenOpen(const QString &path);
    /// Data likewise, in place of what the session says.
    void attachWhenOpen(const session::ExampleOptions &examples);
    /// "graph", "lists", "layers", "calibration" or "latency": brings that panel to the front. false: no such view.
    bool showView(const QString &name);
    /// Chooses what a suggestion is about, else the first operator, if nothing is chosen.
    void chooseSomething();
    /// Nothing is being read, laid out or computed.
    bool isSettled() const;
    /// Why the last file did not open; empty when it did.
    const QString &failure() const { return m_failure; }

    widgets::DocumentController &controller() { return m_controller; }
    LiveJobs &jobs() { return *m_jobs; }
    DocumentFiles &files() { return *m_files; }
    widgets::GraphView &graphView() { return *m_graph; }
    widgets::OpListsPanel &lists() { return *m_lists; }
    widgets::CalibrationPanel &calibration() { return *m_calibration; }
    const NoticeBar &suggestionBar() const { return *m_suggestionBar; }

protected:
    void closeEvent(QCloseEvent *event) override;
    void dragEnterEvent(QDragEnterEvent *event) override;
    void dropEvent(QDropEvent *event) override;
    void showEvent(QShowEvent *event) override;
    void keyPressEvent(QKeyEvent *event) override;
    bool focusNextPrevChild(bool next) override;

private:
    static constexpr int kMessageMs = 6000; ///< so long a message covers the summary
    static constexpr int kLayoutVersion = 1; ///< of saved layouts: another set of docks is another version

    void buildPanels();
    void buildActions();
    void buildFileMenu();
    void buildEditMenu();
    void buildViewMenu();
    void buildModelMenu();
    void buildRunMenu();
    void buildHelpMenu();
    void buildToolBar();
    void buildStatusBar();
    void connectAll();
    void resetLayout();
    void sizeDocks();
    void showOrHide(QDockWidget *dock); ///< a page behind others comes to the front first
    void setDocksShown(bool shown); ///< hidden while nothing is open, since they would be empty
    void restoreLayout();
    std::vector<QWidget *> tabStops() const; ///< in the order of Tab
    int focusRank(const QWidget *widget) const;
    void goToPane(bool next);

    QAction *add(QMenu *menu, const QString &text, const QKeySequence &keys, void (MainWindow::*slot)());
    QDockWidget *addDock(const QString &title, const QString &name, QWidget *panel, Qt::DockWidgetArea area);

    void chooseFile();
    void save();
    void saveAs();
    void closeDocument();
    void reload();
    bool maySetAside(); ///< unsaved edits are saved or given up
    bool saveTo(const QString &path);
    void exportAll();
    void correctAndWrite(const std::shared_ptr<const session::Snapshot> &snapshot,
                         const session::ExportOptions &options);
    void write(const session::Snapshot &snapshot, const session::ExportOptions &options);
    void exportPicture();
    void attachData();
    void stopJobs();
    void showPreferences();
    void showGuidePage();
    void showShortcuts();
    void showAbout();
    void fillRecentMenu();
    void showNodesMenu(const QPoint &place);

    void documentShown();
    void snapshotShown();
    void updateActions();
    void updateTitle();
    void updateSummary();
    void updateSuggestion();
    void log(const QString &text);
    void logWarnings();
    std::map<std::string, std::string> viewState() const;
    void restoreViewState(const std::map<std::string, std::string> &state);

    Preferences m_preferences;
    widgets::DocumentController m_controller;
    LiveJobs *m_jobs = nullptr;
    DocumentFiles *m_files = nullptr;
    QString m_failure;
    QStringList m_logged; ///< the warnings of what is shown
    QString m_policyWhenOpen;
    std::optional<session::ExampleOptions> m_dataWhenOpen;
    widgets::LatestJob m_exporting;
    std::optional<Suggestion> m_suggestion;
    std::optional<QString> m_dismissed; ///< the suggestion that was closed, so that it does not come again

    QStackedWidget *m_pages = nullptr;
    StartPage *m_start = nullptr;
    NoticeBar *m_suggestionBar = nullptr;
    NoticeBar *m_noticeBar = nullptr;
    widgets::GraphView *m_graph = nullptr;
    widgets::OpListsPanel *m_lists = nullptr;
    widgets::InspectorPanel *m_inspector = nullptr;
    widgets::LayersTable *m_layers = nullptr;
    widgets::ErrorPlot *m_errorPlot = nullptr;
    widgets::LatencyPlot *m_latencyPlot = nullptr;
    widgets::ThresholdEditor *m_thresholds = nullptr;
    widgets::CalibrationPanel *m_calibration = nullptr;
    QPlainTextEdit *m_log = nullptr;
    std::vector<QDockWidget *> m_docks;
    std::vector<QAction *> m_dockActions; ///< of each
    QByteArray m_firstLayout;
    QByteArray m_openLayout; ///< as it was when the docks were hidden
    bool m_docksShown = true;
    bool m_sizesDocks = false; ///< once there is a window with its real size: no layout was saved

    QMenu *m_recentMenu = nullptr;
    QAction *m_open = nullptr;
    QAction *m_save = nullptr;
    QAction *m_undo = nullptr;
    QAction *m_redo = nullptr;
    QAction *m_cancel = nullptr;
    QAction *m_castParams = nullptr;
    std::vector<QAction *> m_documentActions; ///< that need an open document
    QComboBox *m_target = nullptr;
    QComboBox *m_mode = nullptr;
    QToolButton *m_data = nullptr;
    QCheckBox *m_liveErrors = nullptr;
    QCheckBox *m_liveLatency = nullptr;

    QLabel *m_summary = nullptr;
    QLabel *m_progressText = nullptr;
    QProgressBar *m_progress = nullptr;
    QToolButton *m_stop = nullptr;
};

} // namespace halftone::app
