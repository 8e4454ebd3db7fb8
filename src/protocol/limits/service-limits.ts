/**
 * Bounds of workers, clients and APIs, each with its unit in the name and its reason beside it. Those that workflows
 * need are in `limits.ts`.
 */

/** A regular expression of a schema; the longest of zod's own (IPv6 with its prefix) has some 1,200. */
export const MAX_PATTERN_CHARS = 2_000;
/** Sum of the upper ends of a pattern's `{n,m}`, before they are expanded: expansion takes 2 µs for each. */
export const MAX_PATTERN_REPEATS = 2_000;
/** Instructions of all patterns of one schema, expanded: some 50 ms to compile. */
export const MAX_PATTERNS_SIZE = 20_000;
/**
 * Everything that one model call brings, as JSON: texts, items of the provider, calls with their plans, results of
 * inline reads. The call is one activity with one result, and its message has to fit into the transcript of the next
 * call.
 */
export const MAX_MODEL_ANSWER_BYTES = 1_300 * 1024;
/**
 * Arguments of one call, after parsing: they are part of events, suspensions and roll-overs, as an approver's edit of
 * them is.
 */
export const MAX_TOOL_INPUT_BYTES = 200 * 1024;
/** One tool result as the model sees it; a larger one is cut with a marker, and stored where there is a store. */
export const MAX_TOOL_RESULT_BYTES = 200 * 1024;
/** The least that a tool may set as its own bound on results: the marker has to fit. */
export const MIN_TOOL_RESULT_BYTES = 1024;
/**
 * Time that the store has to take a large result; after it the result is cut without being stored. Less than the slack
 * in the time-out of a run.
 */
export const KEEP_RESULT_DEADLINE_MS = 3_000;
/** One page of a stored result; with its escapes it stays below the bound at which results are cut. */
export const MAX_READ_BYTES = 32 * 1024;
/** Matches of a text in a stored result that are reported at once. */
export const MAX_FOUND_PLACES = 20;
/**
 * One value in the blob store, which is hashed and written in one go. A larger one is cut as if there were no store.
 */
export const MAX_BLOB_BYTES = 16 * 1024 * 1024;
/**
 * Input, and output, of a call run by the provider, as the log shows each; more is cut with a marker. One activity
 * result has up to 64 of these calls, beside the items that go back to the provider whole.
 */
export const MAX_PROVIDER_CALL_BYTES = 12 * 1024;
/** The configuration of a provider's tool; every request to the model has it. */
export const MAX_PROVIDER_TOOL_BYTES = 64 * 1024;
/** The metadata of a tool; the manifest of every agent that has the tool repeats it. */
export const MAX_TOOL_METADATA_BYTES = 4 * 1024;
/** The payload that a preflight returns; an event and every suspension of the call have it. */
export const MAX_PREPARED_BYTES = 64 * 1024;
/** Tool names as the provider gets them (OpenAI: `^[a-zA-Z0-9_-]{1,64}$`). */
export const MAX_WIRE_NAME_CHARS = 64;
/** Steps of one turn before a final message names the limit. @see agentic-core `maxRounds` */
export const DEFAULT_MAX_STEPS = 25;
export const MAX_MAX_STEPS = 500;

/** Approvals and questions wait for people: a day. */
export const DEFAULT_APPROVAL_TIMEOUT_MS = 24 * 60 * 60 * 1000;
export const DEFAULT_ANSWER_TIMEOUT_MS = 24 * 60 * 60 * 1000;
/** Time for a client to return its result: a client runs a call at once or is gone. */
export const DEFAULT_CLIENT_TIMEOUT_MS = 2 * 60 * 1000;
/**
 * Time for a client to claim a call: a client that is there claims at once, and the turn should not wait long for one
 * that is not.
 */
export const DEFAULT_CLAIM_TIMEOUT_MS = 15 * 1000;
/** One report of progress, which is for display. Reports of server tools beyond this are cut, with a marker. */
export const MAX_PROGRESS_BYTES = 16 * 1024;
/** Time for another backend to submit its result; after it the turn continues without it. @see Hsafa */
export const DEFAULT_EXTERNAL_TIMEOUT_MS = 30 * 1000;
/** One policy for one call: it delays the model's answer, and a database query takes far less. */
export const POLICY_TIMEOUT_MS = 10_000;
/** `prepare` of one plugin: like a policy, it delays the model's answer. */
export const PREPARE_TIMEOUT_MS = 10_000;
/** A function of one plugin around a call. The call's activity has 5 s beyond the time of the tool for all it does. */
export const CALL_HOOK_TIMEOUT_MS = 2_000;
/** Texts of all plugins before one model call; they are sent again with each. */
export const MAX_CONTEXT_ITEMS_BYTES = 64 * 1024;
/** Values of a turn's results, as `prepare` of plugins gets them; the newest. They are copied before each model call. */
export const MAX_RESULT_VALUES_BYTES = 256 * 1024;
/** Bytes of plugin states that a worker remembers. */
export const STATES_CACHE_BYTES = 32 * 1024 * 1024;
/** No turn waits for a detached call, so it may take a week. */
export const DEFAULT_DETACHED_TIMEOUT_MS = 7 * 24 * 60 * 60 * 1000;
/** One server tool attempt. */
export const DEFAULT_RUN_TIMEOUT_MS = 60 * 1000;
/** Attempts of a tool that sets no number: enough for a restarted worker or two. */
export const DEFAULT_TOOL_ATTEMPTS = 3;
/** Attempts of a tool that throws `ToolRetry`: with its pauses, a hundred outlast any outage. */
export const MAX_TOOL_ATTEMPTS = 100;
/** The longest pause that a tool may ask for before its next attempt. */
export const MAX_TOOL_RETRY_AFTER_MS = 24 * 60 * 60 * 1000;
/**
 * The range of `timeouts.heartbeat` of a tool: below it a busy worker would count as lost; a tool that blocks its
 * process needs a long one.
 */
export const MIN_HEARTBEAT_MS = 2_000;
export const MAX_HEARTBEAT_MS = 60 * 60 * 1000;
/** An idle conversation closes after this; its log stays, and it can be reopened. */
export const DEFAULT_IDLE_CLOSE_MS = 30 * 24 * 60 * 60 * 1000;

/**
 * Events of a run before it rolls over. When a worker is lost, another one replays the run, in 0.6 to 0.9 ms an event
 * on a small machine, while the conversation stands still: this keeps it under a second, where the server's own
 * suggestion (4,096) would allow three and more.
 */
export const ROLL_OVER_HISTORY_EVENTS = 1_000;
/**
 * Share of the model's context that the conversation may fill by default: the answer needs space, and token counts are
 * estimates.
 */
export const CONTEXT_SHARE_OF_MODEL = 0.75;
/** Context of a model whose limit is not known. Current models read more. */
export const DEFAULT_CONTEXT_TOKENS = 100_000;
/** @see Agentix guide 05: tool results stay whole for six turns */
export const DEFAULT_RETENTION_TURNS = 6;
/** One summary: it is the start of every later model call, and every roll-over carries it. */
export const MAX_SUMMARY_BYTES = 16 * 1024;
/** Time for one page of a transcript; the run may have to be replayed first. */
export const TRANSCRIPT_DEADLINE_MS = 5_000;
/** Transcripts that a worker caches, as JSON; others it queries from the run. */
export const TRANSCRIPT_CACHE_BYTES = 64 * 1024 * 1024;
/**
 * Bytes that an HTTP tool reads of one response by default: more than a model can use, little for a worker's memory.
 */
export const DEFAULT_HTTP_RESPONSE_BYTES = 1024 * 1024;
/** Bytes read of an error response; the model gets its beginning. */
export const MAX_HTTP_ERROR_BYTES = 64 * 1024;
/** The beginning that the model gets: enough for a message and its code. */
export const MAX_HTTP_EXCERPT_CHARS = 500;
/**
 * Redirects of one request. Browsers follow twenty; a service that needs more than a few is not where its address says.
 */
export const MAX_HTTP_REDIRECTS = 5;
/** Shorter secrets could not be distinguished from other text. */
export const MIN_SECRET_CHARS = 4;
/**
 * One payload before compression, and after decompression: as much as one gRPC message may have, so compression makes
 * nothing possible that is impossible without it. Larger payloads are neither compressed nor read: any caller may send
 * a few bytes that would decompress to fill the memory.
 */
export const MAX_INFLATED_BYTES = 4 * 1024 * 1024;
/**
 * Payloads that are decoded together: those of one field of a history event, or of one request to the codec endpoint.
 */
export const MAX_INFLATED_SUM_BYTES = 32 * 1024 * 1024;

/** Time that a client waits for a verdict before it falls back to a signal. */
export const UPDATE_DEADLINE_MS = 3_000;
/** The same while answers take long: below the time-outs of usual proxies. */
export const MAX_UPDATE_DEADLINE_MS = 12_000;
/**
 * Factor by which an application may multiply its waits for Temporal; with it a client waits some minutes for an
 * answer.
 */
export const MAX_PATIENCE = 100;
/** Time that a reader waits for a query of the workflow; one query is buffered per workflow. */
export const QUERY_DEADLINE_MS = 1_000;
/**
 * The same for a query that can be given up, after the loss of a worker: the server waits for that worker first
 * (`STICKY_TIMEOUT_MS`), and another one has to replay the run, several of them at once. No reader waits for it. Shorter
 * than the time-out of a task that was lost with the worker, after which the next query is answered with the next task.
 */
export const PATIENT_QUERY_MS = 4_000;
/** Longest wait of one HTTP request for a turn's result. */
export const MAX_WAIT_RESULT_MS = 30_000;
/** Body of one HTTP request: the largest message plus its envelope. */
export const MAX_HTTP_BODY_BYTES = 512 * 1024;
/**
 * Body of one request to the codec endpoint: the payloads of a page of history (one gRPC message of 4 MiB) in base64.
 */
export const MAX_CODEC_BODY_BYTES = 8 * 1024 * 1024;
/**
 * Payloads of one such request, since a page of history has at most a thousand events, and metadata entries of one
 * payload: encoding and a few more.
 */
export const MAX_CODEC_PAYLOADS = 10_000;
export const MAX_CODEC_METADATA = 100;
/**
 * Time for which hints of one conversation are collected before the projector queries. Measured: 30 ms costs a fifth of
 * throughput.
 */
export const PROJECTION_DELAY_MS = 150;
export const SWEEP_INTERVAL_MS = 30_000;
/**
 * Descriptions of workflows that one pass of the sweep requests from Temporal: 10 a second, however many conversations
 * wait.
 */
export const SWEEP_CHECKS = 300;
/** Part of these for conversations with an event stored within the last `SWEEP_RECENT_MS`; the others take turns. */
export const SWEEP_RECENT_CHECKS = 200;
/**
 * Workers that start at once share one check of what a lost worker may have left: one in this time, over all of them.
 * All readers get what it finds.
 */
export const STARTUP_CHECK_INTERVAL_MS = 1_000;
/**
 * The lease of the sweep is renewed this often, and lost after three missed renewals, so that a dead leader is replaced
 * soon.
 */
export const SWEEP_BEAT_MS = 1_000;
/**
 * Least pause before a worker that has just become leader makes another pass. A new leader passes at once, but not
 * again and again where leases are lost because the machine is too busy to renew them.
 */
export const SWEEP_PAUSE_MS = 10_000;
/** Longer than most model calls and tools: a worker that is killed at their end sent no hint of it. */
export const SWEEP_RECENT_MS = 10 * 60 * 1000;
/**
 * Deletions (of each sort) that one pass of the sweep's leader carries out, and how many at a time: closing and
 * removing cost the server.
 */
export const DELETIONS_PER_PASS = 100;
export const DELETIONS_AT_ONCE = 4;
/** A deletion that has not finished by then is assumed to have crashed. */
export const RESUME_DELETION_AFTER_MS = 60 * 1000;
/** Tombstones are removed after this: a worker that still knew a deleted run has ended long ago. */
export const TOMBSTONE_MS = 30 * 24 * 60 * 60 * 1000;
/** The shortest time that closed conversations may be kept: a reader must be able to see how one ended. */
export const MIN_RETENTION_MS = 60 * 1000;
/** Interval at which a worker announces itself in the event log: one small write. */
export const PRESENCE_INTERVAL_MS = 20_000;
/** A worker without an announcement for this long is gone: two announcements may be missed. */
export const WORKER_LIVE_MS = 65_000;
/** Interval of a worker's beats between announcements: one row each. */
export const WORKER_BEAT_MS = 400;
/**
 * Workers that beat so often. More of them beat less often, so that all together send 40 beats a second at most; a loss
 * among 64 is noticed four times as late.
 */
export const MAX_BEATS_A_BEAT = 16;
/**
 * A worker without a beat for this long makes the other workers check what it may have left. Where it was only held up,
 * the check costs a query of recent changes, and another replay of each run that has just moved; so it is not made for
 * every late beat. Readers are to be current three seconds after a kill: this time and a beat leave a second and a half
 * for the replay and the store.
 */
export const WORKER_SILENT_MS = 1_000;
/**
 * An agent counts as not served when no worker has announced it for this long, which is longer than replacing workers
 * takes.
 */
export const AGENT_GONE_MS = 2 * 60 * 1000;
/** Rows of killed workers are removed after this. */
export const FORGET_WORKER_MS = 24 * 60 * 60 * 1000;
/** Interval of the check for lapsed leases: two small statements. */
export const LEASE_WATCH_INTERVAL_MS = 2_000;
/** Inline reads of one answer that run at once. */
export const INLINE_READS_AT_ONCE = 8;
/**
 * A worker killed in the middle of a task holds it for this long (Temporal's default: 10 s). Tasks take milliseconds, a
 * replay under a second.
 */
export const WORKFLOW_TASK_TIMEOUT_MS = 5_000;
/**
 * Workflow tasks with whole histories that a worker has under way at once, at most and when it starts. A replay of the longest run takes
 * most of a second; so many together stay below the time-out of a task, and more would only share one thread.
 */
export const MAX_REPLAYS_AT_ONCE = 5;
/**
 * Runs that a worker keeps in memory, about 1 MB each. Those used longest ago leave first: conversations that wait, which
 * are replayed when they go on.
 */
export const CACHED_RUNS = 400;
export const REPLAYS_AT_START = 2;
/** Where one takes longer, half as many are taken; where it is quicker, one more. Half of the time-out of a task, and well below. */
export const SLOW_REPLAY_MS = WORKFLOW_TASK_TIMEOUT_MS / 2;
export const QUICK_REPLAY_MS = 1_000;
/** A conversation's task leaves a dead worker after this instead of the default 10 s. */
export const STICKY_TIMEOUT_MS = 1_000;
/** A cancellation reaches an activity through its heartbeats; the default throttle would be 60 s. */
export const HEARTBEAT_THROTTLE_MS = 3_000;

/** Items of one page of conversations, of the worklist or of a log, in the client and in the HTTP API. */
export const MAX_LIST_PAGE = 1_000;

/** Largest page of what-ifs: each that has ended is a request of its own, until its end is remembered. */
export const MAX_WHAT_IF_PAGE = 100;

/** The most answers that one request of the HTTP API carries. */
export const MAX_BULK_RESOLUTIONS = 100;

/** Members of one space: a message of it changes a row for each of its agents. */
export const MAX_SPACE_MEMBERS = 1_000;
export const MAX_SPACE_NAME_CHARS = 200;
/** Metadata of a space, as JSON; every list of spaces has it. */
export const MAX_SPACE_METADATA_BYTES = 8 * 1024;
/** Text of one message of a space. */
export const MAX_SPACE_TEXT_BYTES = 32 * 1024;
/** Metadata of one message of a space, as JSON: input and output of a call that is shown. */
export const MAX_SPACE_MESSAGE_METADATA_BYTES = 64 * 1024;
/** Levels of objects and lists in metadata of spaces and of their messages. */
export const MAX_SPACE_METADATA_DEPTH = 32;
/** Messages, or changes, that one read of a space returns: with the bounds above, below 10 MB. */
export const MAX_SPACE_PAGE = 100;
/** Positions of messages that readers may name. */
export const MAX_SPACE_POSITION = 999_999_999;
/** Texts of agents in a space, with none of a person between them, that wake other agents. */
export const MAX_AGENT_HOPS = 10;
/** Texts of agents in a space within an hour that wake other agents. */
export const MAX_AGENT_TEXTS_AN_HOUR = 600;
/** Sources of one answer; the first are kept, their texts cut, since they stay in the transcript for ever. */
export const MAX_TEXT_SOURCES = 50;
/** The highest bound on turns that events of the inbox start within a time: the state has the start of each. */
export const MAX_INBOX_RATE_TURNS = 120;
/** The longest such time. */
export const MAX_INBOX_RATE_MS = 3_600_000;
/** Tools that plugins add to one model call. */
export const MAX_MADE_TOOLS = 128;
/** MCP servers that plugins give to one model call. */
export const MAX_MADE_SERVERS = 32;
/** Agents of a tenant that are documents. */
export const MAX_STORED_AGENTS = 100;
/** Arguments of a plugin's factory of tools, which stand in the plan of each call. */
export const MAX_FACTORY_ARGS_BYTES = 4 * 1024;
/** Triggers of one conversation: each is a schedule on the server, and all of them wake the same model. */
export const MAX_TRIGGERS = 20;
/** More frequent runs would be a loop of model calls. */
export const MIN_TRIGGER_INTERVAL_MS = 60 * 1000;
export const MAX_TRIGGER_TITLE_CHARS = 200;
/** Goal and note of a trigger: each of its events has both. */
export const MAX_TRIGGER_TEXT_BYTES = 4 * 1024;
export const MAX_TRIGGER_INVOCATIONS = 1_000_000;

/** Events of a conversation that is exported as a test; a longer test helps no reader. */
export const MAX_EXPORTED_EVENTS = 5_000;
