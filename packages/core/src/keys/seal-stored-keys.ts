import { parseConfiguration } from '../config-schema.ts'
import type { AtomicDriver } from '../records/driver.ts'
import { openStore } from '../records/store.ts'
import { webRuntime } from '../runtime.ts'
import type { KeyInfo } from './key-ring.ts'
import { infoOf, newKey } from './ring-content.ts'
import { createRingRecords, type FoundRing, ringFault } from './ring-records.ts'
import { storedKeysSchema } from './stored-keys-options.ts'

/** Seconds after which a storage operation fails. */
const timeLimit = 5

/**
 * Encrypts an unencrypted stored key ring. Call it once, when you add an `encryptionSecret` to an existing provider: a
 * provider with a secret refuses an unencrypted ring. The current and retiring keys stay the same; the next key is
 * replaced, because its private part was readable.
 *
 * Check that the ring is yours: anyone with write access to the storage could have written an unencrypted ring. Compare
 * the returned key ids with the published ones.
 *
 * @param options.issuer the `issuer` of the provider.
 * @param options.storage a driver that no provider uses. The function opens it; the caller disposes of it.
 * @param options.encryptionSecret the new secret for `storedKeys()`, at least 32 characters.
 * @returns the resulting keys.
 * @throws TypeError with one sentence when there is no ring, when it is already encrypted, or when it cannot be read.
 * @throws OAuthError `temporarily_unavailable` when the storage fails.
 * @see docs/guides/keys.md
 * @example
 * await sealStoredKeys({ issuer: 'https://id.example.com', storage, encryptionSecret })
 */
export async function sealStoredKeys(options: {
  readonly issuer: string
  readonly storage: AtomicDriver
  readonly encryptionSecret: string
}): Promise<readonly KeyInfo[]> {
  const { issuer, storage } = options
  const { encryptionSecret } = parseConfiguration(
    storedKeysSchema,
    { encryptionSecret: options.encryptionSecret },
    'sealStoredKeys()',
  )
  const runtime = webRuntime
  await storage.open?.()
  const store = openStore(storage, { runtime, timeLimit, onRejected: () => {} })
  const records = createRingRecords({ issuer, encryptionSecret, acceptUnencrypted: true, store, runtime })
  const { content } = assertUnencrypted(await records.newest(1))
  const number = content.number + 1
  const keys = await Promise.all(
    content.keys.map((key) => (key.state === 'next' ? newKey(key.algorithm, runtime) : key)),
  )
  if (!(await records.insert({ issuer, number, keys }))) {
    throw new TypeError('keys: another process is changing the keys; try again')
  }
  await records.finish(number)
  return keys.map(infoOf)
}

function assertUnencrypted(generation: FoundRing | 'none' | 'lost'): FoundRing {
  if (generation === 'lost') throw ringFault('lost')
  if (generation === 'none') {
    throw new TypeError('keys: the storage has no key ring; the first server that starts creates and encrypts one')
  }
  if (generation.sealed) throw new TypeError('keys: the stored key ring is already encrypted; nothing was changed')
  return generation
}
