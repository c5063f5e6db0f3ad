#include "app/runtime/engine.h"
#include "app/runtime/ort_calls.h"

#include <array>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <functional>
#include <sstream>
#include <utility>

namespace halftone::served {
namespace {

using tensor::DType;

/// By number of an element type.
constexpr std::array kTypes{DType::Unknown, DType::F32,  DType::U8,       DType::I8,      DType::U16,
                            DType::I16,     DType::I32,  DType::I64,      DType::Unknown, DType::Bool,
                            DType::F16,     DType::F64,  DType::U32,      DType::U64,     DType::Unknown,
                            DType::Unknown, DType::BF16, DType::F8E4M3FN, DType::Unknown, DType::F8E5M2};

constexpr int kErrorsOnly = 3; ///< severity of what is logged
constexpr int kDeviceAllocator = 0;
constexpr int kDefaultMemory = 0;
constexpr std::string_view kProviderEnding = "ExecutionProvider";

int numberOf(DType type)
{
    for (std::size_t k = 1; k < kTypes.size(); ++k)
        if (kTypes[k] == type)
            return static_cast<int>(k);
    return 0;
}

/// Something of the runtime's that is released at the end.
template <class T>
using Owned = std::unique_ptr<T, std::function<void(T *)>>;

class OrtEngine final : public Engine
{
public:
    explicit OrtEngine(const ort::ApiBase &base)
        : m_version(base.versionString())
        , m_api(base.getApi(ort::kApiVersion))
    {
    }

    Result<void> start()
    {
        HALFTONE_CHECK(isNewEnough());
        HALFTONE_CHECK(done(ort::createEnv(m_api, kErrorsOnly, "halftone", &m_env)));
        HALFTONE_CHECK(done(ort::createCpuMemory(m_api, kDeviceAllocator, kDefaultMemory, &m_memory)));
        return done(ort::defaultAllocator(m_api, &m_allocator));
    }

    std::string version() const override { return m_version; }

    Result<std::vector<std::string>> providers() override
    {
        char **names = nullptr;
        int count = 0;
        HALFTONE_CHECK(done(ort::availableProviders(m_api, &names, &count)));
        std::vector<std::string> all(names, names + count);
        HALFTONE_CHECK(done(ort::releaseProviders(m_api, names, count)));
        return all;
    }

    Result<void> open(const OpenRequest &request) override
    {
        m_request = request;
        HALFTONE_TRY(m_session, session({}));
        std::size_t count = 0;
        HALFTONE_CHECK(done(ort::outputCount(m_api, m_session.get(), &count)));
        for (std::size_t k = 0; k < count; ++k) {
            char *name = nullptr;
            HALFTONE_CHECK(done(ort::outputName(m_api, m_session.get(), k, m_allocator, &name)));
            m_outputs.emplace_back(name);
            HALFTONE_CHECK(done(ort::freeMemory(m_api, m_allocator, name)));
        }
        return {};
    }

    Result<Run> run(std::span<const Value> inputs) override { return runIn(m_session.get(), inputs); }

    Result<std::string> record(std::span<const Value> inputs, std::size_t runs) override
    {
        HALFTONE_TRY(const Owned<ort::Session> recorded, session(m_request.model + ".record"));
        for (std::size_t k = 0; k <= runs; ++k)
            HALFTONE_CHECK(runIn(recorded.get(), inputs));
        char *name = nullptr;
        HALFTONE_CHECK(done(ort::endProfiling(m_api, recorded.get(), m_allocator, &name)));
        const std::string path(name);
        HALFTONE_CHECK(done(ort::freeMemory(m_api, m_allocator, name)));
        std::stringstream text;
        text << std::ifstream(path).rdbuf();
        std::remove(path.c_str());
        return text.str();
    }

private:
    template <class T, class Release>
    Owned<T> held(T *object, const Release &release) const
    {
        return Owned<T>(object, [api = m_api, &release](T *one) { release(api, one); });
    }

    Result<void> done(ort::Status *status) const
    {
        if (status == nullptr)
            return {};
        const std::string words = ort::errorMessage(m_api, status);
        ort::releaseStatus(m_api, status);
        return unsupported({}, words);
    }

    Result<void> isNewEnough() const
    {
        int major = 0;
        int minor = 0;
        std::istringstream text(m_version);
        char dot = 0;
        text >> major >> dot >> minor;
        if (m_api != nullptr && std::pair(major, minor) >= std::pair(1, 20))
            return {};
        return unsupported({}, "version " + m_version, "1.20 or later");
    }

    /// record  prefix of the file that it records its runs in; empty: it records nothing
    Result<Owned<ort::Session>> session(const std::string &record) const
    {
        ort::Options *made = nullptr;
        HALFTONE_CHECK(done(ort::createOptions(m_api, &made)));
        const auto options = held(made, ort::releaseOptions);
        HALFTONE_CHECK(done(ort::setIntraOpThreads(m_api, made, m_request.threads)));
        HALFTONE_CHECK(done(ort::setInterOpThreads(m_api, made, 1)));
        if (!record.empty())
            HALFTONE_CHECK(done(ort::enableProfiling(m_api, made, record.c_str())));
        HALFTONE_CHECK(addProvider(made));
        ort::Session *opened = nullptr;
        HALFTONE_CHECK(done(ort::createSession(m_api, m_env, m_request.model.c_str(), made, &opened)));
        return held(opened, ort::releaseSession);
    }

    Result<void> addProvider(ort::Options *options) const
    {
        std::string name = m_request.provider;
        if (name.empty() || name == "CPUExecutionProvider")
            return {};
        if (name == "CUDAExecutionProvider") {
            ort::CudaOptions *cuda = nullptr;
            HALFTONE_CHECK(done(ort::createCudaOptions(m_api, &cuda)));
            const auto owned = held(cuda, ort::releaseCudaOptions);
            return done(ort::appendCuda(m_api, options, cuda));
        }
        if (name.ends_with(kProviderEnding))
            name.resize(name.size() - kProviderEnding.size());
        return done(ort::appendProvider(m_api, options, name.c_str(), nullptr, nullptr, std::size_t{0}));
    }

    Result<Run> runIn(ort::Session *session, std::span<const Value> inputs)
    {
        std::vector<Owned<ort::Value>> owned;
        std::vector<const ort::Value *> fed;
        std::vector<const char *> names;
        for (const Value &input : inputs) {
            ort::Value *made = nullptr;
            HALFTONE_CHECK(done(ort::createTensor(
                m_api, m_memory, const_cast<std::byte *>(input.bytes.data()), input.bytes.size(),
                input.dims.data(), input.dims.size(), numberOf(input.type), &made)));
            owned.push_back(held(made, ort::releaseValue));
            fed.push_back(made);
            names.push_back(input.name.c_str());
        }
        std::vector<const char *> wanted;
        for (const std::string &name : m_outputs)
            wanted.push_back(name.c_str());
        std::vector<ort::Value *> given(wanted.size(), nullptr);
        const auto begin = std::chrono::steady_clock::now();
        HALFTONE_CHECK(done(ort::run(m_api, session, nullptr, names.data(), fed.data(), fed.size(),
                                     wanted.data(), wanted.size(), given.data())));
        const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
        m_given.clear();
        for (ort::Value *value : given)
            m_given.push_back(held(value, ort::releaseValue));
        Run run{took.count(), {}};
        for (const auto &value : m_given) {
            HALFTONE_TRY(Value read, readOut(value.get()));
            run.outputs.push_back(std::move(read));
        }
        return run;
    }

    Result<Value> readOut(ort::Value *value) const
    {
        ort::TypeAndShape *made = nullptr;
        HALFTONE_CHECK(done(ort::typeAndShape(m_api, value, &made)));
        const auto facts = held(made, ort::releaseTypeAndShape);
        int number = 0;
        std::size_t rank = 0;
        HALFTONE_CHECK(done(ort::elementType(m_api, made, &number)));
        HALFTONE_CHECK(done(ort::dimensionCount(m_api, made, &rank)));
        Value out;
        out.dims.resize(rank);
        HALFTONE_CHECK(done(ort::dimensions(m_api, made, out.dims.data(), rank)));
        out.type = number > 0 && number < static_cast<int>(kTypes.size())
            ? kTypes[static_cast<std::size_t>(number)]
            : DType::Unknown;
        if (out.type == DType::Unknown)
            return unsupported({}, "an output of element type " + std::to_string(number));
        std::size_t bytes = tensor::sizeOf(out.type);
        for (const std::int64_t extent : out.dims)
            bytes *= static_cast<std::size_t>(extent);
        void *data = nullptr;
        HALFTONE_CHECK(done(ort::tensorData(m_api, value, &data)));
        out.bytes = {static_cast<const std::byte *>(data), bytes};
        return out;
    }

    std::string m_version;
    const void *const *m_api; ///< null: the library is older than the version that is asked for
    ort::Env *m_env = nullptr; ///< as long as the process
    ort::Memory *m_memory = nullptr;
    ort::Allocator *m_allocator = nullptr;
    OpenRequest m_request;
    Owned<ort::Session> m_session;
    std::vector<std::string> m_outputs;
    std::vector<Owned<ort::Value>> m_given; ///< by the last run
};

} // namespace

Result<std::unique_ptr<Engine>> loadOrt(const std::string &library)
{
    HALFTONE_TRY(const Library loaded, Library::load(library));
    using Base = const ort::ApiBase *();
    auto *const base = reinterpret_cast<Base *>(loaded.find("OrtGetApiBase"));
    if (base == nullptr)
        return unsupported({}, "the library has no OrtGetApiBase");
    auto engine = std::make_unique<OrtEngine>(*base());
    HALFTONE_CHECK(engine->start());
    return std::unique_ptr<Engine>(std::move(engine));
}

} // namespace halftone::served
