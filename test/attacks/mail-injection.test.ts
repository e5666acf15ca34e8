/**
 * Attack: a stranger lets the server send mails with links to another host, by the `Host` header or by parameters of the
 * request; adds header fields, recipients or a text of the stranger to a mail; or reads addresses and links in events.
 *
 * CWE-93; CWE-644.
 */
import { describe, expect, test } from 'vitest'
import { hiddenFields } from '../authorization/browser.ts'
import { actionOf, linkIn, problemOf, setUpAccounts } from '../self-service/parties.ts'

describe('the link of a mail', () => {
  test('19.10 has the host of the issuer, whatever the request contains', async () => {
    const f = await setUpAccounts()
    const { follow, browser } = await f.start({ state: 'https://evil.example', ui_locales: 'https://evil.example' })
    const page = await follow('forgot')
    const request = new Request(actionOf(page), {
      method: 'POST',
      headers: {
        cookie: [...browser.jar].map((pair) => pair.join('=')).join('; '),
        host: 'evil.example',
        'x-forwarded-host': 'evil.example',
        'x-forwarded-proto': 'http',
        forwarded: 'host=evil.example',
        origin: 'https://evil.example',
        referer: 'https://evil.example/',
      },
      body: new URLSearchParams({ ...hiddenFields(page), address: 'alice@example.com' }),
    })
    expect((await f.provider.fetch(request, { clientAddress: '192.0.2.1' })).status).toBe(200)
    const mail = await f.lastMail()
    expect(new URL(linkIn(mail)).origin).toBe(f.provider.issuer)
    expect(`${mail.subject}${mail.text}${mail.html}`).not.toContain('evil.example')
  })
})

describe('an address', () => {
  test.each([
    'alice@example.com\r\nBcc: eve@example.com',
    'alice@example.com\nBcc: eve@example.com',
    'alice@example.com,eve@example.com',
    'alice@example.com eve@example.com',
    'alice@example.com;eve@example.com',
    '"alice@example.com\\r\\n"@example.com',
    'Alice <alice@example.com>',
    'alice@example.com\u2028Bcc: eve@example.com',
    'alice@example.com\0',
    'alice@example.com>\r\nRCPT TO:<eve@example.com',
    'alice@[127.0.0.1]',
    'alice@localhost',
    'alice',
    `${'a'.repeat(65)}@example.com`,
    `alice@${'a.'.repeat(150)}com`,
    '',
  ])('is refused: %j', async (address) => {
    const f = await setUpAccounts({ signUp: 'open' })
    const page = await (await f.start()).ask('create', address)
    expect(problemOf(page)).toBe('Enter an email address, such as name@example.com.')
    expect(await f.arrived()).toEqual([])
  })

  test('is in no event, and neither are links, codes and passwords', async () => {
    const f = await setUpAccounts({ signUp: 'open', mail: 'both' })
    const { ask, browser, submit } = await f.start()
    await ask('create', 'carol@example.com')
    const mail = await f.lastMail()
    const page = await browser.open(linkIn(mail))
    await submit(page, { password: 'short' })
    await submit(page, { password: 'correct horse battery' })
    const token = new URL(linkIn(mail)).searchParams.get('token') ?? ''
    const text = JSON.stringify(f.events)
    for (const secret of ['carol', token, 'correct horse', 'short"']) expect(text).not.toContain(secret)
  })

  test('that contains markup is text on the page', async () => {
    const f = await setUpAccounts({ signUp: 'open' })
    const page = await (await f.start()).ask('create', '<script>alert(1)</script>@example.com')
    expect(page.html).not.toContain('<script>alert')
  })
})
