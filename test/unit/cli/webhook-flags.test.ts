/** `colloquy webhooks add` takes what the API takes. */
import { expect, it } from 'vitest';
import { type AddFlags, runAdd } from '../../../src/cli/webhooks/webhooks-command.js';
import { temporaryFolder } from '../../support/temporary.js';

const HOOK = 'https://example.com/hook';

it.each<[string, Partial<AddFlags>, string]>([
  ['ftp://example.com', {}, '<url> must begin with https:// or http://'],
  [HOOK, { agent: ['helper', 'My Agent'] }, '--agent may hold only letters'],
  [HOOK, { agent: Array<string>(101).fill('a') }, '--agent may be given at most 100 times'],
  [HOOK, { tenant: 'a company' }, '--tenant may hold only letters'],
  [HOOK, { description: '\uD800' }, '--description '],
  [HOOK, { description: 'x'.repeat(201) }, '--description must be at most 200 characters'],
])('refuses %s with %j, and names the flag', async (url, flags, message) => {
  const adding = runAdd(url, { retry: 0, data: temporaryFolder(), ...flags });
  await expect(adding).rejects.toThrow(message);
});
