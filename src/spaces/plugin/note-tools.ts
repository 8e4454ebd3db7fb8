/** The tools for what an agent keeps: goals and memories. */
import { z } from 'zod';
import { defineTool } from '../../define/define-tool.js';
import { toolError } from '../../define/tool/context.js';
import type { Tool } from '../../define/tool/types.js';
import { madeId } from './ids.js';
import { MAX_NOTE_CHARS, MAX_NOTE_KEY_CHARS, MAX_NOTES_AT_ONCE } from './limits.js';
import type { NotesAccess } from './memory.js';
import { HIDDEN } from './space-tools.js';
import type { Notes } from './state.js';

/** No control characters; `__proto__` is no key of an object that is written as JSON and read again. */
const Key = z
  .string()
  .min(1)
  .max(MAX_NOTE_KEY_CHARS)
  .refine((key) => key !== '__proto__' && !/\p{Cc}/u.test(key), 'is not usable as a name');

const text = z.string().max(MAX_NOTE_CHARS);
const some = <Item extends z.ZodType>(item: Item) => z.array(item).min(1).max(MAX_NOTES_AT_ONCE);

const GoalInput = z.object({
  id: Key.optional().describe('The goal to update; a new one where it is left out'),
  description: text.min(1).optional().describe('Required for a new goal'),
  status: z
    .string()
    .min(1)
    .max(MAX_NOTE_KEY_CHARS)
    .optional()
    .describe('Such as active or completed'),
});

export function noteTools(notes: NotesAccess): readonly Tool[] {
  return [setGoals(notes), deleteGoals(notes), setMemories(notes), deleteMemories(notes)];
}

function setGoals(notes: NotesAccess): Tool {
  return defineTool({
    name: 'set_goals',
    description: 'Create or update goals of yours, which you read in each cycle',
    input: z.object({ goals: some(GoalInput) }),
    effects: 'idempotent',
    metadata: HIDDEN,
    run: async ({ goals: given }, ctx) => {
      const at = new Date().toISOString();
      let goals: readonly NamedGoal[] = [];
      await notes.put(ctx, ({ goals: known }) => {
        goals = given.map((goal, index) => {
          const { id = madeId('goal', ctx.idempotencyKey, index) } = goal;
          return mergedGoal(known, { ...goal, id }, index);
        });
        const named = goals.map(({ id, ...goal }) => [id, { ...goal, at }] as const);
        return { goals: Object.fromEntries(named) };
      });
      return { success: true, goals };
    },
  });
}

interface NamedGoal {
  readonly id: string;
  readonly description: string;
  readonly status: string;
}

/** @throws {ToolError} for a new goal without a description */
function mergedGoal(
  known: Notes['goals'],
  goal: z.output<typeof GoalInput> & { readonly id: string },
  index: number,
): NamedGoal {
  const { id } = goal;
  const before = Object.hasOwn(known, id) ? known[id] : undefined;
  const description = goal.description ?? before?.description;
  if (description === undefined)
    throw toolError(`goals[${index}].description is required: there is no goal "${id}" yet`);
  return { id, description, status: goal.status ?? before?.status ?? 'active' };
}

function setMemories(notes: NotesAccess): Tool {
  return defineTool({
    name: 'set_memories',
    description: 'Create or update memories of yours, which you read in each cycle',
    input: z.object({ memories: some(z.object({ key: Key, value: text })) }),
    effects: 'idempotent',
    metadata: HIDDEN,
    run: async ({ memories }, ctx) => {
      const at = new Date().toISOString();
      const named = memories.map(({ key, value }) => [key, { value, at }] as const);
      await notes.put(ctx, () => ({ memories: Object.fromEntries(named) }));
      return { success: true, keys: memories.map(({ key }) => key) };
    },
  });
}

function deleteGoals(notes: NotesAccess): Tool {
  return defineTool({
    name: 'delete_goals',
    description: 'Delete goals of yours',
    input: z.object({ goalIds: some(Key) }),
    effects: 'idempotent',
    metadata: HIDDEN,
    run: async ({ goalIds }, ctx) => {
      const deleted = await notes.remove(ctx, 'goals', [...new Set(goalIds)]);
      return { success: true, deleted };
    },
  });
}

function deleteMemories(notes: NotesAccess): Tool {
  return defineTool({
    name: 'delete_memories',
    description: 'Delete memories of yours',
    input: z.object({ keys: some(Key) }),
    effects: 'idempotent',
    metadata: HIDDEN,
    run: async ({ keys }, ctx) => {
      const deleted = await notes.remove(ctx, 'memories', [...new Set(keys)]);
      return { success: true, deleted };
    },
  });
}
