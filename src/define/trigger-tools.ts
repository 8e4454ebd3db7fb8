/** `triggerTools`: tools with which an agent makes triggers of its own, within bounds. Runs anywhere. */
import { z } from 'zod';
import { MAX_WAIT_MS } from '../protocol/limits/limits.js';
import { MAX_TRIGGERS, MIN_TRIGGER_INTERVAL_MS } from '../protocol/limits/service-limits.js';
import { nextTriggerTime } from '../protocol/triggers/rules.js';
import {
  TRIGGER_TYPES,
  type Trigger,
  type TriggerSpec,
  type Triggers,
} from '../protocol/triggers/triggers.js';
import { type Duration, durationMs, durationProblem } from '../protocol/values/durations.js';
import { checkKeys, ProblemList } from './checks/problems.js';
import { defineTool } from './define-tool.js';
import { type ToolContext, toolError } from './tool/context.js';
import type { ApprovalRequest } from './tool/policy.js';
import type { Tool } from './tool/types.js';

export interface TriggerToolsSpec {
  /** Triggers that the agent may have at a time in one conversation, from 1 to 20. @defaultValue 5 */
  readonly maxTriggers?: number;
  /** The shortest pause between two events of a trigger, at least a minute. @defaultValue '10 minutes' */
  readonly minInterval?: Duration;
  /** Approval of `trigger.create`. @defaultValue none */
  readonly approval?: 'auto' | 'required' | ApprovalRequest;
}

const DEFAULT_MAX_TRIGGERS = 5;
const DEFAULT_MIN_INTERVAL: Duration = '10 minutes';

interface Bounds {
  readonly maxTriggers: number;
  readonly minIntervalMs: number;
}

const ScheduleSchema = z.object({
  type: z.enum(TRIGGER_TYPES).describe('once, in an interval, or by a cron expression'),
  value: z
    .string()
    .describe(
      'once: an instant with offset (2026-12-24T18:00:00Z); interval: a duration (2 hours); cron: five fields (0 9 * * mon-fri)',
    ),
  timeZone: z.string().optional().describe('only for cron, such as Europe/Berlin; UTC by default'),
});

const CreateSchema = z.object({
  title: z.string().describe('A short title'),
  goal: z.string().describe('What you should do when the trigger comes: you will read this text'),
  schedule: ScheduleSchema,
  maxInvocations: z.number().int().optional().describe('Ends the trigger after so many events'),
  endsAt: z.string().optional().describe('Instant with offset after which the trigger ends'),
  note: z.string().optional().describe('What you should know at the first event'),
});

const IdSchema = z.object({ triggerId: z.string() });

const NoteSchema = z.object({
  triggerId: z.string(),
  note: z.string().describe('What you should know at the next event; replaces the note before'),
});

/**
 * `trigger.create`, `trigger.list`, `trigger.note` and `trigger.remove`, for the triggers of the agent's own
 * conversation. It lists all of them, and removes only those that it has made.
 * @throws {DefinitionError} invalid_definition with every broken rule
 * @example defineAgent({ name: 'clerk', model, instructions, tools: [...triggerTools({ approval: 'required' })] })
 */
export function triggerTools(spec: TriggerToolsSpec = {}): readonly Tool[] {
  const bounds = checkedBounds(spec);
  const { approval } = spec;
  return [
    defineTool({
      name: 'trigger.create',
      description: 'Make a trigger: you get an event with your goal at the times that you set',
      input: CreateSchema,
      effects: 'idempotent',
      ...(approval === undefined ? {} : { approval }),
      run: (input, ctx) => withRefusals(() => createOwn(withoutUndefined(input), ctx, bounds)),
    }),
    defineTool({
      name: 'trigger.list',
      description: 'List the triggers of this conversation',
      input: z.object({}),
      effects: 'none',
      run: async (_input, { triggers }) => ({
        triggers: (await triggers.list()).map(shownTrigger),
      }),
    }),
    defineTool({
      name: 'trigger.note',
      description: 'Leave a note that you read with the next event of a trigger',
      input: NoteSchema,
      effects: 'idempotent',
      run: ({ triggerId, note }, { triggers }) =>
        withRefusals(async () => shownTrigger(await triggers.setNote(triggerId, note))),
    }),
    defineTool({
      name: 'trigger.remove',
      description: 'Remove a trigger that you have made',
      input: IdSchema,
      effects: 'idempotent',
      run: ({ triggerId }, { triggers }) => withRefusals(() => removeOwn(triggers, triggerId)),
    }),
  ];
}

function checkedBounds(spec: TriggerToolsSpec): Bounds {
  const problems = new ProblemList();
  const { maxTriggers = DEFAULT_MAX_TRIGGERS, minInterval = DEFAULT_MIN_INTERVAL } = spec;
  const allowed = ['maxTriggers', 'minInterval', 'approval'];
  checkKeys(problems, { ...spec }, { prefix: '', allowed });
  if (!Number.isInteger(maxTriggers) || maxTriggers < 1 || maxTriggers > MAX_TRIGGERS)
    problems.add('maxTriggers', `must be a whole number from 1 to ${MAX_TRIGGERS}`);
  const range = { minMs: MIN_TRIGGER_INTERVAL_MS, maxMs: MAX_WAIT_MS };
  problems.addIf('minInterval', durationProblem(minInterval, range));
  problems.throwIfAny('triggerTools');
  return { maxTriggers, minIntervalMs: durationMs(minInterval) ?? MIN_TRIGGER_INTERVAL_MS };
}

/** The bound on pauses counts only where the trigger is valid; `create` refuses all others. */
async function createOwn(spec: TriggerSpec, ctx: ToolContext, bounds: Bounds): Promise<unknown> {
  const { triggers } = ctx;
  const pauseMs = shortestPause(spec, Date.now());
  if (pauseMs < bounds.minIntervalMs) {
    const least = bounds.minIntervalMs / 60_000;
    throw toolError(
      `Events must be at least ${least} minutes apart, these are ${pauseMs / 60_000} apart`,
    );
  }
  const own = (await triggers.list()).filter(({ madeBy }) => madeBy === 'agent');
  const isRepeat = own.some(({ title, goal }) => title === spec.title && goal === spec.goal);
  if (own.length >= bounds.maxTriggers && !isRepeat)
    throw toolError(`You have ${bounds.maxTriggers} triggers already; remove one first`);
  return shownTrigger(await triggers.create(spec));
}

/** Events that are looked at: the pauses of a cron expression repeat within a day or a week, hardly ever later. */
const LOOKED_AT = 100;

/** Milliseconds; infinite for a trigger that comes once, or never. */
function shortestPause(spec: TriggerSpec, nowMs: number): number {
  let shortest = Number.POSITIVE_INFINITY;
  let last = nextTriggerTime(spec, nowMs, nowMs);
  for (let count = 1; count < LOOKED_AT && last !== undefined; count += 1) {
    const next = nextTriggerTime(spec, nowMs, last);
    if (next === undefined) break;
    shortest = Math.min(shortest, next - last);
    last = next;
  }
  return shortest;
}

async function removeOwn(triggers: Triggers, triggerId: string): Promise<unknown> {
  const { madeBy } = await triggers.get(triggerId);
  if (madeBy !== 'agent')
    throw toolError(`Trigger "${triggerId}" was made by people; ask them to remove it`);
  await triggers.remove(triggerId);
  return { removed: true };
}

/** The fields that a model reads. */
function shownTrigger({ createdBy: _by, createdAt: _at, id, ...rest }: Trigger): object {
  return { triggerId: id, ...rest };
}

/** Refusals are results that the model reads; every other error is a crash of the tool. */
const REFUSALS: readonly unknown[] = [
  ...['invalid_request', 'too_many_triggers', 'unknown_trigger', 'conversation_closed'],
];

async function withRefusals<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof Error && 'code' in error && REFUSALS.includes(error.code))
      throw toolError(error.message);
    throw error;
  }
}

/** Absent fields of a model's arguments may be `undefined`, which a declaration does not have. */
function withoutUndefined(input: z.infer<typeof CreateSchema>): TriggerSpec {
  return JSON.parse(JSON.stringify(input)) as TriggerSpec;
}
