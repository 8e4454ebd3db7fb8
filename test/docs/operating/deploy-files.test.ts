/** Dockerfile and compose file: they parse, and every command, variable, port and path in them exists. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { DockerfileParser } from 'dockerfile-ast';
import { describe, expect, it } from 'vitest';
import { readConfig } from '../../../src/cli/process/config.js';
import { composeServices, SECRET } from '../../support/networks/compose.js';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const MANIFEST = JSON.parse(readFileSync(`${ROOT}package.json`, 'utf8')) as {
  readonly bin: { readonly colloquy: string };
};
const services = Object.entries(composeServices());
const ours = services.filter(([, { build }]) => build !== undefined);

/** A list of strings in the exec form of an instruction. */
const listOf = (text: string | null | undefined): readonly string[] =>
  JSON.parse(text ?? '[]') as readonly string[];

describe('the Dockerfile', () => {
  const file = DockerfileParser.parse(readFileSync(`${ROOT}deploy/Dockerfile`, 'utf8'));
  const of = (keyword: string) =>
    file.getInstructions().filter((each) => each.getKeyword() === keyword);
  const last = (keyword: string): string => of(keyword).at(-1)?.getArgumentsContent() ?? '';

  it('takes its parts from a stage that exists, and the Node that the package needs', () => {
    const stages = of('FROM').map((each) => each.getArgumentsContent() ?? '');
    expect(stages).toEqual(['node:24-slim AS packages', 'node:24-slim']);
    const copies = of('COPY').map((each) => each.getTextContent());
    expect(copies).toContain('COPY --from=packages /app/node_modules ./node_modules');
  });

  it('runs the command of the package as a user without rights, and passes signals on to it', () => {
    expect(listOf(last('ENTRYPOINT'))).toEqual([
      'node',
      `node_modules/colloquy/${MANIFEST.bin.colloquy}`,
    ]);
    expect(last('USER')).toBe('node');
    expect(last('STOPSIGNAL')).toBe('SIGTERM');
    expect(listOf(last('CMD'))).toEqual(['worker', '--agents', 'agents.ts']);
  });

  it('sets only variables that exist', () => {
    const [name, value] = last('ENV').split('=');
    expect(name).toBe('COLLOQUY_DATA');
    expect(readConfig({ [name ?? '']: value }).dataDir).toBe(last('VOLUME'));
  });
});

describe('the compose file', () => {
  it('has two workers and two API processes beside Postgres and Temporal', () => {
    const names = services.map(([name]) => name);
    const all = ['postgres', 'temporal', 'worker-1', 'worker-2', 'api-1', 'api-2'];
    expect(names.toSorted()).toEqual(all.toSorted());
    expect(ours.map(([name]) => name).toSorted()).toEqual(all.slice(2).toSorted());
  });

  it.each(ours)(
    'gives %s variables with valid values, and a check of its own port',
    (_, service) => {
      const environment = Object.entries(service.environment ?? {}).filter(([name]) =>
        name.startsWith('COLLOQUY_'),
      );
      const given = Object.fromEntries(environment) as Record<string, string>;
      const config = readConfig(given);
      expect(config.eventLog).toContain(`postgres://colloquy:${SECRET}@`);
      const known = readFileSync(`${ROOT}docs/generated/settings.md`, 'utf8');
      for (const [name] of environment) expect(known).toContain(`\`${name}\``);
      const isWorker = service.command?.[0] === 'worker';
      const port = isWorker ? config.health?.port : config.port;
      expect(service.healthcheck.test.join(' ')).toContain(
        `http://127.0.0.1:${String(port)}/readyz`,
      );
    },
  );

  it.each(ours)('starts %s by a command line that exists', (_, { command = [] }) => {
    const [name = ''] = command;
    const help = execFileSync(process.execPath, [`${ROOT}dist/cli/main.js`, name, '--help'], {
      encoding: 'utf8',
    });
    for (const option of command.filter((word) => word.startsWith('--')))
      expect(help).toContain(`${option} <`);
  });

  it('gives running calls the time that they need to end', () => {
    for (const [, { command = [], stop_grace_period }] of ours) {
      const drain = Number(command[command.indexOf('--drain') + 1]);
      expect(drain).toBeGreaterThan(0);
      const grace = Number(/^(\d+)s$/.exec(stop_grace_period ?? '')?.[1]);
      // A worker ends the requests that it has under way as well.
      expect(grace).toBeGreaterThan(drain + (command.includes('worker') ? 29 : 10));
    }
  });

  it('publishes ports on loopback only, and begins in an order that works', () => {
    for (const [, { ports = [] }] of services)
      for (const port of ports) expect(port).toMatch(/^127\.0\.0\.1:/);
    for (const [, { depends_on }] of ours)
      expect(depends_on).toEqual({
        postgres: { condition: 'service_healthy' },
        temporal: { condition: 'service_healthy' },
      });
  });

  it('starts the Temporal CLI of this project, with its search attributes', () => {
    const temporal = composeServices()['temporal'];
    const script = readFileSync(`${ROOT}temporal-dev.sh`, 'utf8');
    const version = /^CLI_VERSION=(.*)$/m.exec(script)?.[1] ?? '';
    expect(temporal?.image).toBe(`temporalio/temporal:${version}`);
    const wanted = [...script.matchAll(/--search-attribute (\w+=\w+)/g)].map(
      ([, attribute]) => `--search-attribute=${String(attribute)}`,
    );
    expect(temporal?.command).toEqual(expect.arrayContaining(wanted));
  });

  it('sets up the task queues of its server as the dev server does, and as the guide says', () => {
    const guide = readFileSync(`${ROOT}docs/deploying.md`, 'utf8');
    const script = readFileSync(`${ROOT}temporal-dev.sh`, 'utf8');
    const settings = [...script.matchAll(/--dynamic-config-value (matching\.\w+)=(\w+)/g)];
    expect(settings.map(([, name]) => name)).toContain('matching.priorityBacklogForwarding');
    for (const [, name = '', value = ''] of settings) {
      expect(composeServices()['temporal']?.command).toContain(
        `--dynamic-config-value=${name}=${value}`,
      );
      expect(guide).toContain(`${name}: [{ value: ${value} }]`);
    }
  });
});
