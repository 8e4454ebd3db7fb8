/** Bounds of requests to MCP servers, and of their responses: unit in the name, reason beside it. */

/**
 * Time to connect to an MCP server, and to list its tools: a turn waits for the first listing, and continues without it
 * after this time.
 */
export const MCP_CONNECT_TIMEOUT_MS = 10_000;
export const MCP_LIST_TIMEOUT_MS = 10_000;
/** Time for which a listing is valid where the server announces no changes; a new listing delays no turn. */
export const MCP_LISTING_MS = 5 * 60 * 1000;
/** Pause after a failed listing: short enough to find a restarted server, long enough not to keep it down. */
export const MCP_LIST_RETRY_MS = 15_000;
/** Tools of one server; more than any model can choose between. */
export const MAX_MCP_TOOLS = 256;
/** Description and input schema of one listed tool, as JSON: every request to the model has them. */
export const MAX_MCP_TOOL_BYTES = 32 * 1024;
/**
 * One message of a server, over HTTP (a response, or an event of a stream) or from a process: the most that a worker
 * holds of it.
 */
export const MAX_MCP_MESSAGE_BYTES = 10 * 1024 * 1024;
/** One image or other file in a result; no provider takes larger images. */
export const MAX_MCP_FILE_BYTES = 5 * 1024 * 1024;
/** Characters of a server's challenge, when it refuses credentials, that resolvers get. */
export const MAX_MCP_CHALLENGE_CHARS = 2_048;
/** Connections to one server for tenants or users: beyond it, those idle for longest are closed. */
export const MAX_MCP_CALLERS = 100;
export const MCP_CALLER_IDLE_MS = 5 * 60 * 1000;
/** Servers that a worker keeps for one plugin that makes them: beyond it, those idle for longest are closed. */
export const MAX_MADE_MCP_SERVERS = 500;
/** Pages of one listing; stops a server that pages for ever. */
export const MAX_MCP_LIST_PAGES = 20;
/** Least pause before a server's stream that has ended is opened again, even if the server sets a shorter one. */
export const MIN_MCP_RECONNECT_MS = 100;
export const MAX_MCP_RECONNECT_MS = 60_000;
/** Least pause between reports of progress of one call to watchers. */
export const MCP_PROGRESS_MS = 50;
/** Time to send a notification to a server, such as that a call is given up, which needs no response. */
export const MCP_NOTE_TIMEOUT_MS = 10_000;
/** Time to end a session with a server, since it delays a worker that stops. */
export const MCP_FAREWELL_MS = 1_000;
/** Characters of a server's name: with it, tool names still fit the providers' limit. */
export const MAX_MCP_SERVER_NAME_CHARS = 24;
/** Rounds of one call: a server may answer that it needs another request; one that does so for ever is stopped. */
export const MAX_MCP_ROUNDS = 10;
/** Standard error of a stdio server in the log: characters of a line, and lines a minute. */
export const MAX_MCP_STDERR_LINE_CHARS = 500;
export const MAX_MCP_STDERR_LINES = 100;
/**
 * Time by which a held call outlives its question's deadline: its worker counts from earlier, and an answer of the last
 * moment needs time to arrive.
 */
export const MCP_HELD_SLACK_MS = 15_000;
