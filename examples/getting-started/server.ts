/** The worker and the HTTP API of the application, in one process. */
import { openColloquy } from 'colloquy/engine';
import { developmentIdentity, developmentSecret, serve } from 'colloquy/http';
import { support } from './agents.ts';

const colloquy = await openColloquy({ store: 'colloquy.db' }).catch((error: unknown) => {
  console.error((error as Error).message);
  process.exit(1);
});
const worker = await colloquy.worker({ agents: [support], services: {} });
const port = Number(process.env['PORT'] ?? 8080);
// For this machine only: requests need the secret of the folder, and their answers are not verified.
const identity = developmentIdentity(await developmentSecret('.'));
const api = await serve(await colloquy.app(identity), { port });
console.log(`serving at ${api.url}`);
process.once('SIGINT', () => {
  void api.close();
  worker.shutdown();
});
await worker.run();
await colloquy.close();
