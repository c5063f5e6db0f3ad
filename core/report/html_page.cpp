#include "core/report/html_page.h"

#include "core/base/markup.h"
#include "core/mixed/node_arithmetic.h"
#include "core/report/html_plot.h"
#include "core/report/precision_colours.h"
#include "core/rewrite/nested_conversions.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <map>
#include <string_view>
#include <unordered_map>

namespace halftone::report {
namespace {

using Names = std::map<std::string, std::size_t>;

constexpr std::string_view kLight = "--ink:#1b1b1b;--faint:#666;--line:#d4d6da;--ground:#fff;--soft:#f5f6f8";
constexpr std::string_view kDark
    = "--ink:#e4e4e4;--faint:#9a9da3;--line:#3c3f45;--ground:#1c1e21;--soft:#25272b";
constexpr std::string_view kRules = R"(
body{font:14px/1.45 system-ui,sans-serif;color:var(--ink);background:var(--ground);margin:0 auto;max-width:1200px;padding:24px}
h1{font-size:22px;margin:0 0 4px}h2{font-size:16px;margin:32px 0 8px}.faint{color:var(--faint)}
table{border-collapse:collapse;font-variant-numeric:tabular-nums}th,td{padding:3px 10px;text-align:left;border-bottom:1px solid var(--line)}
th{position:sticky;top:0;background:var(--soft);font-weight:600}td.n,th.n{text-align:right}.scroll{overflow:auto;max-height:70vh;border:1px solid var(--line)}
.facts{display:flex;flex-wrap:wrap;gap:8px 32px;margin:16px 0}.facts b{display:block;font-size:18px;font-weight:600}
.badge{font:600 11px/1 ui-monospace,monospace;padding:2px 4px;border-radius:3px;border:1px solid currentColor}
.float32{color:var(--f32)}.float16{color:var(--f16)}.bfloat16{color:var(--b16)}.int8,.uint8{color:var(--i8)}.bad{font-weight:600}
svg{max-width:100%;height:auto}td{overflow-wrap:anywhere;max-width:420px}a{color:inherit}nav a{margin-right:16px}
.graph text{font-family:Arial,"Liberation Sans",Helvetica,sans-serif;letter-spacing:-.02em}
tr:target{background:var(--soft);outline:2px solid var(--first)}th.sorts{cursor:pointer}
)";

/// Sorts a table by the column whose heading is clicked or pressed, by number where the cells have one, and once more the other way round.
constexpr std::string_view kSorting = R"(<script>
for (const table of document.querySelectorAll("table.sortable")) {
  const heads = [...table.rows[0].cells];
  const value = cell => {
    const text = cell.textContent.trim();
    const number = parseFloat(text.replace("∞", "Infinity").replace(/^[×±]/, "").replace(/(\d),(?=\d)/g, "$1"));
    return Number.isNaN(number) ? text.toLowerCase() : number;
  };
  const sort = head => {
    const up = head.ariaSort !== "ascending", at = head.cellIndex;
    const compare = (a, b) => typeof a === typeof b ? (a < b ? -1 : a > b ? 1 : 0) : typeof a === "number" ? -1 : 1;
    const rows = [...table.rows].slice(1).map(row => [value(row.cells[at]), row]);
    rows.sort((a, b) => up ? compare(a[0], b[0]) : compare(b[0], a[0]));
    for (const row of rows) row[1].parentNode.append(row[1]);
    for (const other of heads) other.ariaSort = null;
    head.ariaSort = up ? "ascending" : "descending";
  };
  for (const head of heads) {
    head.classList.add("sorts");
    head.tabIndex = 0;
    head.onclick = () => sort(head);
    head.onkeydown = event => { if (event.key === "Enter") sort(head); };
  }
}
</script>
)";

/// Precisions as variables, "--f16:#D55E00"; uint8 has int8's. Figures have --first and --second.
std::string colourVariables(bool onDark)
{
    std::string text;
    for (const PrecisionColours &colours : precisionColours()) {
        if (colours.type != tensor::DType::U8)
            text += std::string(";--") + colours.badge + ':' + (onDark ? colours.onDark : colours.onLight);
    }
    for (const char *name = "first"; const SeriesColours &colours : kSeriesColours) {
        text += std::string(";--") + name + ':' + (onDark ? colours.onDark : colours.onLight);
        name = "second";
    }
    return text;
}

std::string style()
{
    return "\n:root{color-scheme:light dark;" + std::string(kLight) + colourVariables(false)
        + "}\n@media(prefers-color-scheme:dark){:root{" + std::string(kDark) + colourVariables(true) + "}}"
        + std::string(kRules);
}

std::string number(double value, const char *format)
{
    std::array<char, 48> text{};
    std::snprintf(text.data(), text.size(), format, value);
    return text.data();
}

std::string decibels(double value)
{
    if (std::isnan(value))
        return "failed";
    return std::isinf(value) ? (value > 0 ? "∞" : "failed") : number(value, "%.1f");
}

/// Collects the page piece by piece.
class Page
{
public:
    explicit Page(const PageContent &content)
        : m_content(content)
        , m_source(*content.source)
        , m_converted(*content.converted)
    {
        rewrite::forConversions(m_source, m_converted.conversion,
                                [this](const graph::Graph &of, const rewrite::Conversion &made) {
                                    for (graph::NodeId id = 0; id < of.nodeCount(); ++id) {
                                        if (of.isVariable(id))
                                            continue;
                                        const tensor::DType type = made.precisionOf(id);
                                        ++m_operators;
                                        if (type == m_converted.policy.target)
                                            ++m_lowered;
                                        else if (isInt8(type))
                                            ++m_inInt8;
                                    }
                                });
        for (graph::NodeId id = 0; id < m_source.nodeCount(); ++id)
            if (!m_source.isVariable(id))
                m_nodes.emplace(m_source.node(id).name, id);
    }

    std::string write()
    {
        m_html = "<!doctype html>\n<html lang=\"en\"><meta charset=\"utf-8\"><meta name=\"viewport\" "
                 "content=\"width=device-width\"><title>"
            + markupText(m_content.title) + "</title><style>" + style() + "</style>\n<h1>"
            + markupText(m_content.title) + "</h1><p class=\"faint\">" + headline() + "</p>\n";
        if (!m_content.made.empty())
            m_html += "<p class=\"faint\">" + markupText(m_content.made) + "</p>\n";
        const std::size_t top = m_html.size();
        facts();
        if (m_converted.chip)
            chip(*m_converted.chip);
        graph();
        lists();
        errors();
        latency();
        front();
        layers();
        m_html.insert(top, "<nav>" + m_links + "</nav>\n");
        m_html += std::string(kSorting) + "</html>\n";
        return std::move(m_html);
    }

private:
    void section(const std::string &title)
    {
        const std::string id = "s" + std::to_string(++m_sections);
        m_links += "<a href=\"#" + id + "\">" + markupText(title) + "</a>";
        m_html += "<span id=\"" + id + "\"></span><h2>" + markupText(title) + "</h2>\n";
    }

    static bool isInt8(tensor::DType type) { return type == tensor::DType::I8 || type == tensor::DType::U8; }

    /// What the model is now. Where it is int8, the target is that of the other operators.
    std::string headline() const
    {
        const std::string name(nameOf(target()));
        if (m_inInt8 == 0)
            return "Mixed precision, target " + name;
        return m_lowered == 0 ? "Quantized to int8"
                              : "Quantized to int8; target of the other operators: " + name;
    }

    /// Of a node's row in the table of layers; empty: it has none.
    std::string rowOf(const std::string &node) const
    {
        const auto found = m_nodes.find(node);
        return found == m_nodes.end() ? std::string() : "#l" + std::to_string(found->second);
    }

    std::string nodeLink(const std::string &node) const
    {
        const std::string row = rowOf(node);
        return row.empty() ? markupText(node) : "<a href=\"" + row + "\">" + markupText(node) + "</a>";
    }

    /// Where the limit of the first layer below it comes from (compare::CompareSettings::threshold).
    std::string reasonOf(double threshold) const
    {
        constexpr double kDecibelsPerBit = 6.0206; // 20 log10(2)
        constexpr int kInt8Bits = 8;
        int least = 24;
        tensor::DType narrowest = tensor::DType::F32;
        for (const compare::LayerErrors &layer : m_content.comparison->layers) {
            const int bits = isInt8(layer.dtype)   ? kInt8Bits
                : tensor::fitsFloat32(layer.dtype) ? tensor::rangeOf(layer.dtype).significantBits
                                                   : least;
            if (bits < least) {
                least = bits;
                narrowest = layer.dtype;
            }
        }
        if (std::abs(threshold - kDecibelsPerBit * least / 2) > 0.01)
            return "the limit given";
        const tensor::DType asked = narrowest == m_converted.policy.target ? target() : narrowest;
        return "half of the " + std::to_string(least) + " significant bits of " + std::string(nameOf(asked))
            + ", 6.02 dB each";
    }
    void fact(const std::string &value, const std::string &what)
    {
        m_html += "<div><b>" + markupText(value) + "</b>" + markupText(what) + "</div>";
    }
    void missing(const std::string &what) { m_html += "<p class=\"faint\">" + markupText(what) + "</p>\n"; }

    /// What was asked for: of a format for analysis the conversion knows float16 only.
    tensor::DType target() const
    {
        return m_converted.policy.analysedFormat.value_or(m_converted.policy.target);
    }
    tensor::DType precisionOf(graph::NodeId id) const
    {
        const tensor::DType type = m_converted.conversion.precisionOf(id);
        return type == m_converted.policy.target ? target() : type;
    }

    void facts()
    {
        const rewrite::CastCounts casts = rewrite::castTotals(m_converted.conversion);
        m_html += "<div class=\"facts\">";
        const std::string all = " of " + std::to_string(m_operators);
        if (m_inInt8 > 0)
            fact(std::to_string(m_inInt8) + all, "operators in int8");
        if (m_inInt8 == 0 || m_lowered > 0)
            fact(std::to_string(m_lowered) + all, "operators in " + std::string(nameOf(target())));
        fact(std::to_string(casts.casts + casts.multicasts), "casts");
        if (casts.quantizes + casts.dequantizes > 0)
            fact(std::to_string(casts.quantizes + casts.dequantizes), "conversions from and to int8");
        if (m_content.score)
            fact(m_content.score->second, m_content.score->first + " on " + examples());
        if (m_content.versus)
            fact("×" + number(m_content.versus->ratio, "%.2f"),
                 "of float32's time, 95 % between " + number(m_content.versus->ci95[0], "%.2f") + " and "
                     + number(m_content.versus->ci95[1], "%.2f"));
        m_html += "</div>\n";
    }

    /// "100 examples", "the first 8 of 100 examples" while a comparison runs.
    std::string examples() const
    {
        const std::string some = std::to_string(m_content.examples);
        return m_content.expected > m_content.examples
            ? "the first " + some + " of " + std::to_string(m_content.expected) + " examples"
            : some + (m_content.examples == 1 ? " example" : " examples");
    }

    /// By whose rates the warnings and times are told.
    void chip(const hardware::Description &chip)
    {
        const tensor::DType target = m_converted.policy.target;
        section("Chip");
        m_html += "<p>" + markupText(chip.name) + ", " + markupText(chip.title)
            + "</p>\n<table><tr><th>unit<th>" + std::string(nameOf(target))
            + "<th class=n>rate<th class=n>measured\n";
        for (const hardware::Unit unit : hardware::kAllUnits) {
            const auto found = chip.measuredSpeed(unit, target);
            m_html += "<tr><td>" + std::string(nameOf(unit)) + "<td>"
                + std::string(nameOf(chip.support(unit, target))) + "<td class=n>×"
                + number(chip.rate(unit, target), "%g") + "<td class=n>"
                + (found ? "×" + number(*found, "%.2f") : std::string()) + '\n';
        }
        m_html += "</table>\n";
        if (!chip.note.empty())
            m_html += "<p>" + markupText(chip.note) + "</p>\n";
        for (const policy::Warning &warning : m_converted.warnings)
            if (warning.entry == "hardware")
                m_html += "<p>" + markupText(warning.text) + "</p>\n";
    }

    void graph()
    {
        section("Graph");
        if (m_content.graphSvg.empty())
            missing("No picture of the graph.");
        else
            m_html += "<div class=\"scroll graph\">" + m_content.graphSvg + "</div>\n";
    }

    /// The model's operators by what decided for them.
    void lists()
    {
        section("Lists");
        std::map<std::string, Names> byRule;
        for (graph::NodeId id = 0; id < m_source.nodeCount(); ++id) {
            if (!m_source.isVariable(id))
                ++byRule[std::string(policy::nameOf(m_converted.assignment.rule(id)))][m_source.node(id).op];
        }
        m_html += "<table class=sortable><tr><th>decided by<th>operators\n";
        for (const auto &[rule, ops] : byRule) {
            m_html += "<tr><td>" + markupText(rule) + "<td>";
            for (bool first = true; const auto &[op, count] : ops) {
                m_html += (first ? "" : ", ") + markupText(op) + "&nbsp;" + std::to_string(count);
                first = false;
            }
            m_html += '\n';
        }
        m_html += "</table>\n";
    }

    void errors()
    {
        section("Error by layer");
        if (!m_content.comparison) {
            missing("Not compared: " + m_content.whyNotCompared + '.');
            return;
        }
        std::vector<Mark> marks;
        for (const compare::LayerErrors &layer : m_content.comparison->layers)
            if (layer.output == 0 && layer.cumulative)
                marks.push_back({m_source.node(layer.node).name, layer.cumulative->sqnrDb,
                                 rowOf(m_source.node(layer.node).name)});
        m_html += linePlot(marks, "SQNR in dB (higher is better)");
        m_html += "<p>Computed " + markupText(m_content.arithmetic)
            + (m_content.examples > 0 ? " over " + examples() : std::string())
            + (m_content.expected > m_content.examples ? "; the comparison was still running" : "")
            + ".</p>\n";
        if (m_content.comparison->firstDivergence) {
            const auto &first = m_content.comparison->layers[*m_content.comparison->firstDivergence];
            m_html += "<p>First layer below " + number(m_content.comparison->threshold, "%.1f dB") + " ("
                + reasonOf(m_content.comparison->threshold) + "): <b>"
                + nodeLink(m_source.node(first.node).name) + "</b></p>\n";
        }
    }

    void latency()
    {
        section("Latency");
        if (!m_content.fp32) {
            missing("Not measured.");
            return;
        }
        if (m_content.mixed && m_content.versus)
            timesInTurns(*m_content.versus);
        else
            timesAlone();
        if (isDisturbed())
            missing("The machine was busy: these times are unreliable.");
        if (!m_content.mixed)
            missing("The target type is emulated on this machine, so times would be meaningless.");
        std::vector<Bar> bars;
        for (const latency::LayerLatency &layer :
             (m_content.mixed ? m_content.mixed : m_content.fp32)->layers)
            bars.push_back({layer.step.nodes.empty() ? std::string(kernels::nameOf(layer.step.kind))
                                                     : layer.step.nodes.back(),
                            layer.medianUs, std::string(nameOf(layer.step.dtype)),
                            layer.step.nodes.empty() ? std::string() : rowOf(layer.step.nodes.back())});
        m_html += barPlot(bars, "µs, slowest steps first", 24);
    }

    bool isDisturbed() const
    {
        return latency::isDisturbed(*m_content.fp32)
            || (m_content.mixed && latency::isDisturbed(*m_content.mixed))
            || (m_content.versus && m_content.versus->isDisturbed);
    }

    /// Both of the pairs of runs that gave the quotient: medians measured apart would contradict it.
    void timesInTurns(const latency::Versus &versus)
    {
        m_html += "<table><tr><th><th class=n>median ms, alternating runs<th class=n>casts and reorders µs\n";
        const auto row = [&](const char *what, double medianMs, double castsUs) {
            m_html += std::string("<tr><td>") + what + "<td class=n>" + number(medianMs, "%.3f")
                + "<td class=n>" + number(castsUs, "%.1f") + '\n';
        };
        row("float32", versus.medianMs, m_content.fp32->castsUs);
        row("mixed", versus.medianMs * versus.ratio, m_content.mixed->castsUs);
        m_html += "</table>\n";
    }

    void timesAlone()
    {
        m_html += "<table><tr><th><th class=n>median ms<th class=n>min ms<th class=n>p95 ms<th class=n>casts "
                  "and reorders µs\n";
        latencyRow("float32", *m_content.fp32);
        if (m_content.mixed)
            latencyRow("mixed", *m_content.mixed);
        m_html += "</table>\n";
    }

    /// The plane of a search, and why each group is as the policy has it.
    void front()
    {
        const auto &reasons = m_converted.policy.reasons;
        if (m_content.front) {
            const FrontFigures &front = *m_content.front;
            section("Error against time");
            m_html += frontPlot(front, reasons) + frontTable(front, reasons);
            m_html += "<p class=\"faint\">" + std::to_string(front.evaluations) + " models measured in "
                + number(front.seconds, "%.1f s") + "; hollow: predicted (correction ×"
                + number(front.kappa, "%.2f")
                + ": measured errors against the sum of the groups' own).</p>\n";
        }
        if (reasons.empty())
            return;
        section("Why each layer has its type");
        m_html += "<div class=\"scroll\"><table class=sortable><tr><th>layer<th>as found by the search\n";
        for (const auto &[node, reason] : reasons)
            m_html += "<tr><td>" + nodeLink(node) + "<td>" + markupText(reason) + '\n';
        m_html += "</table></div>\n";
    }

    void latencyRow(const std::string &what, const latency::Latency &latency)
    {
        m_html += "<tr><td>" + what + "<td class=n>" + number(latency.medianMs, "%.3f") + "<td class=n>"
            + number(latency.minMs, "%.3f") + "<td class=n>" + number(latency.p95Ms, "%.3f") + "<td class=n>"
            + number(latency.castsUs, "%.1f") + '\n';
    }

    void layers()
    {
        section("Layers");
        std::vector<const compare::LayerErrors *> byNode(m_source.nodeCount());
        if (m_content.comparison)
            for (const compare::LayerErrors &layer : m_content.comparison->layers)
                if (layer.output == 0)
                    byNode[layer.node] = &layer;
        m_html += "<div class=\"scroll\"><table class=sortable><tr><th>name<th>operator<th>computes<th>sums "
                  "in<th>gives<th>shape<th>because<th "
                  "class=n>SQNR dB<th class=n>isolated dB<th class=n>max abs<th class=n>overflow<th "
                  "class=n>NaN\n";
        const std::vector<mixed::NodeArithmetic> arithmetic = mixed::arithmeticOf(m_source, m_converted);
        for (graph::NodeId id = 0; id < m_source.nodeCount(); ++id)
            if (!m_source.isVariable(id))
                layerRow(id, arithmetic[id], byNode[id]);
        m_html += "</table></div>\n";
    }

    /// What needs no unit adds nothing up.
    void layerRow(graph::NodeId id, const mixed::NodeArithmetic &arithmetic,
                  const compare::LayerErrors *errors)
    {
        const graph::NodeDef &node = m_source.node(id);
        const std::string type(nameOf(precisionOf(id)));
        m_html += "<tr id=l" + std::to_string(id) + "><td>" + markupText(node.name) + "<td>"
            + markupText(node.op) + "<td><span class=\"badge " + type + "\">" + type + "</span><td>"
            + (arithmetic.unit ? typeText(arithmetic.accumulate) : std::string()) + "<td>"
            + typeText(arithmetic.output) + "<td>"
            + markupText(m_content.shapes ? m_content.shapes->of({id, 0, 0}).toString() : "?") + "<td>"
            + markupText(m_converted.assignment.entry(id)) + "<td class=n>";
        const tensor::ErrorFigures *const all = errors && errors->cumulative ? &*errors->cumulative : nullptr;
        m_html += (all ? decibels(all->sqnrDb) : "") + "<td class=n>"
            + (errors && errors->isolated ? decibels(errors->isolated->sqnrDb) : "") + "<td class=n>"
            + (all ? number(all->maxAbs, "%.3g") : "") + count(all ? all->overflow : 0)
            + count(all ? all->nan : 0) + '\n';
    }

    static std::string typeText(tensor::DType type)
    {
        return type == tensor::DType::Unknown ? std::string() : std::string(tensor::nameOf(type));
    }

    static std::string count(std::uint64_t value)
    {
        return value == 0 ? "<td class=n>0" : "<td class=\"n bad\">" + std::to_string(value);
    }

    const PageContent &m_content;
    const graph::Graph &m_source;
    const mixed::ConvertedModel &m_converted;
    std::unordered_map<std::string, graph::NodeId> m_nodes; ///< operators by name
    std::size_t m_operators = 0; ///< with those of bodies
    std::size_t m_lowered = 0; ///< of them in the target type
    std::size_t m_inInt8 = 0;
    std::size_t m_sections = 0;
    std::string m_links; ///< to the sections
    std::string m_html;
};

} // namespace

std::string htmlPage(const PageContent &content)
{
    return Page(content).write();
}

} // namespace halftone::report
