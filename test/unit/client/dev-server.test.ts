import { expect, it } from 'vitest';
import { devServerScript } from '../../../src/client/dev-server.js';
import { temporaryFolder } from '../../support/temporary.js';

it('names the script as a shell finds it, above the package too, and no path of the machine', () => {
  expect(devServerScript(process.cwd())).toBe('./temporal-dev.sh');
  const above = devServerScript(`${process.cwd()}/..`);
  expect(above).toMatch(/^\.\/[^/]+\/temporal-dev\.sh$/);
  expect(devServerScript(temporaryFolder())).toBe('temporal-dev.sh of this package');
});
