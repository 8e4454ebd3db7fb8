/**
 * The tools for plans: `set_plans`, `delete_plans`, `get_plans`. A plan is a trigger of the agent's conversation, so
 * it wakes the agent by an event of kind `trigger` with its name and instruction.
 */
import { z } from 'zod';
import { defineTool } from '../../define/define-tool.js';
import { toolError } from '../../define/tool/context.js';
import type { Tool } from '../../define/tool/types.js';
import { MAX_WAIT_MS } from '../../protocol/limits/limits.js';
import type { Trigger, TriggerSchedule, Triggers } from '../../protocol/triggers/triggers.js';
import { durationMs, durationProblem } from '../../protocol/values/durations.js';
import { idProblem } from '../../protocol/values/ids.js';
import { madeId } from './ids.js';
import { MAX_NOTE_CHARS, MAX_NOTES_AT_ONCE, MAX_PLANS } from './limits.js';
import { HIDDEN } from './space-tools.js';

const MAX_ID_CHARS = 64;
const PREFIX = 'plan.';

const Id = z
  .string()
  .max(MAX_ID_CHARS)
  .refine(
    (id) => idProblem('id', id) === undefined,
    'must be of letters, digits, "_", "." and "-"',
  );

const PlanInput = z.object({
  id: Id.optional().describe('The plan to replace; a new one where it is left out'),
  name: z.string().min(1).max(200),
  instruction: z
    .string()
    .min(1)
    .max(MAX_NOTE_CHARS)
    .describe('What you should do then: you will read this text'),
  runAfter: z.string().optional().describe('A duration from now, such as 2 hours'),
  scheduledAt: z
    .string()
    .optional()
    .describe('An instant with offset, such as 2026-12-24T18:00:00Z'),
  cron: z.string().optional().describe('Five fields in UTC, such as 0 9 * * mon-fri'),
});

type Plan = z.output<typeof PlanInput>;

export const PLAN_TOOLS: readonly Tool[] = [
  defineTool({
    name: 'set_plans',
    description:
      'Create or replace plans: you are woken with the instruction at the time that you set. Each plan has exactly one of runAfter, scheduledAt and cron',
    input: z.object({ plans: z.array(PlanInput).min(1).max(MAX_PLANS) }),
    effects: 'idempotent',
    metadata: HIDDEN,
    run: ({ plans }, { triggers, idempotencyKey }) =>
      withRefusals(async () => {
        const wanted = plans.map((plan, index) => wantedOf(plan, `${idempotencyKey}/${index}`));
        if (new Set(wanted.map(({ id }) => id)).size < wanted.length)
          throw toolError('Each plan needs an id of its own');
        const known = await ownPlans(triggers);
        const others = known.filter(({ id }) => wanted.every((plan) => plan.id !== planIdOf(id)));
        const count = new Set([...others, ...wanted].map(({ id }) => id)).size;
        if (count > MAX_PLANS)
          throw toolError(`You may have at most ${MAX_PLANS} plans. Delete some first.`);
        const set: object[] = [];
        for (const plan of wanted) {
          const before = known.filter(({ id }) => planIdOf(id) === plan.id).map(({ id }) => id);
          set.push(shownPlan(await created(triggers, plan, before)));
        }
        return { success: true, plans: set };
      }),
  }),
  defineTool({
    name: 'delete_plans',
    description: 'Delete plans of yours',
    input: z.object({ planIds: z.array(Id).min(1).max(MAX_NOTES_AT_ONCE) }),
    effects: 'idempotent',
    metadata: HIDDEN,
    run: ({ planIds }, { triggers }) =>
      withRefusals(async () => {
        const found = (await ownPlans(triggers)).filter(({ id }) => planIds.includes(planIdOf(id)));
        for (const { id } of found) await removed(triggers, id);
        return { success: true, deleted: [...new Set(found.map(({ id }) => planIdOf(id)))] };
      }),
  }),
  defineTool({
    name: 'get_plans',
    description: 'Read your plans',
    input: z.object({}),
    effects: 'none',
    metadata: HIDDEN,
    run: (_input, { triggers }) =>
      withRefusals(async () => {
        return { success: true, plans: (await ownPlans(triggers)).map(shownPlan) };
      }),
  }),
];

interface WantedPlan {
  readonly id: string;
  readonly triggerId: string;
  readonly name: string;
  readonly instruction: string;
  readonly schedule: TriggerSchedule;
}

/**
 * The trigger's id is made of its content, so a plan that changes is another trigger, and a repeat the same one. A
 * duration counts from the call. @throws {ToolError}
 */
function wantedOf(plan: Plan, key: string): WantedPlan {
  const { name, instruction, runAfter } = plan;
  const id = plan.id ?? madeId('plan', key);
  const content = [name, instruction, plan.scheduledAt ?? '', plan.cron ?? ''];
  const hash = madeId('t', ...content, ...(runAfter === undefined ? [] : [runAfter, key]));
  return { id, triggerId: `${PREFIX}${id}.${hash}`, name, instruction, schedule: scheduleOf(plan) };
}

function scheduleOf({ name, runAfter, scheduledAt, cron }: Plan): TriggerSchedule {
  const given = [runAfter, scheduledAt, cron].filter((value) => value !== undefined);
  if (given.length !== 1)
    throw toolError(`Plan "${name}" must have exactly one of runAfter, scheduledAt and cron`);
  if (cron !== undefined) return { type: 'cron', value: cron };
  if (scheduledAt !== undefined) return { type: 'once', value: scheduledAt };
  const problem = durationProblem(runAfter, { minMs: 1_000, maxMs: MAX_WAIT_MS });
  if (problem !== undefined) throw toolError(`Plan "${name}": runAfter ${problem}`);
  const at = Date.now() + (durationMs(runAfter) ?? 0);
  return { type: 'once', value: new Date(at).toISOString() };
}

/** The trigger of an earlier run of the call, or a new one, in place of those of the plan before. */
async function created(
  triggers: Triggers,
  plan: WantedPlan,
  before: readonly string[],
): Promise<Trigger> {
  const { triggerId: id, name: title, instruction: goal, schedule } = plan;
  const replaces = before.filter((each) => each !== id);
  try {
    const made = await triggers.get(id);
    for (const each of replaces) await removed(triggers, each);
    return made;
  } catch (error) {
    if (codeOf(error) !== 'unknown_trigger') throw error;
  }
  return await triggers.create({ id, title, goal, schedule }, { replaces });
}

async function removed(triggers: Triggers, id: string): Promise<void> {
  try {
    await triggers.remove(id);
  } catch (error) {
    if (codeOf(error) !== 'unknown_trigger') throw error;
  }
}

async function ownPlans(triggers: Triggers): Promise<readonly Trigger[]> {
  const all = await triggers.list();
  return all.filter(
    ({ id, madeBy, status }) => id.startsWith(PREFIX) && madeBy === 'agent' && status !== 'ended',
  );
}

function planIdOf(triggerId: string): string {
  return triggerId.slice(PREFIX.length, triggerId.lastIndexOf('.'));
}

function shownPlan({ id, title, goal, schedule, status, nextAt }: Trigger): object {
  const { type, value } = schedule;
  return {
    ...{ id: planIdOf(id), name: title, instruction: goal },
    ...(type === 'cron' ? { cron: value } : { scheduledAt: value }),
    ...{ status, ...(nextAt === undefined ? {} : { nextAt }) },
  };
}

/** Refusals are results that the model reads; every other error is a crash of the tool. */
const REFUSALS: readonly unknown[] = [
  ...['invalid_request', 'too_many_triggers', 'conversation_closed'],
];

async function withRefusals<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof Error && REFUSALS.includes(codeOf(error))) throw toolError(error.message);
    throw error;
  }
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}
