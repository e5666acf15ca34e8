// A logout here that ends the session at the provider, too.
import { decodeJwt } from '@grantry/core'
import { createPages } from '@grantry/pages'
import { endSession } from '@grantry/plugins/end-session'
import { type UpstreamProvider, upstreamTokens } from '@grantry/plugins/upstream'
import { memoryDriver } from '@grantry/storage-drivers/memory'
import { expect, test } from 'vitest'
import { hiddenFields } from '../authorization/browser.ts'
import { clients } from '../authorization/parties.ts'
import { nameOf } from '../sign-in/parties.ts'
import { setUpUpstream, type UpstreamSetting } from './parties.ts'
import { contentOf, encryptionSecrets } from './token-parties.ts'

const issuer = 'https://id.example.com'
const endUri = 'https://acme.example.com/end'
const goodbye = 'https://app.example.com/goodbye'

async function setUpLogout(
  logout: boolean,
  metadata: Readonly<Record<string, unknown>> = { end_session_endpoint: endUri },
  kept: Partial<UpstreamProvider> = {},
) {
  const storage = memoryDriver()
  const setting: UpstreamSetting = {
    double: { metadata },
    provider: { logout, ...kept },
    options: { encryptionSecrets },
    more: { storage, clients: clients.map((client) => ({ ...client, postLogoutRedirectUris: [goodbye] })) },
    endpoint: (way) => ({ features: [endSession({ pages: createPages(), providers: way })] }),
  }
  const f = await setUpUpstream(setting)
  const away = await f.leave()
  await f.comeBack(away)
  const { browser } = away
  async function leaveBy(query: Readonly<Record<string, string>>) {
    const asked = await browser.open(`${issuer}/connect/endsession?${new URLSearchParams(query)}`)
    return browser.submit(`${issuer}/connect/endsession/confirm`, { ...hiddenFields(asked), decision: 'logout' })
  }
  const isSignedIn = async () => nameOf((await f.start({}, browser)).page) === 'consent'
  return { ...f, storage, browser, leaveBy, isSignedIn }
}

const request = { client_id: clients[0]?.clientId ?? '', post_logout_redirect_uri: goodbye, state: 'of the client' }

test('18.16 leads to the provider after the end of the session, and back to the client', async () => {
  const { leaveBy, isSignedIn, browser, double } = await setUpLogout(true)
  const { url } = await leaveBy(request)
  expect(url.origin + url.pathname).toBe(endUri)
  const { state = '', ...sent } = Object.fromEntries(url.searchParams)
  const back = `${issuer}/connect/endsession/return`
  expect(sent).toEqual({ client_id: double.clientId, post_logout_redirect_uri: back })
  expect(await isSignedIn()).toBe(false)
  const done = await browser.open(`${back}?${new URLSearchParams({ state })}`)
  expect(done.url.href).toBe(`${goodbye}?state=of+the+client`)
})

// Without it, some providers ask the user again whether to sign out.
test('18.16 sends the identity token as a hint if the tokens are kept, and only then', async () => {
  const { leaveBy, double, storage } = await setUpLogout(true, undefined, { keepTokens: true })
  expect(JSON.stringify([...(await contentOf(storage))])).not.toContain('eyJ')
  const { url } = await leaveBy(request)
  const hint = decodeJwt(url.searchParams.get('id_token_hint') ?? '')?.claims
  expect(hint).toMatchObject({ iss: double.issuer, aud: double.clientId, sub: 'upstream-alice' })
  for (const kept of [{}, { keepTokens: true, logout: false }]) {
    const f = await setUpLogout(true, undefined, kept)
    expect((await f.leaveBy(request)).url.searchParams.has('id_token_hint')).toBe(false)
  }
})

test('18.16 sends no hint of tokens that have ended with a revocation of the user', async () => {
  const { leaveBy, provider, events } = await setUpLogout(true, undefined, { keepTokens: true })
  const sub = events.flatMap((event) => (event.type === 'session_started' ? [event.sub] : []))[0] ?? ''
  await provider.use(upstreamTokens).remove(sub, 'acme')
  const { url } = await leaveBy(request)
  expect(url.origin + url.pathname).toBe(endUri)
  expect(url.searchParams.has('id_token_hint')).toBe(false)
})

test('18.16 shows the last page to a browser that comes back without the state, or with another one', async () => {
  const { browser, leaveBy } = await setUpLogout(true)
  await leaveBy({})
  for (const query of ['', '?state=x', `?post_logout_redirect_uri=${encodeURIComponent('https://evil.example.com')}`]) {
    const page = await browser.open(`${issuer}/connect/endsession/return${query}`)
    expect([page.status, page.url.origin, page.html.includes('signed out')]).toEqual([200, issuer, true])
  }
})

test.each([
  ['without the option', false, { end_session_endpoint: endUri }],
  ['at a provider without an endpoint', true, {}],
  ['at a provider whose endpoint is no web page', true, { end_session_endpoint: 'javascript:alert(1)' }],
])('18.16 ends only the session here %s', async (_name, logout, metadata) => {
  const { leaveBy, isSignedIn } = await setUpLogout(logout, metadata)
  expect((await leaveBy(request)).url.origin).toBe(new URL(goodbye).origin)
  expect(await isSignedIn()).toBe(false)
})

test('18.16 of a user with a password leads to no provider', async () => {
  const { start, provider } = await setUpLogout(true)
  const { browser, enter } = await start()
  await enter('alice')
  expect(provider.issuer).toBe(issuer)
  const asked = await browser.open(`${issuer}/connect/endsession?${new URLSearchParams(request)}`)
  const done = await browser.submit(`${issuer}/connect/endsession/confirm`, {
    ...hiddenFields(asked),
    decision: 'logout',
  })
  expect(done.url.origin).toBe(new URL(goodbye).origin)
})
