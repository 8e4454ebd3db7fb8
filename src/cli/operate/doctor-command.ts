/** `colloquy doctor`: reports what is wrong, and the next command. Exit code 0 when no check failed, else 1. */

import { temporalSettings } from '../../client/temporal/connection.js';
import { createWorkflowSource } from '../../projection/source/workflow-source.js';
import { readConfig } from '../process/config.js';
import { Progress } from '../terminal/progress.js';
import { CHECKS, type Diagnosis, diagnose, type Finding } from './doctor.js';
import { openExistingLog, openTemporal } from './open.js';

export interface DoctorFlags {
  readonly data?: string;
  readonly json?: boolean;
  /** Seconds to keep trying to reach Temporal and Postgres; 0 = one try. */
  readonly retry: number;
}

export async function runDoctor(flags: DoctorFlags): Promise<void> {
  const config = readConfig(process.env, { data: flags.data });
  const { address, namespace } = temporalSettings();
  const { taskQueue } = config;
  const installation = {
    ...{ address, namespace },
    taskQueue,
    searchAttributes: config.searchAttributes,
    connect: async () => {
      const client = await openTemporal(config, flags.retry);
      return { client, source: createWorkflowSource(client, { taskQueue }) };
    },
    openStore: async () => (await openExistingLog(config, flags.retry)).log,
  };
  const progress = new Progress('checks', process.stderr);
  progress.at(0, CHECKS);
  const diagnosis = await diagnose(installation, () => {
    progress.step();
  });
  progress.end();
  const text =
    flags.json === true ? JSON.stringify(diagnosis, undefined, 2) : diagnosisText(diagnosis);
  process.stdout.write(`${text}\n`);
  process.exit(diagnosis.ok ? 0 : 1);
}

const MARKS: Readonly<Record<Finding['status'], string>> = {
  ok: 'ok     ',
  warning: 'WARNING',
  failed: 'FAILED ',
  skipped: 'skipped',
};

/** One line for each finding and for each conversation, next commands below. */
export function diagnosisText({ findings, conversations }: Diagnosis): string {
  const next = (command: string | undefined): readonly string[] =>
    command === undefined ? [] : [`           next: ${command}`];
  return [
    ...findings.flatMap((finding) => [
      `${MARKS[finding.status]}  ${finding.check}: ${finding.text}`,
      ...next(finding.next),
    ]),
    ...conversations.flatMap(({ tenant, conversationId, trouble, next: command }) => [
      `  ${trouble.kind}  ${tenant}/${conversationId}  ${trouble.attempts} attempts since ${trouble.since}${trouble.error === undefined ? '' : `  ${trouble.error}`}`,
      ...next(command),
    ]),
  ].join('\n');
}
