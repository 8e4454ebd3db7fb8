/** The page and its API as a process of its own, beside `colloquy worker --agents <agents.js>` on the same store. */
import { openColloquy } from 'colloquy/engine';
import { openSite, openSpace } from './site.js';

const { PORT = '8080', SPACE_PAGE_STORE: store = 'log.db' } = process.env;
const token = process.env['SPACE_PAGE_TOKEN'] ?? '';
if (token === '') throw new Error('SPACE_PAGE_TOKEN must be set: who has it is the person');
const colloquy = await openColloquy({ store, retryForMs: 5_000 });
const site = await openSite(colloquy, { port: Number(PORT), token });
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => {
    void site.close().then(() => colloquy.close());
  });
const { address } = await openSpace(site.url, token);
console.log(`open ${address}`);
