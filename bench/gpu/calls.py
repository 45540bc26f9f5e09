"""Cost of each call of NVIDIA's management library: CPU and wall time, median of repeated calls.

calls.py [REPEATS]. The calls are those of trainscope-gpu (src/gpu/support/nvidia_gpu.cpp).
"""
import ctypes
import statistics
import sys
import time

lib = ctypes.CDLL("libnvidia-ml.so.1")
repeats = int(sys.argv[1]) if len(sys.argv) > 1 else 20
begin = time.process_time()
assert lib.nvmlInit_v2() == 0
print(f"{'nvmlInit_v2':44} {1e6 * (time.process_time() - begin):9.0f} µs CPU once")
device = ctypes.c_void_p()
assert lib.nvmlDeviceGetHandleByIndex_v2(0, ctypes.byref(device)) == 0
SLOW = (74, 76, 269, 270, 271, 82)  # time throttled by reason, temperature of the memory
room = (ctypes.c_uint64 * 65536)()


class Field(ctypes.Structure):
    _fields_ = [("id", ctypes.c_uint), ("scope", ctypes.c_uint), ("time", ctypes.c_longlong),
                ("latency", ctypes.c_longlong), ("type", ctypes.c_uint), ("result", ctypes.c_uint),
                ("value", ctypes.c_ulonglong)]


def field(*ids):
    wanted = (Field * len(ids))(*[Field(id=i) for i in ids])
    return lambda: lib.nvmlDeviceGetFieldValues(device, len(ids), wanted)


def memory():
    room[0] = 40 | 2 << 24
    return lib.nvmlDeviceGetMemoryInfo_v2(device, room)


def listed(call):
    def ask():
        count = ctypes.c_uint(64)
        return call(device, ctypes.byref(count), room)
    return ask


def process_samples():
    count = ctypes.c_uint(128)
    return lib.nvmlDeviceGetProcessUtilization(device, room, ctypes.byref(count), ctypes.c_ulonglong(0))


sample = ctypes.c_void_p()
lib.nvmlGpmSampleAlloc(ctypes.byref(sample))
number = ctypes.c_ulonglong()
ref = ctypes.byref(number)
other = ctypes.byref(ctypes.c_ulonglong())
calls = {
    "DeviceGetCount_v2": lambda: lib.nvmlDeviceGetCount_v2(ref),
    "DeviceGetUtilizationRates": lambda: lib.nvmlDeviceGetUtilizationRates(device, room),
    "DeviceGetMemoryInfo_v2": memory,
    "DeviceGetTemperature": lambda: lib.nvmlDeviceGetTemperature(device, 0, ref),
    "fields: power instant": field(186),
    "DeviceGetPowerUsage": lambda: lib.nvmlDeviceGetPowerUsage(device, ref),
    "DeviceGetTotalEnergyConsumption": lambda: lib.nvmlDeviceGetTotalEnergyConsumption(device, ref),
    "fields: energy": field(83),
    "fields: power instant and energy": field(186, 83),
    "DeviceGetClockInfo sm": lambda: lib.nvmlDeviceGetClockInfo(device, 1, ref),
    "DeviceGetClockInfo memory": lambda: lib.nvmlDeviceGetClockInfo(device, 2, ref),
    "DeviceGetCurrentClocksThrottleReasons": lambda: lib.nvmlDeviceGetCurrentClocksThrottleReasons(device, ref),
    "GpmSampleGet": lambda: lib.nvmlGpmSampleGet(device, sample),
    "DeviceGetEncoderUtilization": lambda: lib.nvmlDeviceGetEncoderUtilization(device, ref, other),
    "DeviceGetDecoderUtilization": lambda: lib.nvmlDeviceGetDecoderUtilization(device, ref, other),
    "DeviceGetTotalEccErrors": lambda: lib.nvmlDeviceGetTotalEccErrors(device, 0, 0, ref),
    "DeviceGetFanSpeed": lambda: lib.nvmlDeviceGetFanSpeed(device, ref),
    "DeviceGetPerformanceState": lambda: lib.nvmlDeviceGetPerformanceState(device, ref),
    "DeviceGetCurrPcieLinkGeneration": lambda: lib.nvmlDeviceGetCurrPcieLinkGeneration(device, ref),
    "DeviceGetCurrPcieLinkWidth": lambda: lib.nvmlDeviceGetCurrPcieLinkWidth(device, ref),
    "DeviceGetComputeRunningProcesses_v3": listed(lib.nvmlDeviceGetComputeRunningProcesses_v3),
    "DeviceGetGraphicsRunningProcesses_v3": listed(lib.nvmlDeviceGetGraphicsRunningProcesses_v3),
    "DeviceGetProcessUtilization": process_samples,
    **{f"fields: {i}": field(i) for i in SLOW},
    "fields: all of these in one call": field(*SLOW),
}
for name, call in calls.items():
    cpu, wall = [], []
    for _ in range(repeats):
        time.sleep(0.01)
        a, b = time.thread_time_ns(), time.monotonic_ns()
        result = call()
        cpu.append(time.thread_time_ns() - a)
        wall.append(time.monotonic_ns() - b)
    print(f"{name:44} {statistics.median(cpu) / 1e3:9.0f} µs CPU {statistics.median(wall) / 1e3:9.0f} µs wall  result {result}")
