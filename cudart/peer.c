/* peer.c - peer access between devices. */
#include "cudart/clock.h"
#include "cudart/state.h"
#include <string.h>

enum {
    PERFORMANCE_RANK = 1, /* cudaDeviceP2PAttr */
    ACCESS = 2,
    ATOMICS = 3,
    ARRAYS = 4
};

/* True if the machine's devices are linked. */
static bool devices_are_linked(void)
{
    double rate = 0;
    return pl_gpu_value(cuda.device[0].gpu, "device.peer_rate", "GB/s", &rate) && rate > 0;
}

int pl_cudaDeviceCanAccessPeer(int *can, int device, int peer)
{
    if (!can) return CU_INVALID_VALUE;
    if (!cuda_is_device(device) || !cuda_is_device(peer)) return CU_INVALID_DEVICE;
    *can = device != peer && devices_are_linked();
    return CU_OK;
}

int pl_cudaDeviceEnablePeerAccess(int peer, unsigned flags)
{
    cuda_device *current = cuda_current_device();
    if (flags) return CU_INVALID_VALUE;
    if (!cuda_is_device(peer)) return CU_INVALID_DEVICE;
    if (peer == cuda_self.device || !devices_are_linked()) return CU_PEER_UNSUPPORTED;
    if (current->peers >> peer & 1) return CU_PEER_ENABLED;
    int error = cuda_set_access_all(peer, cuda_self.device, true);
    if (!error) error = cuda_set_variable_access(peer, cuda_self.device, true);
    cuda_clock_peer();
    if (!error) current->peers |= 1u << peer;
    return error;
}

int pl_cudaDeviceDisablePeerAccess(int peer)
{
    cuda_device *current = cuda_current_device();
    if (!cuda_is_device(peer)) return CU_INVALID_DEVICE;
    if (!(current->peers >> peer & 1)) return CU_PEER_NOT_ENABLED;
    current->peers &= ~(1u << peer);
    const int error = cuda_set_variable_access(peer, cuda_self.device, false);
    return error ? error : cuda_set_access_all(peer, cuda_self.device, false);
}

int pl_cudaDeviceGetP2PAttribute(int *value, int k, int from, int to)
{
    if (!value) return CU_INVALID_VALUE;
    /* a device is not a peer of itself */
    if (!cuda_is_device(from) || !cuda_is_device(to) || from == to) return CU_INVALID_DEVICE;
    if (k < PERFORMANCE_RANK || k > ARRAYS) return CU_INVALID_VALUE;
    *value = k != PERFORMANCE_RANK && devices_are_linked();
    return CU_OK;
}

/* Links over PCIe have no atomic operations of the host. */
int pl_cudaDeviceGetHostAtomicCapabilities(unsigned *capabilities, const int *operations,
                                           unsigned n, int device)
{
    if (!capabilities || !operations || !n) return CU_INVALID_VALUE;
    if (!cuda_is_device(device)) return CU_INVALID_DEVICE;
    memset(capabilities, 0, n * sizeof *capabilities);
    return CU_OK;
}

/* All operations, for values of 32 and 64 bits, over peer links. */
int pl_cudaDeviceGetP2PAtomicCapabilities(unsigned *capabilities, const int *operations, unsigned n,
                                          int from, int to)
{
    enum { SIGNED = 1, UNSIGNED = 2, SCALAR_32 = 8, SCALAR_64 = 16 };
    if (!capabilities || !operations || !n) return CU_INVALID_VALUE;
    if (!cuda_is_device(from) || !cuda_is_device(to) || from == to) return CU_INVALID_DEVICE;
    for (unsigned k = 0; k < n; k++) capabilities[k] = SIGNED | UNSIGNED | SCALAR_32 | SCALAR_64;
    return CU_OK;
}

/* There is no pressure on memory from outside, so nothing is ever notified. */
int pl_cudaDeviceRegisterAsyncNotification(int device, void *callback, void *arg, void **handle)
{
    (void)arg;
    if (!callback || !handle) return CU_INVALID_VALUE;
    if (!cuda_is_device(device)) return CU_INVALID_DEVICE;
    *handle = (void *)(uintptr_t)++cuda.ids;
    return CU_OK;
}

int pl_cudaDeviceUnregisterAsyncNotification(int device, void *handle)
{
    if (!cuda_is_device(device)) return CU_INVALID_DEVICE;
    return handle ? CU_OK : CU_INVALID_VALUE;
}
