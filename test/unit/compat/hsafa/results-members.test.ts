/** Results for calls that a space shows: from its members, and from the worker of a tool that has one. */
import { describe, expect, expectTypeOf, it } from 'vitest';
import { z } from 'zod';
import {
  type CallerIdentity,
  type CallSpaces,
  hsafaRoutes,
  hsafaTools,
  runIdOf,
} from '../../../../src/compat/hsafa/index.js';
import { defineTool } from '../../../../src/index.js';
import { callsAll, says } from '../../../../src/model/scripted/scripted.js';
import { SpaceClient } from '../../../../src/spaces/client.js';
import { resultsClient, servedRoutes, submitted } from '../../../support/compat/hsafa-routes.js';
import { promise } from '../../../support/promise.js';
import { answeringRoom } from '../../../support/spaces/answering-room.js';
import { BOT, DESK } from '../../../support/spaces/room-of-agent.js';

const ENTER = { name: 'enter_space', input: { spaceId: DESK } };
const { tools: DOCUMENTS } = hsafaTools([
  { name: 'confirm', executionType: 'space', isAsync: true },
  { name: 'pick', executionType: 'space', visible: false, isAsync: true },
  { name: 'fetchData', executionType: 'external', isAsync: true },
]);
const LOCATE = defineTool({
  ...{ name: 'locate', description: 'Locate', input: z.object({}), executor: 'client' },
  ...{ metadata: { visible: true }, mode: 'detach' },
});

/** Calls of these tools in the space of Ann and Bob; each is answered by `submit`. */
async function asking(...names: readonly string[]) {
  const room = await answeringRoom(
    [...DOCUMENTS, LOCATE],
    callsAll([ENTER, ...names.map((name) => ({ name, input: {} }))]),
    ...[says('asked'), says('done'), says('done')],
  );
  const { t, spaces, stored } = room;
  await t.send('Go');
  await stored();
  const { turnId } = t.eventsOf('turn_started')[0] ?? { turnId: '' };
  const callOf = (name: string) => t.pending.find((call) => call.name === name)?.toolCallId;
  const client = resultsClient(t, { id: 'test', tenant: 'default' });
  const submit = async (
    who: string,
    name: string,
    { tenants = ['default'], ...more }: Partial<CallerIdentity> = {},
  ) => {
    const identity = { actor: { id: who }, tenants, ...more };
    const base = await servedRoutes({ client, identity, spaces: new SpaceClient(spaces, {}) });
    return await submitted(base, runIdOf('test', turnId), { callId: callOf(name), result: 1 });
  };
  return { ...room, client, submit, turnId, callOf };
}

const TAKEN = [200, { success: true, agentEntityId: 'test' }];
const NO_MEMBER = [403, { error: 'Only members of the space answer this tool call' }];
const NO_RIGHT = [403, { error: 'The caller lacks the right "answer"' }];
const member = { rights: ['send'] };

describe('a question that a space shows', () => {
  it(
    'takes the answer of a member, without the right to answer elsewhere',
    promise('G402', 'H17', 'H46'),
    async () => {
      const { t, submit, shown } = await asking('confirm');
      expect(await submit('bob', 'confirm', member)).toEqual(TAKEN);
      expect(t.eventsOf('resolution')).toMatchObject([{ actor: { id: 'bob' } }]);
      expect(await shown('confirm')).toMatchObject({ status: 'complete' });
    },
  );

  it.each<[string, string, Partial<CallerIdentity>, unknown]>([
    ['no member', 'eve', { rights: ['answer', 'send', 'read'] }, NO_MEMBER],
    ['no member, an admin', 'eve', { rights: ['answer', 'admin'] }, NO_MEMBER],
    ['no member, and lacks the right', 'eve', member, NO_MEMBER],
    ['a member who may not write', 'bob', { rights: ['read'] }, NO_RIGHT],
    [
      'of another tenant, under the id of a member',
      'bob',
      { tenants: ['other'], rights: ['answer', 'send'] },
      [404, { error: 'Pending tool call not found' }],
    ],
  ])('refuses a caller who is %s', promise('G402', 'H17'), async (...given) => {
    const [, who, identity, answer] = given;
    const { t, submit } = await asking('confirm');
    expect(await submit(who, 'confirm', identity)).toEqual(answer);
    expect(t.pending).toHaveLength(1);
    expect(t.eventTypes).not.toContain('resolution');
  });

  it(
    'refuses one who has left, and stays with members when its agent has',
    promise('G402', 'H17'),
    async () => {
      const { spaces, submit } = await asking('confirm');
      const bob = { tenant: 'default', member: { kind: 'person', id: 'bob' } } as const;
      const ann = { tenant: 'default', member: { kind: 'person', id: 'ann' } } as const;
      await spaces.leave(bob, DESK, bob.member);
      expect(await submit('bob', 'confirm', { rights: ['answer'] })).toEqual(NO_MEMBER);
      await spaces.leave(ann, DESK, { kind: 'agent', id: BOT });
      expect(await submit('eve', 'confirm', { rights: ['answer', 'admin'] })).toEqual(NO_MEMBER);
      expect(await submit('bob', 'confirm', { rights: ['answer'] })).toEqual(NO_MEMBER);
      expect(await submit('ann', 'confirm', member)).toEqual(TAKEN);
    },
  );

  it('is not answered again by a stranger, nor late', promise('G402', 'H17'), async () => {
    const { t, submit, callOf, turnId, client, spaces } = await asking('confirm');
    const callId = callOf('confirm');
    expect(await submit('bob', 'confirm', member)).toEqual(TAKEN);
    expect(t.pending).toEqual([]);
    const again = async (who: string) => {
      const identity = { actor: { id: who }, tenants: ['default'] };
      const base = await servedRoutes({ client, identity, spaces: new SpaceClient(spaces, {}) });
      return await submitted(base, runIdOf('test', turnId), { callId, result: 2 });
    };
    expect(await again('eve')).toEqual(NO_MEMBER);
    expect(await again('bob')).toEqual([409, { error: 'Tool call already resolved' }]);
  });

  it('waits for the log to have it', async () => {
    const { submit, client } = await asking('confirm');
    const conversation = client.conversation('test', { tenant: 'default' });
    const none = { events: [], cursor: { generation: 1, seq: 0 } as never, more: false };
    client.conversation = () => ({ ...conversation, events: () => Promise.resolve(none) });
    expect(await submit('bob', 'confirm', member)).toEqual([
      503,
      { error: 'The tool call is not stored yet: try again' },
    ]);
    const more = { ...none, more: true };
    client.conversation = () => ({ ...conversation, events: () => Promise.resolve(more) });
    expect(await submit('bob', 'confirm', member)).toEqual([
      403,
      { error: expect.stringMatching(/10000 events ago/) as string },
    ]);
  });
});

describe('another call', () => {
  it('that no space shows needs the right, and no membership', promise('G402'), async () => {
    const { submit } = await asking('pick');
    expect(await submit('bob', 'pick', member)).toEqual(NO_RIGHT);
    expect(await submit('eve', 'pick', { rights: ['answer'] })).toEqual(TAKEN);
  });

  it('of a backend is for its worker, also where a space shows it', promise('G402'), async () => {
    const { submit } = await asking('fetchData');
    expect(await submit('bob', 'fetchData', member)).toEqual(NO_RIGHT);
    expect(await submit('worker', 'fetchData', { rights: ['answer'] })).toEqual(TAKEN);
  });

  it.each([
    ['bob', 'send', TAKEN],
    ['eve', 'send', NO_MEMBER],
    ['runner', 'answer', TAKEN],
  ])('of a page takes the result of %s, who may %s', async (who, right, answer) => {
    const { submit } = await asking('locate');
    expect(await submit(who, 'locate', { rights: [right] })).toEqual(answer);
  });
});

it('the space of a call is found behind a hundred others', async () => {
  const { spaces, store, turnId, t, callOf } = await asking('confirm');
  const bot = { kind: 'agent', id: BOT } as const;
  const ann = { tenant: 'default', member: { kind: 'person', id: 'ann' } } as const;
  for (let n = 0; n < 101; n += 1) {
    const { id } = await spaces.create(ann, { name: `Room ${n}` });
    await store.join({ tenant: 'default', spaceId: id, member: bot, nowMs: n });
  }
  const { step } = t.eventsOf('tool_call').find(({ call }) => call.name === 'confirm')!;
  const place = { tenant: 'default', conversationId: 'test', agent: 'bot', turnId, step };
  const call = { ...place, toolCallId: callOf('confirm') ?? '' };
  const client = new SpaceClient(spaces, {});
  const key = { tenant: 'default', spaceId: DESK };
  for (const hasLeft of [false, true]) {
    if (hasLeft) await store.leave(key, bot);
    expect(await client.isMemberFor(call, 'bob')).toBe(true);
    expect(await client.isMemberFor(call, 'eve')).toBe(false);
  }
  expect(await client.isMemberFor({ ...call, tenant: 'other' }, 'bob')).toBeUndefined();
  expect(await client.isMemberFor({ ...call, toolCallId: 'call_x' }, 'bob')).toBeUndefined();
});

it('the routes take `colloquy.spaces`', () => {
  expectTypeOf<SpaceClient>().toExtend<CallSpaces>();
});

it('the routes do not start where the application leaves out spaces', promise('G402'), () => {
  const options = { client: {}, identify: () => undefined };
  expect(() => hsafaRoutes(options as never)).toThrow('hsafaRoutes: spaces must be');
  expect(() => hsafaRoutes({ ...options, spaces: undefined } as never)).toThrow(TypeError);
  expect(hsafaRoutes({ ...options, spaces: false } as never)).toBeTypeOf('function');
});
