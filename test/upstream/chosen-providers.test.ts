import { describe, expect, test } from 'vitest'
import { answer } from '../authorization/browser.ts'
import { clients, web } from '../authorization/parties.ts'
import { nameOf } from '../sign-in/parties.ts'
import { setUpUpstream } from './parties.ts'

const restricted = { clients: clients.map((client) => ({ ...client, identityProviders: ['another'] })) }

describe('identityProviders of a client', () => {
  test('18.3 hides other providers, and refuses their addresses', async () => {
    const f = await setUpUpstream({ more: restricted })
    const { page, browser } = await f.start({ acr_values: 'idp:acme' })
    expect(nameOf(page)).toBe('signIn')
    expect(page.html).toContain('"ways":[]')
    const id = /"interaction":"([^"]+)"/u.exec(page.html)?.[1] ?? ''
    expect(nameOf(await browser.open(`https://id.example.com/connect/upstream/acme?interaction=${id}`))).toBe('error')
    expect(f.double.requests).toEqual([])
  })

  test('18.3 refuses a session that began there for another client', async () => {
    const [first, ...others] = clients
    const restrictedClient = { ...first, clientId: 'other', identityProviders: ['another'] }
    const f = await setUpUpstream({ more: { clients: [...clients, restrictedClient] as typeof clients } })
    expect(others.length).toBeGreaterThan(0)
    const away = await f.leave({ client_id: web[0] })
    expect(nameOf(await f.comeBack(away))).toBe('consent')
    expect(nameOf((await f.start({ client_id: 'other' }, away.browser)).page)).toBe('signIn')
    const silent = await f.start({ client_id: 'other', prompt: 'none' }, away.browser)
    expect(answer(silent.page)).toMatchObject({ error: 'login_required' })
  })
})

describe('acr_values=idp:NAME', () => {
  test('18.3 needs a sign-in there, also with a session from elsewhere', async () => {
    const f = await setUpUpstream()
    const { browser, enter } = await f.start()
    expect(nameOf(await enter('alice'))).toBe('consent')
    const { page } = await f.start({ acr_values: 'idp:acme' }, browser)
    expect(page.url.origin).toBe(f.double.issuer)
    expect(nameOf(await f.comeBack({ browser, request: page.url }))).toBe('consent')
    // Now the session is one of the provider.
    expect(nameOf((await f.start({ acr_values: 'idp:acme' }, browser)).page)).toBe('consent')
  })
})
