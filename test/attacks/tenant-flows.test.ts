/**
 * Attack: an attacker presents at one tenant what another one has issued for a flow that has begun: codes, pushed requests,
 * device codes, proofs, forms, states of other providers and mailed links. Both tenants have the same clients and users.
 *
 * RFC 9700 section 4.4 (mix-up); decision 168.
 */
import { deviceGrantType, deviceVerification } from '@grantry/plugins/device-authorization'
import { describe, expect, test } from 'vitest'
import { answer, hiddenFields, type Page, unescapeHtml } from '../authorization/browser.ts'
import { document, clientId as documentId, redirectUri as documentRedirect } from '../client-metadata/parties.ts'
import { holder, proveUse } from '../dpop/parties.ts'
import { actionOf, aliceAccount, linkIn, linkOf } from '../self-service/parties.ts'
import { crossing, redirectUri } from '../tenants/crossing.ts'

const now = () => Math.floor(Date.now() / 1000)

describe.each(['path', 'host'] as const)('tenants by %s', (by) => {
  test('21.83 an authorization code is unknown at another tenant, and is not spent there', async () => {
    const { tenants, signInAt, ownIssuer, otherIssuer } = await crossing(by)
    const { code } = await signInAt(ownIssuer)
    const form = { grant_type: 'authorization_code', code, redirect_uri: redirectUri }
    const theft = await tenants.token(`${otherIssuer}/connect/token`, form)
    expect([theft.status, await theft.json()]).toMatchObject([400, { error: 'invalid_grant' }])
    expect((await tenants.token(`${ownIssuer}/connect/token`, form)).status).toBe(200)
  })

  test('a pushed request is unknown at another tenant', async () => {
    const { tenants, browserAt, urlAt, ownIssuer, otherIssuer } = await crossing(by)
    const form = { response_type: 'code', redirect_uri: redirectUri, scope: 'openid' }
    const { request_uri } = await (await tenants.token(`${ownIssuer}/connect/par`, form)).json()
    const refused = await browserAt(otherIssuer).open(urlAt(otherIssuer, { request_uri }))
    expect(answer(refused).error).toBe('invalid_request_uri')
    const query = new URLSearchParams({ client_id: 'web', request_uri })
    expect((await browserAt(otherIssuer).open(`${otherIssuer}/connect/authorize?${query}`)).status).toBe(400)
    expect((await browserAt(ownIssuer).open(`${ownIssuer}/connect/authorize?${query}`)).html).toContain('password')
  })

  test('device codes and user codes are unknown at another tenant', async () => {
    const { tenants, ownTenant, otherTenant, ownIssuer, otherIssuer } = await crossing(by)
    const started = await tenants.token(`${ownIssuer}/connect/deviceauthorization`, { scope: 'api1' })
    const { device_code, user_code } = await started.json()
    const poll = async (issuer: string) =>
      (await (await tenants.token(`${issuer}/connect/token`, { grant_type: deviceGrantType, device_code })).json())
        .error
    const find = (name: string) =>
      tenants.use(name, async (provider) => provider.use(deviceVerification).find(user_code, '192.0.2.1'))
    expect(await poll(otherIssuer)).toBe('invalid_grant')
    expect(await find(otherTenant)).toBeUndefined()
    expect(await find(ownTenant)).toMatchObject({ clientId: 'web' })
    expect(await poll(ownIssuer)).toBe('authorization_pending')
  })

  test('proofs belong to one tenant, and so do the tokens that they bind', async () => {
    const { tenants, ownIssuer, otherIssuer } = await crossing(by)
    const key = await holder('ES256', now)
    const login = { grant_type: 'password', username: 'alice', password: 'alice-password', scope: 'openid' }
    const at = async (issuer: string, proof: string) => {
      const response = await tenants.token(`${issuer}/connect/token`, login, { dpop: proof })
      const { error, access_token: token } = (await response.json()) as { error?: string; access_token?: string }
      return { status: response.status, error, token: token ?? '' }
    }
    const [proof, same] = await Promise.all(
      [ownIssuer, otherIssuer].map((issuer) => key.prove({ jti: 'the same', htu: `${issuer}/connect/token` })),
    )
    expect((await at(otherIssuer, proof ?? '')).error).toBe('invalid_dpop_proof')
    const { token, status } = await at(ownIssuer, proof ?? '')
    expect(status).toBe(200)
    expect((await at(ownIssuer, proof ?? '')).error).toBe('invalid_dpop_proof')
    // The attacker cannot use up the proofs that a client sends to another tenant.
    expect((await at(otherIssuer, same ?? '')).status).toBe(200)
    const use = async (issuer: string) => {
      const dpop = await proveUse(key, token, { htu: `${issuer}/connect/userinfo` })
      const headers = { authorization: `DPoP ${token}`, dpop }
      return (await tenants.fetch(new Request(`${issuer}/connect/userinfo`, { headers }))).status
    }
    expect([await use(otherIssuer), await use(ownIssuer)]).toEqual([401, 200])
  })

  test('an identity token of a tenant ends no session at another one', async () => {
    const { tenants, signInAt, isSignedIn, ownIssuer, otherIssuer } = await crossing(by)
    const hintOf = async (issuer: string) => {
      const { code, browser } = await signInAt(issuer)
      const form = { grant_type: 'authorization_code', code, redirect_uri: redirectUri }
      const { id_token: hint } = await (await tenants.token(`${issuer}/connect/token`, form)).json()
      return { browser, hint }
    }
    const [{ hint: foreign }, { browser, hint }] = [await hintOf(ownIssuer), await hintOf(otherIssuer)]
    const end = (token: string) => browser.open(`${otherIssuer}/connect/endsession?id_token_hint=${token}`)
    expect((await end(foreign)).status).toBe(400)
    expect(await isSignedIn(browser, otherIssuer)).toBe(true)
    await end(hint)
    expect(await isSignedIn(browser, otherIssuer)).toBe(false)
  })

  test('a document of a client that one tenant has fetched is fetched again by another one', async () => {
    const { browserAt, urlAt, hosts, ownIssuer, otherIssuer } = await crossing(by)
    const challenge = { code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM', code_challenge_method: 'S256' }
    const asked = { client_id: documentId, redirect_uri: documentRedirect, ...challenge }
    const open = async (issuer: string) => (await browserAt(issuer).open(urlAt(issuer, asked))).status
    expect(await open(ownIssuer)).toBe(200)
    hosts.hosted.set(documentId, { body: { ...document, redirect_uris: ['https://app.example.com/other'] } })
    expect([await open(ownIssuer), await open(otherIssuer)]).toEqual([200, 400])
  })
})

describe.each([
  ['path', 'same'],
  ['path', 'renamed'],
  ['host', 'renamed'],
] as const)('tenants by %s, in a browser with cookies of another tenant under %s names', (by, names) => {
  test('a form of the sign-in is refused', async () => {
    const { browserAt, urlAt, carried, isSignedIn, ownIssuer, otherIssuer } = await crossing(by)
    const victim = browserAt(ownIssuer)
    const form = hiddenFields(await victim.open(urlAt(ownIssuer)))
    const thief = await carried(victim, names)
    const login = { ...form, username: 'alice', password: 'alice-password' }
    expect((await thief.submit(`${otherIssuer}/connect/signin`, login)).status).toBeGreaterThanOrEqual(400)
    expect(await isSignedIn(thief, otherIssuer)).toBe(false)
  })

  test('a session signs no user in, and opens no page of an account', async () => {
    const { signInAt, carried, isSignedIn, moved, ownIssuer, otherIssuer } = await crossing(by)
    const { browser } = await signInAt(ownIssuer)
    const account = await browser.open(`${ownIssuer}/account`)
    expect(account.html).toContain('id="sessions"')
    const form = await browser.open(`${ownIssuer}/account/sessions/end-others`)
    const thief = await carried(browser, names)
    expect(await isSignedIn(thief, otherIssuer)).toBe(false)
    expect((await thief.open(`${otherIssuer}/account`)).html).not.toContain('id="sessions"')
    // A user with two sessions at the other tenant sends the form of the first one, and then a form of that tenant.
    const [first, second] = [(await signInAt(otherIssuer)).browser, (await signInAt(otherIssuer)).browser]
    const url = moved(form.url.href)
    await first.submit(url, hiddenFields(form))
    expect(await isSignedIn(second, otherIssuer)).toBe(true)
    await first.submit(url, hiddenFields(await first.open(url)))
    expect(await isSignedIn(second, otherIssuer)).toBe(false)
    expect(await isSignedIn(browser, ownIssuer)).toBe(true)
  })

  test('a sign-in at a provider that has begun at a tenant does not end at another one', async () => {
    const { browserAt, urlAt, carried, isSignedIn, moved, double, ownIssuer, otherIssuer } = await crossing(by)
    const victim = browserAt(ownIssuer)
    const page = await victim.open(urlAt(ownIssuer))
    const begin = unescapeHtml(/href="([^"]*upstream[^"]*)"/u.exec(page.html)?.[1] ?? '')
    const { url } = await victim.open(begin)
    expect(url.searchParams.get('redirect_uri')).toContain(`${ownIssuer}/`)
    const thief = await carried(victim, names)
    // The link of the page of the sign-in, and the response of the provider.
    const begun = await thief.open(moved(begin))
    expect(begun.url.origin).not.toBe(new URL(double.issuer).origin)
    const response = double.authorize(url)
    expect((await thief.open(moved(response))).status).toBeGreaterThanOrEqual(400)
    expect(await isSignedIn(thief, otherIssuer)).toBe(false)
    expect((await victim.open(response)).url.searchParams.has('code')).toBe(true)
  })

  test('a mailed link means nothing', async () => {
    const { tenants, browserAt, urlAt, carried, isSignedIn, moved, mails, ownTenant, ownIssuer, otherIssuer } =
      await crossing(by)
    const victim = browserAt(ownIssuer)
    const submit = (page: Page, form: Readonly<Record<string, string>>) =>
      victim.submit(actionOf(page), { ...hiddenFields(page), ...form })
    const asked = await victim.open(linkOf(await victim.open(urlAt(ownIssuer)), 'forgot'))
    await submit(asked, { address: aliceAccount.email })
    await tenants.use(ownTenant, (provider) => provider.runTasks())
    const link = linkIn(mails[0] ?? { text: '' })
    expect(link).toContain(`${ownIssuer}/`)
    const thief = await carried(victim, names)
    const refused = await thief.open(moved(link))
    expect(refused.html).not.toContain('new-password')
    const page = await victim.open(link)
    expect(page.html).toContain('new-password')
    await thief.submit(moved(actionOf(page)), { ...hiddenFields(page), password: 'correct horse battery' })
    expect(await isSignedIn(thief, otherIssuer)).toBe(false)
    expect(answer(await submit(page, { password: 'correct horse battery' })).code).toBeDefined()
  })
})
