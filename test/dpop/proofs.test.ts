import { describe, expect, test } from 'vitest'
import { clients, web } from '../support/fixture.ts'
import { holder, issuer, password, proveUse, refreshOf, request, start, tokenUrl, use, userinfoUrl } from './parties.ts'

const now = 1_800_000_000

describe('a request with a proof', () => {
  test.each(['ES256', 'PS256', 'EdDSA', 'Ed25519'])('15.2 gets tokens that are bound to its key: %s', async (alg) => {
    const [f, client] = [await start(), await holder(alg)]
    const { status, body } = await request(f, await client.prove())
    expect([status, body.token_type]).toEqual([200, 'DPoP'])
    expect((await f.provider.inspect(body.access_token)).claims.cnf).toEqual({ jkt: client.thumbprint })
    const { status: used } = await use(f, body.access_token, await proveUse(client, body.access_token))
    expect(used).toBe(200)
  })

  test('15.7 gets new tokens with a new key, if the client is confidential', async () => {
    const [f, client, another] = [await start(), await holder(), await holder()]
    const { body } = await request(f, await client.prove())
    const refreshed = await request(f, await another.prove(), refreshOf(body.refresh_token))
    expect((await f.provider.inspect(refreshed.body.access_token)).claims.cnf).toEqual({ jkt: another.thumbprint })
  })

  test('15.7 must prove the same key to refresh if refresh tokens are bound', async () => {
    const [f, client, another] = [await start({ bindRefreshTokens: 'all' }), await holder(), await holder()]
    const { body } = await request(f, await client.prove())
    const stolen = await request(f, await another.prove(), refreshOf(body.refresh_token))
    expect([stolen.status, stolen.body.error, stolen.reason]).toEqual([400, 'invalid_grant', 'wrong_key'])
  })

  test('15.1 is announced with the algorithms of proofs', async () => {
    const { provider } = await start({ algorithms: ['PS256', 'ES256'] })
    expect(provider.metadata.dpop_signing_alg_values_supported).toEqual(['PS256', 'ES256'])
    const challenge = (await provider.fetch(new Request(userinfoUrl))).headers.get('www-authenticate')
    expect(challenge).toBe(`Bearer realm="${issuer}", DPoP realm="${issuer}", algs="PS256 ES256"`)
  })
})

describe('a proof is accepted', () => {
  test.each<[string, Readonly<Record<string, unknown>>]>([
    ['that is 60 seconds old', { iat: now - 60 }],
    ['of a clock that is 10 seconds ahead', { iat: now + 10 }],
    ['with nbf and exp', { nbf: now, exp: now + 300 }],
    ['with unknown claims', { unknown: 'claim' }],
    [
      'with scheme and host in upper case',
      { htu: tokenUrl.replace('https://id.example.com', 'HTTPS://ID.EXAMPLE.COM') },
    ],
    ['with the default port', { htu: tokenUrl.replace('.com', '.com:443') }],
    ['with a query and a fragment', { htu: `${tokenUrl}?a=b#c` }],
    ['with dot segments', { htu: `${issuer}/a/../connect/./token` }],
    ['with an ath that the token endpoint does not need', { ath: 'any' }],
  ])('%s', async (_, claims) => {
    const [f, client] = [await start(), await holder()]
    expect((await request(f, await client.prove(claims))).status).toBe(200)
  })

  test('with more members of the key and the header', async () => {
    const [f, client] = [await start(), await holder()]
    const jwk = { ...client.jwk, use: 'sig', alg: 'ES256', kid: '1', key_ops: ['verify'] }
    expect((await request(f, await client.prove({}, { jwk, kid: '1', typ: 'DPoP+JWT' }))).status).toBe(200)
  })

  test('15.4 by its key and id, so that two clients can use the same id', async () => {
    const [f, client, another] = [await start(), await holder(), await holder()]
    expect((await request(f, await client.prove({ jti: '1' }))).status).toBe(200)
    expect((await request(f, await another.prove({ jti: '1' }))).status).toBe(200)
    const again = await request(f, await client.prove({ jti: '1' }))
    expect([again.status, again.body.error, again.reason]).toEqual([400, 'invalid_dpop_proof', 'plugin:dpop:replayed'])
  })
})

describe('a client that requires DPoP', () => {
  const strict = () =>
    start({}, { clients: clients.map((client) => ({ ...client, dpopBoundAccessTokens: client.clientId === web[0] })) })

  test('15.5 gets no token without a proof', async () => {
    const f = await strict()
    const { status, body, reason } = await request(f, undefined)
    expect([status, body.error, reason]).toEqual([400, 'invalid_request', 'plugin:dpop:proof_missing'])
  })

  test('15.5 cannot refresh without a proof', async () => {
    const [f, client] = [await strict(), await holder()]
    const { body } = await request(f, await client.prove())
    const refreshed = await request(f, undefined, refreshOf(body.refresh_token))
    expect([refreshed.status, refreshed.body.error]).toEqual([400, 'invalid_request'])
  })

  test('gets tokens with a proof', async () => {
    const [f, client] = [await strict(), await holder()]
    expect((await request(f, await client.prove())).body.token_type).toBe('DPoP')
  })
})

test('other clients get bearer tokens without a proof', async () => {
  const f = await start()
  const { body } = await request(f, undefined, password)
  expect(body.token_type).toBe('Bearer')
  expect((await use(f, body.access_token, undefined, 'Bearer')).status).toBe(200)
})
