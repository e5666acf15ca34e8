import type { JWK } from 'jose'
import type { Runtime, SigningAlgorithm } from '../runtime.ts'
import type { ExternalKey } from './external-key.ts'
import { type ImportedKey, importKey } from './import-key.ts'
import { type KeyInfo, type KeyRing, type RingKey, retrySecretOf, signerOf } from './key-ring.ts'

/** Keys that the host has made. */
export type FixedKeys = readonly (JWK | ExternalKey)[]

async function refuse(): Promise<never> {
  throw new TypeError(
    'keys: the keys are set in the configuration; change them there, or remove them (in a program: use storedKeys()) to keep keys in the storage',
  )
}

/** Describes a key for the operator. A public key is `retiring`; a private key that does not sign is `next`. */
function infoOf({ key, private: isPrivate }: ImportedKey, signs: boolean, createdAt: number): KeyInfo {
  const state = signs ? 'current' : isPrivate ? 'next' : 'retiring'
  return { kid: key.kid, algorithm: key.algorithm, state, createdAt }
}

/**
 * Opens a key ring that does not change while the provider runs.
 *
 * @throws TypeError with a sentence that says which key cannot be used and why.
 */
export async function openFixedRing(configured: FixedKeys, runtime: Runtime): Promise<KeyRing> {
  if (!Array.isArray(configured) || configured.length === 0) {
    throw new TypeError(
      'keys must be storedKeys(), signingKeys() or a non-empty array of JWKs, of which the first one signs',
    )
  }
  const imported = await Promise.all(configured.map((key, index) => importKey(key, `keys[${index}]`, runtime)))
  const keys = new Map<string, RingKey>()
  const signers = new Map<SigningAlgorithm, RingKey>()
  for (const { key, private: isPrivate } of imported) {
    if (keys.has(key.kid)) throw new TypeError(`keys: two keys have the kid ${key.kid}`)
    keys.set(key.kid, key)
    if (isPrivate && !signers.has(key.algorithm)) signers.set(key.algorithm, key)
  }
  const [first] = imported
  if (!first?.private) throw new TypeError('keys[0] must be a private key, because it signs')
  const { key } = first
  const sealer = imported.find((each) => each.key.sealing !== undefined)?.key ?? key
  const jwks = { keys: imported.map(({ published }) => published) }
  const openedAt = runtime.now()
  const infos = imported.map((each) => infoOf(each, signers.get(each.key.algorithm) === each.key, openedAt))
  return {
    algorithms: [key.algorithm, ...[...signers.keys()].filter((algorithm) => algorithm !== key.algorithm)],
    signer: async (algorithm) => (algorithm === undefined ? key : signerOf(signers, algorithm)),
    sealer: async () => sealer,
    retrySecrets: imported.flatMap(({ key: { sealing } }) =>
      sealing === undefined ? [] : [retrySecretOf(sealing, runtime)],
    ),
    find: async (kid) => keys.get(kid),
    jwks: async () => jwks,
    operator: Object.freeze({ list: async () => infos, rotate: refuse, retire: refuse }),
    settled: async () => {},
  }
}
