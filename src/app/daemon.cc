#include "app/daemon.h"

#include <atomic>

#include "app/changes.h"
#include "app/exposures.h"
#include "app/fills.h"
#include "app/kept_copies.h"
#include "app/listeners.h"
#include "app/loss_watches.h"
#include "app/memory_budget.h"
#include "app/owners_work.h"
#include "app/process.h"
#include "app/reload.h"
#include "app/state_copies.h"
#include "app/status_board.h"
#include "base/log.h"
#include "base/mutex.h"
#include "config/peer_rules.h"
#include "consume/log_end_watch.h"
#include "flow/replica_letters.h"
#include "kafka/admin.h"
#include "kafka/consumer.h"
#include "kafka/dead_letter_producer.h"
#include "kafka/snapshot_producer.h"
#include "owner/partition_routes.h"
#include "query/queries.h"
#include "serve/credentials.h"
#include "serve/forwarder.h"
#include "serve/metrics.h"
#include "serve/routes.h"
#include "similar/daemon/group_reader.h"
#include "store/resting_rows.h"
#include "topics/cluster_owner.h"
#include "topics/daemon_topics.h"
#include "topics/topics_watch.h"

namespace seen {
namespace {
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr milliseconds kHousekeeping{200};
constexpr seconds kReadyAsked{1};            // once the daemon is ready; before that, at every housekeeping
constexpr milliseconds kStopPatience{8000};  // less than the 10 s that service managers and operators allow
constexpr milliseconds kLastSnapshotsAwaited{1500};
constexpr milliseconds kLastDeadLettersAwaited{1500};

/// Errors after which the start tries again. A stop during this wait isn't a failure.
bool IsWaitedFor(Code code) {
  return code == Code::kUnavailable || code == Code::kDenied || code == Code::kNoSpace;
}

class Daemon {
 public:
  explicit Daemon(const RunCommand& options)
      : options_(options),
        config_(options.config),
        budget_(config_.store.memory_bytes, config_.items.has_value(), config_.state.has_value()),
        resources_(budget_.block_cache_bytes),
        status_(config_, losses_, clock_),
        metrics_(MetricsOptions{FilterNames(), Snapshots(), &losses_.input(), losses_.source()}),
        queries_(config_, clock_,
                 [this] {
                   const GroupReader* const groups = shown_groups_.load();
                   const OwnersWork* const work = shown_owners_work_.load();
                   DaemonStatus status =
                       status_.Make(shown_exposures_.load(), work ? work->rekeying() : nullptr,
                                    work ? work->items() : std::nullopt,
                                    groups ? std::optional(groups->GetStatus()) : std::nullopt,
                                    shown_state_.load(), HasPeers());
                   status.is_replica = !Owns();
                   status.owner_group = promotions_.Group();
                   if (std::string problem = cluster_owner_.problem(); !problem.empty())
                     status.troubles.push_back(std::move(problem));
                   if (credentials_) status.access = credentials_->figures();
                   if (forwarder_) status.forwarded = forwarder_->figures();
                   if (const Fills* const fills = shown_fills_.load()) status.fills = fills->Figures();
                   status.memory = MemoryShares(budget_, resources_, status.partitions);
                   status.disk = DiskSpaceOf(config_.store.directory);
                   return status;
                 }),
        changes_(config_.input.event_bytes_max, config_.input.future_skew_max, clock_),
        pages_{queries_, changes_, [this] { return metrics_.Page(queries_.GetStatus()); }} {}

  int Run();

 private:
  std::map<FilterIndex, std::string> FilterNames() const {
    std::map<FilterIndex, std::string> names;
    for (const FilterConfig& filter : config_.filters) {
      names.emplace(static_cast<FilterIndex>(names.size()), filter.name);
    }
    return names;
  }
  std::map<FilterIndex, SnapshotPolicy> Snapshots() const {
    std::map<FilterIndex, SnapshotPolicy> policies;
    for (size_t i = 0; i < config_.filters.size(); ++i) {
      const auto& snapshot = config_.filters[i].snapshot;
      if (snapshot) policies.emplace(static_cast<FilterIndex>(i), snapshot->policy);
    }
    return policies;
  }
  Status StartLocally();
  Status StartHttp();
  Status Connect();
  Status CheckAlone();
  Status OpenProducers(const InputTopics& topics);
  Status StartExposures(const InputTopics& topics);
  void StartBesideExposures(int32_t user_partitions);
  void StartCluster(const InputTopics& topics);
  Status FollowOwner();
  bool Owns() const { return promotions_.IsThisGroup(); }
  int32_t StoredPartitions() const;
  Status StartStateStreams(const InputTopics& topics);
  Status FollowGroups();
  void StartOwnersWork();
  void Housekeep();
  void ShutDown();
  void Failed(const Error& error);
  bool HasPeers() const;
  void HangUp();

  const RunCommand& options_;
  const size_t connections_max_ = RaiseFileLimit();
  Config config_;
  SystemClock clock_;
  std::atomic<int> exit_status_{0};
  Mutex hang_up_mutex_;  // held while the signal thread reloads
  Reload* reload_on_hang_up_ GUARDED_BY(hang_up_mutex_) = nullptr;
  StopSignal stop_{kStopPatience, exit_status_, [this] { HangUp(); }};
  ServiceManager service_manager_;
  const MemoryBudget budget_;
  StoreResources resources_;
  LossWatches losses_{config_, clock_};
  StatusBoard status_;
  Metrics metrics_;
  SpaceWait space_{stop_, status_, metrics_};
  const BrokerWait wait_{[this](milliseconds timeout) { return stop_.WaitFor(timeout); },
                         [this](std::string problem, bool brokers_answer) {
                           status_.SetProblem(std::move(problem));
                           status_.SetBrokersAnswer(brokers_answer);
                         }};
  std::atomic<const Exposures*> shown_exposures_{nullptr};  // read by HTTP threads
  std::atomic<const OwnersWork*> shown_owners_work_{nullptr};
  std::atomic<const GroupReader*> shown_groups_{nullptr};
  std::atomic<const StateStreams*> shown_state_{nullptr};
  std::atomic<const Fills*> shown_fills_{nullptr};
  bool logged_ready_ = false;
  InputTopics source_;  // the topics as the start found them
  const LeaseTimes lease_times_ = LeaseTimes::Of(SessionTimeout(config_.kafka.client));
  CommitLease lease_{lease_times_};
  OutputGuard guard_;
  Promotions promotions_{config_.kafka.group_id, config_.replica_of, config_.cluster.topic};
  PartitionRoutes partition_routes_{{config_.kafka.group_id, config_.input.topic, config_.input.partitioner,
                                     static_cast<int64_t>(config_.http.ready_lag_messages)},
                                    promotions_,
                                    clock_};
  Instant ready_asked_{};

  // In the order of creation. Members below use those above, and are destroyed first.
  std::unique_ptr<EmbeddedBroker> embedded_;
  std::unique_ptr<StoreDirectory> directory_;
  std::unique_ptr<Admin> admin_;
  std::unique_ptr<TopicsWatch> topics_watch_;
  ClusterOwner cluster_owner_{config_, promotions_};
  std::unique_ptr<KeptCopies> kept_copies_;
  std::unique_ptr<DeadLetterProducer> dead_letters_;
  std::unique_ptr<ReplicaLetters> letters_;  // sends into dead_letters_
  std::unique_ptr<SnapshotProducer> snapshots_;
  std::unique_ptr<PartitionProducer> updates_;  // only with config_.updates
  std::unique_ptr<EventProducer> events_;
  std::unique_ptr<EventProducer> cluster_events_;
  std::unique_ptr<RocksGroupTable> groups_;  // only with config_.items
  std::unique_ptr<GroupReader> group_reader_;
  std::unique_ptr<StateStreams> state_streams_;  // only with config_.state
  std::unique_ptr<Exposures> exposures_;
  std::unique_ptr<OwnersWork> owners_work_;
  std::unique_ptr<LogEndWatch> log_ends_;      // for the partitions of exposures_
  std::unique_ptr<StateCopies> state_copies_;  // for the partitions of exposures_
  std::unique_ptr<Fills> fills_;               // for the partitions of exposures_
  Queries queries_;
  Changes changes_;
  PageSources pages_;
  PeerRoutes peer_routes_{config_, partition_routes_};
  std::unique_ptr<Credentials> credentials_;
  std::unique_ptr<Forwarder> forwarder_;  // only with config_.cluster.peers
  std::unique_ptr<Listeners> listeners_;
  std::unique_ptr<Reload> reload_;  // uses listeners_
};

int Daemon::Run() {
  Status started = StartLocally();
  if (started) started = Connect();
  while (started && exposures_ && !stop_.WaitFor(kHousekeeping)) Housekeep();
  if (!started && !(stop_.requested() && IsWaitedFor(started.error().code))) {
    log::Error("can't start", {{"reason", started.error().message}});
    exit_status_ = started.error().code == Code::kRefused ? kExitRefused : kExitFailed;
  }
  ShutDown();
  return exit_status_;
}

Status Daemon::StartLocally() {
  if (config_.updates && options_.share_topics)
    return Fail(
        Code::kRefused,
        "--share-topics: readers of updates follow the beats of one group. Remedy: leave it out, or set "
        "filters[].snapshot.updates to false");
  std::string directory = config_.store.directory;
  if (options_.embedded_kafka) {
    // The embedded broker's topics are new at every start. So the embedded state has its own folder, which
    // the rules of --rebuild may drop.
    directory += "/embedded";
    auto broker = StartEmbeddedKafka(config_);
    if (!broker) return Fail(broker.error());
    embedded_ = std::move(*broker);
  }
  auto opened = StoreDirectory::Open(directory);
  // If the disk is full, the start waits, and HTTP reports the reason meanwhile.
  if (!opened && opened.error().code != Code::kNoSpace) return Fail(opened.error());
  // The name is made once, and stays with the directory: a container may come back under another host name.
  const std::optional<std::string>& configured = config_.kafka.instance_id;
  const std::string instance =
      configured ? *configured
                 : StoreDirectory::InstanceIdIn(directory).value_or(DefaultInstanceId(directory));
  status_.SetIdentity(config_.kafka.brokers, options_.embedded_kafka, instance);
  if (Status listening = StartHttp(); !listening) return listening;
  log::Info("seend started", {{"version", kVersion},
                              {"http", config_.http.listen},
                              {"port", static_cast<int>(listeners_->port())},
                              {"brokers", config_.kafka.brokers},
                              {"store", directory}});
  if (ClientLibraryUsesFreedTopics()) {
    log::Warning("this librdkafka may end the daemon when a topic is deleted and created again",
                 {{"version", ClientLibraryVersion()},
                  {"issue", "confluentinc/librdkafka#4778"},
                  {"remedy", "run with librdkafka 2.10 or later, or 2.0 to 2.3"}});
  }
  if (!opened) opened = space_.Until([&] { return StoreDirectory::Open(directory); });
  if (!opened) return Fail(opened.error());
  directory_ = std::move(*opened);
  if (configured) return {};
  Status kept = directory_->KeepInstanceId(instance);
  if (kept || kept.error().code != Code::kNoSpace) return kept;
  log::Warning("the daemon's name isn't kept before the next start", {{"reason", kept.error().message}});
  return {};
}

Status Daemon::StartHttp() {
  auto credentials = Credentials::Load(CredentialFilesOf(config_.access));
  if (!credentials) return Fail(credentials.error());
  credentials_ = std::move(*credentials);
  credentials_->Watch();
  if (!config_.cluster.peers.empty()) {
    auto peers = PeerRules::Parse(config_.cluster.peers);
    if (!peers) return Fail(Code::kInvalidArgument, "cluster.peers: " + peers.error().message);
    Forwarder::Options forwarding;
    forwarding.allows = [peers = std::move(*peers)](std::string_view address) {
      return peers.Allows(address);
    };
    forwarding.instance = status_.instance_id();
    forwarding.token = config_.cluster.token;
    forwarding.tls = [this] { return credentials_->client_tls(); };
    forwarder_ = std::make_unique<Forwarder>(std::move(forwarding));
  }
  pages_.cluster = {status_.instance_id(), &partition_routes_, forwarder_.get()};
  auto listeners =
      Listeners::Start(config_, budget_.bodies_bytes, connections_max_, *credentials_, pages_, metrics_);
  if (!listeners) return Fail(listeners.error());
  listeners_ = std::move(*listeners);
  reload_ = std::make_unique<Reload>(options_.source, config_, *credentials_, *listeners_);
  pages_.reload = reload_.get();
  const MutexLock lock(hang_up_mutex_);
  reload_on_hang_up_ = reload_.get();
  return {};
}

void Daemon::HangUp() {
  const MutexLock lock(hang_up_mutex_);
  if (reload_on_hang_up_ == nullptr)
    return log::Warning("SIGHUP ignored: the daemon is about to start or to stop");
  (void)reload_on_hang_up_->Run();  // Run logs the outcome
}

Status Daemon::Connect() {
  auto admin = Admin::Open(config_.kafka.brokers, config_.kafka.client);
  if (!admin) return Fail(admin.error());
  admin_ = std::move(*admin);
  const bool rebuild = options_.rebuild || options_.embedded_kafka;
  const auto topics =
      WaitForTopics(config_, *admin_, options_.embedded_kafka, {StoredPartitions(), rebuild}, wait_);
  if (!topics) return Fail(topics.error());
  if (topics->partitions == 0) return {};  // a stop was requested meanwhile
  status_.SetPartitionCount(topics->partitions);
  if (Status alone = CheckAlone(); !alone) return alone;
  if (Status opened = OpenProducers(*topics); !opened) return opened;
  if (Status started = StartStateStreams(*topics); !started) return started;
  if (Status followed = FollowGroups(); !followed) return followed;
  // Items start before the daemon joins the group, so that errors of their configuration are reported first.
  StartOwnersWork();
  if (Status started = Owns() ? owners_work_->StartItems() : Status(); !started) return started;
  if (Status started = StartExposures(*topics); !started) return started;
  StartBesideExposures(topics->user_partitions);
  source_ = *topics;
  return FollowOwner();
}

Status Daemon::OpenProducers(const InputTopics& topics) {
  DeadLetterProducer::Options letters;
  letters.brokers = config_.kafka.brokers;
  letters.client = config_.kafka.client;
  letters.topic = config_.input.dead_letter_topic;
  letters.source_topic = config_.input.topic;
  letters.queue_bytes_max = budget_.DeadLetterBytes(config_.input.source_topic.has_value());
  letters.message_bytes_max = topics.dead_letter_bytes_max;
  letters.reporter = &metrics_;
  auto dead_letters = DeadLetterProducer::Open(letters);
  if (!dead_letters) return Fail(dead_letters.error());
  dead_letters_ = std::move(*dead_letters);
  letters_ = std::make_unique<ReplicaLetters>(*dead_letters_, partition_routes_);

  SnapshotProducer::Options snapshots;
  snapshots.brokers = config_.kafka.brokers;
  snapshots.client = config_.kafka.client;
  snapshots.partitioner = config_.input.partitioner;
  snapshots.partitions = topics.user_partitions;
  snapshots.queue_bytes_max = budget_.producer_bytes;
  snapshots.batch_bytes_max = topics.snapshot_bytes_max;
  snapshots.delivery_timeout = lease_times_.delivery;
  snapshots.reporter = &metrics_;
  // Two groups that share their topics would repair each other's snapshots without end.
  snapshots.guard = options_.share_topics ? nullptr : &guard_;
  for (size_t i = 0; i < config_.filters.size(); ++i) {
    if (config_.filters[i].snapshot) snapshots.topics[FilterIndex(i)] = config_.filters[i].snapshot->topic;
  }
  if (config_.unexposed) snapshots.unexposed_topic = config_.unexposed->topic;
  if (WritesWatermarks(config_)) snapshots.watermarks_topic = config_.watermarks->topic;
  if (WritesWatermarks(config_) && !options_.embedded_kafka) snapshots.cluster_topic = config_.cluster.topic;
  // Opened even if no filter publishes: stores may know topics of removed filters.
  auto producer = SnapshotProducer::Open(snapshots);
  if (!producer) return Fail(producer.error());
  snapshots_ = std::move(*producer);

  if (config_.updates) {
    PartitionProducer::Options updates;
    updates.name = "producer of updates";
    updates.brokers = config_.kafka.brokers;
    updates.client = config_.kafka.client;
    updates.topic = config_.updates->topic;
    updates.queue_bytes_max = std::max<uint64_t>(budget_.producer_bytes / 2, 4 << 20);
    updates.record_bytes_max = topics.updates_bytes_max;
    updates.linger = milliseconds(0);  // a record is some 20 ms of the partition already
    auto opened = PartitionProducer::Open(updates);
    if (!opened) return Fail(opened.error());
    updates_ = std::move(*opened);
  }

  EventProducer::Options events;
  events.brokers = config_.kafka.brokers;
  events.client = config_.kafka.client;
  events.topic = config_.input.topic;  // the topic that is keyed by user
  events.partitioner = config_.input.partitioner;
  events.partitions = topics.user_partitions;
  events_ = std::make_unique<EventProducer>(events);
  changes_.SetProducer(events_.get());
  return {};
}

Status Daemon::StartExposures(const InputTopics& topics) {
  const auto plan = EventPlan::Make(config_.input.format);
  if (!plan) return Fail(Code::kInvalidArgument, plan.error().path + ": " + plan.error().message);
  Exposures::Options exposures;
  exposures.config = &config_;
  exposures.plan = *plan;
  exposures.groups = groups_.get();
  exposures.rebuild = options_.rebuild || options_.embedded_kafka;
  exposures.publish_incomplete = options_.publish_incomplete;
  exposures.partitions_of_users = topics.user_partitions;
  exposures.snapshots = snapshots_.get();
  exposures.updates = updates_.get();
  exposures.guard = options_.share_topics ? nullptr : &guard_;
  exposures.admin = admin_.get();
  exposures.state = state_streams_.get();
  exposures.kept = kept_copies_.get();
  if (WritesWatermarks(config_)) {
    exposures.watermarks =
        BeatSender{config_.kafka.group_id, status_.instance_id(), ReachedAt(config_, listeners_->port())};
    if (!options_.embedded_kafka) {
      StartCluster(topics);
      exposures.ready_elsewhere = [this](int32_t partition, Instant since) {
        return partition_routes_.IsReadyElsewhere(partition, since);
      };
    }
  }
  Consumer::Options& consumer = exposures.consumer;
  consumer.brokers = config_.kafka.brokers;
  consumer.client = config_.kafka.client;
  consumer.topic = config_.input.topic;
  consumer.group_id = config_.kafka.group_id;
  consumer.instance_id = status_.instance_id();
  consumer.workers = WorkersFor(config_, topics.partitions);
  consumer.fetch_bytes_max = budget_.FetchBytes(config_.input.source_topic.has_value());
  consumer.lease = &lease_;
  consumer.watch_owners = !options_.embedded_kafka;
  if (options_.embedded_kafka) consumer.check_log_every = milliseconds(0);
  exposures.lease = &lease_;
  exposures.owner = &partition_routes_;
  auto exposed = Exposures::Start(exposures, *directory_, resources_, budget_, *letters_, metrics_, clock_,
                                  [this](const Error& error) { Failed(error); });
  if (!exposed) return Fail(exposed.error());
  exposures_ = std::move(*exposed);
  queries_.SetPartitions(&exposures_->open(), topics.user_partitions);
  shown_exposures_.store(exposures_.get());
  return {};
}

// What works on the open partitions, beside their own threads.
void Daemon::StartBesideExposures(int32_t user_partitions) {
  log_ends_ = std::make_unique<LogEndWatch>(
      [consumer = &exposures_->consumer()](std::span<const int32_t> partitions, milliseconds timeout) {
        return consumer->LogEnds(partitions, timeout);
      },
      [consumer = &exposures_->consumer()](int32_t partition, Instant since) {
        return consumer->LogIsChecked(partition, since);
      },
      exposures_->open(), clock_);
  log_ends_->Start();
  state_copies_ = std::make_unique<StateCopies>(
      StateCopies::Options{directory_->path(), config_.input.topic,
                           std::string(PartitionerName(config_.input.partitioner)), user_partitions},
      exposures_->open(), resources_, clock_);
  pages_.copies = state_copies_.get();
  FillRun::Options fills{&config_, directory_->path(), budget_.FillBytes(), !options_.embedded_kafka};
  Fills::Hooks hooks{
      [this] { exposures_->WakePublisher(); },
      [consumer = &exposures_->consumer()] { return consumer->joined() && !consumer->opening(); }};
  fills_ = std::make_unique<Fills>(std::move(fills), exposures_->open(), std::move(hooks), clock_);
  shown_fills_.store(fills_.get());
  pages_.fills = fills_.get();
  if (options_.embedded_kafka) return;  // its topics are its own
  topics_watch_ = std::make_unique<TopicsWatch>(config_, *admin_, user_partitions);
  topics_watch_->Start();
}

// Starts items and re-keying when this group becomes the owner, and stops them when another group does.
Status Daemon::FollowOwner() {
  if (!Owns()) {
    owners_work_->Stop();
    return {};
  }
  if (Status started = owners_work_->StartItems(); !started) return started;
  return owners_work_->StartRekeying(*exposures_, source_);
}

void Daemon::StartOwnersWork() {
  owners_work_ = std::make_unique<OwnersWork>(
      OwnersWork::Options{.command = options_,
                          .config = config_,
                          .promotions = promotions_,
                          .budget = budget_,
                          .resources = resources_,
                          .admin = *admin_,
                          .clock = clock_,
                          .metrics = metrics_,
                          .queries = queries_,
                          .lease_times = lease_times_,
                          .instance_id = status_.instance_id(),
                          .directory = directory_->path(),
                          .items_loss = losses_.items(),
                          .on_failed = [this](const Error& error) { Failed(error); }});
  shown_owners_work_.store(owners_work_.get());
}

void Daemon::StartCluster(const InputTopics& topics) {
  partition_routes_.SetSelf(status_.instance_id(), topics.user_partitions);
  peer_routes_.Start();
  EventProducer::Options events;
  events.brokers = config_.kafka.brokers;
  events.client = config_.kafka.client;
  events.topic = config_.cluster.topic;
  events.partitions = 1;
  cluster_events_ = std::make_unique<EventProducer>(events);
  changes_.SetCluster(cluster_events_.get(), &promotions_, status_.instance_id());
  cluster_owner_.Start(*admin_, [this](std::string_view beat) { partition_routes_.HearReplica(beat); });
}

// First reads from the topic of the cluster whether this group still owns: a former owner comes back as a
// replica.
Status Daemon::CheckAlone() {
  if (!WritesWatermarks(config_) || options_.embedded_kafka) return {};
  if (Status read = RetryKafka([&] { return cluster_owner_.Read(directory_->path()); }, wait_); !read)
    return read;
  if (!Owns() || options_.share_topics) return {};
  const Status alone = RetryKafka(
      [&] { return RefuseOtherGroup(config_.kafka, config_.watermarks->topic, wait_, partition_routes_); },
      wait_);
  if (alone) status_.SetProblem("");
  return alone;
}

// The number of partitions that users are mapped to, as the state on this machine says. 0: there is no such
// state, or the start drops it.
int32_t Daemon::StoredPartitions() const {
  if (options_.rebuild || options_.embedded_kafka) return 0;
  const auto with_state = directory_->PartitionsWithState();
  if (!with_state) return 0;
  for (const int32_t partition : *with_state) {
    const auto state = ReadRestingState(directory_->path(), partition);
    if (state && *state && (*state)->descriptor.identity.topic == config_.input.topic)
      return (*state)->descriptor.identity.partition_count;
  }
  return 0;
}

Status Daemon::StartStateStreams(const InputTopics& topics) {
  if (!config_.state || options_.embedded_kafka) return {};
  if (!topics.state_problem.empty()) {
    log::Error("the state topic can't be used: state is on this machine alone",
               {{"topic", config_.state->topic}, {"reason", topics.state_problem}});
    status_.SetStateProblem(topics.state_problem);
    return {};
  }
  StateStreams::Options streams;
  streams.topic = {config_.kafka.brokers,  config_.kafka.client,      config_.state->topic,
                   config_.kafka.group_id, budget_.StateQueueBytes(), topics.state_bytes_max};
  streams.instance = status_.instance_id();
  streams.directory = directory_->path();
  streams.run_every = config_.state->run_every;
  streams.trim_after = config_.state->trim_after;
  streams.changes_bytes_max = budget_.StateChangesBytes(topics.user_partitions);
  streams.topic.reads_group = [this](std::string_view group) { return promotions_.HasOwned(group); };
  streams.restores = !options_.rebuild;
  streams.owner = &promotions_;
  // No topic has the journal. So folders aren't removed if there is a journal.
  if (config_.store.explain_days == 0) {
    kept_copies_ = std::make_unique<KeptCopies>(
        KeptCopies::Options{streams.topic, config_.state->keep_bytes, streams.run_every}, *directory_);
  }
  auto started = StateStreams::Start(std::move(streams), *admin_, resources_, clock_);
  if (!started) return Fail(started.error());
  state_streams_ = std::move(*started);
  shown_state_.store(state_streams_.get());
  return {};
}

Status Daemon::FollowGroups() {
  if (!config_.items) return {};
  GroupTableOptions table{.path = StoreDirectory::GroupsPath(directory_->path()),
                          .window_days = config_.items->window_days,
                          .memory_bytes = budget_.GroupCacheBytes(),
                          .resources = resources_,
                          .clock = &clock_,
                          .future_skew_max = config_.input.future_skew_max,
                          .file_system = nullptr};
  std::string dropped;
  auto opened = space_.Until([&] { return RocksGroupTable::Open(table, &dropped); });
  if (!opened) return Fail(opened.error());
  status_.SetProblem("");
  if (!dropped.empty()) {
    log::Warning("the copy of the groups of items is rebuilt", {{"reason", dropped}});
  }
  groups_ = std::move(*opened);
  group_reader_ =
      std::make_unique<GroupReader>(GroupReader::Options{.brokers = config_.kafka.brokers,
                                                         .client = config_.kafka.client,
                                                         .topic = config_.items->groups_topic,
                                                         .queue_bytes_max = budget_.GroupFetchBytes()},
                                    *groups_);
  shown_groups_.store(group_reader_.get());
  queries_.SetItemGroups(groups_.get());
  return {};
}

// Whether another daemon is ready to answer forwarded requests.
bool Daemon::HasPeers() const {
  return forwarder_ && partition_routes_.HasReadyPeer(
                           [this](const std::string& address) { return forwarder_->Allows(address); });
}

void Daemon::Failed(const Error& error) {
  log::Error("refusing to go on", {{"reason", error.message}});
  status_.SetProblem(error.message);
  exit_status_ = kExitRefused;
  stop_.Request();
}

void Daemon::Housekeep() {
  if (const Status started = FollowOwner(); !started) return Failed(started.error());
  const Instant now = clock_.Now();
  status_.SetTopics(topics_watch_ ? topics_watch_->Get() : TopicsWatch::Findings(), dead_letters_->problem());
  if (service_manager_.present()) service_manager_.Alive();
  if (logged_ready_ && now - ready_asked_ < kReadyAsked) return;
  ready_asked_ = now;
  const DaemonStatus status = queries_.GetStatus();
  losses_.LogChanges(status.losses);
  if (status.ready != logged_ready_) {
    logged_ready_ = status.ready;
    if (status.ready) {
      log::Info("ready");
      service_manager_.Ready();
    } else {
      log::Warning("not ready", {{"reason", status.not_ready_reason}});
    }
  }
  const std::string now_ready = status.troubles.empty() ? "ready" : "ready; " + status.troubles.front();
  service_manager_.Status(status.ready ? now_ready : status.not_ready_reason);
}

void Daemon::ShutDown() {
  service_manager_.Stopping();
  {
    const MutexLock lock(hang_up_mutex_);
    reload_on_hang_up_ = nullptr;
  }
  // In the data's order, from the source: end re-keying, read no more, send dead letters and last snapshots,
  // write checkpoints and commit.
  if (log_ends_) log_ends_->Stop();
  if (fills_) fills_->Pause();
  if (owners_work_) owners_work_->Stop();
  if (exposures_) {
    exposures_->StopWorkers();
    dead_letters_->Flush(kLastDeadLettersAwaited);
    exposures_->Stop(Owns() ? kLastSnapshotsAwaited : milliseconds(0));
  }
  if (group_reader_) group_reader_->Stop();
  queries_.SetPartitions(nullptr, 0);
  if (cluster_events_) cluster_events_->Stop();
  if (events_) events_->Stop();  // answers waiting requests while a server can still send the answers
  if (listeners_) listeners_->Stop();
  pages_.copies = nullptr;
  state_copies_.reset();
  pages_.fills = nullptr;
  shown_fills_.store(nullptr);
  fills_.reset();
  forwarder_.reset();  // answers requests that still wait; the server object still exists
  topics_watch_.reset();
  cluster_owner_.Stop();
  peer_routes_.Stop();
  log::Info("stopped", {{"exit_status", exit_status_.load()}});
}

}  // namespace

int RunDaemon(const RunCommand& options) { return Daemon(options).Run(); }

}  // namespace seen
