/** Configured tools of agents in spaces: they know nothing of spaces, and configuration decides where they appear. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { hsafaTools } from '../../../../src/compat/hsafa/index.js';
import type { Json } from '../../../../src/protocol/values/json.js';
import { callsAll, says } from '../../../../src/testing/index.js';
import { promise } from '../../../support/promise.js';
import { ANN, DESK, roomOf } from '../../../support/spaces/room-of-agent.js';
import { storedRoom } from '../../../support/spaces/stored-room.js';
import { watched } from '../../kit/plugins/watched.js';

const ENTER = { name: 'enter_space', input: { spaceId: DESK } };
const KINDS = ['gateway', 'external', 'space', 'internal'] as const;
const execution = { url: 'https://example.com/x', method: 'POST' };

interface Given {
  readonly name: string;
  readonly kind: (typeof KINDS)[number];
  readonly visible?: boolean;
  readonly isAsync?: boolean;
  readonly properties?: Readonly<Record<string, Json>>;
}

function documentOf({ name, kind, visible, isAsync, properties = {} }: Given) {
  return {
    ...{ name, description: 'Works', executionType: kind },
    inputSchema: { type: 'object', properties },
    ...(visible === undefined ? {} : { visible }),
    ...(isAsync === undefined ? {} : { isAsync }),
    ...(kind === 'gateway' ? { execution } : {}),
  };
}

const toolName = fc.stringMatching(/^[a-z][A-Za-z0-9]{2,12}$/).map((name) => `t${name}`);
const given: fc.Arbitrary<Given> = fc.record(
  {
    name: toolName,
    kind: fc.constantFrom(...KINDS),
    visible: fc.boolean(),
    properties: fc.dictionary(
      fc.constantFrom('city', 'order', 'bars'),
      fc.constant({ type: 'string' }),
      {
        noNullPrototype: true,
      },
    ),
  },
  { requiredKeys: ['name', 'kind'] },
);

describe('a configured tool', () => {
  it(
    'of each kind has the input of its document: no space is added to it',
    promise('H1', 'H2'),
    async () => {
      await fc.assert(
        fc.asyncProperty(
          fc.uniqueArray(given, { minLength: 1, maxLength: 6, selector: ({ name }) => name }),
          async (all) => {
            const { model, requests } = watched(says('done'));
            const { t } = await roomOf(model, hsafaTools(all.map(documentOf)).tools);
            await t.send('Go');
            const offered = new Map(
              requests[0]?.tools.flatMap((tool) =>
                'inputSchema' in tool ? [[tool.name, tool.inputSchema] as const] : [],
              ),
            );
            for (const { name, properties = {} } of all) {
              const schema = offered.get(name) as { readonly properties?: object } | undefined;
              expect(Object.keys(schema?.properties ?? {}).sort()).toEqual(
                Object.keys(properties).sort(),
              );
              expect(JSON.stringify(schema)).not.toMatch(/space/i);
            }
          },
        ),
        { numRuns: 25 },
      );
    },
  );

  it(
    'is shown alike under any name: nothing depends on which tool it is',
    promise('H1', 'H57'),
    async () => {
      const shownAs = async (name: string, kind: Given['kind']): Promise<unknown> => {
        const { tools } = hsafaTools([documentOf({ name, kind, visible: true })]);
        const call = { name, input: { a: 1 }, id: 'call_t' };
        const { t, messages, store } = await storedRoom(
          tools,
          callsAll([ENTER, call]),
          says('done'),
          says('late'),
        );
        await t.send('Go');
        await store();
        const waiting = await messages();
        if (t.pending.length > 0) await t.answer(name, { ok: true });
        await store();
        const both = [waiting, await messages()].map((all) =>
          all.map(({ status, metadata }) => ({ status, metadata })),
        );
        return JSON.parse(JSON.stringify(both).replaceAll(`"${name}"`, '"<name>"'));
      };
      await fc.assert(
        fc.asyncProperty(
          toolName,
          toolName,
          fc.constantFrom('external', 'space', 'internal'),
          async (one, other, kind) => {
            expect(await shownAs(one, kind)).toEqual(await shownAs(other, kind));
          },
        ),
        {
          numRuns: 15,
          examples: [
            ['sendMail', 'displayChart', 'internal'],
            ['confirmAction', 'other', 'space'],
          ],
        },
      );
    },
  );
});

it.each(
  ([true, false] as const).flatMap((visible) =>
    (['external', 'space', 'internal'] as const).map((kind) => ({ visible, kind })),
  ),
)(
  'configuration decides where a call appears, and no argument of the model ($kind, visible: $visible)',
  promise('H3'),
  async ({ visible, kind }) => {
    const { tools } = hsafaTools([documentOf({ name: 'work', kind, visible })]);
    const input = { spaceId: 'sp_other', visible: !visible, space: { id: 'sp_other' } };
    const { t, spaces, messages, store } = await storedRoom(
      tools,
      callsAll([ENTER, { name: 'work', input }]),
      says('done'),
    );
    const other = await spaces.create(ANN, { name: 'Other', requestId: 'other' });
    await t.send('Go');
    await store();
    expect((await messages()).map(({ metadata }) => metadata?.['toolName'])).toEqual(
      visible ? ['work'] : [],
    );
    expect((await spaces.messages(ANN, other.id, { limit: 10 })).messages).toEqual([]);
  },
);

describe('visible by default', () => {
  it.each([
    ['gateway', true],
    ['external', true],
    ['space', true],
    ['internal', false],
  ] as const)('a tool of the kind %s without `visible`: %s', promise('H9'), (kind, visible) => {
    const metadataOf = (more: { readonly visible?: boolean }) =>
      hsafaTools([documentOf({ name: 'work', kind, ...more })]).tools[0]?.metadata;
    expect(metadataOf({})).toEqual({ visible });
    expect(metadataOf({ visible: !visible })).toEqual({ visible: !visible });
  });

  it(
    'a call shows which: of an external tool it is a message, of an internal one none',
    promise('H9'),
    async () => {
      const { tools } = hsafaTools([
        documentOf({ name: 'ask', kind: 'external', isAsync: true }),
        documentOf({ name: 'draw', kind: 'internal' }),
      ]);
      const { t, messages, store } = await storedRoom(
        tools,
        callsAll([ENTER, { name: 'draw', input: {} }, { name: 'ask', input: {} }]),
        says('done'),
      );
      await t.send('Go');
      await store();
      expect((await messages()).map(({ metadata }) => metadata?.['toolName'])).toEqual(['ask']);
    },
  );
});
