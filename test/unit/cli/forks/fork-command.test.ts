/** The place of `colloquy fork`, and its texts. */
import { describe, expect, it } from 'vitest';
import { forkAt, forkedText } from '../../../../src/cli/conversations/fork-command.js';
import { ConversationError } from '../../../../src/client/api/errors.js';
import type { Conversation } from '../../../../src/client/conversation.js';
import type { Forked } from '../../../../src/client/index.js';
import { forkPointOf } from '../../../../src/core/fork/point.js';
import type { CanonicalEvent } from '../../../../src/protocol/log/events.js';
import { cutsOf } from '../../../support/forks/core-forks.js';
import { promise } from '../../../support/promise.js';
import { closes, stamped, started, turn } from '../../../support/samples/log-events.js';

const EVENTS = stamped([started(), ...turn('t1'), ...turn('t2'), closes()]);
const LAST_CUT = cutsOf(EVENTS).at(-1) ?? 0;

async function* logOf(events: readonly CanonicalEvent[]): AsyncGenerator<CanonicalEvent> {
  await Promise.resolve();
  yield* events;
}

/** A conversation with these events, which forks where the core finds a place. */
function conversation(events: readonly CanonicalEvent[]): Pick<Conversation, 'snapshot' | 'fork'> {
  const seq = events.at(-1)?.seq ?? 0;
  const snapshot = () => Promise.resolve({ generation: 1, seq });
  const fork: Conversation['fork'] = async ({ generation, atSeq, reopen = [], id = 'f-1' }) => {
    const point = await forkPointOf(logOf(events), { generation, atSeq, reopen });
    if (point === undefined) throw new Error('no log');
    if ('problems' in point)
      throw new ConversationError('invalid_request', 'cannot be forked', point);
    const origin = { conversationId: 'c1', generation, seq: atSeq };
    const { agent, notCarried } = point;
    return { status: 'forked', conversationId: id, agent, origin, notCarried } as Forked;
  };
  return { snapshot: snapshot as unknown as Conversation['snapshot'], fork };
}

describe('a fork of the command line', promise('G378'), () => {
  it('begins at the last place of a closed conversation, and names it', async () => {
    const forked = await forkAt(conversation(EVENTS), { id: 'f-9' });
    expect(forked).toMatchObject({ conversationId: 'f-9', origin: { seq: LAST_CUT } });
    expect(forkedText(forked, {})).toBe(`forked f-9\nat: 1-${LAST_CUT}`);
  });

  it.each(['42', '1-0', '0-1', '1-x'])('refuses --at %s by its form', async (at) => {
    await expect(forkAt(conversation(EVENTS), { at })).rejects.toThrow(
      '--at: must be "<generation>-<seq>", such as 1-42',
    );
  });

  it('begins at the place of --at', async () => {
    const [first = 0] = cutsOf(EVENTS);
    const forked = await forkAt(conversation(EVENTS), { at: `1-${first}` });
    expect(forked.origin.seq).toBe(first);
    expect(forkedText(forked, { at: `1-${first}` })).toBe('forked f-1');
  });

  it('is refused elsewhere with the nearest places as --at takes them', async () => {
    const end = EVENTS.length;
    await expect(forkAt(conversation(EVENTS), { at: `1-${end}` })).rejects.toThrow(
      `--at: must be a place that ends a step or a turn (nearest: 1-${LAST_CUT} before it; the log ends at 1-${end})`,
    );
    await expect(forkAt(conversation(EVENTS), { at: '41' })).rejects.toThrow(
      '--at: must be "<generation>-<seq>", such as 1-42',
    );
    await expect(forkAt(conversation(EVENTS.slice(0, 2)), {})).rejects.toThrow(
      '--at: must be a place that ends a step or a turn (there is none yet; the log ends at 1-2)',
    );
  });
});
