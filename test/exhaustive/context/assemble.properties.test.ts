/** Properties of every context that a model gets, for any conversation, budget and retention. */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type AssembledContext,
  assembleContext,
  type ContextPolicy,
} from '../../../src/core/context/assemble.js';
import { summaryOf } from '../../../src/core/context/turn-spans.js';
import type { ContextMark, Retention } from '../../../src/protocol/conversation/context.js';
import type { Message } from '../../../src/protocol/conversation/messages.js';
import { patient } from '../../support/patience.js';
import { promise } from '../../support/promise.js';
import { bytesOf, contextParts, markOf, transcript } from '../../support/samples/context-parts.js';

const RUNS = { numRuns: Number(process.env['FC_RUNS'] ?? 300) };
const TIMEOUT_MS = 60_000;
const size = fc.nat(800);
const shape = fc.record({
  says: size,
  steps: fc.array(fc.tuple(fc.constantFrom('a', 'b', 'c'), size), { maxLength: 4 }),
});
const retention: fc.Arbitrary<Retention> = fc.oneof(
  fc.record({ turns: fc.integer({ min: 1, max: 4 }) }),
  fc.record({ last: fc.integer({ min: 1, max: 4 }) }),
  fc.constant('never_evict' as const),
);
const policy: fc.Arbitrary<ContextPolicy> = fc
  .record({
    budget: fc.integer({ min: 500, max: 12_000 }),
    window: fc.option(fc.integer({ min: 1, max: 5 }), { nil: undefined }),
    tools: fc.tuple(retention, retention, retention),
  })
  .map(({ budget, window, tools: [a, b, c] }) => ({
    budget,
    ...(window === undefined ? {} : { window }),
    retentionOf: (name: string) => ({ a, b, c })[name] ?? 'never_evict',
  }));
const talk = fc.array(shape, { minLength: 1, maxLength: 12 });
/** Whether the provider counts less or more than the engine does. */
const factor = fc.double({ min: 0.6, max: 1.8, noNaN: true });

interface Call {
  readonly messages: readonly Message[];
  readonly given: AssembledContext;
  readonly mark: ContextMark | undefined;
}

/** The model calls of a conversation, one for each step, each with the report of the one before. */
function callsOf(whole: readonly Message[], rules: ContextPolicy, counts = 1): readonly Call[] {
  const calls: Call[] = [];
  let mark: ContextMark | undefined;
  for (let length = 1; length <= whole.length; length += 1) {
    const messages = whole.slice(0, length);
    if (messages.at(-1)?.role === 'assistant') continue;
    const given = assembleContext(contextParts(messages, { policy: rules, mark }));
    calls.push({ messages, given, mark });
    const { tokens } = given.context;
    mark = { ...markOf(given.context), inputTokens: Math.round(tokens * counts) };
  }
  return calls;
}

describe('any context', () => {
  it('pairs every call with exactly one result, in the order of the log, and omits turns whole', {
    ...promise('G171', 'N28'),
    timeout: patient(TIMEOUT_MS),
  }, () => {
    fc.assert(
      fc.property(talk, policy, (shapes, rules) => {
        for (const { messages, given } of callsOf(transcript(shapes), rules)) {
          const shown = given.messages.map(({ id }) => id);
          const from = messages.findIndex(({ id }) => id === shown[0]);
          expect(shown).toEqual(messages.slice(from).map(({ id }) => id));
          expect(messages[from - 1]?.turnId).not.toBe(messages[from]?.turnId);
          const asked = given.messages.flatMap((message) =>
            message.parts.flatMap((part) => (part.type === 'tool_call' ? [part.toolCallId] : [])),
          );
          const answered = given.messages.flatMap((message) =>
            message.parts.flatMap((part) => (part.type === 'tool_result' ? [part.toolCallId] : [])),
          );
          expect(answered).toEqual(asked);
        }
      }),
      RUNS,
    );
  });

  it('never exceeds its budget, unless the turn in progress alone does and it says so', {
    ...promise('G171'),
    timeout: patient(TIMEOUT_MS),
  }, () => {
    fc.assert(
      fc.property(talk, policy, factor, (shapes, rules, counts) => {
        for (const { given } of callsOf(transcript(shapes), rules, counts)) {
          const { tokens } = given.context;
          if (!given.tooLong) expect(tokens).toBeLessThanOrEqual(rules.budget);
          else expect(new Set(given.messages.map(({ turnId }) => turnId)).size).toBe(1);
        }
      }),
      RUNS,
    );
  });

  it('is a function of the log: the same input gives the same bytes, and the input is left as it was', {
    ...promise('G171'),
    timeout: patient(TIMEOUT_MS),
  }, () => {
    fc.assert(
      fc.property(talk, policy, factor, (shapes, rules, counts) => {
        const before = JSON.stringify(transcript(shapes));
        const whole = transcript(shapes);
        const once = callsOf(whole, rules, counts).map(({ given }) => given);
        const again = callsOf(transcript(shapes), rules, counts).map(({ given }) => given);
        expect(JSON.stringify(again)).toBe(JSON.stringify(once));
        expect(JSON.stringify(whole)).toBe(before);
      }),
      RUNS,
    );
  });

  it('begins with the bytes of the one before, except where it says that it was made smaller', {
    ...promise('G171'),
    timeout: patient(TIMEOUT_MS),
  }, () => {
    fc.assert(
      fc.property(talk, policy, (shapes, { window: _slides, ...rules }) => {
        const calls = callsOf(transcript(shapes), rules);
        for (const [index, { given }] of calls.entries()) {
          const before = calls[index - 1]?.given;
          if (before === undefined || given.context.compacted !== undefined) continue;
          const prefix = given.messages.slice(0, before.messages.length);
          expect(JSON.stringify(prefix)).toBe(JSON.stringify(before.messages));
        }
      }),
      RUNS,
    );
  });

  it(
    'shrinks in leaps: no two calls in a row omit more turns, unless the input between them would fill half the budget',
    () => {
      fc.assert(
        fc.property(talk, policy, (shapes, { window: _slides, ...rules }) => {
          const calls = callsOf(transcript(shapes), rules);
          for (const [index, { given, messages }] of calls.entries()) {
            const before = calls[index - 1];
            if (before?.given.context.compacted !== 'budget') continue;
            if (given.context.compacted !== 'budget' || before.given.tooLong) continue;
            const turns = new Set(before.given.messages.map(({ turnId }) => turnId)).size;
            const added = bytesOf(messages) - bytesOf(before.messages);
            if (turns > 1) expect(added).toBeGreaterThan(rules.budget * 0.3);
          }
        }),
        RUNS,
      );
    },
    patient(TIMEOUT_MS),
  );

  it('keeps a summary first, with any turns omitted', () => {
    fc.assert(
      fc.property(talk, policy, (shapes, rules) => {
        const summary: Message = {
          role: 'user',
          id: 'summary_1',
          turnId: 't0',
          parts: [{ type: 'text', text: 'before' }],
          summary: 1,
        };
        const messages = [summary, ...transcript(shapes)];
        const given = assembleContext(contextParts(messages, { policy: rules }));
        expect(summaryOf(given.messages)).toEqual(summary);
      }),
      RUNS,
    );
  });
});
