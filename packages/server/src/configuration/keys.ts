import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { algorithms, configurationObject, type KeySource, storedKeys, storedKeysSchema } from '@grantry/core'
import * as v from 'valibot'

const { algorithms: list, rotateAfter, encryptionSecret, refused } = storedKeysSchema.entries

export const settingsSchema = v.pipe(
  configurationObject({
    algorithm: v.exactOptional(v.picklist(algorithms, `must be one of ${algorithms.join(', ')}`)),
    // Without their defaults: beside `jwks` they must not even be there.
    algorithms: v.exactOptional(v.unwrap(list)),
    rotateAfter: v.exactOptional(v.unwrap(rotateAfter)),
    encryptionSecret,
    refused: v.exactOptional(v.unwrap(refused)),
    jwks: v.exactOptional(v.string('must be the path of a file with a JWK set')),
  }),
  v.check(
    ({ algorithm, jwks }) => algorithm === undefined || jwks === undefined,
    'must have algorithm or jwks, not both',
  ),
  v.check(
    (keys) => keys.jwks === undefined || Object.keys(keys).length === 1,
    'must have jwks alone: the keys of a file are neither rotated nor encrypted nor refused here',
  ),
  v.check(
    (keys) => keys.algorithm === undefined || keys.algorithms === undefined,
    'must have algorithm or algorithms, not both',
  ),
)

export type KeySettings = v.InferOutput<typeof settingsSchema>
type GivenKeys = Extract<KeySource, readonly unknown[]>

const isGiven = (keys: KeySettings | GivenKeys): keys is GivenKeys => Array.isArray(keys)

/** The settings of the section; none where it holds the keys themselves. */
export const keySettingsOf = (keys: KeySettings | GivenKeys): KeySettings => (isGiven(keys) ? {} : keys)

/** In a module configuration also the keys themselves: JWKs, and external ones. */
export const keysSchema = v.lazy(
  (keys): v.GenericSchema<v.InferInput<typeof settingsSchema> | GivenKeys, KeySettings | GivenKeys> =>
    Array.isArray(keys) ? v.custom<GivenKeys>(Array.isArray) : settingsSchema,
)

async function keysOfFile(jwks: string, directory: string): Promise<KeySource> {
  const file = resolve(directory, jwks)
  let set: { readonly keys?: unknown }
  try {
    set = JSON.parse(await readFile(file, 'utf8'))
  } catch (cause) {
    // Only the code of a failed read: the message of a failed parse would quote the private key.
    const why =
      cause instanceof SyntaxError ? 'it is not JSON' : `it cannot be read (${(cause as { code?: string }).code})`
    throw new TypeError(`keys.jwks ${file}: ${why}`)
  }
  if (!Array.isArray(set?.keys))
    throw new TypeError(
      `keys.jwks ${file}: it must be a JWK set, { "keys": [...] }, whose first key is private and signs`,
    )
  return set.keys
}

/** What a configuration means for the provider: without a file, keys that the storage keeps. */
export async function configuredKeys(keys: KeySettings | GivenKeys, directory: string): Promise<KeySource> {
  if (isGiven(keys)) return keys
  const { jwks, algorithm, algorithms: list = algorithm && [algorithm], rotateAfter, encryptionSecret, refused } = keys
  if (jwks !== undefined) return keysOfFile(jwks, directory)
  return storedKeys({
    ...(list !== undefined && { algorithms: list }),
    ...(rotateAfter !== undefined && { rotateAfter }),
    ...(encryptionSecret !== undefined && { encryptionSecret }),
    ...(refused !== undefined && { refused }),
  })
}

/** Seconds for which a key signs where the configuration does not say. */
export const usualRotation: number = v.getDefault(rotateAfter)

/** For the operator: where the keys are, and what becomes of them. */
export function describeKeys(keys: KeySettings | GivenKeys): string {
  if (isGiven(keys)) return 'given by the configuration'
  if (keys.jwks !== undefined) return 'of keys.jwks'
  const seconds = keys.rotateAfter ?? usualRotation
  const days = Math.round(seconds / 86_400)
  const period = days >= 1 ? `${days} days` : `${seconds} seconds`
  const protection = keys.encryptionSecret === undefined ? 'not encrypted' : 'encrypted'
  return `in the storage, ${protection}; the next one signs after ${period}`
}
