import * as v from 'valibot'
import { configurationObject } from '../configuration.ts'
import { decodeBase64 } from '../encoding.ts'

const hashLengths = { sha256: 32, sha512: 64 } as const

/** A stored secret: only its hash. */
export interface Secret {
  readonly algorithm: 'sha256' | 'sha512'
  readonly hash: Uint8Array
  /** Epoch seconds; from then on the secret does not count. */
  readonly expiresAt: number | undefined
}

/** Epoch seconds of a number of seconds or an ISO 8601 date and time; not a number where it is neither. */
const secondsOf = (moment: number | string): number =>
  typeof moment === 'number' ? moment : Math.floor(Date.parse(moment) / 1000)

/**
 * `undefined` stands for a secret that is none (a hash of another length, no base64, an end that is no date): it is passed over and reported, so
 * that one bad row of a client table does not stop the service.
 */
const secretSchema = v.pipe(
  configurationObject({
    sha256: v.optional(v.string()),
    sha512: v.optional(v.string()),
    expiresAt: v.optional(v.union([v.number(), v.string()], 'must be epoch seconds or an ISO 8601 date and time')),
  }),
  v.transform(({ sha256, sha512, expiresAt }): Secret | undefined => {
    const algorithm = sha512 === undefined ? 'sha256' : 'sha512'
    const hash = decodeBase64(sha512 ?? sha256 ?? '')
    const end = expiresAt === undefined ? undefined : secondsOf(expiresAt)
    if (hash?.length !== hashLengths[algorithm] || Number.isNaN(end)) return undefined
    return { algorithm, hash, expiresAt: end }
  }),
)

/** The list of secrets of a client or scope; `malformedSecrets` counts what was passed over. */
export const secretsSchema = v.pipe(
  v.array(secretSchema, 'must be an array of { sha256 } or { sha512 }'),
  v.transform((secrets) => {
    const live = secrets.filter((secret) => secret !== undefined)
    return { live, malformed: secrets.length - live.length }
  }),
)
