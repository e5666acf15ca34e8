// Users download what is stored of them, on the account page.
import { describe, expect, test } from 'vitest'
import { setUpAddress } from './addresses.ts'
import { setUpDeletion } from './deletions.ts'
import { accountUri } from './parties.ts'

const dataUri = `${accountUri}/data`

describe('the data of a user', () => {
  test('20.74 are a JSON document, with an event and a mail', async () => {
    const f = await setUpDeletion({ downloadMore: (sub) => ({ orders: [`order of ${sub}`] }) })
    const { browser } = await f.signedIn()
    await f.signedIn()
    await f.signedIn('bob')
    await f.authorize(browser)
    const page = await browser.open(dataUri)
    expect(page.html).toContain('Download your data')
    const { status, headers, html } = await f.send(browser, page)
    expect(status).toBe(200)
    expect(headers.get('content-type')).toContain('application/json')
    expect(headers.get('content-disposition')).toBe('attachment; filename="account.json"')
    expect(headers.get('cache-control')).toBe('no-store')
    expect(JSON.parse(html)).toMatchObject({
      sub: 'alice',
      account: { username: 'alice', email: 'alice@example.com', emailVerified: true, claims: {} },
      sessions: [{ address: '192.0.2.1' }, { address: '192.0.2.1' }],
      passkeys: [{ name: 'Laptop' }],
      secondFactors: { authenticatorApp: true, recoveryCodes: false },
      linkedAccounts: [{ provider: 'acme', name: 'alice@acme.example' }],
      consents: [{ clientId: 'web', scopes: ['openid', 'api1', 'offline_access'] }],
      authorizations: [{ clientId: 'web' }],
      more: { orders: ['order of alice'] },
    })
    // Neither the password, which this store has in its records, nor an id that opens something.
    expect(html).not.toMatch(/password|bob|"sid"|"secret"|"family"/u)
    const changes = f.events.filter(({ type }) => type === 'account_changed')
    expect(changes).toMatchObject([{ change: 'data_downloaded', sub: 'alice' }])
    expect(await f.mailsTo('alice@example.com')).toMatchObject([
      { text: expect.stringContaining('Your data were downloaded') },
    ])
  })

  test('20.42 need a recent authentication and the form', async () => {
    const { signedIn, send, clock, events } = await setUpAddress()
    const { browser } = await signedIn()
    const page = await browser.open(dataUri)
    expect((await browser.submit(dataUri, { form_token: 'x' })).status).toBe(400)
    expect((await browser.open(`${dataUri}?form_token=x`)).headers.get('content-type')).toContain('text/html')
    clock.advance(301)
    expect((await send(browser, page)).html).toContain('name="password"')
    expect(events.filter(({ type }) => type === 'account_changed')).toEqual([])
  })

  test.each([
    ['fails', () => Promise.reject(new Error('down'))],
    ['hangs', () => new Promise<never>(() => {})],
    ['returns too much', () => 'x'.repeat(1_000_001)],
    ['returns no JSON', () => (() => {}) as never],
  ])('are not incomplete when the host %s', async (_, downloadMore) => {
    const { signedIn, send, events } = await setUpAddress(
      {},
      {
        account: { downloadMore },
        provider: { hostTimeLimit: 0.05 },
      },
    )
    const { browser } = await signedIn()
    const done = await send(browser, await browser.open(dataUri))
    expect([done.status >= 500, done.headers.has('content-disposition')]).toEqual([true, false])
    expect(events.filter(({ type }) => type === 'account_changed')).toEqual([])
  })

  test('can be turned off', async () => {
    const { signedIn } = await setUpAddress({}, { account: { download: false } })
    const { browser, page } = await signedIn()
    expect(page.html).not.toContain('id="download-data"')
    expect((await browser.open(dataUri)).url.href).toBe(accountUri)
  })
})
