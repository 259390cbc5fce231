#include "similar/text/stop_words.h"

#include "base/result.h"
#include "similar/text/hash.h"

namespace seen {
namespace {

// This project's choice of the most frequent words that mean nothing alone: articles, pronouns, prepositions,
// conjunctions, auxiliaries. Words are as segmentation gives them: "don't" is "don" and "t".
struct List {
  std::string_view lang;
  std::string_view words;
};
constexpr List kLists[] = {
    {"en",
     "a about above after again all also am an and any are aren as at be because been before being below "
     "between both but by can couldn d did didn do does doesn doing don down during each few for from "
     "further had has have having he her here hers him his how i if in into is isn it its itself just ll m "
     "me more most my no nor not now of off on once only or other our ours out over own re s same she should "
     "so some such t than that the their theirs them then there these they this those through to too under "
     "until up ve very was we were what when where which while who whom why will with would you your yours"},
    {"zh",
     "的 了 和 是 在 与 及 或 也 都 就 而 着 把 被 让 向 从 到 对 对于 关于 以 以及 之 其 这 那 这个 那个 "
     "这些 那些 我 你 他 她 它 我们 你们 他们 她们 它们 自己 有 没有 不 没 很 更 最 还 又 再 才 只 会 能 "
     "可以 可 要 将 地 得 过 吗 呢 吧 啊 个 一个 上 下 中 为 于 由 等 并 并且 但 但是 因为 所以 如果 與 對 "
     "對於 關於 這 這個 這些 那個 我們 你們 他們 個 一個 會 過 嗎 為 從 還 沒有 沒 讓 將 並 並且 於 後 裡 說 "
     "因為 所以 如果"},
    {"ja",
     "の に は を が と も で へ や から まで より た て だ な です ます ました でし まし い し れ さ する "
     "した して いる い て ある あり こと もの よう ため これ それ あれ この その あの ここ そこ という ない "
     "なっ なり れる られ また および など として について"},
    {"de",
     "aber alle als also am an auch auf aus bei bin bis bist da damit das dass dem den der des die dies "
     "diese diesem diesen dieser dieses doch du durch ein eine einem einen einer eines er es für hat hatte "
     "ich ihr ihre im in ins ist ja kann man mit nach nicht noch nur oder ohne sich sie sind so über um und "
     "uns unter vom von vor war was wenn werden wie wir wird zu zum zur"},
    {"fr",
     "a au aux avec c ce ces cette d dans de des du elle elles en est et été être eux il ils j je l la le "
     "les leur leurs lui m ma mais me même mes moi mon n ne nos notre nous on ont ou où par pas pour qu que "
     "qui s sa sans se ses son sont sur t ta te tes toi ton tu un une vos votre vous y"},
    {"es",
     "a al algo ante como con cual cuando de del desde donde e el ella ellas ellos en entre era es esa ese "
     "eso esta este esto fue ha han hasta hay la las le les lo los más me mi muy no nos o os para pero por "
     "porque que quien se ser si sin sobre son su sus también te tu un una uno unos y ya yo"},
    {"pt",
     "a ao aos as com como da das de dela dele do dos e ela elas ele eles em entre era essa esse esta este "
     "eu foi há isso já lhe mais mas me meu minha muito na não nas no nos o os ou para pela pelo por qual "
     "quando que quem se sem ser seu só são sua também te tem um uma você à"},
    {"it",
     "a ad ai al alla alle anche che chi ci come con da dal dalla degli dei del della delle di e è ed gli ha "
     "hanno ho i il in io la le lei li lo loro lui ma mi mio nei nel nella noi non o per più quale quando "
     "questa questo se si sia sono su sua sul sulla suo tra tu un una uno vi voi"},
    {"nl",
     "aan al als bij dan dat de den der deze die dit doch door dus een en er ge haar had heb heeft hem het "
     "hij hoe ik in is ja je kan maar me met mij mijn naar niet nog nu of om omdat ons ook op over te tot u "
     "uit van voor want was wat we wel wie wij worden zal ze zich zij zijn zo zou"},
    {"ru",
     "а без был была были было быть в вам вас во вот все всё вы да для до его ее её если есть еще ещё же за "
     "и из или им их к как ко когда кто ли мне мы на над не него нее них но о об он она они оно от по под "
     "при с со так также то только ты у уже что чтобы это этого этот я"},
};
constexpr std::string_view kOfAnyLanguage[] = {"en", "zh", "ja"};

}  // namespace

struct StopWordLists {
  StopWordLists() {
    for (size_t i = 0; i < std::size(kLists); ++i) Add(kLists[i].words, by_list[i]);
    for (const std::string_view lang : kOfAnyLanguage) {
      for (const List& list : kLists) {
        if (list.lang == lang) Add(list.words, any);
      }
    }
  }

  static void Add(std::string_view words, StopWords& to) {
    for (size_t at = 0; at < words.size();) {
      const size_t end = std::min(words.find(' ', at), words.size());
      const uint64_t hash = TokenHash(words.substr(at, end - at));
      size_t place = hash % StopWords::kPlaces;
      while (to.hashes_[place] != 0 && to.hashes_[place] != hash) place = (place + 1) % StopWords::kPlaces;
      to.hashes_[place] = hash;
      at = end + 1;
    }
  }

  StopWords by_list[std::size(kLists)];
  StopWords any;
};

const StopWords& StopWords::Of(std::string_view lang) {
  static const StopWordLists lists;
  const std::string_view first = lang.substr(0, lang.find_first_of("-_"));
  for (size_t i = 0; i < std::size(kLists); ++i) {
    const std::string_view name = kLists[i].lang;
    if (first.size() == 2 && (first[0] | 0x20) == name[0] && (first[1] | 0x20) == name[1])
      return lists.by_list[i];
  }
  return lists.any;
}

bool StopWords::Contains(uint64_t token_hash) const {
  size_t place = token_hash % kPlaces;
  while (hashes_[place] != 0) {
    if (hashes_[place] == token_hash) return true;
    place = (place + 1) % kPlaces;
  }
  return false;
}

}  // namespace seen
