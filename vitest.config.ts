import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { componentProjects } from './test/support/browser/components.js';
import { PATIENCE } from './test/support/patience.js';
import { PROMISE_TAGS } from './test/support/promise.js';
import { SlowFirst } from './test/support/slow-first.js';

/**
 * Projects of one group run in parallel; groups run one after the other. The model keeps one core busy, and the attack
 * the other.
 */
const GROUP = {
  pure: 0,
  components: 1,
  postgres: 2,
  servers: 3,
  'real-model': 4,
  attack: 4,
  alone: 5,
} as const;

/**
 * These tests mostly wait for servers and processes: three files at a time keep two cores busy, more would starve each
 * other. A model keeps a core busy by itself.
 */
const FILES_AT_ONCE = { postgres: 1, servers: 3, 'real-model': 1, attack: 1, alone: 1 } as const;

/** Half of the time of these tests is spent in waits of seconds, which two more files than there are cores use. */
const PURE_FILES_AT_ONCE = availableParallelism() + 2;

/**
 * Tests without servers, with no network but loopback. Files share a process, because loading the modules for each file
 * takes four times as long.
 */
function pure(name: string) {
  return {
    test: {
      name,
      isolate: false,
      maxWorkers: PURE_FILES_AT_ONCE,
      include: [`test/${name}/**/*.test.ts`],
      testTimeout: 180_000 * PATIENCE,
      sequence: { groupOrder: GROUP.pure },
    },
  };
}

/** Now and then the time-skipping server leaves a request without an answer for good. */
const STANDS_STILL = /the time-skipping server stands still/;

/** Tests that share one server or start processes: one forked process for each file. */
function forked(
  name: 'postgres' | 'workflows' | 'time' | 'e2e' | 'real-model' | 'attack' | 'alone',
  globalSetup: string[],
  testTimeout: number,
) {
  const group = name === 'workflows' || name === 'time' || name === 'e2e' ? 'servers' : name;
  return {
    test: {
      name,
      include: [`test/${name}/**/*.test.ts`],
      globalSetup,
      pool: 'forks' as const,
      maxWorkers: FILES_AT_ONCE[group],
      testTimeout: testTimeout * PATIENCE,
      ...(name === 'time' ? { retry: { count: 1, condition: STANDS_STILL } } : {}),
      hookTimeout: 120_000 * PATIENCE,
      teardownTimeout: 30_000 * PATIENCE,
      sequence: { groupOrder: GROUP[group] },
    },
  };
}

export default defineConfig({
  test: {
    tags: PROMISE_TAGS,
    sequence: { sequencer: SlowFirst },
    projects: [
      // Every state with every input, and random schedules: seconds each.
      pure('exhaustive'),
      pure('unit'),
      pure('types'),
      pure('activities'),
      pure('http'),
      pure('bundle'),
      pure('replay'),
      pure('docs'),
      ...componentProjects(GROUP.components),
      forked('postgres', ['test/support/networks/postgres.ts'], 120_000),
      forked(
        'workflows',
        ['test/support/engine/bundle.ts', 'test/support/servers/server.ts'],
        120_000,
      ),
      forked('time', ['test/support/engine/bundle.ts'], 120_000),
      forked('e2e', [], 180_000),
      forked(
        'real-model',
        ['test/support/engine/bundle.ts', 'test/support/servers/server.ts'],
        180_000,
      ),
      forked('attack', [], 180_000),
      // Tests whose bar is a time: they have the machine for themselves.
      forked('alone', [], 180_000),
    ],
  },
});
