/**
 * The order of test files. Without results of a run before, Vitest starts the largest files of a project first; a small
 * file with many or long tests would then run alone at the end.
 */
import { existsSync } from 'node:fs';
import { relative } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Files that take a minute and more, although they are small. */
const SLOW: readonly string[] = [
  'test/workflows/history/histories.test.ts',
  'test/workflows/failures/reported-problems.test.ts',
  'test/workflows/failures/lost-task.test.ts',
  'test/e2e/tutorial/tutorial.test.ts',
  'test/e2e/webhooks/senders-killed.test.ts',
];

export class SlowFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const { root } = this.ctx.config;
    const missing = SLOW.filter((file) => !existsSync(`${root}/${file}`));
    if (missing.length > 0) throw new Error(`slow-first.ts names no test file: ${missing.join()}`);
    const isSlow = (file: TestSpecification): boolean =>
      SLOW.includes(relative(root, file.moduleId).replaceAll('\\', '/'));
    const sorted = await super.sort(files);
    // The order of the projects stays.
    return [...new Set(sorted.map(({ project }) => project))].flatMap((project) => {
      const own = sorted.filter((file) => file.project === project);
      return [...own.filter(isSlow), ...own.filter((file) => !isSlow(file))];
    });
  }
}
