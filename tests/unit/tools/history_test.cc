#include <gtest/gtest.h>
#include <sys/stat.h>
#include <zlib.h>
#include <zstd.h>

#include <vector>

#include "model/hashes.h"
#include "scratch_folder.h"
#include "tools/history/foreign_format.h"
#include "tools/history/history_file.h"
#include "tools/replay/dry_run.h"

namespace seen {
namespace {

std::string Gzip(const std::string& text) {
  const ScratchFolder folder;
  gzFile file = gzopen(folder.Path("x").c_str(), "wb");
  gzwrite(file, text.data(), static_cast<unsigned>(text.size()));
  gzclose(file);
  return ScratchFolder::Read(folder.Path("x"));
}

std::string Zlib(const std::string& text) {
  std::string packed(compressBound(text.size()), '\0');
  uLongf size = packed.size();
  compress(reinterpret_cast<Bytef*>(packed.data()), &size, reinterpret_cast<const Bytef*>(text.data()),
           text.size());
  packed.resize(size);
  return packed;
}

std::string Zstd(const std::string& text) {
  ZSTD_CCtx* const context = ZSTD_createCCtx();
  ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);  // as the program zstd does
  std::string packed(ZSTD_compressBound(text.size()), '\0');
  packed.resize(ZSTD_compress2(context, packed.data(), packed.size(), text.data(), text.size()));
  ZSTD_freeCCtx(context);
  return packed;
}

struct ReadHistory {
  std::vector<std::string> events;
  std::string error;
  uint64_t bytes_not_read = 0;
};

ReadHistory ReadAll(const std::string& path) {
  ReadHistory read;
  const auto files = FindHistoryFiles(std::vector{path});
  if (!files) {
    read.error = files.error().message;
    return read;
  }
  auto reader = HistoryReader::Open(files->at(0));
  if (!reader) {
    read.error = reader.error().message;
    return read;
  }
  std::string_view line;
  while (true) {
    const auto more = reader->Next(line);
    if (!more) read.error = more.error().message;
    if (!more || !*more) break;
    read.events.emplace_back(line);
  }
  read.bytes_not_read = reader->bytes_not_read();
  return read;
}

TEST(ByteStream, TheBytesSayHowAFileIsPacked) {
  const ScratchFolder folder;
  std::string text;
  for (int i = 0; i < 50'000; ++i) text += "{\"n\":" + std::to_string(i * 7919) + "}\n";
  const auto plain = ReadAll(folder.Write("plain.gz", text));  // the name is wrong: the file isn't packed
  ASSERT_EQ(plain.events.size(), 50'000u);
  const size_t half = text.size() / 2 - text.size() / 2 % 2;
  for (const std::string& packed :
       {Gzip(text), Zlib(text), Zstd(text),
        Gzip("") + Gzip(text.substr(0, half)) + Gzip("") + Gzip(text.substr(half)),
        Zstd("") + Zstd(text.substr(0, half)) + Zstd(text.substr(half)), Gzip(text) + std::string(512, '\0'),
        std::string("\x5e\x2a\x4d\x18\x04\0\0\0size", 12) + Zstd(text)}) {  // pzstd begins its files so
    const auto read = ReadAll(folder.Write("packed", packed));
    EXPECT_EQ(read.error, "");
    EXPECT_EQ(read.events, plain.events);
  }
}

TEST(ByteStream, ADictionaryOfZstdIsNamed) {
  const ScratchFolder folder;
  // A frame with the id of a dictionary, and one block of five bytes.
  const std::string frame("\x28\xb5\x2f\xfd\x21\x07\x05\x29\0\0hello", 15);
  const auto read = ReadAll(folder.Write("it's", frame));
  EXPECT_TRUE(read.events.empty());
  EXPECT_NE(read.error.find("packed with a dictionary. Use: zstd -dc -D DICTIONARY '"), std::string::npos)
      << read.error;
}

TEST(ByteStream, WhatStandsBeforeTheDamageIsRead) {
  const ScratchFolder folder;
  std::string text;
  for (int i = 0; i < 100'000; ++i) text += "{\"n\":" + std::to_string(i * 7919) + "}\n";
  for (const std::string& packed : {Gzip(text), Zstd(text)}) {
    const auto cut = ReadAll(folder.Write("cut", packed.substr(0, packed.size() / 2)));
    EXPECT_GT(cut.events.size(), 10'000u);
    EXPECT_LT(cut.events.size(), 100'000u);
    EXPECT_NE(cut.error.find("cut off"), std::string::npos) << cut.error;
    EXPECT_EQ(cut.events.back().back(), '}') << "no half line";
    std::string broken = packed;
    for (size_t i = 0; i < 64; ++i) broken[packed.size() / 2 + i] = static_cast<char>(i * 37);
    EXPECT_NE(ReadAll(folder.Write("broken", broken)).error, "");
  }
}

TEST(ByteStream, NamesAFormatThatItDoesntReadAndTheCommandThatConvertsIt) {
  const ScratchFolder folder;
  const struct {
    std::string bytes;
    const char* name;
    const char* command;
  } cases[] = {{"PAR1....", "Parquet", "seen-history"},
               {"ORC.....", "ORC", "seen-history"},
               {"Obj\x01....", "Avro", "seen-history"},
               {"PK\x03\x04....", "zip", "unzip -p"},
               {"BZh9....", "bzip2", "bzip2 -dc"},
               {"\xfd"
                "7zXZ....",
                "xz", "xz -dc"},
               {"\x04\x22\x4d\x18....", "lz4", "lz4 -dc"},
               {"\xff\xfeu\0s\0e\0", "UTF-16", "iconv -f UTF-16"}};
  for (const auto& c : cases) {
    const std::string path = folder.Write("file", c.bytes);
    const auto found = FindHistoryFiles(std::vector{path});
    ASSERT_FALSE(found) << c.name;
    EXPECT_EQ(found.error().code, Code::kInvalidArgument);
    for (const std::string& part :
         {std::string(c.name), std::string(c.command), path, std::string("| seenctl replay -")})
      EXPECT_NE(found.error().message.find(part), std::string::npos) << found.error().message;
  }
}

std::string Tar(bool is_old) {
  std::string head(512, '\0');
  head.replace(0, 7, "a.jsonl");
  head.replace(100, 7, "0000644");
  if (!is_old) head.replace(257, 5, "ustar");
  unsigned sum = 8 * ' ';
  for (const char byte : head) sum += static_cast<unsigned char>(byte);
  char octal[8];
  std::snprintf(octal, sizeof(octal), "%06o", sum);
  head.replace(148, 6, octal);
  return head + std::string(1024, '\0');
}

TEST(ForeignFormat, IsFoundInAPackedFileAndQuotedForTheShell) {
  const ScratchFolder folder;
  const std::string line = "{\"user_id\":\"caf\xe9\"}\n", gbk = "{\"title\":\"\xd6\xd0\xce\xc4\"}\n";
  const struct {
    std::string bytes;
    const char* name;
    const char* command;
  } cases[] = {
      {Tar(false), "a tar", "tar -xOf 'it'\\''s $(x)' | seenctl replay -"},
      {Tar(true), "a tar", "tar -xOf 'it'\\''s $(x)' | seenctl replay -"},
      {Gzip(Tar(false)), "a tar in a gzip", "tar -xzOf 'it'\\''s $(x)' | seenctl replay -"},
      {Zstd(Tar(true)), "a tar in a zstd", "zstd -dc 'it'\\''s $(x)' | tar -xOf - | seenctl replay -"},
      {Gzip(Gzip("{}")), "a packed file in a gzip", "gzip -dc 'it'\\''s $(x)' | seenctl replay -"},
      {Gzip("PAR1...."), "a Parquet file in a gzip",
       "> UNPACKED && seen-history UNPACKED | seenctl replay -"},
      {"7z\xbc\xaf\x27\x1c....", "a 7z archive", "7z x -so"},
      {"Rar!\x1a\x07....", "a rar archive", "unrar p"},
      {"\x1f\x9d\x90.....", "a .Z file", "gzip -dc"},
      {std::string("\xff\x06\0\0sNaPpY...", 13), "snappy", "snzip -dc"},
      {std::string("\0\0\x01\0\0\0\0\x20\x80\x02....abcdef", 20), "snappy of Hadoop", "snzip -dc"},
      {std::string("\x89LZO\0\r\n\x1a\n...", 12), "lzo", "lzop -dc"},
      {"PK\x03\x04" + std::string(26, '\0') + "[Content_Types].xml", "an Excel file", "seen-history"},
      {std::string("\xff\xfe\0\0{\0\0\0", 8), "UTF-32 text", "iconv -f UTF-32"},
      {std::string("{\0\"\0a\0\"\0", 8), "UTF-16 text", "iconv -f UTF-16LE"},
      {line + line + line, "Latin-1 text", "iconv -f WINDOWS-1252"},
      {gbk + gbk + gbk, "GBK text", "iconv -f GB18030"},
      {Zlib(Tar(false)), "a tar in a zlib", "pigz -dc < 'it'\\''s $(x)' | tar -xOf - | seenctl replay -"},
      {Gzip(gbk + gbk + gbk), "GBK text in a gzip",
       "gzip -dc 'it'\\''s $(x)' | iconv -f GB18030 -t UTF-8 | seenctl replay -"},
      {std::string("\x80\x05\x95\x01\0\0\0\0", 8), "binary data of an unknown form", "pipe its lines"},
  };
  for (const auto& c : cases) {
    const auto read = ReadAll(folder.Write("it's $(x)", c.bytes));
    EXPECT_NE(read.error.find(c.name), std::string::npos) << c.name << ": " << read.error;
    std::string command = c.command;  // the name has its folder
    if (const size_t at = command.find("'it'"); at != std::string::npos)
      command.insert(at + 1, folder.Path(""));
    EXPECT_NE(read.error.find(command), std::string::npos) << command << ": " << read.error;
  }
}

TEST(ForeignFormat, TheNameOfAFileIsNoOption) {
  EXPECT_EQ(ShellQuoted("-rf"), "'./-rf'");
  EXPECT_EQ(ShellQuoted("-\n"), "$'./-\\012'");
  EXPECT_EQ(ShellQuoted("a-b"), "'a-b'");
}

TEST(ForeignFormat, AControlCharacterInALineOfJsonMakesNoBinaryFile) {
  const ScratchFolder folder;
  const std::string zeros(40, '\0'), good = "{\"a\":1}\n";
  for (const std::string& first :
       {zeros + "\"}\n", zeros + good, "\n" + zeros + "\n", "{\"a\":\"\x01\"}\n" + good,
        std::string("\xef\xbb\xbf{\"a\":\"\x01\"}\n"), std::string("[{\"a\":\"\x01\"}]\n")}) {
    const auto read = ReadAll(folder.Write("f", first + good));
    EXPECT_EQ(read.error, "");
    ASSERT_FALSE(read.events.empty());
    EXPECT_EQ(read.events.back(), "{\"a\":1}");
  }
  EXPECT_NE(ReadAll(folder.Write("g", zeros + "\nodd\n")).error.find("binary data"), std::string::npos);
}

TEST(ForeignFormat, AFewBrokenLinesAreNoOtherEncoding) {
  const ScratchFolder folder;
  std::string text;
  for (int i = 0; i < 200; ++i) text += i % 50 == 7 ? "{\"a\":\"caf\xe9\"}\n" : "{\"a\":1}\n";
  EXPECT_EQ(ReadAll(folder.Write("f", text)).events.size(), 200u);
  EXPECT_EQ(ReadAll(folder.Write("g", "{\"a\":\"\xe4\xb8\xad\"}\n{\"b\":\"\xff\"}\n")).events.size(), 2u);
  const std::string broken = "{\"a\":\"caf\xe9\"}\n";
  EXPECT_EQ(ReadAll(folder.Write("h", broken)).events.size(), 1u) << "one line is a reject";
  EXPECT_EQ(ReadAll(folder.Write("i", broken + broken)).events.size(), 2u);
  const std::string path = folder.Write("j", broken + broken + broken);
  EXPECT_NE(ReadAll(path).error.find("Latin-1"), std::string::npos);
  auto file = FindHistoryFiles(std::vector{path})->at(0);
  file.may_be_broken = true;
  EXPECT_TRUE(HistoryReader::Open(file));
}

TEST(HistoryFiles, AreFoundOnceByNameGlobAndFolder) {
  const ScratchFolder folder;
  std::filesystem::create_directories(folder.Path("days/more"));
  std::filesystem::create_directories(folder.Path("days/.hidden"));
  for (const char* name : {"days/b", "days/a", "days/more/c", "days/_SUCCESS", "days/.crc", "days/.hidden/d"})
    folder.Write(name, "{}\n");
  const auto names = [&](const std::vector<std::string>& arguments) {
    const auto files = FindHistoryFiles(arguments);
    EXPECT_TRUE(files) << files.error().message;
    std::vector<std::string> found;
    for (const HistoryFile& file : *files) found.push_back(file.name.substr(folder.Path("days/").size()));
    return found;
  };
  EXPECT_EQ(names({folder.Path("days")}), (std::vector<std::string>{"a", "b", "more/c"}));
  EXPECT_EQ(names({folder.Path("days/[ab]")}), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(names({folder.Path("days/b"), folder.Path("days/./b"), folder.Path("days/../days/b")}),
            (std::vector<std::string>{"b"}));
  EXPECT_FALSE(FindHistoryFiles(std::vector{folder.Path("nothing*")}));
  EXPECT_FALSE(FindHistoryFiles(std::vector<std::string>{folder.Path("days/a"), "-"}));
}

TEST(HistoryFiles, AreFoundBehindLinksToFoldersAndLoopsEnd) {
  const ScratchFolder folder;
  std::filesystem::create_directories(folder.Path("days/more"));
  std::filesystem::create_directories(folder.Path("elsewhere"));
  for (const char* name : {"days/a", "days/more/new\nline 'b", "elsewhere/c"}) folder.Write(name, "{}\n");
  std::filesystem::create_directory_symlink("../elsewhere", folder.Path("days/link"));
  std::filesystem::create_directory_symlink("../..", folder.Path("days/more/up"));
  std::filesystem::create_directory_symlink("..", folder.Path("days/more/again"));
  const auto files = FindHistoryFiles(std::vector{folder.Path("days")});
  ASSERT_TRUE(files) << files.error().message;
  ASSERT_EQ(files->size(), 3u);
  EXPECT_TRUE(files->at(2).name.ends_with("/elsewhere/c"));
  std::filesystem::create_symlink("itself", folder.Path("days/itself"));
  const auto endless = FindHistoryFiles(std::vector{folder.Path("days")});
  ASSERT_FALSE(endless);
  EXPECT_NE(endless.error().message.find("days/itself"), std::string::npos);
}

TEST(HistoryFiles, AFolderWithoutFilesAndAPipeAreNamed) {
  const ScratchFolder folder;
  std::filesystem::create_directories(folder.Path("empty/more"));
  folder.Write("empty/_SUCCESS", "");
  const auto empty = FindHistoryFiles(std::vector{folder.Path("empty")});
  ASSERT_FALSE(empty);
  EXPECT_EQ(empty.error().code, Code::kInvalidArgument);
  EXPECT_NE(empty.error().message.find("this folder has no file"), std::string::npos);
  ASSERT_EQ(mkfifo(folder.Path("empty/pipe").c_str(), 0600), 0);
  for (const std::string& path :
       {folder.Path("empty"), folder.Path("empty/pipe"), std::string("/dev/null")}) {
    const auto pipe = FindHistoryFiles(std::vector{path});
    ASSERT_FALSE(pipe) << path;
    EXPECT_EQ(pipe.error().code, Code::kInvalidArgument);
    EXPECT_NE(pipe.error().message.find("| seenctl replay -"), std::string::npos) << pipe.error().message;
  }
}

TEST(HistoryReader, AFileThatBecomesShorterIsDamaged) {
  const ScratchFolder folder;
  std::string text;
  for (int i = 0; i < 100'000; ++i) text += "{\"n\":" + std::to_string(i) + "}\n";
  const auto files = FindHistoryFiles(std::vector{folder.Write("file", text)});
  ASSERT_TRUE(files);
  auto reader = HistoryReader::Open(files->at(0));
  ASSERT_TRUE(reader);
  std::string_view line;
  ASSERT_TRUE(reader->Next(line));
  std::filesystem::resize_file(folder.Path("file"), text.size() * 3 / 4);
  auto more = reader->Next(line);
  while (more && *more) more = reader->Next(line);
  ASSERT_FALSE(more);
  EXPECT_EQ(more.error().code, Code::kMalformed);
  EXPECT_NE(more.error().message.find("became shorter"), std::string::npos) << more.error().message;
}

TEST(HistoryReader, BlankLinesAndAMarkOfByteOrderAreNothing) {
  const ScratchFolder folder;
  const auto read = ReadAll(folder.Write("f", "\xef\xbb\xbf\n{\"a\":1}\r\n \n\n{\"a\":2}"));
  EXPECT_EQ(read.events, (std::vector<std::string>{"{\"a\":1}", "{\"a\":2}"}));
}

TEST(HistoryReader, ABrokenFirstLineDoesntMakeATable) {
  const ScratchFolder folder;
  const auto read = ReadAll(folder.Write("f", "broken, line\n{\"a\":1}\n"));
  EXPECT_EQ(read.events, (std::vector<std::string>{"broken, line", "{\"a\":1}"}));
  EXPECT_EQ(ReadAll(folder.Write("g", "[{\"a\":1}]")).events, (std::vector<std::string>{"{\"a\":1}"}));
}

TEST(HistoryReader, NamesTheCommandThatReadsATable) {
  const ScratchFolder folder;
  for (const char* text : {"user_id,item_id\n1,2\n", "uid\titem\n1\t2\n", "a;b\n1;2\n"}) {
    const auto read = ReadAll(folder.Write("it's.csv", text));
    EXPECT_TRUE(read.error.ends_with("it'\\''s.csv' | seenctl replay -")) << read.error;
    EXPECT_NE(read.error.find("Use: seen-history"), std::string::npos) << read.error;
  }
}

TEST(DistinctCount, IsExactForFewAndNearForMany) {
  for (const uint64_t different : {0u, 1u, 99'999u, 300'000u, 3'000'000u}) {
    DistinctCount count;
    for (int round = 0; round < 2; ++round) {
      for (uint64_t i = 0; i < different; ++i) count.Add(RecordHash({}, std::to_string(i)));
    }
    if (different < 100'000) {
      EXPECT_EQ(count.count(), different);
    } else {
      EXPECT_NEAR(static_cast<double>(count.count()) / static_cast<double>(different), 1, 0.03);
    }
  }
}

}  // namespace
}  // namespace seen
