import type { ClientDirectory } from '../directory/clients.ts'
import type { Recorder } from '../events/recorder.ts'
import type { Store } from '../records/store.ts'
import type { Runtime } from '../runtime.ts'
import { openFixedRing } from './fixed-ring.ts'
import type { KeyRing } from './key-ring.ts'
import type { KeySource } from './key-source.ts'

/** What a stored key ring needs besides its options. */
export interface KeyRingDeps {
  readonly issuer: string
  readonly clients: ClientDirectory
  readonly clockTolerance: number
  readonly store: Store
  readonly recorder: Recorder
}

/**
 * Opens the key ring in two steps: configured keys are validated before the storage is opened, a stored key ring
 * afterwards.
 *
 * @throws TypeError with a sentence that says which key cannot be used and why.
 */
export async function openKeyRing(
  source: KeySource,
  runtime: Runtime,
): Promise<(deps: KeyRingDeps) => Promise<KeyRing>> {
  if (!('stored' in source)) {
    const ring = await openFixedRing(source, runtime)
    return async () => ring
  }
  return ({ issuer, clients, clockTolerance, store, recorder }) => {
    const lifetimes = clients.all.flatMap((client) => [client.accessTokenLifetime, client.identityTokenLifetime])
    const maxTokenLifetime = Math.max(0, ...lifetimes) + clockTolerance
    return source.open({ issuer, maxTokenLifetime, store, recorder, runtime })
  }
}
