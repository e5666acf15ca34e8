import { generateKeyPairSync } from 'node:crypto'
import {
  apple,
  github,
  gitlab,
  google,
  grantry,
  keycloak,
  microsoft,
  type UpstreamClaims,
} from '@grantry/plugins/upstream'
import { jwtVerify } from 'jose'
import { describe, expect, test } from 'vitest'
import { nameOf } from '../sign-in/parties.ts'
import { createGithubDouble } from './github-double.ts'
import { realNow } from './openid-double.ts'
import { setUpUpstream } from './parties.ts'

const secret = { clientId: 'grantry', clientSecret: 'upstream-secret' }
const tenant = '11111111-2222-3333-4444-555555555555'
const otherTenant = '99999999-2222-3333-4444-555555555555'
const oid = 'aaaaaaaa-2222-3333-4444-555555555555'

/** Records the claims that decide who the user is. */
function recorded() {
  const seen: UpstreamClaims[] = []
  return {
    seen,
    subject: (claims: UpstreamClaims) => {
      seen.push(claims)
      return claims.sub
    },
  }
}

describe('google()', () => {
  const double = {
    issuer: 'https://accounts.google.com',
    metadata: { authorization_response_iss_parameter_supported: false },
  }
  const response = { iss: undefined }

  test('accepts all accounts, or those of the domains that the configuration names', async () => {
    const all = await setUpUpstream({ double, options: { providers: [google(secret)] }, label: 'Google' })
    expect(nameOf(await all.comeBack(await all.leave(), response))).toBe('consent')
    const provider = google({ ...secret, hostedDomains: ['acme.example'] })
    const f = await setUpUpstream({ double, options: { providers: [provider] }, label: 'Google' })
    const away = await f.leave()
    expect(away.request.searchParams.get('hd')).toBe('acme.example')
    expect((await f.comeBack(away, response)).html).toContain('provider_failed')
    f.double.set({ claims: { hd: 'acme.example' } })
    expect(nameOf(await f.comeBack(await f.leave(), response))).toBe('consent')
    expect(f.failures()).toEqual(['domain_not_allowed'])
  })
})

describe('microsoft()', () => {
  const metadata = {
    issuer: 'https://login.microsoftonline.com/{tenantid}/v2.0',
    authorization_response_iss_parameter_supported: false,
  }
  const claimsOf = (tid: string) => ({ iss: `https://login.microsoftonline.com/${tid}/v2.0`, tid, oid })
  const double = {
    issuer: 'https://login.microsoftonline.com/organizations/v2.0',
    metadata,
    claims: { ...claimsOf(tenant), email: 'alice@acme.example', email_verified: true },
  }
  const setUpMicrosoft = (tenants: readonly string[], subject?: (claims: UpstreamClaims) => string) =>
    setUpUpstream({
      double,
      options: {
        providers: [microsoft({ ...secret, tenants: [...tenants] as [string, ...string[]] })],
        ...(subject !== undefined && { subject }),
      },
      label: 'Microsoft',
    })
  const response = { iss: undefined }

  test('knows users by tenant and oid, and no address as verified', async () => {
    const { seen, subject } = recorded()
    const f = await setUpMicrosoft([tenant, otherTenant], subject)
    expect(nameOf(await f.comeBack(await f.leave(), response))).toBe('consent')
    expect(seen).toMatchObject([{ iss: claimsOf(tenant).iss, sub: oid, email_verified: false }])
    f.double.set({ claims: { ...claimsOf(tenant), email: 'alice@acme.example', xms_edov: true } })
    await f.comeBack(await f.leave(), response)
    expect(seen[1]).toMatchObject({ email: 'alice@acme.example', email_verified: true })
  })

  test('accepts the named tenants only, or all with *', async () => {
    const f = await setUpMicrosoft([tenant, '22222222-2222-3333-4444-555555555555'])
    f.double.set({ claims: claimsOf(otherTenant) })
    expect((await f.comeBack(await f.leave(), response)).html).toContain('provider_failed')
    expect(f.failures()).toEqual(['token_iss_invalid'])
    const all = await setUpMicrosoft(['*'])
    all.double.set({ claims: claimsOf(otherTenant) })
    expect(nameOf(await all.comeBack(await all.leave(), response))).toBe('consent')
  })

  // Its keys are in one set: a key of one tenant must not sign for another one.
  test('18.7 accepts a key for the issuer that it is published for', async () => {
    const signInWith = async (issuer: string) => {
      const f = await setUpMicrosoft(['*'])
      f.double.set({ keyMembers: { issuer } })
      const page = await f.comeBack(await f.leave(), response)
      return [nameOf(page), f.failures()]
    }
    expect(await signInWith(metadata.issuer)).toEqual(['consent', []])
    expect(await signInWith(claimsOf(tenant).iss)).toEqual(['consent', []])
    expect(await signInWith(claimsOf(otherTenant).iss)).toEqual(['signIn', ['token_key_of_other_issuer']])
    expect(await signInWith('https://login.microsoftonline.com/{tenantid}/v1.0')).toEqual([
      'signIn',
      ['token_key_of_other_issuer'],
    ])
  })

  test('18.14 finds the user of a logout token by tenant and oid', async () => {
    const f = await setUpMicrosoft([tenant, otherTenant])
    const away = await f.leave()
    await f.comeBack(away, response)
    const now = realNow()
    const token = await f.double.sign({
      ...claimsOf(tenant),
      aud: secret.clientId,
      sub: 'another one for each application',
      iat: now,
      exp: now + 60,
      jti: 'logout',
      events: { 'http://schemas.openid.net/event/backchannel-logout': {} },
    })
    const body = new URLSearchParams({ logout_token: token })
    const url = 'https://id.example.com/connect/upstream/microsoft/logout'
    expect((await f.provider.fetch(new Request(url, { method: 'POST', body }))).status).toBe(200)
    expect(nameOf((await f.start({}, away.browser)).page)).toBe('signIn')
  })

  test('refuses a token whose iss is not that of its tenant', async () => {
    const f = await setUpMicrosoft(['*'])
    f.double.set({ claims: { ...claimsOf(otherTenant), tid: tenant } })
    expect((await f.comeBack(await f.leave(), response)).html).toContain('provider_failed')
    expect(() => microsoft({ ...secret, tenants: ['common'] })).toThrow(/must be the id of a tenant/u)
  })
})

describe('apple()', () => {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const provider = apple({
    clientId: 'com.example.web',
    teamId: 'TEAM123456',
    keyId: 'KEY1234567',
    privateKey: privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
  })

  test('signs its client secret, takes a form, and keeps the name that comes with it', async () => {
    const { seen, subject } = recorded()
    const f = await setUpUpstream({
      double: {
        issuer: 'https://appleid.apple.com',
        clientId: 'com.example.web',
        claims: { email: 'relay@privaterelay.example', email_verified: 'true' },
        metadata: { authorization_response_iss_parameter_supported: false },
      },
      options: { providers: [provider], subject },
      label: 'Apple',
    })
    const { browser, request } = await f.leave()
    expect(request.searchParams.get('response_mode')).toBe('form_post')
    const { origin, pathname, searchParams } = new URL(f.double.authorize(request, { iss: undefined }))
    const user = JSON.stringify({ name: { firstName: 'Alice', lastName: 'Ng' }, email: 'victim@example.com' })
    const form = new URLSearchParams({ ...Object.fromEntries(searchParams), user })
    const sent = await f.provider.fetch(new Request(origin + pathname, { method: 'POST', body: form }), {
      clientAddress: '192.0.2.1',
    })
    const consent = await browser.open(sent.headers.get('location') ?? '')
    expect(nameOf(consent)).toBe('consent')
    expect(seen).toMatchObject([{ name: 'Alice Ng', email: 'relay@privaterelay.example', email_verified: true }])
    const { body } = f.double.requests.find(({ url }) => url.endsWith('/token')) ?? {}
    const { payload, protectedHeader } = await jwtVerify(
      new URLSearchParams(body).get('client_secret') ?? '',
      publicKey,
      { audience: 'https://appleid.apple.com', issuer: 'TEAM123456', subject: 'com.example.web' },
    )
    expect(protectedHeader).toEqual({ alg: 'ES256', kid: 'KEY1234567' })
    expect((payload.exp ?? 0) - (payload.iat ?? 0)).toBe(300)
  })
})

describe('github()', () => {
  test('knows users by their number, and the address that GitHub has verified', async () => {
    const { seen, subject } = recorded()
    const double = createGithubDouble()
    const f = await setUpUpstream({
      options: { providers: [github(secret)], fetch: double.fetch, subject },
      label: 'GitHub',
    })
    const { browser, request } = await f.leave()
    expect(Object.fromEntries(request.searchParams)).toMatchObject({
      scope: 'read:user user:email',
      code_challenge_method: 'S256',
    })
    expect(request.searchParams.has('nonce')).toBe(false)
    expect(nameOf(await browser.open(double.authorize(request)))).toBe('consent')
    expect(seen).toMatchObject([
      { iss: 'https://github.com/login/oauth', sub: '583231', email: 'octocat@example.com', email_verified: true },
    ])
    const wrong = await f.leave()
    expect((await wrong.browser.open(double.authorize(wrong.request, 'another'))).html).toContain('provider_failed')
    Object.assign(double.state, { mails: [{ email: 'evil@example.com', primary: true, verified: false }] })
    const again = await f.leave()
    await again.browser.open(double.authorize(again.request))
    expect(seen[1]).not.toHaveProperty('email')
  })

  test('fails without a user, or with one that has no number', async () => {
    const double = createGithubDouble()
    const f = await setUpUpstream({ options: { providers: [github(secret)], fetch: double.fetch }, label: 'GitHub' })
    Object.assign(double.state, { user: { id: '1', login: 'octocat' } })
    const { browser, request } = await f.leave()
    expect((await browser.open(double.authorize(request))).html).toContain('provider_failed')
    expect(f.failures()).toEqual(['claims_unavailable'])
  })
})

describe('gitlab(), keycloak() and grantry()', () => {
  test('have the issuers of their servers', () => {
    expect(gitlab(secret).issuer).toBe('https://gitlab.com')
    expect(keycloak({ ...secret, url: 'https://login.example.com/', realm: 'staff' }).issuer).toBe(
      'https://login.example.com/realms/staff',
    )
    expect(grantry({ clientId: 'grantry', issuer: 'https://id.other.example' })).toMatchObject({ name: 'grantry' })
  })
})
