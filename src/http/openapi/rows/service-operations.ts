/** Operations about the process that serves the API; they need no identity. */
import type { Operation } from './operation.js';
import * as shapes from './shapes.js';

export const SERVICE_OPERATIONS: readonly Operation[] = [
  {
    ...{ method: 'get', path: '/healthz', id: 'isAlive' },
    ...{ right: 'open', probe: true },
    summary: 'Whether the process is up',
    answers: { 200: shapes.Health },
  },
  {
    ...{ method: 'get', path: '/readyz', id: 'isReady' },
    ...{ right: 'open', probe: true },
    summary: 'Whether everything that the API depends on is available',
    answers: { 200: shapes.Ready, 503: shapes.Ready },
  },
  {
    ...{ method: 'get', path: '/openapi.json', id: 'describe', tagged: true },
    right: 'open',
    summary: 'This description',
    answers: { 200: shapes.Description, 304: 'none' },
  },
];
