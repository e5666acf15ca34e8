// What another party publishes, in memory.
import { vi } from 'vitest'
import { json } from '../upstream/openid-double.ts'
import { createIssuerKey, type IssuerKey } from './trusted-issuer.ts'

const kids = ['first', 'second', 'third'] as const
export const keys = Object.fromEntries(
  await Promise.all(kids.map(async (kid) => [kid, await createIssuerKey(kid, 'RS256')] as const)),
) as Record<(typeof kids)[number], IssuerKey>

export type Version = 'first' | 'second'
type Respond = (respond: () => Response) => Response | Promise<Response>

/** A value that another party publishes, in two versions. Needs fake timers, and their `Date`. */
export interface PublishedValue {
  /** Whether a request succeeds that needs this version. */
  sees(version: Version): Promise<boolean>
  publishes(version: Version): void
  /** Replaces the response of the host. Without a function, it is its own again. */
  respond(replace?: Respond): void
  /** Moves the clock, and ends the timers of this time. */
  pass(seconds: number): Promise<void>
  fetches(): number
  /** Seconds from the end of an attempt that has failed to the next one. */
  readonly pause: number
  /** Seconds after which the next request that has a second to wait gets a newer one. */
  readonly renewal: number
  /** Seconds for which it is used while its host sends errors. */
  readonly usable: number
}

/** A value that is a set of keys. */
export interface PublishedKeySet extends PublishedValue {
  /** Whether a token with this key is accepted. Its header can name another id. */
  accepts(key: IssuerKey, kid?: string): Promise<boolean>
  publish(...jwks: readonly unknown[]): void
}

/** A host in memory. */
function hostOf(respond: () => Response) {
  let replace: Respond | undefined
  let count = 0
  return {
    async fetch(): Promise<Response> {
      count += 1
      return replace === undefined ? respond() : replace(respond)
    },
    respond(next?: Respond) {
      replace = next
    },
    fetches: () => count,
  }
}

/** A host of keys. */
export function keyHost() {
  let published: readonly unknown[] = [keys.first.jwk]
  const { fetch, ...rest } = hostOf(() => json({ keys: published }))
  return {
    ...rest,
    fetch,
    publish(...jwks: readonly unknown[]) {
      published = jwks
    },
    publishes(version: Version) {
      published = [keys[version].jwk]
    },
  }
}

/** The times of timers, and of the clock of a provider. */
export const passing = (advance: (seconds: number) => void) => async (seconds: number) => {
  advance(seconds)
  await vi.advanceTimersByTimeAsync(seconds * 1000)
}

/** A host of a document in two versions. */
export function documentHost(documentOf: (version: Version) => unknown) {
  let version: Version = 'first'
  const { fetch, ...rest } = hostOf(() => json(documentOf(version)))
  return {
    ...rest,
    fetch,
    publishes(next: Version) {
      version = next
    },
  }
}
