/** Where an agent keeps its goals and memories: in the state of a conversation, or by entity for all of them. */
import type { Documents, DocumentsOf, KeptDocument } from '../../define/plugin/documents.js';
import { DOCUMENTS } from '../../define/plugin/documents.js';
import { toolError } from '../../define/tool/context.js';
import type { PortAccess } from '../../define/tool/ports.js';
import type { PluginRef, StateAccess } from '../../define/tool/state-access.js';
import type { StateChange } from '../../protocol/calls/plugin-state.js';
import type { Json } from '../../protocol/values/json.js';
import { wellFormed } from '../../protocol/values/well-formed.js';
import { MAX_ENTITY_CHARS, MAX_NOTES } from './limits.js';
import {
  type AgentState,
  GoalSchema,
  MemorySchema,
  type Notes,
  notesProblem,
  pointerOf,
} from './state.js';

export interface NotingAgent {
  readonly tenant: string;
  readonly agent: string;
  readonly conversationId: string;
}

/** The entity that notes belong to. */
export interface MemoryOf {
  readonly tenant: string;
  readonly entity: string;
}

type Goal = Notes['goals'][string];

export interface NoteName {
  readonly kind: keyof Notes;
  readonly name: string;
}

/** Goals by id and memories by key of entities; `spacesPlugin` bounds their numbers and sizes. */
export interface AgentMemory {
  read(of: MemoryOf): Promise<Notes>;
  /**
   * Stores notes, each in place of the one with its name; a repeat changes nothing else. Resolves to the problem, with
   * nothing stored, when `problemOf` finds one in the notes that the entity would then have, beside those that it has.
   * Other conversations of the entity may write at the same time: no write and no deletion may come between the
   * judgement and this one.
   */
  put(
    of: MemoryOf,
    notes: Notes,
    problemOf: (notes: Notes, before?: Notes) => string | undefined,
  ): Promise<string | undefined>;
  /** Resolves to those that there were. Safe to repeat. */
  delete(of: MemoryOf, names: readonly NoteName[]): Promise<readonly NoteName[]>;
}

export interface MemoryOptions {
  /**
   * Names the entity whose goals and memories a conversation reads and writes: 1 to 200 characters. All conversations
   * of a tenant with the same entity share them. @defaultValue the name of the agent
   */
  readonly entity?: (agent: NotingAgent) => string;
  /** @defaultValue the event log of the worker */
  readonly store?: AgentMemory;
}

/** The notes of an agent, as its tools and its context use them. */
export interface NotesAccess {
  read(ctx: NotingAgent & PortAccess, state: Pick<StateAccess, 'getState'>): Promise<Notes>;
  /**
   * Stores the notes that `change` makes of those that there are. Another conversation may have changed these goals
   * meanwhile: then it runs again. @throws {ToolError} when there would be too many
   */
  put(ctx: NotesContext, change: (known: Notes) => Partial<Notes>): Promise<void>;
  /** The names of those that there were. */
  remove(
    ctx: NotesContext,
    kind: keyof Notes,
    names: readonly string[],
  ): Promise<readonly string[]>;
}

type NotesContext = NotingAgent & StateAccess & PortAccess;

/** Goals and memories of one conversation, in the state of the plugin. */
export function notesOfConversation(self: PluginRef<AgentState>): NotesAccess {
  return {
    read: (_ctx, state) => Promise.resolve(state.getState(self)),
    put: (ctx, change) => {
      // Each note is a change of its own, so that two calls of one step do not undo each other.
      const changes = Object.entries(change(ctx.getState(self))).flatMap(([kind, byName]) =>
        Object.entries<Json>(byName).map(([name, value]): StateChange => {
          return { op: 'set', path: pointerOf(kind, name), value };
        }),
      );
      ctx.patchState(self, ...changes);
      // The changes of a run that throws are dropped.
      refuse(notesProblem(ctx.getState(self)));
      return Promise.resolve();
    },
    remove: (ctx, kind, names) => {
      const known = ctx.getState(self)[kind];
      const found = names.filter((name) => Object.hasOwn(known, name));
      for (const name of found) ctx.patchState(self, { op: 'remove', path: pointerOf(kind, name) });
      return Promise.resolve(found);
    },
  };
}

/** Goals and memories of an entity, across its conversations. */
export function notesOfEntity({ entity, store }: MemoryOptions): NotesAccess {
  const memoryOf = (ctx: PortAccess): AgentMemory => store ?? memoryIn(ctx.port(DOCUMENTS));
  const named = ({ tenant, agent, conversationId }: NotingAgent): MemoryOf => {
    const name = entity === undefined ? agent : entity({ tenant, agent, conversationId });
    const problem = entityProblem(name);
    if (problem !== undefined) throw new TypeError(`memory.entity must return ${problem}`);
    return { tenant, entity: name };
  };
  return {
    read: async (ctx) => await memoryOf(ctx).read(named(ctx)),
    put: async (ctx, change) => {
      const [memory, of] = [memoryOf(ctx), named(ctx)];
      for (let tries = 1; tries <= MAX_TRIES; tries += 1) {
        const known = await memory.read(of);
        const { goals = {}, memories = {} } = change(known);
        const problem = await memory.put(of, { goals, memories }, (notes, before = known) =>
          Object.keys(goals).every((id) => isSameGoal(known.goals[id], before.goals[id]))
            ? notesProblem(notes)
            : MOVED,
        );
        if (problem !== MOVED) {
          refuse(problem);
          return;
        }
      }
      throw toolError(MOVED);
    },
    remove: async (ctx, kind, names) => {
      const given = names.map((name) => ({ kind, name }));
      return (await memoryOf(ctx).delete(named(ctx), given)).map(({ name }) => name);
    },
  };
}

/** The rule that a name of an entity breaks: it is a column of the store. */
export function entityProblem(name: unknown): string | undefined {
  const isFit =
    typeof name === 'string' &&
    name !== '' &&
    name.length <= MAX_ENTITY_CHARS &&
    !name.includes('\0') &&
    name === wellFormed(name);
  return isFit
    ? undefined
    : `1 to ${MAX_ENTITY_CHARS} characters of well-formed text without a zero`;
}

const MAX_TRIES = 20;
const MOVED = 'Other conversations change the same goals at the moment. Try again.';

function isSameGoal(one: Goal | undefined, other: Goal | undefined): boolean {
  return (
    one?.description === other?.description &&
    one?.status === other?.status &&
    one?.at === other?.at
  );
}

function refuse(problem: string | undefined): void {
  if (problem !== undefined) throw toolError(problem);
}

/** The kind of the documents; their owner is the entity. */
export const MEMORY_KIND = 'agent.memory';

/** Notes as documents of the event log, deleted with their tenant. */
export function memoryIn(documents: Documents): AgentMemory {
  return {
    read: async (of) => notesIn(await documents.list(keyOf(of), 2 * MAX_NOTES)),
    put: async (of, notes, problemOf) => {
      const given = Object.entries(notes).flatMap(([kind, byName]) =>
        Object.entries(byName).map(([name, note]) => {
          return {
            name: documentName({ kind: kind as keyof Notes, name }),
            document: note as Json,
          };
        }),
      );
      let problem: string | undefined;
      const stored = await documents.put(keyOf(of), {
        documents: given,
        most: 2 * MAX_NOTES,
        accepts: (kept, before) => {
          problem = problemOf(notesIn(kept), notesIn(before));
          return problem === undefined;
        },
        nowMs: Date.now(),
      });
      return stored === undefined ? (problem ?? TOO_MANY) : undefined;
    },
    delete: async (of, names) =>
      (await documents.delete(keyOf(of), names.map(documentName))).flatMap(
        (name) => noteName(name) ?? [],
      ),
  };
}

const TOO_MANY = `You may have at most ${MAX_NOTES} goals and ${MAX_NOTES} memories. Delete some first.`;

/** A document that another program has stored under this kind takes no note from the others. */
function notesIn(kept: readonly Pick<KeptDocument, 'name' | 'document'>[]): Notes {
  const notes: { [Kind in keyof Notes]: Record<string, unknown> } = { goals: {}, memories: {} };
  for (const { name, document } of kept) {
    const note = noteName(name);
    const read = note === undefined ? undefined : SCHEMAS[note.kind].safeParse(document);
    if (note !== undefined && read?.success === true) notes[note.kind][note.name] = read.data;
  }
  return notes as Notes;
}

const SCHEMAS = { goals: GoalSchema, memories: MemorySchema } as const;

function keyOf({ tenant, entity }: MemoryOf): DocumentsOf {
  return { tenant, kind: MEMORY_KIND, owner: entity };
}

function documentName({ kind, name }: NoteName): string {
  return `${kind}:${name}`;
}

function noteName(name: string): NoteName | undefined {
  const kind = (['goals', 'memories'] as const).find((each) => name.startsWith(`${each}:`));
  return kind === undefined ? undefined : { kind, name: name.slice(kind.length + 1) };
}
