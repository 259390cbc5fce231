"""clients/cpp as another project's build finds it: installed, then found by find_package."""

import re
import subprocess

from places import SOURCE

CMAKE_LISTS = """
cmake_minimum_required(VERSION 3.18)
project(app CXX)
find_package(seen_client 1.0 CONFIG REQUIRED)
add_executable(app app.cc)
target_compile_options(app PRIVATE -Wall -Wextra -Wpedantic -Wconversion -Werror)
target_link_libraries(app PRIVATE seen::client)
"""
AROUND = """
#include <cstdio>
#include <fstream>
#include <iterator>
%s
static int Report(const std::string& message) { std::puts(message.c_str()); return 1; }
int main(int, char** arguments) {
  std::ifstream file(arguments[1], std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  const std::vector<std::string> candidates = {"n3", "n1", "n2", "n3"};
%s
  for (const auto& id : unseen) std::puts(id.c_str());
}
"""


def test_the_first_lines_of_its_readme_work_with_the_installed_package(tmp_path):
    def run(*command):
        ran = subprocess.run(
            [str(word) for word in command], capture_output=True, text=True, timeout=120, check=False
        )
        assert ran.returncode == 0, (command, ran.stdout[-3000:], ran.stderr[-3000:])
        return ran.stdout

    run("cmake", "-S", SOURCE / "clients" / "cpp", "-B", tmp_path / "client")
    run("cmake", "--install", tmp_path / "client", "--prefix", tmp_path / "installed")
    lines = re.search(r"```cpp\n(.*?)```", (SOURCE / "clients" / "cpp" / "README.md").read_text(), re.S)[1]
    include, rest = lines.split("\n", 1)
    (tmp_path / "app").mkdir()
    (tmp_path / "app" / "app.cc").write_text(AROUND % (include, rest))
    (tmp_path / "app" / "CMakeLists.txt").write_text(CMAKE_LISTS)
    run(
        "cmake",
        "-S",
        tmp_path / "app",
        "-B",
        tmp_path / "build",
        f"-DCMAKE_PREFIX_PATH={tmp_path / 'installed'}",
    )
    run("cmake", "--build", tmp_path / "build")
    golden = SOURCE / "tests" / "golden" / "snapshot"
    assert run(tmp_path / "build" / "app", golden / "one.bin").split() == ["n3", "n2"]
