/** The built web page: its size, and that it loads nothing from outside; and the entry point of its hooks. */
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const ASSETS = `${ROOT}dist/ui/assets`;
const MAX_KILOBYTES = 120;

describe('the inbox', () => {
  const files = readdirSync(ASSETS);
  const texts = files.map((file) => readFileSync(`${ASSETS}/${file}`, 'utf8'));

  it('has at most 120 kB with gzip, all of its files together', () => {
    const bytes = texts.reduce((sum, text) => sum + gzipSync(text).length, 0);
    expect(bytes / 1_000).toBeLessThan(MAX_KILOBYTES);
    expect(bytes / 1_000).toBeGreaterThan(50);
  });

  it('has no file beside scripts, styles and its picture, and imports none of another origin', () => {
    expect(files.filter((file) => !/\.(?:js|css|svg)$/.test(file))).toEqual([]);
    for (const text of texts)
      expect(text).not.toMatch(/import\s*\(?\s*["'`]https?:|url\(["']?(?:https?:)?\/\//);
  });
});

it('colloquy/browser/worklist exports these names', async () => {
  expect(Object.keys((await import('colloquy/browser/worklist')) as object).sort()).toEqual([
    ...['BrowserWorklist', 'MAX_RULE_MATCHES', 'MAX_RULE_MATCH_BYTES', 'agentsOf'],
    ...['matchesInput', 'resolveMany', 'worklistOf'],
  ]);
});

it('colloquy/react exports these hooks: adding one extends the public surface', async () => {
  expect(Object.keys((await import('colloquy/react')) as object).sort()).toEqual([
    ...['useConversation', 'usePending', 'useWorklist'],
  ]);
  const { exports, peerDependencies, peerDependenciesMeta } = JSON.parse(
    readFileSync(`${ROOT}package.json`, 'utf8'),
  ) as Readonly<Record<string, object>>;
  expect(exports).toHaveProperty(['./react']);
  expect(peerDependencies).toHaveProperty('react');
  expect(peerDependenciesMeta).toHaveProperty(['react', 'optional'], true);
});
