/**
 * Bounds that workflows need: unit in the name, reason beside it. Those of workers, clients and APIs are in `service-limits.ts`, those of
 * MCP in `mcp-limits.ts`: what stands here is in the workflow bundle.
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
/** One answer or client result; judged synchronously in the workflow task, so it must stay cheap to walk. */
export const MAX_ANSWER_BYTES = 200 * 1024;
/** All results of one batch together; with their escapes they fit into one HTTP body and one payload. */
export const MAX_BATCH_BYTES = 400 * 1024;
/** Nesting of an answer: the schema check recurses. */
export const MAX_ANSWER_DEPTH = 64;
/** Sources that one answer names; the first ones are kept. Their texts are cut: they stand in the transcript for ever. */
export const MAX_TEXT_SOURCES = 50;
export const MAX_SOURCE_CHARS = 1_000;
/** Images and files of one message: references, which stand in every model call from then on. */
export const MAX_ATTACHMENTS = 16;
/** Of what a waiting call is offered with anew: its answer's schema, mostly. It is carried with the call. */
export const MAX_OFFER_BYTES = 64 * 1024;
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

/** A claim that is not renewed for this long is lost; long enough to renew a few times, short enough to be waited for. */
export const DEFAULT_LEASE_MS = 5 * 60 * 1000;
export const MIN_LEASE_MS = 1_000;
export const MAX_LEASE_MS = 60 * 60 * 1000;
/** Every wait is finite; a year is beyond any approval and far below a timer's bound. */
export const MAX_WAIT_MS = 366 * 24 * 60 * 60 * 1000;
/** One attempt of a tool at the most: what takes longer is started, and reports. */
export const MAX_RUN_TIMEOUT_MS = 24 * 60 * 60 * 1000;
/** A worker that runs a tool sends heartbeats; the run is lost after this long without any. */
export const DEFAULT_HEARTBEAT_MS = 10_000;
/** An answer stamped this little after the deadline still counts: clocks of honest machines differ. */
export const LATE_TOLERANCE_MS = 1_000;
/** A run that was started and admitted nothing (its first message was refused) ends itself. */
export const EMPTY_RUN_CLOSE_MS = 60 * 1000;

/** Roll over before the server's own suggestion (4 MiB) and far below its kill (50 MiB). */
export const ROLL_OVER_HISTORY_BYTES = 3 * 1024 * 1024;
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
/** Unprojected events carried when the store cannot take them. */
export const MAX_CARRIED_EVENT_BYTES = 256 * 1024;
/** One page of the `transcriptSlice` query; a single larger message is a page of its own. */
export const MAX_TRANSCRIPT_PAGE_BYTES = 1024 * 1024;
/** Smaller payloads are not worth the work of compressing them. */
export const COMPRESS_FROM_BYTES = 8 * 1024;
/** One page of the `events` query: far below the 2 MiB payload bound. */
export const MAX_EVENT_PAGE_BYTES = 512 * 1024;

/** All reads of one answer together: the answer waits for them, and so does whoever waits for the answer. */
export const INLINE_READS_MS = 500;
/** The same where other tools of the answer wait for them to begin: about what the activities of two reads would take. */
export const INLINE_READS_BESIDE_MS = 50;
/** What a worker is told to judge them by; a turn that has made so many different calls has its reads run as activities. */
export const MAX_READ_BOUNDS_BYTES = 16 * 1024;
/** A call on a queue that nobody polls ends after this, instead of holding its turn for ever. */
export const FOREIGN_QUEUE_TIMEOUT_MS = 5 * 60 * 1000;
/** A worker that holds a call open polls its own queue as long as it lives; one that has ended does not come back. */
export const HELD_QUEUE_TIMEOUT_MS = 10_000;
/** The server ends a workflow whose search attribute value exceeds 2 KiB; names in it are cut well before. */
export const MAX_PENDING_TOOLS_BYTES = 1_500;
