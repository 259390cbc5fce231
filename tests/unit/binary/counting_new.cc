// Every operator new of this test binary is counted too.
#include "unit/decode/counting_new.cc"
