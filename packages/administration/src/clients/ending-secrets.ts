import type { ClientOptions } from '@grantry/core'

type Secrets = NonNullable<ClientOptions['secrets']>

/** Returns the epoch seconds of the end of a secret. */
function secondsOf(end: unknown): number {
  if (end === undefined || end === null) return Number.POSITIVE_INFINITY
  return typeof end === 'number' ? end : Math.floor(Date.parse(String(end)) / 1000)
}

/** Returns the secrets that have not ended, each with an end that is not later than `end`. In epoch seconds. */
export const endingSecrets = (secrets: Secrets = [], now: number, end: number): Secrets =>
  secrets.flatMap((secret) => {
    const expiresAt = Math.min(end, secondsOf(secret.expiresAt))
    return expiresAt > now ? [{ ...secret, expiresAt }] : []
  })
