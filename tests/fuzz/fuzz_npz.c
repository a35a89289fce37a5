// cmake --preset fuzz && cmake --build build-fuzz && build-fuzz/fuzz_npz -timeout=10 tests/fuzz/corpus/npz
#define FUZZ_NAME "fuzz.npz"
#include "fuzz/import.h"
