#pragma once

#include "flow/log_port.h"
#include "model/record_hash.h"

namespace seen {

/// The record's anchor. It distinguishes the record from any other that could stand at its offset.
inline Anchor AnchorOf(const Record& record) {
  return {record.offset, record.timestamp, RecordHash(record.key, record.value)};
}

}  // namespace seen
