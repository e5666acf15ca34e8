import * as v from 'valibot'
import { configurationObject } from '../configuration.ts'
import { decodeBase64, hex, utf8 } from '../encoding.ts'
import { webRuntime } from '../runtime.ts'

const hashLengths = { sha256: 32, sha512: 64 } as const

/** A stored secret: only its hash. */
export interface Secret {
  readonly algorithm: 'sha256' | 'sha512'
  readonly hash: string
  /** Epoch seconds; from then on the secret does not count. */
  readonly expiresAt: number | undefined
}

/** Epoch seconds of a number of seconds or an ISO 8601 date and time; not a number where it is neither. */
const secondsOf = (moment: unknown): number =>
  typeof moment === 'number' ? moment : typeof moment === 'string' ? Math.floor(Date.parse(moment) / 1000) : Number.NaN

// A column of a client table that is empty is null, not absent.
const isAbsent = (value: unknown): boolean => value === undefined || value === null

const makeOne = 'make one with hashSecret() or grantry hash-secret'

/** The secret, or what is wrong with it. That never quotes a value: it may be the secret itself. */
function parseSecret({ sha256, sha512, expiresAt }: SecretInput): Secret | string {
  const algorithm = isAbsent(sha512) ? 'sha256' : 'sha512'
  const stored = isAbsent(sha512) ? sha256 : sha512
  if (isAbsent(stored)) return ` has no sha256 and no sha512; ${makeOne}`
  const length = hashLengths[algorithm]
  const hash = typeof stored === 'string' ? decodeBase64(stored) : undefined
  if (hash?.length !== length) {
    const isHex = typeof stored === 'string' && stored.length === 2 * length && /^[\da-f]+$/iu.test(stored)
    const name = algorithm === 'sha256' ? 'SHA-256' : 'SHA-512'
    return `.${algorithm} is ${isHex ? 'hexadecimal, not base64' : `not the base64 of a ${name}`}; ${makeOne}`
  }
  const end = isAbsent(expiresAt) ? undefined : secondsOf(expiresAt)
  if (Number.isNaN(end)) return '.expiresAt is not a date; write epoch seconds, or an ISO 8601 date and time'
  return { algorithm, hash: hex(hash), expiresAt: end }
}

/**
 * For secrets that the host wrote into its options, where a malformed one is a mistake and not one bad row of a table.
 *
 * @throws TypeError with one sentence that names the first malformed secret.
 */
export function assertSecrets(secrets: readonly SecretInput[] | undefined, where: string): void {
  for (const [index, secret] of secrets?.entries() ?? []) {
    const parsed = parseSecret(secret)
    if (typeof parsed === 'string') throw new TypeError(`${where}: secrets[${index}]${parsed}`)
  }
}

const value = <T>() => v.optional(v.custom<T | null>(() => true))

const secretSchema = configurationObject(
  {
    /** Base64 of the SHA-256 of the UTF-8 secret. */
    sha256: value<string>(),
    /** Base64 of the SHA-512, in its place. */
    sha512: value<string>(),
    /** Epoch seconds, or an ISO 8601 date and time. */
    expiresAt: value<number | string>(),
  },
  { shape: ["an object such as { sha256: '<base64>' }", makeOne] },
)
type SecretInput = v.InferOutput<typeof secretSchema>

/**
 * The secrets of a client or scope. A malformed one is left out and counted, so that one bad row of a client table does not stop the service (wire
 * contract, section 2). `assertSecrets` refuses it where it was written into the options.
 */
export const secretsSchema = v.pipe(
  v.array(secretSchema, 'must be an array of { sha256 } or { sha512 }'),
  v.transform((secrets) => {
    const stored = secrets.map(parseSecret).filter((secret) => typeof secret !== 'string')
    return { stored, malformed: secrets.length - stored.length }
  }),
)

/** For a client or scope whose secret was written in the clear, or under another name. */
export const secretNames = Object.fromEntries(
  ['secret', 'clientsecret', 'clientsecrets', 'apisecret', 'apisecrets', 'scopesecret', 'sha256', 'sha512'].map(
    (name) => [
      name,
      `secrets, an array of hashes such as [{ sha256: '<base64>' }]? ${makeOne[0]?.toUpperCase()}${makeOne.slice(1)}`,
    ],
  ),
)

/**
 * What to store of a secret: `secrets: [hashSecret('...')]`. The hash is fast and has no salt, which is right for a generated secret of at least 128 bits, and for
 * nothing that a person made up.
 *
 * @returns the base64 of the SHA-256 of the UTF-8 secret
 * @throws TypeError when the secret is not text, or empty.
 * @see wire contract, section 2
 */
export function hashSecret(secret: string): { readonly sha256: string } {
  if (typeof secret !== 'string' || secret === '') throw new TypeError('hashSecret(): the secret is not text, or empty')
  return { sha256: btoa(String.fromCharCode(...webRuntime.sha256(utf8(secret)))) }
}

/** A row of a table of secrets as a schema can judge it: columns that mean nothing here are left out, and what is no row is an empty one. */
export function secretRow(row: unknown): SecretInput {
  if (typeof row !== 'object' || row === null) return {}
  const { sha256, sha512, expiresAt } = row as SecretInput
  return { sha256, sha512, expiresAt }
}
