/** `npm test` itself: the CPU load that it adds on request, and the end of that load. */
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { until } from '../../support/until.js';
import { processesWith, ROOT, start, untilNoneLeft } from '../support/processes.js';

const RUNNER = join(ROOT, 'scripts', 'test.mjs');
const LOOPS = join(ROOT, 'scripts', 'busy-loops.mjs');
const SMALL = ['--no-build', '--project', 'docs', 'test/docs/promises.test.ts'];
const newMark = (): string => `COLLOQUY_E2E_MARK_${randomUUID().slice(0, 8)}=1`;
const asEnv = (mark: string): NodeJS.ProcessEnv =>
  Object.fromEntries([mark.split('=')]) as NodeJS.ProcessEnv;
const busy = (mark: string): readonly string[] =>
  processesWith(mark).filter((process) => process.includes('isOrphan'));

describe('COLLOQUY_TEST_LOAD', () => {
  it('runs that many busy loops during a run, and leaves none', async () => {
    const mark = newMark();
    const env = { ...asEnv(mark), COLLOQUY_TEST_LOAD: '2' };
    const run = start(process.execPath, [RUNNER, ...SMALL], { env });
    await until('two loops are busy', () => busy(mark), {
      holds: (loops) => loops.length === 2,
    });
    expect(await run.ended).toBe(0);
    expect(run.stderr()).toContain('test: beside 2 busy loops');
    expect(run.stdout()).toMatch(/\n\d+ passed, 0 failed\n$/);
    await untilNoneLeft(mark);
  });

  it('ends with a run that is killed', async () => {
    const mark = newMark();
    const code = `import { startBusyLoops } from ${JSON.stringify(LOOPS)};
startBusyLoops(3);
setInterval(() => {}, 1_000);`;
    const args = ['--input-type=module', '-e', code];
    const run = start(process.execPath, args, { env: asEnv(mark) });
    await until('three loops are busy', () => busy(mark), {
      holds: (loops) => loops.length === 3,
    });
    run.kill('SIGKILL');
    expect(await run.ended).toBe('SIGKILL');
    await untilNoneLeft(mark);
  });

  it.each(['four', '-1', '65', '1.5'])('of %s is refused with a message', async (load) => {
    const run = start(process.execPath, [RUNNER, ...SMALL], { env: { COLLOQUY_TEST_LOAD: load } });
    expect(await run.ended).toBe(1);
    expect(run.stderr()).toContain(`COLLOQUY_TEST_LOAD=${load} is not a number of busy loops`);
  });
});
