/**
 * Attack: a careless grant takes the subject from a parameter instead of from the stored grant that it redeems, so that
 * the holder of a code gets tokens of another user. That the core compares is hardening: nothing in the RFCs lets a
 * grant change the subject.
 */
import { defineGrant } from '@grantry/core'
import { createTestProvider, testClient } from '@grantry/core/testing'
import * as v from 'valibot'
import { expect, test } from 'vitest'
import { builtInPlugins, clients, fixture, redirectUri, scopes, web } from '../support/fixture.ts'

const careless = defineGrant({
  grantType: 'urn:example:careless',
  params: v.object({ code: v.string(), as: v.optional(v.string()) }),
  scope: 'ignored',
  async handle({ params }, kit) {
    const stored = await kit.findGrant('code', params.code)
    if (stored === undefined) return { scopes: [] }
    const subject = params.as === undefined ? {} : { subject: { sub: params.as, amr: ['pwd'] } }
    return { ...subject, scopes: ['api1'], redeems: [stored.redemption] }
  },
})

const start = () =>
  fixture({
    plugins: [...builtInPlugins, careless],
    clients: clients.map((client) => ({
      ...client,
      grantTypes: [...(client.grantTypes ?? []), ...(client.public ? [] : [careless.grantType])],
    })),
    scopes,
  })

test.each([{ as: '2' }, {}])(
  'a grant that redeems a code of alice for %j is a mistake of the plugin, and the code is not spent',
  async (more) => {
    const f = await start()
    const code = await f.code()
    const response = await f.post('token', { grant_type: careless.grantType, code, ...more }, web)
    expect([response.status, response.body]).toEqual([500, { error: 'server_error' }])
    expect(f.events.some(({ type }) => type === 'token_issued')).toBe(false)
    const legitimate = { grant_type: 'authorization_code', code, redirect_uri: redirectUri }
    expect((await f.post('token', legitimate, web)).status).toBe(200)
  },
)

test('the same grant succeeds for the subject of the code', async () => {
  const f = await start()
  const response = await f.post('token', { grant_type: careless.grantType, code: await f.code(), as: '1' }, web)
  expect(response.status).toBe(200)
})

test('without a stored grant a grant chooses the subject', async () => {
  const { post } = await createTestProvider({ plugins: [careless] })
  expect((await post('token', { grant_type: careless.grantType, code: 'none', as: '2' }, testClient)).status).toBe(200)
})
