/** Turns a response into the call's result, or into the text of an error. Runs in the worker. */
import type { Response } from 'undici';
import type { HttpAnswer } from '../../define/http/spec.js';
import { isToolError, type ToolError } from '../../define/tool/context.js';
import type { HttpPlan } from '../../define/tool/http-plan.js';
import { retryAfterMs } from '../../net/retries.js';
import { MAX_ANSWER_DEPTH } from '../../protocol/limits/limits.js';
import {
  MAX_HTTP_ERROR_BYTES,
  MAX_HTTP_EXCERPT_CHARS,
} from '../../protocol/limits/service-limits.js';
import { isRecord, type Json } from '../../protocol/values/json.js';
import { cutText } from '../../protocol/values/well-formed.js';
import { type ReadBody, readBody } from '../shared/bounded-body.js';
import { HttpProblem, isRetryableStatus } from './problem.js';
import type { Secrets } from './secrets.js';

/**
 * Reads a successful response, with secrets redacted.
 * @throws {HttpProblem} for any other response; errors of reading
 */
export async function readAnswer(
  plan: HttpPlan,
  response: Response,
  secrets: Secrets,
): Promise<HttpAnswer> {
  const { status } = response;
  const isOk = plan.okStatuses?.includes(status) ?? (status >= 200 && status < 300);
  if (!isOk) throw await statusProblem(plan, response, secrets);
  const head = headOf(response);
  const declared = Number(response.headers.get('content-length') ?? 0);
  const isHuge =
    declared > plan.maxResponseBytes && response.headers.get('content-encoding') === null;
  if (isHuge && response.body !== null) {
    await response.body.cancel();
    throw tooLarge(head, plan);
  }
  const read = await readBody(bodyOf(response), plan.maxResponseBytes);
  if (!read.whole) throw tooLarge(head, plan);
  const parsed = parsedBody(plan.response, response, read);
  if (!parsed.ok) {
    const excerpt = excerptOf(textOf(response, read), secrets);
    throw new HttpProblem(joined(`${head}, ${parsed.problem}`, excerpt));
  }
  return answerOf(response, parsed.body, secrets);
}

/**
 * Applies `result` to a successful response.
 * @throws {HttpProblem} when the pointer finds nothing; the error of a function
 */
export function mapped({ result }: HttpPlan, answer: HttpAnswer): unknown {
  if (typeof result === 'function') return result(answer as never);
  const found = atPointer(answer.body, result);
  if (found === undefined)
    throw new HttpProblem(`HTTP ${answer.status}, but its body has nothing at ${result}`);
  return found;
}

async function statusProblem(
  plan: HttpPlan,
  response: Response,
  secrets: Secrets,
): Promise<HttpProblem> {
  const { status } = response;
  const read = await readBody(
    bodyOf(response),
    Math.min(plan.maxResponseBytes, MAX_HTTP_ERROR_BYTES),
  );
  const said = saidOf(plan, response, { read, secrets });
  const message = isToolError(said)
    ? said.message
    : joined(headOf(response), said ?? excerptOf(textOf(response, read), secrets));
  return new HttpProblem(message, {
    retryable: isRetryableStatus(status),
    retryAfterMs: retryAfterMs(response.headers.get('retry-after') ?? undefined, Date.now()),
  });
}

/** Applies the tool's own mapping to an error response; if the mapping finds nothing, or fails, the excerpt is used. */
function saidOf(
  { error }: HttpPlan,
  response: Response,
  { read, secrets }: { readonly read: ReadBody; readonly secrets: Secrets },
): string | ToolError | undefined {
  if (error === undefined) return undefined;
  const parsed = parsedBody('auto', response, read);
  const answer = answerOf(response, parsed.ok ? parsed.body : null, secrets);
  try {
    const found =
      typeof error === 'function' ? error(answer as never) : atPointer(answer.body, error);
    if (isToolError(found)) return found;
    return typeof found === 'string' && found.trim() !== '' ? found.trim() : undefined;
  } catch {
    return undefined;
  }
}

type Parsed =
  | { readonly ok: true; readonly body: Json }
  | { readonly ok: false; readonly problem: string };

function parsedBody(kind: HttpPlan['response'], response: Response, read: ReadBody): Parsed {
  const type = (response.headers.get('content-type') ?? '').split(';')[0]?.trim().toLowerCase();
  const text = textOf(response, read);
  if (text.trim() === '') return { ok: true, body: kind === 'text' ? text : null };
  const isJson =
    type === 'application/json' || type?.endsWith('+json') === true || type === 'text/json';
  if (kind === 'text' || (kind === 'auto' && !isJson)) {
    return isTextual(type ?? '', isJson)
      ? { ok: true, body: text }
      : { ok: false, problem: `but its body is ${type ?? ''}, which is not text` };
  }
  // Some services send no content type; a declared one is taken at its word.
  if (!isJson && type !== '')
    return { ok: false, problem: `but its body is ${type ?? ''}, which is not JSON` };
  try {
    const body = JSON.parse(text) as Json;
    // Readers of the body recurse.
    return isDeeper(body, MAX_ANSWER_DEPTH)
      ? { ok: false, problem: `but its body is nested deeper than ${MAX_ANSWER_DEPTH} levels` }
      : { ok: true, body };
  } catch {
    return { ok: false, problem: 'but its body is not JSON' };
  }
}

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels <= 0 || Object.values(value).some((item) => isDeeper(item, levels - 1));
}

function isTextual(type: string, isJson: boolean): boolean {
  const isKnown =
    /^(?:text\/.*|application\/(?:xml|javascript|yaml|x-yaml|x-ndjson|x-www-form-urlencoded|toml)|.*\+(?:xml|yaml))$/;
  return isJson || type === '' || isKnown.test(type);
}

/** Decodes by the charset of the response, else UTF-8; invalid bytes become U+FFFD. */
function textOf(response: Response, { bytes }: ReadBody): string {
  const named = /charset="?([\w-]+)"?/i.exec(response.headers.get('content-type') ?? '')?.[1];
  try {
    return new TextDecoder(named ?? 'utf-8').decode(bytes);
  } catch {
    return new TextDecoder().decode(bytes);
  }
}

function answerOf(response: Response, body: Json, secrets: Secrets): HttpAnswer {
  const headers = [...response.headers].map(([name, value]) => [name, secrets.redact(value)]);
  return {
    status: response.status,
    headers: Object.fromEntries(headers) as HttpAnswer['headers'],
    body: secrets.redactJson(body),
  };
}

/** A type that undici's types leave open. */
function bodyOf({ body }: Response): AsyncIterable<Uint8Array> | null {
  return body;
}

function headOf({ status, statusText }: Response): string {
  return statusText === '' ? `HTTP ${status}` : `HTTP ${status} ${statusText.slice(0, 80)}`;
}

function tooLarge(head: string, plan: HttpPlan): HttpProblem {
  return new HttpProblem(`${head}, but its body has more than ${plan.maxResponseBytes} bytes`);
}

function joined(head: string, text: string): string {
  return text === '' ? head : `${head}: ${text}`;
}

/** The beginning of the text, on one line. Secrets are redacted before it is cut, so that none is cut in two. */
function excerptOf(text: string, secrets: Secrets): string {
  // Binary content is not worth an excerpt.
  if (text.includes('\u0000')) return '';
  const line = secrets
    .redact(text)
    .replaceAll(/[\s\p{Cc}]+/gu, ' ')
    .trim();
  if (line.length <= MAX_HTTP_EXCERPT_CHARS) return line;
  const cut = cutText(line, MAX_HTTP_EXCERPT_CHARS);
  return `${cut} [...]`;
}

/** @see https://www.rfc-editor.org/rfc/rfc6901 */
function atPointer(value: Json, pointer: string): Json | undefined {
  let current: unknown = value;
  for (const token of pointer.split('/').slice(1)) {
    const key = token.replaceAll('~1', '/').replaceAll('~0', '~');
    if (Array.isArray(current)) {
      current = /^(?:0|[1-9][0-9]*)$/.test(key) ? (current as unknown[])[Number(key)] : undefined;
    } else if (isRecord(current) && Object.hasOwn(current, key)) current = current[key];
    else return undefined;
  }
  return current as Json | undefined;
}
