import { describe, expect, test } from 'vitest'
import { certificate, dpop, keyHolder } from '../dpop/dpop.ts'
import {
  builtInPlugins,
  fixture,
  otherClient,
  proof as pkce,
  redirectUri,
  spaClientId,
  web,
} from '../support/fixture.ts'
import { withoutSignatures } from '../support/same-tokens.ts'
import { callUserinfo, requestTokens } from './send.ts'

const plugins = [builtInPlugins, dpop(), certificate()]
const scope = 'openid profile offline_access api1'
const password = { grant_type: 'password', username: 'alice', password: 'alice-password', scope }
const refresh = (token: string) => ({ grant_type: 'refresh_token', refresh_token: token })
const start = () => fixture({ plugins })

/** A code of the public client. */
async function redeemCode(
  f: Awaited<ReturnType<typeof start>>,
  key: Awaited<ReturnType<typeof keyHolder>> | undefined,
) {
  const code = await f.code({ clientId: spaClientId, codeChallenge: pkce.challenge, codeChallengeMethod: 'S256' })
  const form = { grant_type: 'authorization_code', code, redirect_uri: redirectUri, code_verifier: pkce.verifier }
  return requestTokens(f, { ...form, client_id: spaClientId }, { key })
}
const spaRefresh = (token: string) => ({ ...refresh(token), client_id: spaClientId })

describe('a refresh token', () => {
  test('3.64 of a public client is bound to the key', async () => {
    const [f, key, another] = [await start(), await keyHolder(), await keyHolder()]
    const { body } = await redeemCode(f, key)
    expect((await f.provider.inspect(body.refresh_token)).claims.cnf).toEqual({ jkt: key.thumbprint })
    const stolen = await requestTokens(f, spaRefresh(body.refresh_token), { key: another })
    expect([stolen.status, stolen.body.error]).toEqual([400, 'invalid_grant'])
    expect(f.events.at(-1)).toMatchObject({ reason: 'wrong_key' })
    expect((await requestTokens(f, spaRefresh(body.refresh_token), {})).status).toBe(400)
    const next = await requestTokens(f, spaRefresh(body.refresh_token), { key })
    expect([next.status, next.body.token_type]).toEqual([200, 'DPoP'])
    expect((await requestTokens(f, spaRefresh(next.body.refresh_token), { key: another })).status).toBe(400)
    expect((await requestTokens(f, spaRefresh(next.body.refresh_token), { key })).status).toBe(200)
  })

  test('3.64 of a public client becomes bound with the first proof', async () => {
    const [f, key, another] = [await start(), await keyHolder(), await keyHolder()]
    const { body } = await redeemCode(f, undefined)
    const next = await requestTokens(f, spaRefresh(body.refresh_token), { key })
    expect((await requestTokens(f, spaRefresh(next.body.refresh_token), { key: another })).status).toBe(400)
  })

  test('3.64 of a confidential client can be used with another key', async () => {
    const [f, key, another] = [await start(), await keyHolder(), await keyHolder()]
    const { body } = await requestTokens(f, password, { as: web, key })
    const next = await requestTokens(f, refresh(body.refresh_token), { as: web, key: another })
    const { claims } = await f.provider.inspect(next.body.access_token)
    expect(claims.cnf).toEqual({ jkt: another.thumbprint })
  })

  test.each([
    ['is bound if the binding requires it', web, 400],
    ['is not bound otherwise', otherClient, 200],
  ])('3.64 of a confidential client %s', async (_, as, status) => {
    const f = await start()
    const headers = { 'test-certificate': 'mine' }
    const { body } = await requestTokens(f, password, { as, headers })
    const response = await requestTokens(f, refresh(body.refresh_token), {
      as,
      headers: { 'test-certificate': 'other' },
    })
    expect(response.status).toBe(status)
  })
})

describe('a retry of a refresh request', () => {
  test('3.65 with the same key and another proof gets the same tokens', async () => {
    const [f, key] = [await start(), await keyHolder()]
    const { body } = await requestTokens(f, password, { as: web, key })
    const first = await requestTokens(f, refresh(body.refresh_token), { as: web, key })
    const again = await requestTokens(f, refresh(body.refresh_token), { as: web, key })
    expect(withoutSignatures(again.body)).toEqual(withoutSignatures(first.body))
  })

  test('3.65 with another key is a replay, which revokes the family', async () => {
    const [f, key, another] = [await start(), await keyHolder(), await keyHolder()]
    const { body } = await requestTokens(f, password, { as: web, key })
    const first = await requestTokens(f, refresh(body.refresh_token), { as: web, key })
    const again = await requestTokens(f, refresh(body.refresh_token), { as: web, key: another })
    expect([again.status, again.body.error]).toEqual([400, 'invalid_grant'])
    expect((await callUserinfo(f, first.body.access_token, { key })).status).toBe(401)
  })
})
