/** Workflow bundles of bad deploys. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';
import { bundleFromSource } from '../engine/workflow-bundle.js';

export type BadDeploy = 'throws-after-answers' | 'starts-more-timers';

/** For `workflowBundle` of a worker; removed when the test ends. */
export async function badBundle(deploy: BadDeploy): Promise<{ readonly codePath: string }> {
  const module = fileURLToPath(new URL(`${deploy}.ts`, import.meta.url));
  const folder = mkdtempSync(join(tmpdir(), 'colloquy-bad-bundle-'));
  onTestFinished(() => {
    rmSync(folder, { recursive: true, force: true });
  });
  const codePath = join(folder, 'workflow-bundle.js');
  writeFileSync(codePath, await bundleFromSource(module));
  return { codePath };
}
