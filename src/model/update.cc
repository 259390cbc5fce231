#include "model/update.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/byte_codec.h"
#include "base/result.h"
#include "model/checksum.h"

namespace seen {
namespace {

constexpr size_t kSectionBytes = 16;
constexpr size_t kUserBytes = sizeof(uint64_t) + sizeof(uint16_t);
constexpr size_t kItemBytes = sizeof(uint32_t);
constexpr size_t kItemsAnEntry = UINT16_MAX;
constexpr size_t kHeaderBytesMin = 56;
constexpr size_t kChecksumAt = 8;

}  // namespace

uint64_t UpdateUserOf(std::string_view user_id) { return XXH64(user_id.data(), user_id.size(), 0); }

UpdateRows::Section& UpdateRows::Find(uint16_t mask, AdditionKind kind, uint32_t until_s) {
  const auto is_it = [&](const Section& section) {
    return section.mask == mask && section.kind == kind && section.until_s == until_s;
  };
  if (last_ < used_ && is_it(sections_[last_])) [[likely]]
    return sections_[last_];
  for (last_ = 0; last_ < used_; ++last_) {
    if (is_it(sections_[last_])) return sections_[last_];
  }
  if (used_ == sections_.size()) sections_.emplace_back();
  Section& section = sections_[used_++];
  section.mask = mask;
  section.kind = kind;
  section.until_s = until_s;
  bytes_ += kSectionBytes;
  return section;
}

void UpdateRows::Add(uint16_t mask, AdditionKind kind, uint32_t until_s, uint64_t user,
                     std::span<const Fingerprint> items) {
  Section& section = Find(mask, kind, until_s);
  for (const Fingerprint item : items) section.items.push_back(item.value);
  for (size_t left = items.size(); left > 0;) {
    const size_t here = std::min(left, kItemsAnEntry);
    section.users.push_back(user);
    section.counts.push_back(static_cast<uint16_t>(here));
    bytes_ += kUserBytes;
    left -= here;
  }
  bytes_ += items.size() * kItemBytes;
  items_ += items.size();
}

void UpdateRows::Clear() {
  for (size_t i = 0; i < used_; ++i) {
    sections_[i].users.clear();
    sections_[i].counts.clear();
    sections_[i].items.clear();
    sections_[i].marked_users = sections_[i].marked_items = 0;
  }
  used_ = 0;
  last_ = 0;
  bytes_ = 0;
  items_ = 0;
}

void UpdateRows::Mark() {
  for (size_t i = 0; i < used_; ++i) {
    sections_[i].marked_users = sections_[i].users.size();
    sections_[i].marked_items = sections_[i].items.size();
  }
}

void UpdateRows::SplitAtMark(UpdateRows& rest) {
  Check(rest.empty(), "the rest begins empty");
  const size_t used = std::exchange(used_, 0);
  last_ = bytes_ = items_ = 0;
  for (size_t i = 0; i < used; ++i) {
    Section& section = sections_[i];
    if (section.users.size() > section.marked_users) {
      Section& moved = rest.Find(section.mask, section.kind, section.until_s);
      const auto users = static_cast<std::ptrdiff_t>(section.marked_users);
      moved.users.assign(section.users.begin() + users, section.users.end());
      moved.counts.assign(section.counts.begin() + users, section.counts.end());
      moved.items.assign(section.items.begin() + static_cast<std::ptrdiff_t>(section.marked_items),
                         section.items.end());
      rest.Count(moved);
      section.users.resize(section.marked_users);
      section.counts.resize(section.marked_users);
      section.items.resize(section.marked_items);
    }
    if (section.users.empty()) continue;
    bytes_ += kSectionBytes;
    Count(section);
    if (used_ != i) std::swap(sections_[used_], section);
    ++used_;
  }
}

void UpdateRows::Count(const Section& section) {
  bytes_ += section.users.size() * kUserBytes + section.items.size() * kItemBytes;
  items_ += section.items.size();
}

void UpdateRows::AppendTo(std::string& out) const {
  for (size_t i = 0; i < used_; ++i) {
    const Section& section = sections_[i];
    PutLittleEndian(section.mask, out);
    PutLittleEndian(static_cast<uint8_t>(section.kind), out);
    PutLittleEndian(uint8_t{0}, out);
    PutLittleEndian(section.until_s, out);
    PutLittleEndian(static_cast<uint32_t>(section.users.size()), out);
    PutLittleEndian(static_cast<uint32_t>(section.items.size()), out);
    PutAll(section.users, out);
    PutAll(section.counts, out);
    PutAll(section.items, out);
  }
}

void EncodeUpdate(const UpdateHeader& header, std::span<const std::string> names, const UpdateRows& rows,
                  std::string& out) {
  size_t header_bytes = 49;
  for (const std::string& name : names) header_bytes += 1 + name.size();
  header_bytes = std::max(kHeaderBytesMin, header_bytes);
  Check(!names.empty() && names.size() <= 16, "an update names 1 to 16 filters");
  out.clear();
  out.append("SEEU");
  PutLittleEndian(uint8_t{1}, out);
  PutLittleEndian(header.part, out);
  PutLittleEndian(static_cast<uint16_t>(header_bytes), out);
  PutLittleEndian(uint32_t{0}, out);  // the checksum's place
  PutLittleEndian(header.partition, out);
  PutLittleEndian(header.generation, out);
  PutLittleEndian(header.from, out);
  PutLittleEndian(header.to, out);
  PutLittleEndian(header.as_of.value, out);
  PutLittleEndian(static_cast<uint8_t>(names.size()), out);
  for (const std::string& name : names) {
    Check(!name.empty() && name.size() <= UINT8_MAX, "a filter's name has 1 to 255 bytes");
    PutText<uint8_t>(name, out);
  }
  out.resize(header_bytes, '\0');
  rows.AppendTo(out);
  std::string checksum;
  PutLittleEndian(ChecksumOf(out, kChecksumAt), checksum);
  std::memcpy(out.data() + kChecksumAt, checksum.data(), checksum.size());
}

}  // namespace seen
