// Attack: a custom grant that forgets a comparison receives the code of another client. The core makes the checks that
// a plugin forgets.
import { defineGrant, type GrantResult, OAuthError, type StoredGrant } from '@grantry/core'
import * as v from 'valibot'
import { describe, expect, test } from 'vitest'
import { proof, redirectUri, web } from '../support/fixture.ts'
import { grantType, present, start } from './redeeming-grant.ts'

describe('a custom grant that receives a code', () => {
  /** Forgets to compare client and redirect_uri. */
  const careless = (result: (stored: StoredGrant) => GrantResult) =>
    defineGrant({
      grantType,
      params: v.object({ code: v.string() }),
      async handle({ params }, kit) {
        const stored = await kit.findGrant('code', params.code)
        if (stored === undefined) return { scopes: ['api1'] }
        return result(stored)
      },
    })
  const redeeming = (stored: StoredGrant): GrantResult => ({ redeems: [stored] })
  const redeem = { grant_type: 'authorization_code', redirect_uri: redirectUri }

  test('3.32 spends it for every grant', async () => {
    const f = await start(careless(redeeming))
    const code = await f.code()
    expect((await present(f, { code })).status).toBe(200)
    expect((await f.post('token', { ...redeem, code }, web)).body.error).toBe('invalid_grant')
  })

  test('3.26 cannot redeem a code of another client', async () => {
    const f = await start(careless(redeeming))
    const code = await f.code({ clientId: 'mobile' })
    const { status, body } = await present(f, { code })
    expect(status).toBe(400)
    expect(body.error).toBe('invalid_grant')
    expect(f.events.at(-1)).toMatchObject({ reason: 'client_mismatch' })
    expect((await f.post('token', { ...redeem, code }, ['mobile', web[1]])).status).toBe(200)
  })

  test('3.27 cannot skip a demand of the code', async () => {
    const f = await start(careless(redeeming))
    const code = await f.code({ codeChallenge: proof.challenge })
    const { status, body } = await present(f, { code, code_verifier: proof.verifier })
    expect(status).toBe(400)
    expect(body.error).toBe('invalid_grant')
    expect(f.events.at(-1)).toMatchObject({ reason: 'demand_unsettled' })
  })

  test('3.12 cannot grant more than the code does', async () => {
    const f = await start(careless((stored) => ({ ...redeeming(stored), scopes: ['api1', 'profile'] })))
    const { status, body } = await present(f, { code: await f.code({ scopes: ['api1'] }) })
    expect(status).toBe(400)
    expect(body.error).toBe('invalid_scope')
  })

  test('3.32 cannot continue with a code without spending it', async () => {
    const f = await start(careless((stored) => ({ continues: stored })))
    const code = await f.code()
    const responses = [await present(f, { code }), await present(f, { code })]
    expect(responses.filter(({ status }) => status === 200).length).toBeLessThan(2)
    expect(responses.map(({ body }) => body.refresh_token)).not.toContain(code)
  })
})

describe('a custom grant that continues a refresh token, for a single-use proof', () => {
  const proved = defineGrant({
    grantType,
    params: v.object({ refresh_token: v.string(), jti: v.string() }),
    async handle({ params, scopes }, kit) {
      const stored = await kit.findGrant('refresh', params.refresh_token)
      if (stored === undefined) throw new OAuthError('invalid_grant', 'No', { reason: 'plugin:badge:unknown' })
      const proof = kit.redemption(params.jti, kit.now() + 600)
      return { subject: stored.subject, scopes, continues: stored, redeems: [proof] }
    },
  })

  test('3.38 cannot keep the refresh token of a client that rotates', async () => {
    const f = await start(proved)
    const redeem = { grant_type: 'authorization_code', code: await f.code(), redirect_uri: redirectUri }
    const { refresh_token } = (await f.post('token', redeem, web)).body
    const { status, body } = await present(f, { refresh_token, jti: 'j1' })
    expect(status).toBe(500)
    expect(body).toEqual({ error: 'server_error' })
  })

  test('the refusal of a replayed proof does not change the refresh token', async () => {
    const f = await start(proved, { usage: 'reuse' })
    const redeem = { grant_type: 'authorization_code', code: await f.code(), redirect_uri: redirectUri }
    const { refresh_token } = (await f.post('token', redeem, web)).body
    expect((await present(f, { refresh_token, jti: 'j1' })).body.refresh_token).toBe(refresh_token)
    expect((await present(f, { refresh_token, jti: 'j1' })).body.error).toBe('invalid_grant')
    expect((await present(f, { refresh_token, jti: 'j2' })).status).toBe(200)
  })
})
