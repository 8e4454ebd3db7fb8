/** The built web page: its size, and that it loads nothing from outside; and the entry point of its hooks. */
import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const UI = `${ROOT}dist/ui`;
const SIZE_LIMIT = `${ROOT}node_modules/size-limit/bin.js`;
const run = promisify(execFile);

interface Size {
  readonly name: string;
  readonly passed: boolean;
  /** Bytes with gzip. */
  readonly size: number;
}

describe('the page', () => {
  const files = readdirSync(`${UI}/assets`);
  const textOf = (file: string): string => readFileSync(`${UI}/${file}`, 'utf8');

  it('is as small as .size-limit.mjs says, each face and all files together', async () => {
    // Exits with 1 where a bound is not kept.
    const { stdout } = await run(process.execPath, [SIZE_LIMIT, '--json'], { cwd: ROOT });
    const sizes = JSON.parse(stdout) as readonly Size[];
    expect(sizes.map(({ name, passed }) => [name, passed])).toEqual([
      ['inbox', true],
      ['chat', true],
      ['studio', true],
      ['studio, with later parts', true],
      ['all files', true],
    ]);
    for (const { name, size } of sizes) expect([name, size > 50_000]).toEqual([name, true]);
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
