/**
 * Converts questions of MCP servers to questions of tools. A server that needs input ends its response with the
 * requests and an opaque state; the requests are asked one after the other, each with its own form, and any worker
 * makes the call again with all responses. Pure; runs in the worker.
 * @see https://modelcontextprotocol.io/specification/2026-07-28 - elicitation, input_required
 */
import { createHash } from 'node:crypto';
import { questionProblem } from '../../../core/input/question.js';
import { formPatternProblem } from '../../../json-schema/judge/patterns.schema.js';
import { MAX_REASON_CHARS } from '../../../protocol/limits/limits.js';
import {
  canonicalJson,
  isRecord,
  type Json,
  type JsonSchema,
} from '../../../protocol/values/json.js';

/** The outcome of one request, as the server receives it. */
export type ElicitAnswer =
  | { readonly action: 'accept'; readonly content?: { readonly [field: string]: Json | undefined } }
  | { readonly action: 'decline' };

/** One request, reduced to the parts that are shown. */
export type ElicitRequest =
  | { readonly mode: 'form'; readonly message: string; readonly schema: JsonSchema }
  | { readonly mode: 'url'; readonly message: string; readonly url: string };

/** The held call, and the task queue on which only its worker takes the next run. */
export interface HeldPlace {
  readonly id: string;
  readonly at: string;
}

/**
 * The state of a call between its runs. `resume`: made again with responses and the server's state. `retry`: made again
 * unchanged, because the server's request was fulfilled elsewhere. `replay`: made again, and the questions that the
 * server then pushes are answered in their order. `held`: open in one worker, which waits for the answer to the pushed
 * question.
 */
export interface AskedState {
  readonly kind: 'resume' | 'retry' | 'replay' | 'held';
  /** Present for `held`. */
  readonly held?: HeldPlace;
  /** Opaque; echoed unchanged. */
  readonly requestState?: string;
  /** By the server's key, or the place of a pushed question. */
  readonly answered: readonly (readonly [key: string, answer: ElicitAnswer])[];
  /** The open request, and the defaults of its form. */
  readonly open: {
    readonly key: string;
    readonly mode: ElicitRequest['mode'];
    readonly defaults?: { readonly [field: string]: Json | undefined };
  };
  readonly waiting: readonly (readonly [key: string, request: ElicitRequest])[];
}

type Keyed = readonly (readonly [key: string, request: ElicitRequest])[];

/** Requests of an `input_required` result, in the server's order, or why they cannot be asked. */
export function requestsOf(inputRequests: unknown): Keyed | { readonly problem: string } {
  if (inputRequests === undefined) return [];
  if (!isRecord(inputRequests)) return { problem: 'its requests for input are not an object' };
  const requests: (readonly [string, ElicitRequest])[] = [];
  for (const [key, request] of Object.entries(inputRequests)) {
    const method = isRecord(request) ? request['method'] : undefined;
    if (!isRecord(request) || method !== 'elicitation/create')
      return { problem: `it asked for ${String(method)}, which agents do not offer to servers` };
    const parsed = requestOf(request['params']);
    if ('problem' in parsed) return parsed;
    requests.push([key, parsed]);
  }
  return requests;
}

/** One request of the protocol, or why it cannot be asked. */
export function requestOf(params: unknown): ElicitRequest | { readonly problem: string } {
  if (!isRecord(params)) return { problem: 'its request for input has no parameters' };
  const message = typeof params['message'] === 'string' ? params['message'] : '';
  if (params['mode'] === 'url') {
    const { url } = params;
    return typeof url === 'string' && hostOf(url) !== undefined
      ? { mode: 'url', message, url }
      : { problem: 'it asked to open something that is not an http or https address' };
  }
  const schema = params['requestedSchema'];
  if (!isRecord(schema) || schema['type'] !== 'object')
    return { problem: 'it asked for input without a form' };
  const { $schema: _dialect, ...form } = schema as JsonSchema;
  const fault = questionProblem({ form }) ?? formPatternProblem(form);
  if (fault !== undefined) return { problem: `its form cannot be shown: ${fault}` };
  return { mode: 'form', message, schema: form };
}

/** The question for a person: the form, and the text, which always names the server. */
export function questionOf(
  server: string,
  request: ElicitRequest,
): { readonly form: JsonSchema; readonly reason: string } {
  const by = `(asked by the MCP server "${server}")`;
  const words = (text: string): string => text.slice(0, MAX_REASON_CHARS - by.length - 1);
  if (request.mode === 'form')
    return { form: request.schema, reason: `${words(request.message)} ${by}`.trim() };
  const { url, message } = request;
  const host = hostOf(url) ?? '';
  const description = `To answer is to agree to open ${host}; what is done there stays there. Send the address back as it is.`;
  return {
    form: {
      type: 'object',
      title: `Open ${host}`,
      properties: { url: { type: 'string', const: url, description } },
      required: ['url'],
      additionalProperties: false,
    },
    reason: `${words(`Open ${host}: ${message}`)} ${by}`,
  };
}

/** The state in which the first of several requests is open. */
export function openFirst(
  requests: Keyed,
  state: Pick<AskedState, 'kind' | 'answered' | 'held'> & {
    readonly requestState?: string | undefined;
  },
): { readonly state: AskedState; readonly request: ElicitRequest } | undefined {
  const [first, ...waiting] = requests;
  if (first === undefined) return undefined;
  const [key, request] = first;
  const { kind, answered, requestState, held } = state;
  const defaults = request.mode === 'form' ? defaultsOf(request.schema) : undefined;
  return {
    request,
    state: {
      kind,
      ...(requestState === undefined ? {} : { requestState }),
      ...(held === undefined ? {} : { held }),
      answered,
      open: { key, mode: request.mode, ...(defaults === undefined ? {} : { defaults }) },
      waiting,
    },
  };
}

/** The state of the previous run, with the answer to its question. Undefined when the engine did not write it. */
export function settledState(
  state: unknown,
  outcome: { readonly answer: Json | undefined },
): Pick<AskedState, 'kind' | 'requestState' | 'answered' | 'waiting' | 'held'> | undefined {
  if (!isAskedState(state)) return undefined;
  const { open, answered, waiting, kind, requestState, held } = state;
  const settled: readonly [string, ElicitAnswer] = [open.key, answerOf(open, outcome.answer)];
  return {
    kind,
    ...(requestState === undefined ? {} : { requestState }),
    ...(held === undefined ? {} : { held }),
    answered: [...answered, settled],
    waiting,
  };
}

function answerOf(open: AskedState['open'], answer: Json | undefined): ElicitAnswer {
  if (answer === undefined) return { action: 'decline' };
  // The answer to a link is the consent, and nothing else.
  if (open.mode === 'url') return { action: 'accept' };
  return { action: 'accept', content: { ...open.defaults, ...(isRecord(answer) ? answer : {}) } };
}

/** Values that a form supplies for fields that are left out. */
function defaultsOf({ properties }: JsonSchema): AskedState['open']['defaults'] {
  if (!isRecord(properties)) return undefined;
  const given = Object.entries(properties).flatMap(([field, schema]) => {
    const value = isRecord(schema) ? schema['default'] : undefined;
    return value === undefined ? [] : [[field, value] as const];
  });
  return given.length === 0 ? undefined : Object.fromEntries(given);
}

/**
 * Identifies a pushed question when it is pushed again: by its place and its form. Words and links may change from call
 * to call.
 */
export function pushedKey(place: number, request: ElicitRequest): string {
  const content = request.mode === 'form' ? canonicalJson(request.schema) : 'url';
  return `${place}:${createHash('sha256').update(content).digest('hex').slice(0, 16)}`;
}

/** The task queue of the one worker that can continue the call; undefined when every worker can. */
export function heldAt(state: unknown): string | undefined {
  return isAskedState(state) ? state.held?.at : undefined;
}

function isAskedState(value: unknown): value is AskedState {
  return (
    isRecord(value) &&
    typeof value['kind'] === 'string' &&
    isRecord(value['open']) &&
    Array.isArray(value['answered']) &&
    Array.isArray(value['waiting'])
  );
}

/** The host of an address that a browser opens; undefined for anything else, such as `javascript:`. */
function hostOf(url: string): string | undefined {
  try {
    const { protocol, host } = new URL(url);
    return protocol === 'https:' || protocol === 'http:' ? host : undefined;
  } catch {
    return undefined;
  }
}
