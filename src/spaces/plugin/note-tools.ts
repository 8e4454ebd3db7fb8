/** The tools for what an agent keeps: goals and memories. */
import { z } from 'zod';
import { defineTool } from '../../define/define-tool.js';
import { type ToolContext, toolError } from '../../define/tool/context.js';
import type { PluginRef } from '../../define/tool/state-access.js';
import type { Tool } from '../../define/tool/types.js';
import type { StateChange } from '../../protocol/calls/plugin-state.js';
import { madeId } from './ids.js';
import { MAX_NOTE_CHARS, MAX_NOTE_KEY_CHARS, MAX_NOTES_AT_ONCE } from './limits.js';
import { HIDDEN } from './space-tools.js';
import { type AgentState, notesProblem, pointerOf } from './state.js';

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

export function noteTools(self: PluginRef<AgentState>): readonly Tool[] {
  return [setGoals(self), deleteGoals(self), setMemories(self), deleteMemories(self)];
}

function setGoals(self: PluginRef<AgentState>): Tool {
  return defineTool({
    name: 'set_goals',
    description: 'Create or update goals of yours, which you read in each cycle',
    input: z.object({ goals: some(GoalInput) }),
    effects: 'idempotent',
    metadata: HIDDEN,
    run: ({ goals: given }, ctx) => {
      const { goals: known } = ctx.getState(self);
      const at = new Date().toISOString();
      const goals: { id: string; description: string; status: string }[] = [];
      for (const [
        index,
        { id = madeId('goal', ctx.idempotencyKey, index), ...goal },
      ] of given.entries()) {
        const before = Object.hasOwn(known, id) ? known[id] : undefined;
        const description = goal.description ?? before?.description;
        if (description === undefined)
          return toolError(`goals[${index}].description is required: there is no goal "${id}" yet`);
        goals.push({ id, description, status: goal.status ?? before?.status ?? 'active' });
      }
      changeNotes(
        self,
        ctx,
        goals.map(({ id, ...goal }) => {
          return { op: 'set', path: pointerOf('goals', id), value: { ...goal, at } };
        }),
      );
      return { success: true, goals };
    },
  });
}

function setMemories(self: PluginRef<AgentState>): Tool {
  return defineTool({
    name: 'set_memories',
    description: 'Create or update memories of yours, which you read in each cycle',
    input: z.object({ memories: some(z.object({ key: Key, value: text })) }),
    effects: 'idempotent',
    metadata: HIDDEN,
    run: ({ memories }, ctx) => {
      const at = new Date().toISOString();
      changeNotes(
        self,
        ctx,
        memories.map(({ key, value }) => {
          return { op: 'set', path: pointerOf('memories', key), value: { value, at } };
        }),
      );
      return { success: true, keys: memories.map(({ key }) => key) };
    },
  });
}

function deleteGoals(self: PluginRef<AgentState>): Tool {
  return defineTool({
    name: 'delete_goals',
    description: 'Delete goals of yours',
    input: z.object({ goalIds: some(Key) }),
    effects: 'idempotent',
    metadata: HIDDEN,
    run: ({ goalIds }, ctx) => deleted(self, ctx, { kind: 'goals', names: goalIds }),
  });
}

function deleteMemories(self: PluginRef<AgentState>): Tool {
  return defineTool({
    name: 'delete_memories',
    description: 'Delete memories of yours',
    input: z.object({ keys: some(Key) }),
    effects: 'idempotent',
    metadata: HIDDEN,
    run: ({ keys }, ctx) => deleted(self, ctx, { kind: 'memories', names: keys }),
  });
}

function deleted(
  self: PluginRef<AgentState>,
  ctx: ToolContext,
  { kind, names }: { readonly kind: 'goals' | 'memories'; readonly names: readonly string[] },
): { readonly success: true; readonly deleted: readonly string[] } {
  const known = ctx.getState(self)[kind];
  const found = [...new Set(names)].filter((name) => Object.hasOwn(known, name));
  for (const name of found) ctx.patchState(self, { op: 'remove', path: pointerOf(kind, name) });
  return { success: true, deleted: found };
}

/** Each note is a change of its own, so that two calls of one step do not undo each other. @throws {ToolError} */
function changeNotes(
  self: PluginRef<AgentState>,
  ctx: ToolContext,
  changes: readonly StateChange[],
): void {
  ctx.patchState(self, ...changes);
  const problem = notesProblem(ctx.getState(self));
  // The changes of a run that throws are dropped.
  if (problem !== undefined) throw toolError(problem);
}
