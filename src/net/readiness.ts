/** Checks whether a process can do its work: the answer of `/readyz`, of the API and of workers. */

/** Each check rejects with the reason when the process cannot do its work. */
export type ReadinessChecks = Readonly<Record<string, () => Promise<void>>>;

export interface Readiness {
  readonly status: 'ready' | 'not_ready';
  /** `ok`, or the reason, by the name of the check. */
  readonly checks: Readonly<Record<string, string>>;
}

/** Milliseconds after which a check that hangs has failed. */
const CHECK_DEADLINE_MS = 2_000;

/** Runs all checks at once. Never rejects. */
export async function readinessOf(checks: ReadinessChecks): Promise<Readiness> {
  const results = await Promise.all(
    Object.entries(checks).map(async ([name, check]) => [name, await resultOf(check)] as const),
  );
  const isReady = results.every(([, result]) => result === 'ok');
  return { status: isReady ? 'ready' : 'not_ready', checks: Object.fromEntries(results) };
}

async function resultOf(check: () => Promise<void>): Promise<string> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<string>((resolve) => {
    timer = setTimeout(() => {
      resolve(`no answer in ${CHECK_DEADLINE_MS} ms`);
    }, CHECK_DEADLINE_MS);
  });
  const answer = Promise.resolve()
    .then(check)
    .then(
      () => 'ok',
      (error: unknown) => (error instanceof Error ? error.message : String(error)),
    );
  try {
    return await Promise.race([answer, late]);
  } finally {
    clearTimeout(timer);
  }
}
