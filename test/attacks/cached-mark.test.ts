/**
 * Attack: a client is revoked in one process, and another process issues a token with the epoch that it has cached. The
 * token must count as old, so that the revocation reaches it.
 *
 * docs/decisions/0046: an outdated mark fails closed.
 */
import type { AtomicDriver } from '@grantry/core'
import { mapDriver } from '@grantry/testing'
import { expect, test } from 'vitest'
import { api1, type Fixture, fixture, web } from '../support/fixture.ts'

const isActive = async (f: Fixture, token: string): Promise<boolean> =>
  (await f.post('introspection', { token }, api1)).body.active

const clientToken = async (f: Fixture): Promise<string> =>
  (await f.post('token', { grant_type: 'client_credentials', scope: 'api1' }, web)).body.access_token

/** Two providers on one storage, like two processes. The operations are those of the second. */
async function started() {
  const driver = mapDriver()
  const operations: string[] = []
  const recorded = (operation: string, key: string): void => {
    operations.push(`${operation} ${key.slice(0, key.indexOf(':'))}`)
  }
  const storage: AtomicDriver = {
    ...driver,
    getItem(key) {
      recorded('get', key)
      return driver.getItem(key)
    },
    setItem(key, value, options) {
      recorded('set', key)
      return driver.setItem(key, value, options)
    },
  }
  const otherProcess = await fixture({ storage: driver })
  const f = await fixture({ storage, runtime: { now: otherProcess.clock.now } })
  await clientToken(f)
  operations.length = 0
  return { f, otherProcess, operations }
}

test('a client token is issued with one operation while the mark of its client is cached', async () => {
  const { f, otherProcess, operations } = await started()
  const token = await clientToken(f)
  expect(operations).toEqual(['set access'])
  operations.length = 0
  expect(await isActive(f, token)).toBe(true)
  // The token carries the revision.
  expect(operations).toEqual(['get access', 'get revision'])
  otherProcess.clock.advance(1)
  operations.length = 0
  await clientToken(f)
  expect(operations).toEqual(['get revision', 'get epoch', 'set access'])
})

test('a revocation in another process reaches tokens that are issued with the cached mark', async () => {
  const { f, otherProcess } = await started()
  await otherProcess.provider.revoke({ clientId: web[0] })
  const outdated = await clientToken(f)
  expect(await isActive(f, outdated)).toBe(false)
  expect(await isActive(otherProcess, outdated)).toBe(false)
  otherProcess.clock.advance(1)
  const current = await clientToken(f)
  expect(await isActive(f, current)).toBe(true)
  expect(await isActive(otherProcess, outdated)).toBe(false)
})

test('a token with the cached mark is refused although this process has read the new revision meanwhile', async () => {
  const { f, otherProcess } = await started()
  const earlier = await clientToken(f)
  await otherProcess.provider.revoke({ clientId: web[0] })
  expect(await isActive(f, earlier)).toBe(false)
  expect(await isActive(f, await clientToken(f))).toBe(false)
})

test('a revocation in the same process takes effect immediately: earlier tokens are refused, the next one is not', async () => {
  const { f } = await started()
  const earlier = await clientToken(f)
  await f.provider.revoke({ clientId: web[0] })
  expect(await isActive(f, earlier)).toBe(false)
  expect(await isActive(f, await clientToken(f))).toBe(true)
})

test('the mark of a user is never cached: a login just after a revocation in another process is valid', async () => {
  const { f, otherProcess } = await started()
  const login = async () =>
    (
      await f.post(
        'token',
        { grant_type: 'password', username: 'alice', password: 'alice-password', scope: 'api1' },
        web,
      )
    ).body.access_token
  const earlier = await login()
  await otherProcess.provider.revoke({ subject: '1' })
  expect(await isActive(f, earlier)).toBe(false)
  expect(await isActive(f, await login())).toBe(true)
})
