/** The built web page: its size, and that it loads nothing from outside; and the entry point of its hooks. */
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const UI = `${ROOT}dist/ui`;
/** At most, in kB with gzip: the files of an address that is opened, and all files of the page together. */
const MAX_KILOBYTES = {
  'inbox/inbox.tsx': 120,
  'chat/chat.tsx': 160,
  'studio/studio.tsx': 150,
} as const;
const MAX_ALL_KILOBYTES = 250;

interface Built {
  readonly file: string;
  readonly imports?: readonly string[];
  readonly css?: readonly string[];
}

describe('the page', () => {
  const manifest = JSON.parse(readFileSync(`${UI}/.vite/manifest.json`, 'utf8')) as Readonly<
    Record<string, Built>
  >;
  const files = readdirSync(`${UI}/assets`);
  const textOf = (file: string): string => readFileSync(`${UI}/${file}`, 'utf8');
  const kilobytes = (paths: Iterable<string>): number =>
    [...paths].reduce((sum, path) => sum + gzipSync(textOf(path)).length, 0) / 1_000;

  /** The files that a browser loads for parts of the page, with those that they import. */
  function loadedFor(names: readonly string[], found = new Set<string>()): ReadonlySet<string> {
    for (const name of names) {
      const { file, imports = [], css = [] } = manifest[name] ?? {};
      if (file === undefined) throw new Error(`the page has no part ${name}`);
      if (found.has(file)) continue;
      for (const one of [file, ...css]) found.add(one);
      loadedFor(imports, found);
    }
    return found;
  }

  it.each(Object.entries(MAX_KILOBYTES))('%s loads at most %i kB with gzip', (face, bound) => {
    const loaded = kilobytes(loadedFor(['index.html', face]));
    expect(loaded).toBeLessThan(bound);
    expect(loaded).toBeGreaterThan(50);
  });

  it('has at most 250 kB with gzip, all of its files together', () => {
    expect(kilobytes(files.map((file) => `assets/${file}`))).toBeLessThan(MAX_ALL_KILOBYTES);
  });

  it('has no file beside scripts, styles and its picture, and imports none of another origin', () => {
    expect(files.filter((file) => !/\.(?:js|css|svg)$/.test(file))).toEqual([]);
    for (const file of files)
      expect(textOf(`assets/${file}`)).not.toMatch(
        /import\s*\(?\s*["'`]https?:|url\(["']?(?:https?:)?\/\//,
      );
  });
});

it('colloquy/browser/operations exports these names', async () => {
  expect(Object.keys((await import('colloquy/browser/operations')) as object).sort()).toEqual([
    ...['killWorker', 'operationsOf', 'waitingCalls'],
  ]);
});

it('colloquy/browser/worklist exports these names', async () => {
  expect(Object.keys((await import('colloquy/browser/worklist')) as object).sort()).toEqual([
    ...['BrowserWorklist', 'MAX_RULE_MATCHES', 'MAX_RULE_MATCH_BYTES', 'agentsOf'],
    ...['matchesInput', 'resolveMany', 'worklistOf'],
  ]);
});

it('colloquy/browser/studio exports these names', async () => {
  expect(Object.keys((await import('colloquy/browser/studio')) as object).sort()).toEqual([
    ...[
      'BrowserConversations',
      'BrowserLog',
      'Replay',
      'cancelWhatIf',
      'conversationsOf',
      'deleteConversation',
    ],
    ...[
      'forkOf',
      'logOf',
      'modelCallOf',
      'runOf',
      'testOf',
      'whatIfOf',
      'whatIfReportOf',
      'whatIfsOf',
    ],
  ]);
});

it('colloquy/react exports these hooks and parts: adding one extends the public surface', async () => {
  expect(Object.keys((await import('colloquy/react')) as object).sort()).toEqual([
    ...['Approval', 'EditForm', 'Form', 'FormField', 'Question', 'Values'],
    ...['agoWords', 'changesOf', 'createHooks', 'durationWords', 'overSentence', 'problemSentence'],
    ...[
      'useAnswer',
      'useClientTools',
      'useConversation',
      'useInputSchema',
      'useNestedPending',
      'usePending',
      'useWorklist',
    ],
    'verdictSentence',
  ]);
  const { exports, peerDependencies, peerDependenciesMeta } = JSON.parse(
    readFileSync(`${ROOT}package.json`, 'utf8'),
  ) as Readonly<Record<string, object>>;
  expect(exports).toHaveProperty(['./react']);
  expect(peerDependencies).toHaveProperty('react');
  expect(peerDependenciesMeta).toHaveProperty(['react', 'optional'], true);
});
