import { isOAuthError } from '../errors/oauth-error.ts'
import { isThenable } from '../promises.ts'
import type { MaybePromise } from '../types.ts'
import type { Client } from './client.ts'

/** Whether a source has refused a client, instead of not being able to respond. */
export const isClientRefusal = (thrown: unknown): boolean => isOAuthError(thrown) && thrown.code === 'invalid_client'

/** A stored grant or token of a client that is refused is like one of an unknown client: its bearer has not named it. */
export const withoutRefusal = (outcome: MaybePromise<Client | undefined>): MaybePromise<Client | undefined> =>
  isThenable(outcome)
    ? outcome.catch((thrown: unknown) => {
        if (isClientRefusal(thrown)) return undefined
        throw thrown
      })
    : outcome
