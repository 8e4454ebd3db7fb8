/** The parts of a page's view: streamed texts, states of calls, who a call waits for. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ViewModel } from '../../../src/browser/view/model.js';
import { EMPTY, extendTranscript } from '../../../src/browser/view/transcript.js';
import type { AssistantMessageView, CallView, Me } from '../../../src/browser/view/types.js';
import type { ToolResult } from '../../../src/protocol/calls/results.js';
import type { EventBody } from '../../../src/protocol/log/events.js';
import type { LiveEvent } from '../../../src/protocol/log/live-events.js';
import { promise } from '../../support/promise.js';
import { textDelta } from '../../support/samples/live-messages.js';
import { answers, asks, stamped, started, suspends } from '../../support/samples/log-events.js';

const USER = { id: 'ann', verified: true, channel: 'api' } as const;

class Page {
  readonly model: ViewModel;
  #seq = 0;

  constructor(me?: Me) {
    this.model = new ViewModel('c1', me);
  }

  log(...bodies: readonly EventBody[]): this {
    const events = stamped(bodies, { from: this.#seq + 1 });
    this.#seq += events.length;
    this.model.takeEvents(
      events.map((event) => ({ cursor: { generation: 1, seq: event.seq }, event })),
    );
    return this;
  }

  live(...events: readonly LiveEvent[]): this {
    for (const event of events) this.model.takeLive(event);
    return this;
  }

  get answers(): readonly AssistantMessageView[] {
    return this.model.view.messages.filter((message) => message.role === 'assistant');
  }

  get call(): CallView | undefined {
    return this.answers.at(-1)?.calls[0];
  }
}

it('the refusal of a cancel is not that of a message with the same request id', () => {
  const refused = { type: 'message_refused', requestId: 'r', actor: USER } as const;
  const ofCancel = { ...refused, request: 'cancel', code: 'invalid_request' } as const;
  const read = (...bodies: readonly EventBody[]) =>
    extendTranscript(EMPTY, stamped(bodies)).refused;
  expect(read(ofCancel).get('r')).toBeUndefined();
  expect(read({ ...refused, code: 'busy' }, ofCancel).get('r')).toBe('busy');
});

const text = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 40 });

describe('streamed text', () => {
  it(
    'grows to the text of the message, over lost connections that repeat it (property)',
    promise('G354'),
    () => {
      const cuts = fc.array(fc.tuple(fc.nat(40), fc.boolean()), { maxLength: 12 });
      fc.assert(
        fc.property(text, cuts, (whole, pieces) => {
          const page = new Page().log(started(), ...asks('t1'));
          let end = 0;
          const shown = (): string => page.answers.at(-1)?.text ?? '';
          for (const [length, repeats] of [...pieces, [whole.length, true] as const]) {
            const offset = repeats ? 0 : Math.max(0, end - 3);
            const until = Math.min(whole.length, end + length);
            if (until > offset) page.live(textDelta(whole.slice(offset, until), { offset }));
            end = Math.max(end, until);
            expect(shown()).toBe(whole.slice(0, end));
          }
          expect(page.answers).toMatchObject([{ text: whole, isStreaming: true, isWhole: true }]);
          page.log(...answers('t1', whole)).live(textDelta('late', { offset: whole.length }));
          expect(page.answers).toMatchObject([{ text: whole, isStreaming: false }]);
        }),
      );
    },
  );

  it('is replaced by a later attempt, and says that it has a gap or has failed', () => {
    const page = new Page().log(started(), ...asks('t1')).live(textDelta('one'));
    const of = { turnId: 't1', step: 1, attempt: 1, messageId: 't1.1' } as const;
    page.live({
      type: 'model_call_failed',
      ...of,
      code: 'model_overloaded',
      message: 'busy',
      nextInMs: 500,
    });
    expect(page.answers).toMatchObject([
      { text: 'one', failure: { code: 'model_overloaded', nextInMs: 500 } },
    ]);
    page.live(textDelta('two', { attempt: 2, offset: 4 }));
    expect(page.answers).toMatchObject([{ text: 'two', isWhole: false }]);
    page.live(
      { type: 'reasoning_delta', ...of, attempt: 2, offset: 0, text: 'Hm' },
      {
        type: 'tool_arguments_delta',
        ...of,
        attempt: 2,
        index: 0,
        name: 'pay',
        offset: 0,
        text: '{"a',
      },
    );
    expect(page.answers).toMatchObject([
      { reasoning: 'Hm', calls: [{ name: 'pay', state: 'writing', argumentsJson: '{"a' }] },
    ]);
  });
});

const OF = { turnId: 't1', toolCallId: 'a' } as const;

function called(more: object = {}): readonly EventBody[] {
  return [
    {
      ...{ type: 'assistant_message', turnId: 't1', step: 1, messageId: 't1.1' },
      parts: [{ type: 'tool_call', toolCallId: 'a', name: 'pay', argumentsJson: '{}' }],
    },
    {
      ...{ type: 'tool_call', turnId: 't1', step: 1 },
      call: {
        ...{ toolCallId: 'a', name: 'pay', executor: 'server', mode: 'await', input: {} },
        ...{ approval: { needed: false }, effects: 'none', maxAttempts: 1, lateResult: 'inbox' },
        timeouts: { approvalMs: 1, answerMs: 1, runMs: 1 },
        ...more,
      },
    },
  ] as readonly EventBody[];
}

const resultOf = (status: ToolResult['status'], ok: boolean): EventBody => ({
  ...{ type: 'tool_result', ...OF, name: 'pay' },
  result: {
    status,
    envelope: ok ? { ok, result: 1 } : { ok, error: { code: 'tool_error', message: 'no' } },
    provenance: 'trusted',
  },
});
const waits = (more: object = {}): EventBody => suspends('t1', 'a', { name: 'pay', ...more });
const gated = called({ approval: { needed: true } });
const client = called({ executor: 'client' });
const resolves = (kind: 'approval' | 'elicitation', type: 'approve' | 'decline'): EventBody => ({
  ...{ type: 'resolution', ...OF, kind, resolution: { type }, requestId: 'r', actor: USER },
});
const claims = {
  type: 'claimed',
  ...OF,
  claimId: 'x',
  leaseMs: 9,
  requestId: 'r',
  actor: USER,
} as const;
const ends = { type: 'turn_ended', turnId: 't1', status: 'cancelled', text: '', steps: 1 } as const;
const usage = { inputTokens: 0, outputTokens: 0 };

describe('a call', () => {
  it.each<[string, string, readonly EventBody[]]>([
    [
      'is queued before anything is decided',
      'queued',
      called({ unplanned: { argumentsJson: '{}' } }),
    ],
    ['runs', 'running', called()],
    ['waits for an approval', 'waiting_for_you', [...gated, waits({ kind: 'approval' })]],
    [
      'runs once it is approved',
      'running',
      [...gated, waits({ kind: 'approval' }), resolves('approval', 'approve')],
    ],
    ['waits for a page', 'waiting_for_you', [...client, waits({ kind: 'client_execution' })]],
    [
      'runs where it is claimed',
      'running',
      [...client, waits({ kind: 'client_execution' }), claims],
    ],
    [
      'waits for a backend',
      'waiting_for_others',
      [...client, waits({ kind: 'external_execution' })],
    ],
    ['waits for an operator', 'waiting_for_others', [...called(), waits({ kind: 'outcome' })]],
    [
      'runs while an answer is checked',
      'running',
      [
        ...called({ executor: 'human' }),
        waits({ kind: 'elicitation' }),
        resolves('elicitation', 'decline'),
      ],
    ],
    ['is done', 'done', [...called(), resultOf('resolved', true)]],
    ['has failed', 'failed', [...called(), resultOf('errored', false)]],
    ['was denied', 'denied', [...gated, resultOf('denied', false)]],
    ['has expired', 'expired', [...gated, resultOf('expired', false)]],
    ['was cancelled', 'cancelled', [...called(), resultOf('cancelled', false)]],
    ['is over with its turn', 'cancelled', [...called(), { ...ends, usage }]],
    [
      'works in the background',
      'running',
      [...called({ mode: 'detach' }), resultOf('detached', true), { ...ends, usage }],
    ],
  ])('%s', (_what, state, events) => {
    const page = new Page().log(started(), ...asks('t1'), ...events);
    expect(page.call).toMatchObject({ toolCallId: 'a', name: 'pay', state });
    expect(page.call?.result === undefined).toBe(
      !events.some(({ type }) => type === 'tool_result') || state === 'running',
    );
  });

  it('names who decided it, until a check takes the decision back', () => {
    const page = new Page().log(
      started(),
      ...asks('t1'),
      ...gated,
      waits({ kind: 'approval' }),
      resolves('approval', 'approve'),
    );
    expect(page.call?.decided).toMatchObject({ type: 'approve', by: USER });
    page.log({
      ...{ type: 'resolution_reverted', ...OF, requestId: 'r1', problems: [] },
    });
    expect(page.call).not.toHaveProperty('decided');
  });

  it('says of its result whether it can be trusted', () => {
    const page = new Page().log(started(), ...asks('t1'), ...called());
    expect(page.call).not.toHaveProperty('provenance');
    page.log(resultOf('resolved', true));
    expect(page.call).toMatchObject({ provenance: 'trusted' });
  });

  it('has a result that comes late in place of its end', () => {
    const page = new Page().log(started(), ...asks('t1'), ...gated, resultOf('expired', false));
    page.log({
      ...{
        type: 'inbox_event',
        eventId: 'tr:a',
        kind: 'tool_result',
        toolCallId: 'a',
        name: 'pay',
        actor: USER,
      },
      result: { status: 'resolved', envelope: { ok: true, result: 2 }, provenance: 'untrusted' },
    });
    expect(page.call).toMatchObject({ state: 'done', result: { ok: true, result: 2 } });
    expect(page.model.view.messages).toHaveLength(2);
  });

  it('shows its newest progress until it has ended', () => {
    const page = new Page().log(started(), ...asks('t1'), ...called());
    const progress = (payload: number) =>
      ({ type: 'tool_progress', ...OF, name: 'pay', payload }) as const;
    page.live(progress(1), progress(2));
    expect(page.call).toMatchObject({ progress: 2 });
    page.log(resultOf('resolved', true)).live(progress(3));
    expect(page.call).not.toHaveProperty('progress');
  });

  it.each<[string, Me | undefined, object | undefined, string]>([
    ['everyone', undefined, undefined, 'you'],
    ['a role that the user has', { id: 'ann', roles: ['lead'] }, { roles: ['lead'] }, 'you'],
    ['another role', { id: 'ann' }, { roles: ['lead'] }, 'others'],
    ['some role, where the page does not know its user', undefined, { roles: ['lead'] }, 'others'],
    [
      'anyone but its requester, who the user is',
      { id: 'system' },
      { exclude: ['requester'] },
      'others',
    ],
    ['anyone but its requester, who is another', { id: 'ann' }, { exclude: ['requester'] }, 'you'],
  ])('that is for %s waits for ... %#', (_whom, me, audience, whom) => {
    const more = audience === undefined ? {} : { audience };
    const page = new Page(me).log(
      started(),
      ...asks('t1'),
      ...gated,
      waits({ kind: 'approval', ...more }),
    );
    expect(page.call?.state).toBe(`waiting_for_${whom}`);
    expect(page.model.view.pending).toMatchObject([
      { toolCallId: 'a', state: `waiting_for_${whom}` },
    ]);
    expect(page.call?.pending).toBe(page.model.view.pending[0]);
  });

  it('has the answers that were refused after their requests', () => {
    const page = new Page().log(started(), ...asks('t1'), ...gated, waits());
    expect(page.model.view.pending[0]).not.toHaveProperty('refused');
    const verdict = { verdict: 'forbidden', reason: 'not yours' } as const;
    const refused = { type: 'resolution_refused', toolCallId: 'a', actor: USER } as const;
    const detail = JSON.stringify(verdict);
    page.log(
      { ...refused, verdict: 'forbidden', requestId: 'r1', detail },
      { ...refused, verdict: 'invalid', requestId: 'r2', detail: '{"verdict":"invalid","prob' },
    );
    const { pending } = page.model.view;
    expect(pending[0]?.refused).toMatchObject([
      { requestId: 'r1', verdict },
      { requestId: 'r2', verdict: { verdict: 'invalid', problems: [{ path: '' }] } },
    ]);
    page.log(...asks('t2'));
    expect(page.model.view.pending).toBe(pending);
  });

  it('that asks for an answer has the form of it', () => {
    const answerSchema = {
      type: 'object',
      properties: { day: { type: 'string', format: 'date' } },
    };
    const page = new Page().log(
      started(),
      ...asks('t1'),
      waits({ kind: 'elicitation', answerSchema }),
    );
    expect(page.model.view.pending[0]?.form).toMatchObject({
      fields: [{ name: 'day', type: 'date' }],
    });
  });
});

describe('events and turns', () => {
  it('are shown: input of other systems, the end of the last turn, the sum of what was used', () => {
    const page = new Page().log(
      started(),
      { type: 'inbox_event', eventId: 'e1', kind: 'paid', payload: { amount: 3 }, actor: USER },
      ...asks('t1'),
      { ...ends, status: 'failed', error: { code: 'internal', message: 'down' }, usage },
      ...asks('t2'),
      ...answers('t2'),
    );
    expect(page.model.view).toMatchObject({
      messages: [{ role: 'event', kind: 'paid', payload: { amount: 3 } }, {}, {}, { text: 'hi' }],
      lastTurn: { turnId: 't2', status: 'completed' },
      usage: { inputTokens: 10, outputTokens: 5 },
    });
  });
});
