// cmake --preset fuzz && cmake --build build-fuzz && build-fuzz/fuzz_csv -timeout=10 tests/fuzz/corpus/csv
#define FUZZ_NAME "fuzz.csv"
#include "fuzz/import.h"
