/**
 * Judges the results of all client calls of a step as one batch: accepted whole or not at all. Each result is judged
 * like a single resolution; this module adds the rules of the batch. Pure; never throws.
 */
import type { AcceptedBatch, BatchFault, BatchVerdict } from '../../protocol/calls/batches.js';
import type { AcceptedVerdict } from '../../protocol/calls/resolutions.js';
import type { StepId } from '../../protocol/values/ids.js';
import { parseStepId, REUSED, usableRequestId } from '../../protocol/values/ids.js';
import { isRecord } from '../../protocol/values/json.js';
import { clientWait } from '../calls/claim.js';
import type { PlainRecord } from '../input/plain-input.js';
import { repeatVerdict } from '../memory/duplicates.js';
import { isKnownTurn } from '../memory/memory.js';
import type { ConversationState } from '../state/state.js';
import { stepCalls } from '../state/state.js';
import { fault, faultsOf, lateFault, resolutionOf, sizeFaults } from './batch-entries.js';
import { requestIdProblems } from './calls.js';
import type { Judged, Parsed } from './judged.js';
import type { AcceptableResolution } from './resolutions.js';
import { judgeResolution, parseResolution, resolutionRequestId } from './resolutions.js';

export type BatchRefusal = Exclude<BatchVerdict, { verdict: 'accepted' }>;

export interface BatchRequest {
  readonly stepId: StepId;
  readonly entries: readonly unknown[];
  readonly fields: PlainRecord;
}

export interface AcceptableBatch {
  readonly stepId: StepId;
  readonly results: readonly (AcceptableResolution & { readonly executionMs?: number })[];
}

export function parseBatch(input: unknown): Parsed<BatchRequest, BatchRefusal> {
  const stepId = isRecord(input) ? input['stepId'] : undefined;
  if (!isRecord(input) || typeof stepId !== 'string')
    return { refusal: invalid('/stepId', 'must be a text such as "turn_abc_1.2"') };
  const entries: readonly unknown[] = Array.isArray(input['results']) ? input['results'] : [];
  return { request: { stepId, entries, fields: input } };
}

export function judgeBatch(
  state: ConversationState,
  request: BatchRequest,
  nowMs: number,
): Judged<AcceptableBatch, BatchRefusal> {
  const refusal = stepRefusal(state, request);
  if (refusal !== undefined) return { refusal };
  const calls = stepCalls(state).flatMap((call) => {
    const waitsFor = clientWait(call);
    return waitsFor === undefined ? [] : [{ call, waitsFor }];
  });
  if (calls.length === 0) return { refusal: { verdict: 'stale', faults: [] } };
  const waiting = calls.flatMap(({ call, waitsFor }) =>
    waitsFor === 'client'
      ? []
      : [{ toolCallId: call.plan.toolCallId, name: call.plan.name, waitsFor }],
  );
  if (waiting.length > 0) return { refusal: { verdict: 'not_ready', waiting } };
  const open = calls.map(({ call }) => call.plan.toolCallId);
  return judgeSet(state, { ...request, open, nowMs });
}

/** The refusal for a repeated batch, and for one of another step than the one that waits. */
function stepRefusal(state: ConversationState, request: BatchRequest): BatchRefusal | undefined {
  const step = parseStepId(request.stepId);
  const first = step && firstReply(state, request);
  if (first !== undefined) return first;
  const { turn } = state;
  const unknown: BatchRefusal = { verdict: 'unknown', what: 'step' };
  if (step === undefined || !isKnownTurn(state, step.turnId)) return unknown;
  if (turn?.turnId !== step.turnId || step.step < turn.step)
    return { verdict: 'stale', faults: [] };
  return step.step > turn.step ? unknown : undefined;
}

interface OpenBatch extends BatchRequest {
  /** Ids of the calls that must be answered, in their order. */
  readonly open: readonly string[];
  readonly nowMs: number;
}

function judgeSet(
  state: ConversationState,
  batch: OpenBatch,
): Judged<AcceptableBatch, BatchRefusal> {
  const { fields, entries, stepId, open } = batch;
  const faults: BatchFault[] = requestIdProblems(fields['requestId']).map(({ path, message }) =>
    fault(path, message),
  );
  if (entries.length !== open.length) {
    const message = `must have ${open.length} entries, for ${open.join(', ')} in this order; got ${entries.length}`;
    faults.push(fault('/results', message));
  }
  faults.push(...sizeFaults(entries));
  const results: AcceptableBatch['results'][number][] = [];
  for (const [index, entry] of entries.slice(0, open.length).entries()) {
    const path = `/results/${index}`;
    const judged = judgeEntry(state, batch, { entry, path, expected: open[index] ?? '' });
    if ('faults' in judged) faults.push(...judged.faults);
    else results.push(judged);
  }
  const worst = PRECEDENCE.find((name) => faults.some(({ verdict }) => verdict === name));
  return worst === undefined
    ? { accepted: { stepId, results } }
    : { refusal: { verdict: worst, faults } };
}

const PRECEDENCE = ['forbidden', 'stale', 'expired', 'invalid'] as const;

interface Place {
  readonly entry: unknown;
  readonly path: string;
  /** Id of the call whose result belongs at this position. */
  readonly expected: string;
}

function judgeEntry(
  state: ConversationState,
  { fields, nowMs }: OpenBatch,
  { entry, path, expected }: Place,
): AcceptableBatch['results'][number] | { readonly faults: readonly BatchFault[] } {
  if (!isRecord(entry)) return { faults: [fault(path, 'must be an object with "toolCallId"')] };
  const { toolCallId, executionMs, claimId } = entry;
  const given = resolutionOf(entry, path);
  const faults = [...given.faults, ...placeFaults(toolCallId, { path, expected })];
  // A result at the wrong position is still checked for the verdicts forbidden, stale and invalid.
  if (typeof toolCallId !== 'string' || given.resolution === undefined) return { faults };
  const { actor, receivedAt } = fields;
  const requestId = usableRequestId(fields['requestId']);
  const one = { toolCallId, resolution: given.resolution, requestId, actor, receivedAt, claimId };
  const parsed = parseResolution(one);
  const judged = 'refusal' in parsed ? parsed : judgeResolution(state, parsed.request, nowMs);
  if ('refusal' in judged)
    return { faults: [...faults, ...faultsOf(judged.refusal, { path, toolCallId })] };
  if (judged.accepted.late === true) faults.push(lateFault({ path, toolCallId }));
  if (faults.length > 0) return { faults };
  return {
    ...judged.accepted,
    ...(executionMs === undefined ? {} : { executionMs: Number(executionMs) }),
  };
}

function placeFaults(
  toolCallId: unknown,
  { path, expected }: Omit<Place, 'entry'>,
): readonly BatchFault[] {
  return toolCallId === expected
    ? []
    : [fault(`${path}/toolCallId`, `must be "${expected}": the results come in the calls' order`)];
}

function invalid(path: string, message: string): BatchRefusal {
  return { verdict: 'invalid', faults: [fault(path, message)] };
}

/** The first reply to this request, if a result was accepted under its id for each of its calls. */
function firstReply(
  state: ConversationState,
  { stepId, entries, fields: { requestId, actor } }: BatchRequest,
): BatchRefusal | undefined {
  const replies: AcceptedVerdict[] = [];
  let isReused = false;
  for (const entry of entries) {
    const toolCallId = isRecord(entry) ? entry['toolCallId'] : undefined;
    if (!isRecord(entry) || typeof toolCallId !== 'string') return undefined;
    const { resolution } = resolutionOf(entry, '');
    const one = { toolCallId, resolution, requestId, actor };
    const id = resolutionRequestId(one);
    const repeated = repeatVerdict(state, one, { requestId: id, toolCallId });
    if (repeated === undefined) return undefined;
    if (repeated.verdict === 'duplicate') replies.push(repeated.first);
    else isReused = true;
  }
  if (isReused) return invalid(REUSED.path, REUSED.message);
  return replies.length === 0
    ? undefined
    : { verdict: 'duplicate', first: acceptedBatch(stepId, replies) };
}

export function acceptedBatch(stepId: StepId, results: readonly AcceptedVerdict[]): AcceptedBatch {
  const seq = Math.max(...results.map((result) => result.seq));
  return { verdict: 'accepted', stepId, seq, results };
}
