/** A page of React for tests: bundled with one version of React, served beside the API of one conversation. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';
import { onTestFinished } from 'vitest';
import type { ScriptedApi } from './scripted-api.js';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));

/** Where each version of React is installed. */
const REACTS = {
  18: `${ROOT}test/support/react18/node_modules/`,
  19: `${ROOT}node_modules/`,
} as const;

export type ReactVersion = keyof typeof REACTS;

/** The script as one file, with the development build of React, which warns of faults. */
export async function bundledPage(script: string, version: ReactVersion): Promise<string> {
  const folder = REACTS[version];
  const build = await rolldown({
    input: script,
    platform: 'browser',
    logLevel: 'silent',
    resolve: { alias: { react: `${folder}react`, 'react-dom': `${folder}react-dom` } },
    transform: { define: { 'process.env.NODE_ENV': '"development"' } },
  });
  const { output } = await build.generate({ format: 'esm', minify: true });
  return output[0].code;
}

/** Serves the script in an empty page until the test ends. The API answers all else. Resolves with the address. */
export async function servedPage(code: string, api: ScriptedApi): Promise<string> {
  const server = createServer((request, response) => {
    const file = FILES[request.url ?? ''];
    if (file === undefined) void passOn(request, response, api);
    else {
      response.writeHead(200, {
        'content-type': file.type,
        'content-security-policy': "default-src 'self'; require-trusted-types-for 'script'",
      });
      response.end(file.text ?? code);
    }
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

const SHELL =
  '<!doctype html><html lang="en"><head><title>Page</title><link rel="icon" href="/icon.svg"><script type="module" src="/page.js"></script></head><body><main><h1>Page</h1><div id="root"></div></main></body></html>';
const FILES: Readonly<Record<string, { readonly type: string; readonly text?: string }>> = {
  '/': { type: 'text/html', text: SHELL },
  '/page.js': { type: 'text/javascript' },
  '/icon.svg': { type: 'image/svg+xml', text: '<svg xmlns="http://www.w3.org/2000/svg"/>' },
};

async function passOn(
  request: IncomingMessage,
  response: ServerResponse,
  api: ScriptedApi,
): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const text = Buffer.concat(chunks).toString();
  const answer = await api.fetch(request.url ?? '/', {
    method: request.method ?? 'GET',
    headers: request.headers as Record<string, string>,
    ...(text === '' ? {} : { body: text }),
  });
  const isStream = request.headers.accept === 'text/event-stream';
  const type = isStream ? 'text/event-stream' : 'application/json';
  response.writeHead(answer.status, { 'content-type': type });
  if (answer.body === null) response.end();
  else Readable.fromWeb(answer.body as never).pipe(response);
}
