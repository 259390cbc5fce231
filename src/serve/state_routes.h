#pragma once
// Pages about the partitions' state as a whole: docs/HTTP.md, "Digests" and "Copies".

#include <string_view>

#include "serve/http_message.h"
#include "serve/state_copies_port.h"

namespace seen {

// `copies`: nullptr while the daemon has no state yet. Any thread.
HttpResponse AnswerDigest(StateCopiesPort* copies, const HttpRequest& request);
HttpResponse MakeCopy(StateCopiesPort* copies, const HttpRequest& request);
HttpResponse ReleaseCopy(StateCopiesPort* copies, std::string_view copy, const HttpRequest& request);

}  // namespace seen
