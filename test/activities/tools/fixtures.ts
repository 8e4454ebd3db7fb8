/** The activities of a worker with the model and tools of a test; all published events are kept. */
import { MockActivityEnvironment } from '@temporalio/testing';
import { DefaultLogger } from '@temporalio/worker';
import { createActivities } from '../../../src/activities/index.js';
import type { ActivityDeps } from '../../../src/activities/shared/deps.js';
import type { ContextSpec } from '../../../src/define/agent/context.js';
import type { Agent } from '../../../src/define/define-agent.js';
import { defineAgent } from '../../../src/define/define-agent.js';
import type { Plugin } from '../../../src/define/plugin/types.js';
import type { SecretResolver } from '../../../src/define/services/secrets.js';
import type { Logger } from '../../../src/define/tool/context.js';
import type { Tool } from '../../../src/define/tool/types.js';
import type { Effects } from '../../../src/protocol/calls/executors.js';
import type { LiveEvent } from '../../../src/protocol/log/live-events.js';
import type {
  Model,
  ModelCallOptions,
  ModelRequest,
  ModelResponse,
} from '../../../src/protocol/model/model.js';
import type {
  CallModelInput,
  FlushLogResult,
  RunToolInput,
} from '../../../src/protocol/workflow/activities.js';
import { Scopes } from '../../../src/tools/scope/scopes.js';

export const key = { tenant: 'default', conversationId: 'c-1' };
const requester = { id: 'ann', verified: true, channel: 'api' } as const;
const quiet = () => undefined;

export function modelOf(
  generate: (request: ModelRequest, options: ModelCallOptions) => Promise<ModelResponse>,
): Model {
  return { name: 'gpt-test', generate };
}

export function answer(response: Partial<ModelResponse> = {}): ModelResponse {
  return {
    parts: [{ type: 'text', text: 'Hello.' }],
    calls: [],
    finishReason: 'stop',
    usage: { inputTokens: 3, outputTokens: 2 },
    model: 'gpt-test-2026',
    ...response,
  };
}

export interface Setup {
  readonly apiUrls?: readonly string[];
  readonly model?: Model;
  readonly tools?: readonly Tool<{ readonly rate: number }>[];
  readonly plugins?: readonly Plugin<{ readonly rate: number }>[];
  readonly context?: ContextSpec;
  readonly watched?: boolean;
  /** @defaultValue `{rate: 7}` */
  readonly services?: ActivityDeps<{ readonly rate: number }>['services'];
  readonly secrets?: SecretResolver;
  readonly log?: (line: string) => void;
  readonly publish?: (event: LiveEvent) => void;
  readonly repeat?: (event: LiveEvent) => void;
  readonly onJoin?: ActivityDeps<never>['onJoin'];
  readonly blobs?: ActivityDeps<never>['blobs'];
  readonly isOrphanedRun?: ActivityDeps<never>['isOrphanedRun'];
  readonly chunks?: ActivityDeps<never>['chunks'];
  readonly fetchTranscript?: ActivityDeps<never>['fetchTranscript'];
  readonly flush?: (throughSeq: number) => Promise<FlushLogResult>;
  readonly restoreState?: ActivityDeps<never>['restoreState'];
}

export function setUp(setup: Setup = {}) {
  const live: LiveEvent[] = [];
  const agent: Agent<{ readonly rate: number }> = defineAgent({
    name: 'support',
    model: setup.model ?? modelOf(() => Promise.resolve(answer())),
    instructions: 'Help.',
    tools: setup.tools ?? [],
    ...(setup.plugins === undefined ? {} : { plugins: setup.plugins }),
    ...(setup.context === undefined ? {} : { context: setup.context }),
  });
  const { services = { rate: 7 }, secrets, log = quiet } = setup;
  const line: Logger['info'] = (message, fields) => {
    log(`${message} ${JSON.stringify(fields ?? {})}`);
  };
  const logger = { debug: line, info: line, warn: line, error: line };
  const activities = createActivities({
    agents: [agent],
    services,
    scopes: new Scopes({ services, secrets, logger }),
    flush: (about, throughSeq) =>
      about.conversationId === key.conversationId && setup.flush !== undefined
        ? setup.flush(throughSeq)
        : Promise.reject(new Error('no store')),
    restoreState: setup.restoreState ?? (() => Promise.reject(new Error('no store'))),
    publish: (about, event) => {
      if (about.conversationId !== key.conversationId) throw new Error('another conversation');
      live.push(event);
      setup.publish?.(event);
    },
    repeat: (_about, event) => {
      setup.repeat?.(event);
    },
    ...(setup.onJoin === undefined ? {} : { onJoin: setup.onJoin }),
    ...(setup.blobs === undefined ? {} : { blobs: setup.blobs }),
    ...(setup.isOrphanedRun === undefined ? {} : { isOrphanedRun: setup.isOrphanedRun }),
    ...(setup.chunks === undefined ? {} : { chunks: setup.chunks }),
    ...(setup.fetchTranscript === undefined ? {} : { fetchTranscript: setup.fetchTranscript }),
    ...(setup.watched === undefined ? {} : { watched: () => setup.watched === true }),
    apiUrls: setup.apiUrls,
    logger,
  });
  return { activities, live };
}

/** The environment of one activity attempt; a cancel ends its use. */
export function environment(
  info: {
    attempt?: number;
    heartbeatTimeoutMs?: number;
    heartbeatDetails?: unknown;
    retryPolicy?: {
      maximumAttempts?: number;
      initialInterval?: number;
      backoffCoefficient?: number;
      maximumInterval?: number;
    };
    workflowExecution?: { workflowId: string; runId: string };
  } = {},
) {
  const mock = new MockActivityEnvironment(info, { logger: new DefaultLogger('ERROR', quiet) });
  return {
    run: async <Input, Output>(
      activity: (input: Input) => Promise<Output>,
      input: Input,
    ): Promise<Output> => await mock.run(activity, input),
    cancel: mock.cancel,
    onHeartbeat: (listener: (details: unknown) => void): void => {
      mock.on('heartbeat', listener);
    },
  };
}

export function modelInput(over: Partial<CallModelInput> = {}): CallModelInput {
  return {
    ...key,
    agent: 'support',
    turnId: 'turn_1',
    step: 2,
    requester,
    transcript: {
      epoch: 0,
      base: 0,
      append: [{ role: 'user', id: 'm1', turnId: 'turn_1', parts: [{ type: 'text', text: 'Hi' }] }],
    },
    ...over,
  };
}

export function toolInput(
  over: Partial<RunToolInput> & { name?: string; effects?: Effects; runMs?: number } = {},
): RunToolInput {
  const { name = 'work', effects = 'idempotent', runMs = 5_000, ...rest } = over;
  return {
    ...key,
    agent: 'support',
    turnId: 'turn_1',
    step: 2,
    requester,
    idempotencyKey: 'default/c-1/chain/call_1',
    call: {
      toolCallId: 'call_1',
      name,
      effects,
      timeouts: { approvalMs: 1, answerMs: 1, runMs },
      input: { a: 1 },
      maxAttempts: 1,
    },
    ...rest,
  };
}
