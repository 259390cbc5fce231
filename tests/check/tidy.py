#!/usr/bin/env python3
"""clang-tidy, with Clang's thread-safety analysis, over src. Usage: tidy.py [--self-test] [FILE...]

.clang-tidy names the checks. A file that passed is left out until it, something that it includes, the checks or the
version change. The analysis needs no compiler of Clang's: clang-tidy contains one.
"""

import pathlib
import subprocess
import sys
import tempfile

from sources import ROOT, Cache, compile_commands, listed, read_dependencies, side_by_side, tool

OPTIONS = ["--quiet", "--extra-arg=-Wthread-safety", "--extra-arg=-Wthread-safety-beta",
           "--extra-arg=-Wno-unknown-warning-option",
           "--extra-arg=-fconstexpr-steps=20000000"]  # filter/size_memo.h has a million atomics
WRONG = {
    "a field read without its mutex": ("thread-safety-analysis", """
        #include "base/mutex.h"
        class Counter { public: int Get() const { return count_; }
         private: mutable seen::Mutex mutex_; int count_ GUARDED_BY(mutex_) = 0; };
        int Read(const Counter& counter) { return counter.Get(); }"""),
    "a mutex that is not let go": ("thread-safety-analysis", """
        #include "base/mutex.h"
        void Take(seen::Mutex& mutex) { mutex.lock(); }"""),
    "a function that needs the mutex": ("thread-safety-analysis", """
        #include "base/mutex.h"
        seen::Mutex mutex;
        void Change() REQUIRES(mutex);
        void Call() { Change(); }"""),
    "a value used after it was moved": ("bugprone-use-after-move", """
        #include <string>
        #include <utility>
        std::string Take(std::string text) { std::string other = std::move(text); return other + text; }"""),
    "what does not compile": ("clang-diagnostic-error", "int Get() { return missing; }"),
}
RIGHT = """
#include "base/mutex.h"

class Counter {
 public:
  int Get() const {
    const seen::MutexLock lock(mutex_);
    return count_;
  }

 private:
  mutable seen::Mutex mutex_;
  int count_ GUARDED_BY(mutex_) = 0;
};
int Read(const Counter& counter) { return counter.Get(); }
"""


def self_test():
    wrongly = []
    with tempfile.TemporaryDirectory() as folder:
        for name, (said, text) in {**WRONG, "nothing wrong": (None, RIGHT)}.items():
            path = pathlib.Path(folder) / "judged.cc"
            path.write_text(text, encoding="utf-8")
            done = subprocess.run([tool("clang-tidy"), f"--config-file={ROOT / '.clang-tidy'}", *OPTIONS, path, "--",
                                   "-std=c++20", f"-I{ROOT / 'src'}"], capture_output=True, text=True, check=False)
            found = done.returncode != 0 and said is not None and said in done.stdout
            if found != (said is not None) or (said is None and done.returncode != 0):
                wrongly.append(f"{name}: {done.stdout}{done.stderr}")
    print("\n".join(wrongly) or f"{len(WRONG) + 1} files judged as they should be")
    return 1 if wrongly else 0


def includes(path, folder, command):
    """The files that the compiler reads for it."""
    done = subprocess.run([*command, "-M", "-MT", "source", str(path)], cwd=folder, capture_output=True, text=True,
                          check=True)
    return read_dependencies(done.stdout, folder)


def main():
    if "--self-test" in sys.argv:
        return self_test()
    commands, chosen = compile_commands(), [str(pathlib.Path(path)) for path in sys.argv[1:]]
    paths = [path for path in listed(".cc", folders=["src"]) if path in commands and (not chosen or path in chosen)]
    version = subprocess.run([tool("clang-tidy"), "--version"], capture_output=True, text=True, check=True).stdout
    cache = Cache("tidy", version, (ROOT / ".clang-tidy").read_text(encoding="utf-8"), OPTIONS)

    def judge(path):
        folder, command = commands[path]
        if cache.passed(path, command):
            return None, True
        done = subprocess.run([tool("clang-tidy"), *OPTIONS, ROOT / path, "--", *command[1:]], cwd=folder,
                              capture_output=True, text=True, check=False)
        if done.returncode != 0:
            return f"{path}:\n{done.stdout}{done.stderr}", False
        cache.keep(path, command, includes(ROOT / path, folder, command))
        return None, False

    failed, known = side_by_side(judge, paths)
    print(f"{len(paths)} files: {known} unchanged, {len(paths) - known} judged, {failed} failed")
    return 1 if failed or not paths else 0


if __name__ == "__main__":
    sys.exit(main())
