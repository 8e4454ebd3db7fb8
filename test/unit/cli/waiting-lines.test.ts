import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type AnswerFlags, resolutionOf } from '../../../src/cli/conversations/answer-flags.js';
import { waitingText } from '../../../src/cli/conversations/pending-command.js';
import { type WaitingCall, waitingLines } from '../../../src/cli/conversations/waiting-lines.js';
import { requestsTo, WaitingLines } from '../../../src/cli/dev/waiting-lines.js';
import { requestersOf } from '../../../src/core/calls/audience.js';
import { DEVELOPER } from '../../../src/http/identity/development.js';
import { ResolutionSchema, ResolveSchema } from '../../../src/http/schemas/bodies.js';
import type { Actor, StampedActor } from '../../../src/protocol/values/actors.js';
import { answer, modelCalls, plannedCall } from '../../support/builders/core-builders.js';
import { resolve } from '../../support/builders/verbs.js';
import { promise } from '../../support/promise.js';
import { aMachineWith, type MachineUnderTest } from '../../support/schedules/core-driver.js';
import { gatedFor, HOSTILE, optionOf, WAITS, wordsOf } from '../../support/waits-by-hand.js';

const API = 'http://127.0.0.1:8080';
const SECRET = { secret: 's', file: '/data/dev-authorization', isNew: false };

/** An actor as the API stamps it for the development identity. */
function actorOf(named: Actor | undefined): StampedActor {
  return { ...(named ?? { id: DEVELOPER }), verified: false, channel: 'api' };
}

function waitingIn(m: MachineUnderTest): WaitingCall {
  const [call] = m.pending;
  const asked = m.state.calls['c'];
  if (call === undefined || asked === undefined) throw new Error('no call waits');
  const requesters = requestersOf(m.state, asked);
  return { snapshot: { conversationId: 'order-42' }, call, requesters };
}

const linesOf = (m: MachineUnderTest): readonly string[] =>
  waitingLines(requestsTo({ apiUrl: API, secret: SECRET }), waitingIn(m));

const commandLinesOf = (m: MachineUnderTest): readonly string[] =>
  waitingText(waitingIn(m), {}).split('\n');

describe('the lines of every call that waits', () => {
  it('are printed, however many conversations wait', async () => {
    const { pending } = gatedFor({});
    const waiting = Array.from({ length: 230 }, (_, n) => ({
      conversationId: `order-${n}`,
      tenant: 'default',
      pending,
    }));
    const api = createServer((request, response) => {
      expect(request.headers.authorization).toBe('Bearer s');
      const { searchParams } = new URL(request.url ?? '', API);
      const limit = Number(searchParams.get('limit') ?? 50);
      const from = Number(searchParams.get('cursor') ?? 0);
      const nextCursor = from + limit < waiting.length ? `${from + limit}` : undefined;
      const conversations = waiting.slice(from, from + limit);
      response.end(JSON.stringify({ conversations, nextCursor }));
    });
    await once(api.listen(0, '127.0.0.1'), 'listening');
    onTestFinished(() => void api.close());
    const { port } = api.address() as AddressInfo;
    const lines = new WaitingLines({
      apiUrl: `http://127.0.0.1:${port}`,
      apiHeaders: { authorization: 'Bearer s' },
      secret: SECRET,
    });
    const { signal } = new AbortController();
    const printed = (await lines.news(signal)).filter((line) => line.startsWith('waits '));
    expect(printed).toHaveLength(waiting.length);
    expect(await lines.news(signal)).toEqual([]);
  });
});

describe('the lines for a pending call', () => {
  it.each(WAITS)(
    'end with a command that answers %s as it stands',
    promise('G262'),
    (_title, waits) => {
      const m = waits();
      const words = wordsOf(linesOf(m).at(-1)?.trim() ?? '');
      expect(words[1]).toBe(`${API}/v1/conversations/order-42/tool-calls/c/resolution`);
      const body = JSON.parse(optionOf(words, '-d')) as object;
      const { actor, ...answer } =
        'type' in body ? { resolution: ResolutionSchema.parse(body) } : ResolveSchema.parse(body);
      const by = actorOf(actor);
      const verdict = resolve(m.machine, { toolCallId: 'c', requestId: 'r', ...answer, actor: by });
      expect(verdict).toMatchObject({ verdict: 'accepted', toolCallId: 'c' });
    },
  );

  it('state the question, its reason, and who may answer', () => {
    expect(linesOf(gatedFor({ roles: ['lead'] }, { cents: 900 }))).toEqual([
      'waits     order-42: approval of `server.tool` until 2026-03-01T13:00:00.000Z',
      '          arguments: `{"cents": 900}`',
      '          who may answer: role `lead`',
      `          curl -s ${API}/v1/conversations/order-42/tool-calls/c/resolution -H '@/data/dev-authorization' -H 'content-type: application/json' -d '{"resolution":{"type":"approve"},"actor":{"id":"operator","roles":["lead"]}}'`,
    ]);
  });

  it('approve a call without an audience with a bare resolution', () => {
    expect(linesOf(gatedFor({})).at(-1)).toContain(`"actor":{"id":"operator"}`);
    const [, anybody] = WAITS[0] ?? [];
    expect(anybody && linesOf(anybody()).at(-1)).toMatch(/ -d '\{"type":"approve"\}'$/);
  });

  it('say why an answer was reverted', () => {
    const call = plannedCall('c', { executor: 'human', recheckAnswer: true });
    const m = aMachineWith(modelCalls([call]));
    m.resolve('c', answer('x'));
    m.checkFails('c', 'no such order');
    expect(linesOf(m)).toContain('          an answer was taken back: `no such order`');
  });

  it('say that calls for verified actors alone cannot be answered by hand', () => {
    const lines = linesOf(gatedFor({ requireVerified: true }));
    expect(lines.at(-1)).toContain('No request by hand can answer it');
    expect(lines.join()).not.toContain('curl');
  });

  it('move no cursor and begin no line, for any call', promise('G261'), () => {
    const m = gatedFor(
      { users: HOSTILE },
      Object.fromEntries(HOSTILE.map((it, at) => [it, HOSTILE[HOSTILE.length - at] ?? it])),
    );
    for (const line of [...linesOf(m), ...commandLinesOf(m)])
      expect(line).not.toMatch(/\p{Cc}|\p{Cf}|\p{Zl}|\p{Zp}/u);
  });

  it('are short, for arguments of any size', () => {
    const lines = linesOf(
      gatedFor({}, { text: Array.from({ length: 500 }, () => 'x'.repeat(300)) }),
    );
    expect(lines.join('\n').length).toBeLessThan(3_500);
  });
});

describe('the lines of "colloquy pending"', () => {
  it.each(WAITS)('end with a command that answers %s as it stands', (title, waits) => {
    const m = waits();
    const last = commandLinesOf(m).at(-1)?.trim() ?? '';
    if (title === 'an approval by a user of an odd name') {
      expect(last).toBe('Its audience names no person that a command could name.');
      return;
    }
    const [verb, ref, ...options] = wordsOf(last);
    expect([verb, ref]).toEqual(['resolve', m.pending[0]?.ref]);
    const { flags, as, roles, digest, claim } = optionsIn(options);
    const actor = actorOf(as === undefined ? undefined : { id: as, roles });
    const verdict = resolve(m.machine, {
      ...{ toolCallId: 'c', requestId: 'r', resolution: resolutionOf(flags), actor },
      ...(digest === undefined ? {} : { argsDigest: digest }),
      ...(claim === undefined ? {} : { claimId: claim }),
    });
    expect(verdict).toMatchObject({ verdict: 'accepted', toolCallId: 'c' });
  });

  it.each(HOSTILE)('are safe in a shell and on a terminal for a person named %j', (id) => {
    const last =
      commandLinesOf(gatedFor({ users: [id] }))
        .at(-1)
        ?.trim() ?? '';
    expect(last).not.toMatch(/\p{Cc}|\p{Cf}|\p{Zl}|\p{Zp}/u);
    if (last.startsWith('colloquy ')) expect(optionOf(wordsOf(last), '--as')).toBe(id);
    else expect(last).toMatch(/^Its audience names no person/);
  });
});

/** The options as the command line reads them. */
function optionsIn(words: readonly string[]) {
  const values = (name: string): string[] =>
    words.flatMap((word, at) => (word === `--${name}` ? [words[at + 1] ?? ''] : []));
  const [as] = values('as');
  const [digest] = values('digest');
  const [claim] = values('claim');
  const names = ['answer', 'result', 'resolution'] as const;
  const given = names.flatMap((name) => values(name).map((value) => [name, value]));
  const flags: AnswerFlags = {
    ...(words.includes('--approve') ? { approve: true } : {}),
    ...(Object.fromEntries(given) as AnswerFlags),
  };
  return { flags, as, roles: values('role'), digest, claim };
}
