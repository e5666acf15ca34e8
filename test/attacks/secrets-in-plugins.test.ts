/**
 * Attack: a plugin, or code that it calls, reads the hashes of client secrets, or logs the client with them. The hash
 * of a secret is fast and unsalted, so a short secret can be guessed offline.
 *
 * Decision 54: what a plugin or a host function receives as client has no secrets.
 */
import {
  type Client,
  type ClientOptions,
  defineEndpoint,
  defineGrantCheck,
  definePlugin,
  type Schema,
} from '@grantry/core'
import { password } from '@grantry/plugins/password'
import { createTestProvider, sha256Of, testClient } from '@grantry/testing'
import * as v from 'valibot'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { testGrant } from '../support/test-grant.ts'

const hash = sha256Of(testClient[1])
const hexHash = Buffer.from(hash, 'base64').toString('hex')

const options: ClientOptions = {
  clientId: testClient[0],
  secrets: [{ sha256: hash }],
  grantTypes: ['urn:example:curious', 'password'],
  scopes: ['api1'],
}

/** Everything that code can reach from an object: own members, whatever their keys, and those of its prototypes. */
function reachable(value: unknown, seen = new Set<unknown>()): Set<unknown> {
  if (seen.has(value)) return seen
  seen.add(value)
  if (typeof value !== 'object' || value === null) return seen
  for (const key of Reflect.ownKeys(value)) {
    seen.add(key)
    reachable(Reflect.get(value, key), seen)
  }
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === null || prototype === Object.prototype || prototype === Array.prototype
    ? seen
    : reachable(prototype, seen)
}

function expectNoSecrets(received: unknown): void {
  expect(received).not.toHaveProperty('secrets')
  expect(Object.keys(received ?? {})).not.toContain('secrets')
  expect(JSON.stringify(received)).not.toMatch(/secret|sha256/u)
  const reached = reachable(received)
  for (const secret of ['secrets', hash, hexHash]) expect(reached.has(secret)).toBe(false)
}

describe.each([
  ['an array of clients', () => [options]],
  ['a client store', () => ({ find: async (id: string) => (id === options.clientId ? options : undefined) })],
])('with %s', (_, clients) => {
  test('no plugin or host function receives the secrets of the client', async () => {
    const received: (Client | undefined)[] = []
    const curious = definePlugin('curious', [
      testGrant({
        grantType: 'urn:example:curious',
        handle({ client, scopes }) {
          received.push(client)
          return { scopes }
        },
      }),
      defineGrantCheck({
        settles: 'proof_key',
        grantTypes: ['urn:example:curious'],
        params: v.object({}),
        check: ({ client }) => void received.push(client),
      }),
    ])
    const f = await createTestProvider({
      plugins: [curious, password()],
      clients: clients(),
      users: {
        authenticate(_credentials, client) {
          received.push(client)
          return { sub: '1' }
        },
      },
    })
    const curiousForm = { grant_type: 'urn:example:curious', scope: 'api1' }
    const passwordForm = { grant_type: 'password', scope: 'api1', username: 'alice', password: 'x' }
    for (const form of [curiousForm, curiousForm, passwordForm]) {
      expect((await f.post('token', form, testClient)).status).toBe(200)
    }
    expect(received).toHaveLength(5)
    for (const client of received) {
      expect(client?.clientId).toBe(testClient[0])
      expectNoSecrets(client)
    }
    // No copy for each request.
    expect(new Set(received).size).toBe(1)
  })
})

test('no endpoint of a plugin receives the secrets of its caller, a client or a scope', async () => {
  const received: unknown[] = []
  const endpoint = (caller: 'client' | 'scope') =>
    defineEndpoint({
      name: `curious${caller}`,
      path: `/curious/${caller}`,
      methods: ['POST'],
      caller,
      handle(call) {
        received.push(call.caller)
        return {}
      },
    })
  const f = await createTestProvider({
    plugins: [definePlugin('curious', [endpoint('client'), endpoint('scope')])],
    clients: [{ ...options, grantTypes: [] }],
    scopes: [{ name: 'api1', secrets: [{ sha256: hash }] }],
  })
  await f.post('curiousclient', {}, testClient)
  await f.post('curiousscope', {}, ['api1', testClient[1]])
  expect(received).toMatchObject([{ clientId: testClient[0] }, { name: 'api1' }])
  for (const caller of received) expectNoSecrets(caller)
})

test('no endpoint receives the credentials of its caller through a schema that accepts any parameter', async () => {
  const received: unknown[] = []
  const schemas: readonly Schema[] = [
    z.looseObject({ name: z.string() }),
    z.object({ name: z.string() }).catchall(z.string()),
    v.looseObject({ name: v.string() }),
  ]
  const endpoints = schemas.map((params, index) =>
    defineEndpoint({
      name: `loose${index}`,
      path: `/loose/${index}`,
      methods: ['POST'],
      caller: 'client',
      params,
      handle(call) {
        received.push(call.params)
        return {}
      },
    }),
  )
  const f = await createTestProvider({ plugins: definePlugin('loose', endpoints) })
  const [client_id, client_secret] = testClient
  for (const { name } of endpoints) {
    expect((await f.post(name, { name: 'a', more: 'b', client_id, client_secret })).status).toBe(200)
  }
  expect(received).toEqual(schemas.map(() => ({ name: 'a', more: 'b' })))
})
