#pragma once

#include "core/base/result.h"
#include "core/tensor/dtype.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// halftone-runtime: a process that holds one runtime's library, and does what core/runtimes asks of it (core/runtimes/message.h). It may
/// crash or hang there.
namespace halftone::served {

/// A tensor that goes in or comes out.
struct Value
{
    std::string name; ///< of an input
    tensor::DType type = tensor::DType::Unknown; ///< of an output: Unknown where the runtime is not asked
    std::vector<std::int64_t> dims;
    std::span<const std::byte> bytes; ///< of an output: good until the next call
};

struct OpenRequest
{
    std::string model; ///< path
    int threads = 1;
    std::string provider; ///< "CPUExecutionProvider", "CPU"
    tensor::DType precision = tensor::DType::Unknown; ///< Unknown: the runtime's default
};

struct Run
{
    double milliseconds = 0; ///< of the computation alone
    std::vector<Value> outputs; ///< in the model's order
};

/// A runtime's library. Errors are its own words (`found`); code Unsupported.
class Engine
{
public:
    virtual ~Engine() = default;

    virtual std::string version() const = 0;
    virtual Result<std::vector<std::string>> providers() = 0;
    virtual Result<void> open(const OpenRequest &request) = 0;
    /// Needs: open()
    virtual Result<Run> run(std::span<const Value> inputs) = 0;
    /// One run to warm up and then `runs` more, which the runtime records. returns  its record, as text in JSON
    /// Needs: open()
    virtual Result<std::string> record(std::span<const Value> inputs, std::size_t runs) = 0;
};

/// fails: Unsupported for an unknown kind (RuntimeKind::name), and a library that cannot be loaded or is too old
Result<std::unique_ptr<Engine>> loadEngine(std::string_view kind, const std::string &library);

Result<std::unique_ptr<Engine>> loadOrt(const std::string &library);
Result<std::unique_ptr<Engine>> loadOpenvino(const std::string &library);

/// The functions of a library that stays loaded. fails: Unsupported in the loader's words
class Library
{
public:
    static Result<Library> load(const std::string &file);
    /// Null: the library has none of that name.
    void *find(const char *name) const;

private:
    void *m_handle = nullptr;
};

} // namespace halftone::served
