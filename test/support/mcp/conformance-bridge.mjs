/**
 * The client process that the conformance suite starts. It forwards the scenario to the process of the test, which is
 * already running. Arguments: `<address of the test> <address of the scenario's server>`.
 */
const { MCP_CONFORMANCE_SCENARIO: scenario, MCP_CONFORMANCE_CONTEXT: context = '{}' } = process.env;
const [testUrl, url] = process.argv.slice(2);
const body = JSON.stringify({ scenario, url, context: JSON.parse(context) });
const answer = await fetch(testUrl, { method: 'POST', body });
if (!answer.ok) process.exitCode = 1;
