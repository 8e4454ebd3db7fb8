/**
 * How the API of a development stack has its parent kill the worker. Only `startStack` says in the environment that it
 * answers; a process without a parent that does has no such request.
 */
import { randomUUID } from 'node:crypto';
import type { WorkerKilled } from '../../protocol/log/operations.js';
import { isRecord } from '../../protocol/values/json.js';

const VARIABLE = 'COLLOQUY_DEV_STACK';
const KILL_WORKER = 'kill_worker';
/** A killed process is gone at once. */
const ANSWER_MS = 10_000;

/** The environment of the API in a stack. */
export const IN_STACK = { [VARIABLE]: 'kills-workers' } as const;

export function isKillRequest(message: Readonly<Record<string, unknown>>): boolean {
  return message['type'] === KILL_WORKER;
}

/** The request to the parent; undefined where no parent answers it. The request rejects when the parent could not. */
export function killRequest(
  environment: NodeJS.ProcessEnv,
): (() => Promise<WorkerKilled>) | undefined {
  if (environment[VARIABLE] !== IN_STACK[VARIABLE] || process.send === undefined) return undefined;
  return async () => {
    const id = randomUUID();
    return await new Promise((resolve, reject) => {
      const done = (end: () => void): void => {
        clearTimeout(timer);
        process.off('message', take);
        end();
      };
      const take = (message: unknown): void => {
        if (!isRecord(message) || message['id'] !== id) return;
        const { killedPid, error } = message;
        done(() => {
          if (typeof killedPid === 'number') resolve({ killedPid });
          else reject(new Error(typeof error === 'string' ? error : 'no process id in the answer'));
        });
      };
      const timer = setTimeout(() => {
        done(() => {
          reject(new Error('the stack did not answer'));
        });
      }, ANSWER_MS);
      process.on('message', take);
      process.send?.({ type: KILL_WORKER, id });
    });
  };
}
