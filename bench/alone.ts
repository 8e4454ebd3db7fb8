/** Measurements that share nothing with the others of a run: each is measured alone. */

import { measureReaders } from './crowd/measure.js';
import { INBOX, INBOX_QUICK, measureInbox } from './inbox/measure.js';
import type { Bench } from './measures/processes.js';
import {
  inboxTable,
  readersTable,
  spacesTable,
  streamingTable,
  tenantsTable,
} from './report/crowd-report.js';
import type { TenantsResult } from './shared/long-cells.js';
import { measureSpaces } from './spaces/measure.js';
import { measureStreaming } from './stream/streaming.js';

export const ALONE = ['streaming', 'readers', 'tenants', 'spaces', 'inbox'] as const;
export type Alone = (typeof ALONE)[number];

export interface AloneOptions {
  readonly quick: boolean;
  readonly samples: number;
}

/** `withBench` starts the processes of a run, for a measurement that needs them. */
export async function measureAlone(
  which: Alone,
  { quick, samples }: AloneOptions,
  withBench: <Result>(work: (bench: Bench) => Promise<Result>) => Promise<Result>,
): Promise<{ readonly result: object; readonly text: readonly string[] }> {
  switch (which) {
    case 'streaming': {
      const result = await measureStreaming(samples);
      return { result, text: ['What the engine adds to a stream:', streamingTable(result)] };
    }
    case 'readers': {
      const result = await measureReaders(quick ? 10 : 60);
      return { result, text: ['A crowd of readers:', readersTable(result)] };
    }
    case 'spaces': {
      const result = await (quick ? measureSpaces(5, 20) : measureSpaces(60));
      return { result, text: ['Messages of many spaces:', spacesTable(result)] };
    }
    case 'inbox': {
      const result = await measureInbox(quick ? INBOX_QUICK : INBOX);
      return { result, text: ['The inbox of the web page:', inboxTable(result)] };
    }
    case 'tenants': {
      const request = quick ? { flood: 200, seconds: 4 } : { flood: 5_000, seconds: 60 };
      const result = await withBench((bench) =>
        bench.ask<TenantsResult>({ type: 'tenants', request }),
      );
      return { result, text: ['Turns of a quiet tenant:', tenantsTable(result)] };
    }
  }
}
