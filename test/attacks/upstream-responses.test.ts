// The attacker operates one of the providers, or has a code of their own at an honest one, and tries to get a user of
// another provider signed in as another one, or to sign a victim in as the attacker (RFC 9700 sections 4.4, 4.5 and 4.7).
import { describe, expect, test } from 'vitest'
import { nameOf } from '../sign-in/parties.ts'
import { acmeOf, linkTo, setUpUpstream } from '../upstream/parties.ts'

const callback = 'https://id.example.com/connect/upstream'

/** Beside `acme`, a provider of the attacker. */
async function withEvil() {
  const evil = { name: 'evil', displayName: 'Evil', issuer: 'https://evil.example.com', clientId: 'grantry' }
  const f = await setUpUpstream({
    options: { providers: [acmeOf({ issuer: 'https://login.acme.example.com', clientId: 'grantry' }), evil] },
    double: {
      intercept: ({ origin }) =>
        origin === evil.issuer
          ? new Response(
              JSON.stringify({
                issuer: evil.issuer,
                authorization_endpoint: `${evil.issuer}/authorize`,
                token_endpoint: `${evil.issuer}/token`,
                jwks_uri: `${evil.issuer}/keys`,
              }),
              { headers: { 'content-type': 'application/json' } },
            )
          : undefined,
    },
  })
  return { ...f, sentToEvil: () => f.double.requests.filter(({ url }) => url === `${evil.issuer}/token`) }
}

describe('a mix-up', () => {
  test('18.4 sends no code of one provider to another: each has its callback', async () => {
    const f = await withEvil()
    const { browser, page } = await f.leave()
    // The victim chooses Evil, which sends the browser on to Acme with the state of this sign-in.
    const atEvil = (await browser.open(linkTo('Evil', page))).url
    const atAcme = new URL('https://login.acme.example.com/authorize')
    for (const [name, value] of atEvil.searchParams) atAcme.searchParams.set(name, value)
    atAcme.searchParams.set('redirect_uri', `${callback}/acme/callback`)
    expect(nameOf(await browser.open(f.double.authorize(atAcme)))).toBe('error')
    expect(f.sentToEvil()).toEqual([])
    expect(f.double.countOf('login.acme.example.com/token')).toBe(0)
  })

  test('18.5 is refused by iss, also at the callback of the attacker', async () => {
    const f = await withEvil()
    const { browser, page } = await f.leave()
    const atEvil = (await browser.open(linkTo('Evil', page))).url
    const response = new URLSearchParams({
      code: 'code-of-acme',
      state: atEvil.searchParams.get('state') ?? '',
      iss: 'https://login.acme.example.com',
    })
    expect((await browser.open(`${callback}/evil/callback?${response}`)).html).toContain('provider_failed')
    expect(f.sentToEvil()).toEqual([])
  })

  test('18.5 is refused if the provider announces iss, and the response has none', async () => {
    const f = await setUpUpstream()
    expect((await f.comeBack(await f.leave(), { iss: undefined })).html).toContain('provider_failed')
    expect((await f.comeBack(await f.leave(), { iss: 'https://evil.example.com' })).html).toContain('provider_failed')
    expect(f.double.countOf('/token')).toBe(0)
    expect(f.failures()).toEqual(['response_invalid', 'response_invalid'])
  })
})

describe('a code of the attacker', () => {
  test('is useless in the sign-in of the victim: PKCE and the nonce belong to another one', async () => {
    const f = await setUpUpstream()
    const attacker = await f.leave()
    const stolen = new URL(f.double.authorize(attacker.request)).searchParams.get('code') ?? ''
    const victim = await f.leave()
    expect((await f.comeBack(victim, { code: stolen })).html).toContain('provider_failed')
    expect(f.failures()).toEqual(['token_endpoint_invalid_grant'])
  })

  test('is useless also if the provider ignores PKCE', async () => {
    const f = await setUpUpstream({ double: { claims: { nonce: 'nonce-of-the-attacker' } } })
    expect((await f.comeBack(await f.leave())).html).toContain('provider_failed')
    expect(f.failures()).toEqual(['claim_invalid'])
  })
})

describe('the response of the attacker in the browser of a victim', () => {
  test('18.4 signs no user in, and does not use the state up', async () => {
    const f = await setUpUpstream()
    const attacker = await f.leave()
    const response = f.double.authorize(attacker.request)
    const victim = await f.leave()
    expect(nameOf(await victim.browser.open(response))).toBe('error')
    expect(f.events.filter(({ type }) => type === 'session_started')).toEqual([])
    expect(nameOf(await attacker.browser.open(response))).toBe('consent')
  })

  test('18.4 does not work without a state, with an unknown one, or with one of a forged form', async () => {
    const f = await setUpUpstream()
    const { browser } = await f.leave()
    const queries = ['code=a', 'code=a&state=', `code=a&state=${'a'.repeat(43)}`, 'form=abc', 'error=access_denied']
    for (const query of queries) {
      expect(nameOf(await browser.open(`${callback}/acme/callback?${query}`))).toBe('error')
    }
    expect(f.double.countOf('/token')).toBe(0)
  })

  test('18.4 of 20 concurrent requests with one response, one redeems the code', async () => {
    const f = await setUpUpstream()
    const away = await f.leave()
    const response = f.double.authorize(away.request)
    await Promise.all(Array.from({ length: 20 }, () => away.browser.open(response)))
    expect(f.double.countOf('/token')).toBe(1)
    expect(f.events.filter(({ type }) => type === 'session_started')).toHaveLength(1)
  })

  test('18.4 ends with the interaction', async () => {
    const f = await setUpUpstream()
    const away = await f.leave()
    f.skip(1900)
    expect(nameOf(await f.comeBack(away))).toBe('error')
  })
})
