/** A gateway whose agents and tools are documents: the catalog of the workers, and the routes of the API. */
import {
  type HsafaStoredAgentOptions,
  hsafaAgentCatalog,
  hsafaAgentDocuments,
  hsafaRoutes,
  hsafaServerPlugin,
  hsafaServers,
  hsafaToolbox,
  hsafaToolPlugin,
  keptAgentDocuments,
  keptServerDocuments,
  keptToolDocuments,
} from 'colloquy/compat/hsafa';
import type { MakeRoutes } from 'colloquy/engine';
import { clerk } from './model.ts';

// #region gateway
/** The same for workers and API. With `openaiModel` for `model`, documents name models of OpenAI. */
const options: HsafaStoredAgentOptions = {
  model: () => clerk,
  plugins: [hsafaToolPlugin(), hsafaServerPlugin()],
};

export const catalog = hsafaAgentCatalog(options);

export const routes: MakeRoutes = ({ colloquy, identify, signal }) => {
  const { client, documents, reader, spaces = false } = colloquy;
  if (documents === undefined) throw new Error('the event log keeps no documents');
  return hsafaRoutes({
    ...{ client, identify, signal, spaces },
    ...(reader.toolOffers === undefined ? {} : { offers: reader.toolOffers }),
    agents: hsafaAgentDocuments(keptAgentDocuments(documents), options),
    toolbox: hsafaToolbox(keptToolDocuments(documents)),
    servers: hsafaServers(keptServerDocuments(documents)),
  });
};
// #endregion gateway
