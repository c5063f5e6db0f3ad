#pragma once

#include "app/focus_walk.h"
#include "app/panel_docks.h"
#include "app/settings.h"
#include "app/view_state.h"
#include "widgets/common/document_controller.h"

#include <QMainWindow>

#include <memory>
#include <optional>

namespace halftone::widgets {
class CalibrationPanel;
class GraphView;
struct ListPayload;
class OpListsPanel;
class TuneState;
} // namespace halftone::widgets

namespace halftone::app {

class BackendComparison;
class BookmarksMenu;
class Centre;
class DocumentFiles;
class ExportJob;
class HostsDialog;
class MessageLog;
class ModelBar;
class PreferencesDialog;
class RecentMenu;
class RecoveryBar;
class RunOnHosts;
class SourceWatch;
class StartPage;
class StatusLine;
class SuggestionBar;

/// The window, which only connects its parts: panels show and edit the document of the controller; jobs and files work on it too.
class MainWindow : public QMainWindow
{
    Q_OBJECT

public:
    enum class For
    {
        Person,
        Picture, ///< of the window after the first steps, without personal settings
    };

    explicit MainWindow(QWidget *parent = nullptr, For whom = For::Person);
    ~MainWindow() override;

    void open(const QString &path, const QString &params = {});
    void openSample(const std::optional<Sample> &sample = guidedSample());
    /// Reports that a side task failed; the open document is kept.
    void showError(const QString &what);
    /// Applies a policy file to the document that is open or opening.
    void applyPolicyWhenOpen(const QString &path);
    /// Likewise attaches data, instead of those of the session.
    void attachWhenOpen(const walks::ExampleOptions &examples);
    /// Shows "graph" or the panel with that name. false: no such view.
    bool showView(const QString &name);
    /// If nothing is selected, selects the node of a suggestion or the first operator.
    void selectSomething();
    /// True if nothing is being read, laid out or computed.
    bool isSettled() const;
    /// Why the last file could not be opened; empty if it was.
    const QString &failure() const { return m_failure; }

    widgets::TuneState &tune() { return *m_tune; }
    widgets::DocumentController &controller() { return m_controller; }
    LiveJobs &jobs() { return *m_jobs; }
    RunOnHosts &hosts() { return *m_hosts; }
    BackendComparison &backends() { return *m_backends; }
    BookmarksMenu &bookmarks() { return *m_bookmarks; }
    DocumentFiles &files() { return *m_files; }
    widgets::GraphView &graphView() { return *m_graph; }
    widgets::OpListsPanel &lists() { return *m_lists; }
    widgets::CalibrationPanel &calibration();
    const SuggestionBar &suggestionBar() const;
    const RecoveryBar &recoveryBar() const;
    const SourceWatch &source() const { return *m_source; }

protected:
    void closeEvent(QCloseEvent *event) override;
    void dragEnterEvent(QDragEnterEvent *event) override;
    void dropEvent(QDropEvent *event) override;
    void showEvent(QShowEvent *event) override;
    void keyPressEvent(QKeyEvent *event) override;
    bool focusNextPrevChild(bool next) override;

private:
    void buildCentre();
    void buildMenus();
    void buildFileMenu();
    void buildEditMenu();
    void buildViewMenu();
    void addLegendAction(QMenu *menu);
    void buildCameraActions(QMenu *menu);
    void buildGraphMenus(QMenu *menu);
    void buildThemeMenu(QMenu *menu);
    void buildModelMenu();
    void buildRunMenu();
    void buildHelpMenu();
    void buildBars();
    void connectDocument();
    void connectStartPage();
    void connectFiles();
    void connectGraph();
    void connectBars();
    void connectExport();
    void connectSource();

    QAction *add(QMenu *menu, const QString &text, const QKeySequence &keys, void (MainWindow::*slot)());
    QAction *addForDocument(QMenu *menu, const QString &text, const QKeySequence &keys,
                            void (MainWindow::*slot)());

    void chooseFile();
    void take(const QString &path);
    void save();
    void saveAs();
    void closeDocument();
    void reload();
    bool mayDiscardEdits(); ///< asks whether to save or discard unsaved edits
    bool saveTo(const QString &path);
    bool mayReplace(const QString &path); ///< asks if another program has saved the file meanwhile
    void showSource(); ///< shows changes of the model file
    void forgetWhenOpen(); ///< the policy and data for the next document
    void exportPicture();
    void attachData();
    void askForData(const std::optional<walks::ExampleOptions> &now);
    void showPreprocessing();
    bool mayReplaceData(); ///< asks if data other than drawn ones are attached
    void drawInputs();
    void measureLatency();
    void calibrate();
    void startTuning();
    widgets::ListPayload chosenNodes();
    void addMoves(QMenu *menu);
    void showDataError(const QString &what); ///< as showError(), until there are other data
    void stopJobs();
    void dismiss();
    void computeAgain();
    void compareBackends(); ///< asks for the backend
    void runOnHosts();
    void showPreferences();
    void showMemoryLimit(); ///< of them
    void takePreferences(PreferencesDialog &dialog);
    void showNodesMenu(const QPoint &place);

    void documentShown();
    void snapshotShown();
    void figuresShown();
    void opened(const ViewTexts &texts);
    void panelShown(const QString &name);
    void openFailed(const QString &path, const QString &why);
    void updateActions();
    void updateTitle();
    void log(const QString &text);
    ViewTexts viewTexts() const;
    void restoreView(const ViewState &state);

    For m_whom;
    Preferences m_preferences;
    widgets::DocumentController m_controller;
    LiveJobs *m_jobs = nullptr;
    DocumentFiles *m_files = nullptr;
    ExportJob *m_export = nullptr;
    RunOnHosts *m_hosts = nullptr;
    SourceWatch *m_source = nullptr;
    BackendComparison *m_backends = nullptr;
    HostsDialog *m_hostsDialog = nullptr; ///< null before it is first opened
    QString m_failure;
    QString m_failureOfData; ///< the last data error shown
    QString m_notSaved; ///< likewise
    QString m_notConverted; ///< likewise
    QString m_policyWhenOpen;
    std::optional<walks::ExampleOptions> m_dataWhenOpen;

    Centre *m_centre = nullptr;
    StartPage *m_start = nullptr; ///< inside it
    widgets::GraphView *m_graph = nullptr;
    widgets::ThresholdEditor *m_thresholds = nullptr;
    widgets::TuneState *m_tune = nullptr;
    std::unique_ptr<PanelDocks> m_docks; ///< destroyed before the controller that panels use
    widgets::OpListsPanel *m_lists = nullptr;
    MessageLog *m_log = nullptr;
    FocusWalk m_focusWalk;

    RecentMenu *m_recent = nullptr;
    BookmarksMenu *m_bookmarks = nullptr;
    QAction *m_open = nullptr;
    QAction *m_save = nullptr;
    QAction *m_undo = nullptr;
    QAction *m_redo = nullptr;
    QAction *m_stop = nullptr;
    QAction *m_castParams = nullptr;
    std::vector<QAction *> m_documentActions; ///< actions that need an open document
    ModelBar *m_modelBar = nullptr;
    StatusLine *m_statusLine = nullptr;
};

} // namespace halftone::app
