// The routes of the Hsafa gateway beside the API, on the stores of a running stack, for one caller with the secret of
// `COLLOQUY_DEV_SECRET`. Prints their address.
import { once } from 'node:events';
import {
  hsafaAgentDocuments,
  hsafaRoutes,
  hsafaServers,
  hsafaToolbox,
  keptAgentDocuments,
  keptServerDocuments,
  keptToolDocuments,
} from 'colloquy/compat/hsafa';
import { openColloquy } from 'colloquy/engine';
import { developmentIdentity } from 'colloquy/http';
import { createStoreReader } from 'colloquy/log';
import { says, scriptedBy } from 'colloquy/testing';
import express from 'express';

const [store] = process.argv.slice(2);
const secret = process.env.COLLOQUY_DEV_SECRET;
const colloquy = await openColloquy({ store, actor: { id: 'gateway' } });
const { client, documents, log, spaces } = colloquy;
const model = () => scriptedBy(() => says('Hello.'));
const { identify } = developmentIdentity({ secret });
const app = express().use(
  hsafaRoutes({
    ...{ client, spaces },
    identify,
    offers: createStoreReader({ log, source: 'none' }).toolOffers,
    agents: hsafaAgentDocuments(keptAgentDocuments(documents), { model }),
    toolbox: hsafaToolbox(keptToolDocuments(documents)),
    servers: hsafaServers(keptServerDocuments(documents)),
  }),
);
// Beside the API, which answers what these routes do not have.
app.use(await colloquy.app({ identify }));
const server = app.listen(0, '127.0.0.1');
await once(server, 'listening');
console.log(`http://127.0.0.1:${server.address().port}`);
