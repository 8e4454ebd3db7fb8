/** The load generator: a process of its own that drives both sides in turn, as its parent says. */
import { Client, Connection } from '@temporalio/client';
import { openEventLog } from 'colloquy/log';
import type { LoadConfig, LoadReply, LoadRequest } from '../cells.js';
import { measureCell, measureShape } from './measure.js';
import { engineSide, floorSide } from './sides.js';
import { Watchers } from './watcher.js';

const config = JSON.parse(process.argv[2] ?? '{}') as LoadConfig;
const connection = await Connection.connect({ address: config.address });
const temporal = new Client({ connection });
const opened = await openEventLog(config.logFile);
const watchers = new Watchers(config.apiUrl);
const agents = await opened.log.agents();
const sides = {
  engine: engineSide({ temporal, opened, agents, watchers }),
  floor: floorSide(temporal),
};
const pids = { ...config.pids, load: process.pid };

async function answer(message: LoadRequest): Promise<LoadReply> {
  try {
    if (message.type === 'shape') {
      const begin = sides[message.side];
      return { type: 'result', result: await measureShape(temporal, begin, message) };
    }
    const { request } = message;
    const result = await measureCell(request, {
      begin: sides[request.side],
      pids,
      ...(request.side === 'engine' ? { watchedAt: (turnId) => watchers.endOf(turnId) } : {}),
    });
    watchers.check();
    return { type: 'result', result };
  } catch (error) {
    return {
      type: 'failed',
      message: error instanceof Error ? (error.stack ?? '') : String(error),
    };
  } finally {
    watchers.close();
  }
}

function tell(reply: LoadReply): void {
  process.send?.(reply);
}

process.on('message', (message) => {
  void answer(message as LoadRequest).then(tell);
});
process.once('disconnect', () => {
  watchers.close();
  void opened.close().then(() => connection.close());
});
tell({ type: 'ready' });
