import { type Credentials, mapDriver } from '@grantry/testing'
import { describe, expect, test } from 'vitest'
import { api1, fixture, lastReason, otherClient, redirectUri, spaClientId, web, webJwt } from '../support/fixture.ts'
import { dead, expectRevoked, formats, issueTokens, judged, live, refresh } from '../support/revocation.ts'

describe('authentication', () => {
  test.each<[string, Record<string, string>, Credentials | undefined]>([
    ['without credentials', {}, undefined],
    ['with a wrong secret', {}, ['web', 'wrong']],
    ['as an unknown client', {}, ['absent', 'web-secret']],
    ['with the secret of a scope', {}, api1],
    ['as a confidential client without its secret', { client_id: 'web' }, undefined],
  ])('8.1 no client %s: 401 invalid_client, and the token stays valid', async (_who, more, as) => {
    const f = await fixture()
    const { access_token: token } = await issueTokens(f)
    const { status, headers, body } = await f.post('revocation', { token, ...more }, as)
    expect(status).toBe(401)
    expect(body.error).toBe('invalid_client')
    expect(headers.get('www-authenticate')).toMatch(/^Basic /u)
    expect(await judged(f, token)).toEqual(live)
  })

  test('8.1 accepts a client with its secret in the form', async () => {
    const f = await fixture()
    const { access_token: token } = await issueTokens(f)
    expectRevoked(await f.post('revocation', { token, client_id: web[0], client_secret: web[1] }))
    expect(await judged(f, token)).toEqual(dead)
  })

  test('8.1 a public client revokes its own tokens, with its client_id alone', async () => {
    const f = await fixture()
    const code = await f.code({ clientId: spaClientId, codeChallenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM' })
    const { body } = await f.post('token', {
      grant_type: 'authorization_code',
      code,
      redirect_uri: redirectUri,
      client_id: spaClientId,
      code_verifier: 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk',
    })
    expectRevoked(await f.post('revocation', { token: body.refresh_token, client_id: spaClientId }))
    expect(await judged(f, body.access_token)).toEqual(dead)
  })

  test('8.1 a header and a secret in the form together: invalid_request, and the token stays valid', async () => {
    const f = await fixture()
    const { access_token: token } = await issueTokens(f)
    const { status, body } = await f.post('revocation', { token, client_secret: web[1] }, web)
    expect([status, body.error]).toEqual([400, 'invalid_request'])
    expect(await judged(f, token)).toEqual(live)
  })
})

describe('without effect', () => {
  test.each(['no-such-token', 'a.b.c', `${'x'.repeat(600)}`, `${'y'.repeat(60_000)}.z.z`, '\u{1F512}', '__proto__'])(
    '8.4 an unknown token (%#): 200',
    async (token) => {
      const f = await fixture()
      expectRevoked(await f.post('revocation', { token }, web))
      expect(f.events.filter(({ type }) => /revoked|unhandled/u.test(type))).toEqual([])
    },
  )

  test.each(formats)(
    '8.4 the tokens of another client (%s): invalid_grant, and they stay valid',
    async (_format, as) => {
      const f = await fixture()
      const issued = await issueTokens(f, as)
      for (const token of [issued.access_token, issued.refresh_token]) {
        for (const response of [
          await f.post('revocation', { token }, otherClient),
          await f.post('revocation', { token, client_id: spaClientId }),
        ]) {
          expect([response.status, response.body.error]).toEqual([400, 'invalid_grant'])
          expect(lastReason(f)).toBe('client_mismatch')
        }
      }
      expect(await judged(f, issued.access_token)).toEqual(live)
      expect((await refresh(f, issued.refresh_token, as)).status).toBe(200)
      expect(f.events.filter(({ type }) => /revoked/u.test(type))).toEqual([])
    },
  )

  test('8.4 a code and an identity token: 200, and the code can still be redeemed', async () => {
    const f = await fixture()
    const code = await f.code()
    const { body } = { body: await issueTokens(f) }
    const { body: withIdentity } = await f.post(
      'token',
      { grant_type: 'authorization_code', code: await f.code(), redirect_uri: redirectUri },
      web,
    )
    expectRevoked(await f.post('revocation', { token: code }, web))
    expectRevoked(await f.post('revocation', { token: withIdentity.id_token }, web))
    const redeem = { grant_type: 'authorization_code', code, redirect_uri: redirectUri }
    expect((await f.post('token', redeem, web)).status).toBe(200)
    expect(await judged(f, body.access_token)).toEqual(live)
  })
})

describe('the request', () => {
  test.each<[string, Record<string, string>]>([
    ['missing', {}],
    ['empty', { token: '' }],
  ])('8.5 a token that is %s is invalid_request', async (_how, form) => {
    const f = await fixture()
    const { status, body } = await f.post('revocation', form, web)
    expect([status, body.error]).toEqual([400, 'invalid_request'])
  })

  test.each(['access_token', 'refresh_token', 'id_token', 'nonsense', ''])(
    '8.6 the hint never limits the search (%s)',
    async (hint) => {
      const f = await fixture()
      for (const as of [web, webJwt]) {
        const [ended, kept] = [await issueTokens(f, as), await issueTokens(f, as)]
        expectRevoked(await f.post('revocation', { token: ended.access_token, token_type_hint: hint }, as))
        expectRevoked(await f.post('revocation', { token: kept.refresh_token, token_type_hint: hint }, as))
        expect(await judged(f, ended.access_token)).toEqual(dead)
        expect(await judged(f, kept.access_token)).toEqual(dead)
      }
    },
  )

  test('8.8 costs a constant number of operations on known keys, however many tokens are stored', async () => {
    const storage = mapDriver(new Map())
    let operations = 0
    const counted = <A extends readonly unknown[], R>(operate: (...parameters: A) => R) => {
      return (...parameters: A): R => {
        operations += 1
        return operate(...parameters)
      }
    }
    // The driver has no other method: nothing can be listed.
    const f = await fixture({
      storage: {
        name: 'counted',
        getItem: counted(storage.getItem),
        setItem: counted(storage.setItem),
        insertItem: counted(storage.insertItem),
        incrementItem: counted(storage.incrementItem),
        replaceItem: counted(storage.replaceItem),
        removeItem: counted(storage.removeItem),
      },
    })
    const cost = async (token: string, as: Credentials): Promise<number> => {
      operations = 0
      expectRevoked(await f.post('revocation', { token }, as))
      return operations
    }
    const costs = async () => {
      const [reference, jwt] = [await issueTokens(f), await issueTokens(f, webJwt)]
      return [
        await cost(reference.access_token, web),
        await cost(jwt.access_token, webJwt),
        await cost(jwt.refresh_token, webJwt),
      ]
    }
    const few = await costs()
    for (let n = 0; n < 200; n += 1) await issueTokens(f)
    expect(await costs()).toEqual(few)
    expect(Math.max(...few)).toBeLessThanOrEqual(6)
  })
})
