/** When old turns are summarised, which ones, and the effects (2.A.5). */

import { describe, expect, it } from 'vitest';
import { summarizable } from '../../../../src/core/context/summaries.js';
import { SummaryPause } from '../../../../src/core/machine/summary-pause.js';
import type { ModelContext } from '../../../../src/protocol/conversation/context.js';
import type { Message } from '../../../../src/protocol/conversation/messages.js';
import {
  modelCalls,
  modelSays,
  plannedCall,
  turn,
  USAGE,
} from '../../../support/builders/core-builders.js';
import { fullContext, summaryOfAll } from '../../../support/builders/core-summaries.js';
import { closeConversation } from '../../../support/builders/verbs.js';
import { forkAt } from '../../../support/forks/core-forks.js';
import { promise } from '../../../support/promise.js';
import { aMachine, type MachineUnderTest } from '../../../support/schedules/core-driver.js';
import { expectInvariants } from '../../../support/schedules/core-invariants.js';

/** So many turns; the model call of the last one had this context. */
function talk(
  turns: number,
  {
    context = fullContext(),
    summaries = true,
    ...settings
  }: { context?: ModelContext; summaries?: boolean; coreRevision?: number } = {},
): MachineUnderTest {
  const m = aMachine({
    settings: { onBusy: 'queue', ...(summaries ? { summaries } : {}), ...settings },
  });
  for (let ordinal = 1; ordinal <= turns; ordinal += 1) says(m, context);
  return m;
}

function says(m: MachineUnderTest, context: ModelContext): void {
  m.send('q');
  m.model({ ...modelSays('a'), context });
}

const turnsOf = (messages: readonly Message[]): readonly string[] => [
  ...new Set(messages.map(({ turnId }) => turnId)),
];

describe('a summary', () => {
  it('is requested once a model call had passed its share of the budget, and there is an old turn', () => {
    expect(talk(2).effectTypes()).toEqual([]);
    expect(talk(3).effects()).toEqual([{ type: 'summarize', ordinal: 1 }]);
    const { summaryDue: _due, ...small } = fullContext();
    expect(talk(3, { context: small }).effects()).toEqual([]);
  });

  it('is never requested where the agent disables it', () => {
    expect(talk(5, { summaries: false }).effects()).toEqual([]);
  });

  it('that its origin has not recorded is made in a fork after the first message', () => {
    for (const [coreRevision, before] of [
      [3, []],
      [2, ['summarize']],
    ] as const) {
      const m = talk(4, { coreRevision });
      const fork = forkAt(m, m.state.lastSeq);
      expect(fork.effectTypes()).toEqual(before);
      fork.send('on');
      expect(fork.effectTypes()).toContain('summarize');
    }
  });

  it('takes the place of the oldest turns; the newest two stay to the letter', {
    ...promise('G175'),
  }, () => {
    const m = talk(5);
    const kept = m.messages.slice(6);
    m.mark();
    expect(m.summarized(1, summaryOfAll(m.state))).toBe(true);
    expect(m.types()).toEqual(['summary']);
    expect(m.last('summary')).toMatchObject({
      ordinal: 1,
      throughTurnId: turn(3),
      messages: 6,
      text: 'They met.',
      tokensBefore: 500,
      tokensAfter: 20,
    });
    const [summary, ...rest] = m.messages;
    expect(summary).toMatchObject({ role: 'user', summary: 1, turnId: turn(3) });
    expect(JSON.stringify(summary)).toContain('They met.');
    expect(rest).toEqual(kept);
    expect(m.state.forgotten).toBe(6);
    expectInvariants(m);
  });

  it('counts for the conversation and for no turn, and is no sign of life', () => {
    const m = talk(3);
    const { usage, updatedAt } = m.state;
    m.clock.advance(60_000);
    m.summarized(1, summaryOfAll(m.state));
    expect(m.state.usage.inputTokens).toBe(usage.inputTokens + USAGE.inputTokens);
    expect(m.state.updatedAt).toBe(updatedAt);
  });

  it('says why the attempts before it failed', promise('G176'), () => {
    const attempt = { attempt: 1, model: 'scripted', code: 'model_unavailable', message: 'down' };
    const m = talk(3);
    m.summarized(1, { ...summaryOfAll(m.state), failedAttempts: [attempt] });
    expect(m.last('summary').failedAttempts).toEqual([attempt]);
  });

  it('is cumulative: the next one covers it, too, and takes its place', () => {
    const m = talk(4);
    m.summarized(1, summaryOfAll(m.state));
    expect(m.effectTypes()).toEqual([]);
    // The call in progress had not read the summary; the next one reports whether the context is still too large.
    says(m, fullContext());
    expect(m.effectTypes()).toEqual([]);
    says(m, fullContext({ summary: 1 }));
    expect(m.effects()).toEqual([{ type: 'summarize', ordinal: 2 }]);
    m.summarized(2, summaryOfAll(m.state, 'And then.'));
    expect(m.last('summary')).toMatchObject({ ordinal: 2, messages: 5 });
    expect(m.messages[0]).toMatchObject({ summary: 2 });
    expect(turnsOf(m.messages)).toEqual([turn(4), turn(5), turn(6)]);
    expectInvariants(m);
  });

  it('is the same request for as long as it is made, during any turns', () => {
    const m = talk(3);
    const [wanted] = m.effects();
    m.send('more');
    expect(m.effects()).toContainEqual(wanted);
    const made = summaryOfAll(m.state);
    m.model({ ...modelCalls([plannedCall('c1')]), context: fullContext() });
    expect(m.effects()).toContainEqual(wanted);
    m.tool('c1').model({ ...modelSays('a'), context: fullContext() });
    expect(m.effects()).toContainEqual(wanted);
    expect(m.summarized(1, made)).toBe(true);
    expect(turnsOf(m.messages)).toEqual([turn(1), turn(2), turn(3), turn(4)]);
    expectInvariants(m);
  });

  it('leaves the turn in progress and two that have ended', () => {
    const m = talk(4);
    expect(summarizable(m.state)).toBe(4);
    m.send('more');
    expect(summarizable(m.state)).toBe(4);
  });

  it('may cover less than its input', () => {
    const m = talk(5);
    const made = { ...summaryOfAll(m.state), throughMessageId: m.messages[1]!.id };
    m.summarized(1, made);
    expect(turnsOf(m.messages)).toEqual([1, 2, 3, 4, 5].map((ordinal) => turn(ordinal)));
    expect(m.last('summary')).toMatchObject({ throughTurnId: turn(1), messages: 2 });
  });

  it('whose end is absent, recent, or in the middle of a turn is dropped and changes nothing', () => {
    const m = talk(5);
    const before = m.state;
    const ids = ['nobody', ...[0, 6, 8, 9].map((index) => before.transcript[index]!.id)];
    for (const throughMessageId of ids)
      expect(m.summarized(1, { ...summaryOfAll(before), throughMessageId })).toBe(false);
    expect(m.summarized(2, summaryOfAll(before))).toBe(false);
    closeConversation(m.machine);
    expect(m.summarized(1, summaryOfAll(before))).toBe(false);
    expect(m.all('summary')).toEqual([]);
  });

  it('survives roll-over, restart and re-opening, and so does a request for one', () => {
    const m = talk(3).rollOver();
    expect(m.effects()).toEqual([{ type: 'summarize', ordinal: 1 }]);
    m.summarized(1, summaryOfAll(m.state));
    m.rollOver();
    expect(m.messages[0]).toMatchObject({ summary: 1 });
    closeConversation(m.machine);
    m.reopen();
    expect(m.messages[0]).toMatchObject({ summary: 1 });
    expect(m.state.forgotten).toBe(2);
    expectInvariants(m);
  });
});

describe('after a summary that failed', () => {
  it('so many turns pass: 1, 2, 4 and at most 64', promise('G178'), () => {
    const pause = new SummaryPause();
    let turnCount = 10;
    const waits = Array.from({ length: 8 }, () => {
      pause.ended({ turnCount }, false);
      let turns = 0;
      while (!pause.isOver({ turnCount: turnCount + turns })) turns += 1;
      turnCount += turns;
      return turns;
    });
    expect(waits).toEqual([1, 2, 4, 8, 16, 32, 64, 64]);
    pause.ended({ turnCount }, true);
    pause.ended({ turnCount }, false);
    expect(pause.isOver({ turnCount: turnCount + 1 })).toBe(true);
  });
});
