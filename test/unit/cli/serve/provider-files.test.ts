/** The module from which `colloquy serve` has the owners of files at the provider of the models. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readConfig } from '../../../../src/cli/process/config.js';
import { configuredFiles } from '../../../../src/cli/serve/provider-files.js';
import type { ProviderFile } from '../../../../src/http/identity/provider-files.js';
import { promise } from '../../../support/promise.js';
import { temporaryFolder } from '../../../support/temporary.js';

const FILE: ProviderFile = {
  ...{ tenant: 'acme', conversationId: 'c-1', fileId: 'file-acme' },
  actor: { id: 'ann', verified: true, channel: 'api' },
};

async function moduleOf(text: string): Promise<string> {
  const file = join(temporaryFolder(), 'provider-files.mjs');
  await writeFile(file, text);
  return file;
}

async function loaded(text: string) {
  const file = await moduleOf(text);
  return await configuredFiles(readConfig({ COLLOQUY_PROVIDER_FILES: file }));
}

describe('owners of files by a module', promise('G424'), () => {
  it('are asked with tenant, conversation, actor and id, by variable or by flag', async () => {
    const text =
      'export const providerFiles = { owns: async (f) => JSON.stringify(f) === process.env.ASKED };';
    const file = await moduleOf(text);
    const byFlag = readConfig({ COLLOQUY_PROVIDER_FILES: '/none.mjs' }, { providerFiles: file });
    process.env['ASKED'] = JSON.stringify(FILE);
    try {
      for (const config of [readConfig({ COLLOQUY_PROVIDER_FILES: file }), byFlag]) {
        const { providerFiles } = await configuredFiles(config);
        expect(await providerFiles?.owns(FILE)).toBe(true);
        expect(await providerFiles?.owns({ ...FILE, tenant: 'beta' })).toBe(false);
      }
    } finally {
      delete process.env['ASKED'];
    }
    expect(await configuredFiles(readConfig({}))).toEqual({});
  });

  it.each(['1', 'undefined', '{ owner: "ann" }', '"false"'])(
    'let no request in by an answer that is %s',
    async (answer) => {
      const { providerFiles } = await loaded(
        `export const providerFiles = { owns: () => (${answer}) };`,
      );
      await expect(providerFiles?.owns(FILE)).rejects.toThrow('must answer true or false');
    },
  );

  it('let no request in by an error, or by a promise that rejects', async () => {
    const { providerFiles } = await loaded(
      'export const providerFiles = { owns: () => Promise.reject(new Error("away")) };',
    );
    await expect(providerFiles?.owns(FILE)).rejects.toThrow('away');
  });

  it.each([
    ['', 'must export "providerFiles"'],
    ['export const providerFiles = () => true;', 'must export "providerFiles"'],
    ['export const providerFiles = { owns: true };', 'with a function "owns"'],
    ['export default { owns: () => true };', 'must export "providerFiles"'],
    ['export const providerFiles = {', 'cannot load'],
    ['throw new Error("no database");', 'no database'],
  ])(
    'are refused at the start where the module is %j, by variable and file',
    async (text, reason) => {
      await expect(loaded(text)).rejects.toMatchObject({
        code: 'invalid_configuration',
        message: expect.stringMatching(
          /^COLLOQUY_PROVIDER_FILES \(--provider-files\): .*provider-files\.mjs/,
        ) as string,
      });
      await expect(loaded(text)).rejects.toThrow(reason);
    },
  );

  it('are refused where the module does not exist, or is not named', async () => {
    const config = readConfig({ COLLOQUY_PROVIDER_FILES: '/nowhere/owners.js' });
    await expect(configuredFiles(config)).rejects.toThrow(/cannot load \/nowhere\/owners\.js: /);
    expect(() => readConfig({ COLLOQUY_PROVIDER_FILES: '' })).toThrow(
      'COLLOQUY_PROVIDER_FILES (--provider-files)',
    );
  });
});
