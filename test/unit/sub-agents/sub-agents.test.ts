/** Calls that another agent runs, in conversations of their own, on the real core. */
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { ModelRequest } from '../../../src/protocol/model/model.js';
import { calls, callsAll, fails, responds, says, script } from '../../../src/testing/index.js';
import { promise } from '../../support/promise.js';
import { lead, research } from './agents.js';

describe('a call of an awaited sub-agent', () => {
  it(
    'runs in a conversation of its own, whose answer is the result',
    promise('G310', 'A9'),
    async () => {
      const tool = research(script(says('42')));
      expect(tool.executor).toBe('external');
      const t = lead([tool], script(calls('research', { task: 'find it' }), says('It is 42.')));
      await t.send('go');
      expect(t.eventsOf('tool_call')).toMatchObject([
        { call: { name: 'research', executor: 'external' } },
      ]);
      expect(t.text).toBe('It is 42.');
      expect(t.result('research')).toEqual({ ok: true, result: '42' });
      const child = t.child('researcher');
      expect(child.eventsOf('user_message')[0]?.parts).toEqual([{ type: 'text', text: 'find it' }]);
      expect(child.eventsOf('conversation_closed')[0]?.reason).toBe('child_done');
      expect(t.eventsOf('child_changed').map(({ status }) => status)).toEqual([
        'starting',
        'started',
        'ended',
      ]);
      t.expectNothingOpen();
    },
  );

  it(
    'waits while the sub-agent waits for a person, who answers there',
    promise('G310'),
    async () => {
      const t = lead(
        [research(script(calls('files.remove', { path: 'a' }), says('removed')))],
        script(calls('research', { task: 'x' }), says('done')),
      );
      await t.send('go');
      expect(t.pending).toEqual([]);
      expect(t.snapshot.status).toBe('executing_tools');
      const child = t.child('researcher');
      expect(child.pending).toHaveLength(1);
      t.rollOver();
      await t.advance('3 days');
      await child.approve('files.remove', { input: { path: 'b' } });
      expect(t.text).toBe('done');
      expect(child.result('files.remove')).toMatchObject({ result: { removed: 'b' } });
    },
  );

  it('leaves the log and the messages of its caller unchanged while it waits, is answered and sent to', async () => {
    const requests: ModelRequest[] = [];
    const model = script(
      calls('files.remove', { path: 'a' }),
      says('waits for you'),
      says('removed'),
    );
    const t = lead(
      [research(model)],
      script(
        calls('research', { task: 'x' }),
        responds((request) => {
          requests.push(request);
          return says('done');
        }),
      ),
    );
    await t.send('go');
    const child = t.child('researcher');
    const before = structuredClone(t.events);
    expect(before.at(-1)).toMatchObject({ type: 'child_changed', status: 'started' });
    expect(child.pending).toHaveLength(1);
    await child.send('Stop. First tell me why.');
    expect(child.eventsOf('user_message')).toHaveLength(2);
    expect(t.events).toEqual(before);
    await child.approve('files.remove', { input: { path: 'b' } });
    expect(t.events.slice(0, before.length)).toEqual(before);
    const [request] = requests;
    expect(request?.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool']);
    expect(JSON.stringify(request?.messages)).not.toMatch(/files\.remove|Stop\. First/);
  });

  it('cannot be answered from outside', promise('G311'), async () => {
    const t = lead(
      [research(script(calls('files.remove', { path: 'a' }), says('removed')))],
      script(calls('research', { task: 'x' }), says('done')),
    );
    await t.send('go');
    const id = t.calls('research')[0]?.toolCallId ?? '';
    expect(await t.resolve(id, { type: 'result', value: 'mine' })).toMatchObject({
      verdict: 'forbidden',
    });
    expect(t.claim(id)).toMatchObject({ verdict: 'forbidden' });
    expect(t.text).toBe('');
  });

  it(
    'two at once are answered in either order, and the turn goes on after the last',
    promise('G310'),
    async () => {
      const model = () => script(calls('files.remove', { path: 'a' }), says('removed'));
      const [one, two] = [
        research(model(), { name: 'one' }, { name: 'first' }),
        research(model(), { name: 'two' }, { name: 'second' }),
      ];
      const t = lead(
        [one, two],
        script(
          callsAll([
            { name: 'one', input: { task: '1' } },
            { name: 'two', input: { task: '2' } },
          ]),
          says('both'),
        ),
      );
      await t.send('go');
      await t.child('second').deny('files.remove', 'no');
      expect(t.text).toBe('');
      expect(t.child('first').pending).toHaveLength(1);
      await t.advance('2 days');
      await t.child('first').approve('files.remove');
      expect(t.text).toBe('both');
      expect(t.child('first').eventsOf('tool_call')).toHaveLength(1);
    },
  );

  it(
    'is a failure, a cancel or an expiry where the sub-agent has no answer',
    promise('G312', 'G313'),
    async () => {
      const failing = lead(
        [research(script(fails('model_bad_request')))],
        script(calls('research', { task: 'x' }), says('so be it')),
      );
      await failing.send('go');
      expect(failing.result('research')).toMatchObject({
        ok: false,
        error: { code: 'external_error' },
      });
      expect(failing.text).toBe('so be it');

      const waiting = () => script(calls('files.remove', { path: 'a' }), says('removed'));
      const stopped = lead(
        [research(waiting())],
        script(calls('research', { task: 'x' }), says('ok')),
      );
      await stopped.send('go');
      await stopped.child('researcher').cancel();
      await stopped.settle();
      expect(stopped.result('research')).toMatchObject({ ok: false, error: { code: 'cancelled' } });

      const expired = lead(
        [research(waiting(), { timeout: '1 hour' })],
        script(calls('research', { task: 'x' }), says('too late')),
      );
      await expired.send('go');
      await expired.advance('2 hours');
      expect(expired.result('research')).toMatchObject({ ok: false, error: { code: 'expired' } });
      expect(expired.child('researcher').snapshot.status).toBe('closed');
      expect(expired.snapshot).not.toHaveProperty('children');
    },
  );

  it('is stopped with the turn, and its spending counts', promise('G312'), async () => {
    const t = lead(
      [research(script(calls('files.remove', { path: 'a' }), says('removed')))],
      script(calls('research', { task: 'x' }), says('done')),
    );
    await t.send('go');
    const spent = t.child('researcher').snapshot.usage.inputTokens;
    const before = t.snapshot.usage.inputTokens;
    await t.cancel();
    expect(t.child('researcher').snapshot.status).toBe('closed');
    expect(t.snapshot.usage.inputTokens).toBe(before + spent);
    expect(t.eventsOf('child_changed').at(-1)).toMatchObject({
      status: 'ended',
      end: { status: 'cancelled' },
    });
  });
});

describe('a call of a detached sub-agent', () => {
  it('is pending for the model, and its answer is new input', promise('G310'), async () => {
    const t = lead(
      [research(script(calls('files.remove', { path: 'a' }), says('removed')), { mode: 'detach' })],
      script(calls('research', { task: 'x' }), says('started'), says('it says removed')),
    );
    await t.send('go');
    expect(t.text).toBe('started');
    expect(t.snapshot.status).toBe('idle');
    t.rollOver();
    await t.advance('2 days');
    await t.child('researcher').approve('files.remove');
    expect(t.text).toBe('it says removed');
    expect(t.eventsOf('inbox_event')[0]).toMatchObject({
      name: 'research',
      result: { envelope: { ok: true, result: 'removed' } },
    });
    t.expectNothingOpen();
  });

  it(
    'goes on after a cancel of the turn, and is closed with its parent',
    promise('G312'),
    async () => {
      const t = lead(
        [
          research(script(calls('files.remove', { path: 'a' }), says('removed')), {
            mode: 'detach',
          }),
        ],
        script(calls('research', { task: 'x' }), says('started')),
      );
      await t.send('go');
      await t.cancel();
      expect(t.child('researcher').pending).toHaveLength(1);
      t.close();
      await t.settle();
      expect(t.child('researcher').eventsOf('conversation_closed')[0]?.reason).toBe('requested');
    },
  );

  it('outlives its parent where its tool says so', promise('G312'), async () => {
    const t = lead(
      [
        research(script(calls('files.remove', { path: 'a' }), says('removed')), {
          mode: 'detach',
          whenParentCloses: 'continue',
        }),
      ],
      script(calls('research', { task: 'x' }), says('started')),
    );
    await t.send('go');
    t.close();
    await t.settle();
    const child = t.child('researcher');
    expect(child.pending).toHaveLength(1);
    await child.approve('files.remove');
    expect(child.text).toBe('removed');
    expect(t.snapshot.status).toBe('closed');
  });
});

describe('a sub-agent', () => {
  it(
    'three levels deep is answered at the bottom, and each level goes on',
    promise('G316'),
    async () => {
      const t = threeLevels();
      await t.send('go');
      const last = t.child('middle').child('bottom');
      expect(last.eventsOf('conversation_started')[0]?.parent).toMatchObject({
        root: 'test',
        path: [{ conversationId: 'test', name: 'middle' }, { name: 'bottom' }],
      });
      await last.approve('files.remove');
      expect(t.text).toBe('all done');
      expect(t.result('middle')).toMatchObject({ result: 'bottom says gone' });
    },
  );

  it.each([
    ['cancel of the turn', (t: Lead) => t.cancel()],
    [
      'close',
      async (t: Lead) => {
        t.close();
        await t.settle();
      },
    ],
  ])('three levels deep is stopped by a %s at the top', promise('G312'), async (_, stop) => {
    const t = threeLevels();
    await t.send('go');
    const middle = t.child('middle');
    const bottom = middle.child('bottom');
    expect(bottom.pending).toHaveLength(1);
    await stop(t);
    for (const each of [middle, bottom]) {
      expect(each.snapshot.status).toBe('closed');
      expect(each.pending).toEqual([]);
    }
    expect(bottom.result('files.remove')).toMatchObject({
      ok: false,
      error: { code: 'cancelled' },
    });
  });

  it('outlives the close of the conversation above its parent only where both tools say so', async () => {
    for (const [above, isOpen] of [
      ['continue', true],
      ['close', false],
    ] as const) {
      const t = threeLevels({ mode: 'detach', whenParentCloses: above });
      await t.send('go');
      const bottom = t.child('middle').child('bottom');
      t.close();
      await t.settle();
      expect([above, bottom.pending.length]).toEqual([above, isOpen ? 1 : 0]);
    }
  });

  it('answers in the form of its tool, to a message that the tool makes', async () => {
    const t = lead(
      [
        research(script(says('{"total":3}')), {
          input: z.object({ names: z.array(z.string()) }),
          message: ((input: { names: string[] }) => `Count ${input.names.join()}`) as never,
          output: z.object({ total: z.number() }),
        }),
      ],
      script(calls('research', { names: ['a', 'b'] }), says('three')),
    );
    await t.send('go');
    expect(t.result('research')).toEqual({ ok: true, result: { total: 3 } });
    expect(t.child('researcher').eventsOf('user_message')[0]?.parts).toEqual([
      { type: 'text', text: 'Count a,b' },
    ]);
  });

  it('whose message cannot be made is an error of the call', promise('G313'), async () => {
    const broken = () => {
      throw new Error('no text');
    };
    const t = lead(
      [research(script(says('x')), { message: broken })],
      script(calls('research', { task: 'x' }), says('ok')),
    );
    await t.send('go');
    expect(t.result('research')).toMatchObject({ ok: false, error: { code: 'tool_error' } });
    expect(t.children).toEqual([]);
  });
});

/** A conversation whose sub-agent has a sub-agent that waits for an approval. `more`: of both tools. */
function threeLevels(more: object = {}) {
  const bottom = research(
    script(calls('files.remove', { path: 'a' }), says('gone')),
    { name: 'bottom', ...more },
    { name: 'bottom' },
  );
  const middle = research(
    script(calls('bottom', { task: 'b' }), says('bottom says gone')),
    { name: 'middle', ...more },
    { name: 'middle', tools: [bottom] },
  );
  return lead([middle], script(calls('middle', { task: 'm' }), says('all done')));
}

type Lead = ReturnType<typeof threeLevels>;
