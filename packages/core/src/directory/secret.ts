import * as v from 'valibot'
import { assertNone } from '../config-problems.ts'
import { configurationObject } from '../config-schema.ts'
import { epochSecondsOf } from '../parse-time.ts'
import { decodeBase64, hex, utf8, webRuntime } from '../runtime.ts'

const hashLengths = { sha256: 32, sha512: 64 } as const

/** The hash of a secret. */
export interface Secret {
  readonly algorithm: 'sha256' | 'sha512'
  readonly hash: string
  /** Epoch seconds from which the secret is no longer valid. */
  readonly expiresAt: number | undefined
}

// An empty column of a database row is null, not undefined.
const isAbsent = (value: unknown): boolean => value === undefined || value === null

const notTime =
  '.expiresAt is not a time; use epoch seconds, or an ISO 8601 date and time with a zone, such as 2030-01-31T10:00:00Z'

const howToCreate = 'create one with hashSecret() or grantry hash-secret'

/**
 * Returns the secret, or a message that says what is wrong. The message never contains the value, which could be the
 * secret itself.
 */
export function parseSecret({ sha256, sha512, expiresAt }: SecretInput): Secret | string {
  const [algorithm, stored] = isAbsent(sha512) ? (['sha256', sha256] as const) : (['sha512', sha512] as const)
  if (isAbsent(stored)) return ` has neither sha256 nor sha512; ${howToCreate}`
  const length = hashLengths[algorithm]
  const hash = typeof stored === 'string' ? decodeBase64(stored) : undefined
  if (hash?.length !== length) {
    const isHex = typeof stored === 'string' && stored.length === 2 * length && /^[\da-f]+$/iu.test(stored)
    const wrong = isHex ? 'hexadecimal, not base64' : `not the base64 of a ${algorithm.replace('sha', 'SHA-')}`
    return `.${algorithm} is ${wrong}; ${howToCreate}`
  }
  const end = isAbsent(expiresAt) ? undefined : epochSecondsOf(expiresAt)
  if (end === undefined && !isAbsent(expiresAt)) return notTime
  return { algorithm, hash: hex(hash), expiresAt: end }
}

/**
 * Checks the secrets in the options, where a malformed secret is an error. In a client store, it is skipped.
 *
 * @throws TypeError with one sentence that names the first malformed secret. `configurationProblems()` returns all.
 */
export function assertSecrets(secrets: readonly SecretInput[] | undefined, where: string): void {
  const parsed = secrets?.map(parseSecret) ?? []
  assertNone(
    parsed.flatMap((secret, index) => (typeof secret === 'string' ? `${where}: secrets[${index}]${secret}` : [])),
  )
}

const value = <T>() => v.optional(v.custom<T | null>(() => true))

/**
 * The hash of a secret, as `hashSecret()` and `grantry hash-secret` create it. The compiler names this type where a plain
 * secret is configured.
 */
export interface HashSecretOutput {
  /** Base64 of the SHA-256 of the UTF-8 secret. */
  sha256?: string | null | undefined
  /** Base64 of the SHA-512 of the UTF-8 secret. Overrides `sha256`. */
  sha512?: string | null | undefined
  /** Epoch seconds, or an ISO 8601 date (its start in UTC) or date and time with a zone. */
  expiresAt?: string | number | null | undefined
}

const secretObject = configurationObject(
  {
    sha256: value<string>(),
    sha512: value<string>(),
    expiresAt: value<number | string>(),
  },
  { shape: ["an object such as { sha256: '<base64>' }", howToCreate] },
)
type SecretInput = HashSecretOutput
const secretSchema = secretObject as typeof secretObject & v.GenericSchema<HashSecretOutput>

/**
 * The schema of the secrets of a client or scope. It skips and counts malformed secrets, so that one bad database row
 * does not stop the service (wire contract, section 2). `assertSecrets` rejects them in the options.
 */
export const secretsSchema = v.pipe(
  v.array(secretSchema, `must be an array of { sha256 } or { sha512 }; ${howToCreate}`),
  v.transform((secrets) => {
    const stored = secrets.map(parseSecret).filter((secret) => typeof secret !== 'string')
    return { stored, malformed: secrets.length - stored.length }
  }),
)

/** Suggestions for a secret that is configured in plain text or under another name. */
export const secretNames = Object.fromEntries(
  ['secret', 'clientsecret', 'clientsecrets', 'apisecret', 'apisecrets', 'scopesecret', 'sha256', 'sha512'].map(
    (name) => [name, `secrets, an array of hashes such as [{ sha256: '<base64>' }]? C${howToCreate.slice(1)}`],
  ),
)

/**
 * Hashes a client or scope secret for storage: `secrets: [hashSecret('...')]`. The hash is fast and unsalted, so use it
 * only for generated secrets of at least 128 bits, never for passwords that a person chose.
 *
 * @returns the base64 of the SHA-256 of the UTF-8 secret
 * @throws TypeError when the secret is not a string, or empty.
 * @see wire contract, section 2
 */
export function hashSecret(secret: string): { readonly sha256: string } {
  if (typeof secret !== 'string' || secret === '')
    throw new TypeError('hashSecret(): secret must be a non-empty string')
  return { sha256: btoa(String.fromCharCode(...webRuntime.sha256(utf8(secret)))) }
}

/**
 * Prepares a database row for the schema: unknown columns are dropped, and a value that is not an object becomes an
 * empty row.
 */
export function secretRow(row: unknown): SecretInput {
  if (typeof row !== 'object' || row === null) return {}
  const { sha256, sha512, expiresAt } = row as SecretInput
  return { sha256, sha512, expiresAt }
}
