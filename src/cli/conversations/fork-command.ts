/** `colloquy fork`: begins a conversation with the state of another one at a finished step. */
import { invalidField } from '../../client/api/errors.js';
import { parseCursor } from '../../protocol/values/cursor.js';
import { type ActorFlags, asJson, withClient } from './opened.js';

export interface ForkFlags extends ActorFlags {
  /** `<generation>-<seq>`; absent: the end of the log. */
  readonly at?: string;
  readonly reopen?: readonly string[];
  readonly id?: string;
}

/** Prints the id of the fork, and the calls that it does not take over. */
export async function runFork(id: string, flags: ForkFlags): Promise<never> {
  return await withClient(flags, async ({ client, print }) => {
    const conversation = client.conversation(id);
    const place = await placeOf(flags.at, () => conversation.snapshot());
    const forked = await conversation.fork({
      ...place,
      ...(flags.reopen === undefined ? {} : { reopen: flags.reopen }),
      ...(flags.id === undefined ? {} : { id: flags.id }),
    });
    if (flags.json === true) print(asJson(forked));
    else print(`${forked.status} ${forked.conversationId}`);
    if (flags.json !== true && forked.notCarried.length > 0)
      print(`not carried: ${forked.notCarried.join(', ')}`);
    return 0;
  });
}

async function placeOf(
  at: string | undefined,
  end: () => Promise<{ readonly generation?: number; readonly seq: number }>,
): Promise<{ readonly generation: number; readonly atSeq: number }> {
  if (at === undefined) {
    const { generation = 1, seq } = await end();
    return { generation, atSeq: seq };
  }
  const cursor = parseCursor(at);
  if (cursor === undefined)
    throw invalidField('--at', 'must be "<generation>-<seq>", such as 1-42');
  return { generation: cursor.generation, atSeq: cursor.seq };
}
