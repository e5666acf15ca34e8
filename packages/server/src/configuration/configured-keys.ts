import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { algorithms, configurationObject, type KeySource, storedKeys, storedKeysSchema } from '@grantry/core'
import * as v from 'valibot'
import { fileErrorReason } from '../error-message.ts'
import { numericMember } from '../numeric.ts'

const { algorithms: list, rotateAfter, encryptionSecret, refused } = storedKeysSchema.entries

export const settingsSchema = v.pipe(
  configurationObject({
    /** The only algorithm, instead of `algorithms`. */
    algorithm: v.optional(v.picklist(algorithms, `must be one of ${algorithms.join(', ')}`)),
    // Without defaults: next to `jwks` they must be absent.
    algorithms: v.optional(v.unwrap(list)),
    /** Seconds after which a key is replaced. */
    rotateAfter: numericMember(v.optional(v.unwrap(rotateAfter))),
    /** Encrypts the keys in the storage. */
    encryptionSecret,
    /** The ids of compromised keys, which are never used again. */
    refused: v.optional(v.unwrap(refused)),
    /** The path of a JWK set, instead of keys in the storage. */
    jwks: v.optional(v.string('must be the path of a file with a JWK set')),
  }),
  v.check(
    ({ algorithm, jwks }) => algorithm === undefined || jwks === undefined,
    'must have either algorithm or jwks, not both',
  ),
  v.check(
    ({ jwks, ...others }) => jwks === undefined || Object.values(others).every((value) => value === undefined),
    'must not have other settings next to jwks: keys from a file are not rotated, encrypted or refused',
  ),
  v.check(
    (keys) => keys.algorithm === undefined || keys.algorithms === undefined,
    'must have either algorithm or algorithms, not both',
  ),
)

export type KeySettings = v.InferOutput<typeof settingsSchema>
type KeyList = Extract<KeySource, readonly unknown[]>

const isKeyList = (keys: KeySettings | KeyList): keys is KeyList => Array.isArray(keys)

/** Returns the settings in `keys`; empty if `keys` is an array of keys. */
export const keySettingsOf = (keys: KeySettings | KeyList): KeySettings => (isKeyList(keys) ? {} : keys)

/** Settings, or in a module configuration an array of keys (JWKs and external keys). */
export const keysSchema = v.lazy(
  (keys): v.GenericSchema<v.InferInput<typeof settingsSchema> | KeyList, KeySettings | KeyList> =>
    Array.isArray(keys) ? v.custom<KeyList>(Array.isArray) : settingsSchema,
)

async function keysOfFile(jwks: string, directory: string): Promise<KeySource> {
  const file = resolve(directory, jwks)
  let set: { readonly keys?: unknown }
  try {
    set = JSON.parse(await readFile(file, 'utf8'))
  } catch (cause) {
    // Does not repeat the message of the error: a parse error would quote the private key.
    const why = cause instanceof SyntaxError ? 'it is not JSON' : `it cannot be read (${fileErrorReason(cause)})`
    throw new TypeError(`keys.jwks ${file}: ${why}`)
  }
  if (!Array.isArray(set?.keys))
    throw new TypeError(
      `keys.jwks ${file}: it must be a JWK set, { "keys": [...] }, whose first key is the private signing key`,
    )
  return set.keys
}

/** Returns the key source for the provider. Without a key file, the keys are kept in the storage. */
export async function configuredKeys(keys: KeySettings | KeyList, directory: string): Promise<KeySource> {
  if (isKeyList(keys)) return keys
  const { jwks, algorithm, algorithms: list = algorithm && [algorithm], rotateAfter, encryptionSecret, refused } = keys
  if (jwks !== undefined) return keysOfFile(jwks, directory)
  return storedKeys({
    ...(list !== undefined && { algorithms: list }),
    ...(rotateAfter !== undefined && { rotateAfter }),
    ...(encryptionSecret !== undefined && { encryptionSecret }),
    ...(refused !== undefined && { refused }),
  })
}

/** Whether the signing keys are in the storage, and not in the configuration or a file. */
export const keysAreStored = (keys: KeySettings | KeyList): boolean => !isKeyList(keys) && keys.jwks === undefined

/** Seconds for which a key signs by default. */
export const defaultRotateAfter: number = v.getDefault(rotateAfter)

/** Describes for the operator where the keys are stored, and when they rotate. */
export function describeKeys(keys: KeySettings | KeyList): string {
  if (isKeyList(keys)) return 'from the configuration'
  if (keys.jwks !== undefined) return 'from keys.jwks'
  const seconds = keys.rotateAfter ?? defaultRotateAfter
  const days = Math.round(seconds / 86_400)
  const period = days >= 1 ? `${days} days` : `${seconds} seconds`
  const protection = keys.encryptionSecret === undefined ? 'not encrypted' : 'encrypted'
  return `in the storage, ${protection}; rotated every ${period}`
}
