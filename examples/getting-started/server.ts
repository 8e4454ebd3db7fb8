/** The worker and the HTTP API of the application, in one process. */
import { openColloquy } from 'colloquy/engine';
import { developmentIdentity, developmentSecret, serve } from 'colloquy/http';
import { support } from './agents.ts';

const colloquy = await openColloquy({ store: '.colloquy/log.db' }).catch((error: unknown) => {
  console.error((error as Error).message);
  process.exit(1);
});
const worker = await colloquy.worker({ agents: [support], services: {} });
const port = Number(process.env['PORT'] ?? 8080);
// For this machine only: requests need the secret of the folder, and their answers are not verified.
const identity = developmentIdentity(await developmentSecret('.colloquy'));
const api = await serve(await colloquy.app(identity), { port });
console.log(`serving at ${api.url}`);
// Until SIGINT (Ctrl-C) or SIGTERM.
await worker.run();
await api.close();
await colloquy.close();
