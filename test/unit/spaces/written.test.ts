/** Calls that are being written in a space, as its readers get them. */
import fc from 'fast-check';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { SpaceFrame } from '../../../src/protocol/spaces/spaces.js';
import { type SpaceCaller, Spaces } from '../../../src/spaces/service.js';
import { WrittenPlace, WrittenTexts } from '../../../src/spaces/stream/written.js';
import { createLocalLiveChannel } from '../../../src/store/live/local.js';
import type { SpaceWriting } from '../../../src/store/ports/live.js';
import { openSqliteStores } from '../../../src/store/sqlite/event-log.js';
import { promise } from '../../support/promise.js';
import { until } from '../../support/until.js';

const ANN: SpaceCaller = { tenant: 'default', member: { kind: 'person', id: 'ann' } };
const BOT: SpaceCaller = { tenant: 'default', member: { kind: 'agent', id: 'desk~bot' } };

function piece(text: string, offset = 0, over: { index?: number; attempt?: number } = {}) {
  const { index = 0, attempt = 1 } = over;
  const author = { kind: 'agent', id: 'desk~bot' } as const;
  const id = `t.1.${index}`;
  const written = { id, author, toolName: 'chart', attempt, offset, text };
  return { answer: 't.1', piece: written } satisfies SpaceWriting;
}

describe('the texts', () => {
  it('grow without a gap, whichever pieces are lost, repeated or late', promise('H52'), () => {
    const whole = 'abcdefghijklmnopqrstuvwxyz';
    const cuts = fc.tuple(fc.nat(26), fc.nat(26));
    fc.assert(
      fc.property(fc.array(cuts), fc.array(fc.boolean()), (given, reads) => {
        const texts = new WrittenTexts();
        const place = new WrittenPlace();
        let heard = '';
        for (const [index, [one, other]] of given.entries()) {
          const [from, to] = [Math.min(one, other), Math.max(one, other)];
          texts.take(piece(whole.slice(from, to), from));
          if (reads[index] === true)
            for (const { offset, text } of place.news(texts.all())) {
              expect(offset).toBe(heard.length);
              heard += text;
            }
        }
        texts.take(piece(whole));
        for (const { text } of place.news(texts.all())) heard += text;
        expect(heard).toBe(whole);
        expect(place.news(texts.all())).toEqual([]);
      }),
    );
  });

  it('of a higher attempt replace those of a lower one, which add nothing any more', () => {
    const texts = new WrittenTexts();
    const place = new WrittenPlace();
    texts.take(piece('{"a"'));
    expect(place.news(texts.all())).toMatchObject([{ attempt: 1, offset: 0, text: '{"a"' }]);
    texts.take(piece('{', 0, { attempt: 2 }));
    expect(texts.take(piece(':1}', 4))).toBe(false);
    expect(place.news(texts.all())).toMatchObject([{ attempt: 2, offset: 0, text: '{' }]);
    texts.take({ answer: 't.1', attempt: 1 });
    expect(texts.all()).toHaveLength(1);
    texts.take({ answer: 't.1', attempt: 2 });
    expect(texts.all()).toEqual([]);
  });

  it('are bounded in number, and forgotten when no piece comes any more', () => {
    let now = 0;
    const texts = new WrittenTexts(() => now);
    for (let index = 0; index < 60; index += 1) texts.take(piece('{', 0, { index }));
    expect(texts.all().map(({ id }) => id)).toEqual(
      Array.from({ length: 50 }, (_each, n) => `t.1.${n + 10}`),
    );
    now = 30_001;
    expect(texts.all()).toEqual([]);
  });
});

async function room() {
  const { spaces: store, log } = await openSqliteStores({ file: ':memory:' });
  onTestFinished(() => log.close());
  const spaces = new Spaces({ store, live: createLocalLiveChannel(), pollMs: 20 });
  const { id } = await spaces.create(ANN, { name: 'Room' });
  const other = await spaces.create(ANN, { name: 'Other' });
  await spaces.join(ANN, id, BOT.member);
  const follow = async (spaceId = id) => {
    const end = new AbortController();
    onTestFinished(() => {
      end.abort();
    });
    const frames: SpaceFrame[] = [];
    const stream = await spaces.watch(ANN, spaceId, { signal: end.signal });
    void (async () => {
      for await (const frame of stream) frames.push(frame);
    })();
    await until('it is ready', () => frames.length > 0);
    const pieces = () =>
      frames.flatMap((frame) => (frame.type === 'tool.streaming' ? [frame.piece] : []));
    return { frames, pieces };
  };
  return { spaces, id, other: other.id, follow };
}

describe('a reader of the space', () => {
  it(
    'gets the arguments in some pieces, later ones also from a reader that came meanwhile',
    promise('H52'),
    async () => {
      const { spaces, id, other, follow } = await room();
      const { pieces } = await follow();
      const elsewhere = await follow(other);
      spaces.writes(BOT, id, piece('{"a"'));
      spaces.writes(BOT, id, piece(':', 4));
      await until('it has both', () => pieces().length === 1);
      const late = await follow();
      spaces.writes(BOT, id, piece('1}', 5));
      await until('both have all', () => pieces().length === 2 && late.pieces().length > 0);
      const { author, id: written } = piece('').piece;
      const of = { id: written, author, toolName: 'chart', attempt: 1 };
      expect(pieces()).toEqual([
        { ...of, offset: 0, text: '{"a":' },
        { ...of, offset: 5, text: '1}' },
      ]);
      const heard = late.pieces().map(({ text }) => text);
      expect(heard.join('')).toBe('{"a":1}');
      expect(elsewhere.pieces()).toEqual([]);
    },
  );

  it('gets nothing of an agent that is no member any more', promise('H52'), async () => {
    const { spaces, id, follow } = await room();
    const { frames, pieces } = await follow();
    await spaces.leave(ANN, id, BOT.member);
    await until('the members have changed', () => frames.some(({ type }) => type === 'members'));
    spaces.writes(BOT, id, piece('{"a"'));
    await spaces.send(ANN, id, { text: 'Hi' });
    await until('the text is there', () => frames.some(({ type }) => type === 'message'));
    spaces.writes(BOT, id, piece('{"b"', 0, { attempt: 2 }));
    await spaces.send(ANN, id, { text: 'Ho' });
    await until('two texts', () => frames.filter(({ type }) => type === 'message').length === 2);
    expect(pieces()).toEqual([]);
  });
});
