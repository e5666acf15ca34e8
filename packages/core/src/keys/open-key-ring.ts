import type { ClientDirectory } from '../directory/clients.ts'
import type { Recorder } from '../events/recorder.ts'
import type { Store } from '../records/store.ts'
import type { Runtime } from '../runtime.ts'
import { openFixedRing } from './fixed-ring.ts'
import type { KeyRing } from './key-ring.ts'
import type { DefaultAlgorithms, KeySource } from './key-source.ts'

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
 * @param withIdentityTokens whether a client can get identity tokens. If so, keys for which the host names no algorithm
 * include RS256, which OpenID Connect Discovery 1.0 section 3 requires.
 * @throws TypeError with a sentence that says which key cannot be used and why.
 */
export async function openKeyRing(
  source: KeySource,
  withIdentityTokens: boolean,
  runtime: Runtime,
): Promise<(deps: KeyRingDeps) => Promise<KeyRing>> {
  const byDefault: DefaultAlgorithms = withIdentityTokens ? ['ES256', 'RS256'] : ['ES256']
  if (!('stored' in source)) {
    const ring = await ('generated' in source ? source.open(byDefault, runtime) : openFixedRing(source, runtime))
    return async () => ring
  }
  return ({ issuer, clients, clockTolerance, store, recorder }) => {
    const lifetimes = clients.all.flatMap((client) => [client.accessTokenLifetime, client.identityTokenLifetime])
    const maxTokenLifetime = Math.max(0, ...lifetimes) + clockTolerance
    return source.open(byDefault, { issuer, maxTokenLifetime, store, recorder, runtime })
  }
}
