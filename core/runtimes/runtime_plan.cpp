#include "core/runtimes/runtime_plan.h"

#include "core/dialect/dialect.h"
#include "core/kernels/buffer.h"
#include "core/runtimes/handed_model.h"
#include "core/runtimes/record.h"
#include "core/runtimes/refusal.h"
#include "core/runtimes/runtime_process.h"
#include "core/runtimes/steps.h"

#include <algorithm>
#include <utility>

namespace halftone::runtimes {
namespace {

using kernels::PlanPort;

class RuntimePlan final : public kernels::LatencyPlan
{
public:
    RuntimePlan(HandedModel handed, const infer::TypedModel &model, std::unique_ptr<RuntimeProcess> process,
                std::string kind, kernels::RuntimeFacts facts)
        : m_handed(std::move(handed))
        , m_model(model)
        , m_process(std::move(process))
        , m_kind(std::move(kind))
        , m_facts(std::move(facts))
    {
    }

    /// What is known before a run.
    Result<void> prepare()
    {
        for (const HandedInput &input : m_handed.inputs()) {
            HALFTONE_TRY(kernels::Buffer buffer, kernels::allocate(input.port.desc));
            std::fill_n(buffer.bytes, buffer.tensor.bytes().size(), std::byte{0});
            m_inputs.push_back(input.port);
            m_fed.push_back(std::move(buffer));
        }
        for (const graph::Entry &head : graph().heads())
            m_outputs.push_back({dialect::of(graph()).entryName(graph(), head),
                                 {m_model.types.of(head), m_model.shapes.of(head)}});
        return {};
    }

    /// Found when they are first asked for, which takes a recorded run; none where that fails, as timeSteps() then does.
    std::span<const kernels::PlanStep> steps() const override
    {
        if (m_rows.empty()) {
            const auto record = recorded(1, {});
            if (record.ok())
                m_rows = record.value().rows;
            m_steps = stepsOf(m_model, m_rows);
        }
        return m_steps;
    }
    std::span<const PlanPort> inputs() const override { return m_inputs; }
    std::span<const PlanPort> outputs() const override { return m_outputs; }
    std::span<std::byte> input(std::size_t k) override
    {
        return {m_fed[k].bytes, m_fed[k].tensor.bytes().size()};
    }
    std::span<const std::byte> output(std::size_t k) const override
    {
        return k < m_given.size() ? m_given[k] : std::span<const std::byte>();
    }

    Result<void> run(const Progress &progress) override
    {
        HALFTONE_TRY(m_answer, ask(request("run"), progress));
        m_lastRunMs = m_answer.head.value("ms", 0.0);
        return takeOutputs();
    }

    Result<std::vector<std::vector<double>>> timeSteps(std::size_t runs, const Progress &progress) override
    {
        HALFTONE_TRY(const Record record, recorded(runs, progress));
        steps();
        // Rows of another session of the same model: those of the same name belong together.
        std::vector<std::vector<double>> times(record.microseconds.size(),
                                               std::vector<double>(m_rows.size()));
        std::size_t k = 0;
        for (std::size_t row = 0; row < record.rows.size(); ++row) {
            const auto same
                = std::find_if(m_rows.begin() + static_cast<std::ptrdiff_t>(k), m_rows.end(),
                               [&](const RecordedRow &one) { return one.name == record.rows[row].name; });
            if (same == m_rows.end())
                continue;
            k = static_cast<std::size_t>(same - m_rows.begin());
            for (std::size_t run = 0; run < times.size(); ++run)
                times[run][k] = record.microseconds[run][row];
            ++k;
        }
        return times;
    }

    std::optional<double> lastRunMs() const override { return m_lastRunMs; }
    std::optional<std::size_t> arenaBytes() const override { return std::nullopt; }
    std::optional<std::size_t> constantBytes() const override { return std::nullopt; }
    std::optional<kernels::RuntimeFacts> runtime() const override { return m_facts; }

private:
    const graph::Graph &graph() const { return m_model.model.graph; }

    OrderedJson request(const char *what) const
    {
        OrderedJson head{{"do", what}, {"inputs", OrderedJson::array()}};
        for (std::size_t k = 0; k < m_inputs.size(); ++k) {
            const kernels::TensorDesc &desc = m_inputs[k].desc;
            const auto dims = desc.shape.dims();
            head["inputs"].push_back({{"name", m_handed.inputs()[k].value},
                                      {"dtype", tensor::nameOf(desc.dtype)},
                                      {"dims", std::vector<std::int64_t>(dims.begin(), dims.end())},
                                      {"bytes", m_fed[k].tensor.bytes().size()}});
        }
        return head;
    }

    Result<Message> ask(const OrderedJson &head, const Progress &progress) const
    {
        std::vector<std::span<const std::byte>> body;
        for (const kernels::Buffer &buffer : m_fed)
            body.push_back(buffer.tensor.bytes());
        HALFTONE_TRY(Message answer, m_process->ask(head, body, progress));
        if (const std::string words = textOf(answer.head, "error"); !words.empty())
            return refusal(Errc::BadInput, graph(), m_process->title(), words);
        return answer;
    }

    Result<Record> recorded(std::size_t runs, const Progress &progress) const
    {
        OrderedJson head = request("time");
        head["runs"] = runs;
        HALFTONE_TRY(const Message answer, ask(head, progress));
        return readRecord(m_kind, {reinterpret_cast<const char *>(answer.body.data()), answer.body.size()});
    }

    /// What the runtime says of outputs counts: it may compute shapes that are not known before.
    Result<void> takeOutputs()
    {
        m_given.clear();
        std::span<const std::byte> left = m_answer.body;
        const auto rows = m_answer.head.find("outputs");
        const std::size_t count = rows != m_answer.head.end() && rows->is_array() ? rows->size() : 0;
        if (count != m_outputs.size())
            return unsupported(m_process->title(), std::to_string(count) + " outputs",
                               std::to_string(m_outputs.size()));
        for (std::size_t k = 0; k < count; ++k) {
            const OrderedJson &row = (*rows)[k];
            const auto size = static_cast<std::size_t>(numberOf(row, "bytes"));
            kernels::TensorDesc &desc = m_outputs[k].desc;
            if (const auto type = tensor::dtypeNamed(textOf(row, "dtype"));
                type && *type != tensor::DType::Unknown)
                desc.dtype = *type;
            desc.shape = tensor::Shape(row.value("dims", std::vector<std::int64_t>()));
            const auto elements = desc.shape.elementCount();
            if (!elements || size > left.size()
                || static_cast<std::size_t>(*elements) * tensor::sizeOf(desc.dtype) != size)
                return unsupported(m_outputs[k].name,
                                   m_process->title() + " gives " + std::to_string(size) + " bytes of "
                                       + std::string(tensor::nameOf(desc.dtype)) + ' '
                                       + desc.shape.toString());
            m_given.push_back(left.first(size));
            left = left.subspan(size);
        }
        return {};
    }

    HandedModel m_handed;
    infer::TypedModel m_model;
    std::unique_ptr<RuntimeProcess> m_process;
    std::string m_kind;
    kernels::RuntimeFacts m_facts;
    std::vector<PlanPort> m_inputs;
    std::vector<kernels::Buffer> m_fed;
    std::vector<PlanPort> m_outputs;
    Message m_answer; ///< of the last run
    std::vector<std::span<const std::byte>> m_given; ///< outputs, in m_answer
    std::optional<double> m_lastRunMs;
    mutable std::vector<RecordedRow> m_rows; ///< a step each; empty: not found so far
    mutable std::vector<kernels::PlanStep> m_steps;
};

OrderedJson openRequest(const RuntimeSetting &setting, const HandedModel &handed)
{
    OrderedJson head{{"do", "open"},
                     {"model", handed.file()},
                     {"threads", setting.use.threads},
                     {"provider", setting.provider()}};
    if (setting.use.precision != tensor::DType::Unknown)
        head["precision"] = tensor::nameOf(setting.use.precision);
    return head;
}

} // namespace

std::string RuntimeSetting::title() const
{
    return std::string(kind->title) + (library.version.empty() ? "" : ' ' + library.version);
}

Result<std::unique_ptr<kernels::LatencyPlan>> makeRuntimePlan(const RuntimeSetting &setting,
                                                              const infer::TypedModel &model,
                                                              const kernels::PlanOptions &options)
{
    HALFTONE_TRY(HandedModel handed, HandedModel::make(model));
    HALFTONE_TRY(std::unique_ptr<RuntimeProcess> process,
                 RuntimeProcess::start(setting.kind->name, setting.title(), setting.library.file));
    HALFTONE_TRY(const Message opened, process->ask(openRequest(setting, handed)));
    if (const std::string words = textOf(opened.head, "error"); !words.empty())
        return refusal(Errc::Unsupported, model.model.graph, setting.title(), words);
    auto plan = std::make_unique<RuntimePlan>(
        std::move(handed), model, std::move(process), std::string(setting.kind->name),
        kernels::RuntimeFacts{std::string(setting.kind->title), textOf(opened.head, "version"),
                              setting.provider()});
    HALFTONE_CHECK(plan->prepare());
    if (options.beforeTiming)
        options.beforeTiming();
    if (options.feed)
        HALFTONE_CHECK(options.feed(*plan));
    return std::unique_ptr<kernels::LatencyPlan>(std::move(plan));
}

} // namespace halftone::runtimes
