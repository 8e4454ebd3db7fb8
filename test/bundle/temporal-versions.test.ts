/** Temporal's packages are peers: the versions that a user may have, and the workflow code for each of them. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import semver from 'semver';
import { expect, it } from 'vitest';
import type * as Bundle from '../../src/worker/temporal/bundle.js';
import { patient } from '../support/patience.js';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const { BUNDLED_PACKAGES, installedSdk, PREBUILT, workflowCode } = (await import(
  join(ROOT, 'dist/worker/temporal/bundle.js')
)) as typeof Bundle;

interface Manifest {
  readonly files: readonly string[];
  readonly dependencies: Readonly<Record<string, string>>;
  readonly peerDependencies: Readonly<Record<string, string>>;
  readonly peerDependenciesMeta: Readonly<Record<string, { readonly optional?: boolean }>>;
  readonly devDependencies: Readonly<Record<string, string>>;
}

const manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as Manifest;
const PREFIX = '@temporalio/';

/** Packages of Temporal that the published code imports. */
function importedPackages(): readonly string[] {
  const ours = readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' });
  const texts = ours
    .filter((file) => file.endsWith('.ts'))
    .map((file) => readFileSync(join(ROOT, 'src', file), 'utf8'));
  const names = texts.flatMap((text) =>
    [...text.matchAll(/from '(@temporalio\/[a-z]+)/g)].map(([, name = '']) => name),
  );
  return [...new Set(names)].sort();
}

function loggerOf(lines: string[]) {
  const add = (message: string): void => {
    lines.push(message);
  };
  return { warn: add, error: add };
}

it('every package of Temporal that the code imports is a required peer of one minor, and none is a dependency', () => {
  const peers = Object.entries(manifest.peerDependencies).filter(([name]) =>
    name.startsWith(PREFIX),
  );
  expect(peers.map(([name]) => name).sort()).toEqual(importedPackages());
  expect([...new Set(peers.map(([, range]) => range))]).toEqual(['>=1.24 <1.25']);
  for (const [name] of peers) expect(manifest.peerDependenciesMeta[name]?.optional).not.toBe(true);
  const own = Object.keys(manifest.dependencies).filter((name) => name.startsWith(PREFIX));
  expect(own).toEqual([]);
});

it('this repository installs exactly one version of them, inside of that range', () => {
  const versions = Object.entries(manifest.devDependencies).flatMap(([name, version]) =>
    name.startsWith(PREFIX) ? [version] : [],
  );
  expect([...new Set(versions)]).toEqual([installedSdk()]);
  expect(semver.satisfies(installedSdk(), '>=1.24 <1.25')).toBe(true);
});

it('a worker takes the bundle of the build where the installed SDK is the one in it, and logs nothing', async () => {
  const lines: string[] = [];
  expect(await workflowCode({ logger: loggerOf(lines) })).toEqual({ codePath: PREBUILT.code });
  expect(JSON.parse(readFileSync(PREBUILT.record, 'utf8'))).toEqual({ sdk: installedSdk() });
  expect(lines).toEqual([]);
});

it('the version of the SDK is that of the worker, and of each package in the bundle that differs', () => {
  expect(installedSdk(() => '1.24.3')).toBe('1.24.3');
  expect(installedSdk((name) => (name === 'workflow' ? '1.24.2' : '1.24.3'))).toBe(
    '1.24.3 (workflow 1.24.2)',
  );
  const each = { worker: '1.24.1', workflow: '1.24.2', common: '1.24.3' };
  expect(installedSdk((name) => each[name])).toBe('1.24.1 (workflow 1.24.2, common 1.24.3)');
  const code = readFileSync(PREBUILT.code, 'utf8');
  const bundled = [...code.matchAll(/node_modules\/@temporalio\/([a-z-]+)\//g)].map(
    ([, name = '']) => name,
  );
  expect([...new Set(bundled)].sort()).toEqual([...BUNDLED_PACKAGES].sort());
});

it('with another version of the SDK a worker builds the same code anew, once, and logs both versions', {
  timeout: patient(60_000),
}, async () => {
  const lines: string[] = [];
  const options = { logger: loggerOf(lines), sdk: '1.24.99' };
  const [first, second] = await Promise.all([workflowCode(options), workflowCode(options)]);
  expect(second).toBe(first);
  expect(lines).toEqual([
    `The workflow bundle of colloquy was built with version ${installedSdk()} of Temporal's SDK; it is rebuilt with version 1.24.99, at each start of a worker`,
  ]);
  const shipped = readFileSync(PREBUILT.code, 'utf8');
  const withoutMap = (code: string): string =>
    code.slice(0, code.lastIndexOf('//# sourceMappingURL'));
  expect('code' in first && withoutMap(first.code)).toBe(withoutMap(shipped));
});
