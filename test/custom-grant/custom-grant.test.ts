import { defineGrant } from '@grantry/core'
import { createTestProvider, testClient } from '@grantry/testing'
import * as v from 'valibot'
import { describe, expect, test } from 'vitest'
import { testGrant } from '../support/test-grant.ts'
import { type Badge, badge, grantType, holder, present, start } from './badge-grant.ts'

describe('a custom grant', () => {
  test.each(['badge', 'urn:example:badge', 'https://example.com/grants/badge'])(
    '3.46 accepts the name %s',
    async (name) => {
      const hello = testGrant({ grantType: name, handle: ({ scopes }) => ({ scopes }) })
      const f = await createTestProvider({ plugins: [hello] })
      const { status, body } = await f.post('token', { grant_type: name, scope: 'api1' }, testClient)
      expect(status).toBe(200)
      expect(body).toEqual({ access_token: expect.any(String), token_type: 'Bearer', expires_in: 3600, scope: 'api1' })
    },
  )

  test.each(['', 'two words', 'a"b', 'a\\b', 'bädge', 'x'.repeat(101)])(
    '3.46 rejects the name "%s" at start',
    async (name) => {
      const hello = testGrant({ grantType: name, handle: ({ scopes }) => ({ scopes }) })
      await expect(createTestProvider({ plugins: [hello] })).rejects.toThrow(
        /: grantType must be a short name or an absolute URI/u,
      )
    },
  )

  test('3.46 rejects two grants with the same name at start', async () => {
    const twice = [badge(() => ({ scopes: [] })), badge(() => ({ scopes: [] }))]
    await expect(createTestProvider({ plugins: twice })).rejects.toThrow(/two plugins have the name urn:example:badge/u)
  })

  test('3.47 a custom grant needs a scope', async () => {
    const f = await start(({ scopes }) => ({ subject: holder, scopes }))
    const { status, body } = await f.post('token', { grant_type: grantType, badge_id: '123456' }, testClient)
    expect(status).toBe(400)
    expect(body.error).toBe('invalid_scope')
  })

  test('3.48 receives its own parameters, typed, and no others', async () => {
    const seen: Badge[] = []
    const f = await start(({ params: badge, scopes }) => {
      seen.push(badge)
      return { subject: holder, scopes }
    })
    expect((await present(f, { badge_id: '000042', door: 'south', shoe_size: '43' })).status).toBe(200)
    expect((await present(f)).status).toBe(200)
    expect(seen).toEqual([
      { badge_id: 42, door: 'south' },
      { badge_id: 123456, door: 'north' },
    ])
  })

  test.each([
    ['missing', { badge_id: '' }, 'badge_id', 'parameter_missing'],
    ['with another format', { badge_id: '12345' }, 'badge_id', 'parameter_malformed'],
    ['not on the list', { door: 'west' }, 'door', 'parameter_malformed'],
  ])(
    '3.48 a parameter that is %s is an invalid request, and the grant is not called',
    async (_, wrong, name, reason) => {
      let asked = false
      const f = await start(({ scopes }) => {
        asked = true
        return { subject: holder, scopes }
      })
      const { status, body } = await present(f, wrong)
      expect(status).toBe(400)
      expect(body).toEqual({ error: 'invalid_request', error_description: expect.stringContaining(name) })
      expect(f.events.at(-1)).toMatchObject({ reason })
      expect(asked).toBe(false)
    },
  )

  test('3.48 a failed rule about two parameters is an invalid request that names neither', async () => {
    const together = v.pipe(
      v.object({ from: v.optional(v.string()), to: v.optional(v.string()) }),
      v.check(({ from, to }) => from !== to),
    )
    const range = defineGrant({ grantType, params: together, handle: ({ scopes }) => ({ scopes }) })
    const f = await createTestProvider({ plugins: [range] })
    const { status, body } = await present(f, { from: '1', to: '1' })
    expect(status).toBe(400)
    expect(body.error).toBe('invalid_request')
    expect(body.error_description).not.toMatch(/ {2}|required/u)
  })

  test('3.48 receives the client, the scopes and the circumstances of the request', async () => {
    const seen: unknown[] = []
    const f = await start(({ client, scopes, request }) => {
      seen.push(client.clientId, scopes, request.header('X-Door'), request.header('x-none'), request.clientAddress)
      return { subject: holder, scopes }
    })
    const form = { grant_type: grantType, badge_id: '123456', scope: 'api1 profile', client_id: testClient[0] }
    const request = new Request('https://id.example.com/connect/token', {
      method: 'POST',
      body: new URLSearchParams({ ...form, client_secret: testClient[1] }),
      headers: { 'x-door': 'north' },
    })
    const response = await f.provider.handlers.token(request, { clientAddress: '192.0.2.1' })
    expect(response.status).toBe(200)
    expect(seen).toEqual(['test-client', ['api1', 'profile'], 'north', null, '192.0.2.1'])
  })
})
