/**
 * A Temporal client with a script for its answers and a record of the calls that reached it. For tests of the
 * client's own rules.
 */
import {
  type Client,
  type WithStartWorkflowOperation,
  WorkflowUpdateFailedError,
  WorkflowUpdateRPCTimeoutOrCancelledError,
} from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';

/** `connectivityState.READY` of @grpc/grpc-js. */
const READY = 2;

export interface FakeCall {
  readonly kind:
    | 'start'
    | 'updateWithStart'
    | 'update'
    | 'signal'
    | 'signalWithStart'
    | 'query'
    | 'describe'
    | 'cancel'
    | 'list'
    | 'result';
  readonly name: string;
  readonly workflowId: string;
  readonly input: unknown;
  /** Update id, start options: everything else that was given. */
  readonly options: Readonly<Record<string, unknown>>;
}

export type Script = Partial<Record<FakeCall['kind'], (call: FakeCall) => unknown>>;

export interface FakeTemporal {
  readonly client: Client;
  readonly calls: readonly FakeCall[];
}

/** A call without a script is a mistake in the test; the error says so. */
export function fakeTemporal(script: Script, pollers: readonly object[] = []): FakeTemporal {
  const calls: FakeCall[] = [];
  const answer = async (call: FakeCall): Promise<unknown> => {
    calls.push(call);
    const scripted = script[call.kind];
    if (scripted === undefined)
      throw new Error(`the test does not expect ${call.kind} ${call.name}`);
    return await scripted(call);
  };
  const handle = (workflowId: string, runId?: string) => ({
    executeUpdate: (name: string, options: { args: unknown[] }) =>
      answer({ kind: 'update', name, workflowId, input: options.args[0], options: { ...options } }),
    signal: (name: string, input: unknown) =>
      answer({ kind: 'signal', name, workflowId, input, options: {} }),
    query: (name: string, input?: unknown) =>
      answer({ kind: 'query', name, workflowId, input, options: {} }),
    describe: () =>
      answer({ kind: 'describe', name: '', workflowId, input: undefined, options: {} }),
    cancel: () =>
      answer({ kind: 'cancel', name: '', workflowId, input: undefined, options: { runId } }),
    result: () =>
      answer({ kind: 'result', name: '', workflowId, input: undefined, options: { runId } }),
  });
  const client = {
    options: { namespace: 'default' },
    connection: {
      options: { address: '127.0.0.1:7233' },
      // The connection stands: a server of the machine at the same address plays no part.
      client: { getChannel: () => ({ getConnectivityState: () => READY }) },
    },
    withDeadline: (_deadline: number, call: () => Promise<unknown>) => call(),
    workflowService: {
      describeTaskQueue: () => Promise.resolve({ pollers }),
      getSystemInfo: () => Promise.resolve({}),
      deleteWorkflowExecution: () => Promise.resolve({}),
    },
    /** The server of these tests has no schedules. */
    schedule: { list: () => [] },
    workflow: {
      getHandle: handle,
      /** The server of these tests lists nothing, unless the test has a script for it. */
      list: async function* ({ query }: { readonly query: string }) {
        if (script.list === undefined) return;
        const call = { kind: 'list', name: '', workflowId: '', input: query, options: {} } as const;
        yield* (await answer(call)) as readonly object[];
      },
      executeUpdateWithStart: (
        name: string,
        options: { args: unknown[]; startWorkflowOperation: WithStartWorkflowOperation<never> },
      ) => {
        const { args, startWorkflowOperation, ...rest } = options;
        const start = startWorkflowOperation.options as unknown as Record<string, unknown>;
        return answer({
          kind: 'updateWithStart',
          name,
          workflowId: String(start['workflowId']),
          input: args[0],
          options: { ...rest, ...start },
        });
      },
      start: (_type: string, options: Record<string, unknown>) =>
        answer({
          kind: 'start',
          name: '',
          workflowId: String(options['workflowId']),
          input: (options['args'] as unknown[])[0],
          options,
        }),
      signalWithStart: (_type: string, options: Record<string, unknown>) =>
        answer({
          kind: 'signalWithStart',
          name: String(options['signal']),
          workflowId: String(options['workflowId']),
          input: (options['signalArgs'] as unknown[])[0],
          options,
        }),
    },
  };
  return { client: client as unknown as Client, calls };
}

/** A refusal by an update validator, as the client gets it. */
export function refusal(type: string, detail: unknown): Error {
  const cause = ApplicationFailure.create({
    type,
    message: type,
    details: [detail],
    nonRetryable: true,
  });
  return new WorkflowUpdateFailedError('Workflow Update failed', cause);
}

/** The error of a call without an answer before the deadline. */
export function noAnswer(): Error {
  return new WorkflowUpdateRPCTimeoutOrCancelledError('Deadline exceeded');
}

/** An error of the gRPC layer, as the Temporal client wraps it. */
export function grpcError(code: number, details: string): Error {
  const inner = Object.assign(new Error(details), { code, details, metadata: {} });
  return Object.assign(new Error('call failed'), { cause: inner });
}
