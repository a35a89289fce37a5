"""Where libtroupe is: TROUPE_LIBRARY, beside this package, in the prefix it is installed in, or where the system looks."""

import ctypes
import ctypes.util
import os
import sysconfig
from pathlib import Path

VERSION = "0.1"  # structs may differ in another minor version, until 1.0
NAME = f"libtroupe.so.{VERSION}"


def _candidates():
    if os.environ.get("TROUPE_LIBRARY"):
        yield os.environ["TROUPE_LIBRARY"]
        return
    package = Path(__file__).resolve().parent
    yield package / NAME
    multiarch = sysconfig.get_config_var("MULTIARCH") or ""
    for prefix in package.parents:
        for folder in ("lib", "lib64", f"lib/{multiarch}", "build"):
            yield prefix / folder / NAME
    if ctypes.util.find_library("troupe"):
        yield NAME


def load(functions):
    """The library with these functions declared: {name: (type of the answer, types of the arguments…)}."""
    for path in _candidates():
        if "TROUPE_LIBRARY" in os.environ or not isinstance(path, Path) or path.exists():
            library = ctypes.CDLL(str(path))
            break
    else:
        raise ImportError(f"{NAME} is not installed; name the file in the variable TROUPE_LIBRARY")
    for name, (answer, *arguments) in functions.items():
        function = getattr(library, name)
        function.restype, function.argtypes = answer, arguments
    found = library.tr_version().decode()
    if not found.startswith(VERSION + "."):
        raise ImportError(f"{path} is version {found}; this module needs {VERSION}")
    return library
