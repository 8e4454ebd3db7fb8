/**
 * Classifies failures between a worker and an MCP server: reported to the model, retried, or of unknown outcome. Runs
 * in the worker; imports nothing of the client, so that errors of another copy of it are judged the same.
 */
import { ToolError } from '../../../define/tool/context.js';
import { ToolRetry } from '../../../define/tool/retry.js';
import { connectionErrorOf } from '../../../net/connection-errors.js';
import type { Effects } from '../../../protocol/calls/executors.js';
import { isRecord } from '../../../protocol/values/json.js';
import { STREAM_LOST } from './lost-streams.js';

const MAX_DETAIL_CHARS = 500;

/** A server cannot be reached; nothing was sent. */
export class ServerUnreachable extends Error {
  override readonly name = 'ServerUnreachable';
  readonly code = 'mcp_unreachable';
}

/**
 * The resolver of the credentials failed; nothing was sent. The reason goes only to the log, because it may hold
 * secrets.
 */
export class NoCredentials extends Error {
  override readonly name = 'NoCredentials';
  readonly code = 'mcp_no_credentials';

  constructor() {
    super('its credentials could not be looked up');
  }
}

/** A call was sent and its response will not come; it may have taken effect and must not be sent again. */
export class ConnectionLost extends Error {
  override readonly name = 'ConnectionLost';
  readonly code = 'mcp_connection_lost';
}

/**
 * Codes of requests that cannot have been executed: of the client, of the engine, and of a process that cannot be
 * started.
 */
const NEVER_SENT: readonly unknown[] = [
  'NOT_CONNECTED',
  'SEND_FAILED',
  'mcp_unreachable',
  'mcp_no_credentials',
  'ENOENT',
];
/** The server refused for now. */
const TRY_LATER: readonly unknown[] = [408, 425, 429, 503];

/** The reason as a text that may be shown: no stack, no body longer than a sentence or two. */
export function reasonIn(error: unknown, clean: (text: string) => string): string {
  const text = error instanceof Error ? error.message : String(error);
  const cause = error instanceof Error ? codeIn(error.cause) : undefined;
  const full = typeof cause === 'string' ? `${text} (${cause})` : text;
  const line = full.replaceAll(/\s+/g, ' ').trim();
  return clean(line === '' ? 'no reason given' : line).slice(0, MAX_DETAIL_CHARS);
}

/**
 * Converts an error of the client to the error that the tool's code throws.
 *
 * | what happened | what follows |
 * |---|---|
 * | the server responded with an error of the protocol | reported to the model, in the server's words |
 * | its address may not be reached | reported to the model |
 * | nothing was sent, or the server is busy | `ToolRetry`: retried while the call has attempts |
 * | the credentials were refused | reported to the model |
 * | the connection was lost after the call was sent | effects `once`: `ConnectionLost`; else `ToolRetry` |
 */
export function callFailure(
  error: unknown,
  about: {
    readonly server: string;
    readonly effects: Effects;
    readonly clean: (text: string) => string;
  },
): Error {
  const { server, effects, clean } = about;
  const reason = reasonIn(error, clean);
  const say = (text: string): string => `MCP server "${server}": ${text}`;
  if (isProtocolError(error)) return new ToolError(say(reason));
  const refused = refusedAddressIn(error);
  if (refused !== undefined) return new ToolError(say(clean(refused)));
  const status = statusIn(error);
  if (wasNeverSent(error) || TRY_LATER.includes(status))
    return new ToolRetry({ message: say(`cannot be reached: ${reason}`) });
  if (isAuthFailure(error, status))
    return new ToolError(say('refused the credentials of this application'));
  if (status !== undefined && status >= 400 && status < 500) return new ToolError(say(reason));
  if (codeIn(error) === 'UNSUPPORTED_RESULT_TYPE' || codeIn(error) === 'INVALID_RESULT')
    return new ToolError(say(`answered with an invalid result: ${reason}`));
  if (effects === 'once') return new ConnectionLost(say(reason));
  return new ToolRetry({ message: say(`the connection was lost: ${reason}`) });
}

/** The server no longer knows the session, so it has not read the request either. */
export function isSessionGone(error: unknown): boolean {
  return statusIn(error) === 404;
}

/** Errors of the protocol have a numeric code; errors of the client a word. */
function isProtocolError(error: unknown): boolean {
  const code = error instanceof Error ? codeIn(error) : undefined;
  return typeof code === 'number' && code !== STREAM_LOST;
}

function wasNeverSent(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return [codeIn(error), codeIn(error.cause)].some(
    (code) => NEVER_SENT.includes(code) || connectionErrorOf(code)?.sent === false,
  );
}

/** Causes of an error that are looked at: those of the client, of `fetch`, and of the connection. */
const MAX_CAUSES = 5;

/** The words of the connection that refused an address, before anything was sent. */
function refusedAddressIn(error: unknown): string | undefined {
  let at = error;
  for (let depth = 0; depth < MAX_CAUSES && at instanceof Error; depth += 1, at = at.cause)
    if (codeIn(at) === 'ADDRESS_REFUSED') return at.message;
  return undefined;
}

function isAuthFailure(error: unknown, status: number | undefined): boolean {
  if (status === 401 || status === 403) return true;
  return error instanceof Error && /^(Unauthorized|InsufficientScope)Error$/.test(error.name);
}

function codeIn(error: unknown): unknown {
  return typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
}

function statusIn(error: unknown): number | undefined {
  if (typeof error !== 'object' || error === null || !('data' in error)) return undefined;
  const { data } = error;
  const status = isRecord(data) ? data['status'] : undefined;
  return typeof status === 'number' ? status : undefined;
}
