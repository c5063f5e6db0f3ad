#pragma once

#include "core/backends/cuda/gpu.h"

#include <dlfcn.h>

#include <QFile>
#include <QProcess>
#include <QTemporaryDir>

#include <algorithm>
#include <cstring>
#include <map>
#include <new>
#include <set>

namespace halftone::test {

/// This machine as a device: memory is memory, and the kernels that a plan would give to NVRTC are compiled by the C++ compiler
/// behind a header that says what a GPU's words mean here (host_device.inc). So every value that comes out was computed by the
/// generated source itself, with its launch parameters, barriers and shuffles. All kernels that are known when one is launched for
/// the first time are compiled at once.
class HostGpu : public backends::cuda::Gpu
{
public:
    using Kernel = void (*)(void *const *arguments, unsigned grid, unsigned block);

    explicit HostGpu(int arch = 90)
    {
        m_info = {.name = "this machine",
                  .arch = arch,
                  .multiprocessors = 1,
                  .clockMhz = 1000,
                  .memoryBytes = std::size_t{1} << 30U};
    }

    const backends::cuda::GpuInfo &info() const override { return m_info; }

    Result<backends::cuda::DeviceMemory> allocate(std::size_t bytes, const std::string &) override
    {
        constexpr std::align_val_t kAlignment{256};
        auto *const at = static_cast<std::byte *>(::operator new(bytes, kAlignment));
        std::memset(at, 0xA5, bytes); // nobody may count on what nobody wrote
        return backends::cuda::DeviceMemory(at,
                                            [](std::byte *memory) { ::operator delete(memory, kAlignment); });
    }
    Result<backends::cuda::DeviceMemory> allocateHost(std::size_t bytes, const std::string &what) override
    {
        return allocate(bytes, what);
    }
    Result<void> upload(std::byte *to, const std::byte *from, std::size_t bytes) override
    {
        return act([=] { std::memcpy(to, from, bytes); });
    }
    Result<void> download(std::byte *to, const std::byte *from, std::size_t bytes) override
    {
        return act([=] { std::memcpy(to, from, bytes); });
    }
    Result<void> synchronize() override { return {}; }

    Result<std::shared_ptr<backends::cuda::Module>>
    compile(std::span<const backends::cuda::KernelText> kernels) override
    {
        for (const backends::cuda::KernelText &kernel : kernels)
            m_texts.emplace(kernel.name, kernel);
        return std::make_shared<backends::cuda::Module>();
    }

    Result<void> launch(backends::cuda::Module &, const backends::cuda::LaunchOf &launch) override
    {
        const backends::cuda::KernelText kernel = *launch.kernel;
        std::vector<void *> arguments(launch.arguments.begin(), launch.arguments.end());
        ++launches;
        return act([this, kernel, arguments] {
            if (const Kernel function = functionOf(kernel.name))
                function(arguments.data(), kernel.grid, kernel.block);
        });
    }

    Result<void> beginRecording() override
    {
        m_isRecording = true;
        m_recorded.clear();
        return {};
    }
    Result<std::unique_ptr<backends::cuda::Recording>> endRecording() override
    {
        m_isRecording = false;
        auto recording = std::make_unique<Actions>();
        recording->actions = std::move(m_recorded);
        return std::unique_ptr<backends::cuda::Recording>(std::move(recording));
    }
    Result<void> replay(backends::cuda::Recording &recording) override
    {
        ++replays;
        for (const auto &action : dynamic_cast<Actions &>(recording).actions)
            action();
        return m_failure.isEmpty() ? Result<void>() : unsupported("host", m_failure.toStdString());
    }
    Result<std::unique_ptr<backends::cuda::Timer>> makeTimer(std::size_t) override
    {
        return std::unique_ptr<backends::cuda::Timer>(std::make_unique<NoTimer>());
    }

    /// Kernels asked for so far, by name.
    const std::map<std::string, backends::cuda::KernelText> &texts() const { return m_texts; }

    std::size_t launches = 0;
    std::size_t replays = 0;

protected:
    /// Done now, or when the recording is replayed.
    Result<void> act(std::function<void()> action)
    {
        if (m_isRecording)
            m_recorded.push_back(std::move(action));
        else
            action();
        return m_failure.isEmpty() ? Result<void>() : unsupported("host", m_failure.toStdString());
    }

private:
    struct Actions final : backends::cuda::Recording
    {
        std::vector<std::function<void()>> actions;
    };
    struct NoTimer final : backends::cuda::Timer
    {
        Result<void> mark(std::size_t) override { return {}; }
        Result<double> microseconds(std::size_t) override { return 1.0; }
    };

    Kernel functionOf(const std::string &name)
    {
        if (!m_functions.contains(name))
            compileAll();
        const auto found = m_functions.find(name);
        return found == m_functions.end() ? nullptr : found->second;
    }

    static std::string wrapperOf(const backends::cuda::KernelText &kernel)
    {
        const std::size_t open = kernel.text.find("__global__ void " + kernel.name + '(');
        const std::size_t close = kernel.text.find(")\n{", open);
        const std::string parameters = kernel.text.substr(open, close - open);
        std::string call;
        const auto count = 1 + std::ranges::count(parameters, ',');
        for (std::ptrdiff_t k = 0; k < count; ++k)
            call += (k == 0 ? "" : ", ") + std::string("argument(a[") + std::to_string(k) + "])";
        return "extern \"C\" void run_" + kernel.name
            + "(void *const *arguments, unsigned grid, unsigned block)\n{\n"
            + "    runGrid([](void *const *a) { " + kernel.name + "(" + call
            + "); }, arguments, grid, block, " + (kernel.isCooperative ? "true" : "false") + ");\n}\n";
    }

    void compileAll()
    {
        std::string source = "#include \"" HALFTONE_SOURCE_DIR "/tests/core/backends/cuda/host_device.inc\"\n"
                             "struct argument { void *at; explicit argument(void *p) : at(p) { } template "
                             "<class T> operator T *() "
                             "const { return (T *)at; } };\n";
        source += backends::cuda::prelude();
        std::vector<std::string> names;
        for (const auto &[name, kernel] : m_texts) {
            if (m_functions.contains(name))
                continue;
            names.push_back(name);
            source += kernel.text + wrapperOf(kernel);
        }
        const QString base = m_folder.filePath(QString::number(m_functions.size()));
        QFile file(base + ".cpp");
        if (!file.open(QIODevice::WriteOnly)
            || file.write(source.data(), static_cast<qint64>(source.size())) < 0)
            return fail("the kernels cannot be written");
        file.close();
        QProcess compiler;
        compiler.setProcessChannelMode(QProcess::MergedChannels);
        compiler.start(HALFTONE_CXX,
                       {"-std=c++20", "-O1", "-w", "-shared", "-fPIC", "-o", base + ".so", base + ".cpp"});
        if (!compiler.waitForFinished(300'000) || compiler.exitCode() != 0)
            return fail("the kernels do not compile: " + compiler.readAll().left(4000));
        void *const library = dlopen(qPrintable(base + ".so"), RTLD_NOW | RTLD_LOCAL);
        if (library == nullptr)
            return fail(dlerror());
        for (const std::string &name : names)
            m_functions[name] = reinterpret_cast<Kernel>(dlsym(library, ("run_" + name).c_str()));
    }

    void fail(const QString &why) { m_failure = why; }

    backends::cuda::GpuInfo m_info;
    std::map<std::string, backends::cuda::KernelText> m_texts;
    std::map<std::string, Kernel> m_functions;
    std::vector<std::function<void()>> m_recorded;
    QTemporaryDir m_folder;
    QString m_failure;
    bool m_isRecording = false;
};

} // namespace halftone::test
