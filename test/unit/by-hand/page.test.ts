import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { TurnEnded } from '../../../src/protocol/log/events.js';
import { wellFormed } from '../../../src/protocol/values/well-formed.js';
import { detailsText } from '../../../src/workflows/handlers/page.js';
import {
  answer,
  gatedCall,
  modelCalls,
  plannedCall,
  turn,
} from '../../support/builders/core-builders.js';
import { resolveBySignal } from '../../support/builders/verbs.js';
import { promise } from '../../support/promise.js';
import {
  aMachine,
  aMachineWith,
  type MachineUnderTest,
} from '../../support/schedules/core-driver.js';
import {
  commandsOn,
  gatedFor,
  HOSTILE,
  optionOf,
  WAITS,
  wordsOf,
} from '../../support/waits-by-hand.js';

const pageOf = (m: MachineUnderTest, namespace = 'default'): string =>
  detailsText(m.state, { namespace });

/** The engine's part of a page: the text that remains without the code. */
function ownWords(page: string): string {
  return page.replaceAll(/^```\n[\s\S]*?\n```$/gm, 'BLOCK').replaceAll(/`[^`\n]+`/g, 'CODE');
}

describe('the page of a conversation in the Temporal UI', () => {
  it.each(WAITS)('has a command that answers %s as it stands', promise('G260'), (_title, waits) => {
    const m = waits();
    const [command = '', ...others] = commandsOn(pageOf(m));
    expect(others).toEqual([]);
    const words = wordsOf(command);
    expect(words.slice(0, 2)).toEqual(['workflow', 'signal']);
    expect(optionOf(words, '--namespace')).toBe('default');
    expect(optionOf(words, '--workflow-id')).toBe('conversation:default:order-42');
    expect(optionOf(words, '--name')).toBe('resolveToolCall');
    const verdict = resolveBySignal(m.machine, JSON.parse(optionOf(words, '--input')));
    expect(verdict).toMatchObject({ verdict: 'accepted', toolCallId: 'c' });
  });

  it('has no line in a command that the UI would cut off', () => {
    for (const [, waits] of WAITS.filter(([title]) => !title.includes('hostile')))
      for (const command of commandsOn(pageOf(waits())))
        for (const line of command.split('\n')) expect(line.length).toBeLessThan(70);
  });

  it('states the call to approve, for whom, why and until when, as a list', () => {
    const m = gatedFor({ roles: ['lead'], exclude: ['requester'] }, { to: 'p1', cents: 900 });
    expect(pageOf(m).split('\n')).toEqual([
      '**awaiting_input** · agent `support` · log at seq 7',
      '',
      `Turn \`${turn(1)}\`, step 1.`,
      '',
      `**1 of 1:** **approval** of \`server.tool\`, call \`c\` of \`${turn(1)}\``,
      '',
      `- until ${m.pending[0]?.deadline ?? ''}`,
      '- who may answer: role `lead`, but not the requester',
      '- arguments: `{"to": "p1", "cents": 900}`',
      '',
      '```',
      "temporal workflow signal --namespace 'default' \\",
      '  --workflow-id conversation:default:order-42 \\',
      "  --name resolveToolCall --input '{",
      ' "toolCallId": "c",',
      ' "resolution": {',
      '  "type": "approve"',
      ' },',
      ' "actor": {',
      '  "id": "operator",',
      '  "roles": [',
      '   "lead"',
      '  ]',
      ' }',
      "}'",
      '```',
      '',
      'In the commands, `operator` stands for you: the sender of a signal is not verified.',
    ]);
  });

  it('lists every call with a command of its own', () => {
    const calls = [gatedCall('a'), plannedCall('b', { executor: 'human' }), gatedCall('c')];
    const page = pageOf(aMachineWith(modelCalls(calls)));
    const ids = commandsOn(page).map((command) => {
      const input = JSON.parse(optionOf(wordsOf(command), '--input')) as { toolCallId: string };
      return input.toolCallId;
    });
    expect(ids).toEqual(['a', 'b', 'c']);
    expect(page).toContain('**2 of 3:** **elicitation** of `human.tool`, call `b`');
  });

  it('says that calls for verified actors alone cannot be answered by hand', () => {
    const page = pageOf(gatedFor({ requireVerified: true }));
    expect(commandsOn(page)).toEqual([]);
    expect(page).toContain('- who may answer: anybody, and verified');
    expect(page).toContain('No signal by hand can answer it');
  });

  it('says why an answer was reverted, and gives the command again', () => {
    const call = plannedCall('c', { executor: 'human', recheckAnswer: true });
    const m = aMachineWith(modelCalls([call]));
    m.resolve('c', answer('x'));
    m.checkFails('c', 'must be a `code`');
    expect(pageOf(m)).toContain('\n- an answer was taken back: `must be a \\u0060code\\u0060`\n');
    expect(commandsOn(pageOf(m))).toHaveLength(1);
  });

  it('names the namespace, for any name', () => {
    const [command = ''] = commandsOn(pageOf(gatedFor({}), "o'ps $(id)"));
    expect(optionOf(wordsOf(command), '--namespace')).toBe("o'ps $(id)");
  });

  it('is bounded: it says how many calls it omits, and where they are', () => {
    const input = { text: 'x'.repeat(2_000) };
    const calls = Array.from({ length: 40 }, (_, at) => gatedCall(`call_${at}`, { input }));
    const page = pageOf(aMachineWith(modelCalls(calls)));
    expect(page.length).toBeLessThan(12_000);
    const [, left = ''] = /^… (\d+) more\. All of them:$/m.exec(page) ?? [];
    const commands = commandsOn(page);
    expect(commands.length - 1 + Number(left)).toBe(40);
    const words = wordsOf(commands.at(-1) ?? '');
    expect([words.slice(0, 2), optionOf(words, '--name')]).toEqual([
      ['workflow', 'query'],
      'pending',
    ]);
    expect(page).toContain('… 1800 more characters');
  });

  it('has texts of others only in code, and no end of code in it', {
    ...promise('G261'),
  }, () => {
    // The result of an activity with half a surrogate pair, or a longer name, is refused as a whole.
    const text = fc
      .oneof(fc.constantFrom(...HOSTILE), fc.string({ unit: 'binary' }))
      .map((any) => wellFormed(any));
    const plain = ownWords(pageOf(gatedFor({ users: ['u'] }, {})));
    fc.assert(
      fc.property(text, text, text, (one, two, three) => {
        const approval = { needed: true, reason: one, audience: { users: [two] } } as const;
        const call = gatedCall('c', {
          name: three.slice(0, 128),
          input: { [one]: [two], [two]: three },
          approval,
        });
        const page = pageOf(aMachineWith(modelCalls([call])));
        expect(ownWords(page).replace('- why: CODE\n', '')).toBe(plain);
        expect(page).not.toMatch(/(?!\n)[\p{Cc}\p{Cf}]/u);
      }),
    );
  });

  it('says why the last turn failed, in code', () => {
    const error = { code: 'model_failed', message: '<b>no</b> `key`\n# [x](http://y)' };
    const ended = {
      type: 'turn_ended',
      turnId: turn(1),
      status: 'failed',
      error,
    } as unknown as TurnEnded;
    const page = detailsText(aMachine().state, { namespace: 'default', ended });
    expect(page).toContain(
      `Turn \`${turn(1)}\` failed: \`model_failed\`, \`\\u003cb\\u003eno\\u003c/b\\u003e \\u0060key\\u0060\\n# [x](http://y)\``,
    );
  });

  it('reads no more calls than it shows, of any number', () => {
    let reads = 0;
    const prompt = {
      get text() {
        reads += 1;
        return 'x';
      },
    };
    const { state } = gatedFor({});
    const { c: call } = state.calls;
    const callIds = Array.from({ length: 5_000 }, (_, at) => `call_${at}`);
    const many = callIds.map((toolCallId) => {
      const plan = { ...call?.plan, toolCallId };
      return [
        toolCallId,
        { ...call, plan, suspension: { ...call?.suspension, toolCallId, prompt } },
      ];
    });
    const calls = Object.fromEntries(many) as typeof state.calls;
    const page = detailsText(
      {
        ...state,
        calls,
        ...(state.turn?.phase === 'tools' && { turn: { ...state.turn, callIds } }),
      },
      { namespace: 'default' },
    );
    const shown = commandsOn(page).length - 1;
    expect(page).toContain(`… ${5_000 - shown} more. All of them:`);
    expect(reads).toBe(shown + 1);
  });
});
