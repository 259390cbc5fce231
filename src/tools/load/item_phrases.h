#pragma once
// The phrases of generated items.

#include <array>
#include <span>
#include <string_view>

namespace seen::phrases {

using List = std::span<const std::string_view>;

inline constexpr std::string_view kEnglishWho[] = {"the city council",
                                                   "a team of engineers",
                                                   "local farmers",
                                                   "the national museum",
                                                   "two young doctors",
                                                   "the harbour master",
                                                   "a retired teacher",
                                                   "the football club",
                                                   "researchers",
                                                   "the railway company",
                                                   "a small bakery",
                                                   "the weather service",
                                                   "volunteers",
                                                   "the school board",
                                                   "a group of students",
                                                   "the fire brigade",
                                                   "the central bank",
                                                   "an old fisherman",
                                                   "the orchestra",
                                                   "several mayors",
                                                   "a software company",
                                                   "the court",
                                                   "nurses",
                                                   "the public library",
                                                   "a local painter",
                                                   "the power plant",
                                                   "union leaders",
                                                   "the airport",
                                                   "a family of five",
                                                   "the ministry"};
inline constexpr std::string_view kEnglishDid[] = {
    "opened",    "rejected", "repaired",     "announced", "discovered", "postponed",
    "rebuilt",   "measured", "celebrated",   "sold",      "designed",   "tested",
    "cancelled", "financed", "photographed", "inspected", "protected",  "replaced",
    "presented", "launched", "questioned",   "welcomed",  "translated", "expanded",
    "restored",  "defended", "borrowed",     "collected", "simplified", "renamed"};
inline constexpr std::string_view kEnglishWhat[] = {
    "a new bridge",         "the winter timetable", "an electric ferry",    "the oldest apple tree",
    "a plan for bicycles",  "three stone houses",   "the budget",           "a rare manuscript",
    "the swimming pool",    "a theory of tides",    "cheaper tickets",      "an archive of letters",
    "the market hall",      "a wind farm",          "the annual festival",  "a vaccine trial",
    "the flooded tunnel",   "a chess tournament",   "the northern highway", "an observatory",
    "fresh water pipes",    "a collection of maps", "the tax reform",       "a solar kitchen",
    "the missing painting", "night trains",         "a cooking course",     "the coral reef",
    "a satellite antenna",  "the village school"};
inline constexpr std::string_view kEnglishWhere[] = {"near the river",       "in Lisbon",
                                                     "on the island",        "behind the station",
                                                     "in the old town",      "across the border",
                                                     "at the lake",          "in Nairobi",
                                                     "outside the capital",  "under the hill",
                                                     "along the coast",      "in Osaka",
                                                     "beside the cathedral", "in the valley",
                                                     "at the university",    "in Montevideo",
                                                     "close to the forest",  "on platform nine",
                                                     "in the harbour",       "north of Trondheim",
                                                     "in a former factory",  "on the main square",
                                                     "in the mountains",     "at the southern gate",
                                                     "in Wellington",        "between two villages",
                                                     "in the laboratory",    "at sea",
                                                     "in the suburbs",       "on the roof"};
inline constexpr std::string_view kEnglishWhen[] = {"last Monday",
                                                    "before sunrise",
                                                    "after months of debate",
                                                    "this spring",
                                                    "for the first time",
                                                    "without warning",
                                                    "within a week",
                                                    "during the storm",
                                                    "as promised",
                                                    "against all advice",
                                                    "ten years later",
                                                    "on Friday evening",
                                                    "at half the price",
                                                    "with great care",
                                                    "by a narrow majority",
                                                    "in record time",
                                                    "despite the rain",
                                                    "for the second year",
                                                    "in silence",
                                                    "according to witnesses",
                                                    "with borrowed money",
                                                    "once again",
                                                    "as a precaution",
                                                    "to general surprise",
                                                    "until further notice",
                                                    "by hand",
                                                    "every Sunday",
                                                    "on schedule",
                                                    "over the holidays",
                                                    "in two languages"};
inline constexpr std::array<List, 5> kEnglish = {kEnglishWho, kEnglishDid, kEnglishWhat, kEnglishWhere,
                                                 kEnglishWhen};

inline constexpr std::string_view kChineseWho[] = {
    "市政府", "研究人员", "当地农民", "国家博物馆", "两位医生", "铁路公司", "退休教师", "足球俱乐部",
    "气象局", "志愿者",   "消防队",   "中央银行",   "老渔民",   "交响乐团", "软件公司", "法院",
    "护士们", "图书馆",   "画家",     "发电厂",     "工会",     "机场",     "教育部",   "大学生"};
inline constexpr std::string_view kChineseWhen[] = {
    "上周一", "日出之前", "今年春天", "第一次", "一周之内", "暴风雨中", "十年以后", "星期五晚上",
    "昨天",   "经过讨论", "按照计划", "突然",   "冒着大雨", "再次",     "假期里",   "凌晨三点",
    "去年",   "近日",     "下个月",   "悄悄",   "公开",     "连续两年", "每个周末", "最后"};
inline constexpr std::string_view kChineseWhere[] = {
    "在河边", "在上海", "在岛上",     "在车站后面", "在老城区", "在湖畔", "在大学里", "在山谷",
    "在港口", "在广州", "在森林附近", "在广场上",   "在实验室", "在郊区", "在旧工厂", "在海边",
    "在成都", "在村口", "在北京",     "在屋顶",     "在山脚下", "在边境", "在东京",   "在南门"};
inline constexpr std::string_view kChineseDid[] = {
    "修复了", "宣布了", "发现了", "推迟了", "测试了", "庆祝了", "出售了", "设计了",
    "取消了", "检查了", "保护了", "更换了", "展示了", "启动了", "质疑了", "欢迎了",
    "翻译了", "扩建了", "拍摄了", "收集了", "简化了", "研究了", "介绍了", "改造了"};
inline constexpr std::string_view kChineseWhat[] = {
    "一座新桥",     "冬季时刻表", "电动渡轮", "最古老的苹果树", "自行车道", "三座石头房子",
    "年度预算",     "珍贵的手稿", "游泳池",   "潮汐理论",       "廉价车票", "一批书信",
    "菜市场",       "风力发电站", "音乐节",   "疫苗试验",       "地下隧道", "象棋比赛",
    "北部高速公路", "天文台",     "自来水管", "古代地图",       "税收改革", "珊瑚礁"};
inline constexpr std::array<List, 5> kChinese = {kChineseWhen, kChineseWho, kChineseWhere, kChineseDid,
                                                 kChineseWhat};

}  // namespace seen::phrases
