/** The state of an agent of spaces: its active space, goals and memories. Pure. */
import { z } from 'zod';
import { utf8Bytes } from '../../protocol/values/json.js';
import { MAX_CUT_NAMES, MAX_NOTES, MAX_NOTES_BYTES, MAX_NOTES_CONTEXT_BYTES } from './limits.js';

export const GoalSchema = z.object({ description: z.string(), status: z.string(), at: z.string() });
export const MemorySchema = z.object({ value: z.string(), at: z.string() });

/** `at`, ISO 8601: when the note was set last. Goals by id, memories by key. */
export const AgentStateSchema = z.object({
  active: z.object({ spaceId: z.string(), name: z.string() }).optional(),
  goals: z.record(z.string(), GoalSchema).default({}),
  memories: z.record(z.string(), MemorySchema).default({}),
});

export type AgentState = z.output<typeof AgentStateSchema>;

/** Goals by id, and memories by key. */
export type Notes = Pick<AgentState, 'goals' | 'memories'>;

/** The version of the form above, for `migrate`. */
export const STATE_VERSION = 1;

/** Why there are too many notes, in words for the model; undefined while there are not. */
export function notesProblem({ goals, memories }: Notes): string | undefined {
  for (const [kind, notes] of Object.entries({ goals, memories }))
    if (Object.keys(notes).length > MAX_NOTES)
      return `You may have at most ${MAX_NOTES} ${kind}. Delete some first.`;
  const bytes = utf8Bytes(JSON.stringify({ goals, memories }));
  return bytes > MAX_NOTES_BYTES
    ? `Your goals and memories would have ${bytes} bytes, more than ${MAX_NOTES_BYTES}. Delete some first.`
    : undefined;
}

interface Note {
  readonly name: string;
  readonly at: string;
  readonly line: string;
}

/** The text that a model call reads: the newest notes that fit, and the names of the oldest that do not. */
export function contextOf(state: AgentState, maxBytes = MAX_NOTES_CONTEXT_BYTES): string {
  const { active } = state;
  const goals = Object.entries(state.goals).map(([id, { description, status, at }]): Note => {
    return { name: `goal ${id}`, at, line: `- [${status}] ${id}: ${description}` };
  });
  const memories = Object.entries(state.memories).map(([key, { value, at }]): Note => {
    return { name: `memory ${key}`, at, line: `- ${key}: ${value}` };
  });
  const { kept, cut } = fitting([...goals, ...memories], maxBytes);
  const listed = (title: string, notes: readonly Note[]): readonly string[] => {
    const lines = notes.filter((note) => kept.has(note)).map(({ line }) => line);
    return lines.length === 0 ? [] : [`${title}:`, ...lines];
  };
  const names = cut.slice(0, MAX_CUT_NAMES).map(({ name }) => name);
  return [
    active === undefined
      ? 'You are in no space.'
      : `You are in space ${JSON.stringify(active.name)} (${active.spaceId}).`,
    ...listed('Your goals', goals),
    ...listed('Your memories', memories),
    ...(cut.length === 0
      ? []
      : [`${cut.length} older notes are left out. The oldest: ${names.join(', ')}.`]),
  ].join('\n');
}

/** `cut`: oldest first. */
function fitting(
  notes: readonly Note[],
  maxBytes: number,
): { readonly kept: ReadonlySet<Note>; readonly cut: readonly Note[] } {
  const byAge = notes.toSorted((one, other) => one.at.localeCompare(other.at));
  let bytes = 0;
  // The first that does not fit ends the search: what is kept is what is newest.
  const from = byAge.findLastIndex(({ line }) => {
    bytes += utf8Bytes(line) + 1;
    return bytes > maxBytes;
  });
  return { kept: new Set(byAge.slice(from + 1)), cut: byAge.slice(0, from + 1) };
}

/** A key as a part of a JSON Pointer (RFC 6901). */
export function pointerOf(...keys: readonly string[]): string {
  return keys.map((key) => `/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}
