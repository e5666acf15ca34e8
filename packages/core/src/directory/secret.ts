import * as v from 'valibot'
import { configurationObject } from '../configuration.ts'
import { decodeBase64, hex } from '../encoding.ts'

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

/** `undefined` stands for what is no secret: a hash of another length, no base64, an end that is no date. */
function secretOf({ sha256, sha512, expiresAt }: SecretInput): Secret | undefined {
  const algorithm = isAbsent(sha512) ? 'sha256' : 'sha512'
  const stored = isAbsent(sha512) ? sha256 : sha512
  const hash = typeof stored === 'string' ? decodeBase64(stored) : undefined
  const end = isAbsent(expiresAt) ? undefined : secondsOf(expiresAt)
  if (hash?.length !== hashLengths[algorithm] || Number.isNaN(end)) return undefined
  return { algorithm, hash: hex(hash), expiresAt: end }
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
 * The secrets of a client or scope. What is malformed is passed over, counted and reported, so that one bad row of a client table does not stop the
 * service (wire contract, section 2); only a mistyped name is a mistake of the configuration.
 */
export const secretsSchema = v.pipe(
  v.array(secretSchema, 'must be an array of { sha256 } or { sha512 }'),
  v.transform((secrets) => {
    const stored = secrets.map(secretOf).filter((secret) => secret !== undefined)
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

/** A row of a table of secrets as a schema can judge it: columns that mean nothing here are left out, and what is no row is an empty one. */
export function secretRow(row: unknown): SecretInput {
  if (typeof row !== 'object' || row === null) return {}
  const { sha256, sha512, expiresAt } = row as SecretInput
  return { sha256, sha512, expiresAt }
}
