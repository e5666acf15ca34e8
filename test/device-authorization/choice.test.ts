// The page for devices asks like the consent page: scopes that the user can leave out, APIs by name, another account.
import type { ClientOptions } from '@grantry/core'
import { createPages } from '@grantry/pages'
import { languages } from '@grantry/pages/languages'
import { authorizationCode } from '@grantry/plugins/authorization-code'
import { authorizationEndpoint } from '@grantry/plugins/authorization-endpoint'
import { deviceAuthorization, deviceSignIn } from '@grantry/plugins/device-authorization'
import { proofKey } from '@grantry/plugins/proof-key'
import { refreshToken } from '@grantry/plugins/refresh-token'
import { signIn } from '@grantry/plugins/sign-in'
import { describe, expect, test } from 'vitest'
import { createBrowser, hiddenFields } from '../authorization/browser.ts'
import { createBrowser as createPlainBrowser, setUpPage } from './browser.ts'
import { clients, setUp } from './parties.ts'

const pageUri = 'https://id.example.com/connect/device'
const pages = createPages({ name: 'Example', languages, scopes: { api1: { en: 'Watch films', de: 'Filme ansehen' } } })

async function openAsked(client: Partial<ClientOptions>, scope = 'api1 offline_access') {
  const [tv] = clients
  const features = [deviceSignIn({ pages })]
  const f = await setUp({
    plugins: [
      authorizationCode(),
      proofKey(),
      refreshToken(),
      authorizationEndpoint({ interaction: signIn({ pages }), pages, features }),
    ],
    clients: [{ ...tv, clientId: 'tv', clientName: 'Living room TV', ...client }],
    users: { authenticate: ({ username }) => ({ sub: username }), claims: () => ({}) },
  })
  const browser = createBrowser(f.provider)
  const { body } = await f.start({ scope })
  const login = await browser.open(body.verification_uri_complete)
  const enter = (page: typeof login, username: string) =>
    browser.submit('https://id.example.com/connect/signin', { ...hiddenFields(page), username, password: 'x' })
  return { ...f, browser, body, enter, asked: await enter(login, 'alice') }
}

describe('a device of a client with a choice of scopes', () => {
  test('gets the scopes that the user has not left out', async () => {
    const { asked, browser, body, poll, clock } = await openAsked({ scopeChoice: true })
    expect(asked.html).toContain('name="scope:api1" type="checkbox" value="yes" checked')
    // How long the access lasts is last.
    expect(asked.html.indexOf('name="scope:offline_access"')).toBeGreaterThan(asked.html.indexOf('name="scope:api1"'))
    await browser.submit(pageUri, { ...hiddenFields(asked), 'scope:api1': 'yes', decision: 'approve' })
    clock.advance(5)
    const { body: tokens } = await poll(body.device_code)
    expect(tokens.scope).toBe('api1')
    expect(tokens.refresh_token).toBeUndefined()
  })

  test('asks again if the user leaves out all of them, without a decision', async () => {
    const { asked, browser, body, poll } = await openAsked({ scopeChoice: true })
    const again = await browser.submit(pageUri, { ...hiddenFields(asked), decision: 'approve' })
    expect(again.html).toContain('Choose something that you allow, or deny the request.')
    expect(again.html).not.toContain(' checked')
    expect((await poll(body.device_code)).body.error).toBe('authorization_pending')
  })

  test('gets no scope that it has not asked for, from fields that the page does not have', async () => {
    const { asked, browser, body, poll, clock } = await openAsked({ scopeChoice: true }, 'openid api1')
    const more = { 'scope:offline_access': 'yes', 'scope:api1': 'yes', decision: 'approve' }
    await browser.submit(pageUri, { ...hiddenFields(asked), ...more })
    clock.advance(5)
    expect((await poll(body.device_code)).body.scope).toBe('openid api1')
  })
})

test('a client without a choice gets all scopes, and the page shows them as texts', async () => {
  const { asked, browser, body, poll, clock } = await openAsked({})
  expect(asked.html).not.toContain('checkbox')
  expect(asked.html).toContain('<li>Watch films</li>')
  expect(asked.html).toContain('Living room TV')
  await browser.submit(pageUri, { ...hiddenFields(asked), chosen: 'yes', decision: 'approve' })
  clock.advance(5)
  expect((await poll(body.device_code)).body.scope).toBe('api1 offline_access')
})

test('the user can decide with another account, and still compares the code', async () => {
  const { asked, browser, body, enter, poll, clock, provider } = await openAsked({})
  const link = /id="switch" class="change" href="([^"]+)"/u.exec(asked.html)?.[1]?.replaceAll('&amp;', '&') ?? ''
  const login = await browser.open(new URL(link, pageUri).href)
  expect(login.html).toContain('name="password"')
  const ofBob = await enter(login, 'bob')
  expect(ofBob.html).toContain('Signed in as bob<')
  expect(ofBob.html).toContain(body.user_code)
  await browser.submit(pageUri, { ...hiddenFields(ofBob), decision: 'approve' })
  clock.advance(5)
  const { body: tokens } = await poll(body.device_code)
  expect(await provider.inspect(tokens.access_token)).toMatchObject({ claims: { sub: 'bob' } })
})

test('the form of one account decides nothing for another one', async () => {
  const { asked, browser, body, enter, poll } = await openAsked({})
  await enter(await browser.open(`${pageUri}?user_code=${body.user_code}&account=other`), 'bob')
  const late = await browser.submit(pageUri, { ...hiddenFields(asked), decision: 'approve' })
  expect(late.html).toContain('This page has expired')
  expect((await poll(body.device_code)).body.error).toBe('authorization_pending')
})

describe('the page of the plugin without the ready sign-in', () => {
  test('has the look, the languages and the texts of createPages() with the option pages', async () => {
    const { start, provider } = await setUpPage({ pages })
    const { body } = await start({ scope: 'api1' })
    const { html } = await createPlainBrowser(provider, 'alice').open({ user_code: body.user_code })
    for (const text of ['Connect a device · Example', 'Watch films', body.user_code]) expect(html).toContain(text)
  })

  test('names the application, and lets the user leave out scopes, in English', async () => {
    const tv = { ...clients[0], clientId: 'tv', clientName: 'Living <room>', scopeChoice: true }
    const page = { signIn: () => ({ sub: 'alice', amr: ['pwd'] }) }
    const plugins = [
      deviceAuthorization({ page }),
      refreshToken(),
      authorizationCode(),
      proofKey(),
      authorizationEndpoint({
        interaction: signIn({ pages, passwords: false, ways: [{ links: () => [], parts: () => [] }] }),
        pages,
      }),
    ]
    const { start, poll, provider } = await setUp({ plugins, clients: [tv], users: { claims: () => ({}) } })
    const { body } = await start({ scope: 'api1 offline_access' })
    const browser = createPlainBrowser(provider)
    const { html, token } = await browser.open({ user_code: body.user_code })
    expect(html).toContain('The application Living &#60;room&#62; requests:')
    expect(html).toContain('name="scope:api1" type="checkbox" value="yes" checked')
    const form = { form_token: token, chosen: 'yes', 'scope:api1': 'yes', decision: 'approve' }
    expect((await browser.submit(form)).html).toContain('You have approved the request')
    expect((await poll(body.device_code)).body.scope).toBe('api1')
  })
})
