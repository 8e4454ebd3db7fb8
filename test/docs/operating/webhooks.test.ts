/** The document of webhooks agrees with the code. */
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { WEBHOOK_EVENTS } from '../../../src/protocol/log/webhook-events.js';
import { MAX_ENDPOINTS } from '../../../src/webhooks/endpoints.js';
import { MAX_ATTEMPTS } from '../../../src/webhooks/retries.js';

const TEXT = readFileSync(new URL('../../../docs/webhooks.md', import.meta.url), 'utf8');

it('lists every type of event with its meaning, and the numbers that hold', () => {
  const rows = TEXT.split('\n').filter((line) => line.startsWith('| `conversation.'));
  expect(rows).toEqual(
    Object.entries(WEBHOOK_EVENTS).map(([type, when]) => `| \`${type}\` | ${when} |`),
  );
  expect(TEXT).toContain(`${MAX_ATTEMPTS} attempts in about three days`);
  expect(TEXT.replaceAll('\n', ' ')).toContain(`at most ${MAX_ENDPOINTS}.`);
});
