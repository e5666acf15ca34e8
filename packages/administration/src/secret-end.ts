import { type ClientOptions, epochSecondsOf } from '@grantry/core'

export type Secrets = NonNullable<ClientOptions['secrets']>

/** Returns the epoch seconds of the end of a secret. A secret that cannot be read has ended: no check accepts it. */
export const endOf = (end: unknown): number =>
  end === undefined || end === null ? Number.POSITIVE_INFINITY : (epochSecondsOf(end) ?? Number.NEGATIVE_INFINITY)
