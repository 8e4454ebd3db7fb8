/**
 * Every bound of the engine: unit in the name, reason beside it. Those of MCP, which no workflow needs, are in `mcp-limits.ts`.
 * Server limits are those of Temporal's dynamic configuration defaults (blob 2 MiB, history 50 MiB / 51,200 events,
 * 10 updates in flight, 2,000 updates and 10,000 signals a run).
 */

/** Tenant and conversation ids: fit in workflow ids (1,000) and in URLs; no colon, which separates the parts. */
export const MAX_ID_CHARS = 128;
/** One user message. A quarter of the server's 2 MiB payload bound: it stands in the update and in one model call. */
export const MAX_MESSAGE_BYTES = 256 * 1024;
/**
 * Of a schema from outside: objects in it with its references written out, and steps that one answer may take to be checked. A
 * workflow task does about a hundred thousand steps in a second, and stops every conversation of its thread meanwhile.
 */
export const MAX_SCHEMA_OBJECTS = 10_000;
export const MAX_SCHEMA_STEPS = 200_000;
/** A regular expression of a schema: the longest of zod's own (IPv6 with its prefix) has some 1,200. */
export const MAX_PATTERN_CHARS = 2_000;
/** Upper ends of all its `{n,m}` together, before they are written out: that takes 2 µs for each. */
export const MAX_PATTERN_REPEATS = 2_000;
/** Instructions of all patterns of one schema, written out: some 50 ms to compile. */
export const MAX_PATTERNS_SIZE = 20_000;
/** One answer or client result; judged synchronously in the workflow task, so it must stay cheap to walk. */
export const MAX_ANSWER_BYTES = 200 * 1024;
/** All results of one batch together; with their escapes they fit into one HTTP body and one payload. */
export const MAX_BATCH_BYTES = 400 * 1024;
/** Nesting of an answer: the schema check recurses. */
export const MAX_ANSWER_DEPTH = 64;
/**
 * All that one model call brings, as JSON: texts, items of the provider, calls with their plans, results of inline reads. It is the
 * result of one activity, and its message has to fit into the transcript of the next call.
 */
export const MAX_MODEL_ANSWER_BYTES = 1_300 * 1024;
/** Sources that one answer names; the first ones are kept. Their texts are cut: they stand in the transcript for ever. */
export const MAX_TEXT_SOURCES = 50;
export const MAX_SOURCE_CHARS = 1_000;
/** Images and files of one message: references, which stand in every model call from then on. */
export const MAX_ATTACHMENTS = 16;
/** Of what a waiting call is offered with anew: its answer's schema, mostly. It is carried with the call. */
export const MAX_OFFER_BYTES = 64 * 1024;
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
/** Questions that the code of one call may ask in turn; one that needs more should ask for more at once. */
export const MAX_ASKS_PER_CALL = 20;
/**
 * State and form of one question, each. They stand in an event, ride in every roll-over and go into the next run of the tool;
 * with all calls of a step asking (64), what is carried still fits into one payload.
 */
export const MAX_ASK_STATE_BYTES = 8 * 1024;
export const MAX_ASK_FORM_BYTES = 8 * 1024;
/** Users, roles and exclusions of one audience, each: it rides in every plan, suspension and roll-over. */
export const MAX_AUDIENCE_NAMES = 100;
/** As long as the workflow keeps of an actor's id. */
export const MAX_ACTOR_CHARS = 200;
/** A reason, decline or error text given by a person. */
export const MAX_REASON_CHARS = 2_000;
/** Of an attempt of a model call that came to nothing: they ride in every heartbeat of the attempts behind it. */
export const MAX_ATTEMPT_TEXT_CHARS = 500;
/** Attempts of a model call that are told, the newest: two activities of ten attempts each. */
export const MAX_FAILED_ATTEMPTS = 20;
/** Request ids are minted by clients (UUIDs, job ids). They are kept for every message, so they are short. */
export const MAX_REQUEST_ID_CHARS = 200;
/** Request ids remembered for `duplicate`; some 25 bytes each ride through every roll-over. */
export const MAX_REMEMBERED_REQUESTS = 1_000;
/** Ended calls remembered for `stale` and `expired`; the same. */
export const MAX_TOMBSTONES = 1_000;
/** Both of them, packed: a thousand of each fit with names and actors of usual sorts. */
export const MAX_EARLIER_RUNS_BYTES = 128 * 1024;
/** The JSON Schema that a message asks its answer to have: it waits with the message, and goes into every model call of its turn. */
export const MAX_OUTPUT_SCHEMA_BYTES = 16 * 1024;
/** Messages that may wait behind a turn. */
export const MAX_QUEUED_MESSAGES = 100;
/** Inputs that may wait in the inbox; they are read before the next model call, or start a turn. */
export const MAX_INBOX_EVENTS = 100;
/** Detached calls that may be open in one conversation; each rides through every roll-over. */
export const MAX_DETACHED_CALLS = 100;
/**
 * Calls that wait for somebody, and detached ones, together, as a roll-over carries them; one alone may have more. Judged when a call comes
 * to wait, with each question of its code, and when it is detached; not when it waits again: for the run that was approved, for a better
 * answer, for the outcome of a lost run. With what is remembered (`MAX_EARLIER_RUNS_BYTES`) and rules, that is 512 KB of what verdicts need.
 */
export const MAX_WAITING_BYTES = 256 * 1024;
/** Expired calls whose result is still taken; with their answer schemas they ride through every roll-over. */
export const MAX_LATE_CALLS = 50;
/** Refused signals of one call that are written into the log; later ones are counted with the next event. */
export const MAX_RECORDED_REFUSALS = 3;
/** Refused messages that are written into the log between the beginnings of two turns: their ids come from outside, without number. */
export const MAX_REFUSED_MESSAGES = 20;
/** Reasons for which an answer was taken back, as the open call shows them; the event has all. */
export const MAX_SHOWN_REASONS = 10;
/** Calls whose count of those is kept; they ride through every roll-over. */
export const MAX_REFUSED_CALLS = 100;
/** Calls of one step. The server allows 2,000 pending activities; a gRPC message 4 MiB. */
export const MAX_CALLS_PER_STEP = 64;
/** Remembered decisions of a conversation: they ride through every roll-over and in every snapshot. */
export const MAX_RULES = 50;
/** Fields that one of them looks at, and their size as JSON. */
export const MAX_RULE_MATCHES = 20;
export const MAX_RULE_MATCH_BYTES = 2 * 1024;
/** Results of a turn that a policy is told of, without what they hold: they ride in the activity that asks it. */
export const MAX_EARLIER_RESULTS = 100;
/** Provider call ids longer than this are replaced by ids of our own. */
export const MAX_CALL_ID_CHARS = 128;
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
/** A claim that is not renewed for this long is lost; long enough to renew a few times, short enough to be waited for. */
export const DEFAULT_LEASE_MS = 5 * 60 * 1000;
export const MIN_LEASE_MS = 1_000;
export const MAX_LEASE_MS = 60 * 60 * 1000;
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
/** Every wait is finite; a year is beyond any approval and far below a timer's bound. */
export const MAX_WAIT_MS = 366 * 24 * 60 * 60 * 1000;
/** Attempts of a tool that says nothing else: a restarted worker or two. */
export const DEFAULT_TOOL_ATTEMPTS = 3;
/** A tool that asks to be run again does so finitely: with its pauses, a hundred attempts outlast any outage. */
export const MAX_TOOL_ATTEMPTS = 100;
/** The longest pause that a tool may ask for before its next attempt. */
export const MAX_TOOL_RETRY_AFTER_MS = 24 * 60 * 60 * 1000;
export const MAX_RUN_TIMEOUT_MS = 24 * 60 * 60 * 1000;
/**
 * A worker that runs a tool sends heartbeats; the run is lost after this long without any. A shorter one would take a busy worker for a lost
 * one, and a tool that holds up its process for seconds needs a longer one.
 */
export const DEFAULT_HEARTBEAT_MS = 10_000;
export const MIN_HEARTBEAT_MS = 2_000;
export const MAX_HEARTBEAT_MS = 60 * 60 * 1000;
/** An answer stamped this little after the deadline still counts: clocks of honest machines differ. */
export const LATE_TOLERANCE_MS = 1_000;
/** An idle conversation closes after this; its log stays, and it can be reopened. */
export const DEFAULT_IDLE_CLOSE_MS = 30 * 24 * 60 * 60 * 1000;
/** A run that was started and admitted nothing (its first message was refused) ends itself. */
export const EMPTY_RUN_CLOSE_MS = 60 * 1000;

/** Roll over before the server's own suggestion (4 MiB) and far below its kill (50 MiB). */
export const ROLL_OVER_HISTORY_BYTES = 3 * 1024 * 1024;
/**
 * A worker that was lost is followed by one that replays the run, in 0.6 to 0.9 ms an event on a small machine, while its
 * conversation stands still: under a second, where the server's own suggestion (4,096) would allow for three and more.
 */
export const ROLL_OVER_HISTORY_EVENTS = 1_000;
/** The server refuses the 2,001st update of a run. */
export const ROLL_OVER_UPDATE_COUNT = 1_500;
/** The server refuses the 10,001st signal of a run. */
export const ROLL_OVER_SIGNAL_COUNT = 5_000;
/** Transcript carried inline; with the rest below the 2 MiB payload bound. */
export const MAX_CARRIED_TRANSCRIPT_BYTES = 1024 * 1024;
/**
 * Messages that a roll-over carries whole. They stand twice in history (the end of a run, the beginning of the next), and a run has some
 * 500 KB of new ones: with these, what is carried stays a small part of it.
 */
export const SPILL_FROM_BYTES = 64 * 1024;
/** What stays of more than that: the newest turns. */
export const SPILL_KEEP_BYTES = 32 * 1024;
/** One chunk of stored messages: few make up a transcript, and one is read quickly. */
export const SPILL_CHUNK_BYTES = 256 * 1024;
/**
 * Messages of the running turn from which its finished steps are stored, by a roll-over between two steps: half of what can be sent to a model
 * call, so that a usual step cannot take the turn over that first.
 */
export const SPILL_TURN_BYTES = 700 * 1024;
/** Results of one step in one message, unless a single one is larger; more of them are several messages, each of which a query can tell. */
export const MAX_RESULTS_MESSAGE_BYTES = 512 * 1024;
/** Transcript sent to one model call; the activity input is one payload. */
export const MAX_TRANSCRIPT_BYTES = 1_400 * 1024;
/** Transcript that a conversation has in all, where most of it lies in the blob store: more than any model reads. */
export const MAX_STORED_TRANSCRIPT_BYTES = 8 * 1024 * 1024;
/** Of what a model reads, so much is the conversation's by default: the answer needs room, and counts are estimates. */
export const CONTEXT_SHARE_OF_MODEL = 0.75;
/** Where nobody knows what the model reads. Current models read more. */
export const DEFAULT_CONTEXT_TOKENS = 100_000;
/** @see Agentix guide 05: tool results stay whole for six turns */
export const DEFAULT_RETENTION_TURNS = 6;
/** One summary: it stands before every model call from then on, and rides in every roll-over. */
export const MAX_SUMMARY_BYTES = 16 * 1024;
/** Unprojected events carried when the store cannot take them. */
export const MAX_CARRIED_EVENT_BYTES = 256 * 1024;
/** One page of the `transcriptSlice` query; a single larger message is a page of its own. */
export const MAX_TRANSCRIPT_PAGE_BYTES = 1024 * 1024;
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
/** Smaller payloads are not worth the work of compressing them. */
export const COMPRESS_FROM_BYTES = 8 * 1024;
/**
 * One payload before compression, and after decompression: as much as one gRPC message may have, so compression makes nothing possible that
 * is impossible without it. Larger ones are not compressed, and are not read: a few bytes that anybody may send must not fill the memory.
 */
export const MAX_INFLATED_BYTES = 4 * 1024 * 1024;
/** Payloads that are decoded together: those of one field of a history event, or of one request to the codec endpoint. */
export const MAX_INFLATED_SUM_BYTES = 32 * 1024 * 1024;
/** One page of the `events` query: far below the 2 MiB payload bound. */
export const MAX_EVENT_PAGE_BYTES = 512 * 1024;

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
/** Lapsed leases are looked for this often: two small statements. */
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
export const LEASE_WATCH_INTERVAL_MS = 2_000;
/** All reads of one answer together: the answer waits for them, and so does whoever waits for the answer. */
export const INLINE_READS_MS = 500;
/** The same where other tools of the answer wait for them to begin: about what the activities of two reads would take. */
export const INLINE_READS_BESIDE_MS = 50;
/** Reads of one answer that run at once. */
export const INLINE_READS_AT_ONCE = 8;
/** What a worker is told to judge them by; a turn that has made so many different calls has its reads run as activities. */
export const MAX_READ_BOUNDS_BYTES = 16 * 1024;
/** A call on a queue that nobody polls ends after this, instead of holding its turn for ever. */
export const FOREIGN_QUEUE_TIMEOUT_MS = 5 * 60 * 1000;
/** A worker that holds a call open polls its own queue as long as it lives; one that has ended does not come back. */
export const HELD_QUEUE_TIMEOUT_MS = 10_000;
/** The server ends a workflow whose search attribute value exceeds 2 KiB; names in it are cut well before. */
export const MAX_PENDING_TOOLS_BYTES = 1_500;
/** A worker killed in the middle of a task holds it for this long (default 10 s); tasks take milliseconds, a replay under a second. */
export const WORKFLOW_TASK_TIMEOUT_MS = 5_000;
/** A conversation's task leaves a dead worker after this instead of the default 10 s. */
export const STICKY_TIMEOUT_MS = 1_000;
/** A stop button reaches an activity through its heartbeats; the default throttle would be 60 s. */
export const HEARTBEAT_THROTTLE_MS = 3_000;
