/** The page and the API on one origin, for one person on this machine. */
import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { OpenedColloquy } from 'colloquy/engine';
import { forDevelopment, type HttpServer, type Identity, serve, tokenSigner } from 'colloquy/http';
import express, { type Router } from 'express';
import { rolldown } from 'rolldown';
import { analyst, support } from './agents.js';

/**
 * Everything comes from the page's own origin, and no text can become code: a script that assigns markup, such as to
 * `innerHTML`, is stopped by the browser.
 */
const POLICY = [
  "default-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ');

const PERSON: Identity = {
  tenants: ['default'],
  actor: { id: 'ann', name: 'Ann' },
  verified: false,
  rights: ['read', 'send'],
};

export interface SiteOptions {
  /** 0 takes a free port. */
  readonly port: number;
  /** At least 32 characters: who has it is the person. */
  readonly token: string;
}

/**
 * Serves both. The page exchanges the token, which stands in the fragment of its address and so in no log of a server,
 * for the cookie of a session.
 */
export async function openSite(
  colloquy: OpenedColloquy,
  { port, token }: SiteOptions,
): Promise<HttpServer> {
  const api = await colloquy.app({
    identify: forDevelopment((request) =>
      request.get('authorization') === `Bearer ${token}` ? PERSON : undefined,
    ),
    tokens: tokenSigner([token]),
  });
  const site = express();
  site.disable('x-powered-by');
  site.use(await pageRouter());
  site.use(api);
  return await serve(site, { port, graceMs: 500 });
}

/** Serves the files of the page, under its policy. */
export async function pageRouter(): Promise<Router> {
  const folder = new URL('examples/space-page/page/', import.meta.resolve('colloquy/package.json'));
  const files = {
    '/': { type: 'html', body: await readFile(new URL('index.html', folder)) },
    '/style.css': { type: 'css', body: await readFile(new URL('style.css', folder)) },
    '/page.js': { type: 'js', body: await bundleOf(new URL('main.ts', folder)) },
  };
  const router = express.Router();
  for (const [path, { type, body }] of Object.entries(files))
    router.get(path, (_request, response) => {
      response.set('content-security-policy', POLICY);
      response.set('x-content-type-options', 'nosniff');
      response.type(type).send(body);
    });
  return router;
}

async function bundleOf(entry: URL): Promise<string> {
  const bundle = await rolldown({ input: fileURLToPath(entry), platform: 'browser' });
  const { output } = await bundle.generate({ format: 'esm' });
  await bundle.close();
  return output[0].code;
}

export interface OpenedSpace {
  readonly id: string;
  /** Address of its page, with the token. */
  readonly address: string;
}

/** Makes the space with both agents, once however often it is called. `idOf` names their conversations. */
export async function openSpace(
  url: string,
  token: string,
  idOf = (name: string) => name,
): Promise<OpenedSpace> {
  const { id } = await post<{ readonly id: string }>(url, token, {
    path: '/v1/spaces',
    body: { name: 'Help desk', requestId: 'help-desk' },
  });
  for (const { name: agent } of [support, analyst]) {
    const member = { kind: 'agent', conversationId: idOf(`desk-${agent}`), agent, name: agent };
    await post(url, token, { path: `/v1/spaces/${id}/members`, body: { member } });
  }
  return { id, address: `${url}/?space=${id}#token=${token}` };
}

const TRIES = 60;

/** Tries again until a worker serves the agents. @throws Error with the answer of the API */
async function post<Answer>(
  url: string,
  token: string,
  { path, body }: { readonly path: string; readonly body: object },
): Promise<Answer> {
  for (let left = TRIES; ; left -= 1) {
    const response = await fetch(`${url}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    if (response.ok) return (await response.json()) as Answer;
    const text = await response.text();
    if (left === 0 || !text.includes('unknown_agent'))
      throw new Error(`${path}: ${response.status} ${text}`);
    await sleep(500);
  }
}
