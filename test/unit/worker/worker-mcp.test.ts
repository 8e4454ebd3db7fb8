/** The means by which a worker holds calls of MCP servers open: a queue of its own, and the connections. */

import { afterEach, describe, expect, it, vi } from 'vitest';
import { defineAgent, mcpServer } from '../../../src/index.js';
import { script } from '../../../src/model/scripted/scripted.js';
import { workerMcp } from '../../../src/worker/worker-mcp.js';
import { type QueueWorker, WorkerQueue } from '../../../src/worker/worker-queue.js';
import { scopesOf } from '../../support/builders/scopes.js';
import { promise } from '../../support/promise.js';

/** A worker whose run ends when the test says so. */
class ControlledWorker implements QueueWorker {
  readonly #ended: Promise<void>;
  #end: (fault?: Error) => void = () => undefined;
  #state: 'INITIALIZED' | 'RUNNING' | 'DRAINING' = 'INITIALIZED';

  constructor() {
    this.#ended = new Promise((resolve, reject) => {
      this.#end = (fault) => {
        if (fault === undefined) resolve();
        else reject(fault);
      };
    });
  }

  getState() {
    return this.#state;
  }

  async run(): Promise<void> {
    this.#state = 'RUNNING';
    await this.#ended;
  }

  shutdown(): void {
    this.#state = 'DRAINING';
  }

  drained(): void {
    this.#end();
  }

  fail(reason: string): void {
    this.#end(new Error(reason));
  }
}

function setUp() {
  const made: ControlledWorker[] = [];
  const faults: string[] = [];
  const create = (): Promise<ControlledWorker> => {
    const fault = faults.shift();
    if (fault !== undefined) return Promise.reject(new Error(fault));
    const worker = new ControlledWorker();
    made.push(worker);
    return Promise.resolve(worker);
  };
  const error = vi.fn();
  const quiet = () => undefined;
  const logger = { debug: quiet, info: quiet, warn: quiet, error };
  return { made, faults, create, error, logger, taskQueue: 'all' };
}

const queue = ({ create, logger, taskQueue }: ReturnType<typeof setUp>): WorkerQueue =>
  new WorkerQueue(taskQueue, { create, logger });

afterEach(() => vi.restoreAllMocks());

const AGENT = { name: 'desk', instructions: 'Help.', model: script() };

const TURN = () => new Promise((resolve) => setImmediate(resolve));

describe('the queue that a worker alone polls', () => {
  it('is started once, for any number of held calls', async () => {
    const parts = setUp();
    const own = queue(parts);
    const names = await Promise.all([own.poll(), own.poll()]);
    expect(new Set([...names, await own.poll()]).size).toBe(1);
    expect(names[0]).toMatch(/^all-held-[0-9a-f]{16}$/);
    expect(parts.made).toHaveLength(1);
  });

  it('is started again by the next call when it could not be started, and the log says why', {
    ...promise('G151'),
  }, async () => {
    const parts = setUp();
    parts.faults.push('no connection');
    const own = queue(parts);
    await expect(own.poll()).rejects.toThrow('no connection');
    expect(parts.error).toHaveBeenCalledExactlyOnceWith(expect.any(String), {
      taskQueue: expect.stringMatching(/^all-held-/) as string,
      reason: 'no connection',
    });
    expect(await own.poll()).toMatch(/^all-held-/);
    expect(parts.made).toHaveLength(1);
  });

  it('is started again when its worker has failed, under the name that history has', {
    ...promise('G151'),
  }, async () => {
    const parts = setUp();
    const own = queue(parts);
    const name = await own.poll();
    parts.made[0]?.fail('poll refused');
    await TURN();
    expect(parts.error).toHaveBeenCalledExactlyOnceWith(expect.any(String), {
      taskQueue: name,
      reason: 'poll refused',
    });
    expect(await own.poll()).toBe(name);
    expect(parts.made).toHaveLength(2);
  });

  it('is given to no call once it is stopped, also by a signal to the process', async () => {
    const parts = setUp();
    const own = queue(parts);
    await own.poll();
    parts.made[0]?.drained();
    await TURN();
    await expect(own.poll()).rejects.toThrow('stopping');
    const stopped = queue(parts);
    const polling = stopped.poll();
    const stopping = stopped.stop();
    await expect(polling).rejects.toThrow('stopping');
    parts.made[1]?.drained();
    await stopping;
    expect(parts.error).not.toHaveBeenCalled();
  });
});

describe('the servers of a worker', () => {
  it('are not reached at the addresses of its API', promise('G405'), async () => {
    const warn = vi.fn();
    const parts = setUp();
    const logger = { ...parts.logger, warn };
    const apiUrls = ['http://127.0.0.1:1'];
    const { close, mcp } = workerMcp({ ...parts, logger, scopes: scopesOf(), apiUrls });
    const url = 'http://127.0.0.1:1/mcp';
    const server = mcpServer({ name: 'kit', url, allowPrivate: ['127.0.0.1'] });
    const agent = defineAgent({ ...AGENT, mcpServers: [server] });
    expect((await mcp.equip(agent)).tools).toEqual([]);
    expect(JSON.stringify(warn.mock.calls)).toContain('is the API of this installation');
    await close();
  });
});

describe('a worker that stops', () => {
  it('keeps its connections to MCP servers until the runs of held calls are drained', {
    ...promise('G151'),
  }, async () => {
    const order: string[] = [];
    const { close, mcp } = workerMcp({ ...setUp(), scopes: scopesOf() });
    vi.spyOn(WorkerQueue.prototype, 'stop').mockImplementation(async () => {
      order.push('draining');
      await TURN();
      order.push('drained');
    });
    vi.spyOn(mcp, 'close').mockImplementation(() => {
      order.push('connections closed');
      return Promise.resolve();
    });
    await close();
    expect(order).toEqual(['draining', 'drained', 'connections closed']);
  });
});
