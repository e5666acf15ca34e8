/**
 * Attack (by circumstance): a host port throws while a read of the store is in flight, and that read fails a moment
 * later. Or a caller sends parameters that two schemas of plugins refuse, one of them later. An unhandled rejection ends
 * a Node.js process.
 */
import { defineGrant, defineGrantCheck, definePlugin } from '@grantry/core'
import { createTestProvider, testClient } from '@grantry/core/testing'
import { memoryDriver } from '@grantry/storage-drivers/memory'
import * as v from 'valibot'
import { afterEach, expect, test } from 'vitest'
import { api1, fixture, web } from '../support/fixture.ts'

const unhandled: unknown[] = []
const note = (reason: unknown): void => {
  unhandled.push(reason)
}
afterEach(() => {
  process.off('unhandledRejection', note)
  unhandled.length = 0
})

test('a user service that throws synchronously leaves no unhandled rejection of the store', async () => {
  const driver = memoryDriver()
  let isAway = false
  const storage = {
    ...driver,
    getItem(key: string) {
      if (!isAway || !key.startsWith('revoked:')) return driver.getItem(key)
      return new Promise<never>((_, reject) => setTimeout(() => reject(new Error('the store is away')), 5))
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
  isAway = true
  isBroken = true
  process.on('unhandledRejection', note)
  expect((await f.post('introspection', { token }, api1)).status).toBeGreaterThanOrEqual(500)
  await new Promise((resolve) => setTimeout(resolve, 50))
  expect(unhandled).toEqual([])
})

test('a login that is refused after the password check leaves no unhandled rejection of the store', async () => {
  const driver = memoryDriver()
  let isAway = false
  const storage = {
    ...driver,
    getItem(key: string) {
      if (!isAway || !key.startsWith('epoch:')) return driver.getItem(key)
      return new Promise<never>((_, reject) => setTimeout(() => reject(new Error('the store is away')), 5))
    },
  }
  const f = await fixture({ storage, users: { authenticate: () => ({ sub: '1' }), isActive: () => !isAway } })
  isAway = true
  process.on('unhandledRejection', note)
  const form = { grant_type: 'password', username: 'a', password: 'b', scope: 'api1' }
  expect((await f.post('token', form, web)).status).toBe(400)
  await new Promise((resolve) => setTimeout(resolve, 50))
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
      defineGrant({ grantType, params: v.object({}), handle: ({ scopes }) => ({ scopes }) }),
      definePlugin('late', [checkOf(late)]),
      definePlugin('early', [checkOf(v.object({ two: v.string() }))]),
    ],
  })
  process.on('unhandledRejection', note)
  const { body } = await post('token', { grant_type: grantType, scope: 'api1', one: 'x' }, testClient)
  expect(body.error_description).toBe('The parameter one is malformed')
  await new Promise((resolve) => setTimeout(resolve, 50))
  expect(unhandled).toEqual([])
})
