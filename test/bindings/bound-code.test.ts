import { defineGrantCheck, definePlugin } from '@grantry/core'
import { type NewGrant, storeGrant } from '@grantry/testing'
import * as v from 'valibot'
import { describe, expect, test } from 'vitest'
import { certificate, dpop, type KeyHolder, keyHolder } from '../dpop/dpop.ts'
import { builtInPlugins, type Fixture, fixture, proof, redirectUri, spaClientId, web } from '../support/fixture.ts'
import { requestTokens } from './send.ts'

const start = () => fixture({ plugins: [builtInPlugins, dpop(), certificate()] })
const authorize = ({ provider }: Fixture, more: Partial<NewGrant>) =>
  storeGrant(provider, {
    kind: 'code',
    clientId: web[0],
    subject: { sub: '1', amr: ['pwd'] },
    scopes: ['api1', 'offline_access'],
    redirectUri,
    ...more,
  })
const redeem = (f: Fixture, code: string, key: KeyHolder | undefined) =>
  requestTokens(f, { grant_type: 'authorization_code', code, redirect_uri: redirectUri }, { as: web, key })

describe('a code that requires a key', () => {
  test.each<[string, (jkt: string) => Partial<NewGrant>]>([
    ['that the authorization request names (dpop_jkt)', (jkt) => ({ params: { dpop_jkt: jkt } })],
    ['that a pushed request has proved', (jkt) => ({ confirmation: { jkt } })],
    ['that both name', (jkt) => ({ params: { dpop_jkt: jkt }, confirmation: { jkt } })],
  ])('%s is redeemed only with it', async (_, naming) => {
    const [f, key, another] = [await start(), await keyHolder(), await keyHolder()]
    const code = await authorize(f, naming(key.thumbprint))
    for (const [wrong, reason] of [
      [another, 'wrong_key'],
      [undefined, 'proof_missing'],
    ] as const) {
      const stolen = await redeem(f, code, wrong)
      expect([stolen.status, stolen.body.error]).toEqual([400, 'invalid_grant'])
      expect(f.events.at(-1)).toMatchObject({ reason })
    }
    expect((await redeem(f, code, key)).body.token_type).toBe('DPoP')
  })

  test('does not bind the refresh token of a confidential client', async () => {
    const [f, key, another] = [await start(), await keyHolder(), await keyHolder()]
    const { body } = await redeem(f, await authorize(f, { params: { dpop_jkt: key.thumbprint } }), key)
    const form = { grant_type: 'refresh_token', refresh_token: body.refresh_token }
    expect((await requestTokens(f, form, { as: web, key: another })).status).toBe(200)
  })

  test('binds the refresh token of a public client', async () => {
    const [f, key, another] = [await start(), await keyHolder(), await keyHolder()]
    const params = { dpop_jkt: key.thumbprint, code_challenge: proof.challenge, code_challenge_method: 'S256' }
    const code = await authorize(f, { clientId: spaClientId, params })
    const form = { grant_type: 'authorization_code', code, redirect_uri: redirectUri, client_id: spaClientId }
    const { body } = await requestTokens(f, { ...form, code_verifier: proof.verifier }, { key })
    const refresh = { grant_type: 'refresh_token', refresh_token: body.refresh_token, client_id: spaClientId }
    expect((await requestTokens(f, refresh, { key: another })).status).toBe(400)
  })

  test('cannot require two keys of the same kind', async () => {
    const f = await start()
    const authorizing = authorize(f, { params: { dpop_jkt: 'one' }, confirmation: { jkt: 'two' } })
    await expect(authorizing).rejects.toMatchObject({ code: 'invalid_request', details: { reason: 'keys_differ' } })
  })

  test('cannot require a key that no plugin can verify', async () => {
    const f = await fixture()
    await expect(authorize(f, { confirmation: { jkt: 'one' } })).rejects.toThrow(
      'An authorization requires a key that no token binding can verify',
    )
  })

  test.each([[{ jkt: 7 }], ['jkt'], [{ unknown: 'key' }]])(
    'cannot require %j of a grant check',
    async (confirmation) => {
      const check = defineGrantCheck({
        grantTypes: ['authorization_code'],
        params: v.object({}),
        authorization: { params: v.object({}), check: () => ({ confirmation: confirmation as never }) },
        check: () => undefined,
      })
      const f = await fixture({ plugins: [builtInPlugins, certificate(), definePlugin('broken', [check])] })
      await expect(authorize(f, {})).rejects.toThrow(TypeError)
    },
  )
})
