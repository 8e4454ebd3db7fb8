/** Bounds of workers, clients and APIs, which no workflow needs (those are in `limits.ts`): unit in the name, reason beside it. */

/** A regular expression of a schema: the longest of zod's own (IPv6 with its prefix) has some 1,200. */
export const MAX_PATTERN_CHARS = 2_000;
/** Upper ends of all its `{n,m}` together, before they are written out: that takes 2 µs for each. */
export const MAX_PATTERN_REPEATS = 2_000;
/** Instructions of all patterns of one schema, written out: some 50 ms to compile. */
export const MAX_PATTERNS_SIZE = 20_000;
/**
 * All that one model call brings, as JSON: texts, items of the provider, calls with their plans, results of inline reads. It is the
 * result of one activity, and its message has to fit into the transcript of the next call.
 */
export const MAX_MODEL_ANSWER_BYTES = 1_300 * 1024;
/** Arguments of one call, after parsing: they stand in events, suspensions and roll-overs, as an approver's edit of them does. */
export const MAX_TOOL_INPUT_BYTES = 200 * 1024;
/** One tool result as the model sees it; more is cut with a marker, and stored where there is a store. */
export const MAX_TOOL_RESULT_BYTES = 200 * 1024;
/** The least that a tool may set instead: the marker has to fit. */
export const MIN_TOOL_RESULT_BYTES = 1024;
/** A store that does not take a large result in this time is done without: less than the slack that a run's clock leaves. */
export const KEEP_RESULT_DEADLINE_MS = 3_000;
/** One page of a stored result; with its escapes below what is cut. */
export const MAX_READ_BYTES = 32 * 1024;
/** Places of a text in a stored result that are told at once. */
export const MAX_FOUND_PLACES = 20;
/** One value that is stored beside the log; it is written and hashed in one go. More is cut as if there were no store. */
export const MAX_BLOB_BYTES = 16 * 1024 * 1024;
/**
 * What the log shows of the input, and of the output, of a call that the provider has run; more is cut with a marker. 64 of them
 * stand in one activity result, beside the items that go back to the provider whole.
 */
export const MAX_PROVIDER_CALL_BYTES = 12 * 1024;
/** The configuration of a provider's tool; it stands in every request to the model. */
export const MAX_PROVIDER_TOOL_BYTES = 64 * 1024;
/** What a preflight shapes; it stands in an event and in every suspension of its call. */
export const MAX_PREPARED_BYTES = 64 * 1024;
/** Tool names on the provider's wire (OpenAI: `^[a-zA-Z0-9_-]{1,64}$`). */
export const MAX_WIRE_NAME_CHARS = 64;
/** Steps of one turn before a final message names the limit. @see agentic-core `maxRounds` */
export const DEFAULT_MAX_STEPS = 25;
export const MAX_MAX_STEPS = 500;

/** Approvals and questions wait for people: a day. */
export const DEFAULT_APPROVAL_TIMEOUT_MS = 24 * 60 * 60 * 1000;
export const DEFAULT_ANSWER_TIMEOUT_MS = 24 * 60 * 60 * 1000;
/** A client runs at once or is gone. */
export const DEFAULT_CLIENT_TIMEOUT_MS = 2 * 60 * 1000;
/** A client that is there takes a call at once; nobody waits for long on one that is not. */
export const DEFAULT_CLAIM_GRACE_MS = 15 * 1000;
/** One report of progress: it is for the eye. What a server tool reports beyond is cut, with a marker. */
export const MAX_PROGRESS_BYTES = 16 * 1024;
/** Another backend submits within this, or the turn goes on without it. @see Hsafa */
export const DEFAULT_EXTERNAL_TIMEOUT_MS = 30 * 1000;
/** One policy for one call: it delays the model's answer, and a look at a database takes far less. */
export const POLICY_TIMEOUT_MS = 10_000;
/** Nobody waits for a detached call in the conversation, so it may take a week. */
export const DEFAULT_DETACHED_TIMEOUT_MS = 7 * 24 * 60 * 60 * 1000;
/** One server tool attempt. */
export const DEFAULT_RUN_TIMEOUT_MS = 60 * 1000;
/** Attempts of a tool that says nothing else: a restarted worker or two. */
export const DEFAULT_TOOL_ATTEMPTS = 3;
/** A tool that asks to be run again does so finitely: with its pauses, a hundred attempts outlast any outage. */
export const MAX_TOOL_ATTEMPTS = 100;
/** The longest pause that a tool may ask for before its next attempt. */
export const MAX_TOOL_RETRY_AFTER_MS = 24 * 60 * 60 * 1000;
/** What a tool may say instead: a shorter one would take a busy worker for a lost one; one that holds up its process needs a longer one. */
export const MIN_HEARTBEAT_MS = 2_000;
export const MAX_HEARTBEAT_MS = 60 * 60 * 1000;
/** An idle conversation closes after this; its log stays, and it can be reopened. */
export const DEFAULT_IDLE_CLOSE_MS = 30 * 24 * 60 * 60 * 1000;

/**
 * A worker that was lost is followed by one that replays the run, in 0.6 to 0.9 ms an event on a small machine, while its
 * conversation stands still: under a second, where the server's own suggestion (4,096) would allow for three and more.
 */
export const ROLL_OVER_HISTORY_EVENTS = 1_000;
/** Of what a model reads, so much is the conversation's by default: the answer needs room, and counts are estimates. */
export const CONTEXT_SHARE_OF_MODEL = 0.75;
/** Where nobody knows what the model reads. Current models read more. */
export const DEFAULT_CONTEXT_TOKENS = 100_000;
/** @see Agentix guide 05: tool results stay whole for six turns */
export const DEFAULT_RETENTION_TURNS = 6;
/** One summary: it stands before every model call from then on, and rides in every roll-over. */
export const MAX_SUMMARY_BYTES = 16 * 1024;
/** For one page of a transcript; the run may have to be replayed first. */
export const TRANSCRIPT_DEADLINE_MS = 5_000;
/** Transcripts that a worker remembers, as JSON. What it forgets it asks for. */
export const TRANSCRIPT_CACHE_BYTES = 64 * 1024 * 1024;
/** What an HTTP tool reads of one answer unless it says otherwise: more than a model can use, little for a worker's memory. */
export const DEFAULT_HTTP_RESPONSE_BYTES = 1024 * 1024;
/** Read of an answer that is an error: its beginning is what the model is told. */
export const MAX_HTTP_ERROR_BYTES = 64 * 1024;
/** That beginning: enough for a message and its code. */
export const MAX_HTTP_EXCERPT_CHARS = 500;
/** Redirects of one request; browsers follow twenty, a service that needs more than a few is not where it says. */
export const MAX_HTTP_REDIRECTS = 5;
/** A host that does not take a connection in this time counts as unreachable; the run's own clock goes on. */
export const HTTP_CONNECT_TIMEOUT_MS = 10_000;
/** Shorter secrets could not be told from other text. */
export const MIN_SECRET_CHARS = 4;
/**
 * One payload before compression, and after decompression: as much as one gRPC message may have, so compression makes nothing possible that
 * is impossible without it. Larger ones are not compressed, and are not read: a few bytes that anybody may send must not fill the memory.
 */
export const MAX_INFLATED_BYTES = 4 * 1024 * 1024;
/** Payloads that are decoded together: those of one field of a history event, or of one request to the codec endpoint. */
export const MAX_INFLATED_SUM_BYTES = 32 * 1024 * 1024;

/** How long a client waits for a verdict before it falls back to a signal. */
export const UPDATE_DEADLINE_MS = 3_000;
/** The same while answers take long: below the time-outs of usual proxies. */
export const MAX_UPDATE_DEADLINE_MS = 12_000;
/** What an application may multiply its waits for Temporal by: an answer is then waited for some minutes. */
export const MAX_PATIENCE = 100;
/** How long a reader waits for a query of the workflow; one query is buffered per workflow. */
export const QUERY_DEADLINE_MS = 1_000;
/** Longest wait of one HTTP request for a turn's result. */
export const MAX_WAIT_RESULT_MS = 30_000;
/** Body of one HTTP request: the largest message plus its envelope. */
export const MAX_HTTP_BODY_BYTES = 512 * 1024;
/** Body of one request to the codec endpoint: the payloads of a page of history (one gRPC message of 4 MiB) in base64. */
export const MAX_CODEC_BODY_BYTES = 8 * 1024 * 1024;
/** Payloads of one such request: a page of history has at most a thousand events. Metadata of one payload: encoding and a few more. */
export const MAX_CODEC_PAYLOADS = 10_000;
export const MAX_CODEC_METADATA = 100;
/** Hints of one conversation are joined for this long before the projector asks. Measured: 30 ms costs a fifth of throughput. */
export const PROJECTION_DELAY_MS = 150;
export const SWEEP_INTERVAL_MS = 30_000;
/** Descriptions of workflows that one pass of the sweep asks Temporal for: 10 a second, however many conversations wait. */
export const SWEEP_LOOKS = 300;
/** Of these, for conversations that something was stored of within the last `SWEEP_RECENT_MS`; the others take turns. */
export const SWEEP_RECENT_LOOKS = 200;
/**
 * Workers that start at once share a look at what a lost worker may have left: one look in this time, over all of them. What any of them
 * finds all readers have.
 */
export const START_LOOK_INTERVAL_MS = 1_000;
/** The lease of the sweep is renewed this often, and lost after three renewals that were missed: a dead leader is followed soon. */
export const SWEEP_BEAT_MS = 1_000;
/** A new leader looks at once, but not again and again where leases are lost because the machine is too busy to renew them. */
export const SWEEP_PAUSE_MS = 10_000;
/** Longer than most model calls and tools: a worker that is killed at their end has told nobody of it. */
export const SWEEP_RECENT_MS = 10 * 60 * 1000;
/** Deletions that one pass of the sweep's leader carries out (of each sort), and how many at a time: closing and removing cost the server. */
export const DELETIONS_PER_PASS = 100;
export const DELETIONS_AT_ONCE = 4;
/** Whoever began a deletion has finished it by then, or was killed. */
export const RESUME_DELETION_AFTER_MS = 60 * 1000;
/** Tombstones are forgotten after this: a worker that still knew a deleted run has ended long ago. */
export const TOMBSTONE_MS = 30 * 24 * 60 * 60 * 1000;
/** The shortest time that closed conversations may be kept: a reader must be able to see how one ended. */
export const MIN_RETENTION_MS = 60 * 1000;
/** How often a worker announces itself in the event log: one small write. */
export const PRESENCE_INTERVAL_MS = 20_000;
/** A worker that has not announced itself for so long is gone: two announcements may be missed. */
export const WORKER_LIVE_MS = 65_000;
/** Between announcements it says this often that it is still there: one row. */
export const WORKER_BEAT_MS = 500;
/**
 * After so long without a word the other workers look at what it may have left. They do so for nothing where a worker was only held up,
 * which costs a look at what changed lately; so not for every beat that is late.
 */
export const WORKER_SILENT_MS = 1_500;
/** An agent is not served any more once no worker has announced it for so long: longer than workers take to be replaced. */
export const AGENT_GONE_MS = 2 * 60 * 1000;
/** Rows of workers that were killed are removed after so long. */
export const FORGET_WORKER_MS = 24 * 60 * 60 * 1000;
/** Lapsed leases are looked for this often: two small statements. */
export const LEASE_WATCH_INTERVAL_MS = 2_000;
/** Reads of one answer that run at once. */
export const INLINE_READS_AT_ONCE = 8;
/** A worker killed in the middle of a task holds it for this long (default 10 s); tasks take milliseconds, a replay under a second. */
export const WORKFLOW_TASK_TIMEOUT_MS = 5_000;
/**
 * Workflow tasks with whole histories that a worker has under way at once, at most and when it starts. A replay of the longest run takes
 * most of a second; so many together stay below the time-out of a task, and more would only share one thread.
 */
export const MAX_REPLAYS_AT_ONCE = 5;
export const REPLAYS_AT_START = 2;
/** Where one takes longer, half as many are taken; where it is quicker, one more. Half of the time-out of a task, and well below. */
export const SLOW_REPLAY_MS = WORKFLOW_TASK_TIMEOUT_MS / 2;
export const QUICK_REPLAY_MS = 1_000;
/** A conversation's task leaves a dead worker after this instead of the default 10 s. */
export const STICKY_TIMEOUT_MS = 1_000;
/** A stop button reaches an activity through its heartbeats; the default throttle would be 60 s. */
export const HEARTBEAT_THROTTLE_MS = 3_000;
