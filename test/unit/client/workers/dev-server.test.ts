import { expect, it } from 'vitest';
import { devServerCommand } from '../../../../src/client/workers/dev-server.js';
import { temporaryFolder } from '../../../support/temporary.js';

it('the hint names the script as a shell finds it, above the package too, and elsewhere the command of the package: never a path of the machine', () => {
  expect(devServerCommand('start', process.cwd())).toBe('./temporal-dev.sh');
  expect(devServerCommand('stop', process.cwd())).toBe('./temporal-dev.sh --stop');
  const above = devServerCommand('start', `${process.cwd()}/..`);
  expect(above).toMatch(/^\.\/[^/]+\/temporal-dev\.sh$/);
  expect(devServerCommand('start', temporaryFolder())).toBe('npx colloquy temporal start');
  expect(devServerCommand('stop', temporaryFolder())).toBe('npx colloquy temporal stop');
});
