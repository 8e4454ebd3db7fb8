/**
 * Entries of a batch of results in the form of front ends: converts them to resolutions, and reports their faults.
 * Pure.
 */
import type { BatchFault } from '../../protocol/calls/batches.js';
import { MAX_BATCH_BYTES, MAX_ID_CHARS, MAX_RUN_TIMEOUT_MS } from '../../protocol/limits/limits.js';
import { REUSED } from '../../protocol/values/ids.js';
import { isRecord, utf8Bytes } from '../../protocol/values/json.js';
import type { PlainRecord } from '../input/plain-input.js';
import type { ResolutionRefusal } from './resolutions.js';

/** Converts an entry to the engine's own form of a result, or returns the faults of its shape. */
export function resolutionOf(
  entry: PlainRecord,
  path: string,
): { readonly faults: readonly BatchFault[]; readonly resolution?: PlainRecord } {
  const { resultJson, errorMessage, executionMs } = entry;
  const faults = Object.keys(entry)
    .filter((field) => !FIELDS.includes(field))
    .slice(0, MAX_REPORTED_FIELDS)
    .map((field) => fault(`${path}/${field.slice(0, MAX_ID_CHARS)}`, 'is not known here'));
  if (executionMs !== undefined && !isDuration(executionMs))
    faults.push(fault(`${path}/executionMs`, 'must be a number of milliseconds from 0'));
  if ((resultJson === undefined) === (errorMessage === undefined))
    return {
      faults: [...faults, fault(path, 'must have either resultJson or errorMessage')],
    };
  if (errorMessage !== undefined)
    return { faults, resolution: { type: 'error', message: errorMessage } };
  const value = typeof resultJson === 'string' ? parsed(resultJson) : undefined;
  if (value === undefined)
    return { faults: [...faults, fault(`${path}/resultJson`, 'must be a text that is JSON')] };
  return { faults, resolution: { type: 'result', value } };
}

/** Limit of reported fields: a refusal has to fit into a reply, however many fields were sent. */
const MAX_REPORTED_FIELDS = 20;

const FIELDS: readonly string[] = [
  'toolCallId',
  'resultJson',
  'errorMessage',
  'executionMs',
  'claimId',
];

function isDuration(value: unknown): boolean {
  return typeof value === 'number' && value >= 0 && value <= MAX_RUN_TIMEOUT_MS;
}

/** Undefined when the text is not JSON; no JSON text parses to undefined. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/** Faults of the size of all texts together. */
export function sizeFaults(entries: readonly unknown[]): readonly BatchFault[] {
  const bytes = entries.reduce((sum: number, entry) => {
    const { resultJson, errorMessage } = isRecord(entry) ? entry : {};
    return sum + [resultJson, errorMessage].reduce((own: number, text) => own + bytesOf(text), 0);
  }, 0);
  return bytes > MAX_BATCH_BYTES
    ? [fault('/results', `must be at most ${MAX_BATCH_BYTES} bytes together, got ${bytes}`)]
    : [];
}

function bytesOf(text: unknown): number {
  return typeof text === 'string' ? utf8Bytes(text) : 0;
}

/** The fault of a late result: a batch accepts none, although a single resolution may be late. */
export function lateFault(at: { readonly path: string; readonly toolCallId: string }): BatchFault {
  return { ...at, verdict: 'expired', message: 'came after the deadline of its call' };
}

/** Converts the refusal of one result to faults of the batch. */
export function faultsOf(
  judged: ResolutionRefusal,
  at: { readonly path: string; readonly toolCallId: string },
): readonly BatchFault[] {
  const { path, toolCallId } = at;
  switch (judged.verdict) {
    case 'forbidden':
      return [{ path, toolCallId, verdict: 'forbidden', message: judged.reason }];
    case 'expired':
      return [lateFault(at)];
    case 'stale': {
      const message = `${judged.why}: the call is ${judged.status}`;
      return [{ path, toolCallId, verdict: 'stale', message }];
    }
    case 'duplicate':
      return [{ path, toolCallId, verdict: 'stale', message: 'was accepted before' }];
    case 'invalid':
      return judged.problems.map((problem) => ({
        toolCallId,
        verdict: 'invalid',
        path: problem === REUSED ? problem.path : pathOf(path, problem.path),
        message: problem.message,
      }));
    // The call does not belong to this step; the fault of its position already reports that.
    case 'unknown':
      return [];
  }
}

function pathOf(path: string, inner: string): string {
  return inner
    .replace(/^\/resolution\/value/, `${path}/resultJson`)
    .replace(/^\/resolution\/message/, `${path}/errorMessage`);
}

/** A fault with the verdict `invalid`. */
export function fault(path: string, message: string): BatchFault {
  return { path, message, verdict: 'invalid' };
}
