/** `colloquy fork`: begins a conversation with the state of another one at a finished step. */
import { ConversationError, invalidField } from '../../client/api/errors.js';
import type { Forked, ForkOptions } from '../../client/api/types.js';
import type { Conversation } from '../../client/conversation.js';
import { parseCursor } from '../../protocol/values/cursor.js';
import { type ActorFlags, asJson, withClient } from './opened.js';

export interface ForkFlags extends ActorFlags {
  /** `<generation>-<seq>`; absent: the last place of the log. */
  readonly at?: string;
  readonly reopen?: readonly string[];
  readonly id?: string;
}

type Place = Pick<ForkOptions, 'generation' | 'atSeq'>;

/** Prints the id of the fork, its place where none was given, and the calls that it does not take over. */
export async function runFork(id: string, flags: ForkFlags): Promise<never> {
  return await withClient(flags, async ({ client, print }) => {
    const forked = await forkAt(client.conversation(id), flags);
    print(flags.json === true ? asJson(forked) : forkedText(forked, flags));
    return 0;
  });
}

export function forkedText(
  { status, conversationId, origin, notCarried }: Forked,
  { at }: Pick<ForkFlags, 'at'>,
): string {
  return [
    `${status} ${conversationId}`,
    ...(at === undefined ? [`at: ${origin.generation}-${origin.seq}`] : []),
    ...(notCarried.length === 0 ? [] : [`not carried: ${notCarried.join(', ')}`]),
  ].join('\n');
}

/** Without `--at`: at the end, or else at the nearest place before, as in a closed conversation. */
export async function forkAt(
  conversation: Pick<Conversation, 'snapshot' | 'fork'>,
  { at, reopen, id }: Pick<ForkFlags, 'at' | 'reopen' | 'id'>,
): Promise<Forked> {
  const place = at === undefined ? endOf(await conversation.snapshot()) : placeIn(at);
  const more = { ...(reopen === undefined ? {} : { reopen }), ...(id === undefined ? {} : { id }) };
  const begin = (from: Place): Promise<Forked> => conversation.fork({ ...from, ...more });
  try {
    return await begin(place);
  } catch (error) {
    const problem = placeProblem(error);
    const before = /nearest: (\d+) before it/.exec(problem ?? '')?.[1];
    if (at === undefined && before !== undefined)
      return await begin({ ...place, atSeq: Number(before) });
    if (problem === undefined) throw error;
    throw invalidField(
      '--at',
      problem
        .replace('the seq of an event', 'a place')
        .replaceAll(/\d+/g, (seq) => `${place.generation}-${seq}`),
    );
  }
}

function endOf({ generation = 1, seq }: { readonly generation?: number; readonly seq: number }) {
  return { generation, atSeq: seq };
}

function placeIn(at: string): Place {
  const cursor = parseCursor(at);
  if (cursor === undefined || cursor.seq === 0)
    throw invalidField('--at', 'must be "<generation>-<seq>", such as 1-42');
  return { generation: cursor.generation, atSeq: cursor.seq };
}

/** The reason why the log has no such place to fork at. */
function placeProblem(error: unknown): string | undefined {
  if (!ConversationError.isInstance(error)) return undefined;
  return error.problems?.find(({ path }) => path === '/atSeq')?.message;
}
