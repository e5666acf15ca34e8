// A connection breaks after the store has spent a credential, and the client library of the store sends the insert or
// the commit again. The result is then that the marker exists, although the caller has set it. The original request must not take itself for a replay, and
// concurrent requests must not profit from that.
import type { AtomicDriver } from '@grantry/core'
import { memoryDriver } from '@grantry/storage-drivers/memory'
import { describe, expect, test } from 'vitest'
import { api1, type Fixture, fixture, redirectUri, web } from '../support/fixture.ts'
import { type CommitPath, commitPaths, withLatency } from '../support/latency.ts'
import { differentTokens } from '../support/same-tokens.ts'

/** Acts twice and returns the second result, except for the probe at start. */
function resending(driver: AtomicDriver) {
  let resent = 0
  const { commit } = driver
  const storage: AtomicDriver = {
    name: 'resending',
    getItem: (key) => driver.getItem(key),
    setItem: (key, value, options) => driver.setItem(key, value, options),
    removeItem: (key, options) => driver.removeItem(key, options),
    async insertItem(key, value, options) {
      const first = await driver.insertItem(key, value, options)
      if (!key.startsWith('spent:')) return first
      if (first) resent += 1
      return driver.insertItem(key, value, options)
    },
    incrementItem: (key, options) => driver.incrementItem(key, options),
    replaceItem: (key, change) => driver.replaceItem(key, change),
    ...(commit !== undefined && {
      async commit(changes) {
        const first = await commit(changes)
        if (!changes.create[0]?.key.startsWith('spent:')) return first
        if (first === true) resent += 1
        return commit(changes)
      },
    }),
  }
  return { storage, resent: () => resent }
}

async function started({ prepare }: CommitPath, driver: AtomicDriver = memoryDriver()) {
  const { storage, resent } = resending(prepare(driver))
  return { f: await fixture({ storage }), resent }
}

const redeem = (f: Fixture, code: string) =>
  f.post('token', { grant_type: 'authorization_code', code, redirect_uri: redirectUri }, web)

const refresh = (f: Fixture, token: string) =>
  f.post('token', { grant_type: 'refresh_token', refresh_token: token }, web)

const isActive = async (f: Fixture, token: string): Promise<boolean> =>
  (await f.post('introspection', { token }, api1)).body.active

const alarms = ['code_replayed', 'refresh_reused', 'redemption_replayed', 'refresh_retried', 'family_revoked']
const raised = (f: Fixture) => f.events.map(({ type }) => type).filter((type) => alarms.includes(type))

describe.each(commitPaths)('a commit $path whose result was lost and that was sent again', (path) => {
  test('does not fail the only redemption of a code', async () => {
    const { f, resent } = await started(path)
    const { status, body } = await redeem(f, await f.code())
    expect(status).toBe(200)
    expect(resent()).toBe(1)
    expect(raised(f)).toEqual([])
    expect(await isActive(f, body.access_token)).toBe(true)
  })

  test('does not fail a legitimate refresh, and every token stays valid', async () => {
    const { f, resent } = await started(path)
    const first = (await redeem(f, await f.code())).body
    const { status, body } = await refresh(f, first.refresh_token)
    expect(status).toBe(200)
    expect(resent()).toBe(2)
    expect(raised(f)).toEqual([])
    expect(await isActive(f, first.access_token)).toBe(true)
    expect(await isActive(f, body.access_token)).toBe(true)
    expect((await refresh(f, body.refresh_token)).status).toBe(200)
  })

  test('does not hide a replay', async () => {
    const { f } = await started(path)
    const code = await f.code()
    const { body } = await redeem(f, code)
    expect(await redeem(f, code)).toMatchObject({ status: 400, body: { error: 'invalid_grant' } })
    expect(raised(f)).toEqual(['code_replayed', 'family_revoked'])
    expect(await isActive(f, body.access_token)).toBe(false)
  })

  test.each([1, 2, 3])('lets exactly one of 20 concurrent redemptions win: round %i', async () => {
    const { f } = await started(path, withLatency(memoryDriver()))
    const code = await f.code()
    const responses = await Promise.all(Array.from({ length: 20 }, () => redeem(f, code)))
    expect(responses.filter(({ status }) => status === 200)).toHaveLength(1)
    expect(responses.filter(({ status, body }) => status === 400 && body.error === 'invalid_grant')).toHaveLength(19)
  })

  test('gives 20 equal concurrent refreshes the same tokens', async () => {
    const { f } = await started(path, withLatency(memoryDriver()))
    const first = (await redeem(f, await f.code())).body
    const responses = await Promise.all(Array.from({ length: 20 }, () => refresh(f, first.refresh_token)))
    expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([200]))
    expect(differentTokens(responses)).toHaveLength(1)
    expect(raised(f)).toEqual(Array.from({ length: 19 }, () => 'refresh_retried'))
  })
})
