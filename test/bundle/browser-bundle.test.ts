/** The bundle of a page that imports `colloquy/browser`: its modules, and its size. */
import { readFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import type * as browser from 'colloquy/browser';
import { type OutputChunk, rolldown } from 'rolldown';
import { beforeAll, describe, expect, it } from 'vitest';
import { patient } from '../support/patience.js';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

describe('the bundle of a page', () => {
  let bundle: OutputChunk;

  beforeAll(async () => {
    const build = await rolldown({
      input: `${ROOT}dist/browser/index.js`,
      platform: 'browser',
      logLevel: 'silent',
    });
    const { output } = await build.generate({ format: 'esm', minify: true });
    expect(output).toHaveLength(1);
    [bundle] = output;
  }, patient(60_000));

  it('holds these parts and no other: no Node, no Temporal, no zod', () => {
    expect(bundle.imports).toEqual([]);
    const parts = Object.keys(bundle.modules).map((id) =>
      id.replace(ROOT, '').replace(/^(node_modules\/[^/]+|dist\/[^/]+)\/.*$/, '$1'),
    );
    expect([...new Set(parts)].sort()).toEqual([
      ...['dist/browser', 'dist/core', 'dist/net', 'dist/protocol'],
      'node_modules/eventsource-parser',
    ]);
    const named = builtinModules.filter((name) => bundle.code.includes(`"node:${name}"`));
    expect(named).toEqual([]);
  });

  it('stays small: 18 KB with gzip', () => {
    expect(gzipSync(bundle.code).length / 1024).toBeLessThan(18);
  });

  it('runs where nothing of Node exists', async () => {
    const { runInNewContext } = await import('node:vm');
    const code = bundle.code.replace(/export\s*\{([^}]*)\};?\s*$/, (_all, names: string) => {
      const pairs = names.split(',').map((name) => name.trim().split(' as '));
      return `globalThis.made = {${pairs.map(([own = '', as = own]) => `${as}: ${own}`).join()}};`;
    });
    const names = ['AbortController', 'TextDecoder', 'URL', 'URLSearchParams', 'crypto', 'fetch'];
    const page = Object.fromEntries(names.map((name) => [name, Reflect.get(globalThis, name)]));
    const globals: Record<string, unknown> = { ...page, setTimeout, clearTimeout };
    runInNewContext(code, globals);
    const { createBrowserClient } = globals['made'] as Pick<typeof browser, 'createBrowserClient'>;
    const conversation = createBrowserClient({ baseUrl: '' }).conversation('c1');
    expect(conversation.getSnapshot()).toMatchObject({ conversationId: 'c1', messages: [] });
  });

  it('exports these names: adding one extends the public surface', async () => {
    expect(Object.keys((await import('colloquy/browser')) as object).sort()).toEqual([
      ...['ApiError', 'LiveView', 'checkForm', 'createBrowserClient', 'errorsByField', 'formOf'],
    ]);
    expect(Object.keys((await import('colloquy/browser/spaces')) as object).sort()).toEqual([
      ...['spaceOf', 'spacesOf', 'toolRenderers'],
    ]);
    const { exports } = JSON.parse(readFileSync(`${ROOT}package.json`, 'utf8')) as {
      exports: object;
    };
    expect(exports).toHaveProperty(['./browser']);
  });
});
