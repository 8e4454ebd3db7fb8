/** A tool is changed while a question of its code waits: its form, and the input of the run that follows. */
import { afterEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineTool } from '../../../src/define/define-tool.js';
import type { AnyTool } from '../../../src/define/tool/types.js';
import type { TestConversation } from '../../../src/testing/test-conversation.js';
import { promise } from '../../support/promise.js';
import {
  ARGUMENTS,
  agentOf,
  BEFORE,
  expectViewsOfAll,
  INPUT_CHANGES,
  Runs,
  waiting,
} from './deploys.js';
import { FORM_CHANGES, OLD_ANSWER, PLAIN, RECHECKED } from './form-changes.js';

afterEach(expectViewsOfAll);

interface Asks {
  readonly asks: number;
  readonly ask: (it: object) => never;
  readonly answerTo: (it: z.ZodType) => Promise<unknown>;
}

/** Asks for the form, and returns the answer. */
function asking(form: z.ZodType): AnyTool {
  return defineTool({
    ...{ name: 'order', description: 'Orders.', input: BEFORE },
    run: async (_input: unknown, ctx: Asks) => (await ctx.answerTo(form)) ?? ctx.ask({ form }),
  } as never);
}

/** Asks once, and then ends; records its inputs. */
function askingWith(code: Runs, input: z.ZodType, more: object = {}): AnyTool {
  return defineTool({
    ...{ name: 'order', description: 'Orders.', input, ...more },
    run: (given: unknown, ctx: Asks) => {
      code.of(input)(given);
      return ctx.asks === 0 ? ctx.ask({ form: z.strictObject({ sure: z.boolean() }) }) : 'done';
    },
  } as never);
}

/** The ways in which a call may wait with its question. */
const WAYS: Readonly<Record<string, (t: TestConversation<never>) => Promise<unknown>>> = {
  'in its step': async () => undefined,
  'after a roll-over': async (t) => t.rollOver(),
  'detached by a message': (t) => t.send('And now?'),
};

/** The result of the call, in its step or in the inbox. */
function resultOf(t: TestConversation<never>): unknown {
  const [delivered] = t.eventsOf('inbox_event');
  const { result } = delivered ?? {};
  return result === undefined ? t.result('order') : result.envelope;
}

describe.each(Object.keys(WAYS))('a question that the code of a tool asked, %s', (way) => {
  it.each(FORM_CHANGES)(
    'is judged by the form of the question, and asked anew where the new code refuses the answer: $what',
    promise('G217'),
    async ({ now, fresh, takesOld }) => {
      for (const was of [PLAIN, RECHECKED]) {
        const t = await waiting([asking(was)]);
        await WAYS[way]?.(t);
        const [first] = t.snapshot.pending;
        await t.deploy(agentOf([asking(now)]));
        expect(t.snapshot.pending).toEqual([first]);
        expect((await t.answer('order', OLD_ANSWER)).verdict).toBe('accepted');
        if (takesOld) {
          expect(resultOf(t)).toEqual({ ok: true, result: OLD_ANSWER });
          expect(t.eventTypes).not.toContain('suspension_changed');
          t.expectNothingOpen();
          continue;
        }
        expect(t.eventTypes.slice(-3)).toEqual([
          'resolution_reverted',
          'suspension_changed',
          'suspension',
        ]);
        const [second] = t.snapshot.pending;
        expect(second).toMatchObject({ ask: 1, deadline: first?.deadline });
        expect(second?.answerSchema).not.toEqual(first?.answerSchema);
        expect(second?.argsDigest).not.toBe(first?.argsDigest);
        await t.answer('order', fresh);
        expect(resultOf(t)).toEqual({ ok: true, result: fresh });
        t.expectNothingOpen();
      }
    },
  );

  it.each(FORM_CHANGES)(
    'takes an answer for the new form at once only if the shown form takes it: $what',
    async ({ now, fresh }) => {
      const t = await waiting([asking(PLAIN)]);
      await WAYS[way]?.(t);
      await t.deploy(agentOf([asking(now)]));
      const isTaken = PLAIN.safeParse(fresh).success;
      const { verdict } = await t.resolve('order', { type: 'answer', value: fresh });
      expect(verdict).toBe(isTaken ? 'accepted' : 'invalid');
      if (isTaken) expect(resultOf(t)).toEqual({ ok: true, result: fresh });
      else expect(t.snapshot.pending).toMatchObject([{ name: 'order', ask: 1 }]);
    },
  );

  it.each(INPUT_CHANGES)(
    'leads to another run only if the arguments mean the same to the new code: $what',
    promise('G216'),
    async ({ input, runs }) => {
      for (const effects of ['idempotent', 'once']) {
        const code = new Runs();
        const t = await waiting([askingWith(code, BEFORE, { effects })]);
        await WAYS[way]?.(t);
        await t.deploy(agentOf([askingWith(code, input, { effects })]));
        expect((await t.answer('order', { sure: true })).verdict).toBe('accepted');
        expect(code.inputs).toEqual(runs ? [ARGUMENTS, ARGUMENTS] : [ARGUMENTS]);
        expect(resultOf(t)).toMatchObject(
          runs
            ? { ok: true, result: 'done' }
            : {
                error: {
                  code: 'outcome_unknown',
                  message: expect.stringMatching(/had begun to run/) as string,
                },
              },
        );
        expect(t.eventTypes).not.toContain('definition_changed');
        t.expectNothingOpen();
      }
    },
  );

  it('ends with a clear error when its tool is gone', promise('G222'), async () => {
    const t = await waiting([asking(PLAIN)]);
    await WAYS[way]?.(t);
    await t.deploy(agentOf([]));
    expect((await t.answer('order', OLD_ANSWER)).verdict).toBe('accepted');
    expect(resultOf(t)).toMatchObject({
      error: { code: 'not_available', message: 'Tool "order" no longer available' },
    });
    t.expectNothingOpen();
  });
});

describe('a question that the code of a tool asked', () => {
  it('is not asked in another form where the same form refuses', async () => {
    const picky = z.object({ day: z.string().refine((it) => it !== 'monday'), hour: z.int() });
    const t = await waiting([asking(picky)]);
    await t.answer('order', OLD_ANSWER);
    expect(t.eventTypes).not.toContain('suspension_changed');
    await t.answer('order', { day: 'friday', hour: 9 });
    expect(t.result('order')).toMatchObject({ ok: true });
  });

  it.each(INPUT_CHANGES)(
    'whose outcome becomes unknown by a change is held, where its tool says so: $what',
    async ({ input, runs }) => {
      const code = new Runs();
      const held = { effects: 'once', onOutcomeUnknown: 'hold' };
      const t = await waiting([askingWith(code, BEFORE, held)]);
      await t.deploy(agentOf([askingWith(code, input, held)]));
      await t.answer('order', { sure: true });
      expect(code.inputs).toHaveLength(runs ? 2 : 1);
      if (!runs) {
        expect(t.snapshot.pending).toMatchObject([{ kind: 'outcome', prompt: ARGUMENTS }]);
        await t.resolve('order', { type: 'outcome', value: 'found' });
      }
      expect(t.result('order')).toEqual({ ok: true, result: runs ? 'done' : 'found' });
      t.expectNothingOpen();
    },
  );
});
