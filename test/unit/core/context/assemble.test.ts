/** The context of a model call in a long conversation (2.A.5, S44, N28). */
import { describe, expect, it } from 'vitest';
import { type AssembledContext, assembleContext } from '../../../../src/core/context/assemble.js';
import type { Retention } from '../../../../src/protocol/conversation/context.js';
import type { Message, UserMessage } from '../../../../src/protocol/conversation/messages.js';
import { promise } from '../../../support/promise.js';
import {
  bytesOf,
  contextParts,
  markOf,
  transcript,
} from '../../../support/samples/context-parts.js';

const looksUp = (chars: number) => ({ steps: [['lookup', chars] as const] });
const turnsOf = (messages: readonly Message[]): readonly string[] => [
  ...new Set(messages.map(({ turnId }) => turnId)),
];
const stubbed = ({ messages }: AssembledContext): readonly string[] =>
  messages.flatMap((message) =>
    message.role !== 'tool'
      ? []
      : message.parts.flatMap(({ toolCallId, envelope }) =>
          envelope.ok && envelope.result === '[result expired]' ? [toolCallId] : [],
        ),
  );

describe('within its budget', () => {
  it('the model gets the conversation as it is', () => {
    const messages = transcript([looksUp(100), looksUp(100), { open: true }]);
    const given = assembleContext(contextParts(messages));
    expect(given.messages).toEqual(messages);
    expect(given).toMatchObject({ tooLong: false });
    expect(given.context).toEqual({
      tokens: bytesOf(messages),
      budget: 1_000_000,
      messages: 9,
    });
  });

  it('messages injected for one call stand at the very end', () => {
    const messages = transcript([{}, { open: true }]);
    const injected: UserMessage = { role: 'user', id: 'i', turnId: 't2', parts: [] };
    const given = assembleContext(contextParts(messages, { injections: [injected] }));
    // The next call begins with the messages before the injected ones.
    expect(given.stable).toBe(messages.length);
    expect(given.messages).toEqual([...messages, injected]);
    expect(given.context).toMatchObject({
      messages: messages.length,
      tokens: bytesOf(given.messages),
    });
  });

  it('results are stubs at once where their own tool says so', promise('A19', 'S44'), () => {
    const steps = ['mine', 'lookup'].map((name) => [name, 100] as const);
    const messages = transcript([{ steps }, { steps }, { open: true }]);
    const of = (retention: Retention): readonly string[] =>
      stubbed(
        assembleContext(
          contextParts(messages, {
            policy: {
              budget: 1_000_000,
              retentionOf: () => retention,
              atOnce: (name) => name === 'mine',
            },
          }),
        ),
      );
    expect(of({ turns: 1 })).toEqual(['t1.1', 't2.1']);
    expect(of({ turns: 2 })).toEqual(['t1.1']);
    expect(of({ last: 1 })).toEqual(['t1.1']);
    expect(of('never_evict')).toEqual([]);
  });

  it('a window shows the newest turns only', () => {
    const messages = transcript([{}, {}, {}, { open: true }]);
    const policy = { budget: 1_000_000, window: 2, retentionOf: () => 'never_evict' as const };
    const given = assembleContext(contextParts(messages, { policy }));
    expect(turnsOf(given.messages)).toEqual(['t3', 't4']);
    expect(given.context).toMatchObject({ droppedTurns: 2 });
    expect(given.context).not.toHaveProperty('summaryDue');
  });
});

describe('near its budget', () => {
  const eight = transcript([...Array.from({ length: 8 }, () => looksUp(400)), { open: true }]);
  const given = (retention: Retention | ((name: string) => Retention)): AssembledContext =>
    assembleContext(
      contextParts(eight, {
        policy: {
          budget: Math.ceil(bytesOf(eight) / 0.8),
          retentionOf: typeof retention === 'function' ? retention : () => retention,
        },
      }),
    );

  const cases: readonly [title: string, retention: Retention, stubs: readonly string[]][] = [
    ['older than six turns', { turns: 6 }, ['t1.1', 't2.1', 't3.1']],
    ['of any turn but this', { turns: 1 }, [1, 2, 3, 4, 5, 6, 7, 8].map((turn) => `t${turn}.1`)],
    ['that are not the last three', { last: 3 }, ['t1.1', 't2.1', 't3.1', 't4.1', 't5.1']],
    ['of a tool that never evicts', 'never_evict', []],
  ];
  it.each(cases)(
    'results %s are stubs or not, and every call keeps its one result (S44)',
    promise('S44', 'A19', '2.A.5', 'N28'),
    (...of) => {
      const [, retention, stubs] = of;
      const view = given(retention);
      expect(stubbed(view)).toEqual(stubs);
      expect(view.messages.map(({ id }) => id)).toEqual(eight.map(({ id }) => id));
      expect(view.context.evictedResults ?? 0).toBe(stubs.length);
    },
  );

  it('each tool has a retention of its own', promise('A19', '2.A.5'), () => {
    const mixed = transcript([
      {
        steps: [
          ['keep', 900],
          ['lookup', 900],
        ],
      },
      {
        steps: [
          ['keep', 900],
          ['lookup', 900],
        ],
      },
      { open: true },
    ]);
    const retentionOf = (name: string): Retention =>
      name === 'keep' ? 'never_evict' : { turns: 1 };
    const view = assembleContext(
      contextParts(mixed, { policy: { budget: bytesOf(mixed) + 10, retentionOf } }),
    );
    expect(stubbed(view)).toEqual(['t1.2', 't2.2']);
    expect(view.context).toMatchObject({ compacted: 'share', evictedResults: 2 });
  });

  it('a failure stays a failure, and a result shorter than a stub stays as it is', () => {
    const messages = structuredClone(eight) as Message[];
    for (const message of messages) {
      if (message.role !== 'tool') continue;
      const [part] = message.parts as unknown as { envelope: unknown; toolCallId: string }[];
      if (part?.toolCallId === 't1.1')
        part.envelope = { ok: false, error: { code: 'tool_error', message: 'z'.repeat(400) } };
      if (part?.toolCallId === 't2.1') part.envelope = { ok: true, result: 1 };
    }
    const budget = Math.ceil(bytesOf(messages) / 0.8);
    const policy = { budget, retentionOf: () => ({ turns: 1 }) };
    const view = assembleContext(contextParts(messages, { policy }));
    const results = view.messages.flatMap((message) =>
      message.role === 'tool' ? message.parts.map(({ envelope }) => envelope) : [],
    );
    expect(results.slice(0, 3)).toEqual([
      { ok: false, error: { code: 'tool_error', message: '[result expired]' } },
      { ok: true, result: 1 },
      { ok: true, result: '[result expired]' },
    ]);
  });

  it('stubs are made in one leap and stay: the calls after it begin with the same bytes', {
    ...promise('2.A.5', '2.H.2'),
  }, () => {
    const first = given({ turns: 6 });
    const next = [...eight, ...transcript([{ steps: [['lookup', 10]] }]).slice(1, 3)];
    const budget = first.context.budget * 2;
    const again = assembleContext(
      contextParts(next, {
        policy: { budget, retentionOf: () => ({ turns: 6 }) },
        mark: markOf(first.context),
      }),
    );
    expect(JSON.stringify(again.messages.slice(0, first.messages.length))).toBe(
      JSON.stringify(first.messages),
    );
    expect(again.context).not.toHaveProperty('compacted');
    expect(first.context).toMatchObject({ compacted: 'share', evictedAsOf: 't9.u' });
  });

  it('a few bytes do not justify a leap', () => {
    const messages = transcript([looksUp(60), { says: 4_000 }, { says: 4_000, open: true }]);
    const policy = { budget: bytesOf(messages) + 500, retentionOf: () => ({ turns: 1 }) };
    const view = assembleContext(contextParts(messages, { policy }));
    expect(view.messages).toEqual(messages);
    expect(view.context).toMatchObject({ summaryDue: true });
  });
});

describe('over its budget', () => {
  const ten = transcript([...Array.from({ length: 9 }, () => ({ says: 1_000 })), { open: true }]);

  it('the oldest turns are omitted whole, down to half, and the log says so', {
    ...promise('2.A.5', '2.H.2'),
  }, () => {
    const budget = bytesOf(ten) - 1;
    const view = assembleContext(contextParts(ten, { budget }));
    expect(turnsOf(view.messages)).toEqual(['t6', 't7', 't8', 't9', 't10']);
    expect(view.context).toEqual({
      tokens: bytesOf(view.messages),
      budget,
      messages: view.messages.length,
      droppedTurns: 5,
      compacted: 'budget',
      fromTurnId: 't6',
      summaryDue: true,
    });
  });

  it('the calls after that begin at the same turn, until the budget is full again', () => {
    const budget = bytesOf(ten) - 1;
    const first = assembleContext(contextParts(ten, { budget }));
    const next = transcript([
      ...Array.from({ length: 10 }, () => ({ says: 1_000 })),
      { open: true },
    ]);
    const view = assembleContext(contextParts(next, { budget, mark: markOf(first.context) }));
    expect(turnsOf(view.messages)).toEqual(['t6', 't7', 't8', 't9', 't10', 't11']);
    expect(view.context).not.toHaveProperty('compacted');
  });

  it('a turn that is too large alone is reported', () => {
    const messages = transcript([{ says: 10 }, { says: 5_000, open: true }]);
    const view = assembleContext(contextParts(messages, { budget: 1_000 }));
    expect(turnsOf(view.messages)).toEqual(['t2']);
    expect(view).toMatchObject({ tooLong: true });
  });

  it('the summary of the omitted turns always stays, before everything else', () => {
    const summary: UserMessage = {
      role: 'user',
      id: 'summary_1',
      turnId: 't0',
      parts: [{ type: 'text', text: 'Before, they met.' }],
      summary: 1,
    };
    const messages = [summary, ...ten];
    const view = assembleContext(contextParts(messages, { budget: bytesOf(ten) / 3 }));
    expect(view.messages[0]).toEqual(summary);
    expect(view.messages.at(-1)).toEqual(ten.at(-1));
    expect(view.context).toMatchObject({ summary: 1, compacted: 'budget' });
  });

  it('turns dropped for the budget are to be summarised, even when the budget has space again', () => {
    const mark = { tokens: 100, inputTokens: 100, fromTurnId: 't6' };
    const view = assembleContext(contextParts(ten, { mark }));
    expect(view.context).toMatchObject({ summaryDue: true, droppedTurns: 5 });
    const forgotten = assembleContext(contextParts(ten.slice(12), { mark }));
    expect(forgotten.context).not.toHaveProperty('droppedTurns');
    expect(forgotten.context).not.toHaveProperty('summaryDue');
  });
});

describe("a provider's report", () => {
  it('of tokens corrects the count: the budget is in its tokens', () => {
    const messages = transcript([{ says: 500 }, { says: 500 }, { open: true }]);
    const tokens = bytesOf(messages);
    const mark = { tokens: 1_000, inputTokens: 1_500 };
    const view = assembleContext(contextParts(messages, { mark }));
    expect(view.context).toMatchObject({ tokens: Math.ceil(tokens * 1.5), scale: 1.5 });
    const nonsense = assembleContext(contextParts(messages, { mark: { ...mark, inputTokens: 3 } }));
    expect(nonsense.context).toMatchObject({ tokens });
    const rough = assembleContext(contextParts(messages, { mark: { ...mark, rough: true } }));
    expect(rough.context).toMatchObject({ tokens });
  });

  it('of a context that is too long halves the next one, at any budget', () => {
    const messages = transcript([
      ...Array.from({ length: 9 }, () => ({ says: 1_000 })),
      { open: true },
    ]);
    const refusedAt = bytesOf(messages);
    const view = assembleContext(contextParts(messages, { refusedAt }));
    expect(view.context.tokens).toBeLessThanOrEqual(refusedAt / 2);
    expect(view.context).toMatchObject({ compacted: 'too_long', summaryDue: true });
    expect(view.messages.at(-1)).toEqual(messages.at(-1));
  });
});
