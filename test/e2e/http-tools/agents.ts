/** An agent whose tool asks the API of its own installation, with all that the API needs. Served by a real worker. */
import { defineAgent, httpTool, openaiModel, secret } from 'colloquy';
import { z } from 'zod';

const readAgents = httpTool({
  name: 'agents.read',
  description: 'Reads the agents of an installation.',
  input: z.object({}),
  method: 'GET',
  url: `http://localhost:${process.env['E2E_API_PORT'] ?? ''}/v1/agents`,
  headers: { authorization: secret('COLLOQUY_DEV_SECRET', { prefix: 'Bearer ' }) },
  allowPrivate: true,
});

export const insider = defineAgent({
  name: 'insider',
  model: openaiModel('scripted'),
  instructions: 'Use the tool.',
  tools: [readAgents],
});
