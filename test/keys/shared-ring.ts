import {
  type AtomicDriver,
  type KeyInfo,
  type ProviderOptions,
  type StoredKeysOptions,
  storedKeys,
} from '@grantry/core'
import { createTestClock, mapDriver, type TestClock } from '@grantry/testing'
import { decodeProtectedHeader, type JWK } from 'jose'
import { type Fixture, fixture, webJwt } from '../support/fixture.ts'

/** A store and a clock that several providers share, as the processes of one service. */
export interface SharedRing {
  readonly items: Map<string, string>
  readonly clock: TestClock
  readonly driver: AtomicDriver
  /** Starts another process. */
  start(keys?: StoredKeysOptions, more?: Partial<ProviderOptions>): Promise<Fixture>
}

/** @param wrap wraps the store of each provider */
export function sharedRing(wrap: (driver: AtomicDriver) => AtomicDriver = (driver) => driver): SharedRing {
  const items = new Map<string, string>()
  const clock = createTestClock()
  const driver = mapDriver(items, clock.now)
  return {
    items,
    clock,
    driver,
    start: (keys = {}, more = {}) =>
      fixture({
        // With one algorithm unless a test is about several: most are not about RSA keys.
        keys: storedKeys({ algorithms: ['ES256'], ...keys }),
        storage: wrap(driver),
        ...more,
        // A process schedules its reads by the monotonic clock; a key is checked against the wall clock.
        runtime: { now: clock.now, elapsed: () => clock.now() * 1000, ...more.runtime },
      }),
  }
}

/** A JWT access token of this process. */
export async function tokenOf(f: Fixture): Promise<string> {
  const { status, body } = await f.post('token', { grant_type: 'client_credentials', scope: 'api1' }, webJwt)
  if (status !== 200) throw new Error(`no token: ${status} ${JSON.stringify(body)}`)
  return body.access_token
}

export const kidOf = (token: string): string => decodeProtectedHeader(token).kid ?? ''

/** Whether this process accepts the token. */
export async function accepts(f: Fixture, token: string): Promise<boolean> {
  return (await f.post('accessTokenValidation', { token })).status === 200
}

export async function published(f: Fixture): Promise<readonly JWK[]> {
  return (await f.get('jwks')).body.keys
}

export const kidsOf = (keys: readonly { readonly kid?: string }[]): readonly (string | undefined)[] =>
  keys.map(({ kid }) => kid)

/** The kids of the keys in this state. */
export const inState = (keys: readonly KeyInfo[], state: KeyInfo['state']): readonly string[] =>
  keys.filter((key) => key.state === state).map(({ kid }) => kid)

/**
 * Lets this process read the ring, and resolves when the background work of that has ended. The driver of the ring
 * stays open.
 */
export async function settle(f: Fixture): Promise<void> {
  await f.provider.keys.list()
  await f.provider.close()
}
