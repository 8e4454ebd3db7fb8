/** The newest revision of what the core decides; what each one brought stands in `docs/revisions.md`. A new one is a row there. */
export const CORE_REVISION = 1;
