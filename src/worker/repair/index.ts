/** A way out for a run whose history the present workflow code does not replay. */
export { applyRepair, type RepairOutcome } from './apply.js';
export { planRepair, type RepairDeps, type RepairPlan, type ThrownActivity } from './plan.js';
export type { ReplayOptions } from './replay.js';
