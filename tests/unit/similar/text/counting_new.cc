// The same counter in this binary.
#include "unit/decode/counting_new.cc"
