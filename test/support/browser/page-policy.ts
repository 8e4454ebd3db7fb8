/** Global setup: component tests run by the policy that the routes of the web page send. */
import express from 'express';
import type { TestProject } from 'vitest/node';
import { serve } from '../../../src/http/listen.js';
import { uiRouter } from '../../../src/http/ui/routes.js';
import type {} from './provided.js';

const PAGE = { type: 'text/html', body: Buffer.alloc(0), gzipped: Buffer.alloc(0) };

export async function setup(project: TestProject): Promise<void> {
  const router = uiRouter(async () => await Promise.resolve(new Map([['index.html', PAGE]])));
  const server = await serve(express().use(router), { port: 0 });
  try {
    const { headers } = await fetch(`${server.url}/ui/inbox`);
    const policy = headers.get('content-security-policy');
    if (policy === null) throw new Error('the web page has no policy');
    project.provide('pagePolicy', policy);
  } finally {
    await server.close();
  }
}
