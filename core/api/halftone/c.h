#ifndef HALFTONE_C_H
#define HALFTONE_C_H

#include <stddef.h>
#include <stdint.h>

/*
 * The library in C, for other languages: libhalftone.so exports these functions and nothing else.
 *
 * Handles. A handle is immutable once made, except ht_data while arrays are added; any number of threads may use one at the same time.
 * The receiver of a handle frees it with its ..._free(); NULL is allowed there. A handle keeps what it was made of: a model may be freed
 * before its conversions.
 *
 * Errors. A function that can fail returns an ht_kind: HT_OK, or what went wrong. If `error` is not NULL, *error then receives a record to
 * be freed with ht_error_free(), and NULL after success. Results are only written after success. Nothing throws.
 *
 * Texts are UTF-8 and end with a zero byte. Those returned through `char **` are freed with ht_free().
 *
 * Settings are a JSON object, or NULL for the defaults. Their keys are the long options of the command of halftone-cli that does the same,
 * with "_" for "-" ("fp32_op" for --fp32-op): options that may be repeated take an array, flags take true or false, NAME=VALUE an object
 * {name: value}. A flag with a "no-" form is one key: "keep_io_types": false is --no-keep-io-types. An unknown key is HT_BAD_CALL, and
 * ht_error::setting names the key that is wrong.
 *
 * Results are the JSON documents of halftone-cli's --json, from the same writers; app/README.md, "Commands", lists their keys. Numbers that
 * JSON lacks are the strings "inf", "-inf" and "nan"; what was not computed is null.
 *
 * Wherever backend is a setting, so is precision ("f32", "f16", "bf16"): the type to compute in, for a runtime that chooses it itself.
 */

#ifdef __cplusplus
extern "C"
{
#endif

#if defined(__GNUC__)
#define HT_API __attribute__((visibility("default")))
#else
#define HT_API
#endif

    typedef enum ht_kind
    {
        HT_OK = 0,
        HT_BAD_INPUT = 1, /* a file or a value in it is wrong */
        HT_BAD_CALL = 2, /* the request is invalid */
        HT_UNSUPPORTED = 3, /* valid, but not supported by this build or machine */
        HT_NO_MEMORY = 4, /* not enough memory or threads */
        HT_CANCELLED = 5 /* the progress callback stopped it */
    } ht_kind;

    /* Why a call failed. No text is NULL; one that does not apply is empty. */
    typedef struct ht_error
    {
        ht_kind kind;
        const char *message; /* everything on one line, ready to show */
        const char *file; /* the file concerned */
        const char *setting; /* the setting concerned: a key, or a phrase such as "fp32 operator" */
        const char *place; /* in the file or setting: an offset, a JSON path, a node or an array */
        const char *found; /* what was found */
        const char *expected; /* what was expected, or what to do */
    } ht_error;

    /* A dense array in row-major order. */
    typedef struct ht_array
    {
        const char *name;
        const char *
            type; /* NumPy's name, e.g. "float32"; also "bfloat16", "float8_e4m3fn", "float8_e5m2", and one value per byte: "int4",
                         "uint4", "int2", "uint2", "float4e2m1" */
        int32_t rank; /* 0: a scalar */
        const int64_t *shape; /* `rank` lengths */
        const void *data; /* any alignment */
        size_t bytes; /* elements times element size */
    } ht_array;

    /* Called on the calling thread, several times a second, with the completed share (0 to 1) and the current step. A result other than 0 stops
   the call, which then returns HT_CANCELLED, usually within a tenth of a second. NULL: none. */
    typedef int (*ht_progress)(double share, const char *what, void *user);

    typedef struct ht_model ht_model; /* a graph and its parameters */
    typedef struct ht_data ht_data; /* examples for a model */
    typedef struct ht_runner ht_runner; /* a model prepared to run often */
    typedef struct ht_values ht_values; /* arrays that a run gave */
    typedef struct ht_conversion ht_conversion; /* a converted or quantized model */
    typedef struct ht_calibration ht_calibration; /* statistics and thresholds of all tensors */
    typedef struct ht_front ht_front; /* the result of a search */

    HT_API const char *ht_version(void); /* e.g. "0.1.0" */
    HT_API void ht_free(void *text_or_bytes);
    HT_API void ht_error_free(ht_error *error);

    /* ---- Models ---- */

    /* Reads an ONNX file or an MXNet symbol. settings: params (path), no_params, shape {input: [lengths]}. */
    HT_API ht_kind ht_model_open(const char *path, const char *settings, ht_model **model, ht_error **error);

    /* Reads the bytes of such a file, which are not needed afterwards. External data is looked for beside `path`, which errors name; NULL: the
   model has no folder. settings: shape, for an MXNet symbol also params. */
    HT_API ht_kind ht_model_read(const void *bytes, size_t size, const char *path, const char *settings,
                                 ht_model **model, ht_error **error);

    /* What ht_model_save() would write into one file: {…}.onnx with all weights inside. fails: HT_UNSUPPORTED for a model that needs two files
   (MXNet with parameters, more than 2 GB). Free *bytes with ht_free(). */
    HT_API ht_kind ht_model_bytes(const ht_model *model, void **bytes, size_t *size, ht_error **error);

    /* Writes P.onnx, or P-symbol.json and P-0000.params: whole or not at all, never over a file that the model was read from. settings:
   external_data. *json: {"written": [paths]}; `json` may be NULL. */
    HT_API ht_kind ht_model_save(const ht_model *model, const char *out, const char *settings, char **json,
                                 ht_error **error);

    /* As `info --json`: format, inputs [name, shape, dtype], outputs [name, shape, …], nodes, ops, units, params {count, elements, bytes,
   dtypes}, notes; of an ONNX model also ir_version, opset, producer, metadata, functions, subgraph_nodes, unknown_ops, computed_shapes,
   subgraph_params, external_data, quantized. */
    HT_API ht_kind ht_model_info(const ht_model *model, char **json, ht_error **error);

    /* The nodes in the order of the file, main graph only: [{name, op, inputs [names of values], outputs [names of values]}]. */
    HT_API ht_kind ht_model_nodes(const ht_model *model, char **json, ht_error **error);

    /* The picture of the graph as the window draws it, as SVG; with a conversion of this model, coloured by precision. `conversion` may be NULL.
   settings: fold ("auto", "none"; default: "none"), all_nodes. */
    HT_API ht_kind ht_model_svg(const ht_model *model, const ht_conversion *conversion, const char *settings,
                                ht_progress progress, void *user, char **svg, ht_error **error);
    /* Where that picture has the nodes, as `layout --json`. Settings as above, but fold is "auto" by default, as in the command. */
    HT_API ht_kind ht_model_layout(const ht_model *model, const char *settings, ht_progress progress,
                                   void *user, char **json, ht_error **error);
    HT_API void ht_model_free(ht_model *model);

    /* ---- Examples ---- */

    /* Examples in files. settings: inputs (an .npz file or a folder of pictures; required), preprocess, labels, examples (number), targets,
   metric ("top1", "top5", "miou", "psnr", "cosine", "perplexity"), next_token (the input whose next token is right). The files are read when the data is used. */
    HT_API ht_kind ht_data_open(const char *settings, ht_data **data, ht_error **error);

    /* Gives the next arrays for ht_data_pull(): sets *arrays and *count, valid until the next call, and returns 1; returns 0 at the end, and
   anything else to stop with HT_CANCELLED. */
    typedef int (*ht_next)(const ht_array **arrays, size_t *count, void *user);

    /* Examples in memory. The arrays are named by the inputs of the model; "labels" holds the correct classes (one integer per example) and
   "targets" the expected first output, if the model has no input of that name. Each call of `next` gives one batch, whose arrays have an
   axis of examples first; batches are joined along it, and arrays of one call that has no successor are taken as they are. All arrays are
   copied. settings: examples, metric, next_token. */
    HT_API ht_kind ht_data_pull(ht_next next, void *user, const char *settings, ht_data **data,
                                ht_error **error);

    /* The same for one batch, without a copy: the arrays must stay unchanged until `release` was called (once, from any thread; NULL: for the
   life of the process). After an error `release` is not called. */
    HT_API ht_kind ht_data_borrow(const ht_array *arrays, size_t count, const char *settings,
                                  void (*release)(void *user), void *user, ht_data **data, ht_error **error);
    HT_API void ht_data_free(ht_data *data);

    /* ---- Runs ---- */

    /* Prepares a model. settings: backend (default "cpu"), threads (0: one per core), outputs ("heads": the outputs; "all": every node's value,
   as NODE or NODE:k; or an array of such names), accumulate, random_params (seed). fails: HT_UNSUPPORTED for an operator without a kernel. */
    HT_API ht_kind ht_runner_new(const ht_model *model, const char *settings, ht_runner **runner,
                                 ht_error **error);

    /* Runs it once. The inputs are only read during the call. Threads may run one runner at the same time. */
    HT_API ht_kind ht_runner_run(const ht_runner *runner, const ht_array *inputs, size_t count,
                                 ht_progress progress, void *user, ht_values **values, ht_error **error);
    HT_API void ht_runner_free(ht_runner *runner);

    /* Runs a model over examples, batches joined. settings: as ht_runner_new(), and batch. *json, which may be NULL, is `run --json`: backend,
   seconds, batches, kernels, outputs [name, shape, dtype], accuracy {top1, top5, examples}, task. */
    HT_API ht_kind ht_run(const ht_model *model, const ht_data *data, const char *settings,
                          ht_progress progress, void *user, ht_values **values, char **json,
                          ht_error **error);

    HT_API size_t ht_values_count(const ht_values *values);
    /* Array `k`, below the count. Everything in it belongs to the values, and is valid until ht_values_free(). */
    HT_API const ht_array *ht_values_array(const ht_values *values, size_t k);
    HT_API void ht_values_free(ht_values *values);

    /* ---- Conversions ---- */

    /*
 * Converts to mixed precision. `data` may be NULL: it serves to calibrate int8 operators.
 * settings, of the policy: policy (the path of a policy file, or an object with its keys: target_dtype, fp32_ops, …; app/README.md, "Policy"),
 *   target, mode ("typed", "mxnet", "tvm", "all"), hardware, accumulate, optimise, lists, target_op [], fp32_op [], widest_op [],
 *   neutral_op [], int8_op [], conditional ["OP:ATTR=V1,V2"], exclude [], override {node: type}, input {name: type}, cast_params,
 *   keep_io_types, clamp, share, weights ["uint4/32", "NODE=FORMAT"], weight_method ("rtn", "mse"), weight_form ("nbits", "qdq"), strict
 * settings, others: opset (number), table (path of a calibration table), calib ("minmax", "entropy", "percentile", "mse", "output"),
 *   percentile, correct_biases, backend, threads, batch, for_compare (the result is only compared, so that target may be float8_e4m3fn,
 *   float8_e5m2, tf32 or posit16)
 * fails: HT_BAD_INPUT for an operator that no operator is named like; HT_BAD_CALL
 */
    HT_API ht_kind ht_convert(const ht_model *model, const ht_data *data, const char *settings,
                              ht_progress progress, void *user, ht_conversion **conversion, ht_error **error);

    /*
 * Quantizes to int8, with ranges from `data` or a calibration; one of them may be NULL, or both, where the form finds ranges at run time.
 * settings: form ("qdq", "qoperator"; MXNet: "onednn", "plain"), dtype ("int8", "uint8", "auto"), calib ("none", "naive", "entropy",
 *   "percentile", "mse", "output"), percentile, mode ("smart", "full"), granularity ("tensor", "channel"), levels, table, hardware,
 *   exclude [], exclude_op [], int8_op [], correct_biases, backend, threads, batch; weights [], weight_method (also "gptq", which needs
 *   `data`) and weight_form as in ht_convert(): weights alone are stored as codes
 */
    HT_API ht_kind ht_quantize(const ht_model *model, const ht_data *data, const ht_calibration *calibration,
                               const char *settings, ht_progress progress, void *user,
                               ht_conversion **conversion, ht_error **error);

    /* As `convert --json` or `quantize --json`, but for "written". */
    HT_API ht_kind ht_conversion_report(const ht_conversion *conversion, char **json, ht_error **error);
    /* The policy, as the text of a policy file. fails: HT_BAD_CALL for a result of ht_quantize() */
    HT_API ht_kind ht_conversion_policy(const ht_conversion *conversion, char **json, ht_error **error);
    /* The converted model, as a new handle. */
    HT_API ht_kind ht_conversion_model(const ht_conversion *conversion, ht_model **model, ht_error **error);
    HT_API void ht_conversion_free(ht_conversion *conversion);

    /* Which types operators compute in, as `verify --json`: operators, flops, bytes, types {}, casts, target, requested, differences [node, op,
   requested, computes, entry, why], nodes [name, op, computes], warnings; with a runtime: runtime. Differences are no error. settings: those of a
   policy, backend (a runtime whose types are told), precision. */
    HT_API ht_kind ht_verify(const ht_model *model, const char *settings, ht_progress progress, void *user,
                             char **json, ht_error **error);

    /* A policy from the lists of another program, as `policy --json`: from, policy, unmatched, notes, written (null). from: "onnxconverter",
   "modelopt", "tensorflow", "tvm"; lists: JSON, Python or a command line. */
    HT_API ht_kind ht_policy_import(const char *from, const char *lists, char **json, ht_error **error);

    /* The built-in lists, as `lists --json`. settings: target, dialect ("onnx", "mxnet"), version. */
    HT_API ht_kind ht_lists(const char *settings, char **json, ht_error **error);

    /* ---- Calibration ---- */

    /* settings: method ("minmax", "entropy", "percentile", "mse"; default "minmax"), percentile, dtype ("int8", "uint8", "auto"; default
   "int8"), layers [patterns], backend, threads, batch, memory ("512MiB"). */
    HT_API ht_kind ht_calibrate(const ht_model *model, const ht_data *data, const char *settings,
                                ht_progress progress, void *user, ht_calibration **calibration,
                                ht_error **error);
    /* As `calibrate --json`: method, examples, seconds, tensors [name, node, op, parameter, min, max, threshold, …]. */
    HT_API ht_kind ht_calibration_report(const ht_calibration *calibration, char **json, ht_error **error);
    /* Writes that to a file: the table that the setting "table" reads. */
    HT_API ht_kind ht_calibration_save(const ht_calibration *calibration, const char *path, ht_error **error);
    HT_API void ht_calibration_free(ht_calibration *calibration);

    /* ---- Comparison, latency, search ---- */

    /*
 * Compares layer by layer, as `compare --json`: examples, layers [name, op, dtype, max_abs, mean_abs, rmse, rel_l2, cosine, sqnr_db, max_rel,
 * overflow, nan, count, isolated, isolated_at_output], first_divergence, threshold_db, outputs [], top1, top5 {fp32, mixed, agree}, task,
 * unmatched, seconds, …
 * A conversion is compared with `model`, which must be its source. settings: effect ("cumulative", "isolated", "both"), threshold (dB),
 *   memory, as ("defined", "mxnet"), backend, against_backend, accumulate, threads, batch
 */
    HT_API ht_kind ht_compare(const ht_model *model, const ht_conversion *conversion, const ht_data *data,
                              const char *settings, ht_progress progress, void *user, char **json,
                              ht_error **error);
    /* Two models; layers are matched by name. `other` may be `model`, with the setting against_backend. */
    HT_API ht_kind ht_compare_models(const ht_model *model, const ht_model *other, const ht_data *data,
                                     const char *settings, ht_progress progress, void *user, char **json,
                                     ht_error **error);
    /* Values that another program gave for all examples (the reference), named as ht_run() with outputs "all" names them, or as outputs;
   layers without a value are left out. The keys are the same. */
    HT_API ht_kind ht_compare_values(const ht_model *model, const ht_array *values, size_t count,
                                     const ht_data *data, const char *settings, ht_progress progress,
                                     void *user, char **json, ht_error **error);

    /* Latency, as `profile --json`: backend, device, native, inputs, median_ms, min_ms, p95_ms, layers [names, op, dtype, kernel, kind, …],
   casts_us, sum_of_layers_ms, peak_bytes, versus {median_ms, ratio, ci95}, disturbed, attempts. With a conversion of `model`, that is
   measured; `conversion` may be NULL. settings: backend, threads, repeats (30), warmup (5), versus_fp32 (alternates with `model`), batch,
   random_params. */
    HT_API ht_kind ht_profile(const ht_model *model, const ht_conversion *conversion, const char *settings,
                              ht_progress progress, void *user, char **json, ht_error **error);

    /* Searches for the layers that must stay in float32. If stopped by `progress`, it gives the front found so far, if any. settings: those of a
   policy; int8, limit ("top1=-0.5", "sqnr=30"), time ("60s", or seconds), points (8), state (path), pick ("fastest-within": the search ends
   when that is found), backend, threads, batch, memory. */
    HT_API ht_kind ht_tune(const ht_model *model, const ht_data *data, const char *settings,
                           ht_progress progress, void *user, ht_front **front, ht_error **error);
    /* As `tune --json`: points [], measured [], groups [], evaluations, passes, kappa, lower_bound_gap, seconds, errors_seconds, stopped_by. Each
   point's "policy" is the policy itself, where the command gives the path of its file. */
    HT_API ht_kind ht_front_report(const ht_front *front, char **json, ht_error **error);
    /* The model of a point: "fastest-within" (the limit of the search), "knee", or the index in "points" as a number. fails: HT_BAD_INPUT if no
   point meets the limit. */
    HT_API ht_kind ht_front_pick(const ht_front *front, const char *which, ht_progress progress, void *user,
                                 ht_conversion **conversion, ht_error **error);
    HT_API void ht_front_free(ht_front *front);

    /* ---- Reports and the machine ---- */

    /* The self-contained page of `report`, as HTML. `data` and `front` may be NULL. settings: policy, target, hardware, threads, latency, as. */
    HT_API ht_kind ht_report(const ht_model *model, const ht_data *data, const ht_front *front,
                             const char *settings, ht_progress progress, void *user, char **html,
                             ht_error **error);

    /* As `backends --json`: version, backends [name, available, device, dtypes {type: native, emulated, no}, why]. */
    HT_API ht_kind ht_backends(char **json, ht_error **error);
    /* As `hardware --json`: with a name, "this", "this-gpu" or a path, one description; NULL: this, this_gpu, hardware []. */
    HT_API ht_kind ht_hardware(const char *name, ht_progress progress, void *user, char **json,
                               ht_error **error);

#ifdef __cplusplus
}
#endif

#endif
