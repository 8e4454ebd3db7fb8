/** The module from which `colloquy serve` has routes of the application. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { readConfig } from '../../../../src/cli/process/config.js';
import { configuredRoutes } from '../../../../src/cli/serve/routes.js';
import { promise } from '../../../support/promise.js';
import { temporaryFolder } from '../../../support/temporary.js';

async function moduleWith(text: string): Promise<string> {
  const file = join(temporaryFolder(), 'routes.mjs');
  await writeFile(file, text);
  return file;
}

const CONTEXT = { signal: 'the signal' } as never;

it('makes the handler that the function returns for the context', promise('G425'), async () => {
  const file = await moduleWith('export const routes = (given) => () => given;');
  const none = '/none.mjs';
  for (const config of [
    readConfig({ COLLOQUY_ROUTES: file }),
    readConfig({ COLLOQUY_ROUTES: none }, { routes: file }),
  ]) {
    const routes = await configuredRoutes(config);
    expect((routes?.(CONTEXT) as () => unknown)()).toBe(CONTEXT);
  }
  expect(await configuredRoutes(readConfig({}))).toBeUndefined();
});

it.each([
  ['export const agents = [];', ' must export "routes", a function that makes an Express router'],
  ['export const routes = {};', ' must export "routes", a function'],
  ['export const routes = (', 'COLLOQUY_ROUTES (--routes): cannot load '],
])('refuses a module of %s', promise('G425'), async (text, message) => {
  const file = await moduleWith(text);
  const refused = expect(configuredRoutes({ routes: file })).rejects;
  await refused.toMatchObject({
    code: 'invalid_configuration',
    message: expect.stringContaining(message) as string,
  });
});

it.each([
  ['async () => () => {}', 'must return an Express router'],
  ['() => ({})', 'must return an Express router'],
  ["() => { throw new Error('no documents'); }", 'failed: no documents'],
])('refuses the function %s once it is called', promise('G425'), async (text, message) => {
  const file = await moduleWith(`export const routes = ${text};`);
  const routes = await configuredRoutes({ routes: file });
  expect(() => routes?.(CONTEXT)).toThrow(`routes() of ${file} ${message}`);
});
