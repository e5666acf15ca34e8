// What a retry of a refresh returns: the tokens are derived again, and only JWTs get another signature.

import { memoryDriver } from '@grantry/storage-drivers/memory'
import { sha256Of } from '@grantry/testing'
import { decodeJwt } from 'jose'
import { describe, expect, test } from 'vitest'
import { fixture, clients as shared, web, webJwt } from '../support/fixture.ts'
import { dead, expectRevoked, formats, issueTokens, judged, live, refresh } from '../support/revocation.ts'
import { differentTokens, withoutSignatures } from '../support/same-tokens.ts'

describe.each(formats)('a retry of a refresh, %s', (format, as) => {
  test('3.40 returns the same tokens, seconds later, and every copy of them works', async () => {
    const f = await fixture()
    const { refresh_token: token } = await issueTokens(f, as)
    const first = (await refresh(f, token, as)).body
    f.clock.advance(9)
    const again = (await refresh(f, token, as)).body
    expect(Object.keys(again)).toEqual(Object.keys(first))
    expect(withoutSignatures(again)).toEqual(withoutSignatures(first))
    expect(decodeJwt(again.id_token)).toMatchObject({ iat: f.clock.now() })
    for (const { access_token: access } of [first, again]) expect(await judged(f, access)).toEqual(live)
    for (const { id_token: identity } of [first, again]) {
      const validation = await f.post('identityTokenValidation', { token: identity, client_id: as[0] })
      expect(validation.status).toBe(200)
    }
    if (format === 'JWT') {
      const [payload, repeated] = [decodeJwt(first.access_token), decodeJwt(again.access_token)]
      expect(payload.jti).toMatch(/^[\w-]{22}$/u)
      expect(repeated).toEqual(payload)
    } else expect(again.access_token).toBe(first.access_token)
    expect(again.refresh_token).toBe(first.refresh_token)
    expect((await refresh(f, again.refresh_token, as)).status).toBe(200)
  })

  test('3.40 by another process on the same store returns the same tokens', async () => {
    const storage = memoryDriver()
    const f = await fixture({ storage })
    const otherProcess = await fixture({ storage, runtime: { now: f.clock.now } })
    const { refresh_token: token } = await issueTokens(f, as)
    const responses = [await refresh(f, token, as), await refresh(otherProcess, token, as), await refresh(f, token, as)]
    expect(responses.map(({ status }) => status)).toEqual([200, 200, 200])
    expect(differentTokens(responses)).toHaveLength(1)
    expect(await judged(otherProcess, responses[0]?.body.access_token)).toEqual(live)
  })

  test('3.40 does not make an access token valid again that was revoked since', async () => {
    const f = await fixture()
    const { refresh_token: token } = await issueTokens(f, as)
    const { access_token: access } = (await refresh(f, token, as)).body
    expectRevoked(await f.post('revocation', { token: access }, as))
    const again = await refresh(f, token, as)
    expect(again.status).toBe(200)
    expect(await judged(f, again.body.access_token)).toEqual(dead)
    expect(await judged(f, access)).toEqual(dead)
  })

  test('3.40 of another refresh token returns other tokens, also in the same second', async () => {
    const f = await fixture()
    const [firstLogin, secondLogin] = [await issueTokens(f, as), await issueTokens(f, as)]
    const bodies = [
      (await refresh(f, firstLogin.refresh_token, as)).body,
      (await refresh(f, secondLogin.refresh_token, as)).body,
    ]
    expect(new Set(bodies.map((body) => body.refresh_token)).size).toBe(2)
    expect(new Set(bodies.map((body) => body.access_token)).size).toBe(2)
    if (format === 'JWT') expect(new Set(bodies.map((body) => decodeJwt(body.access_token).jti)).size).toBe(2)
  })
})

describe('a retry near the end of the first tokens', () => {
  const lifetimes = { accessTokenLifetime: 120, identityTokenLifetime: 60, refreshToken: { retryWindow: 300 } }
  const clients = [web, webJwt].map(([clientId, secret]) => ({
    ...shared.find((client) => client.clientId === clientId),
    clientId,
    secrets: [{ sha256: sha256Of(secret) }],
    ...lifetimes,
  }))

  test.each(formats)(
    '3.40 returns the seconds that are left, and an identity token that is valid, %s',
    async (_, as) => {
      const f = await fixture({ clients })
      const { refresh_token: token } = await issueTokens(f, as)
      const first = (await refresh(f, token, as)).body
      f.clock.advance(90)
      const again = (await refresh(f, token, as)).body
      expect([first.expires_in, again.expires_in]).toEqual([120, 30])
      const times = { iat: f.clock.now(), nbf: f.clock.now(), exp: f.clock.now() + 60 }
      expect(decodeJwt(again.id_token)).toMatchObject(times)
      const identity = { token: again.id_token, client_id: as[0] }
      expect((await f.post('identityTokenValidation', identity)).status).toBe(200)
      expect(await judged(f, again.access_token)).toEqual(live)
      f.clock.advance(29)
      expect(await judged(f, again.access_token)).toEqual(live)
      f.clock.advance(1)
      expect(await judged(f, again.access_token)).toEqual(dead)
    },
  )

  test.each(formats)('3.40 after their end returns no seconds, and a refresh token that works, %s', async (_, as) => {
    const f = await fixture({ clients })
    const { refresh_token: token } = await issueTokens(f, as)
    await refresh(f, token, as)
    f.clock.advance(200)
    const again = (await refresh(f, token, as)).body
    expect(again.expires_in).toBe(0)
    expect((await refresh(f, again.refresh_token, as)).body.expires_in).toBe(120)
  })
})

test('3.40 the access token and the refresh token of a response have nothing in common', async () => {
  const f = await fixture()
  const { body } = await refresh(f, (await issueTokens(f, web)).refresh_token, web)
  const jwt = (await refresh(f, (await issueTokens(f, webJwt)).refresh_token, webJwt)).body
  expect(body.access_token).toMatch(/^[\w-]{43}$/u)
  expect(body.refresh_token).toMatch(/^[\w-]{43}$/u)
  expect(body.access_token).not.toBe(body.refresh_token)
  // The id of a JWT is public.
  expect(jwt.refresh_token).not.toContain(decodeJwt(jwt.access_token).jti)
})
