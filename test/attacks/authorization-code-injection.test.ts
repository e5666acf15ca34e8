/**
 * Attack: an attacker gets a code of a victim, by a mixed-up provider, a log or a referrer, and redeems it in a session
 * of the attacker (code injection); or removes the code challenge from the request of a victim (PKCE downgrade); or lets
 * a client believe that a response comes from another provider (mix-up).
 *
 * RFC 9700 sections 2.1, 4.4, 4.5 and 4.8; RFC 9207.
 */

import { createHash } from 'node:crypto'
import { authorizationCode } from '@grantry/plugins/authorization-code'
import { authorizationEndpoint } from '@grantry/plugins/authorization-endpoint'
import { refreshToken } from '@grantry/plugins/refresh-token'
import { describe, expect, test } from 'vitest'
import { answer } from '../authorization/browser.ts'
import {
  challenge,
  clients,
  hostSignIn,
  request,
  setUp,
  trustedClients,
  verifier,
  web,
} from '../authorization/parties.ts'

const challengeOf = (text: string): string => createHash('sha256').update(text).digest('base64url')
const attackers = 'b'.repeat(43)

const proved = { ...request, code_challenge: challenge, code_challenge_method: 'S256' }

describe('a code', () => {
  test('is not redeemed with the verifier of another session, and not spent by the attempt', async () => {
    const { browser, urlOf, redeem } = await setUp()
    const { code } = answer(await browser().open(urlOf(proved)))
    await browser().open(urlOf({ ...proved, code_challenge: challengeOf(attackers) }))
    const { status, body } = await redeem(code, web, { code_verifier: attackers })
    expect([status, body.error]).toEqual([400, 'invalid_grant'])
    expect((await redeem(code, web, { code_verifier: verifier })).status).toBe(200)
  })

  test.each([
    ['without the challenge', {}],
    ['without the challenge, but with its method', { code_challenge_method: 'S256' }],
    ['with the verifier as a plain challenge', { code_challenge: verifier, code_challenge_method: 'plain' }],
    ['with a plain challenge by default', { code_challenge: verifier }],
  ])('of a request %s is not redeemed by a client that sends a verifier', async (_name, downgraded) => {
    const { browser, urlOf, redeem } = await setUp()
    const { code, error } = answer(await browser().open(urlOf({ ...request, ...downgraded })))
    if (error !== undefined) return expect([code, error]).toEqual([undefined, 'invalid_request'])
    expect((await redeem(code, web, { code_verifier: verifier })).body.error).toBe('invalid_grant')
  })

  // The code could be redeemed without the verifier, although the client relies on it.
  test('is not sent for a challenge that no plugin checks', async () => {
    const plugins = [authorizationCode(), refreshToken(), authorizationEndpoint({ interaction: hostSignIn })]
    const { browser, urlOf, redeem, events } = await setUp(
      undefined,
      {},
      { plugins, clients: trustedClients.slice(0, 1) },
    )
    const refused = answer(await browser().open(urlOf(proved)))
    expect([refused.code, refused.error]).toEqual([undefined, 'invalid_request'])
    expect(events).toContainEqual(expect.objectContaining({ reason: 'challenge_unsupported' }))
    const { code } = answer(await browser().open(urlOf(request)))
    expect((await redeem(code)).status).toBe(200)
  })

  test('is not redeemed by another client, or with another redirect_uri', async () => {
    const otherClient = { ...clients[0], clientId: 'other' }
    const { browser, urlOf, redeem } = await setUp(undefined, {}, { clients: [...clients, otherClient] })
    const { code } = answer(await browser().open(urlOf(request)))
    expect((await redeem(code, ['other', web[1]])).body.error).toBe('invalid_grant')
    const elsewhere = { redirect_uri: 'https://client.example.com/other?tenant=1' }
    expect((await redeem(code, web, elsewhere)).body.error).toBe('invalid_grant')
    expect((await redeem(code)).status).toBe(200)
  })

  test('is redeemed once: the second time ends the tokens of the first', async () => {
    const { browser, urlOf, redeem, get } = await setUp()
    const { code } = answer(await browser().open(urlOf(request)))
    const { body } = await redeem(code)
    expect((await redeem(code)).body.error).toBe('invalid_grant')
    const headers = { authorization: `Bearer ${body.access_token}` }
    expect((await get('userinfo', {}, headers)).status).toBe(401)
  })

  test('has enough random bits, and none is like another', async () => {
    const { browser, urlOf } = await setUp()
    const pages = await Promise.all(Array.from({ length: 50 }, () => browser().open(urlOf(request))))
    const codes = pages.map((page) => answer(page).code ?? '')
    expect(new Set(codes).size).toBe(50)
    expect(codes.every((code) => /^[\w-]{43}$/u.test(code))).toBe(true)
  })

  test('is in no event and on no page', async () => {
    const { browser, urlOf, events } = await setUp()
    const { code = '' } = answer(await browser().open(urlOf(request)))
    expect(code).not.toBe('')
    expect(JSON.stringify(events)).not.toContain(code)
  })
})

test.each([
  ['a code', {}],
  ['an error', { prompt: 'x' }],
  ['an error of the session', { max_age: '1' }],
])('a client can recognize the provider of %s by iss, in every mode', async (_name, more) => {
  const { browser, urlOf, provider } = await setUp()
  for (const mode of ['query', 'fragment', 'form_post']) {
    const { url, html } = await browser().open(
      urlOf({ ...request, ...more, response_mode: mode, iss: 'https://evil.example' }),
    )
    const text = mode === 'form_post' ? html : decodeURIComponent(url.href)
    expect(text).toContain(provider.issuer)
    expect(text).not.toContain('evil')
  }
})
