/** Bounds of what is asked of MCP servers, and taken from them: unit in the name, reason beside it. */

/** Reaching an MCP server and listing its tools, each: a turn waits for the first listing, and goes on without. */
export const MCP_CONNECT_TIMEOUT_MS = 10_000;
export const MCP_LIST_TIMEOUT_MS = 10_000;
/** A listing is taken for true this long where the server tells of no changes; asking anew costs no turn anything. */
export const MCP_LISTING_MS = 5 * 60 * 1000;
/** After a listing that failed: often enough to find a server that was restarted, rare enough not to keep it down. */
export const MCP_LIST_RETRY_MS = 15_000;
/** Tools of one server; more than any model can choose between. */
export const MAX_MCP_TOOLS = 256;
/** Description and input schema of one listed tool, as JSON: they stand in every request to the model. */
export const MAX_MCP_TOOL_BYTES = 32 * 1024;
/** One message of a server, over HTTP (an answer, or an event of a stream) as from a process: as much as a worker holds of it. */
export const MAX_MCP_MESSAGE_BYTES = 10 * 1024 * 1024;
/** One image or other file in a result; no provider takes larger images. */
export const MAX_MCP_FILE_BYTES = 5 * 1024 * 1024;
/** Of what a server says when it refuses credentials, as resolvers are told it. */
export const MAX_MCP_CHALLENGE_CHARS = 2_048;
/** Connections to one server for tenants or users: those that are idle, the longest first, make way for others. */
export const MAX_MCP_CALLERS = 100;
export const MCP_CALLER_IDLE_MS = 5 * 60 * 1000;
/** Pages of one listing; a server that pages for ever is stopped. */
export const MAX_MCP_LIST_PAGES = 20;
/** How soon a stream of a server that has ended is asked for again, whatever the server says. */
export const MIN_MCP_RECONNECT_MS = 100;
export const MAX_MCP_RECONNECT_MS = 60_000;
/** Reports of progress of one call reach watchers no more often. */
export const MCP_PROGRESS_MS = 50;
/** What a server is told, such as that a call is given up, and does not have to answer. */
export const MCP_NOTE_TIMEOUT_MS = 10_000;
/** Telling a server of its session's end, which holds a worker that stops. */
export const MCP_FAREWELL_MS = 1_000;
/** Of a server's name: with it, tool names still fit on the provider's wire. */
export const MAX_MCP_SERVER_NAME_CHARS = 24;
/** A server may answer that it needs no more than another request; one that does so for ever is stopped. */
export const MAX_MCP_ROUNDS = 10;
/** What a stdio server writes to its standard error: a line, and lines a minute, that reach the log. */
export const MAX_MCP_STDERR_LINE_CHARS = 500;
export const MAX_MCP_STDERR_LINES = 100;
/** A held call outlives its question's deadline by this: its worker counts from earlier, and an answer of the last moment has a way to go. */
export const MCP_HELD_SLACK_MS = 15_000;
