#!/usr/bin/env python3
"""clang-tidy, with Clang's thread-safety analysis, over src. Usage: tidy.py [--self-test] [FILE...]

.clang-tidy names the checks. Sources that the build compiles as one (SEEN_UNITY) are judged as one, in 40% of
the time. Only misc-unused-using-decls and misc-unused-alias-decls need a FILE by itself. A file that passed
is skipped until it changes, or something that it includes, or the checks, or the version. The analysis needs
no Clang compiler: clang-tidy contains one."""

import pathlib
import subprocess
import sys
import tempfile

from sources import (
    ROOT,
    Cache,
    compile_commands,
    compiled_files,
    listed,
    read_dependencies,
    side_by_side,
    tool,
)

OPTIONS = [
    "--quiet",
    "--extra-arg=-Wthread-safety",
    "--extra-arg=-Wthread-safety-beta",
    "--extra-arg=-Wno-unknown-warning-option",
    "--extra-arg=-fconstexpr-steps=20000000",
]  # filter/size_memo.h has a million atomics
OF_SEVERAL = ["--checks=-bugprone-suspicious-include"]  # one file that includes sources
WRONG = {
    "a field read without its mutex": (
        "thread-safety-analysis",
        """
        #include "base/mutex.h"
        class Counter { public: int Get() const { return count_; }
         private: mutable seen::Mutex mutex_; int count_ GUARDED_BY(mutex_) = 0; };
        int Read(const Counter& counter) { return counter.Get(); }""",
    ),
    "a mutex that is not let go": (
        "thread-safety-analysis",
        """
        #include "base/mutex.h"
        void Take(seen::Mutex& mutex) { mutex.lock(); }""",
    ),
    "a function that needs the mutex": (
        "thread-safety-analysis",
        """
        #include "base/mutex.h"
        seen::Mutex mutex;
        void Change() REQUIRES(mutex);
        void Call() { Change(); }""",
    ),
    "a value used after it was moved": (
        "bugprone-use-after-move",
        """
        #include <string>
        #include <utility>
        std::string Take(std::string text) { std::string other = std::move(text); return other + text; }""",
    ),
    "a parameter that is not used": ("misc-unused-parameters", "int Get(int number) { return 1; }"),
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
    """Judges each text twice: by itself, and as one of several sources."""
    wrongly = []
    with tempfile.TemporaryDirectory() as folder:
        alone, several = pathlib.Path(folder) / "judged.cc", pathlib.Path(folder) / "several.cc"
        several.write_text(f'#include "{alone}"\n', encoding="utf-8")
        # .clang-tidy shows complaints about included files only in the project's folders. These files lie
        # elsewhere.
        options = [f"--config-file={ROOT / '.clang-tidy'}", "--header-filter=.*", *OPTIONS]
        for name, (said, text) in {**WRONG, "nothing wrong": (None, RIGHT)}.items():
            alone.write_text(text, encoding="utf-8")
            for path, more in ((alone, []), (several, OF_SEVERAL)):
                done = subprocess.run(
                    [tool("clang-tidy"), *options, *more, path, "--", "-std=c++20", f"-I{ROOT / 'src'}"],
                    capture_output=True,
                    text=True,
                    check=False,
                )
                found = done.returncode != 0 and said is not None and said in done.stdout
                if found != (said is not None) or (said is None and done.returncode != 0):
                    wrongly.append(f"{name}, {path.name}: {done.stdout}{done.stderr}")
    print(
        "\n".join(wrongly) or f"{len(WRONG) + 1} files judged as they should be, alone and as one of several"
    )
    return 1 if wrongly else 0


def includes(path, folder, command):
    """The files that the compiler reads when it compiles `path`."""
    done = subprocess.run(
        [*command, "-M", "-MT", "source", str(path)], cwd=folder, capture_output=True, text=True, check=True
    )
    return read_dependencies(done.stdout, folder)


def chosen_units(paths):
    """{file: (folder, command, sources)}. No paths: all units of the build. Otherwise each of these sources
    by itself."""
    if not paths:
        return {
            file: unit
            for file, unit in compiled_files().items()
            if any(path.startswith("src/") for path in unit[2])
        }
    commands = compile_commands()
    return {
        str(ROOT / path): (*commands[path], [path])
        for path in listed(".cc", folders=["src"])
        if path in paths and path in commands
    }


def main():
    if "--self-test" in sys.argv:
        return self_test()
    units = chosen_units([str(pathlib.Path(path)) for path in sys.argv[1:]])
    version = subprocess.run(
        [tool("clang-tidy"), "--version"], capture_output=True, text=True, check=True
    ).stdout
    cache = Cache("tidy", version, (ROOT / ".clang-tidy").read_text(encoding="utf-8"), OPTIONS, OF_SEVERAL)

    def judge(file):
        folder, command, sources = units[file]
        if cache.passed(file, command):
            return None, True
        options = OPTIONS + (OF_SEVERAL if len(sources) > 1 else [])
        done = subprocess.run(
            [tool("clang-tidy"), f"--config-file={ROOT / '.clang-tidy'}", *options, file, "--", *command[1:]],
            cwd=folder,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode != 0:
            return f"{', '.join(sources)}:\n{done.stdout}{done.stderr}", False
        cache.keep(file, command, includes(file, folder, command))
        return None, False

    failed, known = side_by_side(judge, units)
    of_all = set(path for path in listed(".cc", folders=["src"]))
    missing = [] if sys.argv[1:] else sorted(of_all - {path for unit in units.values() for path in unit[2]})
    if missing:
        print(f"not in the build, so not judged: {', '.join(missing)}. Remedy: cmake --preset release")
    print(
        f"{sum(len(unit[2]) for unit in units.values())} files in {len(units)}: {known} unchanged, "
        f"{len(units) - known} judged, {failed} failed"
    )
    return 1 if failed or missing or not units else 0


if __name__ == "__main__":
    sys.exit(main())
