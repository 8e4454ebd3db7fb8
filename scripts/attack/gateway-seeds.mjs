// Things that valid requests to the routes of the Hsafa gateway can name: runs whose calls wait, agents, and documents.
const MANY = 12;

/** @returns by operation, as `plant` of `seeds.mjs` */
export async function plantGateway({ url, secret, runs }) {
  const put = async (path, document) => {
    const response = await fetch(`${url}${path}`, {
      method: 'PUT',
      headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
      body: JSON.stringify(document),
    });
    if (!response.ok) throw new Error(`PUT ${path}: ${response.status} ${await response.text()}`);
  };
  const runIdOf = ({ id, turnId }) => `${id}:${turnId}`;
  const seeds = {
    'POST /api/runs/{runId}/tool-results': runs.map((run) => ({
      path: { runId: runIdOf(run) },
      body: { callId: run.callId, result: { url: 'x' } },
    })),
    'GET /api/runs/{runId}/stream': runs.map((run) => ({ path: { runId: runIdOf(run) } })),
    'POST /api/agents/{agentId}/trigger': runs.map(({ id }) => ({
      path: { agentId: id },
      body: { serviceName: 'billing', payload: { invoice: 'in_1' } },
    })),
    'GET /api/tools/stream': [{ query: { tools: 'video.render' } }],
  };
  const documents = {
    '': (name) => ({ name, instructions: 'You help.', model: 'any' }),
    '/{agent}/tools': (name) => ({ name, executionType: 'external', description: 'Does it' }),
    '/{agent}/mcp-servers': (name) => ({ name, url: 'https://mcp.example/api' }),
  };
  for (const [place, documentOf] of Object.entries(documents)) {
    const agent = place === '' ? {} : { agent: 'support' };
    const spare = Array.from({ length: MANY }, (_each, nth) => `spare-${nth}`);
    const base = `/api/agents${place.replace('{agent}', 'support')}`;
    for (const name of spare) await put(`${base}/${name}`, documentOf(name));
    const one = `/api/agents${place}/{name}`;
    seeds[`GET /api/agents${place}`] = [{ path: agent }];
    seeds[`PUT ${one}`] = [{ path: { ...agent, name: 'planted' }, body: documentOf('planted') }];
    seeds[`DELETE ${one}`] = spare.map((name) => ({ path: { ...agent, name } }));
  }
  return seeds;
}
