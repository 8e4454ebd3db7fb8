import { defineConfig } from 'vitest/config';

/** Projects that share a group run side by side; groups run one after the other. */
const GROUP = { pure: 0, postgres: 1, workflows: 2, time: 3, e2e: 4 } as const;

/** No server, no network but loopback. */
function pure(name: string, testTimeout = 20_000) {
  return {
    test: {
      name,
      include: [`test/${name}/**/*.test.ts`],
      testTimeout,
      sequence: { groupOrder: GROUP.pure },
    },
  };
}

/** Tests that share one server or start processes: one file at a time, in one forked process each. */
function serial(
  name: Exclude<keyof typeof GROUP, 'pure'>,
  globalSetup: string[],
  testTimeout: number,
) {
  return {
    test: {
      name,
      include: [`test/${name}/**/*.test.ts`],
      globalSetup,
      pool: 'forks' as const,
      fileParallelism: false,
      maxWorkers: 1,
      testTimeout,
      hookTimeout: 120_000,
      teardownTimeout: 30_000,
      sequence: { groupOrder: GROUP[name] },
    },
  };
}

export default defineConfig({
  test: {
    projects: [
      pure('unit'),
      pure('activities', 15_000),
      pure('http', 15_000),
      pure('bundle', 60_000),
      pure('replay', 60_000),
      pure('docs', 30_000),
      serial('postgres', ['test/support/postgres.ts'], 30_000),
      serial('workflows', ['test/support/bundle.ts', 'test/support/server.ts'], 60_000),
      serial('time', ['test/support/bundle.ts'], 60_000),
      serial('e2e', [], 180_000),
    ],
  },
});
