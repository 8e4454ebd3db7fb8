/** The command that `colloquy doctor` names for a conversation, by the end of its history. */
import type { Client } from '@temporalio/client';
import { DefaultFailureConverter, defaultPayloadConverter } from '@temporalio/common';
import proto from '@temporalio/proto';
import { expect, it } from 'vitest';
import { diagnose } from '../../../src/cli/operate/doctor.js';
import type { WorkflowSource } from '../../../src/projection/source/workflow-source.js';
import { promise } from '../../support/promise.js';
import { KEY } from '../../support/samples/log-events.js';
import { SUPPORT } from '../../support/samples/sample-log.js';
import { aProjection } from '../projection/setup.js';

const { TimeoutType } = proto.temporal.api.enums.v1;
const timeoutType = TimeoutType.TIMEOUT_TYPE_START_TO_CLOSE;
const TIMED_OUT = { workflowTaskTimedOutEventAttributes: { timeoutType } };
const FAILED = { workflowTaskFailedEventAttributes: { failure: { message: 'boom' } } };

/** A server with one run whose task is at its fifth attempt, and whose history ends with this event. */
function clientOf(event: object): Client {
  const raw = { pendingWorkflowTask: { attempt: 5, scheduledTime: { seconds: 1, nanos: 0 } } };
  const run = { raw, runId: 'run-1', workflowId: 'w', status: { name: 'RUNNING' } };
  const loadedDataConverter = {
    payloadConverter: defaultPayloadConverter,
    failureConverter: new DefaultFailureConverter(),
    payloadCodecs: [],
  };
  return {
    options: { namespace: 'default', loadedDataConverter },
    withDeadline: (_deadline: number, call: () => Promise<unknown>) => call(),
    workflow: { getHandle: () => ({ describe: () => Promise.resolve(run) }) },
    workflowService: {
      describeTaskQueue: () => Promise.resolve({ pollers: [] }),
      getWorkflowExecutionHistoryReverse: () => Promise.resolve({ history: { events: [event] } }),
    },
  } as unknown as Client;
}

it.each([
  ['failing', FAILED, /^npx colloquy repair c1$/],
  ['slow', TIMED_OUT, /^start more workers.*"npx colloquy repair c1" says whether it replays$/],
])('doctor names the way out of a %s conversation', promise('G20'), async (kind, event, next) => {
  const { log } = await aProjection();
  const source = {
    reported: async function* () {
      yield KEY;
    },
  } as unknown as WorkflowSource;
  const { conversations } = await diagnose({
    ...{ address: 'here', namespace: 'default', taskQueue: 'q', searchAttributes: false },
    connect: () => Promise.resolve({ client: clientOf(event), source }),
    openStore: () => Promise.resolve(log),
  });
  expect(conversations).toMatchObject([
    { ...KEY, trouble: { kind, attempts: 4 }, next: expect.stringMatching(next) as string },
  ]);
});

it('doctor names the agents that workers have published, and a catalog as one', async () => {
  const { log } = await aProjection();
  await log.publishAgents([SUPPORT, { ...SUPPORT, name: 'stored', isCatalog: true }]);
  const source = { reported: async function* () {} } as unknown as WorkflowSource;
  const { findings } = await diagnose({
    ...{ address: 'here', namespace: 'default', taskQueue: 'q', searchAttributes: false },
    connect: () => Promise.resolve({ client: clientOf(FAILED), source }),
    openStore: () => Promise.resolve(log),
  });
  expect(findings.map(({ text }) => text)).toContain('Agents: catalog stored, support');
});
