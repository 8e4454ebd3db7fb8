/** Sequences as a worker is sent them; lengths of histories as the SDK tells them. */
import type { WorkflowInternalsInterceptor } from '@temporalio/workflow';
import { describe, expect, test } from 'vitest';
import { QUERY_REFUSED } from '../../../src/protocol/messaging.js';
import { QueryGuard } from '../../../src/workflows/query-guard.js';

type Activation = Parameters<
  NonNullable<WorkflowInternalsInterceptor['activate']>
>[0]['activation'];
type Jobs = NonNullable<Activation['jobs']>;
type Commands = Parameters<
  NonNullable<WorkflowInternalsInterceptor['concludeActivation']>
>[0]['commands'];

const SIGNAL: Jobs = [{ signalWorkflow: { signalName: 'sendMessage' } }];
const UPDATE: Jobs = [{ doUpdate: { id: 'update' } }];
const QUERY: Jobs = [{ queryWorkflow: { queryId: 'legacy_query' } }];
const QUERY_WITH_TASK: Jobs = [{ queryWorkflow: { queryId: '1' } }];
const TIMER: Commands = [{ startTimer: { seq: 1 } }];
const ACCEPTED: Commands = [
  { updateResponse: { accepted: {} } },
  { updateResponse: { completed: {} } },
];
const REJECTED: Commands = [{ updateResponse: { rejected: {} } }];

interface Task {
  readonly length: number;
  readonly jobs: Jobs;
  readonly commands?: Commands;
  /** Of the last workflow task as the SDK knows it. @defaultValue one of its own */
  readonly startedId?: number;
}

/** Whether each is answered; a worker forgets the run with the first that is not. */
function answers(tasks: readonly Task[]): readonly boolean[] {
  const guard = new QueryGuard();
  return tasks.map(({ length, jobs, commands = [], startedId = length }) => {
    try {
      const timestamp = { seconds: 1_700_000_000, nanos: startedId };
      const historySizeBytes = startedId * 100;
      const activation = {
        historyLength: length,
        jobs,
        timestamp,
        historySizeBytes,
      } as unknown as Activation;
      guard.activate({ activation, batchIndex: 0 }, () => undefined);
    } catch (error) {
      expect(error).toHaveProperty('message', QUERY_REFUSED);
      return false;
    }
    guard.concludeActivation({ commands }, (output) => output);
    return true;
  });
}

const start: Task = { length: 3, jobs: SIGNAL, commands: TIMER };

describe('a query of a run', () => {
  test.each([
    ['in memory', [start, { length: 3, jobs: QUERY }]],
    [
      'whose history was read up to its last task',
      [start, { length: 5, jobs: QUERY, startedId: 3 }],
    ],
    ['of which two activities are said to run', [start, { length: 7, jobs: QUERY, startedId: 3 }]],
    [
      'whose last task took an update',
      [start, { length: 7, jobs: UPDATE, commands: ACCEPTED }, { length: 10, jobs: QUERY }],
    ],
    [
      'that comes with its task',
      [
        start,
        { length: 7, jobs: UPDATE, commands: REJECTED },
        { length: 7, jobs: QUERY_WITH_TASK },
      ],
    ],
    ['with a task behind it that held nothing', [start, { length: 8, jobs: QUERY }]],
    [
      'of which a task that refused an update was dropped',
      [start, { length: 7, jobs: UPDATE, commands: REJECTED }, { length: 5, jobs: QUERY }],
    ],
    [
      'of which a task that refused an update was kept',
      [start, { length: 7, jobs: UPDATE, commands: REJECTED }, { length: 8, jobs: QUERY }],
    ],
  ])('%s is answered', (_name, tasks) => {
    expect(answers(tasks)).not.toContain(false);
  });

  test.each([
    ['that is not in memory', [start, { length: 7, jobs: QUERY }]],
    ['with a task behind it that held nothing', [start, { length: 10, jobs: QUERY }]],
    [
      'of which a task that refused an update was dropped',
      [start, { length: 7, jobs: UPDATE, commands: REJECTED }, { length: 7, jobs: QUERY }],
    ],
    [
      'whose last task ended in two parts',
      [
        start,
        { length: 3, jobs: [{ resolveActivity: { seq: 1 } }], commands: TIMER },
        { length: 8, jobs: QUERY },
      ],
    ],
  ])('%s is refused while the history ends in a task under way', (_name, tasks) => {
    expect(answers(tasks).at(-1)).toBe(false);
  });

  test.each([
    ['in memory', [start, { length: 7, jobs: SIGNAL, startedId: 3 }, { length: 7, jobs: QUERY }]],
    [
      'in memory, in two parts',
      [
        start,
        { length: 7, jobs: SIGNAL, commands: TIMER, startedId: 3 },
        { length: 7, jobs: [{ resolveActivity: { seq: 1 } }], startedId: 3 },
        { length: 7, jobs: QUERY },
      ],
    ],
    [
      'that is not in memory',
      [
        start,
        { length: 7, jobs: UPDATE, commands: ACCEPTED },
        { length: 12, jobs: SIGNAL, startedId: 7 },
        { length: 12, jobs: QUERY },
      ],
    ],
  ])(
    '%s is refused when the workflow has decided for it about what no task has brought yet',
    (_name, tasks) => {
      expect(answers(tasks).at(-1)).toBe(false);
    },
  );

  test('is answered after the task that came behind what was decided for one before', () => {
    const tasks = [start, { length: 7, jobs: SIGNAL, startedId: 3 }, { length: 9, jobs: SIGNAL }];
    const more = [{ length: 9, jobs: [{ resolveActivity: { seq: 1 } }] }];
    expect(answers([...tasks, ...more, { length: 9, jobs: QUERY }])).not.toContain(false);
  });

  test('is answered after a task that came, by clocks that stand still, at the time of the one before', () => {
    const tasks = [start, { length: 7, jobs: SIGNAL, startedId: 3 }, { length: 11, jobs: SIGNAL }];
    expect(answers([...tasks, { length: 11, jobs: QUERY }])).not.toContain(false);
  });
});
