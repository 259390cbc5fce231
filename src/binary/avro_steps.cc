#include "binary/avro_steps.h"

#include <bit>
#include <cmath>
#include <unordered_map>

#include "binary/avro_values.h"
#include "binary/valid_text.h"

namespace seen {
namespace {

using Type = AvroType;
using Do = AvroSteps::Do;
using For = AvroSteps::For;
using Node = AvroReading::Node;

/// The values that a plan asks for below one place.
struct Wish {
  std::string step;  // that leads here
  std::vector<Wish> within;
  uint32_t slots = 0;
  bool is_items = false;

  void Add(const EventPlan::Place& place) {
    Wish* wish = this;
    for (const std::string& next : place.steps) {
      Wish* found = wish->Find(next);
      if (found == nullptr) {
        found = &wish->within.emplace_back();
        found->step = next;
      }
      wish = found;
    }
    if (place.slot == static_cast<uint8_t>(Field::kItems)) {
      wish->is_items = true;
    } else {
      wish->slots |= SlotBit(place.slot);
    }
  }
  Wish* Find(std::string_view name) {
    for (Wish& wish : within) {
      if (wish.step == name) return &wish;
    }
    return nullptr;
  }
  bool IsNone() const { return within.empty() && slots == 0 && !is_items; }
};

class StepMaker {
 public:
  StepMaker(const AvroReading& reading, const EventPlan& plan) : reading_(reading) {
    for (const auto& place : plan.event_places) wish_.Add(place);
    for (const auto& place : plan.element_places) item_wish_.Add(place);
  }

  AvroSteps Make() {
    MakeEvent(reading_.root);
    Add(Do::kEnd);
    MakeCalled();
    if (steps_.steps.size() > AvroSteps::kStepsMax) return {};
    return std::move(steps_);
  }

 private:
  uint32_t Here() const { return static_cast<uint32_t>(steps_.steps.size()); }
  bool IsFull() const { return steps_.steps.size() > AvroSteps::kStepsMax; }
  uint32_t Add(Do what, uint32_t a = 0, uint32_t b = 0) {
    steps_.steps.push_back({what, a, b});
    return Here() - 1;
  }
  AvroSteps::Step& At(uint32_t step) { return steps_.steps[step]; }

  // A null event is no event.
  void MakeEvent(uint32_t at) {
    const Node& node = reading_[at];
    if (node.type == Type::kUnion && node.mismatch.empty()) {
      MakeBranches(node, [&](uint32_t branch) { MakeEvent(branch); });
    } else if (node.type != Type::kRecord || !node.mismatch.empty()) {
      Add(Do::kLongWay);
    } else {
      MakeFields(node, wish_, For::kEvent);
    }
  }

  template <typename Make>
  void MakeBranches(const Node& node, const Make& make) {
    const auto first = static_cast<uint32_t>(steps_.branches.size());
    steps_.branches.resize(first + node.within.size());
    Add(Do::kBranch, first, static_cast<uint32_t>(node.within.size()));
    std::vector<uint32_t> ends;
    for (size_t i = 0; i < node.within.size() && !IsFull(); ++i) {
      steps_.branches[first + i] = Here();
      make(node.within[i]);
      ends.push_back(Add(Do::kGo));
      Barrier();
    }
    for (const uint32_t end : ends) At(end).a = Here();
    Barrier();
  }

  static bool MayBeOptional(Do what) {
    return what == Do::kSkipLong || what == Do::kSkipBytes || what == Do::kTake || what == Do::kTakeText ||
           what == Do::kTakeNumber || what == Do::kTakeTime;
  }
  // One step instead of the last four or so, if they are those of a union of null and one simple value.
  void MakeOptional() {
    auto& steps = steps_.steps;
    auto& branches = steps_.branches;
    if (branches.size() < 2) return;
    const size_t first = branches.size() - 2;
    // The branch that is null has its kGo alone, and the other one step and a kGo.
    if (steps.size() < 4) return;
    const size_t branch = steps.size() - 4;
    if (steps[branch].what != Do::kBranch || steps[branch].a != first || steps[branch].b != 2) return;
    const bool null_is_first = branches[first + 1] == branches[first] + 1;
    if (!null_is_first && branches[first + 1] != branches[first] + 2) return;
    AvroSteps::Step step = steps[null_is_first ? branch + 2 : branch + 1];
    if (!MayBeOptional(step.what)) return;
    step.b = null_is_first ? 0 : 1;
    steps.resize(branch);
    branches.resize(first);
    steps.push_back(step);
    Barrier();
  }

  void MakeFields(const Node& node, Wish& wish, For part) {
    for (const AvroReading::Member& member : node.members) {
      Wish* const asked = member.kept ? wish.Find(member.name) : nullptr;
      if (asked != nullptr) {
        MakeValue(member.node, *asked, part);
      } else {
        MakeSkip(member.node);
      }
    }
    for (const AvroReading::Default& each : node.defaults) {
      Wish* const asked = wish.Find(each.name);
      if (asked == nullptr) continue;
      Add(Do::kBeginDefault, static_cast<uint32_t>(steps_.defaults.size()));
      steps_.defaults.push_back(each.bytes);
      Barrier();
      MakeValue(each.node, *asked, part);
      Add(Do::kEndDefault);
      Barrier();
    }
  }

  void MakeValue(uint32_t at, Wish& wish, For part) {
    const Node& node = reading_[at];
    if (IsFull()) return;
    if (wish.IsNone()) return MakeSkip(at);
    if (!node.mismatch.empty()) return void(Add(Do::kLongWay));
    switch (node.type) {
      case Type::kNull:
        return;
      case Type::kUnion:
        MakeBranches(node, [&](uint32_t branch) { MakeValue(branch, wish, part); });
        return MakeOptional();
      case Type::kRecord:
        if (wish.is_items) return void(Add(Do::kLongWay));
        MakeTakeOther(wish, part);
        return MakeFields(node, wish, part);
      case Type::kArray:
        if (!wish.within.empty()) return void(Add(Do::kLongWay));  // a step may be an index
        MakeTakeOther(wish, part);
        return wish.is_items ? MakeItems(node) : MakeSkip(at);
      case Type::kMap:
        if (!wish.within.empty() || wish.is_items) return void(Add(Do::kLongWay));
        MakeTakeOther(wish, part);
        return MakeSkip(at);
      default:
        break;
    }
    if (node.logical == AvroLogical::kDuration) return MakeSkip(at);
    // The step may lead into JSON in the text.
    const bool may_be_json = IsText(node) || node.type == Type::kFixed;
    if (wish.is_items || (may_be_json && !wish.within.empty()) || node.logical == AvroLogical::kDecimal)
      return void(Add(Do::kLongWay));
    if (wish.slots == 0) return MakeSkip(at);
    MakeTake(node, wish.slots, part);
  }

  void MakeTake(const Node& node, uint32_t slots, For part) {
    const Do quick = std::has_single_bit(slots) && part == For::kEvent ? QuickTake(node) : Do::kTake;
    if (quick != Do::kTake)
      return void(Add(quick, static_cast<uint32_t>(std::countr_zero(slots)), AvroSteps::kNoUnion));
    Add(Do::kTake, static_cast<uint32_t>(steps_.takes.size()), AvroSteps::kNoUnion);
    AddTake(node, slots, part);
  }
  void AddTake(const Node& node, uint32_t slots, For part) {
    const bool is_fraction = node.shown == Type::kFloat || node.shown == Type::kDouble;
    steps_.takes.push_back({node.type, node.logical, is_fraction, part, slots, &node});
  }
  // The usual types of a feed's events have steps of their own.
  static Do QuickTake(const Node& node) {
    if (IsText(node)) return Do::kTakeText;
    if (node.type != Type::kLong || node.shown != Type::kLong) return Do::kTake;
    if (!IsPointInTime(node.logical)) return Do::kTakeNumber;
    return MillisecondsOf(node.logical, 1) == 1 ? Do::kTakeTime : Do::kTake;
  }
  static bool IsText(const Node& node) { return node.type == Type::kString || node.type == Type::kBytes; }
  static bool IsSimpleItem(const Node& node) {
    return node.mismatch.empty() && node.type >= Type::kBoolean && node.type <= Type::kEnum &&
           node.logical != AvroLogical::kDuration && node.logical != AvroLogical::kDecimal;
  }

  void MakeTakeOther(const Wish& wish, For part) {
    if (wish.slots != 0) Add(Do::kTakeOther, wish.slots, part == For::kItem ? 1 : 0);
  }

  void MakeItems(const Node& node) {
    const Node& item = reading_[node.within.front()];
    if (IsSimpleItem(item)) {
      if (IsText(item)) return void(Add(Do::kTakeTexts));
      Add(Do::kTakeItems, static_cast<uint32_t>(steps_.takes.size()));
      return AddTake(item, 0, For::kItemItself);
    }
    Add(Do::kBeginItems);
    MakeLoop(0, [&] { MakeItem(node.within.front()); });
  }

  void MakeItem(uint32_t at) {
    const Node& node = reading_[at];
    if (node.type == Type::kUnion && node.mismatch.empty())
      return MakeBranches(node, [&](uint32_t branch) { MakeItem(branch); });
    if (IsSimpleItem(node)) {
      MakeTake(node, 0, For::kItemItself);
    } else if (!node.mismatch.empty() || node.type != Type::kRecord) {
      Add(Do::kLongWay);
    } else {
      Add(Do::kBeginItem);
      MakeFields(node, item_wish_, For::kItem);
      Add(Do::kEndItem);
    }
  }

  template <typename Make>
  void MakeLoop(uint32_t unread, const Make& make) {
    Barrier();
    const uint32_t blocks = Add(Do::kBlocks, 0, unread);
    Barrier();
    const uint32_t body = Here();
    make();
    Add(Do::kNext, body, blocks);
    At(blocks).a = Here();
    Barrier();
  }

  void MakeSkip(uint32_t at) {
    const Node& node = reading_[at];
    if (IsFull()) return;
    if (!node.mismatch.empty()) return void(Add(Do::kLongWay));
    if (node.fixed_bytes) return MakeSkipBytes(*node.fixed_bytes);
    switch (node.type) {
      case Type::kInt:
      case Type::kLong:
      case Type::kEnum:
        Add(Do::kSkipLong, 0, AvroSteps::kNoUnion);
        return;
      case Type::kBytes:
      case Type::kString:
        Add(Do::kSkipBytes, 0, AvroSteps::kNoUnion);
        return;
      case Type::kUnion:
        MakeBranches(node, [&](uint32_t branch) { MakeSkip(branch); });
        return MakeOptional();
      case Type::kMap:
        return MakeLoop(1, [&] {
          Add(Do::kSkipBytes, 0, AvroSteps::kNoUnion);
          MakeSkip(node.within.front());
        });
      case Type::kArray:
        if (const auto bytes = reading_[node.within.front()].fixed_bytes)
          return void(Add(Do::kSkipBlocks, *bytes));
        return MakeLoop(1, [&] { MakeSkip(node.within.front()); });
      default:
        break;
    }
    // A record, which may hold itself: its steps are there once.
    calls_.push_back({Add(Do::kCall), at});
  }

  // Fixed bytes that follow one another are one step, if no step in between is gone to.
  void MakeSkipBytes(uint32_t bytes) {
    if (bytes == 0) return;
    if (Here() > barrier_ && steps_.steps.back().what == Do::kSkip &&
        bytes < UINT32_MAX - steps_.steps.back().a) {
      steps_.steps.back().a += bytes;
    } else {
      Add(Do::kSkip, bytes);
    }
  }
  void Barrier() { barrier_ = Here(); }

  void MakeCalled() {
    std::unordered_map<uint32_t, uint32_t> known;
    for (size_t i = 0; i < calls_.size() && !IsFull(); ++i) {
      const auto [step, node] = calls_[i];
      const auto [found, is_new] = known.emplace(node, Here());
      At(step).a = found->second;
      if (!is_new) continue;
      Barrier();
      for (const AvroReading::Member& member : reading_[node].members) MakeSkip(member.node);
      Add(Do::kReturn);
    }
  }

  const AvroReading& reading_;
  Wish wish_, item_wish_;
  AvroSteps steps_;
  struct CalledRecord {
    uint32_t step;
    uint32_t node;
  };
  std::vector<CalledRecord> calls_;
  uint32_t barrier_ = 0;  // no step before it is changed
};

}  // namespace

AvroSteps AvroSteps::Make(const AvroReading& reading, const EventPlan& plan) {
  if (!SlotEvent::IsFor(plan)) return {};
  return StepMaker(reading, plan).Make();
}

std::string_view AvroShortWay::UuidOf(std::string_view bytes) {
  if (uuids_used_ == kUuidsInBlock * uuids_.size())
    uuids_.push_back(std::make_unique<std::array<Uuid, kUuidsInBlock>>());
  Uuid& uuid = (*uuids_[uuids_used_ / kUuidsInBlock])[uuids_used_ % kUuidsInBlock];
  ++uuids_used_;
  WriteUuid(bytes, uuid.data());
  return {uuid.data(), uuid.size()};
}

bool AvroShortWay::TakeValue(const AvroSteps::Value& asked, AvroCursor& cursor, BinaryValue& value) {
  std::string_view text;
  switch (asked.type) {
    case Type::kBoolean:
      if (!cursor.Take(1, text) || static_cast<unsigned char>(text.front()) > 1) return false;
      value = BinaryValue::Boolean(text.front() != 0);
      return true;
    case Type::kInt:
    case Type::kLong: {
      int64_t number = 0;
      if (!cursor.TakeLong(number)) return false;
      if (asked.type == Type::kInt && number != static_cast<int32_t>(number)) return false;
      value = asked.is_fraction              ? BinaryValue::Fraction(static_cast<double>(number))
              : IsPointInTime(asked.logical) ? BinaryValue::Time(MillisecondsOf(asked.logical, number))
                                             : BinaryValue::Integer(number);
      return true;
    }
    case Type::kFloat: {
      float number = 0;
      if (!cursor.TakeNumber(number)) return false;
      value = BinaryValue::Fraction(double{number});
      return true;
    }
    case Type::kDouble: {
      double number = 0;
      if (!cursor.TakeNumber(number)) return false;
      value = BinaryValue::Fraction(number);
      return true;
    }
    case Type::kEnum: {
      const auto& symbols = asked.node->symbols;
      int64_t symbol = 0;
      if (!cursor.TakeLong(symbol) || symbol < 0 || static_cast<uint64_t>(symbol) >= symbols.size())
        return false;
      const auto& name = symbols[static_cast<size_t>(symbol)];
      if (name) value = BinaryValue::String(*name);
      return name.has_value();
    }
    case Type::kBytes:
    case Type::kString:
      if (!cursor.TakeBytes(text)) return false;
      break;
    case Type::kFixed:
      if (!cursor.Take(asked.node->size, text)) return false;
      if (asked.logical == AvroLogical::kUuid) text = UuidOf(text);
      break;
    default:
      return false;
  }
  value = BinaryValue::String(text);
  return IsValidText(text);
}

bool AvroShortWay::Take(const AvroSteps::Value& asked, AvroCursor& cursor) {
  const bool is_fraction = asked.is_fraction || asked.type == Type::kFloat || asked.type == Type::kDouble;
  if (asked.part == For::kItemItself || is_fraction) [[unlikely]]
    return TakeOther(asked, cursor);
  const bool of_item = asked.part == For::kItem;
  BinaryValue& value = event_.PlaceOf(static_cast<uint8_t>(std::countr_zero(asked.slots)), of_item);
  if (!TakeValue(asked, cursor, value)) return false;
  for (uint32_t slots = asked.slots & (asked.slots - 1); slots != 0; slots &= slots - 1)
    event_.PlaceOf(static_cast<uint8_t>(std::countr_zero(slots)), of_item) = value;
  return true;
}

// A value that the long way leaves out isn't taken.
bool AvroShortWay::TakeOther(const AvroSteps::Value& asked, AvroCursor& cursor) {
  BinaryValue value;
  if (!TakeValue(asked, cursor, value)) return false;
  const bool is_null = value.kind() == BinaryValue::Kind::kFraction && !std::isfinite(value.fraction());
  if (asked.part == For::kItemItself) return !is_null && event_.AddItem(value);
  for (uint32_t slots = is_null ? 0 : asked.slots; slots != 0; slots &= slots - 1)
    event_.PlaceOf(static_cast<uint8_t>(std::countr_zero(slots)), asked.part == For::kItem) = value;
  return true;
}

template <typename TakeItem>
bool AvroShortWay::TakeItems(AvroCursor& given, const TakeItem& take_item) {
  event_.BeginItems();
  AvroCursor cursor = given;
  uint64_t count = 0;
  int64_t bytes = 0;
  while (cursor.TakeBlock(count, bytes)) {
    if (count == 0) {
      given = cursor;
      return true;
    }
    const size_t from = cursor.left();
    if (count > from) return false;
    for (; count != 0; --count) {
      if (!take_item(cursor)) return false;
    }
    if (bytes >= 0 && from - cursor.left() != static_cast<uint64_t>(bytes)) return false;
  }
  return false;
}

bool AvroShortWay::Run(std::string_view payload) {
  AvroCursor cursor(payload), outer;  // stays in registers: no function that isn't in line gets its address
  size_t depth = 0;
  std::string_view text;
  const AvroSteps::Step* const steps = steps_.steps.data();
  // Of a union with null: whether it is null. In line, as all that has the cursor.
  const auto take_branch = [&](const AvroSteps::Step& of, bool& is_null) __attribute__((always_inline)) {
    if (of.b == AvroSteps::kNoUnion) return true;
    int64_t branch = 0;
    if (!cursor.TakeLong(branch) || branch < 0 || branch > 1) return false;
    is_null = branch == int64_t{of.b};
    return true;
  };
  for (uint32_t at = 0;; ++at) {
    const AvroSteps::Step& step = steps[at];
    int64_t number = 0;
    bool is_null = false;
    switch (step.what) {
      case Do::kSkip:
        if (!cursor.Skip(step.a)) return false;
        break;
      case Do::kSkipLong:
        if (!take_branch(step, is_null)) return false;
        if (!is_null && !cursor.TakeLong(number)) return false;
        break;
      case Do::kSkipBytes:
        if (!take_branch(step, is_null)) return false;
        if (!is_null && !cursor.TakeBytes(text)) return false;
        break;
      case Do::kTakeText:
        if (!take_branch(step, is_null)) return false;
        if (is_null) break;
        if (!cursor.TakeBytes(text) || !IsValidText(text)) return false;
        event_.PlaceOf(static_cast<uint8_t>(step.a), false) = BinaryValue::String(text);
        break;
      case Do::kTakeNumber:
      case Do::kTakeTime:
        if (!take_branch(step, is_null)) return false;
        if (is_null) break;
        if (!cursor.TakeLong(number)) return false;
        event_.PlaceOf(static_cast<uint8_t>(step.a), false) =
            step.what == Do::kTakeTime ? BinaryValue::Time(number) : BinaryValue::Integer(number);
        break;
      case Do::kSkipBlocks:
        for (uint64_t count = 1; count != 0;) {
          if (!cursor.TakeBlock(count, number)) return false;
          // Elements without bytes may be any number, which the long way limits.
          if (count != 0 && (step.a == 0 || count > cursor.left() / step.a)) return false;
          if (number >= 0 && static_cast<uint64_t>(number) != count * step.a) return false;
          cursor.Skip(count * step.a);
        }
        break;
      case Do::kBlocks: {
        uint64_t count = 0;
        if (!cursor.TakeBlock(count, number)) return false;
        if (count == 0) {
          at = step.a - 1;
        } else if (number >= 0 && step.b != 0) {
          cursor.Skip(static_cast<uint64_t>(number));
          --at;
        } else {
          if (count > cursor.left() || depth == frames_.size()) return false;
          frames_[depth++] = {count, number, cursor.left()};
        }
        break;
      }
      case Do::kNext: {
        Frame& frame = frames_[depth - 1];
        if (--frame.left != 0) {
          at = step.a - 1;
          break;
        }
        if (frame.bytes >= 0 && frame.from - cursor.left() != static_cast<uint64_t>(frame.bytes))
          return false;
        --depth;
        at = step.b - 1;
        break;
      }
      case Do::kTake:
        if (!take_branch(step, is_null)) return false;
        if (is_null) break;
        if (AvroCursor copy = cursor; Take(steps_.takes[step.a], copy)) {
          cursor = copy;
          break;
        }
        return false;
      case Do::kTakeItems: {
        AvroCursor copy = cursor;
        const auto take = [&](AvroCursor& item) { return TakeOther(steps_.takes[step.a], item); };
        if (!TakeItems(copy, take)) return false;
        cursor = copy;
        break;
      }
      case Do::kTakeTexts: {
        AvroCursor copy = cursor;
        const auto take = [&](AvroCursor& item) {
          return item.TakeBytes(text) && IsValidText(text) && event_.AddText(text);
        };
        if (!TakeItems(copy, take)) return false;
        cursor = copy;
        break;
      }
      case Do::kTakeOther:
        for (uint32_t slots = step.a; slots != 0; slots &= slots - 1) {
          const auto slot = static_cast<uint8_t>(std::countr_zero(slots));
          step.b != 0 ? event_.TakeOfItem(slot, {}) : event_.Take(slot, {});
        }
        break;
      case Do::kBranch:
        if (!cursor.TakeLong(number) || number < 0 || number >= int64_t{step.b}) return false;
        at = steps_.branches[step.a + static_cast<size_t>(number)] - 1;
        break;
      case Do::kGo:
        at = step.a - 1;
        break;
      case Do::kCall:
        if (depth == frames_.size()) return false;
        frames_[depth++].left = at;
        at = step.a - 1;
        break;
      case Do::kReturn:
        at = static_cast<uint32_t>(frames_[--depth].left);
        break;
      case Do::kBeginItems:
        event_.BeginItems();
        break;
      case Do::kBeginItem:
        event_.BeginItem();
        break;
      case Do::kEndItem:
        if (!event_.EndItem()) return false;
        break;
      case Do::kBeginDefault:
        outer = cursor;
        cursor = AvroCursor(steps_.defaults[step.a]);
        break;
      case Do::kEndDefault:
        cursor = outer;
        break;
      case Do::kLongWay:
        return false;
      case Do::kEnd:
        return cursor.AtEnd();
    }
  }
}

bool AvroShortWay::Read(std::string_view payload, EventBuffers& buffers, Event& event) {
  if (steps_.steps.empty()) return false;
  uuids_used_ = 0;
  event_.Begin(buffers);
  return Run(payload) && event_.Finish(event);
}

}  // namespace seen
