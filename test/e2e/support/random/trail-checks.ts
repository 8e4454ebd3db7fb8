/**
 * Checks that hold for every conversation on a real server, for any inputs and kills: log, replies, effects and model
 * requests agree.
 */
import type { CanonicalEvent } from 'colloquy/client';
import { expect } from 'vitest';
import { MAX_RECORDED_REFUSALS } from '../../../../src/protocol/limits/limits.js';
import type { EventOf } from '../talk.js';
import type { Repeats, Trail } from './trail.js';

type Events = readonly CanonicalEvent[];
/** A line that a tool wrote. */
export type Run = Readonly<Record<string, unknown>>;

function all<Type extends CanonicalEvent['type']>(
  events: Events,
  type: Type,
): readonly EventOf<Type>[] {
  return events.filter((event): event is EventOf<Type> => event.type === type);
}

/** Every reply agrees with the log, and every signal has left a trace in it. */
export function expectReplies(trail: Trail, events: Events): void {
  for (const group of trail.repeats('message')) {
    const taken = all(events, 'user_message').filter(({ requestId }) => requestId === group.id);
    const refused = all(events, 'message_refused').filter(
      ({ requestId }) => requestId === group.id,
    );
    expectRecorded(group, { taken, refused, atMost: 1 });
  }
  for (const group of trail.repeats('event')) {
    const taken = all(events, 'inbox_event').filter(({ eventId }) => eventId === group.id);
    expectRecorded(group, { taken, refused: [], atMost: 1 });
  }
  for (const group of trail.repeats('resolution')) {
    const isOfGroup = (event: { readonly requestId: string; readonly toolCallId: string }) =>
      event.requestId === group.id && event.toolCallId === group.toolCallId;
    const taken = all(events, 'resolution').filter(isOfGroup);
    const refused = all(events, 'resolution_refused').filter(isOfGroup);
    // A reverted answer may be sent again.
    const reverted = all(events, 'resolution_reverted').filter(isOfGroup);
    expectRecorded(group, {
      ...{ taken, refused, atMost: reverted.length + 1 },
      isCounted: areCounted(events, group.toolCallId),
    });
  }
  for (const group of trail.repeats('claim')) {
    const taken = all(events, 'claimed').filter(({ requestId }) => requestId === group.id);
    // A lost lease frees the request id.
    const lost = all(events, 'lease_lost').filter(
      ({ toolCallId }) => toolCallId === group.toolCallId,
    );
    expectRecorded(group, { taken, refused: [], atMost: lost.length + 1 });
  }
  for (const group of trail.repeats('extension')) {
    const taken = all(events, 'extended').filter(({ requestId }) => requestId === group.id);
    expectRecorded(group, { taken, refused: [], atMost: 1 });
  }
}

function expectRecorded(
  group: Repeats,
  found: {
    readonly taken: Events;
    readonly refused: Events;
    readonly atMost: number;
    /** Refusals beyond the recorded ones are counted without their ids. */
    readonly isCounted?: boolean;
  },
): void {
  const { taken, refused, atMost, isCounted = false } = found;
  const about = JSON.stringify(group.inputs);
  expect(taken.length, `recorded at most ${atMost} times: ${about}`).toBeLessThanOrEqual(atMost);
  if (group.taken) expect(taken.length, `recorded: ${about}`).toBeGreaterThan(0);
  if (group.refused) expect(taken, `not recorded: ${about}`).toEqual([]);
  if (group.durable && !isCounted)
    expect(taken.length + refused.length, `left a trace: ${about}`).toBeGreaterThan(0);
  const seqs = taken.map(({ seq }) => seq);
  for (const { seq, said } of group.inputs)
    if (seq !== undefined) expect(seqs, `at seq ${seq} (${said}): ${about}`).toContain(seq);
}

function areCounted(events: Events, toolCallId: string | undefined): boolean {
  const recorded = all(events, 'resolution_refused');
  // Unknown calls share one count with answers that name no call.
  const ofCall = recorded.filter((event) => event.toolCallId === toolCallId);
  const ofUnknown = recorded.filter(
    (event) => event.verdict === 'unknown' || event.toolCallId === '',
  );
  return (
    [ofCall, ofUnknown].some(({ length }) => length >= MAX_RECORDED_REFUSALS) &&
    events.some(({ unrecordedRefusals = 0 }) => unrecordedRefusals > 0)
  );
}

/** Whether the tool wrote this line to state that a lost run has not happened and never will. */
function isFence(line: Run): boolean {
  return line['fenced'] === true;
}

function isInline(line: Run): boolean {
  return line['name'] === 'glance';
}

function byToolCall(lines: readonly Run[]): ReadonlyMap<string, readonly Run[]> {
  const calls = new Map<string, Run[]>();
  for (const line of lines) {
    const toolCallId = String(line['toolCallId']);
    calls.set(toolCallId, [...(calls.get(toolCallId) ?? []), line]);
  }
  return calls;
}

/** Calls of tools with effects `once` that ran more often than their fences explain. */
export function doubled(lines: readonly Run[]): readonly (readonly Run[])[] {
  const once = lines.filter((line) => String(line['name']).startsWith('once.'));
  return [...byToolCall(once).values()].filter((ofCall) => {
    const fences = ofCall.filter(isFence).length;
    return ofCall.length - fences > 1 + fences;
  });
}

/** Compares the lines that tools wrote with the log. */
export function expectEffects(runs: readonly Run[], events: Events): void {
  expect(doubled(runs), 'runs once').toEqual([]);
  const calls = new Map(all(events, 'tool_call').map(({ call }) => [call.toolCallId, call]));
  // An inline read in a failed model call belongs to no call, and the next call may have its id.
  const isOfNoCall = (run: Run): boolean =>
    isInline(run) && calls.get(String(run['toolCallId']))?.name !== run['name'];
  const byCall = byToolCall(runs.filter((run) => !isFence(run) && !isOfNoCall(run)));
  for (const [toolCallId, lines] of byCall) {
    const about = JSON.stringify(lines);
    const name = String(lines[0]?.['name']);
    expect(calls.get(toolCallId)?.name, `was asked for: ${about}`).toBe(name);
    if (lines.every(isInline)) continue;
    expect(new Set(lines.map((line) => line['idempotencyKey'])).size, `one key: ${about}`).toBe(1);
    expect(new Set(lines.map((line) => line['attempt'])).size, about).toBe(lines.length);
    expectApproved(toolCallId, lines, events);
  }
  for (const { toolCallId, name, result } of all(events, 'tool_result')) {
    const ran = byCall.has(toolCallId);
    // An operator decided the outcome of a lost run, and may know better than the lines.
    const wasTold = all(events, 'resolution').some(
      (event) => event.toolCallId === toolCallId && event.kind === 'outcome',
    );
    const isOfServer = calls.get(toolCallId)?.executor === 'server';
    if (isOfServer && result.status === 'resolved' && !wasTold)
      expect(ran, `${name} ${toolCallId} has a result, so it ran`).toBe(true);
    if (result.status === 'denied') expect(ran, `${name} ${toolCallId} was denied`).toBe(false);
  }
}

/** A gated call runs after its approval, with the approved input. */
function expectApproved(toolCallId: string, lines: readonly Run[], events: Events): void {
  const suspended = all(events, 'suspension').find(
    ({ suspension }) => suspension.toolCallId === toolCallId && suspension.kind === 'approval',
  );
  if (suspended === undefined) return;
  const ofCall = <Event extends { readonly toolCallId: string }>(event: Event) =>
    event.toolCallId === toolCallId;
  const approval = all(events, 'resolution')
    .filter(ofCall)
    .findLast(({ kind }) => kind === 'approval');
  expect(approval?.resolution, `${toolCallId} ran`).toMatchObject({ type: 'approve' });
  const edited = all(events, 'input_edited').findLast(ofCall)?.input;
  const input = edited ?? suspended.suspension.prompt;
  for (const line of lines) expect({ label: line['label'] }).toEqual(input);
}
