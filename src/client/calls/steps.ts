/**
 * The batch form: the client calls of a step, read as one continuation and answered as one set. Never starts a
 * workflow.
 */

import { randomUUID } from 'node:crypto';
import {
  BATCH_HTTP_STATUS,
  type BatchFault,
  type BatchResult,
  type BatchVerdict,
  type ResolveBatchInput,
  type StepContinuation,
} from '../../protocol/calls/batches.js';
import type { AcceptedVerdict } from '../../protocol/calls/resolutions.js';
import type { ConversationSnapshot } from '../../protocol/conversation/conversation.js';
import { MAX_ANSWER_DEPTH } from '../../protocol/limits/limits.js';
import { stepContinuation } from '../../protocol/log/step-continuation.js';
import type { StampedActor } from '../../protocol/values/actors.js';
import {
  type ConversationKey,
  parseStepId,
  REUSED,
  type StepId,
} from '../../protocol/values/ids.js';
import { isBoundedJson, isRecord } from '../../protocol/values/json.js';
import { updateIdFor } from '../../protocol/workflow/update-ids.js';
import type { BatchOutcome, ResolveOptions, StepResult } from '../api/call-types.js';
import { checkRequestId } from '../api/checks.js';
import { ConversationError, invalidField } from '../api/errors.js';
import type { ConversationReader } from '../ports/reader.js';
import { verdictFromLog } from '../reading/log-search.js';
import type { ReadYourWrites } from '../reading/read-your-writes.js';
import { confirmUpdate, verdictOfFailure } from '../temporal/confirmed-update.js';
import type { TemporalGateway } from '../temporal/temporal-gateway.js';
import { withoutOwnDuplicate } from './duplicates.js';

interface StepParts {
  readonly key: ConversationKey;
  readonly gateway: TemporalGateway;
  readonly reader: ConversationReader;
  readonly known: ReadYourWrites;
  readonly stamp: (actor: ResolveOptions['actor']) => StampedActor;
}

/** @throws {ConversationError} unknown_step */
export async function readStep(
  parts: Pick<StepParts, 'key' | 'reader'>,
  stepId: StepId,
  snapshot: ConversationSnapshot,
): Promise<StepContinuation> {
  const { key, reader } = parts;
  const step = parseStepId(stepId);
  const events = step === undefined ? [] : await reader.turnEvents(key, step.turnId);
  const { conversationId } = key;
  const turnRuns = step?.turnId === snapshot.turn?.turnId;
  const found = stepContinuation(events, { conversationId, stepId, turnRuns });
  if (found !== undefined) return found;
  throw new ConversationError(
    'unknown_step',
    `No step "${stepId.slice(0, 200)}" has asked for calls`,
  );
}

/** A result as a front end may give it: `result` is a value, of a tool that is named. */
type GivenResult = BatchResult | StepResult<string, unknown>;

type NamedBatch = ResolveBatchInput & { readonly requestId: string };

/** Results nest in a list of objects; their values are texts. */
const MAX_BATCH_DEPTH = 4;

/**
 * Sends the results of a step. See `BatchVerdict` for the verdicts. Safe to repeat with the same `requestId`.
 * @throws {ConversationError} invalid_request; no_worker when no worker confirmed: the server may still pass the set to the
 *   next worker, so repeat it with the same `requestId`
 */
export async function resolveStep(
  parts: StepParts,
  batch: { readonly stepId: StepId; readonly results: readonly GivenResult[] },
  options: Omit<ResolveOptions, 'argsDigest'>,
): Promise<BatchOutcome> {
  const { key, known } = parts;
  const receivedAt = options.receivedAt ?? new Date().toISOString();
  const requestId = checkRequestId(options.requestId ?? randomUUID());
  const actor = parts.stamp(options.actor);
  const { stepId } = batch;
  const results = isArray(batch.results) ? batch.results.map(batchResultOf) : batch.results;
  if (!isBoundedJson(results, MAX_BATCH_DEPTH))
    throw invalidField('/results', 'must be a list of objects with texts and numbers');
  const input: NamedBatch = { stepId, results, requestId, actor, receivedAt };
  const updateId = updateIdFor({
    operation: 'resolveBatch',
    callId: stepId,
    actor: actor.id,
    requestId: `${requestId}~${randomUUID()}`,
  });
  const verdict = await ask(parts, { input, updateId });
  if (verdict.verdict === 'accepted') known.note(key, verdict.seq);
  if (verdict.verdict === 'duplicate') known.note(key, verdict.first.seq);
  const answer = withoutOwnDuplicate(verdict, options.requestId);
  return { ...answer, httpStatus: BATCH_HTTP_STATUS[answer.verdict], requestId };
}

const { isArray } = Array;

/** The result with its value as JSON text, as the update has it. @throws {ConversationError} invalid_request */
function batchResultOf(given: GivenResult, index: number): BatchResult {
  if (!isRecord(given) || !('result' in given)) return given;
  const { result, name: _, ...rest } = given;
  if (!isBoundedJson(result, MAX_ANSWER_DEPTH))
    throw invalidField(
      `/results/${index}/result`,
      `must be plain JSON, at most ${MAX_ANSWER_DEPTH} levels deep`,
    );
  return { ...rest, resultJson: JSON.stringify(result) };
}

async function ask(
  { key, gateway, reader }: StepParts,
  update: { readonly input: NamedBatch; readonly updateId: string },
): Promise<BatchVerdict> {
  try {
    const unconfirmed = 'The results were not confirmed, and may still be taken';
    return await confirmUpdate(gateway, key, { name: 'resolveBatch', ...update, unconfirmed });
  } catch (error) {
    return await verdictOfFailure<BatchVerdict>(gateway, error, () =>
      verdictOfLog(reader, key, update.input),
    );
  }
}

/** The resolution as the workflow reads it from an entry; null where it has none. */
function resolutionOf({ resultJson, errorMessage }: BatchResult): unknown {
  if (errorMessage !== undefined) return { type: 'error', message: errorMessage };
  try {
    return { type: 'result', value: JSON.parse(resultJson ?? '') as unknown };
  } catch {
    return null;
  }
}

/**
 * The verdict by the log, for a conversation that no longer runs. Either all results were recorded under this request
 * id, or none.
 */
async function verdictOfLog(
  reader: ConversationReader,
  key: ConversationKey,
  { stepId, results, requestId }: NamedBatch,
): Promise<BatchVerdict> {
  const replies: AcceptedVerdict[] = [];
  const faults: BatchFault[] = [];
  for (const result of results) {
    const { toolCallId } = result;
    const resolution = resolutionOf(result);
    const found = await verdictFromLog(reader, key, { toolCallId, requestId, resolution });
    if (found.verdict === 'unknown')
      return { verdict: 'unknown', what: found.what === 'conversation' ? 'conversation' : 'step' };
    if (found.verdict === 'duplicate') replies.push(found.first);
    else if (found.verdict === 'invalid') faults.push({ ...REUSED, verdict: 'invalid' });
    else return { verdict: 'stale', faults: [] };
  }
  if (faults.length > 0) return { verdict: 'invalid', faults: faults.slice(0, 1) };
  const seq = Math.max(0, ...replies.map((reply) => reply.seq));
  if (seq === 0) return { verdict: 'stale', faults: [] };
  return { verdict: 'duplicate', first: { verdict: 'accepted', stepId, seq, results: replies } };
}
