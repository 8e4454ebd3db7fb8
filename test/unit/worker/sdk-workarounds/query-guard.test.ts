import { msToTs } from '@temporalio/common/lib/time.js';
import type { Workflow } from '@temporalio/worker/lib/workflow/interface.js';
import { describe, expect, test } from 'vitest';
import { QUERY_REFUSED } from '../../../../src/protocol/workflow/query-refusal.js';
import { withQueryGuard } from '../../../../src/worker/sdk-workarounds/query-guard.js';
import type { HeldRun } from '../../../../src/worker/sdk-workarounds/settled.js';

type Activation = Parameters<Workflow['activate']>[0];
type Creation = Parameters<Parameters<typeof withQueryGuard>[0]['createWorkflow']>[0];

/** Milliseconds since 1970 at which every task was started. */
const STARTED_AT = 1_700_000_000_123;
const timestamp = msToTs(STARTED_AT);
const OPTIONS = { info: { workflowId: 'conversation:default:c1', runId: 'run-a' } };

const query = (historyLength: number, queryId = 'legacy_query'): Activation => ({
  historyLength,
  timestamp,
  isReplaying: true,
  jobs: [{ queryWorkflow: { queryId, queryType: 'snapshot' } }],
});
const signal = (historyLength: number, isReplaying = false): Activation => ({
  historyLength,
  timestamp,
  isReplaying,
  jobs: [{ signalWorkflow: { signalName: 'sendMessage' } }],
});
const update = (historyLength: number, id: string): Activation => ({
  historyLength,
  timestamp,
  isReplaying: false,
  jobs: [{ doUpdate: { id, protocolInstanceId: id, name: 'sendMessage' } }],
});

/** A workflow that refuses the update `bad`; whether each activation was answered, and which histories were read. */
async function run(activations: readonly Activation[], isSettled = true) {
  const checked: HeldRun[] = [];
  const workflow: Workflow = {
    activate: ({ jobs }) =>
      Promise.resolve({
        successful: {
          commands: (jobs ?? []).map(({ doUpdate }) =>
            doUpdate == null
              ? { startTimer: { seq: 1 } }
              : {
                  updateResponse: {
                    protocolInstanceId: doUpdate.protocolInstanceId ?? '',
                    ...(doUpdate.id === 'bad' ? { rejected: {} } : { accepted: {} }),
                  },
                },
          ),
        },
      }),
    getAndResetSinkCalls: () => Promise.resolve([]),
    dispose: () => Promise.resolve(),
  };
  const creator = withQueryGuard(
    { createWorkflow: () => Promise.resolve(workflow), destroy: () => Promise.resolve() },
    (found, held) => {
      expect(found).toEqual(OPTIONS.info);
      checked.push(held);
      return Promise.resolve(isSettled);
    },
  );
  const guarded = await creator.createWorkflow(OPTIONS as Creation);
  const answers: string[] = [];
  for (const activation of activations)
    answers.push(
      await guarded.activate(activation).then(
        () => 'answered',
        (error: unknown) => (error instanceof Error ? error.message : ''),
      ),
    );
  return { checked, answers };
}

describe('a query that comes by itself', () => {
  test.each([
    ['of a run that was only replayed', [signal(3, true), query(5)], [{ lastId: 5 }]],
    [
      'after a task of this worker',
      [signal(3), query(3)],
      [{ lastId: 3, decidedIn: { id: 3, startedAt: STARTED_AT }, accepted: new Set() }],
    ],
    ['after what is replayed behind it', [signal(3), signal(7, true), query(9)], [{ lastId: 9 }]],
    [
      'after a task that only refused updates',
      [signal(3), update(7, 'bad'), query(5)],
      [{ lastId: 5, decidedIn: { id: 3, startedAt: STARTED_AT } }],
    ],
    [
      'after a task that took an update',
      [signal(3), update(7, 'good'), query(7)],
      [{ lastId: 7, decidedIn: { id: 7, startedAt: STARTED_AT }, accepted: new Set(['good']) }],
    ],
    [
      'after a task that took several, and refused one',
      [signal(3), update(7, 'one'), update(7, 'bad'), update(7, 'two'), query(7)],
      [
        {
          lastId: 7,
          decidedIn: { id: 7, startedAt: STARTED_AT },
          accepted: new Set(['one', 'two']),
        },
      ],
    ],
    [
      'after a task that took an update, and one that took none',
      [update(3, 'good'), signal(7), query(7)],
      [{ lastId: 7, decidedIn: { id: 7, startedAt: STARTED_AT }, accepted: new Set() }],
    ],
    [
      'looked at once for the same state, and again after a task',
      [signal(3), query(3), query(3), signal(7), query(7)],
      [
        { lastId: 3, decidedIn: { id: 3, startedAt: STARTED_AT }, accepted: new Set() },
        { lastId: 7, decidedIn: { id: 7, startedAt: STARTED_AT }, accepted: new Set() },
      ],
    ],
    [
      'looked at again after a task that left the history as long as it was: it was lost, and another came in its place',
      [signal(3), query(3), update(3, 'bad'), query(3)],
      [
        { lastId: 3, decidedIn: { id: 3, startedAt: STARTED_AT }, accepted: new Set() },
        { lastId: 3, decidedIn: { id: 3, startedAt: STARTED_AT }, accepted: new Set() },
      ],
    ],
  ])('%s', async (_name, activations, checked) => {
    const seen = await run(activations);
    expect(seen.checked).toEqual(checked);
    expect(new Set(seen.answers)).toEqual(new Set(['answered']));
  });

  test('is refused, every time, when the run is not settled', async () => {
    const seen = await run([signal(3), query(3), query(3)], false);
    expect(seen.answers).toEqual(['answered', QUERY_REFUSED, QUERY_REFUSED]);
  });

  test('needs no check when it comes with its task', async () => {
    const seen = await run([signal(3), query(3, 'q1')], false);
    expect(seen).toEqual({ checked: [], answers: ['answered', 'answered'] });
  });
});
