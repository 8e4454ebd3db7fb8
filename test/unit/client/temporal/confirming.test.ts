/** The gateway gives calls the time that answers take now, and gives up those to a workflow that fails. */
import {
  type Client,
  ServiceError,
  WorkflowUpdateRPCTimeoutOrCancelledError,
} from '@temporalio/client';
import { DefaultFailureConverter, defaultPayloadConverter } from '@temporalio/common';
import { beforeEach, expect, it, onTestFinished, vi } from 'vitest';
import { GRPC } from '../../../../src/client/temporal/errors.js';
import { TemporalGateway } from '../../../../src/client/temporal/temporal-gateway.js';
import { promise } from '../../../support/promise.js';
import { KEY } from '../../../support/samples/log-events.js';

const CONVERTER = {
  payloadConverter: defaultPayloadConverter,
  failureConverter: new DefaultFailureConverter(),
  payloadCodecs: [],
};
const FAILED = { workflowTaskFailedEventAttributes: { failure: { message: 'boom' } } };

beforeEach(() => {
  vi.useFakeTimers();
  onTestFinished(() => {
    vi.useRealTimers();
  });
});

/** A gateway to a server with one run, whose history ends with these events; `budgets` of its calls in milliseconds. */
function gatewayOf(events: readonly object[] = []) {
  const budgets: number[] = [];
  const run = {
    status: { name: 'RUNNING' },
    raw: { pendingWorkflowTask: { attempt: 4, scheduledTime: { seconds: 1, nanos: 0 } } },
  };
  const temporal = {
    connection: {},
    options: { namespace: 'default', loadedDataConverter: CONVERTER },
    workflow: { getHandle: () => ({ describe: () => Promise.resolve(run) }) },
    workflowService: {
      getWorkflowExecutionHistoryReverse: () => Promise.resolve({ history: { events } }),
    },
    withDeadline: async (deadline: number, call: () => Promise<unknown>) => {
      budgets.push(deadline - Date.now());
      return await call();
    },
  };
  const options = { taskQueue: 'q', searchAttributes: false };
  return {
    gateway: new TemporalGateway({ ...options, temporal: temporal as unknown as Client }),
    budgets,
  };
}

it(
  'a call after one that was given up gets half as long again, while a worker answers',
  promise('G26'),
  async () => {
    const { gateway, budgets } = gatewayOf();
    await gateway.confirm(() => Promise.resolve('answered'));
    const late = await gateway.confirm(() => {
      vi.setSystemTime(Date.now() + 4_000);
      return Promise.reject(new WorkflowUpdateRPCTimeoutOrCancelledError('late'));
    });
    expect(late.confirmed).toBe(false);
    await gateway.confirm(() => Promise.resolve('answered'));
    expect(budgets).toEqual([3_000, 3_000, 6_000]);
  },
);

it(
  'a call that is refused because the workflow fails is given up at once',
  promise('G20'),
  async () => {
    const { gateway } = gatewayOf([FAILED]);
    let calls = 0;
    const refused = Object.assign(new Error('workflow task failed'), {
      code: GRPC.failedPrecondition,
      details: '',
      metadata: {},
    });
    const tried = await gateway.confirm(
      () => {
        calls += 1;
        return Promise.reject(new ServiceError('refused', { cause: refused }));
      },
      { key: KEY },
    );
    expect(tried.confirmed).toBe(false);
    expect(calls).toBe(1);
  },
);

it('a request beyond those that the workers can take is not sent, and says why', {
  ...promise('G344'),
}, async () => {
  const { gateway } = gatewayOf();
  let sent = 0;
  const unanswered = (): Promise<never> => {
    sent += 1;
    return new Promise(() => undefined);
  };
  for (let nth = 0; nth < 100; nth += 1)
    void gateway.confirm(unanswered, {
      key: { ...KEY, conversationId: `c-${nth}` },
      kind: 'resolution',
    });
  await vi.advanceTimersByTimeAsync(2_499);
  expect(sent).toBe(64);
  const busy = await gateway.whyUnanswered(KEY);
  expect(busy.reason).toBe('workers_busy');
  const last = gateway.confirm(unanswered, { key: KEY, budgetMs: 1, kind: 'resolution' });
  await vi.advanceTimersByTimeAsync(1);
  expect(await last).toMatchObject({ confirmed: false, cause: { code: 'workers_busy' } });
  expect(sent).toBe(64);
});
