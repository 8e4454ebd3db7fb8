/** Installations in which what a request names is not there, or what it needs is away. */
import { WorkflowFailedError, WorkflowNotFoundError } from '@temporalio/client';
import {
  ApplicationFailure,
  DefaultFailureConverter,
  defaultPayloadConverter,
} from '@temporalio/common';
import { OPERATIONS, type Operation } from '../../../src/http/openapi/rows/operations.js';
import type { AgentManifest } from '../../../src/protocol/conversation/agents.js';
import { MAX_SPACE_MEMBERS, MAX_TRIGGERS } from '../../../src/protocol/limits/service-limits.js';
import { Spaces } from '../../../src/spaces/service.js';
import type { OpenStores } from '../../../src/store/sqlite/event-log.js';
import { MAX_ENDPOINTS } from '../../../src/webhooks/endpoints.js';
import { FakeReader } from '../fakes/fake-reader.js';
import {
  type FakeCall,
  grpcError,
  noAnswer,
  refusal,
  type Script,
} from '../fakes/fake-temporal.js';
import { asks, stamped, started, suspends } from '../samples/log-events.js';
import { REQUEST_BODIES } from '../samples/request-bodies.js';
import { CALL, sampleLog, TURN } from '../samples/sample-log.js';
import { RUN, schedulesOf, TENANT } from '../tenants/canaries.js';
import type { Changes } from '../tenants/canary-app.js';
import { ask, type Sent } from './ask.js';
import type { World } from './world.js';

const throws =
  (make: (call: FakeCall) => Error) =>
  (call: FakeCall): never => {
    throw make(call);
  };

/** All calls of the server. */
const everyCall = (answer: (call: FakeCall) => unknown): Script => ({
  ...{ describe: answer, update: answer, updateWithStart: answer, query: answer },
  ...{ signal: answer, signalWithStart: answer, start: answer },
});

const runs =
  (name: string, more: object = {}) =>
  () => ({
    ...{ status: { name }, runId: RUN, raw: {}, memo: { agent: 'support' }, ...more },
    ...{ historyLength: 1, historySize: 1, startTime: new Date() },
  });

/** Updates and queries that no worker answers, of a conversation that the server has. */
const unanswered: Script = {
  ...{ describe: runs('RUNNING'), update: throws(noAnswer), updateWithStart: throws(noAnswer) },
  query: throws(noAnswer),
  ...{ signal: () => undefined, signalWithStart: () => undefined, start: () => undefined },
};

/** Updates that the conversation refuses. */
const refusing = (code: string): Script => {
  const refuse = throws(() => refusal(code, { message: 'because' }));
  return { update: refuse, updateWithStart: refuse };
};

const unreachable = throws(() => grpcError(14, 'connection refused'));

const noSchedules = () => {
  const away = (): never => {
    throw grpcError(14, 'connection refused');
  };
  const handle = { describe: away, pause: away, unpause: away, delete: away };
  return { schedule: { list: away, create: away, getHandle: () => handle } };
};

/** `c-4`, whose first turn has ended; `c-5` with a streaming call; a message of the space that shows a call of `c-1`. */
export async function more({ log, spaces }: OpenStores): Promise<void> {
  await log.append({
    ...{ tenant: TENANT, conversationId: 'c-4', runId: RUN },
    events: sampleLog('c-4'),
  });
  const external = { name: 'render', executor: 'external', kind: 'external_execution' } as const;
  const call = suspends('t', 'call-5', { ...external, streaming: true });
  const other = { tenant: TENANT, conversationId: 'c-5' };
  const events = stamped([started(other), ...asks('t', 'render it'), call]);
  await log.append({ ...other, runId: 'run-5', events });
  const space = { tenant: TENANT, spaceId: 'x-1' };
  await spaces.join({ ...space, member: { kind: 'agent', id: 'c-1~support' }, nowMs: 4 });
  await spaces.putMessage({
    ...{ tenant: TENANT, spaceId: 'x-1', id: 'x-1', kind: 'tool', status: 'requires_action' },
    ...{ text: '', author: { kind: 'agent', id: 'c-1~support' }, nowMs: 4 },
    metadata: { toolCallId: CALL, executor: 'human' },
  });
}

const FINISHED: Sent = {
  ids: { id: 'c-4' },
  body: JSON.stringify({ generation: 1, atSeq: 9 }),
};
const NEW: Sent = { ids: { id: 'c-9' } };
const STREAMING: Sent = { ids: { id: 'c-5', callId: 'call-5' } };
/** Spaces have to stay as they are while requests about them are under way. */
const keepsSpaces = ({ id }: Operation): boolean => !['deleteSpace', 'leaveSpace'].includes(id);

const PLACES = [
  ['with a question', {}],
  ['that is not stored', NEW],
  ['with a call that streams', STREAMING],
] as const;

const ABSENT: readonly World[] = [
  {
    name: 'nothing that the path names',
    changes: { script: { describe: throws(({ workflowId }) => none(workflowId)) } },
    sent: () => ({
      ids: {
        ...{ id: 'c-9', turnId: 't-9', callId: 'c-9', blobId: 'b-9', triggerId: 't-9' },
        ...{ webhookId: 'wh_9', spaceId: 's-9', memberId: 'm-9', messageId: 'm-9' },
      },
    }),
  },
  {
    name: 'nothing that the path names below its first part',
    sent: () => ({
      ids: {
        ...{ blobId: 'b-9', triggerId: 't-9', stepId: `${TURN}.9`, ruleId: 'r-9' },
        ...{ whatIfId: 'w-9', deliveryId: 'd-9', kind: 'robot', seq: '9' },
      },
    }),
  },
  {
    name: 'no stores of spaces and webhooks, no view of operators, no offers',
    changes: {
      deps: () =>
        ({
          ...{ spaces: undefined, webhooks: undefined, operations: undefined },
          ...{ killWorker: undefined, reader: new FakeReader() },
        }) as never,
    },
  },
  {
    name: 'no rule of that id',
    changes: { script: refusing('unknown_rule') },
    of: ({ id }) => id === 'revokeRule',
  },
];

function none(workflowId: string): Error {
  return new WorkflowNotFoundError('not found', workflowId, undefined);
}

/** Bodies with an agent that no worker has. */
const withStranger = ({ id, method }: { id: string; method: string }): Sent =>
  id === 'joinSpace'
    ? {
        body: JSON.stringify({ member: { kind: 'agent', conversationId: 'c-1', agent: 'nobody' } }),
      }
    : method === 'get'
      ? {}
      : { body: JSON.stringify({ ...REQUEST_BODIES[id], agent: 'nobody' }) };

const renamed: Partial<AgentManifest> = { name: 'renamed' };
const unserved: Partial<AgentManifest> = { notServedSince: '2026-01-01T00:00:00.000Z' };

const AGENTS: readonly World[] = [
  {
    name: 'an agent that no worker has',
    of: keepsSpaces,
    sent: withStranger,
    changes: {
      deps: ({ spaces: store }) => ({
        spaces: new Spaces({ store, agents: () => Promise.resolve([]) }),
      }),
    },
  },
  { name: 'a conversation of an agent that is gone', changes: { agent: renamed } },
  {
    name: 'a finished conversation of an agent that is gone',
    changes: { agent: renamed, prepare: more },
    of: ({ id }) => ['forkConversation', 'startWhatIf'].includes(id),
    sent: ({ id }) => (id === 'startWhatIf' ? { ids: { id: 'c-4' } } : FINISHED),
  },
  { name: 'an agent that no worker serves', changes: { agent: unserved } },
  {
    name: 'a finished conversation of an agent that no worker serves',
    changes: { agent: unserved, prepare: more },
    of: ({ id }) => ['forkConversation', 'startWhatIf'].includes(id),
    sent: ({ id }) => (id === 'startWhatIf' ? { ids: { id: 'c-4' } } : FINISHED),
  },
  {
    name: 'a fork whose run admitted nothing',
    changes: {
      prepare: more,
      script: {
        start: () => undefined,
        describe: ({ workflowId }) => runs(workflowId.endsWith(':c-4') ? 'RUNNING' : 'FAILED')(),
        result: throws(failedRun),
      },
    },
    of: ({ id }) => id === 'forkConversation',
    sent: () => FINISHED,
  },
];

function failedRun(): Error {
  const cause = ApplicationFailure.nonRetryable('nothing', 'not_admitted');
  return new WorkflowFailedError('failed', cause, 'NON_RETRYABLE_FAILURE');
}

const full: Changes = {
  prepare: async ({ webhooks, spaces }) => {
    for (let nth = 0; nth < MAX_ENDPOINTS; nth += 1)
      await webhooks.putEndpoint(
        {
          ...{ id: `wh_${nth}`, tenant: TENANT, url: 'https://example.com/', status: 'active' },
          createdAt: '2026-01-01T00:00:00.000Z',
        },
        { secret: 'whsec_x', previousUntilMs: 0 },
      );
    const space = { tenant: TENANT, spaceId: 'x-1' };
    for (let nth = 2; nth < MAX_SPACE_MEMBERS; nth += 1)
      await spaces.join({ ...space, member: { kind: 'person', id: `p-${nth}` }, nowMs: nth });
  },
  server: () => {
    const { getHandle, ...others } = schedulesOf();
    const names = Array.from({ length: MAX_TRIGGERS }, (_, nth) => `x-${nth + 1}`);
    const idOf = (name: string) => `trigger:${TENANT}:c-1:${name}`;
    return {
      schedule: {
        ...others,
        list: () => names.map((name) => ({ scheduleId: idOf(name) })),
        // Each is like the one that there is.
        getHandle: () => ({
          ...getHandle(idOf('x-1')),
          describe: async () => await getHandle(idOf('x-1')).describe(),
        }),
      },
    };
  },
};

const STATES: readonly World[] = [
  {
    name: 'as many of each as there may be',
    changes: full,
    of: ({ id }) => ['createTrigger', 'createWebhook', 'joinSpace'].includes(id),
    sent: ({ id }) =>
      id === 'joinSpace' ? { body: '{"member":{"kind":"person","id":"last"}}' } : {},
  },
  ...['conversation_closed', 'busy', 'queue_full', 'agent_mismatch'].map(
    (code): World => ({
      name: `a conversation that refuses with ${code}`,
      changes: { script: refusing(code) },
      of: ({ id }) => INPUTS[id]?.includes(code) === true,
    }),
  ),
  {
    name: 'a closed run',
    changes: {
      script: {
        describe: runs('COMPLETED'),
        update: throws(({ workflowId }) => none(workflowId)),
      },
    },
    of: ({ id }) => ['createTrigger', 'revokeRule'].includes(id),
  },
  {
    name: 'a conversation that is still closing when it is opened again',
    changes: { script: { ...refusing('conversation_closed'), describe: runs('RUNNING') } },
    of: ({ id }) => ['createConversation', 'sendMessage'].includes(id),
    sent: ({ id }) => ({ body: JSON.stringify({ ...REQUEST_BODIES[id], reopen: true }) }),
  },
  {
    name: 'a run that ends before each try',
    changes: { script: { updateWithStart: throws(({ workflowId }) => none(workflowId)) } },
    of: ({ id }) => ['createConversation', 'sendMessage'].includes(id),
  },
];

/** Codes with which the conversation refuses an input, by its judges. */
const INPUTS: Readonly<Record<string, readonly string[]>> = {
  createConversation: ['conversation_closed', 'busy', 'queue_full', 'agent_mismatch'],
  sendMessage: ['conversation_closed', 'busy', 'queue_full', 'agent_mismatch'],
  sendEvent: ['conversation_closed', 'queue_full', 'agent_mismatch'],
};

const TEMPORAL = PLACES.map(
  ([which, sent]): World => ({
    name: `no Temporal server, for a conversation ${which}`,
    changes: { script: everyCall(unreachable), server: noSchedules, prepare: more },
    of: keepsSpaces,
    sent: () => sent,
  }),
);

/** The newest task of each run has failed. */
const failingRuns: Changes = {
  prepare: more,
  script: {
    ...unanswered,
    describe: runs('RUNNING', {
      raw: { pendingWorkflowTask: { attempt: 3, scheduledTime: { seconds: 1, nanos: 0 } } },
    }),
  },
  server: ({ options, workflowService }) => ({
    options: {
      ...options,
      loadedDataConverter: {
        payloadConverter: defaultPayloadConverter,
        failureConverter: new DefaultFailureConverter(),
        payloadCodecs: [],
      },
    },
    workflowService: Object.assign({}, workflowService, {
      getWorkflowExecutionHistoryReverse: () =>
        Promise.resolve({
          history: {
            events: [{ workflowTaskFailedEventAttributes: { failure: { message: 'boom' } } }],
          },
        }),
    }),
  }),
};

/** So many that they have all places: each waits for a worker. */
const CROWD = 150;

const WORKERS = PLACES.flatMap(([which, sent]): readonly World[] => [
  {
    name: `no worker, for a conversation ${which}`,
    changes: { script: unanswered, prepare: more },
    of: keepsSpaces,
    sent: () => sent,
  },
  {
    name: `a workflow that fails, for a conversation ${which}`,
    changes: failingRuns,
    of: keepsSpaces,
    sent: () => sent,
  },
  {
    name: `workers that are busy, for a conversation ${which}`,
    changes: { script: { ...unanswered, update: never }, prepare: more },
    of: keepsSpaces,
    sent: () => sent,
    crowd: async (place) => {
      const members = Array.from({ length: CROWD }, async (_, nth) => {
        // Each comes again when its time is up.
        for (const time of ['first', 'second'])
          await ask(place, CANCEL, { ids: { id: `o-${time}-${nth}` } });
      });
      await Promise.all(members);
    },
  },
]);

const CANCEL = OPERATIONS.find(({ id }) => id === 'cancelTurn') as Operation;

/** Longer than any request waits for an update. */
async function never(): Promise<never> {
  await new Promise((resolve) => setTimeout(resolve, 6_000));
  throw noAnswer();
}

/** The state of a conversation that is being opened again cannot be restored. */
const REOPENING: World = {
  name: 'a conversation whose state cannot be restored',
  changes: { script: refusing('no_worker'), prepare: more },
  of: keepsSpaces,
};

export const WRONG_INSTALLATIONS: readonly World[] = [
  ...[...ABSENT, ...AGENTS, ...STATES, ...TEMPORAL, ...WORKERS, REOPENING],
  {
    name: 'a part of the process that breaks',
    changes: {
      deps: () =>
        ({
          metrics: {
            follow: () => undefined,
            observe: () => () => {
              throw new Error('oops');
            },
          },
        }) as never,
    },
  },
];
