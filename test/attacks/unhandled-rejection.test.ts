/**
 * Attack (by circumstance): a host port throws while a read of the store is in flight, and that read fails a moment
 * later. Or a caller sends parameters that two schemas of plugins refuse, one of them later. An unhandled rejection ends
 * a Node.js process.
 */
import { defineGrantCheck, definePlugin } from '@grantry/core'
import { memoryDriver } from '@grantry/storage-drivers/memory'
import { createTestProvider, testClient } from '@grantry/testing'
import * as v from 'valibot'
import { afterEach, expect, test } from 'vitest'
import { api1, fixture, web } from '../support/fixture.ts'
import { testGrant } from '../support/test-grant.ts'

const unhandled: unknown[] = []
const note = (reason: unknown): void => {
  unhandled.push(reason)
}
const failures: Promise<void>[] = []
afterEach(() => {
  process.off('unhandledRejection', note)
  unhandled.length = 0
  failures.length = 0
})

/** Returns a read that fails a moment later; `failures` contains when. */
function failedLater(): Promise<never> {
  return new Promise<never>((_, reject) => {
    const failure = new Promise<void>((resolve) => {
      setTimeout(() => {
        reject(new Error('the store is away'))
        resolve()
      }, 5)
    })
    failures.push(failure)
  })
}

/** Resolves when all reads have failed, and the process has reported those that nothing handles. */
async function reported(): Promise<void> {
  await Promise.all(failures)
  // Node.js reports after the promise jobs of a turn of the event loop.
  await new Promise((resolve) => setImmediate(resolve))
}

test('a user service that throws synchronously leaves no unhandled rejection of the store', async () => {
  const driver = memoryDriver()
  let isAway = false
  const storage = {
    ...driver,
    getItem(key: string) {
      if (!isAway || !key.startsWith('revoked:')) return driver.getItem(key)
      return failedLater()
    },
  }
  let isBroken = false
  const f = await fixture({
    storage,
    users: {
      authenticate: () => ({ sub: '1' }),
      isActive() {
        if (isBroken) throw new Error('the directory is broken')
        return true
      },
    },
  })
  const form = { grant_type: 'password', username: 'a', password: 'b', scope: 'offline_access api1' }
  const token = (await f.post('token', form, web)).body.access_token
  // While nothing has been revoked, the state of the family is not read.
  await f.provider.revoke({ subject: 'another' })
  isAway = true
  isBroken = true
  process.on('unhandledRejection', note)
  expect((await f.post('introspection', { token }, api1)).status).toBeGreaterThanOrEqual(500)
  await reported()
  expect(failures).not.toEqual([])
  expect(unhandled).toEqual([])
})

test('a login that is refused after the password check leaves no unhandled rejection of the store', async () => {
  const driver = memoryDriver()
  let isAway = false
  const storage = {
    ...driver,
    getItem(key: string) {
      if (!isAway || !key.startsWith('epoch:')) return driver.getItem(key)
      return failedLater()
    },
  }
  const f = await fixture({ storage, users: { authenticate: () => ({ sub: '1' }), isActive: () => !isAway } })
  isAway = true
  process.on('unhandledRejection', note)
  const form = { grant_type: 'password', username: 'a', password: 'b', scope: 'api1' }
  expect((await f.post('token', form, web)).status).toBe(400)
  await reported()
  expect(failures).not.toEqual([])
  expect(unhandled).toEqual([])
})

test('parameters that two checks refuse, one of them asynchronously, leave no unhandled rejection', async () => {
  const grantType = 'urn:example:badge'
  const checkOf = (params: v.GenericSchema | v.GenericSchemaAsync) =>
    defineGrantCheck({ grantTypes: [grantType], params, check: () => undefined })
  const late = v.objectAsync({
    one: v.pipeAsync(
      v.string(),
      v.checkAsync(async () => false),
    ),
  })
  const { post } = await createTestProvider({
    plugins: [
      testGrant({ grantType, handle: ({ scopes }) => ({ scopes }) }),
      definePlugin('late', [checkOf(late)]),
      definePlugin('early', [checkOf(v.object({ two: v.string() }))]),
    ],
  })
  process.on('unhandledRejection', note)
  const { body } = await post('token', { grant_type: grantType, scope: 'api1', one: 'x' }, testClient)
  expect(body.error_description).toBe('The parameter one is malformed')
  await reported()
  expect(unhandled).toEqual([])
})
