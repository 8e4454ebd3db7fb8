/** The kept histories contain every name that a history can have, and are as they were recorded. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, expect, test } from 'vitest';
import type { TimerEffect } from '../../src/core/decide/effects.js';
import { SUSPENSION_KINDS } from '../../src/protocol/calls/suspensions.js';
import type { ConversationActivities } from '../../src/protocol/workflow/activities.js';
import { SIGNALS, UPDATES } from '../../src/protocol/workflow/messaging.js';
import { decodedEvents, historyFilesIn } from '../support/histories/decoded-history.js';
import { patient } from '../support/patience.js';

const HISTORIES = fileURLToPath(new URL('./histories/', import.meta.url));
const files = historyFilesIn(HISTORIES);

const ACTIVITIES: Readonly<Record<keyof ConversationActivities, true>> = {
  callModel: true,
  planCall: true,
  runTool: true,
  preflightTool: true,
  reconcileTool: true,
  checkAnswer: true,
  checkEdit: true,
  checkDefinition: true,
  summarize: true,
  flushLog: true,
  offloadTranscript: true,
  restoreState: true,
  startChild: true,
  stopChild: true,
  reportToParent: true,
  deliverTrigger: true,
  whatIf: true,
};

/** The summaries of the timers of each kind. */
const TIMERS: Readonly<Record<TimerEffect['type'], readonly RegExp[]>> = {
  await_deadline: SUSPENSION_KINDS.map((kind) => new RegExp(`^${kind} `)),
  await_warning: [/^warning of /],
  await_claim: [/^claim of /],
  await_inbox_turn: [/^next turn of the inbox /],
  await_turn_limit: [/^time of the turn /],
};
const TIMERS_OF_THE_RUN = [
  /^close when idle /,
  /^the store is tried again at /,
  /^until the store is tried again$/,
  // The wait for a model call that was cancelled with its conversation.
  /^5s$/,
];
/** A run without a message ends after a minute; a task marker is no wait. */
const NEVER_FIRED = [/^60s$/, /^not a wait: marks a task /];

/** Names by type of event. */
const names = new Map<string, Set<string>>();

beforeAll(async () => {
  for (const file of files)
    for (const { type, name } of await decodedEvents(HISTORIES, file))
      names.set(type, (names.get(type) ?? new Set()).add(name));
}, patient(60_000));

const seen = (type: string): readonly string[] => [...(names.get(type) ?? [])];

test.each([
  ['update', 'WORKFLOW_EXECUTION_UPDATE_ACCEPTED', Object.values(UPDATES)],
  ['signal', 'WORKFLOW_EXECUTION_SIGNALED', Object.values(SIGNALS)],
  ['activity', 'ACTIVITY_TASK_COMPLETED', Object.keys(ACTIVITIES)],
] as const)('each %s of the engine is in a kept history', (_kind, type, wanted) => {
  expect(wanted.filter((name) => !seen(type).includes(name))).toEqual([]);
});

test.each(['COMPLETED', 'FAILED', 'TIMED_OUT', 'CANCELED'])(
  'a tool that ended as %s is in a kept history',
  (end) => {
    expect(seen(`ACTIVITY_TASK_${end}`)).toContain('runTool');
  },
);

test('a timer of each kind starts in a kept history, and fires in one unless no conversation waits for it', () => {
  const fired = [...Object.values(TIMERS).flat(), ...TIMERS_OF_THE_RUN];
  const lacking = (type: string, wanted: readonly RegExp[]): readonly RegExp[] =>
    wanted.filter((kind) => !seen(type).some((name) => kind.test(name)));
  expect(lacking('TIMER_STARTED', [...fired, ...NEVER_FIRED])).toEqual([]);
  expect(lacking('TIMER_FIRED', fired)).toEqual([]);
});

test('no kept history was changed or removed', () => {
  const sums = files.map((file) => {
    const sum = createHash('sha256').update(readFileSync(join(HISTORIES, file)));
    return `${sum.digest('hex')}  ${file}`;
  });
  expect(readFileSync(join(HISTORIES, 'SHA256SUMS'), 'utf8').trim().split('\n')).toEqual(sums);
});
