/** Conversations that are recorded as histories: how each is made, and the files of its runs. */
import { Context } from '@temporalio/activity';
import type { ContextSpec } from '../../../../src/define/agent/context.js';
import type { AgentSettingsSpec } from '../../../../src/define/agent/settings.js';
import type { Agent } from '../../../../src/define/define-agent.js';
import type { ScriptedModel } from '../../../../src/model/scripted/scripted.js';
import type { EventType } from '../../../../src/protocol/log/events.js';
import type { Model } from '../../../../src/protocol/model/model.js';
import { ledger, type Services, shop } from '../../engine/agents.js';
import { type Engine, type EngineOptions, startEngine } from '../../engine/engine.js';
import { HeldModel } from '../../engine/models.js';
import { until } from '../../until.js';

/** `PENDING_ACTIVITY_STATE_STARTED`; Temporal's packages do not export the enum. */
const STARTED = 2;

export type Talk = ReturnType<Engine['begin']>;

export interface Recorded {
  readonly engine: Engine;
  readonly talk: Talk;
}

export type Scenario = ShopScenario | OwnScenario;

interface NamedScenario {
  /** Name of the histories, and part of the conversation's id. */
  readonly name: string;
  /** Runs of the conversation, each with a history. @defaultValue 1 */
  readonly runs?: number;
}

/** A conversation with an agent on an engine with the usual options. */
export interface ShopScenario extends NamedScenario {
  readonly model: () => ScriptedModel;
  readonly settings?: AgentSettingsSpec;
  readonly context?: ContextSpec;
  /** In place of the shop. */
  readonly agent?: (model: Model) => Agent<Services>;
  readonly options?: () => Partial<EngineOptions<Services>>;
  /** The model's text before the model is held, at the first message. */
  readonly heldAt?: string;
  /** The first message leaves the conversation at work: the event after which the scenario continues. */
  readonly runsOn?: EventType;
  /** Continues from where the first message left the conversation. */
  readonly play?: (engine: Engine, talk: Talk, model: HeldModel) => Promise<unknown>;
}

/** A conversation that makes its own engine. `id`: of the conversation and of the task queue. */
export interface OwnScenario extends NamedScenario {
  /** The agent that the conversation has at its end. Absent: the one that it began with. */
  readonly lastAgent?: string;
  readonly converse: (id: string) => Promise<Recorded>;
}

/** Names of the histories without `.json`, one for each run. */
export function historiesOf({ name, runs = 1 }: NamedScenario): readonly string[] {
  if (runs === 1) return [name];
  return Array.from({ length: runs }, (_, index) => `${name}-run-${index + 1}`);
}

/** The agent of a scenario, with this model. */
export function agentOf(scenario: ShopScenario, model: Model): Agent<Services> {
  return scenario.agent?.(model) ?? shop(model, scenario.settings, scenario.context);
}

/** Has the conversation on a real server, to its end. */
export async function converse(scenario: Scenario): Promise<Recorded> {
  const id = `recorded-${scenario.name}`;
  return 'converse' in scenario ? await scenario.converse(id) : await played(scenario, id);
}

async function played(scenario: ShopScenario, id: string): Promise<Recorded> {
  const { heldAt, runsOn } = scenario;
  const model = new HeldModel(scenario.model(), heldAt ?? '');
  const engine = await startEngine<Services>({
    agents: [agentOf(scenario, model)],
    services: ledger(),
    taskQueue: id,
    tuning: { shutdownGraceTime: 1 },
    ...scenario.options?.(),
  });
  const talk = engine.begin(id);
  model.held = heldAt !== undefined;
  if (model.held) {
    await engine.send(talk, 'hello');
    await until('the model answers', () => model.started === 1);
  } else if (runsOn !== undefined) {
    await engine.send(talk, 'hello');
    await sees(engine, talk, runsOn);
  } else await engine.say(talk, 'hello');
  await scenario.play?.(engine, talk, model);
  return { engine, talk };
}

/** Waits until the log has this many events of the type. */
export async function sees(engine: Engine, talk: Talk, type: EventType, times = 1): Promise<void> {
  const seen = async (): Promise<number> =>
    (await engine.logTypes(talk)).filter((found) => found === type).length;
  await until(`${type} for the ${times}. time`, seen, { holds: (count) => count >= times });
}

/** Rolls over by a signal. Resolves when the next run has done its first task. `runs`: the number of runs then. */
export async function rollOver(engine: Engine, talk: Talk, runs: number): Promise<void> {
  await startNextRun(engine, talk, runs);
  await until('the first task', () => engine.history.lines(engine.workflowId(talk)), {
    holds: (lines) => lines.includes('WorkflowTaskCompleted'),
  });
}

/** The same, before the first task: the server delays it, so that it has all input that arrives meanwhile. */
export async function startNextRun(engine: Engine, talk: Talk, runs: number): Promise<void> {
  await engine.signal(talk, 'rollOver');
  const count = async (): Promise<number> =>
    (await engine.history.runs(engine.workflowId(talk))).length;
  await until('the run rolled over', count, { holds: (seen) => seen === runs });
}

/** Waits until the newest run has ended. */
export async function ended(engine: Engine, talk: Talk): Promise<void> {
  const status = async (): Promise<string> => (await engine.handle(talk).describe()).status.name;
  await until('the run ends', status, { holds: (name) => name !== 'RUNNING' });
}

/** Waits until a worker has taken an activity of the type. */
export async function runs(engine: Engine, talk: Talk, type: string): Promise<void> {
  await until(`a worker runs ${type}`, () => engine.history.describe(engine.workflowId(talk)), {
    holds: ({ raw }) =>
      (raw.pendingActivities ?? []).some(
        ({ activityType, state }) => activityType?.name === type && Number(state) === STARTED,
      ),
  });
}

type Interceptors = NonNullable<NonNullable<EngineOptions<never>['tuning']>['interceptors']>;

/** Interceptors of a worker that call `act` before each activity of the type; it may fail the activity, or hold it. */
export function before(type: string, act: () => unknown): Interceptors {
  return {
    activity: [
      () => ({
        inbound: {
          execute: async (input, next) => {
            if (Context.current().info.activityType === type) await act();
            return await next(input);
          },
        },
      }),
    ],
  };
}

/** Holds an activity until its worker stops, and sends no heartbeat, as if the worker had been killed. */
export async function lost(): Promise<never> {
  return await Context.current().cancelled;
}
