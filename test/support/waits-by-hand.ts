/**
 * Pending calls of every kind and for every audience, and the meaning that shells give to the commands that answer
 * them.
 */

import { execFileSync } from 'node:child_process';
import type { PlannedCall } from '../../src/protocol/calls/plan.js';
import type { Audience } from '../../src/protocol/values/audience.js';
import type { Json, JsonSchema } from '../../src/protocol/values/json.js';
import { wellFormed } from '../../src/protocol/values/well-formed.js';
import { definitionChecked, toolLost } from './builders/call-ends.js';
import {
  APPROVE,
  actor,
  answer,
  gatedCall,
  modelCalls,
  modelSays,
  plannedCall,
} from './builders/core-builders.js';
import { changeSuspension } from './builders/verbs.js';
import { asks, NUMBER } from './schedules/core-asks.js';
import { aMachine, aMachineWith, type MachineUnderTest } from './schedules/core-driver.js';
import { claimed, offered } from './schedules/core-offers.js';

/** Would run code on a page, in a terminal or in a shell, if it could. */
export const HOSTILE = [
  ...[
    '`code`',
    '```\n# head',
    '``',
    '[click](https://evil.example)',
    '<img src=x onerror=alert(1)>',
  ],
  ...[
    '| a | b |\n|---|---|',
    '\u202egnp.exe',
    'zero\u200bwidth\ufeff',
    '\u001b[2J\u009b31m',
    "it's",
  ],
  ...[
    "'; touch /tmp/owned; '",
    '$(id)',
    '{workflowId} {namespace}',
    'a  b ',
    ' ',
    '\\',
    '"',
    '\r\n- x',
  ],
  ...[
    '\u2028line',
    '\ud800',
    'é日本👩\u200d👩',
    '\u3164\u115f\u00ad',
    '&lt;',
    '**bold** _it_ $x$',
    '~~~',
    '',
  ],
];

const ADDRESS: JsonSchema = {
  type: 'object',
  properties: { city: { type: 'string', minLength: 1 }, zip: { type: 'integer', minimum: 1 } },
  required: ['city', 'zip'],
};

function waiting(over: Partial<PlannedCall>): MachineUnderTest {
  return aMachineWith(modelCalls([plannedCall('c', over)]));
}

export function gatedFor(audience: Audience, input: Json = { cents: 900 }): MachineUnderTest {
  return aMachineWith(
    modelCalls([gatedCall('c', { input, approval: { needed: true, audience } })]),
  );
}

function revised(): MachineUnderTest {
  const m = aMachineWith(modelCalls([gatedCall('c', { executor: 'client', definition: 'd1' })]));
  m.resolve('c', APPROVE);
  const call = { input: { now: 1 }, argsDigest: 'sha256:new', definition: 'd2' };
  const approval = { needed: true } as const;
  const outcome = { outcome: 'migrated', definition: 'd2', call: { ...call, approval } } as const;
  definitionChecked(m.machine, 'c', outcome);
  return m;
}

function askedTwice(): MachineUnderTest {
  const m = waiting({});
  asks(m, 'c', NUMBER);
  m.resolve('c', answer(7));
  asks(m, 'c', { form: ADDRESS });
  return m;
}

function reoffered(): MachineUnderTest {
  const m = waiting({ executor: 'human', answerSchema: ADDRESS, answerDefinition: 'd1' });
  const offer = { definition: 'd2', answerSchema: { type: 'array', items: {}, minItems: 2 } };
  changeSuspension(m.machine, { toolCallId: 'c', offer });
  return m;
}

function held(over: Partial<PlannedCall> = {}): MachineUnderTest {
  const m = offered(over);
  claimed(m);
  return m;
}

function lostRun(): MachineUnderTest {
  const m = waiting({ effects: 'once', onOutcomeUnknown: 'hold' });
  toolLost(m.machine, 'c', { timedOut: false, message: 'the worker was lost' });
  return m;
}

function detached(): MachineUnderTest {
  const m = aMachine();
  m.send('hello', { actor: actor('operator') });
  const audience = { exclude: ['requester'] };
  const approval = { needed: true, audience } as const;
  m.model(modelCalls([gatedCall('c', { mode: 'detach', approval })])).model(modelSays('later'));
  return m;
}

/** The one pending call is `c`. */
export const WAITS: readonly (readonly [string, () => MachineUnderTest])[] = [
  ['an approval', () => aMachineWith(modelCalls([gatedCall('c')]))],
  ['an approval of a call that was carried over', revised],
  ['an approval by one of two users', () => gatedFor({ users: ['ada', 'ben'] })],
  [
    'an approval by a user other than who asked',
    () => gatedFor({ users: ['ann', 'ben'], exclude: ['requester'] }),
  ],
  ['an approval by a role', () => gatedFor({ roles: ['lead', 'chief'] })],
  [
    'an approval by a role, and by another',
    () => gatedFor({ roles: ['lead'], also: [{ roles: ['legal'] }] }),
  ],
  [
    'an approval by a user with a role',
    () => gatedFor({ users: ['ada', 'ben'], also: [{ roles: ['legal'], exclude: ['ada'] }] }),
  ],
  ['an approval by anybody but some', () => gatedFor({ exclude: ['requester', 'operator'] })],
  ['an approval beside the turn, by anybody but who asked', detached],
  [
    'an approval by a user of an odd name',
    () => gatedFor({ users: ["o'brien `ls` | $(id)\u202e"] }),
  ],
  ['a question', () => waiting({ executor: 'human' })],
  ['a question with a form', () => waiting({ executor: 'human', answerSchema: ADDRESS })],
  [
    'a question with a hostile choice',
    () => waiting({ executor: 'human', answerSchema: { enum: [wellFormed(HOSTILE.join(''))] } }),
  ],
  [
    'a question for a role',
    () => waiting({ executor: 'human', answerAudience: { roles: ['support'] } }),
  ],
  ['a question whose form was changed', reoffered],
  [
    'the first question of a run',
    () => {
      const m = waiting({});
      asks(m, 'c', NUMBER);
      return m;
    },
  ],
  ['the second question of a run', askedTwice],
  ['a client', () => waiting({ executor: 'client', answerSchema: ADDRESS })],
  ['a client that holds the call', held],
  [
    'a client of a role that holds the call',
    () => held({ answerAudience: { users: ['ann', 'ben'] } }),
  ],
  ['another backend', () => waiting({ executor: 'external' })],
  ['the outcome of a lost run', lostRun],
];

/** The words of a command, as a shell reads them. Programs in it are only printed, never run. */
export function wordsOf(command: string): readonly string[] {
  const [program = ''] = command.split(' ');
  const script = `${program}() { printf '%s\\0' "$@"; }\n${command}`;
  const text = execFileSync('sh', ['-c', script], { encoding: 'utf8', env: {} });
  return text.split('\0').slice(0, -1);
}

/** The value of an option. */
export function optionOf(words: readonly string[], name: string): string {
  return words[words.indexOf(name) + 1] ?? '';
}

/** The commands in the code blocks of a page. */
export function commandsOn(page: string): readonly string[] {
  return [...page.matchAll(/^```\n([\s\S]*?)\n```$/gm)].map(([, command]) => command ?? '');
}
