/* Calls the C interface as a program in C does: calls SAMPLE_FOLDER. Prints what is wrong; the exit code tells whether anything is. */
#include "halftone/c.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures = 0;

static void check(int holds, int line, const char *what)
{
    if (holds)
        return;
    ++failures;
    printf("line %d: %s\n", line, what);
}
#define CHECK(holds) check((holds) != 0, __LINE__, #holds)

/* The call succeeds. */
static void done(ht_kind kind, ht_error *error, int line)
{
    if (kind == HT_OK && error == NULL)
        return;
    ++failures;
    printf("line %d: kind %d: %s\n", line, (int)kind, error != NULL ? error->message : "no record");
    ht_error_free(error);
}
#define DONE(call)                        \
    do {                                  \
        ht_error *error = NULL;           \
        const ht_kind kind = call;        \
        done(kind, error, __LINE__);      \
    } while (0)

static int has(const char *text, const char *part)
{
    return text != NULL && strstr(text, part) != NULL;
}

static char *pathOf(const char *folder, const char *name)
{
    char *path = malloc(strlen(folder) + strlen(name) + 2);
    sprintf(path, "%s/%s", folder, name);
    return path;
}

static int stopAtOnce(double share, const char *what, void *user)
{
    (void)share;
    (void)what;
    ++*(int *)user;
    return 1;
}

static void testErrors(const ht_model *model)
{
    ht_error *error = NULL;
    ht_model *none = NULL;
    CHECK(ht_model_open("no-such-file.onnx", NULL, &none, &error) == HT_BAD_INPUT);
    CHECK(none == NULL && error != NULL && error->kind == HT_BAD_INPUT);
    CHECK(strcmp(error->file, "no-such-file.onnx") == 0 && has(error->message, "no-such-file.onnx"));
    ht_error_free(error);
    CHECK(ht_model_open("no-such-file.onnx", NULL, &none, NULL) == HT_BAD_INPUT); /* nobody wants to know why */

    ht_conversion *conversion = NULL;
    CHECK(ht_convert(model, NULL, "{\"fp32_op\": [\"Sofmax\"]}", NULL, NULL, &conversion, &error) != HT_OK);
    CHECK(conversion == NULL && has(error->message, "Softmax") && strcmp(error->place, "Sofmax") == 0);
    ht_error_free(error);
    CHECK(ht_convert(model, NULL, "{\"fp32_opps\": []}", NULL, NULL, &conversion, &error) == HT_BAD_CALL);
    CHECK(strcmp(error->setting, "fp32_opps") == 0 && has(error->found, "fp32_op"));
    ht_error_free(error);
    CHECK(ht_convert(model, NULL, "{\"strict\": 1}", NULL, NULL, &conversion, &error) == HT_BAD_CALL);
    CHECK(strcmp(error->setting, "strict") == 0);
    ht_error_free(error);
    CHECK(ht_convert(model, NULL, "[1", NULL, NULL, &conversion, &error) == HT_BAD_CALL);
    ht_error_free(error);
    CHECK(ht_convert(NULL, NULL, NULL, NULL, NULL, &conversion, &error) == HT_BAD_CALL);
    CHECK(strcmp(error->setting, "model") == 0);
    ht_error_free(error);
    ht_error_free(NULL);
    ht_model_free(NULL);
    ht_conversion_free(NULL);
}

static void testModel(const ht_model *model, const char *path)
{
    char *info = NULL;
    DONE(ht_model_info(model, &info, &error));
    CHECK(has(info, "\"format\": \"onnx\"") && has(info, "\"ops\""));
    ht_free(info);
    char *nodes = NULL;
    DONE(ht_model_nodes(model, &nodes, &error));
    CHECK(has(nodes, "\"energy\""));
    ht_free(nodes);

    /* What was not changed is written as it was read. */
    void *bytes = NULL;
    size_t size = 0;
    DONE(ht_model_bytes(model, &bytes, &size, &error));
    FILE *file = fopen(path, "rb");
    char *there = malloc(size + 1);
    CHECK(file != NULL && fread(there, 1, size + 1, file) == size && memcmp(there, bytes, size) == 0);
    if (file != NULL)
        fclose(file);
    free(there);
    ht_model *again = NULL;
    DONE(ht_model_read(bytes, size, NULL, NULL, &again, &error));
    ht_free(bytes);
    char *first = NULL;
    char *second = NULL;
    DONE(ht_model_nodes(model, &first, &error));
    DONE(ht_model_nodes(again, &second, &error));
    CHECK(first != NULL && second != NULL && strcmp(first, second) == 0);
    ht_free(first);
    ht_free(second);
    ht_model_free(again);
    ht_error *error = NULL;
    CHECK(ht_model_read("hello", 5, NULL, NULL, &again, &error) == HT_BAD_INPUT);
    ht_error_free(error);
}

static void testRuns(const ht_model *model)
{
    enum { kExamples = 3 };
    float pixels[kExamples * 64];
    for (int k = 0; k < kExamples * 64; ++k)
        pixels[k] = 0.25F;
    const int64_t shape[] = {kExamples, 1, 8, 8};
    const ht_array input = {"data", "float32", 4, shape, pixels, sizeof pixels};
    ht_runner *runner = NULL;
    DONE(ht_runner_new(model, NULL, &runner, &error));
    for (int run = 0; run < 3; ++run) {
        ht_values *values = NULL;
        DONE(ht_runner_run(runner, &input, 1, NULL, NULL, &values, &error));
        CHECK(ht_values_count(values) == 1 && ht_values_array(values, 1) == NULL);
        const ht_array *scores = ht_values_array(values, 0);
        CHECK(scores != NULL && scores->rank == 2 && scores->shape[0] == kExamples && scores->shape[1] == 10);
        CHECK(strcmp(scores->type, "float32") == 0 && scores->bytes == sizeof(float) * kExamples * 10);
        const float *row = scores->data;
        float sum = 0;
        for (int k = 0; k < 10; ++k) {
            CHECK(fabsf(row[k] - row[k + 10]) < 1e-6F); /* equal examples */
            sum += row[k];
        }
        CHECK(fabsf(sum - 1) < 1e-5F); /* probabilities */
        ht_values_free(values);
    }
    ht_error *error = NULL;
    ht_values *values = NULL;
    const ht_array unknown = {"nothing", "float32", 4, shape, pixels, sizeof pixels};
    CHECK(ht_runner_run(runner, &unknown, 1, NULL, NULL, &values, &error) == HT_BAD_INPUT);
    ht_error_free(error);
    const ht_array tooShort = {"data", "float32", 4, shape, pixels, sizeof pixels - 4};
    CHECK(ht_runner_run(runner, &tooShort, 1, NULL, NULL, &values, &error) == HT_BAD_INPUT);
    CHECK(error != NULL && strcmp(error->place, "data") == 0);
    ht_error_free(error);
    ht_runner_free(runner);
    CHECK(ht_runner_new(model, "{\"backend\": \"gpu\"}", &runner, &error) == HT_BAD_CALL);
    ht_error_free(error);

    ht_runner *inner = NULL;
    DONE(ht_runner_new(model, "{\"outputs\": [\"energy\"]}", &inner, &error));
    DONE(ht_runner_run(inner, &input, 1, NULL, NULL, &values, &error));
    CHECK(ht_values_count(values) == 1 && strcmp(ht_values_array(values, 0)->name, "energy") == 0);
    ht_values_free(values);
    ht_runner_free(inner);
}

struct Batches
{
    const ht_values *source;
    int given;
};

/* The same batch twice. */
static int nextBatch(const ht_array **arrays, size_t *count, void *user)
{
    struct Batches *batches = user;
    if (batches->given == 2)
        return 0;
    ++batches->given;
    *arrays = ht_values_array(batches->source, 0);
    *count = 1;
    return 1;
}

static void countRelease(void *user)
{
    ++*(int *)user;
}

static void testData(const ht_model *model)
{
    float pixels[2 * 64] = {0};
    const int64_t shape[] = {2, 1, 8, 8};
    const int32_t classes[] = {3, 4};
    const int64_t two = 2;
    const ht_array arrays[] = {{"data", "float32", 4, shape, pixels, sizeof pixels},
                               {"labels", "int32", 1, &two, classes, sizeof classes}};
    int released = 0;
    ht_data *data = NULL;
    DONE(ht_data_borrow(arrays, 2, NULL, countRelease, &released, &data, &error));
    ht_values *values = NULL;
    char *json = NULL;
    DONE(ht_run(model, data, NULL, NULL, NULL, &values, &json, &error));
    CHECK(has(json, "\"examples\": 2") && has(json, "\"outputs\""));
    ht_free(json);
    CHECK(released == 0);
    ht_data_free(data);
    CHECK(released == 1);
    const ht_array wrong = {"data", "complex7", 4, shape, pixels, sizeof pixels};
    ht_error *error = NULL;
    CHECK(ht_data_borrow(&wrong, 1, NULL, countRelease, &released, &data, &error) == HT_BAD_CALL);
    CHECK(released == 1);
    ht_error_free(error);

    /* Batches are joined. */
    ht_runner *runner = NULL;
    DONE(ht_runner_new(model, "{\"outputs\": \"all\"}", &runner, &error));
    ht_values *all = NULL;
    DONE(ht_runner_run(runner, arrays, 1, NULL, NULL, &all, &error));
    CHECK(ht_values_count(all) > 10);
    ht_values_free(all);
    ht_runner_free(runner);
    struct Batches batches = {values, 0};
    ht_data *joined = NULL;
    DONE(ht_data_pull(nextBatch, &batches, NULL, &joined, &error));
    ht_data_free(joined);
    ht_values_free(values);
}

static void testConversions(const ht_model *model, const char *folder)
{
    char *test = pathOf(folder, "digits-test.npz");
    char settings[600];
    snprintf(settings, sizeof settings, "{\"inputs\": \"%s\"}", test);
    free(test);
    ht_data *data = NULL;
    DONE(ht_data_open(settings, &data, &error));
    char *policy = pathOf(folder, "onnx-all-float16.policy.json");
    snprintf(settings, sizeof settings, "{\"policy\": \"%s\"}", policy);
    free(policy);
    ht_conversion *conversion = NULL;
    DONE(ht_convert(model, NULL, settings, NULL, NULL, &conversion, &error));
    char *json = NULL;
    DONE(ht_conversion_report(conversion, &json, &error));
    CHECK(has(json, "\"target\"") && has(json, "\"casts\"") && has(json, "\"assigned\""));
    ht_free(json);
    DONE(ht_conversion_policy(conversion, &json, &error));
    CHECK(has(json, "\"target_dtype\""));
    ht_free(json);
    /* The sample breaks in float16, at a sum of squares. */
    DONE(ht_compare(model, conversion, data, NULL, NULL, NULL, &json, &error));
    CHECK(has(json, "\"first_divergence\": \"energy\"") && has(json, "0.99333") && has(json, "0.09777"));
    ht_free(json);
    int calls = 0;
    ht_error *error = NULL;
    CHECK(ht_compare(model, conversion, data, NULL, stopAtOnce, &calls, &json, &error) == HT_CANCELLED);
    CHECK(calls > 0);
    ht_error_free(error);
    DONE(ht_model_svg(model, conversion, NULL, NULL, NULL, &json, &error));
    CHECK(has(json, "<svg") && has(json, "energy"));
    ht_free(json);
    ht_model *converted = NULL;
    DONE(ht_conversion_model(conversion, &converted, &error));
    ht_conversion_free(conversion);
    DONE(ht_verify(converted, NULL, NULL, NULL, &json, &error));
    CHECK(has(json, "\"float16\""));
    ht_free(json);
    DONE(ht_verify(model, "{\"target\": \"float16\"}", NULL, NULL, &json, &error)); /* it is float32: not an error */
    CHECK(has(json, "\"requested\": \"float16\""));
    ht_free(json);
    ht_model_free(converted);

    ht_conversion *quantized = NULL;
    DONE(ht_quantize(model, data, NULL, "{\"form\": \"qdq\"}", NULL, NULL, &quantized, &error));
    DONE(ht_conversion_report(quantized, &json, &error));
    CHECK(has(json, "\"form\": \"qdq\"") && has(json, "\"thresholds\""));
    ht_free(json);
    ht_conversion_free(quantized);
    CHECK(ht_quantize(model, data, NULL, "{\"form\": \"onednn\"}", NULL, NULL, &quantized, &error) == HT_BAD_CALL);
    ht_error_free(error);
    ht_data_free(data);
}

static void testMachine(void)
{
    char *json = NULL;
    DONE(ht_backends(&json, &error));
    CHECK(has(json, "\"reference\""));
    ht_free(json);
    DONE(ht_lists("{\"target\": \"bfloat16\"}", &json, &error));
    CHECK(has(json, "\"Conv\""));
    ht_free(json);
    DONE(ht_policy_import("onnxconverter", "{\"op_block_list\": [\"Softmax\"]}", &json, &error));
    CHECK(has(json, "\"Softmax\""));
    ht_free(json);
}

int main(int argc, char **argv)
{
    if (argc != 2)
        return 2;
    char *path = pathOf(argv[1], "digits.onnx");
    ht_model *model = NULL;
    DONE(ht_model_open(path, NULL, &model, &error));
    if (model != NULL) {
        CHECK(ht_version()[0] != 0);
        testErrors(model);
        testModel(model, path);
        testRuns(model);
        testData(model);
        testConversions(model, argv[1]);
        testMachine();
    }
    ht_model_free(model);
    free(path);
    return failures == 0 ? 0 : 1;
}
