/** Turns that events of the inbox start: batches, previews while a turn runs, and their bound (`settings.inbox`). */
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { inboxPreview } from '../../../../src/core/state/inbox-turns.js';
import { defineAgent, defineTool } from '../../../../src/index.js';
import type { ScriptedAnswer } from '../../../../src/model/scripted/types.js';
import { MAX_PREVIEW_CHARS } from '../../../../src/protocol/limits/limits.js';
import type { ModelRequest } from '../../../../src/protocol/model/model.js';
import { SYSTEM_ACTOR } from '../../../../src/protocol/values/actors.js';
import { calls, says, scriptedBy, testConversation } from '../../../../src/testing/index.js';
import { promise } from '../../../support/promise.js';
import { watched } from '../plugins/watched.js';

const CYCLES = { whileBusy: 'next_turn' } as const;
const event = (n: number) => ({ eventId: `e${n}`, kind: 'note', payload: { n } });
const textOf = (n: number): string => `[Event: note] (id e${n}) {"n":${n}}`;

/** The tool `look` lets events arrive while the turn runs. */
function conversation(
  answers: readonly ScriptedAnswer[],
  inbox:
    | {
        readonly whileBusy?: 'next_turn';
        readonly rate?: { readonly turns: number; readonly per: '1 minute' };
      }
    | undefined,
) {
  const { model, requests } = watched(...answers);
  const looks: (() => void)[] = [];
  const look = defineTool({
    ...{ name: 'look', description: 'Looks', input: z.object({}) },
    run: () => {
      looks.shift()?.();
      return 'seen';
    },
  });
  const agent = defineAgent({
    ...{ name: 'a', model, instructions: 'Help.', tools: [look] },
    settings: inbox === undefined ? {} : { inbox },
  });
  const t = testConversation(agent);
  const during = (...numbers: readonly number[]) => {
    looks.push(() => {
      for (const n of numbers) void t.sendEvent(event(n));
    });
  };
  return { t, requests, during };
}

/** Texts of the user's side that a model call was given. */
const readBy = (request: ModelRequest | undefined): readonly string[] =>
  (request?.messages ?? []).flatMap(({ role, parts }) =>
    parts.flatMap((part) => (role === 'user' && 'text' in part ? [part.text] : [])),
  );

const startsOf = (t: Pick<ReturnType<typeof conversation>['t'], 'events'>) =>
  t.events.flatMap((each) => (each.type === 'turn_started' ? [each.inbox ?? 'message'] : []));

it('without a setting the running turn reads events that come meanwhile, and goes on for them', async () => {
  const { t, requests, during } = conversation([calls('look', {}), says('Both.')], undefined);
  during(1, 2);
  await t.send('Look');
  expect(readBy(requests[1])).toEqual(['Look', textOf(1), textOf(2)]);
  expect(startsOf(t)).toEqual(['message']);
});

it('events that come in the last step that a turn may have begin a turn of their own', async () => {
  const { model, requests } = watched(calls('look', {}), says('Read.'));
  const look = defineTool({
    ...{ name: 'look', description: 'Looks', input: z.object({}) },
    run: () => {
      void t.sendEvent(event(1));
      return 'seen';
    },
  });
  const settings = { maxSteps: 1 };
  const t = testConversation(
    defineAgent({ name: 'a', model, instructions: 'Help.', tools: [look], settings }),
  );
  await t.send('Look');
  expect(startsOf(t)).toEqual(['message', ['e1']]);
  expect(requests).toHaveLength(2);
  expect(readBy(requests[1])).toContain(textOf(1));
});

describe('with `next_turn`', () => {
  it(
    'events that come while a turn runs are previewed, and are the batch of one next turn, in their order',
    promise('G373', '2.H.1'),
    async () => {
      const { t, requests, during } = conversation(
        [calls('look', {}), says('Looked.'), says('Read.')],
        CYCLES,
      );
      during(1, 2, 3, 4, 5, 6, 7);
      await t.send('Look');
      const preview = readBy(requests[1]).at(-1);
      expect(preview).toContain('[New in your inbox: 7.');
      expect(preview).toContain(textOf(5));
      expect(preview).not.toContain(textOf(6));
      expect(preview).toContain('[and 2 more]');
      expect(startsOf(t)).toEqual(['message', ['e1', 'e2', 'e3', 'e4', 'e5', 'e6', 'e7']]);
      expect(readBy(requests[2])).toEqual(['Look', ...[1, 2, 3, 4, 5, 6, 7].map(textOf)]);
      expect(requests).toHaveLength(3);
      expect(t.text).toBe('Read.');
    },
  );

  it(
    'each model call until then reads a bounded preview, which is not kept',
    promise('G373', '2.H.1'),
    async () => {
      const { t, requests, during } = conversation(
        [calls('look', {}), calls('look', {}), says('Looked.'), says('Read.')],
        CYCLES,
      );
      during(1);
      during(...Array.from({ length: 20 }, (_each, n) => n + 2));
      await t.send('Look');
      const previews = requests.map((request) => readBy(request).at(-1) ?? '');
      expect(previews[1]).toContain('[New in your inbox: 1.');
      expect(previews[2]).toContain('[New in your inbox: 21.');
      expect(readBy(requests[2]).filter((text) => text.includes('New in your inbox'))).toHaveLength(
        1,
      );
      expect(readBy(requests[3])).toEqual([
        'Look',
        ...Array.from({ length: 21 }, (_each, n) => textOf(n + 1)),
      ]);
    },
  );

  it('a preview has the beginning of a long event', promise('G373'), () => {
    const entry = { eventId: 'e', text: 'x'.repeat(5_000), requester: SYSTEM_ACTOR };
    const settings = { inbox: CYCLES };
    expect(inboxPreview({ settings, inbox: [entry] } as never)).toEqual({
      ...{ waiting: 1, beginnings: ['x'.repeat(MAX_PREVIEW_CHARS)] },
    });
    expect(inboxPreview({ settings: {}, inbox: [entry] } as never)).toBeUndefined();
    expect(inboxPreview({ settings } as never)).toBeUndefined();
  });

  it('a message that waits has its turn first, which reads the events as well', async () => {
    const { t, requests, during } = conversation(
      [calls('look', {}), says('Looked.'), says('Hello.')],
      CYCLES,
    );
    during(1);
    const first = t.send('Look');
    const second = t.send('And?', { onBusy: 'queue' });
    await Promise.all([first, second]);
    expect(startsOf(t)).toEqual(['message', 'message']);
    expect(readBy(requests[2])).toEqual(['Look', textOf(1), 'And?']);
  });
});

describe('turns a minute', () => {
  it(
    'beyond the bound events wait, with an event that says until when; then one turn takes all of them',
    promise('G373', '2.H.1'),
    async () => {
      const { t } = conversation([says('1'), says('2'), says('345'), says('6')], {
        ...CYCLES,
        rate: { turns: 2, per: '1 minute' },
      });
      const from = t.now.getTime();
      await t.sendEvent(event(1));
      await t.advance('10s');
      for (const n of [2, 3, 4, 5]) await t.sendEvent(event(n));
      expect(startsOf(t)).toEqual([['e1'], ['e2']]);
      const paused = t.events.filter(({ type }) => type === 'inbox_paused');
      const until = new Date(from + 60_000).toISOString();
      expect(paused).toMatchObject([{ until, rate: { turns: 2, perMs: 60_000 } }]);
      await t.advance('49s');
      expect(startsOf(t)).toHaveLength(2);
      await t.advance('1s');
      expect(startsOf(t)).toEqual([['e1'], ['e2'], ['e3', 'e4', 'e5']]);
      expect(t.text).toBe('345');
      await t.advance('1m');
      await t.sendEvent(event(6));
      expect(startsOf(t)).toHaveLength(4);
      expect(t.events.filter(({ type }) => type === 'inbox_paused')).toHaveLength(1);
    },
  );

  it('a message starts a turn at any time, with the events that wait', async () => {
    const { t, requests } = conversation([says('1'), says('Hello.'), says('3')], {
      rate: { turns: 1, per: '1 minute' },
    });
    await t.sendEvent(event(1));
    await t.sendEvent(event(2));
    await t.send('Hi');
    expect(readBy(requests[1])).toEqual([textOf(1), textOf(2), 'Hi']);
    await t.advance('2m');
    expect(startsOf(t)).toEqual([['e1'], 'message']);
    await t.sendEvent(event(3));
    expect(startsOf(t)).toEqual([['e1'], 'message', ['e3']]);
  });

  it('loses no event and keeps their order, however they come', promise('G373'), async () => {
    const t = testConversation(
      defineAgent({
        ...{ name: 'a', instructions: 'Help.', model: scriptedBy(() => says('ok')) },
        settings: { inbox: { ...CYCLES, rate: { turns: 3, per: '1 minute' } } },
      }),
    );
    let sent = 0;
    for (let round = 0; round < 12; round += 1) {
      for (let n = 0; n <= round % 4; n += 1) {
        sent += 1;
        await t.sendEvent(event(sent));
      }
      await t.advance(`${1 + ((round * 7) % 23)}s`);
    }
    await t.advance('2m');
    const read = t.events.flatMap((each) =>
      each.type === 'turn_started' ? (each.inbox ?? []) : [],
    );
    expect(read).toEqual(Array.from({ length: sent }, (_each, n) => `e${n + 1}`));
    const starts = t.events.flatMap((each) =>
      each.type === 'turn_started' ? [Date.parse(each.at)] : [],
    );
    for (const [index, at] of starts.entries())
      expect(at - (starts[index - 3] ?? Number.NEGATIVE_INFINITY)).toBeGreaterThanOrEqual(60_000);
  });
});

it.each([
  [{ whileBusy: 'later' }, 'settings.inbox.whileBusy'],
  [{ rate: 30 }, 'settings.inbox.rate'],
  [{ rate: { turns: 0, per: '1m' } }, 'settings.inbox.rate.turns'],
  [{ rate: { turns: 121, per: '1m' } }, 'settings.inbox.rate.turns'],
  [{ rate: { turns: 1.5, per: '1m' } }, 'settings.inbox.rate.turns'],
  [{ rate: { turns: 1, per: '2h' } }, 'settings.inbox.rate.per'],
  [{ rate: { turns: 1 } }, 'settings.inbox.rate.per'],
  [{ perMinute: 3 }, 'settings.inbox.perMinute'],
  ['next_turn', 'settings.inbox'],
])('refuses the setting %j', (inbox, field) => {
  const define = () =>
    defineAgent({
      ...{ name: 'a', instructions: 'Help.', model: scriptedBy(() => says('ok')) },
      settings: { inbox } as never,
    });
  expect(define).toThrow(field);
});
