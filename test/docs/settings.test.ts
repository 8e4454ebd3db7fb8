/** Checks docs/generated/settings.md against the code. COLLOQUY_WRITE_DOCS=1 writes it. */
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import ms from 'ms';
import { expect, it } from 'vitest';
import { wrapped } from '../../scripts/docs/prose-width.mjs';
import { environmentVariables } from '../../src/cli/process/variables.js';
import { settingsOf } from '../../src/define/agent/settings.js';
import { DEFAULT_HEARTBEAT_MS, DEFAULT_LEASE_MS } from '../../src/protocol/limits/limits.js';
import * as limits from '../../src/protocol/limits/service-limits.js';

const PAGE = fileURLToPath(new URL('../../docs/generated/settings.md', import.meta.url));

/** The settings of an agent that sets none. */
const { onBusy, whileWaiting = 'block' } = settingsOf(undefined, {
  currency: 'USD',
  rate: undefined,
});

/** The meaning of a default is part of the row: another default has another one. */
const ON_BUSY: Partial<Record<typeof onBusy, string>> = {
  reject: 'A message that comes while a turn runs is refused with `busy`.',
};
const WHILE_WAITING: Partial<Record<typeof whileWaiting, string>> = {
  detach: 'A message that comes while calls wait for a person is answered; the calls stay open.',
};

/** Setting, default and purpose. */
const DEFAULTS: readonly (readonly [string, string, string])[] = [
  ['`settings.maxSteps`', `${limits.DEFAULT_MAX_STEPS}`, 'Model calls of one turn.'],
  ['`settings.onBusy`', `\`'${onBusy}'\``, ON_BUSY[onBusy] ?? ''],
  ['`settings.whileWaiting`', `\`'${whileWaiting}'\``, WHILE_WAITING[whileWaiting] ?? ''],
  [
    '`settings.idleClose`',
    long(limits.DEFAULT_IDLE_CLOSE_MS),
    'An idle conversation closes after this.',
  ],
  [
    '`context.maxTokens`',
    `${limits.DEFAULT_CONTEXT_TOKENS}`,
    'Size of a prompt for a model whose window is not known.',
  ],
  [
    '`context.retention`',
    `${limits.DEFAULT_RETENTION_TURNS} turns`,
    'Turns whose results are sent whole.',
  ],
  [
    '`timeouts.approval`',
    long(limits.DEFAULT_APPROVAL_TIMEOUT_MS),
    'An approval expires after this.',
  ],
  [
    '`timeouts.answer`, people',
    long(limits.DEFAULT_ANSWER_TIMEOUT_MS),
    'A question to a person expires after this.',
  ],
  [
    '`timeouts.answer`, clients',
    long(limits.DEFAULT_CLIENT_TIMEOUT_MS),
    'A call that a client runs expires after this.',
  ],
  [
    '`timeouts.answer`, other backends',
    long(limits.DEFAULT_EXTERNAL_TIMEOUT_MS),
    'A call that another backend runs expires after this.',
  ],
  [
    '`timeouts.answer`, detached calls',
    long(limits.DEFAULT_DETACHED_TIMEOUT_MS),
    'A call that the turn does not wait for expires after this.',
  ],
  [
    '`timeouts.claim`',
    long(limits.DEFAULT_CLAIM_TIMEOUT_MS),
    'A client call that no client has claimed fails after this.',
  ],
  ['`timeouts.run`', long(limits.DEFAULT_RUN_TIMEOUT_MS), 'One attempt of a server tool.'],
  ['`timeouts.heartbeat`', long(DEFAULT_HEARTBEAT_MS), 'A lost worker is noticed after this.'],
  ['`maxAttempts`', `${limits.DEFAULT_TOOL_ATTEMPTS}`, 'Attempts of a tool that may be repeated.'],
  ['lease of a claim', long(DEFAULT_LEASE_MS), 'A claim that is not renewed is lost after this.'],
];

function long(milliseconds: number): string {
  return ms(milliseconds, { long: true });
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return [head, head.map(() => '---'), ...rows]
    .map((cells) => `| ${cells.join(' | ')} |`)
    .join('\n');
}

function page(): string {
  const variables = environmentVariables().map(({ name, flag, meaning, ...rest }) => [
    `\`${name}\``,
    flag === undefined ? '' : `\`${flag}\``,
    rest.default === undefined ? '' : `\`${rest.default}\``,
    meaning,
  ]);
  const origin = `Generated from the code by \`test/docs/settings.test.ts\`;
    \`COLLOQUY_WRITE_DOCS=1 npx vitest run --project docs\` writes it.`;
  const temporal = `Temporal's own variables (\`TEMPORAL_ADDRESS\`, \`TEMPORAL_NAMESPACE\`, \`TEMPORAL_API_KEY\`, TLS and
    profiles) say how to reach the server. A variable that breaks its rule is named when the process starts.`;
  return `# Settings

${wrapped(origin)}

## Environment of \`colloquy worker\`, \`serve\` and \`dev\`

${wrapped(temporal)}

${table(['variable', 'option', 'default', 'meaning'], variables)}

## Defaults of agents and tools

${table(['setting', 'default', 'meaning'], DEFAULTS)}
`;
}

it('the page of settings agrees with the code', () => {
  const wanted = page();
  if (process.env['COLLOQUY_WRITE_DOCS'] === '1') writeFileSync(PAGE, wanted);
  expect(readFileSync(PAGE, 'utf8')).toBe(wanted);
});

it('every variable and every default has a description', () => {
  expect(environmentVariables().filter(({ meaning }) => meaning === '')).toEqual([]);
  expect(DEFAULTS.filter(([, , meaning]) => meaning === '')).toEqual([]);
});
