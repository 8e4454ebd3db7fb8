/** An API with one conversation whose turns can be played again. */
import { WorkflowExecutionAlreadyStartedError, WorkflowNotFoundError } from '@temporalio/client';
import { onTestFinished } from 'vitest';
import type { AgentSource } from '../../../src/client/index.js';
import type { Identity } from '../../../src/http/identity/identity.js';
import { createStoreReader } from '../../../src/projection/index.js';
import type { WhatIfInput } from '../../../src/protocol/workflow/what-if.js';
import { openSqliteStores } from '../../../src/store/sqlite/event-log.js';
import type { FakeCall } from '../../support/fakes/fake-temporal.js';
import { TESTING } from '../../support/networks/test-identity.js';
import { sampleLog, TURN } from '../../support/samples/sample-log.js';
import { startHttpApp } from '../../support/servers/http-app.js';

export const DONE = {
  state: 'ended',
  reason: 'answered',
  steps: [],
  usage: { inputTokens: 1, outputTokens: 1 },
};

/** `c-1` with an answer of the model behind its first turn. */
export function log() {
  const events = sampleLog('c-1');
  const { seq = 0, at = '' } = events.find(({ type }) => type === 'turn_started') ?? {};
  const said = {
    ...{ type: 'assistant_message' as const, seq: seq + 1, at, turnId: TURN, step: 1 },
    ...{ messageId: 'm_2', parts: [{ type: 'text' as const, text: 'Hi' }] },
  };
  const later = events.slice(seq).map((event) => ({ ...event, seq: event.seq + 1 }));
  return [...events.slice(0, seq), said, ...later];
}

export const BEGUN_MS = Date.UTC(2026, 0, 1);

export interface Given {
  /** Beside the what-ifs that are started, as the server lists them. */
  readonly others?: readonly object[];
  readonly cancel?: (call: FakeCall) => unknown;
  readonly identity?: Partial<Identity>;
  readonly status?: string | (() => string);
  readonly result?: (call: FakeCall) => unknown;
  readonly raw?: object;
  readonly agents?: AgentSource;
}

export async function app({
  identity = {},
  status = 'COMPLETED',
  result,
  raw = {},
  others = [],
  cancel = () => ({}),
  agents,
}: Given = {}) {
  const { log: store } = await openSqliteStores({ file: ':memory:' });
  onTestFinished(() => store.close());
  const key = { tenant: 'default', conversationId: 'c-1' };
  await store.append({ ...key, runId: 'r-1', events: log() });
  const starts: FakeCall[] = [];
  const start = (call: FakeCall): undefined => {
    if (starts.some(({ workflowId }) => workflowId === call.workflowId))
      throw new WorkflowExecutionAlreadyStartedError('exists', call.workflowId, 'whatIf');
    starts.push(call);
  };
  /** In the order of the visibility store, which is not that of the list. */
  const list = (): readonly object[] => [
    ...others,
    ...starts.map(({ workflowId, options: { memo } }, index) => ({
      ...{ workflowId, runId: `run-${index + 1}`, memo, status: { name: statusName() } },
      startTime: new Date(BEGUN_MS + index * 1_000),
      ...(statusName() === 'RUNNING' ? {} : { closeTime: new Date(BEGUN_MS + 60_000) }),
    })),
  ];
  const statusName = (): string => (typeof status === 'string' ? status : status());
  const describeRun = ({ workflowId }: FakeCall): unknown => {
    const found = starts.find((call) => call.workflowId === workflowId);
    if (found === undefined) throw new WorkflowNotFoundError('none', workflowId, undefined);
    return { status: { name: statusName() }, runId: 'run-1', memo: found.options['memo'], raw };
  };
  const reader = createStoreReader({ log: store, source: 'none' });
  const forgetTurns = (): void => {
    const problems = [{ path: '/turnId', message: 'is gone' }];
    Object.assign(reader, { whatIfPoint: () => Promise.resolve({ problems }) });
  };
  const started = await startHttpApp(
    { start, list, cancel, describe: describeRun, result: result ?? (() => DONE) },
    { reader, identify: () => ({ ...TESTING, ...identity }) },
    { reader, ...(agents === undefined ? {} : { agents }) },
  );
  const ask = async (body: object, headers: Record<string, string> = {}) =>
    await started.post('/v1/conversations/c-1/what-if', { instructions: 'X', ...body }, headers);
  const inputs = (): readonly WhatIfInput[] => starts.map(({ input }) => input as WhatIfInput);
  return { ...started, ask, starts, inputs, forgetTurns };
}

export const bodyOf = async (response: Response) =>
  (await response.json()) as Record<string, unknown>;
