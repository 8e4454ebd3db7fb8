/**
 * Bounds that workflows need, each with its unit in the name and its reason beside it. The bounds of workers, clients
 * and APIs are in `service-limits.ts` and those of MCP in `define/mcp/limits.ts`, since all that this file holds is in
 * the workflow bundle. Server limits are the defaults of Temporal's dynamic configuration (blob 2 MiB, history 50 MiB /
 * 51,200 events, 10 updates in flight, 2,000 updates and 10,000 signals a run).
 */

/**
 * Tenant and conversation ids: they fit into workflow ids (1,000) and URLs, and have no colon, which separates the
 * parts.
 */
export const MAX_ID_CHARS = 128;
/**
 * One user message: an eighth of the server's 2 MiB payload bound, since it is part of the update and of a model call.
 */
export const MAX_MESSAGE_BYTES = 256 * 1024;
/**
 * A schema from outside: objects in it with its references written out, and steps that the check of one answer may
 * take. A workflow task does about a hundred thousand steps in a second, and stops every conversation of its thread
 * meanwhile.
 */
export const MAX_SCHEMA_OBJECTS = 10_000;
export const MAX_SCHEMA_STEPS = 200_000;
/** One answer or client result. The workflow task judges it synchronously, so it must stay cheap to walk. */
export const MAX_ANSWER_BYTES = 200 * 1024;
/** All results of one batch together; with escapes they fit into one HTTP body and one payload. */
export const MAX_BATCH_BYTES = 400 * 1024;
/** Nesting of an answer, since the schema check recurses. */
export const MAX_ANSWER_DEPTH = 64;
/**
 * Nesting of the result of an activity, which becomes part of events and state: copying and writing them recurses.
 * Workers of the engine nest at most about 110 deep.
 */
export const MAX_RESULT_DEPTH = 500;
/** Bytes of a task queue's name, and of an activity's id: the server refuses longer ones, and so the task. */
export const MAX_NAME_BYTES = 1_000;
export const MAX_SOURCE_CHARS = 1_000;
/** Images and files of one message: references, which are part of every later model call. */
export const MAX_ATTACHMENTS = 16;
/** The changed offer of a waiting call, mostly the schema of its answer. A roll-over carries it with the call. */
export const MAX_OFFER_BYTES = 64 * 1024;
/** Questions that the code of one call may ask in turn; a tool that needs more should ask for more at once. */
export const MAX_ASKS_PER_CALL = 20;
/**
 * State and form of one question, each. They are in an event, in every roll-over and in the input of the tool's next
 * run; with all calls of a step asking (64), the carried state still fits into one payload.
 */
export const MAX_ASK_STATE_BYTES = 8 * 1024;
export const MAX_ASK_FORM_BYTES = 8 * 1024;
/** Users, roles and exclusions of one audience, each; it is part of every plan, suspension and roll-over. */
export const MAX_AUDIENCE_NAMES = 100;
/** Characters that the workflow keeps of an actor's id. */
export const MAX_ACTOR_CHARS = 200;
/** A reason or error text given by a person, or the reason of a declined question. */
export const MAX_REASON_CHARS = 2_000;
/** Text of a failed attempt of a model call; every heartbeat of the later attempts carries it. */
export const MAX_ATTEMPT_TEXT_CHARS = 500;
/** Failed attempts of a model call that are reported, the newest: two activities of ten attempts each. */
export const MAX_FAILED_ATTEMPTS = 20;
/**
 * Request ids are minted by clients (UUIDs, job ids). The conversation keeps one for every message, so they are short.
 */
export const MAX_REQUEST_ID_CHARS = 200;
/**
 * The newest requests, remembered for `duplicate`. Every roll-over carries some 110 bytes of JSON for each, 23
 * compressed, and never more than 256: ids of any length are fingerprints there.
 */
export const MAX_REMEMBERED_REQUESTS = 1_000;
/** The newest ended calls, remembered for `stale` and `expired`: some 130 bytes each, 16 compressed. */
export const MAX_TOMBSTONES = 1_000;
/**
 * Ended calls that a roll-over carries, as JSON before compression: a thousand fit unless most have names of tools and
 * people of nearly full length. The oldest that do not fit are dropped.
 */
export const MAX_TOMBSTONE_BYTES = 384 * 1024;
/**
 * The JSON Schema that a message sets for its answer: it waits with the message, and is part of every model call of its
 * turn.
 */
export const MAX_OUTPUT_SCHEMA_BYTES = 16 * 1024;
/** Messages that may wait behind a turn. */
export const MAX_QUEUED_MESSAGES = 100;
/** Inputs that may wait in the inbox; the next model call reads them, or they start a turn. */
export const MAX_INBOX_EVENTS = 100;
/** Waiting events, and characters of each, that a model call reads as a preview. */
export const MAX_PREVIEWED_EVENTS = 5;
export const MAX_PREVIEW_CHARS = 300;
/** Detached calls that may be open in one conversation; every roll-over carries each. */
export const MAX_DETACHED_CALLS = 100;
/**
 * Calls that wait for input from outside, and detached ones, together, as a roll-over carries them; a single call may
 * be larger (`core/calls/capacity.ts`). With the expired calls, the remembered requests, the ended calls and the rules,
 * verdicts need at most 1,124 KiB of the carried state.
 */
export const MAX_WAITING_BYTES = 256 * 1024;
/** Expired calls whose result is still taken, and their size as every roll-over carries them; one may be larger. */
export const MAX_LATE_CALLS = 50;
export const MAX_LATE_BYTES = 128 * 1024;

/** Defaults of the bounds of sub-agents (`AgentSettings.subAgents`). */
export const MAX_CHILD_DEPTH = 4;
export const MAX_OPEN_CHILDREN = 20;
/** Refused signals of one call that are recorded in the log; later ones are counted with the next event. */
export const MAX_RECORDED_REFUSALS = 3;
/** Refused messages recorded in the log between the starts of two turns: their ids come from outside, in any number. */
export const MAX_REFUSED_MESSAGES = 20;
/** Reasons for which an answer was reverted, as the open call shows them; the event has all. */
export const MAX_SHOWN_REASONS = 10;
/** Calls for which refused signals are counted; every roll-over carries the counts. */
export const MAX_REFUSED_CALLS = 100;
/** Calls of one step. The server allows 2,000 pending activities; a gRPC message 4 MiB. */
export const MAX_CALLS_PER_STEP = 64;
/** Remembered decisions of a conversation; every roll-over and snapshot has them. */
export const MAX_RULES = 50;
/** Fields that one of them matches, and their size as JSON. */
export const MAX_RULE_MATCHES = 20;
export const MAX_RULE_MATCH_BYTES = 2 * 1024;
/**
 * Earlier results of a turn that a policy gets, without their content; the activity that evaluates the policy has them
 * in its input.
 */
export const MAX_EARLIER_RESULTS = 100;
/** Model calls of one what-if. */
export const MAX_WHAT_IF_STEPS = 20;
/** Provider call ids longer than this are replaced by ids of the engine. */
export const MAX_CALL_ID_CHARS = 128;

/**
 * A claim that is not renewed for this long is lost: long enough to renew a few times, short enough for the turn to
 * wait.
 */
export const DEFAULT_LEASE_MS = 5 * 60 * 1000;
export const MIN_LEASE_MS = 1_000;
export const MAX_LEASE_MS = 60 * 60 * 1000;
/** Every wait is finite. A year is beyond any approval and far below the bound of a timer. */
export const MAX_WAIT_MS = 366 * 24 * 60 * 60 * 1000;
/** One attempt of a tool at the most. A longer job should be started by the tool and report its end. */
export const MAX_RUN_TIMEOUT_MS = 24 * 60 * 60 * 1000;
/** The worker that runs a tool sends heartbeats; the run is lost after this long without one. */
export const DEFAULT_HEARTBEAT_MS = 10_000;
/** An answer stamped this little after the deadline still counts, since clocks of honest machines differ. */
export const LATE_TOLERANCE_MS = 1_000;
/** A run that was started and admitted nothing (its first message was refused) closes after this. */
export const EMPTY_RUN_CLOSE_MS = 60 * 1000;

/** Roll over before the server's own suggestion (4 MiB) and far below its kill (50 MiB). */
export const ROLL_OVER_HISTORY_BYTES = 3 * 1024 * 1024;
/** The server refuses the 2,001st update of a run. */
export const ROLL_OVER_UPDATE_COUNT = 1_500;
/** The server refuses the 10,001st signal of a run. */
export const ROLL_OVER_SIGNAL_COUNT = 5_000;
/** Transcript carried inline; with the other carried state it stays below the 2 MiB payload bound. */
export const MAX_CARRIED_TRANSCRIPT_BYTES = 1024 * 1024;
/**
 * Messages that a roll-over carries inline; above this it offloads. They are in history twice (the end of a run, the
 * start of the next), and a run has some 500 KB of new ones: with this bound the carried part stays a small part of it.
 */
export const OFFLOAD_FROM_BYTES = 64 * 1024;
/** Bytes of the newest turns that stay inline when older ones are offloaded. */
export const OFFLOAD_KEEP_BYTES = 32 * 1024;
/** One chunk of offloaded messages: a transcript has few of them, and one is read quickly. */
export const OFFLOAD_CHUNK_BYTES = 256 * 1024;
/**
 * Bytes of messages of the running turn from which a roll-over between two steps offloads its finished steps: half of
 * what can be sent to a model call, so that a usual step cannot exceed that bound first.
 */
export const OFFLOAD_TURN_BYTES = 700 * 1024;
/**
 * Results of one step in one message, unless a single one is larger; more of them become several messages, each of
 * which fits into a query's answer.
 */
export const MAX_RESULTS_MESSAGE_BYTES = 512 * 1024;
/** Transcript sent to one model call, since the activity input is one payload. */
export const MAX_TRANSCRIPT_BYTES = 1_400 * 1024;
/** Whole transcript of a conversation when most of it is in the blob store: more than any model reads. */
export const MAX_STORED_TRANSCRIPT_BYTES = 8 * 1024 * 1024;
/** Unprojected events that a roll-over carries when the store cannot take them. */
export const MAX_CARRIED_EVENT_BYTES = 256 * 1024;
/** One page of the `transcriptSlice` query; a single larger message is a page of its own. */
export const MAX_TRANSCRIPT_PAGE_BYTES = 1024 * 1024;
/** Smaller payloads are not worth the work of compressing them. */
export const COMPRESS_FROM_BYTES = 8 * 1024;
/** One page of the `events` query: far below the 2 MiB payload bound. */
export const MAX_EVENT_PAGE_BYTES = 512 * 1024;

/** All inline reads of one answer together: the answer waits for them, and so does its reader. */
export const INLINE_READS_MS = 500;
/**
 * The same where other tools of the answer start only after them: about as long as the activities of two reads would
 * take.
 */
export const INLINE_READS_BESIDE_MS = 50;
/**
 * The bounds by which a worker judges inline reads. A turn that has made so many different calls has its reads run as
 * activities.
 */
export const MAX_READ_BOUNDS_BYTES = 16 * 1024;
/** States of all plugins of a conversation together, as JSON; also the patches that wait for the end of a step. */
export const MAX_PLUGIN_STATES_BYTES = 256 * 1024;
/** Patches of one run of a tool, or of one `prepare` of all plugins. */
export const MAX_PATCHES = 64;
export const MAX_STATE_CHANGES = 1_000;
/** The newest patches, which are sent along for workers that know the states before them. */
export const MAX_RECENT_PATCH_BYTES = 16 * 1024;
export const MAX_PLUGIN_STATE_DEPTH = 64;
/** A call on a task queue without a poller ends after this, instead of holding its turn for ever. */
export const FOREIGN_QUEUE_TIMEOUT_MS = 5 * 60 * 1000;
/** A worker that holds a call open polls its own queue as long as it lives; one that has ended does not come back. */
export const HELD_QUEUE_TIMEOUT_MS = 10_000;
/** The server ends a workflow whose search attribute value exceeds 2 KiB; names in it are cut well before. */
export const MAX_PENDING_TOOLS_BYTES = 1_500;
