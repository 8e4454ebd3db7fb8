/** Samples of the documents, as a user's compiler sees them: with the settings that getting-started.md gives. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { beforeAll, expect, it } from 'vitest';
import { patient } from '../support/patience.js';

const ROOT = join(import.meta.dirname, '..', '..');
const PAGES = [
  'README.md',
  ...readdirSync(join(ROOT, 'docs'))
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`),
];
const BLOCK = /^```(tsx?|json)\n(.*?)^```$/gms;

/** Names and files that a page leaves to its reader, and parameters of functions that are given to such names. */
const LEFT_TO_READERS: readonly number[] = [2304, 2307, 7006, 7031, 18004];

interface Sample {
  readonly page: string;
  readonly line: number;
  readonly type: string;
  readonly code: string;
}

function samplesOf(page: string): readonly Sample[] {
  const text = readFileSync(join(ROOT, page), 'utf8');
  return [...text.matchAll(BLOCK)].map(({ index, 1: type = '', 2: code = '' }) => {
    const line = text.slice(0, index).split('\n').length + 1;
    return { page, line, type, code };
  });
}

/** A part of a value, such as fields of options, begins in the middle of a line. */
const isWhole = ({ code }: Sample): boolean => !/^\s*(?:[{.…]|\w+:)/.test(code);

const samples = PAGES.flatMap(samplesOf).filter(isWhole);

function optionsOfUsers(): ts.CompilerOptions {
  const config = samplesOf('docs/getting-started.md').find(({ code }) =>
    code.includes('compilerOptions'),
  );
  const { compilerOptions } = JSON.parse(config?.code ?? '{}') as { compilerOptions: object };
  const { options, errors } = ts.convertCompilerOptionsFromJson(compilerOptions, ROOT);
  expect(errors).toEqual([]);
  expect(options).toMatchObject({ strict: true, noEmit: true });
  return { ...options, jsx: ts.JsxEmit.ReactJSX, types: ['node'] };
}

const refused = new Map<string, readonly string[]>();

beforeAll(() => {
  const options = optionsOfUsers();
  // In the folder of the documents, so that `colloquy` is found by the name of this package.
  const files = new Map(
    samples
      .filter(({ type }) => type !== 'json')
      .map((sample) => [
        join(ROOT, 'docs', `${sample.line}-${sample.page.replace('/', '-')}.${sample.type}`),
        sample,
      ]),
  );
  const host = ts.createCompilerHost(options);
  const { fileExists, readFile } = host;
  // Every sample is a module of its own.
  host.readFile = (name) => {
    const sample = files.get(name);
    return sample === undefined ? readFile(name) : `${sample.code}\nexport {};\n`;
  };
  host.fileExists = (name) => files.has(name) || fileExists(name);
  const program = ts.createProgram([...files.keys()], options, host);
  for (const [name, { page, line }] of files) {
    const file = program.getSourceFile(name);
    const found = [
      ...program.getSyntacticDiagnostics(file),
      ...program.getSemanticDiagnostics(file),
    ]
      .filter(({ code }) => !LEFT_TO_READERS.includes(code))
      .map(({ start = 0, messageText }) => {
        const at = line + (file?.getLineAndCharacterOfPosition(start).line ?? 0);
        return `${page}:${at} ${ts.flattenDiagnosticMessageText(messageText, ' ')}`;
      });
    refused.set(page, [...(refused.get(page) ?? []), ...found]);
  }
}, patient(120_000));

it.each([...new Set(samples.filter(({ type }) => type !== 'json').map(({ page }) => page))])(
  'the samples of %s compile under strict',
  (page) => {
    expect(refused.get(page)).toEqual([]);
  },
);
