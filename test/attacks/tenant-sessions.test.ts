/**
 * Attack: all tenants by path have one host, so the browser of a user sends the cookies of one to the pages of the other. An
 * attacker who owns a tenant lets the user sign in there, or copies cookies and forms of one tenant to another one.
 *
 * RFC 6265bis section 4.1.3.2 (`__Host-` demands `Path=/`); decision 168.
 */
import { createPages } from '@grantry/pages'
import { authorizationEndpoint } from '@grantry/plugins/authorization-endpoint'
import { signIn } from '@grantry/plugins/sign-in'
import { describe, expect, test } from 'vitest'
import { answer, createBrowser, hiddenFields } from '../authorization/browser.ts'
import { builtInPlugins } from '../support/fixture.ts'
import { base, client, tenantsFixture } from '../tenants/tenants-fixture.ts'

const redirectUri = 'https://web.example.com/callback'
const request = { response_type: 'code', client_id: 'web', redirect_uri: redirectUri, scope: 'openid', state: 's' }
const issuer = (tenant: string): string => `${base}/t/${tenant}`
const urlAt = (tenant: string, more = {}): string =>
  `${issuer(tenant)}/connect/authorize?${new URLSearchParams({ ...request, ...more })}`

const pages = createPages({})

function setting() {
  const web = { ...client, grantTypes: ['authorization_code'], redirectUris: [redirectUri], requirePkce: false }
  const tenants = tenantsFixture({
    options: { clients: [{ ...web, requireConsent: false }] },
    pluginsOf: () => [...builtInPlugins, authorizationEndpoint({ interaction: signIn({ pages }), pages })],
  })
  const browser = createBrowser({ fetch: tenants.fetch, issuer: base })
  const signInAt = async (tenant: string) => {
    const page = await browser.open(urlAt(tenant))
    const form = { ...hiddenFields(page), username: 'alice', password: 'alice-password' }
    return { form, done: await browser.submit(`${issuer(tenant)}/connect/signin`, form) }
  }
  const isSignedIn = async (tenant: string): Promise<boolean> =>
    answer(await browser.open(urlAt(tenant, { prompt: 'none' }))).code !== undefined
  return { browser, signInAt, isSignedIn }
}

/** The names of the session cookies, which end with what distinguishes the issuers. */
const sessions = (jar: ReadonlyMap<string, string>) => [...jar.keys()].filter((name) => name.includes('session'))

describe('in one browser', () => {
  test('a user who has signed in at a tenant is signed in at no other one', async () => {
    const { signInAt, isSignedIn } = setting()
    await signInAt('acme')
    expect(await isSignedIn('acme')).toBe(true)
    expect(await isSignedIn('beta')).toBe(false)
  })

  test('a cookie of a tenant means nothing under the name of that of another one', async () => {
    const { browser, signInAt, isSignedIn } = setting()
    await signInAt('beta')
    const [ofBeta = ''] = sessions(browser.jar)
    await signInAt('acme')
    const [ofAcme = ''] = sessions(browser.jar).filter((name) => name !== ofBeta)
    expect(ofAcme).not.toBe('')
    expect([ofBeta, ofAcme].every((name) => name.startsWith('__Host-'))).toBe(true)
    browser.jar.set(ofBeta, browser.jar.get(ofAcme) ?? '')
    expect(await isSignedIn('beta')).toBe(false)
  })

  test('a form of a tenant is refused at another one', async () => {
    const { browser, signInAt, isSignedIn } = setting()
    const page = await browser.open(urlAt('acme'))
    const form = { ...hiddenFields(page), username: 'alice', password: 'alice-password' }
    await browser.open(urlAt('beta'))
    const refused = await browser.submit(`${issuer('beta')}/connect/signin`, form)
    expect(refused.status).toBeGreaterThanOrEqual(400)
    expect(await isSignedIn('beta')).toBe(false)
    await signInAt('beta')
    expect(await isSignedIn('beta')).toBe(true)
  })
})
