/**
 * Queries from outside, as open pages and curious people send them: one a second for each conversation, and now and
 * then six at once, by workflow id, by run id, and as the Temporal UI sends them, over the HTTP API of its server.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import { isQueryRefused } from '../../../src/client/temporal/query-retry.js';
import { Dice } from '../dice.js';

export interface QueryCounts {
  asked: number;
  answered: number;
  /** Refused by the worker while a task was running: the caller queries again. */
  refused: number;
  /** There was no worker, or the server could not queue another query. */
  unanswered: number;
  /** Reasons of the queries without an answer, with their counts. */
  readonly reasons: Record<string, number>;
}

/** Returns the conversations to query. */
export interface Asked {
  readonly temporal: Client;
  /** Address of the server's UI. Without one, the UI's queries are sent by gRPC. */
  readonly uiUrl?: string;
}

const BEAT_MS = 1_000;
const BURST = 6;
/** One in this many beats is a burst. */
const BURST_IN = 8;
const DEADLINE_MS = 5_000;
/** Open queries of one conversation; beyond this bound, none is sent. */
const MOST_OPEN = 24;
const NAMES = ['snapshot', 'pending'] as const;
const UI_NAMES = ['__stack_trace', '__temporal_workflow_metadata', 'snapshot'] as const;
const NONDETERMINISM = /TMPRL1100|ondeterminism/;

export class OutsideQueries {
  readonly counts: QueryCounts = {
    asked: 0,
    answered: 0,
    refused: 0,
    unanswered: 0,
    reasons: {},
  };
  /** A query's error that says that a run cannot be replayed. */
  readonly nondeterminism: string[] = [];
  readonly #asked: Asked;
  #cookie: Promise<string> | undefined;

  constructor(asked: Asked) {
    this.#asked = asked;
  }

  /** Queries until the signal fires; resolves when no query is open any more. */
  async watch(
    workflowId: string,
    by: { readonly seed: number; readonly signal: AbortSignal },
  ): Promise<void> {
    const dice = new Dice(by.seed);
    const open = new Set<Promise<void>>();
    while (!by.signal.aborted) {
      const many = dice.oneIn(BURST_IN) ? BURST : 1;
      for (let asked = 0; asked < many && open.size < MOST_OPEN; asked += 1) {
        const asking = this.#ask(workflowId, dice).finally(() => open.delete(asking));
        open.add(asking);
      }
      const pauseMs = BEAT_MS / 2 + dice.below(BEAT_MS);
      await sleep(pauseMs, undefined, { signal: by.signal }).catch(() => undefined);
    }
    await Promise.all(open);
  }

  async #ask(workflowId: string, dice: Dice): Promise<void> {
    this.counts.asked += 1;
    const asking = dice.pick([
      () => this.#byId(workflowId, dice),
      () => this.#byRun(workflowId, dice),
      () => this.#byUi(workflowId, dice),
      () => this.#look(workflowId, dice),
    ] as const);
    try {
      await asking();
      this.counts.answered += 1;
    } catch (error) {
      const text = String(error);
      if (NONDETERMINISM.test(text)) this.nondeterminism.push(`${workflowId}: ${text}`);
      if (isQueryRefused(error)) this.counts.refused += 1;
      else {
        this.counts.unanswered += 1;
        const { reasons } = this.counts;
        const reason = reasonOf(error);
        reasons[reason] = (reasons[reason] ?? 0) + 1;
      }
    }
  }

  async #byId(workflowId: string, dice: Dice): Promise<void> {
    await this.#query(workflowId, { name: dice.pick(NAMES) });
  }

  async #byRun(workflowId: string, dice: Dice): Promise<void> {
    const name = dice.pick(NAMES);
    const { temporal } = this.#asked;
    const { runId } = await temporal.workflow.getHandle(workflowId).describe();
    await this.#query(workflowId, { name, runId });
  }

  async #query(
    workflowId: string,
    { name, runId }: { readonly name: string; readonly runId?: string },
  ): Promise<void> {
    const { temporal } = this.#asked;
    const handle = temporal.workflow.getHandle(workflowId, runId);
    await temporal.withDeadline(Date.now() + DEADLINE_MS, () => handle.query(name));
  }

  /** The queries of a workflow's pages: its call stack, its current details. */
  async #byUi(workflowId: string, dice: Dice): Promise<void> {
    const queryType = dice.pick(UI_NAMES);
    const { uiUrl } = this.#asked;
    if (uiUrl === undefined) {
      await this.#query(workflowId, { name: queryType });
      return;
    }
    this.#cookie ??= newCookie(uiUrl);
    const cookie = await this.#cookie;
    const response = await fetch(`${pathOf(uiUrl, workflowId)}/query/${queryType}`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        cookie: `_csrf=${cookie}`,
        'x-csrf-token': cookie,
      },
      body: JSON.stringify({ query: { queryType } }),
      signal: AbortSignal.timeout(DEADLINE_MS),
    });
    const body = await response.text();
    if (!response.ok) throw new Error(body);
  }

  /** The reads of the page of a workflow without a worker: its description and its history. */
  async #look(workflowId: string, dice: Dice): Promise<void> {
    const { temporal, uiUrl } = this.#asked;
    if (uiUrl === undefined) {
      await temporal.workflow.getHandle(workflowId).describe();
      return;
    }
    const path = `${pathOf(uiUrl, workflowId)}${dice.oneIn(2) ? '' : '/history'}`;
    const response = await fetch(path, { signal: AbortSignal.timeout(DEADLINE_MS) });
    await response.arrayBuffer();
    if (!response.ok) throw new Error(`${response.status}`);
  }
}

/** The server's message: errors of the client and of the UI's server wrap it. */
function reasonOf(error: unknown): string {
  const { cause, message } = error instanceof Error ? error : new Error(String(error));
  const text = cause instanceof Error ? cause.message : message;
  const said = /"message": *"((?:[^"\\]|\\.)*)"/.exec(text)?.[1] ?? text.split('\n')[0] ?? '';
  // Ids and times differ from one message to the next.
  return said.replaceAll(/[0-9a-f-]{30,}|\d+(\.\d+)?/g, '…').slice(0, 120);
}

/** The UI's server refuses requests of a page without its token. */
async function newCookie(uiUrl: string): Promise<string> {
  const response = await fetch(`${uiUrl}/api/v1/settings`);
  await response.arrayBuffer();
  const token = response.headers
    .getSetCookie()
    .map((cookie) => /^_csrf=([^;]+)/.exec(cookie)?.[1])
    .find((found) => found !== undefined);
  if (token === undefined) throw new Error('the UI gave no token');
  return token;
}

function pathOf(uiUrl: string, workflowId: string): string {
  return `${uiUrl}/api/v1/namespaces/default/workflows/${encodeURIComponent(workflowId)}`;
}
