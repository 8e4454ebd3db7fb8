/**
 * Keeps the SDK from failing each task of a run that has received a reference to the SDK's external storage. Any client
 * may send one, and without such a storage the SDK throws at it before the workflow gets its activation, so that no
 * payload converter is asked. Without its message type a reference is a payload like any other that cannot be decoded.
 */
import { Worker } from '@temporalio/worker';

type Handled = Parameters<Worker['handleActivation']>;
type Activation = Handled[1]['activation'];

const REFERENCE = Buffer.from('temporal.api.sdk.v1.ExternalStorageReference');

export class WorkerWithoutReferences extends Worker {
  /** With a storage the SDK resolves references, and fails the task for one that leads nowhere. */
  protected override async handleActivation(
    ...given: Handled
  ): ReturnType<Worker['handleActivation']> {
    if (this.options.loadedDataConverter.externalStorage === undefined) disarm(given[1].activation);
    return await super.handleActivation(...given);
  }
}

/** Removes the message type of every reference in an activation, wherever it is. */
export function disarm(activation: Activation): void {
  visit(activation.jobs);
}

function visit(value: unknown): void {
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return;
  if (Array.isArray(value)) {
    for (const item of value) visit(item);
    return;
  }
  for (const [key, item] of Object.entries(value))
    if (key === 'metadata' && isReference(item)) delete item.messageType;
    else visit(item);
}

function isReference(metadata: unknown): metadata is { messageType?: unknown } {
  if (typeof metadata !== 'object' || metadata === null) return false;
  const { messageType: type } = metadata as { readonly messageType?: unknown };
  return type instanceof Uint8Array && REFERENCE.equals(type);
}
