/** The tutorial, followed word by word: only its ports are others, and the package comes from this repository. */
import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it, onTestFinished } from 'vitest';
import { patient } from '../../support/patience.js';
import { promise } from '../../support/promise.js';
import { freePort } from '../../support/servers/dev-server.js';
import { type Command, ROOT, start } from '../support/processes.js';
import { countOfBlocks, patternOf, stepsOf } from './steps.js';

const INSTALL_MS = 300_000;
const PAGE = readFileSync(join(ROOT, 'docs', 'tutorial.md'), 'utf8');

/** A folder in which `npx colloquy` is the package of this repository, as if it were published. */
async function userFolder() {
  const folder = mkdtempSync(join(tmpdir(), 'colloquy-tutorial-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const pack = ['pack', '--json', '--ignore-scripts', '--pack-destination', folder];
  await promisify(execFile)('npm', pack, { cwd: ROOT });
  const [tarball = ''] = readdirSync(folder).filter((name) => name.endsWith('.tgz'));
  writeFileSync(join(folder, 'package.json'), '{"private":true}');
  const others = (process.env['PATH'] ?? '')
    .split(delimiter)
    .filter((entry) => !entry.startsWith(join(ROOT, 'node_modules')));
  const env = {
    PATH: [dirname(process.execPath), ...others].join(delimiter),
    TEMPORAL_ADDRESS: `127.0.0.1:${await freePort()}`,
    // The secret is that of the folder.
    COLLOQUY_DEV_SECRET: undefined,
    ...{ npm_config_prefer_offline: 'true', npm_config_audit: 'false', npm_config_fund: 'false' },
  };
  await promisify(execFile)('npm', ['install', `./${tarball}`], { cwd: folder, env });
  return { folder, tarball: join(folder, tarball), env };
}

it('the tutorial prints what it says, from an empty folder to answers by curl, by command and by webhook', {
  ...promise('G339'),
  timeout: patient(2 * INSTALL_MS),
}, async () => {
  const steps = stepsOf(PAGE);
  expect(steps).toHaveLength(countOfBlocks(PAGE));
  const { folder, tarball, env } = await userFolder();
  const [api, receiver] = [String(await freePort()), String(await freePort())];
  const local = (text: string): string =>
    text
      .replaceAll(':8080', `:${api}`)
      .replaceAll(/9000(?=[/,])/g, receiver)
      .replace('npm run dev', `npm run dev -- --port ${api}`);
  const running: Command[] = [];
  let cwd = folder;
  const shell = (command: string) => start('bash', ['-ec', local(command)], { cwd, env });
  try {
    for (const step of steps) {
      if (step.type === 'file') {
        writeFileSync(join(cwd, step.name), local(step.content));
      } else if (step.type === 'keep') {
        const kept = start('bash', ['-ec', local(step.command)], { cwd, env, leads: true });
        running.push(kept);
        await kept.prints(new RegExp(step.until));
      } else if (step.command.includes('npx colloquy init')) {
        // The package is not published yet: the project takes it from here.
        const [init = '', enter = '', ...rest] = step.command.trim().split('\n');
        expect(enter).toBe('cd my-app');
        const begun = shell(`${init} --package file:${tarball}`);
        expect(await begun.ended, begun.stderr()).toBe(0);
        cwd = join(cwd, 'my-app');
        const installed = shell(rest.join('\n'));
        expect(await installed.ended, installed.stderr()).toBe(0);
      } else {
        const done = shell(step.command);
        expect(await done.ended, done.stderr()).toBe(0);
        if (step.prints !== undefined)
          expect(done.stdout().trim()).toMatch(patternOf(local(step.prints)));
      }
    }
    const [, approver] = running;
    expect(approver?.stdout()).toContain('order-3: refund of 7500 cents is approved: accepted');
  } finally {
    for (const one of running.toReversed()) {
      // As Ctrl-C does: the whole group.
      process.kill(-one.pid, 'SIGINT');
      await one.ended;
    }
  }
});
