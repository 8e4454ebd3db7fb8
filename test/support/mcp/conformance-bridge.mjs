/**
 * What the conformance suite starts as a client. It has the process of the test do the work, which is up already: `<door> <address of
 * the scenario's server>`.
 */
const { MCP_CONFORMANCE_SCENARIO: scenario, MCP_CONFORMANCE_CONTEXT: context = '{}' } = process.env;
const [door, url] = process.argv.slice(2);
const body = JSON.stringify({ scenario, url, context: JSON.parse(context) });
const answer = await fetch(door, { method: 'POST', body });
if (!answer.ok) process.exitCode = 1;
