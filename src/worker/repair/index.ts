/** Replays histories, and repairs a run whose history the present workflow code does not replay. */
export { applyRepair } from './apply.js';
export { planRepair, type RepairDeps, type RepairPlan } from './plan.js';
export { type ReplayedRun, replayRun, runsOf } from './replay-runs.js';
