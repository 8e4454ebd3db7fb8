/**
 * Remembers ended calls and accepted requests of earlier runs. The rows are packed because every roll-over carries
 * them: ids that are only looked up are kept as fingerprints (53 bits), and repeated texts are written once. Verdicts
 * are the same as before the roll-over, except that other content under a known id is taken for a repeat once in 60
 * million times. Pure.
 *
 * E1  Keeps the newest thousand of each, as unpacked memory does; fewer calls only where their names and actors alone
 *     exceed the limit.
 * E2  A request that may still be reverted is never packed.
 */

import type { FinalCallStatus, ToolErrorCode } from '../../protocol/calls/results.js';
import {
  MAX_EARLIER_RUNS_BYTES,
  MAX_REMEMBERED_REQUESTS,
  MAX_TOMBSTONES,
} from '../../protocol/limits/limits.js';
import { utf8Bytes } from '../../protocol/values/json.js';
import type { RememberedRequest } from '../state/requests.js';
import type { CallState, ConversationState, EarlierRuns, Tombstone } from '../state/state.js';
import type { CallRow, RequestRow, SoughtRequest } from './packed-requests.js';
import { CALLS, callKey, REQUESTS, requestKey, requestOf, requestRow } from './packed-requests.js';
import { DictionaryWriter, packRows, turnsIn, unpackRows } from './packed-table.js';

interface Memory {
  readonly turns: ReadonlySet<string>;
  readonly callRows: readonly CallRow[];
  readonly requestRows: readonly RequestRow[];
  /** By key; the newest row of each. */
  readonly calls: ReadonlyMap<string, CallRow>;
  readonly requests: ReadonlyMap<string, RequestRow>;
}

const NOTHING: EarlierRuns = { turns: [], words: [], calls: '', requests: '' };

/** Unpacked once in each run. */
const memories = new WeakMap<EarlierRuns, Memory>();

function memoryOf({ earlier = NOTHING }: Pick<ConversationState, 'earlier'>): Memory {
  const known = memories.get(earlier);
  if (known !== undefined) return known;
  const from = { turns: turnsIn(earlier), words: earlier.words };
  const callRows = unpackRows(CALLS, earlier.calls, from);
  const requestRows = unpackRows(REQUESTS, earlier.requests, from);
  const memory: Memory = {
    turns: new Set(callRows.map((row) => row.turnId ?? '')),
    callRows,
    requestRows,
    calls: new Map(callRows.map((row) => [row.key ?? '', row])),
    requests: new Map(requestRows.map((row) => [row.key ?? '', row])),
  };
  memories.set(earlier, memory);
  return memory;
}

/** The ended call of an earlier run with this id. */
export function earlierCall(state: ConversationState, toolCallId: string): Tombstone | undefined {
  const row = memoryOf(state).calls.get(callKey(toolCallId));
  if (row === undefined) return undefined;
  const { name = '', turnId = '', at = '', by, deadline, status = 'resolved', code } = row;
  return {
    toolCallId,
    name,
    turnId,
    status: status as FinalCallStatus,
    at,
    ...(by === undefined ? {} : { by }),
    ...(deadline === undefined ? {} : { deadline }),
    ...(code === undefined ? {} : { code: code as ToolErrorCode }),
  };
}

/** Whether an ended call of this turn is remembered from an earlier run. */
export function isEarlierTurn(state: ConversationState, turnId: string): boolean {
  return memoryOf(state).turns.has(turnId);
}

/** The request that an earlier run accepted, with its digests in their short form. */
export function earlierRequest(
  state: ConversationState,
  sought: SoughtRequest,
): RememberedRequest | undefined {
  const row = memoryOf(state).requests.get(requestKey(sought));
  return row === undefined ? undefined : requestOf(row, sought);
}

/** The state with which the next run starts: the memory of this run is packed together with that of earlier ones. */
export function withPackedMemory(state: ConversationState): ConversationState {
  const memory = memoryOf(state);
  const open = openRequests(state);
  const isOpen = (request: RememberedRequest): boolean =>
    request.operation === 'resolution' &&
    (isVoidable(state.calls[request.reply.toolCallId]) ||
      open.has(requestKey({ ...request, toolCallId: request.reply.toolCallId })));
  const requests = state.requests.filter((request) => !isOpen(request)).map(requestRow);
  const calls = state.tombstones.map(({ toolCallId, ...rest }) => ({
    key: callKey(toolCallId),
    ...rest,
  }));
  const rows = {
    calls: [...memory.callRows, ...calls],
    // A request that was open for long is older than some that were packed before it.
    requests: [...memory.requestRows, ...requests]
      .sort((one, other) => (one.seq ?? 0) - (other.seq ?? 0))
      .slice(-MAX_REMEMBERED_REQUESTS),
  };
  if (rows.calls.length === 0 && rows.requests.length === 0) return state;
  const packed = packedWithin(
    rows,
    state.earlier?.forgetsCalls === true || state.tombstones.length >= MAX_TOMBSTONES,
  );
  return { ...state, tombstones: [], requests: state.requests.filter(isOpen), earlier: packed };
}

/**
 * Whether the approval of a call may still become void: until its first run, the call may be carried over to another
 * definition of its tool.
 */
function isVoidable(call: CallState | undefined): boolean {
  if (call === undefined || call.approver === undefined || call.result !== undefined) return false;
  const hasBegun = call.runsEnded !== undefined || call.answer !== undefined;
  return call.plan.definition !== undefined && !hasBegun;
}

/** Keys of answers and edits that a worker still has to check: a refusal by the worker forgets them. */
function openRequests({ calls }: ConversationState): ReadonlySet<string> {
  const keys = new Set<string>();
  for (const { plan, answer, edit } of Object.values(calls))
    for (const taken of [answer, edit])
      if (taken !== undefined) {
        const { requestId } = taken;
        const { toolCallId } = plan;
        keys.add(requestKey({ operation: 'resolution', requestId, toolCallId }));
      }
  return keys;
}

/**
 * Keeps all requests (they are small for any content) and as many of the newest calls as fit in
 * `MAX_EARLIER_RUNS_BYTES`.
 */
function packedWithin(
  rows: { readonly calls: readonly CallRow[]; readonly requests: readonly RequestRow[] },
  forgetsCalls: boolean,
): EarlierRuns {
  for (let most = MAX_TOMBSTONES; ; most = Math.floor(most / 2)) {
    const calls = most === 0 ? [] : rows.calls.slice(-most);
    const into = new DictionaryWriter();
    const columns = {
      calls: packRows(CALLS, calls, into),
      requests: packRows(REQUESTS, rows.requests, into),
    };
    const forgets = forgetsCalls || calls.length < rows.calls.length;
    const packed: EarlierRuns = {
      ...into.dictionary,
      ...columns,
      ...(forgets ? { forgetsCalls: true as const } : {}),
    };
    if (most === 0 || utf8Bytes(JSON.stringify(packed)) <= MAX_EARLIER_RUNS_BYTES) return packed;
  }
}
