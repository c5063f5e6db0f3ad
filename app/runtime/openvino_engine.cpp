#include "app/runtime/engine.h"
#include "app/runtime/openvino_calls.h"
#include "core/base/json.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <memory>
#include <utility>

namespace halftone::served {
namespace {

template <class T>
using Released = std::unique_ptr<T, void (*)(T *)>;

template <class Function>
Result<void> find(const Library &library, const char *name, Function &function)
{
    function = reinterpret_cast<Function>(library.find(name));
    return function != nullptr ? Result<void>() : unsupported({}, std::string("the library has no ") + name);
}

Result<ov::Calls> callsOf(const Library &library)
{
    ov::Calls calls;
#define HALFTONE_FIND(name) HALFTONE_CHECK(find(library, #name, calls.name))
    HALFTONE_FIND(ov_get_openvino_version);
    HALFTONE_FIND(ov_version_free);
    HALFTONE_FIND(ov_get_last_err_msg);
    HALFTONE_FIND(ov_core_create);
    HALFTONE_FIND(ov_core_get_available_devices);
    HALFTONE_FIND(ov_available_devices_free);
    HALFTONE_FIND(ov_core_read_model);
    HALFTONE_FIND(ov_model_free);
    HALFTONE_FIND(ov_model_outputs_size);
    HALFTONE_FIND(ov_core_compile_model);
    HALFTONE_FIND(ov_compiled_model_free);
    HALFTONE_FIND(ov_compiled_model_create_infer_request);
    HALFTONE_FIND(ov_infer_request_free);
    HALFTONE_FIND(ov_infer_request_get_tensor);
    HALFTONE_FIND(ov_infer_request_get_output_tensor_by_index);
    HALFTONE_FIND(ov_infer_request_infer);
    HALFTONE_FIND(ov_infer_request_get_profiling_info);
    HALFTONE_FIND(ov_profiling_info_list_free);
    HALFTONE_FIND(ov_tensor_free);
    HALFTONE_FIND(ov_tensor_get_byte_size);
    HALFTONE_FIND(ov_tensor_get_shape);
    HALFTONE_FIND(ov_shape_free);
    HALFTONE_FIND(ov_tensor_data);
#undef HALFTONE_FIND
    return calls;
}

/// What INFERENCE_PRECISION_HINT calls it.
const char *precisionName(tensor::DType type)
{
    return type == tensor::DType::F16 ? "f16" : type == tensor::DType::BF16 ? "bf16" : "f32";
}

/// A model that was compiled, and the request that runs it.
struct Compiled
{
    Released<ov::Compiled> model;
    Released<ov::Request> request;
};

class OpenvinoEngine final : public Engine
{
public:
    explicit OpenvinoEngine(const ov::Calls &calls)
        : m_calls(calls)
    {
    }

    Result<void> start()
    {
        ov::Version version{};
        HALFTONE_CHECK(done(m_calls.ov_get_openvino_version(&version)));
        const std::string number = version.number == nullptr ? "" : version.number;
        m_version = number.substr(0, number.find('-'));
        m_calls.ov_version_free(&version);
        return done(m_calls.ov_core_create(&m_core));
    }

    std::string version() const override { return m_version; }

    Result<std::vector<std::string>> providers() override
    {
        ov::Devices devices{};
        HALFTONE_CHECK(done(m_calls.ov_core_get_available_devices(m_core, &devices)));
        std::vector<std::string> names(devices.names, devices.names + devices.size);
        m_calls.ov_available_devices_free(&devices);
        return names;
    }

    Result<void> open(const OpenRequest &request) override
    {
        m_request = request;
        ov::Model *read = nullptr;
        HALFTONE_CHECK(done(m_calls.ov_core_read_model(m_core, request.model.c_str(), nullptr, &read)));
        m_model = Released<ov::Model>(read, m_calls.ov_model_free);
        HALFTONE_CHECK(done(m_calls.ov_model_outputs_size(read, &m_outputs)));
        HALFTONE_TRY(Compiled plain, compiled(false));
        m_plain = std::make_unique<Compiled>(std::move(plain));
        return {};
    }

    Result<Run> run(std::span<const Value> inputs) override
    {
        HALFTONE_CHECK(feed(*m_plain, inputs));
        const auto begin = std::chrono::steady_clock::now();
        HALFTONE_CHECK(done(m_calls.ov_infer_request_infer(m_plain->request.get())));
        const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
        Run run{took.count(), {}};
        m_given.clear();
        for (std::size_t k = 0; k < m_outputs; ++k) {
            HALFTONE_TRY(Value value, readOut(k));
            run.outputs.push_back(std::move(value));
        }
        return run;
    }

    Result<std::string> record(std::span<const Value> inputs, std::size_t runs) override
    {
        if (!m_recorded) {
            HALFTONE_TRY(Compiled recorded, compiled(true));
            m_recorded = std::make_unique<Compiled>(std::move(recorded));
        }
        HALFTONE_CHECK(feed(*m_recorded, inputs));
        auto all = OrderedJson::array();
        for (std::size_t k = 0; k <= runs; ++k) {
            HALFTONE_CHECK(done(m_calls.ov_infer_request_infer(m_recorded->request.get())));
            HALFTONE_TRY(OrderedJson rows, profiled());
            if (k > 0)
                all.push_back(std::move(rows));
        }
        return jsonText(all);
    }

private:
    Result<void> done(ov::Status status) const
    {
        if (status == 0)
            return {};
        const char *const words = m_calls.ov_get_last_err_msg();
        return unsupported({},
                           words != nullptr && *words != '\0'
                               ? words
                               : "error " + std::to_string(status) + " of its interface");
    }

    Result<Compiled> compiled(bool isRecorded) const
    {
        const std::string threads = std::to_string(m_request.threads);
        std::vector<const char *> properties;
        const auto set = [&properties](const char *key, const char *value) {
            properties.push_back(key);
            properties.push_back(value);
        };
        if (m_request.provider.starts_with("CPU"))
            set("INFERENCE_NUM_THREADS", threads.c_str());
        if (m_request.precision != tensor::DType::Unknown)
            set("INFERENCE_PRECISION_HINT", precisionName(m_request.precision));
        if (isRecorded)
            set("PERF_COUNT", "YES");
        const std::size_t count = properties.size();
        properties.resize(6, nullptr); // as many as are passed on below; those beyond the count are not read
        const std::vector<const char *> &p = properties;
        ov::Compiled *made = nullptr;
        HALFTONE_CHECK(done(m_calls.ov_core_compile_model(m_core, m_model.get(), m_request.provider.c_str(),
                                                          count, &made, p[0], p[1], p[2], p[3], p[4], p[5])));
        Released<ov::Compiled> model(made, m_calls.ov_compiled_model_free);
        ov::Request *request = nullptr;
        HALFTONE_CHECK(done(m_calls.ov_compiled_model_create_infer_request(made, &request)));
        return Compiled{std::move(model), Released<ov::Request>(request, m_calls.ov_infer_request_free)};
    }

    Result<std::span<std::byte>> bytesOf(const ov::Tensor *tensor) const
    {
        std::size_t size = 0;
        void *data = nullptr;
        HALFTONE_CHECK(done(m_calls.ov_tensor_get_byte_size(tensor, &size)));
        if (size > 0)
            HALFTONE_CHECK(done(m_calls.ov_tensor_data(tensor, &data)));
        return std::span(static_cast<std::byte *>(data), size);
    }

    Result<void> feed(const Compiled &to, std::span<const Value> inputs) const
    {
        for (const Value &input : inputs) {
            ov::Tensor *found = nullptr;
            HALFTONE_CHECK(
                done(m_calls.ov_infer_request_get_tensor(to.request.get(), input.name.c_str(), &found)));
            const Released<ov::Tensor> tensor(found, m_calls.ov_tensor_free);
            HALFTONE_TRY(const std::span<std::byte> bytes, bytesOf(found));
            if (bytes.size() != input.bytes.size())
                return unsupported({},
                                   "input " + input.name + " takes " + std::to_string(bytes.size())
                                       + " bytes, not " + std::to_string(input.bytes.size()));
            std::ranges::copy(input.bytes, bytes.begin());
        }
        return {};
    }

    Result<Value> readOut(std::size_t k)
    {
        ov::Tensor *found = nullptr;
        HALFTONE_CHECK(
            done(m_calls.ov_infer_request_get_output_tensor_by_index(m_plain->request.get(), k, &found)));
        m_given.emplace_back(found, m_calls.ov_tensor_free);
        ov::Shape shape{};
        HALFTONE_CHECK(done(m_calls.ov_tensor_get_shape(found, &shape)));
        Value value;
        value.dims.assign(shape.dims, shape.dims + shape.rank);
        m_calls.ov_shape_free(&shape);
        HALFTONE_TRY(value.bytes, bytesOf(found));
        return value;
    }

    /// Rows of the last run: what was executed, in that order.
    Result<OrderedJson> profiled() const
    {
        ov::ProfiledList list{};
        HALFTONE_CHECK(done(m_calls.ov_infer_request_get_profiling_info(m_recorded->request.get(), &list)));
        auto rows = OrderedJson::array();
        constexpr int kExecuted = 2;
        for (const ov::Profiled &row : std::span(list.rows, list.size))
            if (row.status == kExecuted)
                rows.push_back({{"name", row.node},
                                {"type", row.type},
                                {"execution", row.execution},
                                {"us", row.microseconds}});
        m_calls.ov_profiling_info_list_free(&list);
        return rows;
    }

    ov::Calls m_calls;
    std::string m_version;
    ov::Core *m_core = nullptr; ///< as long as the process
    OpenRequest m_request;
    Released<ov::Model> m_model{nullptr, nullptr};
    std::size_t m_outputs = 0;
    std::unique_ptr<Compiled> m_plain;
    std::unique_ptr<Compiled> m_recorded;
    std::vector<Released<ov::Tensor>> m_given; ///< by the last run
};

} // namespace

Result<std::unique_ptr<Engine>> loadOpenvino(const std::string &library)
{
    HALFTONE_TRY(const Library loaded, Library::load(library));
    HALFTONE_TRY(const ov::Calls calls, callsOf(loaded));
    auto engine = std::make_unique<OpenvinoEngine>(calls);
    HALFTONE_CHECK(engine->start());
    return std::unique_ptr<Engine>(std::move(engine));
}

} // namespace halftone::served
