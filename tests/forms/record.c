/* record.c - runs the kernels of forms.h on a GPU and prints their digests.
 *
 *     record LIST.tsv PART PARTS        the rows of the list whose number is PART modulo PARTS,
 *       each followed by its digest
 *     record LIST.tsv --ptx             the kernels as PTX, entry N on line N + 4 (to find those
 *       that ptxas rejects)
 *     record LIST.tsv --dump N          all operands and results of row N (from 0)
 *
 * Not part of the build: needs CUDA's driver. cc -I. tests/forms/record.c tests/harness.c -lcuda
 * -lm */
#include "tests/cuda.h"
#include "tests/forms/forms.h"
#include "tests/harness.h"

#define HEAD  ".version 8.8\n.target sm_90a\n.address_size 64\n"
#define CHUNK 100

static forms_entry entry(const table *t, size_t row)
{
    return forms_read(t->row[row][0], t->row[row][1], t->row[row][2]);
}

static void run(CUfunction f, const forms_entry *e, uint64_t *in, uint64_t *out)
{
    static CUdeviceptr din, dout;
    const size_t most = FORMS_TUPLES * FORMS_OPERANDS * 8;
    if (!din) need(cuMemAlloc(&din, most), "memory"), need(cuMemAlloc(&dout, most), "memory");
    forms_inputs(in, e);
    need(cuMemcpyHtoD(din, in, FORMS_TUPLES * e->nin * 8), "copy");
    need(cuMemsetD8(dout, 0, most), "clear");
    void *params[] = {&din, &dout};
    need(cuLaunchKernel(f, FORMS_TUPLES / FORMS_BLOCK, 1, 1, FORMS_BLOCK, 1, 1, 0, NULL, params,
                        NULL),
         e->text);
    need(cuMemcpyDtoH(out, dout, FORMS_TUPLES * e->nout * 8), e->text);
}

int main(int argc, char **argv)
{
    static uint64_t in[FORMS_TUPLES * FORMS_OPERANDS], out[FORMS_TUPLES * FORMS_OPERANDS];
    static char text[CHUNK * 4096];
    table t = table_read(argv[1]);
    const bool ptx = argc == 3, dump = argc == 4 && strcmp(argv[2], "--dump") == 0;
    size_t part = 0, parts = 1, rows[CHUNK], n = 0;
    if (ptx) {
        printf(HEAD);
        for (size_t row = 0; row < t.rows; row++) {
            forms_entry e = entry(&t, row);
            forms_kernel(text, sizeof text, &e, row);
            fputs(text, stdout);
        }
        return 0;
    }
    if (!dump) part = strtoul(argv[2], NULL, 10), parts = strtoul(argv[3], NULL, 10);
    CUdevice device;
    CUcontext context;
    need(cuInit(0), "init");
    need(cuDeviceGet(&device, 0), "device");
    need(cuDevicePrimaryCtxRetain(&context, device), "context");
    need(cuCtxSetCurrent(context), "context");
    for (size_t row = dump ? strtoul(argv[3], NULL, 10) : part; row < t.rows;) {
        size_t at = (size_t)snprintf(text, sizeof text, HEAD);
        for (n = 0; n < CHUNK && row < t.rows; row += parts) {
            forms_entry e = entry(&t, row);
            at += forms_kernel(text + at, sizeof text - at, &e, row);
            rows[n++] = row;
            if (dump) break;
        }
        CUmodule m;
        need(cuModuleLoadData(&m, text), "module");
        for (size_t k = 0; k < n; k++) {
            forms_entry e = entry(&t, rows[k]);
            char name[32];
            CUfunction f;
            snprintf(name, sizeof name, "e%zu", rows[k]);
            need(cuModuleGetFunction(&f, m, name), name);
            run(f, &e, in, out);
            if (dump) {
                for (size_t i = 0; i < FORMS_TUPLES; i++) {
                    for (unsigned j = 0; j < e.nin; j++)
                        printf("%llx ", (unsigned long long)in[i * e.nin + j]);
                    printf("->");
                    for (unsigned j = 0; j < e.nout; j++)
                        printf(" %llx", (unsigned long long)out[i * e.nout + j]);
                    printf("\n");
                }
                return 0;
            }
            printf("%s\t%s\t%s\t%016llx\n", t.row[rows[k]][0], t.row[rows[k]][1], t.row[rows[k]][2],
                   (unsigned long long)forms_digest(out, FORMS_TUPLES * e.nout));
        }
        need(cuModuleUnload(m), "unload");
    }
    return 0;
}
