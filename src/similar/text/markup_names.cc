#include "similar/text/markup_names.h"

#include <algorithm>
#include <iterator>
#include <span>

namespace seen {
namespace {

constexpr std::string_view kWithinLine[] = {
    "a",    "abbr",   "acronym", "b",   "bdi", "bdo",   "big",  "cite", "code", "data", "del",  "dfn",
    "em",   "font",   "i",       "ins", "kbd", "label", "mark", "nobr", "q",    "s",    "samp", "small",
    "span", "strike", "strong",  "sub", "sup", "time",  "tt",   "u",    "var",  "wbr"};
constexpr std::string_view kBreaks[] = {
    "address",  "applet",     "area",     "article", "aside",   "audio",    "base",     "blockquote",
    "body",     "br",         "button",   "canvas",  "caption", "center",   "col",      "colgroup",
    "dd",       "details",    "dialog",   "dir",     "div",     "dl",       "dt",       "embed",
    "fieldset", "figcaption", "figure",   "footer",  "form",    "frame",    "frameset", "h1",
    "h2",       "h3",         "h4",       "h5",      "h6",      "head",     "header",   "hgroup",
    "hr",       "html",       "iframe",   "img",     "input",   "legend",   "li",       "link",
    "main",     "map",        "menu",     "meta",    "meter",   "nav",      "noframes", "noscript",
    "object",   "ol",         "optgroup", "option",  "output",  "p",        "param",    "picture",
    "pre",      "progress",   "rp",       "rt",      "ruby",    "section",  "select",   "source",
    "summary",  "svg",        "table",    "tbody",   "td",      "template", "textarea", "tfoot",
    "th",       "thead",      "title",    "tr",      "track",   "ul",       "video"};
static_assert(std::is_sorted(std::begin(kWithinLine), std::end(kWithinLine)));
static_assert(std::is_sorted(std::begin(kBreaks), std::end(kBreaks)));

// Parameters of common trackers and share buttons, as lists such as ClearURLs name them.
constexpr std::string_view kTrackingPrefixes[] = {
    "_hs",  "elqtrack", "ga_",    "gad_", "guce_", "hsa_", "matomo_", "mkt_",  "ml_subscriber",
    "mtm_", "oly_",     "piwik_", "pk_",  "spm_",  "stm_", "utm_",    "vero_", "xsec_"};
constexpr std::string_view kTracking[] = {"_ga",
                                          "_gl",
                                          "_openstat",
                                          "bd_vid",
                                          "cmpid",
                                          "dclid",
                                          "epik",
                                          "fb_action_ids",
                                          "fb_action_types",
                                          "fb_comment_id",
                                          "fb_ref",
                                          "fb_source",
                                          "fbclid",
                                          "gbraid",
                                          "gclid",
                                          "gclsrc",
                                          "guccounter",
                                          "hmci",
                                          "hmcu",
                                          "hmkw",
                                          "hmpl",
                                          "hmsr",
                                          "igsh",
                                          "igshid",
                                          "irclickid",
                                          "itm_campaign",
                                          "itm_content",
                                          "itm_medium",
                                          "itm_source",
                                          "itm_term",
                                          "li_fat_id",
                                          "mc_cid",
                                          "mc_eid",
                                          "mibextid",
                                          "msclkid",
                                          "ncid",
                                          "nsukey",
                                          "ocid",
                                          "rb_clickid",
                                          "rdt_cid",
                                          "ref_src",
                                          "ref_url",
                                          "s_cid",
                                          "scm",
                                          "sfnsn",
                                          "share_from",
                                          "share_medium",
                                          "share_plat",
                                          "share_session_id",
                                          "share_source",
                                          "share_tag",
                                          "share_times",
                                          "shareuid",
                                          "si",
                                          "spm",
                                          "srsltid",
                                          "trk_contact",
                                          "trk_module",
                                          "trk_msg",
                                          "trk_sid",
                                          "tt_from",
                                          "ttclid",
                                          "twclid",
                                          "unique_k",
                                          "vd_source",
                                          "wbraid",
                                          "wfr",
                                          "wickedid",
                                          "xhsshare",
                                          "yclid",
                                          "ymclid"};
static_assert(std::is_sorted(std::begin(kTracking), std::end(kTracking)));

// MathML, whose content is text. Each element is a break: a fraction of 1 and 2 isn't 12.
constexpr std::string_view kMath[] = {
    "annotation", "annotation-xml", "maction", "menclose", "merror", "mfenced", "mfrac", "mi",     "mn",
    "mo",         "mover",          "mpadded", "mphantom", "mroot",  "mrow",    "ms",    "mspace", "msqrt",
    "mstyle",     "msub",           "msubsup", "msup",     "mtable", "mtd",     "mtext", "mtr",    "munder",
    "munderover", "semantics"};
static_assert(std::is_sorted(std::begin(kMath), std::end(kMath)));
// Other names with "-" or ":" may be text: "<file-name>".
constexpr std::string_view kForeignPrefixes[] = {"fb:", "g:", "o:", "st1:", "v:", "w:", "x:"};
constexpr std::string_view kForeignBreaks[] = {"amp-", "m:", "mml:", "mp-"};

struct Entity {
  std::string_view name;
  uint32_t code_point;
};
constexpr bool operator<(const Entity& a, const Entity& b) { return a.name < b.name; }

constexpr Entity kEntities[] = {
    {"AElig", 0xc6},    {"Aacute", 0xc1},   {"Acirc", 0xc2},    {"Agrave", 0xc0},    {"Alpha", 0x391},
    {"Aring", 0xc5},    {"Atilde", 0xc3},   {"Auml", 0xc4},     {"Beta", 0x392},     {"Ccedil", 0xc7},
    {"Chi", 0x3a7},     {"Dagger", 0x2021}, {"Delta", 0x394},   {"ETH", 0xd0},       {"Eacute", 0xc9},
    {"Ecirc", 0xca},    {"Egrave", 0xc8},   {"Epsilon", 0x395}, {"Eta", 0x397},      {"Euml", 0xcb},
    {"Gamma", 0x393},   {"Iacute", 0xcd},   {"Icirc", 0xce},    {"Igrave", 0xcc},    {"Iota", 0x399},
    {"Iuml", 0xcf},     {"Kappa", 0x39a},   {"Lambda", 0x39b},  {"Mu", 0x39c},       {"Ntilde", 0xd1},
    {"Nu", 0x39d},      {"OElig", 0x152},   {"Oacute", 0xd3},   {"Ocirc", 0xd4},     {"Ograve", 0xd2},
    {"Omega", 0x3a9},   {"Omicron", 0x39f}, {"Oslash", 0xd8},   {"Otilde", 0xd5},    {"Ouml", 0xd6},
    {"Phi", 0x3a6},     {"Pi", 0x3a0},      {"Prime", 0x2033},  {"Psi", 0x3a8},      {"Rho", 0x3a1},
    {"Scaron", 0x160},  {"Sigma", 0x3a3},   {"THORN", 0xde},    {"Tau", 0x3a4},      {"Theta", 0x398},
    {"Uacute", 0xda},   {"Ucirc", 0xdb},    {"Ugrave", 0xd9},   {"Upsilon", 0x3a5},  {"Uuml", 0xdc},
    {"Xi", 0x39e},      {"Yacute", 0xdd},   {"Yuml", 0x178},    {"Zeta", 0x396},     {"aacute", 0xe1},
    {"acirc", 0xe2},    {"acute", 0xb4},    {"aelig", 0xe6},    {"agrave", 0xe0},    {"alefsym", 0x2135},
    {"alpha", 0x3b1},   {"amp", 0x26},      {"apos", 0x27},     {"aring", 0xe5},     {"atilde", 0xe3},
    {"auml", 0xe4},     {"bdquo", 0x201e},  {"beta", 0x3b2},    {"brvbar", 0xa6},    {"bull", 0x2022},
    {"ccedil", 0xe7},   {"cedil", 0xb8},    {"cent", 0xa2},     {"chi", 0x3c7},      {"circ", 0x2c6},
    {"clubs", 0x2663},  {"copy", 0xa9},     {"curren", 0xa4},   {"dagger", 0x2020},  {"deg", 0xb0},
    {"delta", 0x3b4},   {"diams", 0x2666},  {"divide", 0xf7},   {"eacute", 0xe9},    {"ecirc", 0xea},
    {"egrave", 0xe8},   {"emsp", 0x2003},   {"ensp", 0x2002},   {"epsilon", 0x3b5},  {"eta", 0x3b7},
    {"eth", 0xf0},      {"euml", 0xeb},     {"euro", 0x20ac},   {"fnof", 0x192},     {"frac12", 0xbd},
    {"frac14", 0xbc},   {"frac34", 0xbe},   {"frasl", 0x2044},  {"gamma", 0x3b3},    {"gt", 0x3e},
    {"hearts", 0x2665}, {"hellip", 0x2026}, {"iacute", 0xed},   {"icirc", 0xee},     {"iexcl", 0xa1},
    {"igrave", 0xec},   {"image", 0x2111},  {"iota", 0x3b9},    {"iquest", 0xbf},    {"iuml", 0xef},
    {"kappa", 0x3ba},   {"lambda", 0x3bb},  {"lang", 0x2329},   {"laquo", 0xab},     {"lceil", 0x2308},
    {"ldquo", 0x201c},  {"lfloor", 0x230a}, {"loz", 0x25ca},    {"lrm", 0x200e},     {"lsaquo", 0x2039},
    {"lsquo", 0x2018},  {"lt", 0x3c},       {"macr", 0xaf},     {"mdash", 0x2014},   {"micro", 0xb5},
    {"middot", 0xb7},   {"mu", 0x3bc},      {"nbsp", 0xa0},     {"ndash", 0x2013},   {"not", 0xac},
    {"ntilde", 0xf1},   {"nu", 0x3bd},      {"oacute", 0xf3},   {"ocirc", 0xf4},     {"oelig", 0x153},
    {"ograve", 0xf2},   {"oline", 0x203e},  {"omega", 0x3c9},   {"omicron", 0x3bf},  {"ordf", 0xaa},
    {"ordm", 0xba},     {"oslash", 0xf8},   {"otilde", 0xf5},   {"ouml", 0xf6},      {"para", 0xb6},
    {"permil", 0x2030}, {"phi", 0x3c6},     {"pi", 0x3c0},      {"piv", 0x3d6},      {"plusmn", 0xb1},
    {"pound", 0xa3},    {"prime", 0x2032},  {"psi", 0x3c8},     {"quot", 0x22},      {"rang", 0x232a},
    {"raquo", 0xbb},    {"rceil", 0x2309},  {"rdquo", 0x201d},  {"real", 0x211c},    {"reg", 0xae},
    {"rfloor", 0x230b}, {"rho", 0x3c1},     {"rlm", 0x200f},    {"rsaquo", 0x203a},  {"rsquo", 0x2019},
    {"sbquo", 0x201a},  {"scaron", 0x161},  {"sect", 0xa7},     {"shy", 0xad},       {"sigma", 0x3c3},
    {"sigmaf", 0x3c2},  {"spades", 0x2660}, {"sup1", 0xb9},     {"sup2", 0xb2},      {"sup3", 0xb3},
    {"szlig", 0xdf},    {"tau", 0x3c4},     {"theta", 0x3b8},   {"thetasym", 0x3d1}, {"thinsp", 0x2009},
    {"thorn", 0xfe},    {"tilde", 0x2dc},   {"times", 0xd7},    {"trade", 0x2122},   {"uacute", 0xfa},
    {"ucirc", 0xfb},    {"ugrave", 0xf9},   {"uml", 0xa8},      {"upsih", 0x3d2},    {"upsilon", 0x3c5},
    {"uuml", 0xfc},     {"weierp", 0x2118}, {"xi", 0x3be},      {"yacute", 0xfd},    {"yen", 0xa5},
    {"yuml", 0xff},     {"zeta", 0x3b6},    {"zwj", 0x200d},    {"zwnj", 0x200c}};
static_assert(std::is_sorted(std::begin(kEntities), std::end(kEntities)));
// Since version 5: the others of HTML 4, and ASCII's of HTML 5.
constexpr Entity kFurtherEntities[] = {
    {"NewLine", 0xa},   {"Tab", 0x9},       {"and", 0x2227},    {"ang", 0x2220},   {"ast", 0x2a},
    {"asymp", 0x2248},  {"cap", 0x2229},    {"colon", 0x3a},    {"comma", 0x2c},   {"commat", 0x40},
    {"cong", 0x2245},   {"crarr", 0x21b5},  {"cup", 0x222a},    {"dArr", 0x21d3},  {"darr", 0x2193},
    {"dollar", 0x24},   {"empty", 0x2205},  {"equals", 0x3d},   {"equiv", 0x2261}, {"excl", 0x21},
    {"exist", 0x2203},  {"forall", 0x2200}, {"ge", 0x2265},     {"hArr", 0x21d4},  {"harr", 0x2194},
    {"hyphen", 0x2010}, {"infin", 0x221e},  {"int", 0x222b},    {"isin", 0x2208},  {"lArr", 0x21d0},
    {"larr", 0x2190},   {"le", 0x2264},     {"lowast", 0x2217}, {"lowbar", 0x5f},  {"lpar", 0x28},
    {"minus", 0x2212},  {"nabla", 0x2207},  {"ne", 0x2260},     {"ni", 0x220b},    {"notin", 0x2209},
    {"nsub", 0x2284},   {"num", 0x23},      {"oplus", 0x2295},  {"or", 0x2228},    {"otimes", 0x2297},
    {"part", 0x2202},   {"percnt", 0x25},   {"period", 0x2e},   {"perp", 0x22a5},  {"plus", 0x2b},
    {"prod", 0x220f},   {"prop", 0x221d},   {"quest", 0x3f},    {"rArr", 0x21d2},  {"radic", 0x221a},
    {"rarr", 0x2192},   {"rpar", 0x29},     {"sdot", 0x22c5},   {"semi", 0x3b},    {"sim", 0x223c},
    {"sol", 0x2f},      {"sub", 0x2282},    {"sube", 0x2286},   {"sum", 0x2211},   {"sup", 0x2283},
    {"supe", 0x2287},   {"there4", 0x2234}, {"uArr", 0x21d1},   {"uarr", 0x2191}};
static_assert(std::is_sorted(std::begin(kFurtherEntities), std::end(kFurtherEntities)));

std::optional<uint32_t> Numeric(std::string_view digits) {
  const bool hex = !digits.empty() && (digits[0] == 'x' || digits[0] == 'X');
  if (hex) digits.remove_prefix(1);
  if (digits.empty()) return std::nullopt;
  uint32_t value = 0;
  for (const char c : digits) {
    const uint32_t digit = c >= '0' && c <= '9'   ? static_cast<uint32_t>(c - '0')
                           : c >= 'a' && c <= 'f' ? static_cast<uint32_t>(c - 'a' + 10)
                           : c >= 'A' && c <= 'F' ? static_cast<uint32_t>(c - 'A' + 10)
                                                  : 16;
    if (digit >= (hex ? 16u : 10u)) return std::nullopt;
    value = std::min(value * (hex ? 16 : 10) + digit, 0x110000u);  // beyond Unicode stays beyond
  }
  return value;
}

}  // namespace

TagKind TagKindOf(std::string_view name, uint32_t version) {
  if (version >= 5) {
    if (name == "svg") return TagKind::kNotShown;
    if (name == "math") return TagKind::kBreak;
    if (std::binary_search(std::begin(kMath), std::end(kMath), name)) return TagKind::kMath;
    const auto begins = [&](std::string_view prefix) { return name.starts_with(prefix); };
    if (name.find("::") == name.npos) {
      if (std::ranges::any_of(kForeignBreaks, begins)) return TagKind::kBreak;
      if (std::ranges::any_of(kForeignPrefixes, begins)) return TagKind::kWithinLine;
    }
  }
  if (name == "script" || name == "style") return TagKind::kNotShown;
  if (std::binary_search(std::begin(kWithinLine), std::end(kWithinLine), name)) return TagKind::kWithinLine;
  if (std::binary_search(std::begin(kBreaks), std::end(kBreaks), name)) return TagKind::kBreak;
  return TagKind::kNone;
}

bool IsTracking(std::string_view name) {
  return std::binary_search(std::begin(kTracking), std::end(kTracking), name) ||
         std::ranges::any_of(kTrackingPrefixes, [&](std::string_view one) { return name.starts_with(one); });
}

std::optional<uint32_t> EntityCodePoint(std::string_view name, uint32_t version) {
  if (name.starts_with('#')) return Numeric(name.substr(1));
  const auto find = [&](std::span<const Entity> entities) -> std::optional<uint32_t> {
    const auto found = std::lower_bound(entities.begin(), entities.end(), Entity{name, 0});
    return found != entities.end() && found->name == name ? std::optional(found->code_point) : std::nullopt;
  };
  const auto found = find(kEntities);
  return found || version < 5 ? found : find(kFurtherEntities);
}

}  // namespace seen
