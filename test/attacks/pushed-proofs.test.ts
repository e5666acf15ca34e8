/**
 * Attack: a thief has seen the DPoP proof of a pushed authorization request, or has stolen the code that it binds. Or a
 * client sends proofs there that a careless endpoint would accept, because a proof is optional.
 *
 * RFC 9449 sections 4.3, 10 and 10.1.
 */

import { authorizationCode } from '@grantry/plugins/authorization-code'
import { authorizationEndpoint } from '@grantry/plugins/authorization-endpoint'
import { dpop } from '@grantry/plugins/dpop'
import { mtls } from '@grantry/plugins/mtls'
import { proofKey } from '@grantry/plugins/proof-key'
import { pushedAuthorization } from '@grantry/plugins/pushed-authorization'
import { refreshToken } from '@grantry/plugins/refresh-token'
import { basic, read } from '@grantry/testing'
import { describe, expect, test } from 'vitest'
import { answer } from '../authorization/browser.ts'
import { hostSignIn, redirectUri, web } from '../authorization/parties.ts'
import { holder, issuer, tokenUrl } from '../dpop/parties.ts'
import { parUrl, pushed, setUp } from '../pushed-authorization/parties.ts'

const [mine, thief] = [await holder(), await holder()]
const proofFor = (claims: Readonly<Record<string, unknown>> = {}) => mine.prove({ htu: parUrl, ...claims })

describe('a proof at the pushed authorization request endpoint', () => {
  test('15.4 is accepted once', async () => {
    const { push } = await setUp()
    const dpop = await proofFor()
    expect((await push(pushed, web, { dpop })).status).toBe(201)
    expect(await push(pushed, web, { dpop })).toMatchObject({ status: 400, body: { error: 'invalid_dpop_proof' } })
  })

  test.each<[string, () => Promise<string>]>([
    ['that is not a proof', async () => 'x'],
    ['that is empty', async () => ''],
    ['that is sent twice', async () => `${await proofFor()}, ${await proofFor()}`],
    ['of another method', () => proofFor({ htm: 'GET' })],
    ['of the authorization endpoint', () => proofFor({ htu: `${issuer}/connect/authorize` })],
    ['of another host', () => proofFor({ htu: 'https://evil.example/connect/par' })],
    ['that is too old', () => proofFor({ iat: 1_800_000_000 - 61 })],
  ])('%s is refused, although a proof is optional', async (_, proof) => {
    const { push } = await setUp()
    const refused = await push(pushed, web, { dpop: await proof() })
    expect([refused.status, refused.body.error]).toEqual([400, 'invalid_dpop_proof'])
  })

  test('15.9 must name the alias of this endpoint, not that of another one', async () => {
    const alias = 'https://mtls.example.com/connect'
    const endpointAliases = { token_endpoint: `${alias}/token`, pushed_authorization_request_endpoint: `${alias}/par` }
    const endpoint = authorizationEndpoint({ interaction: hostSignIn, features: [pushedAuthorization()] })
    const plugins = [authorizationCode(), proofKey(), refreshToken(), dpop(), mtls({ endpointAliases }), endpoint]
    const { push } = await setUp({}, hostSignIn, { plugins })
    expect(await push(pushed, web, { dpop: await proofFor({ htu: `${alias}/par` }) })).toMatchObject({ status: 201 })
    expect((await push(pushed, web, { dpop: await proofFor({ htu: `${alias}/token` }) })).status).toBe(400)
  })

  test('15.8 needs the nonce of the server, if it requires nonces', async () => {
    const endpoint = authorizationEndpoint({ interaction: hostSignIn, features: [pushedAuthorization()] })
    const { push } = await setUp({}, hostSignIn, {
      plugins: [authorizationCode(), proofKey(), refreshToken(), dpop({ nonce: true }), endpoint],
    })
    const refused = await push(pushed, web, { dpop: await proofFor() })
    expect([refused.status, refused.body.error]).toEqual([400, 'use_dpop_nonce'])
    const nonce = refused.headers.get('dpop-nonce') ?? ''
    expect((await push(pushed, web, { dpop: await proofFor({ nonce }) })).status).toBe(201)
  })
})

describe('a code that is bound by a pushed request', () => {
  test.each([
    ['without a proof', async () => ({})],
    ['with the key of the thief', async () => ({ dpop: await thief.prove() })],
    ['with a proof for the push', async () => ({ dpop: await proofFor() })],
  ])('cannot be redeemed %s', async (_, headersFor) => {
    const { pushedUrl, browser, provider } = await setUp()
    // The parameters of the browser do not replace the key of the pushed request.
    const url = await pushedUrl({ dpop_jkt: thief.thumbprint }, pushed, web, { dpop: await proofFor() })
    const { code = '' } = answer(await browser().open(url))
    const body = new URLSearchParams({ grant_type: 'authorization_code', code, redirect_uri: redirectUri })
    const headers = { authorization: basic(web), ...(await headersFor()) }
    const response = await read(await provider.fetch(new Request(tokenUrl, { method: 'POST', headers, body })))
    expect(response.status).toBe(400)
    expect(response.body).not.toHaveProperty('access_token')
  })
})
