#pragma once

#include "core/backends/cuda/gpu.h"
#include "core/backends/cuda/toolkit/driver_context.h"

#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace halftone::backends::cuda {

/// What lives on the device; each keeps its context.

class DriverModule final : public Module
{
public:
    DriverModule(std::shared_ptr<DriverContext> context, CUmodule module)
        : m_context(std::move(context))
        , m_module(module)
    {
    }
    DriverModule(const DriverModule &) = delete;
    DriverModule &operator=(const DriverModule &) = delete;
    ~DriverModule() override
    {
        if (m_context->enter().ok())
            m_context->calls().cuModuleUnload(m_module);
    }

    Result<void> find(const std::string &name)
    {
        return m_context->check(
            m_context->calls().cuModuleGetFunction(&m_functions[name], m_module, name.c_str()), name);
    }
    CUfunction function(const std::string &name) const
    {
        const auto found = m_functions.find(name);
        return found == m_functions.end() ? nullptr : found->second;
    }

private:
    std::shared_ptr<DriverContext> m_context;
    CUmodule m_module;
    std::unordered_map<std::string, CUfunction> m_functions;
};

class DriverRecording final : public Recording
{
public:
    DriverRecording(std::shared_ptr<DriverContext> context, CUgraphExec graph,
                    std::optional<std::size_t> kernels)
        : m_context(std::move(context))
        , m_graph(graph)
        , m_kernels(kernels)
    {
    }
    DriverRecording(const DriverRecording &) = delete;
    DriverRecording &operator=(const DriverRecording &) = delete;
    ~DriverRecording() override
    {
        if (m_context->enter().ok())
            m_context->calls().cuGraphExecDestroy(m_graph);
    }
    CUgraphExec graph() const { return m_graph; }
    std::optional<std::size_t> kernelCount() const override { return m_kernels; }

private:
    std::shared_ptr<DriverContext> m_context;
    CUgraphExec m_graph;
    std::optional<std::size_t> m_kernels;
};

class DriverTimer final : public Timer
{
public:
    explicit DriverTimer(std::shared_ptr<DriverContext> context)
        : m_context(std::move(context))
    {
    }
    DriverTimer(const DriverTimer &) = delete;
    DriverTimer &operator=(const DriverTimer &) = delete;
    ~DriverTimer() override
    {
        if (m_context->enter().ok())
            for (CUevent event : m_events)
                m_context->calls().cuEventDestroy(event);
    }

    Result<void> create(std::size_t marks)
    {
        for (std::size_t k = 0; k < marks; ++k) {
            CUevent event = nullptr;
            HALFTONE_CHECK(
                m_context->check(m_context->calls().cuEventCreate(&event, CU_EVENT_DEFAULT), "an event"));
            m_events.push_back(event);
        }
        return {};
    }
    Result<void> mark(std::size_t k) override
    {
        HALFTONE_CHECK(m_context->enter());
        return m_context->check(m_context->calls().cuEventRecord(m_events[k], m_context->stream()),
                                "an event");
    }
    Result<void> markRecorded(std::size_t k) override
    {
        if (m_context->calls().cuEventRecordWithFlags == nullptr)
            return unsupported("cuda", "the driver records no events");
        HALFTONE_CHECK(m_context->enter());
        return m_context->check(m_context->calls().cuEventRecordWithFlags(m_events[k], m_context->stream(),
                                                                          CU_EVENT_RECORD_EXTERNAL),
                                "an event");
    }
    Result<double> microseconds(std::size_t k) override
    {
        float milliseconds = 0;
        HALFTONE_CHECK(
            m_context->check(m_context->calls().cuEventSynchronize(m_events[k + 1]), "a step's end"));
        HALFTONE_CHECK(m_context->check(
            m_context->calls().cuEventElapsedTime(&milliseconds, m_events[k], m_events[k + 1]),
            "a step's time"));
        return 1000.0 * static_cast<double>(milliseconds);
    }

private:
    std::shared_ptr<DriverContext> m_context;
    std::vector<CUevent> m_events;
};

} // namespace halftone::backends::cuda
