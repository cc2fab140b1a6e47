"""saxpy.cgraph from Python: the C interface by ctypes, and NumPy arrays on cgrt's memory.

  cgc examples/saxpy.cgraph -o saxpy.cgb
  python3 examples/embed_python.py build/lib/libcgrt_c.so saxpy.cgb [host|cuda]
"""

import ctypes
import sys

import numpy as np

TYPES = {5: np.int32, 7: np.int64, 11: np.float32, 12: np.float64}  # cgrt_type


class Error(RuntimeError):
    pass


class Param(ctypes.Structure):
    class Value(ctypes.Union):
        _fields_ = [("i64", ctypes.c_int64), ("f64", ctypes.c_double)]

    _fields_ = [("name", ctypes.c_char_p), ("kind", ctypes.c_int), ("value", Value)]


class View(ctypes.Structure):
    _fields_ = [
        ("type", ctypes.c_int), ("space", ctypes.c_int), ("rank", ctypes.c_size_t),
        ("shape", ctypes.c_size_t * 8), ("bytes", ctypes.c_size_t),
    ]  # fmt: skip


def param(name, value):
    """A cgrt_param: integers are kind 1, floats kind 3."""
    if isinstance(value, float):
        return Param(name.encode(), 3, Param.Value(f64=value))
    return Param(name.encode(), 1, Param.Value(i64=value))


class Library:
    """Calls cgrt_NAME(…) and raises what it returns."""

    def __init__(self, path):
        self.library = ctypes.CDLL(path)
        self.library.cgrt_last_error.restype = ctypes.c_char_p
        self.library.cgrt_device_name.restype = ctypes.c_char_p

    def __call__(self, name, *arguments):
        if getattr(self.library, f"cgrt_{name}")(*arguments) != 0:
            raise Error(self.library.cgrt_last_error().decode())

    def make(self, name, *arguments):
        handle = ctypes.c_void_p()
        self(name, *arguments, ctypes.byref(handle))
        return handle


class Instance:
    def __init__(self, cgrt, program, device, **params):
        self.cgrt = cgrt
        listed = (Param * len(params))(*(param(*item) for item in params.items()))
        self.handle = cgrt.make("instance_create", program, device, listed, len(params))
        self.graph = cgrt.make("instance_executable", self.handle, b"main")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.cgrt.library.cgrt_executable_destroy(self.graph)
        self.cgrt.library.cgrt_instance_destroy(self.handle)

    def array(self, name):
        """A host buffer; valid until its size changes."""
        view, data = View(), ctypes.c_void_p()
        self.cgrt("instance_buffer", self.handle, name.encode(), ctypes.byref(view))
        self.cgrt("instance_host", self.handle, name.encode(), ctypes.byref(data), None)
        dtype = np.dtype(TYPES[view.type])
        memory = (ctypes.c_byte * view.bytes).from_address(data.value)
        return np.frombuffer(memory, dtype).reshape(view.shape[: view.rank])

    def update(self, **params):
        listed = (Param * len(params))(*(param(*item) for item in params.items()))
        self.cgrt("instance_update", self.handle, listed, len(params), None, 0, None)

    def run(self):
        self.cgrt("executable_launch", self.graph)
        self.cgrt("executable_wait", self.graph)


def main(library, bundle, where="host"):
    cgrt = Library(library)
    program = cgrt.make("program_from_file", bundle.encode())
    device = (
        cgrt.make("device_cuda", 0)
        if where == "cuda"
        else cgrt.make("device_host", ctypes.c_uint64(0), 0)
    )
    with Instance(cgrt, program, device, n=1000) as saxpy:
        for n, a in ((1000, 2.0), (1000, 0.5), (5000, -1.0)):
            saxpy.update(n=n, a=a)
            x, y = saxpy.array("hx"), saxpy.array("hy")
            x[:] = np.arange(n)
            y[:] = 1
            saxpy.run()
            np.testing.assert_array_equal(y, np.float32(a) * np.arange(n, dtype="f4") + 1)
        try:
            saxpy.update(n=-1)
        except Error as error:
            print(f"refused: {error}")
        saxpy.run()  # as before
    print(f"saxpy on {cgrt.library.cgrt_device_name(device).decode()}: right")
    cgrt.library.cgrt_device_destroy(device)
    cgrt.library.cgrt_program_destroy(program)


if __name__ == "__main__":
    main(*sys.argv[1:])
