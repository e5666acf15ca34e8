/**
 * Attack: a careless grant takes the subject from a parameter instead of from the stored grant that it redeems, so that
 * the holder of a code gets tokens of another user. That the core compares is hardening: nothing in the RFCs lets a
 * grant change the subject.
 */
import { defineGrant } from '@grantry/core'
import { createTestProvider, testClient } from '@grantry/testing'
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
    return { ...subject, scopes: ['api1'], redeems: [stored] }
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

test('a grant that redeems a code of alice for another user is a mistake of the plugin, and the code is not spent', async () => {
  const f = await start()
  const code = await f.code()
  const response = await f.post('token', { grant_type: careless.grantType, code, as: '2' }, web)
  expect([response.status, response.body]).toEqual([500, { error: 'server_error' }])
  expect(f.events.some(({ type }) => type === 'token_issued')).toBe(false)
  const legitimate = { grant_type: 'authorization_code', code, redirect_uri: redirectUri }
  expect((await f.post('token', legitimate, web)).status).toBe(200)
})

test.each([{ as: '1' }, {}])('the same grant gets a token of the subject of the code for %j', async (more) => {
  const f = await start()
  const { body } = await f.post('token', { grant_type: careless.grantType, code: await f.code(), ...more }, web)
  expect(await f.provider.inspect(body.access_token)).toMatchObject({ valid: true, claims: { sub: '1' } })
})

test('without a stored grant a grant chooses the subject', async () => {
  const { post } = await createTestProvider({ plugins: [careless] })
  expect((await post('token', { grant_type: careless.grantType, code: 'none', as: '2' }, testClient)).status).toBe(200)
})
