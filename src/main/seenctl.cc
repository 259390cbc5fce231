#include "tools/commands.h"

int main(int argc, char** argv) { return seen::RunSeenctl(argc, argv); }
